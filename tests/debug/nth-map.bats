#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each allocation that our client makes when it maps, adds a path, connects again and maps again fails once, in whatever task it
# happens. The operation fails or does without; nothing is left of it, and the next one works. But memory that each CPU has of its
# own: it comes from pages that were set aside at boot, and cannot be made to fail.
# lab: on debug: only this kernel fails allocations
# shellcheck shell=bats disable=SC2030,SC2031

CTL=/sys/class/rnbd-client/ctl
MAP="$CTL/map_device=sessname=nth path=ip:10.0.0.1 device_path=/dev/ram0"
UNMAP="/sys/block/rnbd0/rnbd/unmap_device=force"

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	net_up 1
	ram_disk 8 2
	# The client first: its two modules lie side by side then, as what is between them would fail, too
	load_client
	# What is small fails soon
	load_server sess_queue_depth=4
	faults_below '[[](rtrs|rnbd)_client[]]$'
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/debug/faults.bash"
	dmesg_mark
}

teardown() {
	"$ADM" unmap --all --force
	only_failed_allocations
}

@test "map and connect, client: objects" { "$NTH" any slab "$MAP" "$UNMAP" >&3; }

@test "map and connect, client: pages" { "$NTH" any page "$MAP" "$UNMAP" >&3; }

@test "a second disk of the session, over netlink" {
	"$ADM" map /dev/ram0 --session nth --path ip:10.0.0.1
	"$NTH" any slab "@nth=/dev/ram1" /sys/block/rnbd1/rnbd/unmap_device=force >&3
}

SYS=/sys/class/rtrs-client/nth
SECOND=$SYS/paths/ip:fd00::1@ip:fd00::1

@test "C9: a path is added to a session" {
	"$ADM" map /dev/ram0 --session nth --path ip:10.0.0.1
	"$NTH" any slab "$SYS/add_path=ip:fd00::1" "$SECOND/remove_path=1" >&3
}

@test "C9: a path connects again, in its worker" {
	"$ADM" map /dev/ram0 --session nth --path ip:10.0.0.1 --path ip:fd00::1 --reconnect-delay 10m --reconnect-delay-max 10m
	echo 1 >"$SECOND/disconnect"
	# The server has let go of it, too: what is there now is what must be there after each attempt
	await 20 awk '/^rtrs_server_(path|con) / { n += $2 - $3 } END { exit n != 3 }' /sys/kernel/debug/rtrs/objects
	"$NTH" any slab "$SECOND/reconnect=1" "$SECOND/disconnect=1" >&3
}

# closed: the server takes the disk away, and the client has met that
closed='echo 1 >/sys/class/rnbd-server/ctl/devices/ram0/sessions/nth/force_close
	! dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null &&
	until grep -q closed /sys/block/rnbd0/rnbd/state; do sleep 0.05; done'

@test "remap of a disk that the server has closed" {
	"$ADM" map /dev/ram0 --session nth --path ip:10.0.0.1
	eval "$closed"
	"$NTH" any slab "/sys/block/rnbd0/rnbd/remap_device=1" "!$closed" >&3
}

# The last one: others need all functions to fail in
@test "polled queues: their connections, and the slots" {
	local what
	for what in rtrs_client_con_setup rnbd_client_queue_init; do
		faults_below " $what\t"
		"$NTH" any slab "$MAP nr_poll_queues=1" "$UNMAP" >&3
	done
}
