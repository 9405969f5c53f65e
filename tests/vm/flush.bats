#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What an application was told is on the medium is there after a crash of the server's host. Below the server's device lies
# dm-log-writes, which takes a write into its log when a flush after it is done, or when it was FUA: the log up to a mark is the
# device as a crash at that moment would leave it at worst. Marks are made each time that fsync has returned.
# lab: on debug: order of requests at the disk is one-CPU logic, for KASAN, lockdep and kmemleak
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

CTL=/sys/class/rnbd-client/ctl
REPLAY=$ROOT/build/tools/log-writes

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	modprobe -a loop dm-log-writes
	load_server
	load_client
}

# 320 MiB: xfs wants 300
setup() {
	. "$ROOT/tests/vm/guest.bash"
	rm -f /run/tmp/data /run/tmp/log
	truncate -s 320M /run/tmp/data
	truncate -s 128M /run/tmp/log
	losetup /dev/loop6 /run/tmp/data
	losetup /dev/loop7 /run/tmp/log
	dmsetup create --noudevsync logged --table "0 $((320 * 2048)) log-writes /dev/loop6 /dev/loop7"
	await 5 test -b /dev/dm-0
	echo "sessname=flush path=ip:10.0.0.1 device_path=/dev/dm-0" >$CTL/map_device
	await 10 test -b /dev/rnbd0
}

teardown() {
	! mountpoint -q /run/tmp/mnt || umount /run/tmp/mnt
	[[ ! -e /sys/block/rnbd0 ]] || echo force >/sys/block/rnbd0/rnbd/unmap_device
	[[ ! -e /sys/block/dm-0 ]] || await 10 released
	losetup -d /dev/loop6 /dev/loop7
	dmesg_clean
}

# The server lets go of a device a moment later than the client
released() { dmsetup remove --noudevsync logged; }

unmap_logged() { echo normal >/sys/block/rnbd0/rnbd/unmap_device && await 10 released; }

@test "the disk has the write cache and FUA of its device" {
	[ "$(</sys/block/rnbd0/queue/write_cache)" = "write back" ]
	[ "$(</sys/block/rnbd0/queue/fua)" = 1 ]
}

# MODE: how each group of writes is made lasting
made_lasting() {
	"$REPLAY" workload /dev/rnbd0 logged "$1"
	unmap_logged
	"$REPLAY" verify /dev/loop7
}

@test "fsync after groups of direct writes" { made_lasting fsync; }

@test "direct writes with O_DSYNC" { made_lasting dsync; }

@test "the page cache and fsync" { made_lasting cached; }

@test "the log tells a flush from none" {
	"$REPLAY" workload /dev/rnbd0 logged none
	unmap_logged
	run -1 "$REPLAY" verify /dev/loop7
	[[ $output == *"is not on the medium"* ]]
}

# The crash comes after the last fsync, before anything else is written back
filesystem() {
	local fs=$1 i
	"mkfs.$fs" -q /dev/rnbd0
	mkdir -p /run/tmp/mnt
	mount -t "$fs" /dev/rnbd0 /run/tmp/mnt
	for i in 1 2 3; do
		dd if=/dev/urandom of=/run/tmp/file$i bs=1k count=$((i * 100)) status=none
		dd if=/run/tmp/file$i of=/run/tmp/mnt/file$i bs=7k conv=fsync status=none
	done
	sync -d /run/tmp/mnt
	dmsetup message logged 0 mark crash
	rm /run/tmp/mnt/file1
	umount /run/tmp/mnt
	unmap_logged
	"$REPLAY" image /dev/loop7 crash /run/tmp/image
	mount -t "$fs" -o loop /run/tmp/image /run/tmp/mnt
	for i in 1 2 3; do cmp /run/tmp/file$i /run/tmp/mnt/file$i; done
	umount /run/tmp/mnt
}

@test "ext4: what fsync has written survives, the file system is sound" {
	filesystem ext4
	e2fsck -fn /run/tmp/image
}

@test "xfs: the same" {
	filesystem xfs
	xfs_repair -n /run/tmp/image
}
