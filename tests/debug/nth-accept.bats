#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each allocation that our server makes when a client connects and opens a device fails once, in whatever task it happens. The
# client is refused or served; nothing is left of it, and the next one is served.
# lab: on debug: only this kernel fails allocations
# shellcheck shell=bats disable=SC2030,SC2031

CTL=/sys/class/rnbd-client/ctl
MAP="$CTL/map_device=sessname=nth path=ip:10.0.0.1 device_path=/dev/ram0"
UNMAP="/sys/block/rnbd0/rnbd/unmap_device=force"

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	net_up 1
	ram_disk 8
	# What is small fails soon
	load_server sess_queue_depth=4
	load_client
	faults_below '[[](rtrs|rnbd)_server[]]$'
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	dmesg_mark
}

teardown() { only_failed_allocations; }

@test "a client connects and opens, server: objects" { "$NTH" any slab "$MAP" "$UNMAP" >&3; }

@test "a client connects and opens, server: pages" { "$NTH" any page "$MAP" "$UNMAP" >&3; }

# Regions of another kind; all else is the same
@test "a client connects, server with always_invalidate=N: what a path is made of" {
	unload rnbd-server rtrs-server
	load_server sess_queue_depth=4 always_invalidate=N
	faults_below ' rtrs_server_path_create\t'
	"$NTH" any slab "$MAP" "$UNMAP" >&3
}
