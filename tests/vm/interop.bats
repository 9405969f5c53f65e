#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Our modules at one end of the link, the in-tree ones at the other, both ways and in both modes of the server: a disk is mapped,
# written in pieces of all sizes, compared on the server's own device, unmapped; everything unloads.
# lab: two guests
# shellcheck shell=bats disable=SC2030,SC2031

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	on_server ram_disk 16
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown() {
	on_server unload_all
	unload_all
	dmesg_clean
	on_server dmesg_clean
}

map() {
	echo "sessname=interop path=ip:10.1.0.1 device_path=/dev/ram0" >/sys/class/rnbd-client/ctl/map_device &&
		await 20 test -b /dev/rnbd0
}

unmap() {
	echo normal >/sys/block/rnbd0/rnbd/unmap_device && await 10 test ! -b /dev/rnbd0
}

verify() {
	fio --filename=/dev/rnbd0 --rw=randwrite --bsrange=512-120k --verify=crc32c --verify_fatal=1 --direct=1 --ioengine=libaio \
		--randseed="$RANDOM" --minimal --name=shallow --iodepth=1 --size=1m --name=deep --iodepth=32 --offset=4m --size=8m
}

same_contents() {
	local here there
	here=$(sha256sum </dev/rnbd0) && there=$(on_server "sha256sum </dev/ram0") && [[ $here == "$there" ]] ||
		fail "the disk here is $here, the disk there is $there"
}

# job SERVER CLIENT MODE [PARAM=VALUE]
job() {
	on_server "load_$1 always_invalidate=$3 ${4-}" && "load_$2" && map && verify && same_contents && unmap || return
	map && unmap
}

@test "our client, in-tree server, always_invalidate=Y" { job peer_server client Y; }

@test "our client, in-tree server, always_invalidate=N" { job peer_server client N sess_queue_depth=64; }

@test "in-tree client, our server, always_invalidate=Y" { job server peer_client Y; }

@test "in-tree client, our server, always_invalidate=N" { job server peer_client N sess_queue_depth=64; }

@test "our client, our server over the link" { job server client Y sess_queue_depth=100; }
