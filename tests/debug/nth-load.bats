#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each allocation that a module makes while it is loaded fails once: the module is refused or does without, and loads afterwards.
# lab: on debug: only this kernel fails allocations
# shellcheck shell=bats disable=SC2030,SC2031

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	net_up 1
	modprobe -a rdma_cm
	faults_below ' do_one_initcall$'
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	dmesg_mark
}

teardown() { only_failed_allocations; }

# each_refused NAME: with all loaded that it needs
each_refused() { "$NTH" load "$MODS/$1.ko" >&3; }

@test "rds" { each_refused rds; }

@test "rds_tcp" {
	module_load "$MODS" rds
	each_refused rds_tcp
	rmmod rds
}

@test "rtrs-core" { each_refused rtrs-core; }

@test "rtrs-client" {
	module_load "$MODS" rtrs-core
	each_refused rtrs-client
}

@test "rtrs-server" { each_refused rtrs-server; }

@test "rnbd-client" {
	module_load "$MODS" rtrs-client
	each_refused rnbd-client
}

@test "rnbd-server" {
	module_load "$MODS" rtrs-server
	each_refused rnbd-server
}

@test "all work after that" {
	load_server
	load_client
	unload_all
}
