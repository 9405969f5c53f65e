#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# I/O modes: blockio goes past the page cache of the server, fileio reads through it and writes through to the medium. The words
# of map_device for them, of its first version too. Over sysfs and the tool, in one guest. What is on the medium after a crash is
# in flush.bats.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: kernels 6.1 6.12
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

EXPORTS=/sys/class/rnbd-server/ctl/devices

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
	all_closed
	dmesg_clean
}

# data_is_right PATH ON-THE-SERVER MODE
data_is_right() {
	local disk
	disk=$(map "$1" io_mode="$3")
	[ "$(<"/sys/block/$disk/rnbd/io_mode")" = "$3" ]
	dd if=/dev/urandom of="/dev/$disk" bs=4M count=4 oflag=direct iflag=fullblock status=none
	same_contents "/dev/$disk" "$2"
	verify "$disk" --name=deep --iodepth=32 --size=8m
	same_contents "/dev/$disk" "$2"
	unmap "$disk"
}

@test "a block device in both modes: all block sizes, what is read and what is on it" {
	data_is_right /dev/ram0 /dev/ram0 fileio
	data_is_right /dev/ram0 /dev/ram0 blockio
}

@test "fileio: reads come out of the page cache, writes are under it, there is nothing to flush" {
	local disk
	disk=$(map /dev/ram0 io_mode=fileio)
	adm_is '.devices[0] | .io_mode == "fileio" and .write_cache == false' device show "$disk"
	adm_is '.exports[0] | .io_mode == "fileio" and .device == "ram0"' server export list
	dd if=/dev/urandom of="/dev/$disk" bs=1M count=16 oflag=direct status=none
	# Each is under the cache when it was answered
	dd if="/dev/$disk" of=/run/tmp/there bs=1M count=16 iflag=direct status=none
	dd if=/dev/ram0 of=/run/tmp/under bs=1M count=16 iflag=direct status=none
	cmp /run/tmp/there /run/tmp/under
	requests_none /dev/ram0 dd if="/dev/$disk" of=/dev/null bs=64k iflag=direct status=none
	sync "/dev/$disk"
	unmap "$disk"
	disk=$(map /dev/ram0)
	adm_is '.devices[0].io_mode == "blockio"' device show "$disk"
}

# requests_none DEVICE CMD..: it reads nothing meanwhile
requests_none() {
	local before after
	before=$(cut -d ' ' -f 1 <<<"$(xargs <"/sys/block/${1##*/}/stat")")
	"${@:2}"
	after=$(cut -d ' ' -f 1 <<<"$(xargs <"/sys/block/${1##*/}/stat")")
	[[ $before == "$after" ]] || fail "$1 was read, $before and then $after times"
}

@test "one mode at a time: another one is refused, who asks for none gets the one that there is" {
	local disk second
	disk=$(map /dev/ram0 access_mode=ro io_mode=fileio)
	map_fails "Device or resource busy" sessname=s2 path=ip:10.0.0.1 device_path=/dev/ram0 access_mode=ro io_mode=blockio
	dmesg_new | grep 'session s2: open "/dev/ram0" as ro: -[0-9A-Z]*: it is open with the other io_mode'
	second=$(map /dev/ram0 sessname=s2 access_mode=ro)
	[ "$(<"/sys/block/$second/rnbd/io_mode")" = fileio ]
	unmap "$second"
	unmap "$disk"
	# Who comes right behind waits for the close
	disk=$(map /dev/ram0 access_mode=ro io_mode=blockio)
	map_fails "Device or resource busy" sessname=s2 path=ip:10.0.0.1 device_path=/dev/ram0 access_mode=ro io_mode=fileio
	second=$(map /dev/ram1 sessname=s2 access_mode=ro io_mode=fileio)
}

@test "fileio never reads what the cache had before others wrote past it" {
	local disk holder
	# Somebody on the server keeps the cache
	exec {holder}</dev/ram0
	cat <&"$holder" >/dev/null
	disk=$(map /dev/ram0 io_mode=blockio)
	dd if=/dev/urandom of="/dev/$disk" bs=4M count=4 oflag=direct iflag=fullblock status=none
	unmap "$disk"
	disk=$(map /dev/ram0 io_mode=fileio)
	same_contents "/dev/$disk" /dev/ram0
	exec {holder}<&-
}

@test "a block device with fileio: nothing is discarded, zeroes are there at once, whatever was cached" {
	local disk loop
	loop=$(loop_disk 16)
	disk=$(map "$loop" io_mode=fileio)
	[ "$(<"/sys/block/$disk/queue/discard_max_bytes")" = 0 ]
	run ! blkdiscard "/dev/$disk"
	dd if=/dev/urandom of="/dev/$disk" bs=4M count=4 oflag=direct iflag=fullblock status=none
	sum "/dev/$disk" >/dev/null
	blkdiscard --zeroout --offset 1M --length 3M "/dev/$disk"
	cmp -n 3M -i 1M:0 "/dev/$disk" /dev/zero
	same_contents "/dev/$disk" "$loop"
	unmap "$disk"
	await 10 no_exports
	losetup -d "$loop"
}

@test "a block device with fileio follows its size" {
	local disk loop file
	loop=$(loop_disk 16)
	disk=$(map "$loop" io_mode=fileio)
	file=$(losetup -nO BACK-FILE "$loop")
	truncate -s 20M "$file"
	losetup -c "$loop"
	echo 1 >"$EXPORTS/${loop##*/}/revalidate"
	await 10 test "$(<"/sys/block/$disk/size")" = 40960 || await 10 size_is "$disk" 40960
	dd if=/dev/urandom of="/dev/$disk" bs=1M seek=16 count=4 oflag=direct status=none
	same_contents "/dev/$disk" "$loop"
	unmap "$disk"
	await 10 no_exports
	losetup -d "$loop"
}

size_is() { [[ $(<"/sys/block/$1/size") == "$2" ]]; }

@test "a regular file is no disk, whatever mode is asked for" {
	truncate -s 16M /run/tmp/image
	map_fails "Block device required" sessname=s1 path=ip:10.0.0.1 device_path=/run/tmp/image
	map_fails "Block device required" sessname=s1 path=ip:10.0.0.1 device_path=/run/tmp/image io_mode=fileio
	map_fails "Block device required" sessname=s1 path=ip:10.0.0.1 device_path=/run/tmp/image io_mode=blockio
}

@test "a client that may only read does not write with fileio either" {
	local disk
	disk=$(map /dev/ram0 access_mode=ro io_mode=fileio)
	run ! dd if=/dev/zero of="/dev/$disk" bs=4k count=1 oflag=direct
	dd if="/dev/$disk" of=/dev/null bs=1M iflag=direct status=none
	[ "$(<"$EXPORTS/ram0/sessions/s1/read_only")" = 1 ]
}

@test "words of map_device that are none" {
	map_fails "Invalid argument" sessname=s1 path=ip:10.0.0.1 device_path=/dev/ram0 io_mode=file
	map_fails "Invalid argument" sessname=s1 path=ip:10.0.0.1 device_path=/dev/ram0 input_mode=sq
	map_fails "Invalid argument" device_path=/dev/ram0 server=ip:10.0.0.2@ip:10.0.0.1
	map_fails "Protocol not supported" device_path=/dev/ram0 server=10.0.0.1
}

@test "the line of the first version: server=, input_mode=, io_mode=" {
	local name
	echo "server=ip:10.0.0.1 device_path=/dev/ram1 input_mode=rq io_mode=fileio" >$CTL/map_device
	name="$(uname -n)@ip:10.0.0.1"
	name=${name//./-}
	[ "$(</sys/block/rnbd0/rnbd/session)" = "$name" ]
	[ "$(</sys/block/rnbd0/rnbd/io_mode)" = fileio ]
	dmesg_new | grep 'map_device: input_mode=rq: this kernel has mq alone'
	grep -q 'io_mode=<blockio|fileio>.*input_mode=<mq|rq>' $CTL/map_device
}

@test "the disk comes back in its mode when the server does" {
	local disk
	disk=$(map /dev/ram0 io_mode=fileio)
	echo -1 >/sys/class/rtrs-client/s1/no_path_timeout_ms
	echo 100 | tee /sys/class/rtrs-client/s1/reconnect_delay{,_max}_ms >/dev/null
	rmmod rnbd-server rtrs-server
	await 20 state_is "$disk" closed
	load_server
	await 30 state_is "$disk" open
	adm_is '.exports[0].io_mode == "fileio"' server export list
	verify "$disk" --name=deep --iodepth=32 --size=8m
}
