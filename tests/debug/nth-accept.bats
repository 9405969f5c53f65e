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

@test "the access list is read and replaced" { "$NTH" any slab "+listed" "+open" >&3; }

# But not the object of a connection: no driver makes that
@test "E22: queues that cannot be made are made smaller, and the client is served" {
	local attr=/sys/kernel/debug/failslab i
	faults_below ' rtrs_server_con_create\t'
	echo 0 >/sys/kernel/slab/rtrs_server_con/failslab
	echo 3 >$attr/times
	echo 100 >$attr/probability
	for ((i = 0; i < 5 && $(<$attr/times); i++)); do
		echo "${MAP#*=}" >$CTL/map_device
		echo force >/sys/block/rnbd0/rnbd/unmap_device
		await 30 census_even
	done
	[ "$(<$attr/times)" -eq 0 ]
	faults_below '[[](rtrs|rnbd)_server[]]$'
}

# is_back N: the path has been reconnected so often, and the server has it
is_back() { read -r done failed < <(cat /sys/class/rtrs-client/nth/paths/*/stats/reconnects) && ((done == $1)) && [[ -e $(echo /sys/class/rtrs-server/*/paths/*/disconnect) ]]; }

@test "E17: a client that vanished comes back, where the memory has no more pieces of the size of a buffer" {
	local attr=/sys/kernel/debug/fail_page_alloc i
	echo "${MAP#*=}" >$CTL/map_device
	for i in 1 2; do
		# Buffers are of 32 pages
		echo 5 >$attr/min-order
		echo -1 >$attr/times
		echo 100 >$attr/probability
		echo 1 >"$(echo /sys/class/rtrs-server/*/paths/*/disconnect)"
		await 30 is_back $i
		echo 0 >$attr/probability
	done
	echo normal >/sys/block/rnbd0/rnbd/unmap_device
	# Nothing is kept for who has closed what he had
	await 30 census_even
	echo 100 >$attr/probability
	! echo "${MAP#*=}" >$CTL/map_device || fail "from where has it its buffers?"
	faults_below '[[](rtrs|rnbd)_server[]]$'
}

# Regions of another kind; all else is the same
@test "a client connects, server with always_invalidate=N: what a path is made of" {
	unload rnbd-server rtrs-server
	load_server sess_queue_depth=4 always_invalidate=N
	faults_below ' rtrs_server_info_work\t'
	"$NTH" any slab "$MAP" "$UNMAP" >&3
}
