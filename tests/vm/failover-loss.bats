#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each link of two in turn loses 5 % of all packets for 60 s, under fio with verify: no error, no wrong byte.
# lab: two guests
# lab: links 2
# lab: timeout 900
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	on_server "ram_disk 64 && dd if=/dev/zero of=/dev/ram0 bs=1M oflag=direct count=64 status=none"
	on_server load_server "${SERVER_QUICK[@]}"
	load_client
	memory_before
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	map /dev/ram0
	# Soft-RoCE that sends a registration again may leave its queue pair standing, while heartbeats go on over another
	set_to "${QUICK[@]}" io_timeout_ms=5000
}

teardown() {
	load_kill
	mend_all
	unmap_all
	dmesg_clean
	on_server dmesg_clean
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

# lossy LINK: for a minute
lossy() {
	load_start
	cut loss "$1"
	sleep 60
	goes_on
	mend loss "$1"
	await 60 path_is "$1" connected
	load_end /dev/ram0
}

@test "5 % loss for 60 s on the first link" { lossy 1; }

@test "5 % loss for 60 s on the second link" { lossy 2; }
