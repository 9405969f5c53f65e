#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The detectors of the debug kernel fire, and what ends a run notices each of their reports: a module makes one mistake after
# another. Lockdep comes first, as it is off after any of these; KASAN after all that it would switch off.
# lab: on debug: its reports are of this kernel
# lab: make tests/debug/modules
# shellcheck shell=bats disable=SC2030,SC2031

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	insmod "$ROOT/build/debug-modules-$(uname -r)/rnbd-detect.ko"
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	dmesg_clean
}

# These reports are wanted: what comes next must not see them
teardown() { dmesg -c >/dev/null; }

teardown_file() {
	rmmod rnbd-detect
	touch /run/lab/fired
}

# noticed MISTAKE TEXT
noticed() {
	echo "$1" >/sys/module/rnbd_detect/parameters/fire
	run -1 dmesg_clean
	[[ $output == *"$2"* ]] || fail "not '$2' but: $output"
}

@test "without a mistake there is no report" { dmesg_clean; }

@test "lockdep: two locks in both orders" {
	detectors_alive
	noticed abba "possible circular locking dependency"
	run -1 detectors_alive
}

@test "sleep under a spinlock" { noticed atomic "sleeping function called from invalid context"; }

@test "debug objects: memory freed with a pending timer in it" { noticed object "ODEBUG: free active"; }

@test "UBSAN: an index beyond its array" { noticed bounds "UBSAN: array-index-out-of-bounds"; }

@test "a task that hangs" {
	echo 2 >/proc/sys/kernel/hung_task_timeout_secs
	noticed hang "blocked for more than"
}

@test "kmemleak: memory that nobody knows any more" {
	nothing_leaked
	echo leak >/sys/module/rnbd_detect/parameters/fire
	echo scan >/sys/kernel/debug/kmemleak
	run -1 nothing_leaked
	[[ $output == *fire_leak* ]] || fail "$output"
	echo clear >/sys/kernel/debug/kmemleak
	nothing_leaked
}

@test "KASAN: beyond the end of an object" { noticed beyond "KASAN: slab-out-of-bounds in fire_beyond"; }

@test "KASAN: beyond the end of pages" { noticed pages "KASAN: vmalloc-out-of-bounds in fire_pages"; }

@test "KASAN: memory that was freed" { noticed freed "KASAN: slab-use-after-free in fire_freed"; }
