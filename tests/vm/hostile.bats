#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A peer in user space (tests/fuzz/hostile) that does everything wrong, against our server, in both of its modes. After each
# test the kernel must have nothing to say, and the server must be there for a proper client.
# lab: make tests/fuzz/hostile
# shellcheck shell=bats disable=SC2030,SC2031

HOSTILE=$ROOT/build/hostile/hostile

# A disk that takes a second for each request and ends it in a hard interrupt
slow_disk() {
	local dir=/sys/kernel/config/nullb/slow
	modprobe null_blk nr_devices=0 && mkdir "$dir" && echo 64 >"$dir/size" && echo 2 >"$dir/irqmode" || return
	echo 1000000000 >"$dir/completion_nsec" && echo 1 >"$dir/memory_backed" && echo 1 >"$dir/power" || return
	await 5 test -b /dev/slow
}

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	ram_disk 16
	slow_disk
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown() { dmesg_clean; }

# mode Y|N: the server in this mode
mode() {
	[[ $(cat /sys/module/rtrs_server/parameters/always_invalidate 2>/dev/null) != "$1" ]] || return 0
	unload rnbd-server rtrs-server && load_server sess_queue_depth=64 always_invalidate="$1"
}

hostile() { timeout -k 5 180 "$HOSTILE" 10.0.0.1 1234 /dev/ram0 /dev/slow "$@"; }

# Sessions of peers that are gone, with all they had open
nobody_there() { [[ -z $(ls /sys/class/rnbd-server/ctl/devices) ]] && census_even; }

# group MODE PREFIX: all tests of that name
group() {
	local names rc=0
	mode "$1" || return
	mapfile -t names < <("$HOSTILE" list | grep "^$2-")
	hostile "${names[@]}" || { rc=$?; echo "always_invalidate=$1: status $rc"; }
	await 30 nobody_there && return "$rc"
}

# The main job, beside or after all that
proper_client() {
	load_client || return
	echo "sessname=proper path=ip:10.0.0.1 device_path=/dev/ram0" >/sys/class/rnbd-client/ctl/map_device || return
	await 10 test -b /dev/rnbd0 || return
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bsrange=512-120k --size=8m --verify=crc32c --direct=1 \
		--ioengine=libaio --iodepth=16 --minimal >/dev/null || return
	echo normal >/sys/block/rnbd0/rnbd/unmap_device || return
	unload rnbd-client rtrs-client
}

@test "connect requests" { group Y connect; }

@test "the INFO exchange" { group Y info; }

@test "requests of the transport, always_invalidate=Y" { group Y request; }

@test "control messages of RNBD" { group Y rnbd; }

@test "I/O, always_invalidate=Y" { group Y io; }

@test "random bytes, always_invalidate=Y" { group Y random; }

@test "a proper client after all that" { proper_client; }

@test "requests of the transport, always_invalidate=N" { group N request; }

@test "I/O, always_invalidate=N" { group N io; }

@test "random bytes, always_invalidate=N" { group N random; }

@test "a proper client beside a hostile one" {
	local pid rc=0
	hostile random-bytes &
	pid=$!
	proper_client || rc=$?
	wait "$pid"
	[ "$rc" -eq 0 ]
}
