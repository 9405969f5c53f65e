#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each allocation that rds and rds_tcp make while a namespace comes, talks to another one, and goes, fails once: the call that needed
# it says so, or the message comes later. Nothing is left of it, and the next attempt works.
# lab: on debug: only this kernel fails allocations
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	insmod "$MODS/rds.ko"
	insmod "$MODS/rds_tcp.ko"
	# The end that stays does not wait long for the next namespace
	echo 50 >/proc/sys/net/rds/reconnect_max_delay_ms
	# What this end keeps of the other one is there from now on
	"$ROOT/tests/debug/rds-once" "$ROOT/build/tools/rds-traffic" 4
	faults_below '[[]rds(_tcp)?[]]$'
	# But none that a program needs while it is copied from or to
	echo Y >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	dmesg_mark
}

# each_fails slab|page: each STEP-th of them, as there are hundreds and an attempt takes a second. With STEP=1 in the environment of the
# lab (--env STEP) it is all.
each_fails() {
	local once="!$ROOT/tests/debug/rds-once $ROOT/build/tools/rds-traffic 4"
	"$NTH" any "$1" "$once" "!true" "${STEP:-18}" >&3 || { cat /run/lab/rds-once; false; }
}

teardown() { only_failed_allocations; }

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	await 10 rmmod rds_tcp
	rmmod rds
}

@test "a namespace comes, talks, and goes: objects" { each_fails slab; }

@test "a namespace comes, talks, and goes: pages" { STEP=1 each_fails page; }
