#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A client is killed: all that the server has of it is gone when its heartbeats have been missed, and the device that it had for
# itself can be mapped by another. The other way round than elsewhere: the server is here, the client is in the other guest.
# lab: on debug: what a dead client leaves is judged by kmemleak
# lab: two guests
# lab: links 2
# lab: cpus 1
# lab: kernels 6.1 6.12
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	ram_disk 64 && dd if=/dev/zero of=/dev/ram0 bs=1M oflag=direct count=64 status=none
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	local heartbeats=()
	if [[ $KERNEL != 6.1 && -n $VIRTIO ]]; then
		# The time that kernels but the first are worth
		((BATS_TEST_NUMBER == 1)) || skip "on Linux 6.1, and on the debug kernel"
		heartbeats=("${SERVER_QUICK[@]}")
	fi
	load_server "${heartbeats[@]}"
}

teardown() {
	booted || server_power on
	on_server ". $ROOT/tests/vm/lib/failover.bash && unmap_all && unload_all && dmesg_clean"
	unmap_all
	unload_all
	dmesg_clean
}

there() { on_server ". $ROOT/tests/vm/lib/failover.bash && $*"; }

map_there() {
	there "echo sessname=there path=ip:10.1.0.2 path=ip:10.2.0.2 device_path=/dev/ram0 >$CTL/map_device &&
		await 20 test -b /dev/rnbd0"
}

map_here() { echo "sessname=here path=ip:10.1.0.2 device_path=/dev/ram0" >$CTL/map_device; }

is_refused() {
	run -1 map_here
	[ ! -e /sys/block/rnbd0 ]
}

has_dirs() { [[ -n $(ls "$1" 2>/dev/null) ]]; }

# killed MODULES: of the client
killed() {
	local before since took
	load_client
	before=$(mem_available)
	there "$1"
	map_there
	is_refused
	there "DISK=rnbd0 && load_run &"
	there "await 20 io_done rnbd0 200"
	has_dirs /sys/class/rtrs-server
	server_power off
	since=$SECONDS
	# Its devices are closed behind its paths
	await 45 eval '! has_dirs /sys/class/rtrs-server && ! has_dirs /sys/class/rnbd-server/ctl/devices'
	took=$((SECONDS - since))
	echo "# ${1#load_}: all of the client is gone after $took s" >&3
	# 6 ticks of 5 s, and what it takes to look
	((took <= 34 * ${LAB_SLOW:-1}))
	await 10 census_even
	# But for the 64 MiB of buffers that are kept for its return
	await 20 eval "((\$(mem_available) > $before - 48 - 64))"
	map_here
	await 20 test -b /dev/rnbd0
	dd if=/dev/zero of=/dev/rnbd0 bs=64k count=8 oflag=direct status=none
	unmap_all
	# And by that client, when it is there again
	server_power on
	there "$1"
	map_there
	there "dd if=/dev/rnbd0 of=/dev/null bs=64k count=8 iflag=direct status=none"
}

@test "our client is killed" { killed load_client; }

@test "an in-tree client is killed" { killed load_peer_client; }
