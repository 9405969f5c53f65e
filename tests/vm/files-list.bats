#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Regular files of the access list as disks, in both I/O modes: data, discards and zeroes, errors, sizes, a frozen file system.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: kernels 6.1 6.12
# lab: ynl
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

EXPORTS=/sys/class/rnbd-server/ctl/devices
IMAGE=/run/tmp/fs/image

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 1
	ram_disk 16 2
	modprobe loop
	load_server
	load_client
}

setup() { . "$ROOT/tests/vm/disk.bash"; }

teardown() {
	fsfreeze -u /run/tmp/fs 2>/dev/null || :
	file_system_gone
	set_list '{"state":"open","force":true}'
	dmesg_clean
}

# listed MODE.. : each as an export of IMAGE of that name, and the image of tmpfs
listed() {
	local name exports=''
	for name; do
		exports+=",{\"name\":\"$name\",\"path\":\"$IMAGE\",\"io-mode\":\"${name/second/fileio}\",\"allow\":[{\"peer\":\"*\",\"access-mode\":\"rw\"}]}"
	done
	exports+=",{\"name\":\"tmpfs\",\"path\":\"/run/tmp/image\",\"io-mode\":\"fileio\",\"allow\":[{\"peer\":\"*\",\"access-mode\":\"rw\"}]}"
	set_list '{"state":"listed","force":true,"peer":[{"name":"any","auth":"none","session":[{"pattern":"s*"}],
		"from":[{"addr":"020000000a0000000000000000000000","bits":8}]}],"export":['"${exports#,}"']}'
}

# Of 16 MiB, on /dev/ram1, with an image of 8 MiB
file_system() {
	dd if=/dev/zero of=/dev/ram1 bs=1M count=16 oflag=direct status=none
	mkdir -p /run/tmp/fs
	mkfs.ext4 -q -F -O ^has_journal /dev/ram1
	mount /dev/ram1 /run/tmp/fs
	truncate -s 8M $IMAGE
	listed blockio fileio
}

file_system_gone() {
	all_closed
	! mountpoint -q /run/tmp/fs || umount /run/tmp/fs
}

blocks() { stat -c %b $IMAGE; }
blocks_below() { (($(blocks) <= $1)); }
size_is() { [[ $(<"/sys/block/$1/size") == "$2" ]]; }

file_data() {
	local disk
	disk=$(map "$1")
	[ "$(<"/sys/block/$disk/rnbd/io_mode")" = "$1" ]
	adm_is '.devices[0].write_cache == '"$2" device show "$disk"
	[ "$(<"$EXPORTS/$1/path")" = $IMAGE ]
	dd if=/dev/urandom of="/dev/$disk" bs=4M count=2 oflag=direct iflag=fullblock status=none
	sync "/dev/$disk"
	cmp "/dev/$disk" $IMAGE
	verify "$disk" --name=deep --iodepth=32 --size=6m
	same_contents "/dev/$disk" $IMAGE
	unmap "$disk"
	await 10 no_exports
}

@test "both modes: all block sizes, what is read and what is on it" {
	file_system
	file_data blockio true
	file_data fileio false
}

@test "both modes: random reads, writes, discards, zeroes and syncs do what a model in memory does, from one mapping to the next" {
	local disk mode round
	file_system
	for mode in blockio fileio; do
		truncate -s 0 $IMAGE /run/tmp/model
		truncate -s 8M $IMAGE /run/tmp/model
		for round in 1 2 3; do
			disk=$(map $mode)
			"$ROOT/build/tools/exercise" "/dev/$disk" /run/tmp/model 300 || fail "$mode, round $round"
			unmap "$disk"
			await 10 no_exports
		done
		cmp $IMAGE /run/tmp/model
	done
}

@test "the export says the mode; another one is refused" {
	file_system
	map_fails "Invalid argument" sessname=s1 path=ip:10.0.0.1 device_path=blockio io_mode=fileio
	map_fails "Invalid argument" sessname=s1 path=ip:10.0.0.1 device_path=fileio io_mode=blockio
	map fileio io_mode=fileio
	adm_is '.exports[0] | .io_mode == "fileio" and .devnum == null' server export list
}

@test "what a list does not let in any more is closed: another mode, and every file of an open server" {
	local disk
	file_system
	disk=$(map blockio)
	set_list '{"state":"open","force":true}'
	await 10 no_exports
	run ! dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct
	map_fails "Block device required" sessname=s1 path=ip:10.0.0.1 device_path=$IMAGE
}

@test "discards free blocks, zeroes read as such, kept or not" {
	local disk mode before
	file_system
	for mode in blockio fileio; do
		disk=$(map $mode)
		dd if=/dev/urandom of="/dev/$disk" bs=4M count=2 oflag=direct iflag=fullblock status=none
		sync "/dev/$disk"
		before=$(blocks)
		blkdiscard --offset 1M --length 2M "/dev/$disk"
		await 5 blocks_below $((before - 4000)) || fail "$before blocks, now $(blocks)"
		cmp -n 2M -i 1M:0 "/dev/$disk" /dev/zero
		blkdiscard --zeroout --offset 4M --length 1M "/dev/$disk"
		cmp -n 1M -i 4M:0 "/dev/$disk" /dev/zero
		run ! blkdiscard --secure "/dev/$disk"
		same_contents "/dev/$disk" $IMAGE
		unmap "$disk"
		await 10 no_exports
	done
}

@test "no space is ENOSPC, and what is there goes on" {
	local disk mode
	file_system
	truncate -s 64M $IMAGE
	for mode in blockio fileio; do
		disk=$(map $mode)
		run ! env LC_ALL=C dd if=/dev/urandom of="/dev/$disk" bs=1M count=32 oflag=direct status=none
		[[ $output == *"No space left"* ]]
		dd if="/dev/$disk" of=/dev/null bs=1M count=4 iflag=direct status=none
		blkdiscard "/dev/$disk"
		dd if=/dev/urandom of="/dev/$disk" bs=1M count=2 oflag=direct status=none
		unmap "$disk"
		await 10 no_exports
	done
}

@test "a file that was cut ends with EIO, one that grew is larger when that is told" {
	local disk mode
	file_system
	for mode in blockio fileio; do
		truncate -s 8M $IMAGE
		disk=$(map $mode)
		truncate -s 4M $IMAGE
		run ! env LC_ALL=C dd if="/dev/$disk" of=/dev/null bs=1M skip=4 count=1 iflag=direct status=none
		[[ $output == *"Input/output error"* ]]
		truncate -s 9M $IMAGE
		echo 1 >"$EXPORTS/$mode/revalidate"
		await 10 size_is "$disk" 18432
		dd if=/dev/urandom of="/dev/$disk" bs=1M seek=8 count=1 oflag=direct status=none
		same_contents "/dev/$disk" $IMAGE
		unmap "$disk"
		await 10 no_exports
	done
}

@test "a file system that is frozen holds up writes, and nothing else" {
	local disk mode pid
	file_system
	for mode in blockio fileio; do
		disk=$(map $mode)
		dd if=/dev/zero of="/dev/$disk" bs=1M count=8 oflag=direct status=none
		sync "/dev/$disk"
		fsfreeze -f /run/tmp/fs
		dd if=/dev/urandom of="/dev/$disk" bs=64k count=1 oflag=direct status=none & pid=$!
		await 10 under_way "$disk"
		dd if="/dev/$disk" of=/dev/null bs=64k skip=8 count=1 iflag=direct status=none
		run ! dead $pid
		fsfreeze -u /run/tmp/fs
		wait $pid
		same_contents "/dev/$disk" $IMAGE
		unmap "$disk"
		await 10 no_exports
	done
}

@test "a file has one writer, whatever it is called, and keeps its file system mounted" {
	local disk
	file_system
	listed fileio second
	disk=$(map fileio)
	map_fails "Operation not permitted" sessname=s2 path=ip:10.0.0.1 device_path=second
	run ! umount /run/tmp/fs
}

@test "a file of tmpfs: what it cannot is done without" {
	local disk
	truncate -s 8M /run/tmp/image
	listed fileio
	disk=$(map tmpfs)
	dd if=/dev/urandom of="/dev/$disk" bs=4M count=2 oflag=direct iflag=fullblock status=none
	blkdiscard --zeroout --offset 1M --length 3M "/dev/$disk"
	cmp -n 3M -i 1M:0 "/dev/$disk" /dev/zero
	cmp "/dev/$disk" /run/tmp/image
}

@test "both modes: a file system in a file: what was copied is there, and it is sound" {
	local disk mode
	file_system
	mkdir -p /run/tmp/mnt
	dd if=/dev/urandom of=/run/tmp/data bs=1M count=3 status=none
	for mode in blockio fileio; do
		disk=$(map $mode)
		mkfs.ext4 -qF "/dev/$disk"
		mount "/dev/$disk" /run/tmp/mnt
		cp /run/tmp/data /run/tmp/mnt/$mode
		fstrim /run/tmp/mnt
		umount /run/tmp/mnt
		unmap "$disk"
		await 10 no_exports
		e2fsck -fn $IMAGE
		mount -o loop,ro $IMAGE /run/tmp/mnt
		cmp /run/tmp/data /run/tmp/mnt/$mode
		umount /run/tmp/mnt
	done
}
