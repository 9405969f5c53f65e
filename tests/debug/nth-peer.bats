#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# As nth-map.bats, with an in-tree server, for what our client allocates for such a one alone: room for messages with keys.
# lab: on debug: only this kernel fails allocations
# lab: two guests
# shellcheck shell=bats disable=SC2030,SC2031

CTL=/sys/class/rnbd-client/ctl

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	# What is small fails soon
	on_server "ram_disk 8 && load_peer_server sess_queue_depth=4"
	load_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	dmesg_mark
}

teardown() { only_failed_allocations; }

# The server may still have the last session of a name. The service connection takes a thousand buffers.
@test "map and connect to an in-tree server: room for messages with keys" {
	faults_below ' rtrs_client_con_post_recvs\t'
	"$NTH" any slab "!echo sessname=nth\$\$ path=ip:10.1.0.1 device_path=/dev/ram0 2>/dev/null >$CTL/map_device" \
		/sys/block/rnbd0/rnbd/unmap_device=force 50 >&3
}
