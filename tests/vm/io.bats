#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What an application sees of a mapped disk: its data, on the backing device as well; flushes and FUA writes; access modes;
# coming and going of disks. In one guest, over sysfs alone.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: on 6.1 for ^(priorities are|the uevent of ctl): they look with kprobes, which the debug kernel has not
# lab: kernels 6.1 6.12
# lab: make tests/vm/erase
# lab: parallel 6.1
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 1
	ram_disk 16 2
	load_server
	load_client
}

setup() { . "$ROOT/tests/vm/disk.bash"; }

teardown() { unmap_all; }

data_is_right() {
	local disk
	mode "$@"
	disk=$(map /dev/ram0)
	dd if=/dev/urandom of="/dev/$disk" bs=4M count=4 oflag=direct iflag=fullblock status=none
	same_contents "/dev/$disk" /dev/ram0
	verify "$disk" --name=shallow --iodepth=1 --size=1m --name=deep --iodepth=32 --offset=4m --size=8m
	same_contents "/dev/$disk" /dev/ram0
	unmap "$disk"
}

@test "all block sizes at depths 1 and 32, always_invalidate=Y" { data_is_right always_invalidate=Y; }

@test "all block sizes at depths 1 and 32, always_invalidate=N" { data_is_right always_invalidate=N; }

@test "buffers that start and end inside of a page" {
	local disk
	disk=$(map /dev/ram0)
	"$ROOT/build/tools/unaligned" "/dev/$disk"
	same_contents "/dev/$disk" /dev/ram0
}

@test "through the page cache: what fsync has written is there" {
	local disk
	disk=$(map /dev/ram0)
	dd if=/dev/urandom of="/dev/$disk" bs=37k count=200 conv=fsync status=none
	same_contents "/dev/$disk" /dev/ram0
}

flushed() {
	local i
	for i in 1 2 3 4 5; do sync "/dev/$1" || return; done
	dd if=/dev/zero of="/dev/$1" bs=4k count=7 oflag=direct,dsync status=none
	dd if=/dev/zero of="/dev/$1" bs=4k count=3 oflag=direct status=none
}

@test "flushes and FUA writes reach a device with a write cache" {
	local disk
	null_disk cached size=16 cache_size=4
	disk=$(map /dev/cached)
	[ "$(<"/sys/block/$disk/queue/write_cache")" = "write back" ]
	[ "$(<"/sys/block/$disk/queue/fua")" = 1 ]

	requests_to /dev/cached flushed "$disk"
	[ "$(grep -c ' FF\?S\? 0 ' /run/tmp/requests)" -ge 5 ]
	[ "$(grep -c ' WFS ' /run/tmp/requests)" -eq 7 ]
	[ "$(grep -c ' WS ' /run/tmp/requests)" -eq 3 ]
	unmap "$disk"
	null_disk_gone cached
}

# N 1 MiB blocks of this byte
bytes() { head -c $(($2 << 20)) /dev/zero | tr '\0' "\\$1"; }

@test "a secure erase reaches the device, the sectors that it names and no others" {
	local disk
	modprobe dm_mod
	insmod "$ROOT/build/erase-$(uname -r)/dm-erase.ko"
	dmsetup create --noudevsync erasable --table "0 32768 erase"
	await 10 test -b /dev/dm-0
	disk=$(map /dev/dm-0)
	head -c 16M /dev/urandom >/run/tmp/want
	dd if=/run/tmp/want of="/dev/$disk" bs=1M oflag=direct status=none

	blkdiscard --secure --offset 1M --length 5M "/dev/$disk"
	blkdiscard --secure --offset 9437696 --length 512 "/dev/$disk"
	blkdiscard --offset 12M --length 1M "/dev/$disk"
	bytes 345 5 | dd of=/run/tmp/want bs=1M seek=1 conv=notrunc status=none iflag=fullblock
	bytes 345 1 | dd of=/run/tmp/want bs=512 seek=18433 count=1 conv=notrunc status=none
	bytes 321 1 | dd of=/run/tmp/want bs=1M seek=12 conv=notrunc status=none iflag=fullblock
	[ "$(sum /dev/dm-0)" = "$(sha256sum </run/tmp/want)" ]
	same_contents "/dev/$disk" /dev/dm-0
	# 5 MiB in requests of 2 MiB at most, and one sector
	[ "$(dmsetup status erasable)" = "0 32768 erase 4 10241" ]

	unmap "$disk"
	dmsetup remove --noudevsync erasable
	rmmod dm-erase
	# What cannot be erased says so
	disk=$(map /dev/ram0)
	run -1 blkdiscard --secure "/dev/$disk"
	[[ $output == *"not supported"* ]]
}

@test "E4: the disk's write cache is switched on while it is mapped: flushes reach it from then on, and before they cost no request" {
	local disk
	null_disk cached size=16 cache_size=4
	echo "write through" >/sys/block/cached/queue/write_cache
	disk=$(map /dev/cached)
	[ "$(<"/sys/block/$disk/rnbd/write_cache")" = "write through" ]
	requests_to /dev/cached flushed "$disk"
	[ "$(grep -c ' FF\?S\? 0 ' /run/tmp/requests)" -eq 0 ]
	echo "write back" >/sys/block/cached/queue/write_cache
	requests_to /dev/cached flushed "$disk"
	[ "$(grep -c ' FF\?S\? 0 ' /run/tmp/requests)" -ge 5 ]
	[ "$(grep -c ' WFS ' /run/tmp/requests)" -eq 7 ]
	unmap "$disk"
	null_disk_gone cached
}

@test "what the server's device fails is failed, and nothing else" {
	local disk sector
	dmsetup create --noudevsync hole <<-TABLE
		0 1000 linear /dev/ram1 0
		1000 8 error
		1008 1040 linear /dev/ram1 1008
	TABLE
	await 10 test -b /dev/dm-0
	disk=$(map /dev/dm-0)
	dd if=/dev/urandom of=/run/tmp/random bs=512 count=896 status=none
	dd if=/run/tmp/random of="/dev/$disk" bs=64k oflag=direct status=none
	for sector in 1000 1007; do
		run -1 env LC_ALL=C dd if="/dev/$disk" of=/dev/null bs=512 skip=$sector count=1 iflag=direct
		[[ $output == *"Input/output error"* ]]
		run -1 env LC_ALL=C dd if=/dev/zero of="/dev/$disk" bs=512 seek=$sector count=1 oflag=direct
		[[ $output == *"Input/output error"* ]]
	done
	# as a part of a larger one, and through the page cache
	run -1 dd if="/dev/$disk" of=/dev/null bs=64k skip=7 count=1 iflag=direct
	run -1 dd if=/dev/zero of="/dev/$disk" bs=64k seek=7 count=1 oflag=direct
	run -1 dd if=/dev/zero of="/dev/$disk" bs=4k seek=125 count=1 conv=fsync
	# of all sectors, sixteen at once, these eight
	run fio --filename="/dev/$disk" --name=around --rw=randread --bs=512 --direct=1 --ioengine=libaio --iodepth=16 --size=1m \
		--continue_on_error=all --output-format=json
	[ "$(sed -n '/^{/,$p' <<<"$output" | jq -c '.jobs[0] | [.total_err, .read.total_ios]')" = "[8,2048]" ] || fail "$output"
	dd if="/dev/$disk" bs=64k count=7 iflag=direct status=none | cmp - /run/tmp/random
	[[ $(cat /sys/class/rtrs-client/s1/paths/*/stats/reconnects) == "0 0" ]]
	unmap "$disk"
	dmsetup remove --noudevsync hole
}

@test "a flush that the server's device fails has failed" {
	local disk
	modprobe dm-flakey
	null_disk cached size=16 cache_size=4
	dmsetup create --noudevsync dying --table "0 2048 linear /dev/cached 0"
	await 10 test -b /dev/dm-0
	disk=$(map /dev/dm-0)
	dd if=/dev/zero of="/dev/$disk" bs=4k count=1 oflag=direct conv=fsync status=none
	dmsetup load dying --table "0 2048 flakey /dev/cached 0 0 1"
	dmsetup suspend --noudevsync dying
	dmsetup resume --noudevsync dying
	run -1 env LC_ALL=C sync "/dev/$disk"
	[[ $output == *"Input/output error"* ]]
	unmap "$disk"
	dmsetup remove --noudevsync dying
	null_disk_gone cached
}

@test "a device of the server that is full: ENOSPC; what is there stays, can be written, and given back" {
	local disk
	modprobe dm-thin-pool
	dd if=/dev/zero of=/dev/ram1 bs=1M count=1 status=none
	dmsetup create --noudevsync pool --table "0 8192 thin-pool /dev/ram1 /dev/ram0 128 0 1 error_if_no_space"
	await 10 test -b /dev/dm-0
	dmsetup message pool 0 "create_thin 0"
	dmsetup create --noudevsync thin --table "0 32768 thin /dev/dm-0 0"
	await 10 test -b /dev/dm-1
	disk=$(map /dev/dm-1)
	dd if=/dev/urandom of=/run/tmp/random bs=1M count=4 status=none
	dd if=/run/tmp/random of="/dev/$disk" bs=64k oflag=direct status=none
	run -1 env LC_ALL=C dd if=/run/tmp/random of="/dev/$disk" bs=64k seek=64 oflag=direct
	[[ $output == *"No space left on device"*"0+0 records out"* ]]
	# through the page cache, which says EIO of any error, fsync tells
	run -1 env LC_ALL=C dd if=/run/tmp/random of="/dev/$disk" bs=64k seek=64 count=1 conv=fsync
	[[ $output == *"Input/output error"* ]]
	dd if="/dev/$disk" bs=1M count=4 iflag=direct status=none | cmp - /run/tmp/random
	dd if=/run/tmp/random of="/dev/$disk" bs=1M count=1 seek=3 oflag=direct status=none
	dd if="/dev/$disk" bs=1M skip=3 count=1 iflag=direct status=none | cmp - <(head -c 1M /run/tmp/random)
	blkdiscard --offset 0 --length 1M "/dev/$disk"
	[[ $(dmsetup status thin) == "0 32768 thin 6144 "* ]]
	dd if="/dev/$disk" bs=1M count=1 iflag=direct status=none | cmp - <(head -c 1M /dev/zero)
	[[ $(cat /sys/class/rtrs-client/s1/paths/*/stats/reconnects) == "0 0" ]]
	unmap "$disk"
	dmsetup remove --noudevsync thin
	dmsetup remove --noudevsync pool
}

@test "limits of the disk" {
	local disk q
	disk=$(map /dev/ram0)
	q=/sys/block/$disk/queue
	[ "$(<$q/max_hw_sectors_kb)" = 124 ]
	# F6: of the device, not of our requests; read-ahead is the default then
	[ "$(<$q/optimal_io_size) $(<$q/minimum_io_size) $(<$q/read_ahead_kb)" = "0 4096 128" ]
	[ "$(<$q/virt_boundary_mask)" = 4095 ]
	[ "$(<$q/rotational)" = 0 ]
	[ "$(<$q/logical_block_size)" = "$(</sys/block/ram0/queue/logical_block_size)" ]
	[ "$(<$q/physical_block_size)" = "$(</sys/block/ram0/queue/physical_block_size)" ]
	[ "$(blockdev --getsize64 "/dev/$disk")" = "$(blockdev --getsize64 /dev/ram0)" ]
}

@test "F6: what the server's device says goes well together, with one of a disk that is made of two such" {
	local disk q
	dmsetup create --noudevsync stripes --table "0 65536 striped 2 128 /dev/ram0 0 /dev/ram1 0"
	await 10 test -b /dev/dm-0
	disk=$(map /dev/dm-0)
	q=/sys/block/$disk/queue
	[ "$(<$q/optimal_io_size) $(<$q/minimum_io_size) $(<$q/read_ahead_kb)" = "131072 65536 256" ]
	unmap "$disk"
	dmsetup remove --noudevsync stripes
	disk=$(map /dev/ram0)
	dmsetup create --noudevsync stripes --table "0 65536 striped 2 256 /dev/$disk 0 /dev/$(map /dev/ram1) 0"
	await 10 test -b /dev/dm-0
	q=/sys/block/dm-0/queue
	[ "$(<$q/optimal_io_size) $(<$q/minimum_io_size)" = "262144 131072" ]
	[ "$(<$q/read_ahead_kb)" -ge 128 ]
	dmsetup remove --noudevsync stripes
}

@test "F5: the number of a disk is one of those that LVM knows, that of a partition too; netlink says the same" {
	local disk devt
	disk=$(map /dev/ram0)
	devt=$(<"/sys/block/$disk/dev")
	[[ $devt == 259:* && -b /dev/$disk ]]
	adm_is ".devices[0].devnum == \"$devt\"" device list
	partitions "/dev/$disk" 2048:8192
	blockdev --rereadpt "/dev/$disk"
	[[ $(<"/sys/block/$disk/${disk}p1/dev") == 259:* ]]
	[ "$(awk '$1 == 259 { print $2 }' /proc/devices)" = blkext ]
	dd if=/dev/zero of="/dev/$disk" bs=512 count=1 conv=fsync status=none
}

@test "sizes are in sectors of 512 bytes, whatever the blocks" {
	local disk heads sectors cylinders
	null_disk big size=16 blocksize=4096
	disk=$(map /dev/big)
	[ "$(<"/sys/block/$disk/queue/logical_block_size")" = 4096 ]
	[ "$(blockdev --getsize64 "/dev/$disk")" = 16777216 ]
	read -r heads sectors cylinders < <("$ROOT/build/tools/geometry" "/dev/$disk")
	[ $((heads * sectors * cylinders * 512)) -eq 16777216 ]
	run -1 dd if=/dev/zero of="/dev/$disk" bs=512 count=1 oflag=direct
	dd if=/dev/urandom of="/dev/$disk" bs=4k count=50 oflag=direct status=none
	same_contents "/dev/$disk" /dev/big
	unmap "$disk"
	null_disk_gone big
}

@test "uevents: add, online, offline, remove" {
	local disk pid
	uevents /run/tmp/uevents
	disk=$(map /dev/ram0)
	await 5 grep -q online /run/tmp/uevents
	echo 0 >/sys/class/rtrs-client/s1/max_reconnect_attempts
	echo 1 >/sys/class/rtrs-server/s1/paths/*/disconnect
	await 20 grep -q offline /run/tmp/uevents
	[ "$(<"/sys/block/$disk/rnbd/state")" = closed ]
	unmap "$disk"
	await 5 grep -q remove /run/tmp/uevents
	uevents_end
	[ "$(grep -v change /run/tmp/uevents | xargs)" = "ready add online offline remove" ]
}

read_as() { ionice "${@:2}" dd if="/dev/$1" of=/dev/null bs=4k count=3 iflag=direct status=none; }

@test "priorities are those of the client on the server's device, real-time is the first of best effort" {
	local disk
	[[ -n $VIRTIO ]] || skip "the debug kernel has no kprobes"
	disk=$(map /dev/ram0)
	prios_of brd_submit_bio read_as "$disk" -c 2 -n 5
	[ "$(uniq -c /run/tmp/prios | xargs)" = "3 4005" ]
	prios_of brd_submit_bio read_as "$disk" -c 3
	[ "$(uniq -c /run/tmp/prios | xargs)" = "3 6007" ]
	prios_of brd_submit_bio read_as "$disk" -c 1 -n 3
	[ "$(uniq -c /run/tmp/prios | xargs)" = "3 4000" ]
}

@test "files of the mapping" {
	local disk dir
	disk=$(map /dev/ram1 access_mode=migration)
	dir=/sys/block/$disk/rnbd
	[ "$(<"$dir/mapping_path")" = /dev/ram1 ]
	[ "$(<"$dir/state")" = open ]
	[ "$(<"$dir/session")" = s1 ]
	[ "$(<"$dir/access_mode")" = migration ]
	[ "$(<"$dir/nr_poll_queues")" = 0 ]
	[ -L "$CTL/devices/!dev!ram1@s1" ]
	unmap "$disk"
	[ ! -L "$CTL/devices/!dev!ram1@s1" ]
	[ ! -e "/sys/block/$disk" ]
}

@test "requests of two disks share the slots of a session, be they few" {
	local a b pid
	mode sess_queue_depth=8
	a=$(map /dev/ram0)
	b=$(map /dev/ram1)
	verify "$a" --name=a --iodepth=32 --size=3m & pid=$!
	fio --filename="/dev/$b" --rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1 --direct=1 --ioengine=libaio --minimal \
		--name=b --iodepth=32 --size=2m >/dev/null
	wait $pid
	same_contents "/dev/$a" /dev/ram0
	same_contents "/dev/$b" /dev/ram1
	unmap_all
	mode
}

# stopped DISK: polled requests are under way, and nobody polls, nor do heartbeats; sets FIO
stopped() {
	echo 60000 >/sys/class/rtrs-client/s1/heartbeat_interval_ms
	fio --filename="/dev/$1" --rw=randread --bs=4k --direct=1 --ioengine=io_uring --hipri=1 --iodepth=8 --name=stopped \
		--thread --time_based --runtime=300 --minimal >/dev/null 2>&1 3>&- & FIO=$!
	await 30 under_way "$1"
	kill -STOP $FIO
	await 10 bash -c "! grep -L ') T ' /proc/$FIO/task/*/stat | grep -q ."
	under_way "$1"
}

@test "polled requests of a process that is stopped keep nobody waiting" {
	local disk remover
	null_disk late size=16 irqmode=2 completion_nsec=1000000000
	disk=$(map /dev/late nr_poll_queues=1)
	stopped "$disk"
	unmap "$disk" force 3>&- & remover=$!
	await 60 test ! -e "/sys/block/$disk"
	wait $remover
	kill -KILL $FIO
	ends_badly $FIO
	await 10 census_even
	unload rnbd-client rtrs-client
	load_client
}

@test "nor is their connection taken for a silent one: heartbeats end what has come" {
	local disk
	disk=$(map /dev/late nr_poll_queues=1)
	echo 2 >/sys/class/rtrs-client/s1/heartbeat_misses
	stopped "$disk"
	echo 200 >/sys/class/rtrs-client/s1/heartbeat_interval_ms
	await 20 eval "! under_way $disk"
	[[ $(dmesg_new) != *silent* ]]
	kill -KILL $FIO
	wait $FIO || :
	await 20 unmap "$disk" # the kernel closes what io_uring had open after the process is gone
	unload rnbd-client rtrs-client
	load_client
	null_disk_gone late
}

@test "read-only: neither opened for writing nor written" {
	local disk
	disk=$(map /dev/ram0 access_mode=ro)
	[ "$(<"/sys/block/$disk/ro")" = 1 ]
	dd if="/dev/$disk" of=/dev/null bs=64k count=4 status=none
	run -1 dd if=/dev/zero of="/dev/$disk" bs=4k count=1
	[[ $output == *"Operation not permitted"* ]]
	blockdev --setrw "/dev/$disk" || :
	run -1 dd if=/dev/zero of="/dev/$disk" bs=4k count=1
}

@test "mistakes have their errno" {
	local disk
	map_fails "No such device or address" sessname=s1 device_path=/dev/ram0
	map_fails "No such file or directory" sessname=s1 path=ip:10.0.0.1 device_path=/dev/nosuch
	map_fails "Block device required" sessname=s1 path=ip:10.0.0.1 device_path=/dev/null
	map_fails "Invalid argument" sessname=s1 path=ip:10.0.0.1 device_path=/dev/ram0 color=red
	map_fails "Invalid argument" sessname=a.b path=ip:10.0.0.1 device_path=/dev/ram0
	map_fails "Protocol not supported" sessname=s1 path=10.0.0.1 device_path=/dev/ram0
	disk=$(map /dev/ram0)
	map_fails "File exists" sessname=s1 device_path=/dev/ram0
	map_fails "Invalid argument" sessname=s1 device_path=/dev/ram1 nr_poll_queues=1
	run -1 unmap "$disk" gently
	[ -z "$(ls -A /sys/class/rtrs-client | grep -v s1)" ]
}

@test "in use: not unmapped, but by force" {
	local disk
	disk=$(map /dev/ram0)
	exec 7<>"/dev/$disk"
	run -1 unmap "$disk"
	[[ $output == *"Device or resource busy"* ]]
	head -c 1M /dev/urandom >&7
	unmap "$disk" force
	[ ! -e "/sys/block/$disk" ]
	run -1 dd if=/dev/zero of=/proc/self/fd/7 bs=4k count=1
	# Its number is taken as long as somebody has it open
	[ "$(map /dev/ram0)" != "$disk" ]
	exec 7>&-
	[ "$(map /dev/ram1)" = "$disk" ]
}

opened() { [[ $(readlink "/proc/$1/fd/1") == "$2" ]]; }

@test "unmapped by several at once: one does it" {
	local disk file go i pids=() ok=0
	disk=$(map /dev/ram0)
	file=/sys/block/$disk/rnbd/unmap_device
	# All have the file open before the first one unmaps
	mkfifo /run/tmp/go
	exec {go}<>/run/tmp/go
	for i in 1 2 3 4; do
		{ read -r _ <&"$go" && echo normal; } >"$file" 2>/run/tmp/unmap$i 3>&- & pids+=($!)
	done
	for i in "${pids[@]}"; do await 5 opened "$i" "$(realpath "$file")"; done
	printf '\n\n\n\n' >&"$go"
	for i in "${pids[@]}"; do
		! wait "$i" || ok=$((ok + 1))
	done
	exec {go}>&-
	[ $ok -eq 1 ]
	# EALREADY or ENODEV, by how late it came
	cat /run/tmp/unmap?
	[ "$(cat /run/tmp/unmap? | grep -cE ': (Operation already in progress|No such device)$')" -eq 3 ]
	[ "$(cat /run/tmp/unmap? | wc -l)" -eq 3 ]
	[ ! -e "/sys/block/$disk" ]
}

@test "the modules stay while a disk is mapped or open" {
	local disk
	disk=$(map /dev/ram0)
	run -1 rmmod rnbd-client
	run -1 rmmod rtrs-client
	exec 7<"/dev/$disk"
	unmap "$disk" force
	run -1 rmmod rnbd-client
	exec 7<&-
	rmmod rnbd-client
	load_client
}

@test "the uevent of ctl comes when its files are there" {
	local trace=/sys/kernel/tracing
	echo 'p:ctl/told dev_uevent name=+0(+0(%di)):string
		p:ctl/made device_create_file name=+0(+0(%si)):string' >$trace/kprobe_events || skip "this kernel has no kprobes"
	rmmod rnbd-client
	echo >$trace/trace
	echo 1 >$trace/events/ctl/enable
	load_client
	echo 0 >$trace/events/ctl/enable
	cat $trace/trace
	[ "$(sed -n 's/.*\(told\|made\): .* name="\(ctl\|map_device\)"$/\1 \2/p' $trace/trace | xargs)" = \
		"made map_device told ctl" ]
	echo >$trace/kprobe_events
}

@test "the session is lost: requests end, the disk is closed, unmap works" {
	local disk pid
	disk=$(map /dev/ram0)
	fio --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=lost --time_based \
		--runtime=60 --minimal >/dev/null 2>&1 3>&- & pid=$!
	await 30 io_done "$disk" 200
	echo 0 >/sys/class/rtrs-client/s1/max_reconnect_attempts # it would be back at once
	echo 1 >/sys/class/rtrs-server/s1/paths/*/disconnect
	await 20 grep -q closed "/sys/block/$disk/rnbd/state"
	ends_badly $pid
	run -1 dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct
	[[ $output == *"Input/output error"* ]]
	map_fails "connection abort" sessname=s1 device_path=/dev/ram1
	unmap "$disk"
	[ ! -e /sys/class/rtrs-client/s1 ]
	disk=$(map /dev/ram0)
	same_contents "/dev/$disk" /dev/ram0
}
