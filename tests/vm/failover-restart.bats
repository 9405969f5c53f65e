#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The server is killed under load and comes back: I/O waits and goes on, or fails at once, as it was set; disks are there again
# without a hand of anybody.
# lab: two guests
# lab: links 2
# lab: disk 64
# lab: timeout 900
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	server up
	load_client
	memory_before
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	map /dev/vda
	set_to "${QUICK[@]}"
}

teardown() {
	load_kill
	booted || { server_power on && server up; }
	unmap_all
	dmesg_clean
	on_server dmesg_clean
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

both() { "$@" 1 && "$@" 2; }

# Without a path nothing is done
stands_still() {
	local before
	before=$(<"/sys/block/$DISK/stat")
	sleep 1
	[[ $(awk '{ print $1, $5 }' <<<"$before") == "$(awk '{ print $1, $5 }' "/sys/block/$DISK/stat")" ]] || fail "I/O goes on"
}

connected() { await 60 path_is "$1" connected; }

gone() { await 15 lost "$1"; }

closed() { [[ $(<"/sys/block/$1/rnbd/state") == closed ]]; }

reads() { dd if="/dev/${1:-$DISK}" of=/dev/null bs=4k count=1 iflag=direct; }

# Two sessions with the same disk
@test "killed 5 times: with no-path-timeout=-1 I/O waits and goes on, with 0 it fails at once and the disk works again" {
	local n waits=$DISK other
	SESSION=s2 SDIR=${SDIR/s1/s2}
	map /dev/vda access_mode=ro
	other=$DISK
	set_to "${QUICK[@]}" no_path_timeout_ms=0
	SESSION=s1 SDIR=${SDIR/s2/s1} DISK=$waits
	load_start
	# Not i, which "run" sets
	for ((n = 0; n < 5; n++)); do
		server_power off
		both gone
		stands_still
		await 15 closed "$other"
		SECONDS=0
		run -1 reads "$other"
		[[ $output == *"Input/output error"* ]]
		((SECONDS <= 3))
		server_power on
		server up
		goes_on 60
		both connected
		await 60 reads "$other"
	done
	load_end /dev/vda
}

@test "no-path-timeout=5000: I/O waits for so long, then fails" {
	set_to no_path_timeout_ms=5000
	server_power off
	both gone
	SECONDS=0
	run -1 reads
	[[ $output == *"Input/output error"* ]]
	((SECONDS >= 3 && SECONDS <= 8))
	server_power on
	server up
	both connected
	await 10 reads
}
