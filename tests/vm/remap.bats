#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A disk whose device the server has closed: it notices, it is opened again with all that is new of it, by sysfs and by
# netlink; and disks that are given another size. In one guest.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: ynl
# lab: cpus 1
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

NULLB=/sys/kernel/config/nullb/nb

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 1
	ram_disk 16 2
	load_server
	load_client
}

setup() {
	. "$ROOT/tests/vm/disk.bash"
}

teardown() {
	[[ ! -e /sys/block/dm-0 || $(</sys/block/dm-0/dm/suspended) == 0 ]] || dmsetup resume --noudevsync gate
	unmap_all
	exec 7>&-
	[[ ! -e /dev/mapper/gate ]] || { dmsetup resume --noudevsync gate; losetup -d /dev/loop3; dmsetup remove --noudevsync gate; }
	[[ ! -d $NULLB ]] || null_disk_gone nb
}

server_closes() { echo 1 >"/sys/class/rnbd-server/ctl/devices/${1##*/}/sessions/s1/force_close"; }

is() { [[ $(<"$1") == "$2" ]] || fail "$1 is $(<"$1"), not $2"; }

limit_is() { is "/sys/block/$disk/queue/$1" "$2"; }

# Of /dev/nb; and that $disk has taken this over
LARGER=(size=32 blocksize=4096 discard=1 cache_size=1 max_sectors=512)
is_larger() {
	limit_is logical_block_size 4096
	limit_is physical_block_size 4096
	limit_is max_hw_sectors_kb 124
	limit_is max_sectors_kb 124
	is "/sys/block/$disk/rnbd/write_cache" "write back"
	limit_is fua 1
	[ "$(<"/sys/block/$disk/queue/discard_max_bytes")" -gt 0 ]
	limit_is discard_granularity "$(</sys/block/nb/queue/discard_granularity)"
	[ "$(blockdev --getsize64 "/dev/$disk")" -eq $((32 << 20)) ]
	run -1 dd if=/dev/zero of="/dev/$disk" bs=512 count=1 oflag=direct
	dd if=/dev/urandom of="/dev/$disk" bs=4k seek=8000 count=100 oflag=direct status=none
	same_contents "/dev/$disk" /dev/nb
}

# The server closes the device of $disk; a request finds out
lose() {
	server_closes "$1"
	! dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null || fail "read from a disk that is closed"
	await 10 state_is "$disk" closed
}

remap() { echo 1 >"/sys/block/$disk/rnbd/remap_device"; }

# hold setup: /dev/loop3, with /dev/ram1 behind it, if it is not there; hold: from now on nobody gets it opened; hold end: they do
hold() {
	case ${1-} in
	setup)
		! losetup /dev/loop3 >/dev/null 2>&1 || return 0
		dm_disk gate "0 32768 linear /dev/ram1 0"
		modprobe loop
		losetup --partscan --direct-io=on /dev/loop3 /dev/dm-0
		;;
	end)
		dmsetup resume --noudevsync gate
		;;
	*)
		# The disk stays locked while its partitions are read
		dmsetup suspend --noudevsync --noflush gate
		blockdev --rereadpt /dev/loop3 3>&- &
		await 10 waits_in $! bdev_disk_changed
		;;
	esac
}

# The process is waiting for an answer, which a worker of the kernel waits for
dies_at_once() {
	await 10 worker_in msg_run
	kill -9 "$1"
	await 5 dead "$1"
}

@test "closed by the server: the disk is closed, told once, and remap brings it back" {
	local disk pid
	uevents /run/tmp/uevents
	disk=$(map /dev/ram0)
	dd if=/dev/urandom of="/dev/$disk" bs=1M count=16 oflag=direct status=none
	server_closes /dev/ram0
	is "/sys/block/$disk/rnbd/state" open
	# Many at once find out
	run ! fio --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=lost --minimal \
		--size=1m
	await 10 state_is "$disk" closed
	await 10 grep -q offline /run/tmp/uevents
	run -1 dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct
	[[ $output == *"Input/output error"* ]]
	# The session goes on, another device is mapped
	is "/sys/class/rtrs-client/s1/paths/ip:10.0.0.1@ip:10.0.0.1/state" connected
	map /dev/ram1
	remap
	state_is "$disk" open
	same_contents "/dev/$disk" /dev/ram0
	unmap "$disk"
	await 5 grep -q remove /run/tmp/uevents
	uevents_end
	run -0 grep -v '^change$' /run/tmp/uevents
	[ "$(grep -cx offline <<<"$output")" -eq 1 ] || fail "$output"
	[ "$(xargs <<<"$output")" = "ready add online offline add online online remove" ] || fail "$output"
}

@test "an open disk goes on after remap" {
	local disk
	disk=$(map /dev/ram0)
	exec 7<>"/dev/$disk"
	lose /dev/ram0
	remap
	dd if=/dev/urandom of=/proc/self/fd/7 bs=64k count=16 oflag=direct conv=notrunc status=none
	same_contents "/dev/$disk" /dev/ram0
}

@test "remap takes over size and limits" {
	local disk pid
	null_disk nb size=16 blocksize=512 discard=0 cache_size=0 max_sectors=128
	disk=$(map /dev/nb)
	limit_is max_hw_sectors_kb 64
	limit_is discard_max_bytes 0
	is "/sys/block/$disk/rnbd/write_cache" "write through"
	limit_is logical_block_size 512
	lose /dev/nb
	null_disk nb "${LARGER[@]}"
	uevents /run/tmp/uevents
	remap
	await 5 grep -q online /run/tmp/uevents
	uevents_end
	[ "$(grep -vx change /run/tmp/uevents | xargs)" = "ready change RESIZE=1 online" ] || fail "$(</run/tmp/uevents)"
	is_larger
	blkdiscard "/dev/$disk"
	same_contents "/dev/$disk" /dev/nb
	# And back again
	lose /dev/nb
	null_disk nb size=16 blocksize=512 discard=0 cache_size=0 max_sectors=128
	remap
	limit_is logical_block_size 512
	limit_is physical_block_size 512
	limit_is minimum_io_size 512
	limit_is max_hw_sectors_kb 64
	limit_is discard_max_bytes 0
	is "/sys/block/$disk/rnbd/write_cache" "write through"
	dd if=/dev/urandom of="/dev/$disk" bs=512 count=50 oflag=direct status=none
	same_contents "/dev/$disk" /dev/nb
}

@test "remap takes over whether the device writes zeroes by itself, be it another device by then" {
	local disk loop
	ln -sfn ram0 /dev/either
	disk=$(map /dev/either)
	limit_is write_zeroes_max_bytes 0
	loop=$(loop_disk 16)
	lose ram0
	ln -sfn "$loop" /dev/either
	remap
	[ "$(<"/sys/block/$disk/queue/write_zeroes_max_bytes")" -gt 0 ]
	dd if=/dev/urandom of="/dev/$disk" bs=1M count=16 oflag=direct status=none
	blkdiscard -z -o 1M -l 2M "/dev/$disk"
	[ -z "$(dd if="/dev/$disk" bs=1M skip=1 count=2 iflag=direct status=none | tr -d '\0' | head -c 1)" ]
	same_contents "/dev/$disk" "$loop"
	lose "$loop"
	ln -sfn ram0 /dev/either
	remap
	limit_is write_zeroes_max_bytes 0
	unmap "$disk"
	losetup -d "$loop"
}

# named SECTORS: /dev/dm-0, over /dev/nb, the same disk for ever
named() { dmsetup create --noudevsync --uuid for-ever named --table "0 $1 linear /dev/nb 0" && await 10 test -b /dev/dm-0; }

@test "the server is loaded again with a larger device of other limits: the disk is opened by itself and takes them over, told in order" {
	local disk pid
	null_disk nb size=16 blocksize=512 discard=0 cache_size=0 max_sectors=128
	named 32768
	disk=$(map /dev/dm-0)
	limit_is max_hw_sectors_kb 64
	echo 100 >/sys/class/rtrs-client/s1/reconnect_delay_ms
	uevents /run/tmp/uevents
	unload rnbd-server rtrs-server
	dmsetup remove --noudevsync named
	null_disk nb "${LARGER[@]}"
	named 65536
	load_server
	await 20 grep -q online /run/tmp/uevents
	uevents_end
	[ "$(grep -vx change /run/tmp/uevents | xargs)" = "ready offline change RESIZE=1 online" ] || fail "$(</run/tmp/uevents)"
	state_is "$disk" open
	is_larger
	unmap "$disk"
	await 10 no_exports
	dmsetup remove --noudevsync named
}

@test "remap keeps what the administrator has lowered, as far as the device goes along" {
	local disk
	null_disk nb size=16 blocksize=512 discard=1 max_sectors=512
	disk=$(map /dev/nb)
	echo 64 >"/sys/block/$disk/queue/max_sectors_kb"
	echo 1048576 >"/sys/block/$disk/queue/discard_max_bytes"
	lose /dev/nb
	null_disk nb size=16 blocksize=4096 discard=1 max_sectors=256
	remap
	limit_is max_hw_sectors_kb 124
	limit_is max_sectors_kb 64
	limit_is discard_max_bytes 1048576
	lose /dev/nb
	null_disk nb size=16 blocksize=512 discard=0 max_sectors=64
	remap
	limit_is max_hw_sectors_kb 32
	limit_is max_sectors_kb 32
	limit_is discard_max_bytes 0
}

@test "other blocks under somebody's feet are refused" {
	local disk
	null_disk nb size=16 blocksize=512
	disk=$(map /dev/nb)
	exec 7<"/dev/$disk"
	lose /dev/nb
	null_disk nb size=16 blocksize=4096
	write_fails "Device or resource busy" "/sys/block/$disk/rnbd/remap_device" 1
	state_is "$disk" closed
	run -0 ynl do remap "{\"name\":\"$disk\"}"
	jqe '.error.errno == 16 and (.error.text | test("blocks are now 4096 bytes, not 512"))'
	# It was closed again on the server
	[ ! -d /sys/class/rnbd-server/ctl/devices/nb ]
	exec 7<&-
	remap
	limit_is logical_block_size 4096
}

@test "what cannot be remapped, and how it is said" {
	local disk file
	disk=$(map /dev/ram0)
	file=/sys/block/$disk/rnbd/remap_device
	grep -q '^Usage: echo' "$file"
	[ "$(stat -c %a "$file")" = 644 ]
	write_fails "Operation already in progress" "$file" 1
	for value in 0 2 11 one ''; do
		write_fails "Invalid argument" "$file" "$value"
	done
	run -0 ynl do remap "{\"name\":\"$disk\"}"
	jqe '.error.errno == 114 and .error.text == "rnbd0 is mapped"'
	run -0 ynl do remap '{"name":"rnbd77"}'
	jqe '.error.errno == 2'
	run -0 ynl do remap "{\"name\":\"$disk\",\"timeout-ms\":600001}"
	jqe '.error.errno == 34'
	lose /dev/ram0
	# Gone on the server
	null_disk nb size=16
	disk=$(map /dev/nb)
	lose /dev/nb
	echo 0 >$NULLB/power
	await 5 test ! -e /dev/nb
	write_fails "No such file or directory" "/sys/block/$disk/rnbd/remap_device" 1
	state_is "$disk" closed
	# No way to the server
	echo 0 >/sys/class/rtrs-client/s1/max_reconnect_attempts
	echo 1 >/sys/class/rtrs-server/s1/paths/*/disconnect
	await 20 grep -qx disconnected /sys/class/rtrs-client/s1/paths/*/state
	write_fails "connection abort" "/sys/block/$disk/rnbd/remap_device" 1
}

@test "a server that does not answer: remap and map time out, and can be killed" {
	local disk pid t0 file
	hold setup
	disk=$(map /dev/loop3)
	lose /dev/loop3
	hold
	file=/sys/block/$disk/rnbd/remap_device

	# One waits for the answer, the next for the first one's to come
	bash -c "echo 1 >$file" 3>&- & pid=$!
	dies_at_once $pid
	"$ADM" remap "$disk" 3>&- >/dev/null 2>&1 & pid=$!
	dies_at_once $pid

	t0=$SECONDS
	run --separate-stderr -10 "$ADM" remap "$disk" --timeout 1
	[[ $stderr == *"the server did not answer within 1000 ms"* ]] || fail "$stderr"
	run --separate-stderr -10 "$ADM" map /dev/loop3 --session s2 --path ip:10.0.0.1 --timeout 1
	[[ $stderr == "rnbdadm: map /dev/loop3: 10.0.0.1 did not answer in time"* ]] || fail "$stderr"
	run -0 ynl do remap "{\"name\":\"$disk\",\"timeout-ms\":500}"
	jqe '.error.errno == 110 and (.error.text | test("did not answer within 500 ms"))'
	((SECONDS - t0 < 60))
	[ ! -e /sys/class/rtrs-client/s2 ]
	state_is "$disk" closed

	# What it opens late is closed again
	hold end
	await 20 objects_are rtrs_server_session 1
	await 20 test ! -e /sys/class/rnbd-server/ctl/devices/loop3
	remap
	state_is "$disk" open
	same_contents "/dev/$disk" /dev/ram1
}

last_error_is() { adm_is ".devices[0].last_error == \"$2\"" device show "$1"; }

# The one that hangs is asked for first, as it was mapped first
@test "G4: the session is back, and one disk of it does not open: the others do" {
	local disk other path=/sys/class/rtrs-client/s1/paths/ip:10.0.0.1@ip:10.0.0.1
	hold setup
	disk=$(map /dev/loop3)
	other=$(map /dev/ram0)
	echo 1 >$path/disconnect
	await 10 test ! -e /sys/class/rnbd-server/ctl/devices/loop3
	hold
	echo 1 >$path/reconnect
	await 10 state_is "$other" open
	same_contents "/dev/$other" /dev/ram0
	state_is "$disk" closed
	hold end
	await 20 state_is "$disk" open
}

@test "F4: a disk that does not answer has all tags of the session: another one is mapped, and read when one is free" {
	local disk other reader pid
	hold setup
	disk=$(map /dev/loop3)
	echo 4 >"/sys/block/$disk/queue/max_sectors_kb"
	dmsetup suspend --noudevsync --noflush gate
	# In more pieces than there are tags
	dd if="/dev/$disk" of=/dev/null bs=4M count=1 iflag=direct status=none 3>&- & reader=$!
	await 20 under_way "$disk" "$(<"/sys/block/$disk/queue/nr_requests")"
	map /dev/ram0 >/run/tmp/other 3>&- & pid=$!
	await 10 dead $pid
	wait $pid
	other=$(</run/tmp/other)
	grep 1 "/sys/block/$other/rnbd/scanning"
	hold end
	wait $reader
	await 10 grep -q 0 "/sys/block/$other/rnbd/scanning"
	same_contents "/dev/$other" /dev/ram0
}

# Nothing waits for it, which would be tried again in any case
@test "the session is back, but the server takes its time to open the device: it is tried again" {
	local disk path=/sys/class/rtrs-client/s1/paths/ip:10.0.0.1@ip:10.0.0.1
	hold setup
	disk=$(map /dev/loop3)
	echo 1 >$path/disconnect
	await 10 test ! -e /sys/class/rnbd-server/ctl/devices/loop3
	hold
	echo $((1000 * ${LAB_SLOW:-1})) >/sys/class/rtrs-client/s1/connect_timeout_ms
	echo 1 >$path/reconnect
	await 20 last_error_is "$disk" ETIMEDOUT
	hold end
	await 20 state_is "$disk" open
	same_contents "/dev/$disk" /dev/ram1
}

# refuses COMMAND DISK ERRNO TEXT: over netlink it is refused with this errno, and with words like these
refuses() {
	run -0 ynl do "$1" "{\"name\":\"$2\"}"
	jqe ".error.errno == $3 and (.error.text | test(\"$4\"))"
}

@test "a disk that is being mapped, and one that is being unmapped: neither remap nor unmap" {
	local disk pid mapper
	hold setup
	disk=$(map /dev/loop3)
	lose /dev/loop3
	hold
	"$ADM" map /dev/loop3 --session s2 --path ip:10.0.0.1 --access ro 3>&- >/dev/null 2>&1 & mapper=$!
	await 10 worker_in 'msg_run.*rnbd_client_map'
	# F4: nobody has a lock of generic netlink meanwhile
	run ! worker_in genl_rcv
	refuses remap rnbd1 16 "is being mapped"
	refuses unmap rnbd1 16 "is being mapped"
	kill -9 $mapper

	# The remap is first, the unmap waits for it
	bash -c "LC_ALL=C; echo 1 >/sys/block/$disk/rnbd/remap_device" 3>&- 2>/run/tmp/remap & pid=$!
	await 10 worker_in 'msg_run.*remap_in_worker'
	bash -c "echo force >/sys/block/$disk/rnbd/unmap_device" 3>&- & mapper=$!
	await 10 test ! -e "/sys/block/$disk/rnbd/unmap_device"
	refuses unmap "$disk" 114 "is being unmapped"
	hold end
	ends_badly $pid
	grep "No such device" /run/tmp/remap
	wait $mapper
	[ ! -e "/sys/block/$disk" ]
}

@test "netlink: the loss and the remap are events, and the reply has the device" {
	local disk
	disk=$(map /dev/ram0)
	run -0 ynl --listen device --shell "echo 1 >/sys/class/rnbd-server/ctl/devices/ram0/sessions/s1/force_close
		for i in 1 2 3; do dd if=/dev/$disk of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null; done
		until grep -q closed /sys/block/$disk/rnbd/state; do :; done"
	jqe '[.events[].msg | [.event, ."old-state", .state, ."last-error"]] == [["change", "mapped", "disconnected", -107]]'
	run -0 ynl --listen device do remap "{\"name\":\"$disk\",\"timeout-ms\":5000}"
	jqe '.reply.state == "mapped" and .reply."last-error" == 0 and .reply."size-bytes" == 16777216' \
		'[.events[].msg | [.event, ."old-state", .state]] == [["change", "disconnected", "mapped"]]'
}

@test "resize in sectors, in bytes, told by a uevent and an event" {
	local disk pid
	disk=$(map /dev/ram0)
	grep -q '^Usage: echo' "/sys/block/$disk/rnbd/resize"
	uevents /run/tmp/uevents
	echo 0x1000 >"/sys/block/$disk/rnbd/resize"
	is "/sys/block/$disk/size" 4096
	[ "$(dd if="/dev/$disk" bs=4k skip=512 count=1 iflag=direct status=none | wc -c)" -eq 0 ]
	run -0 ynl --listen device do resize "{\"name\":\"$disk\",\"size-bytes\":16777216}"
	jqe '.reply."size-bytes" == 16777216' \
		'[.events[].msg | [.event, ."old-state", .state, ."size-bytes"]] == [["change", "mapped", "mapped", 16777216]]'
	is "/sys/block/$disk/size" 32768
	printf 010000 >"/sys/block/$disk/rnbd/resize"
	is "/sys/block/$disk/size" 4096
	# Neither from nor to nothing, as ever
	echo 0 >"/sys/block/$disk/rnbd/resize"
	is "/sys/block/$disk/size" 0
	echo 32768 >"/sys/block/$disk/rnbd/resize"
	unmap "$disk"
	await 5 grep -q remove /run/tmp/uevents
	uevents_end
	[ "$(grep -c RESIZE=1 /run/tmp/uevents)" -eq 3 ]
}

@test "sizes that no disk can have, disks that can have no size" {
	local disk file
	null_disk nb size=16 blocksize=4096
	disk=$(map /dev/nb)
	file=/sys/block/$disk/rnbd/resize
	for value in '' -8 8x 1.5 9 18014398509481984 ten; do
		write_fails "Invalid argument" "$file" "$value"
	done
	write_fails "out of range" "$file" 18446744073709551616
	is "/sys/block/$disk/size" 32768
	run -0 ynl do resize "{\"name\":\"$disk\",\"size-bytes\":4608}"
	jqe '.error.errno == 22 and (.error.text | test("blocks of 4096 bytes")) and .error.attribute == ".size-bytes"'
	run -0 ynl do resize "{\"name\":\"$disk\"}"
	jqe '.error.errno == 22'
	lose /dev/nb
	write_fails "No such file or directory" "$file" 8
	run -0 ynl do resize "{\"name\":\"$disk\",\"size-bytes\":4096}"
	jqe '.error.errno == 2 and (.error.text | test("is disconnected, not mapped"))'
}
