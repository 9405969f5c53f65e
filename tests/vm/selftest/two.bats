#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The two-guest lab by itself, with the in-tree drivers at both ends of the virtual link:
# tests/run vm tests/vm/selftest/two.bats
# lab: two guests
# lab: in-tree modules only
# lab: links 2
# lab: disk 16

load ../guest.bash

teardown() {
	dmesg_clean
}

@test "the other guest answers over IPv4 and IPv6" {
	busybox ping -c 1 -W 5 10.1.0.1
	busybox ping -6 -c 1 -W 5 fd01::1
}

@test "in-tree client and server: map, verify, unmap" {
	on_server ram_disk 64
	on_server load_peer_server
	load_peer_client
	echo "sessname=two path=ip:10.1.0.1 device_path=/dev/ram0" >/sys/class/rnbd-client/ctl/map_device
	await 10 test -b /dev/rnbd0
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bs=4k --size=4m --verify=crc32c --direct=1 \
		--ioengine=libaio --iodepth=8 --minimal
	here=$(sha256sum </dev/rnbd0)
	there=$(on_server 'sha256sum </dev/ram0')
	[ "$here" = "$there" ]
	echo normal >/sys/block/rnbd0/rnbd/unmap_device
	await 10 test ! -b /dev/rnbd0
}

@test "a request that fails on the server fails here, with its output" {
	run on_server 'echo reason; false'
	[ "$status" -eq 1 ]
	[ "$output" = reason ]
}

@test "the server is killed and booted again: its disk is there, the link works, the client has gone on" {
	on_server "server_disk && touch /run/tmp/gone"
	on_server "echo kept | dd of=/dev/vda bs=512 conv=sync oflag=direct status=none"
	server_power off
	! busybox ping -c 1 -W 1 10.1.0.1 || fail "the server answers"
	server_power on
	on_server "server_disk && test ! -e /run/tmp/gone"
	[ "$(on_server 'head -c 4 /dev/vda')" = kept ]
	busybox ping -c 1 -W 5 10.1.0.1
	busybox ping -6 -c 1 -W 5 fd02::1
}
