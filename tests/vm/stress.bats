#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Disks come and go: often, many, several at once, while others look and while data flows. Nothing hangs, nothing is left.
# lab: on 6.12: disks come and go on CPUs that run at once
# lab: kernels 6.1 6.12
# lab: parallel
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

CTL=/sys/class/rnbd-client/ctl

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	modprobe brd rd_nr=64 rd_size=2048
	await 10 test -b /dev/ram63
	load_server sess_queue_depth=64
	load_client
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown() {
	unmap_all
	await 20 census_even
	dmesg_clean
}

map() { echo "sessname=$1 path=ip:10.0.0.1 device_path=$2 ${3-}" >$CTL/map_device; }

# A job in the background: direct reads and writes until it is killed or its disk is gone
load() {
	fio --filename="/dev/$1" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --name=load --time_based \
		--runtime=120 --minimal >/dev/null 2>&1
}

@test "100 times mapped, written, compared, unmapped" {
	local i
	for ((i = 0; i < 100; i++)); do
		map cycle /dev/ram0
		printf '%4096d' "$i" | dd of=/dev/rnbd0 bs=4k count=1 seek=$((i % 512)) oflag=direct iflag=fullblock status=none
		[ "$(dd if=/dev/ram0 bs=4k count=1 skip=$((i % 512)) iflag=direct status=none)" -eq "$i" ]
		unmap rnbd0
	done
}

@test "64 devices in a session, each with its own data" {
	local i
	for ((i = 0; i < 64; i++)); do map many "/dev/ram$i"; done
	[ "$(find /sys/class/rtrs-client -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
	for ((i = 0; i < 64; i++)); do
		printf '%4096d' "$i" | dd of="/dev/$(disk_of many /dev/ram$i)" bs=4k count=1 seek=7 oflag=direct iflag=fullblock status=none &
	done
	wait
	for ((i = 0; i < 64; i++)); do
		[ "$(dd if=/dev/ram$i bs=4k count=1 skip=7 iflag=direct status=none)" -eq "$i" ]
	done
	for ((i = 0; i < 64; i++)); do unmap "rnbd$i" & done
	wait
	[ ! -e /sys/class/rtrs-client/many ]
}

@test "two sessions with the same device" {
	local a b
	map one /dev/ram0
	map two /dev/ram0 access_mode=ro
	a=$(disk_of one /dev/ram0)
	b=$(disk_of two /dev/ram0)
	[ "$a" != "$b" ]
	dd if=/dev/urandom of="/dev/$a" bs=64k count=8 oflag=direct status=none
	cmp <(dd if="/dev/$a" bs=64k count=8 iflag=direct status=none) <(dd if="/dev/$b" bs=64k count=8 iflag=direct status=none)
	unmap "$a"
	[ -e "/sys/block/$b" ]
	dd if="/dev/$b" of=/dev/null bs=64k count=8 iflag=direct status=none
	unmap "$b"
}

# Maps and unmaps whatever it meets until the time is over; prints how often it succeeded
racer() {
	local until=$((SECONDS + $1)) maps=0 unmaps=0 disk
	RANDOM=$2
	while ((SECONDS < until)); do
		if ((RANDOM & 1)); then
			map "race$((RANDOM % 2))" "/dev/ram$((RANDOM % 3))" access_mode=ro 2>/dev/null && maps=$((maps + 1))
		else
			disk=rnbd$((RANDOM % 6))
			unmap $disk 2>/dev/null && unmaps=$((unmaps + 1))
		fi
	done
	echo "$maps $unmaps"
}

@test "map and unmap raced by four processes for 60 s" {
	local i pids=()
	for i in 1 2 3 4; do
		racer "$(lasting 60)" $i >/run/tmp/racer$i & pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i"; done
	cat /run/tmp/racer?
	[ "$(awk '{ n += $1 < $2 ? $1 : $2 } END { print n }' /run/tmp/racer?)" -gt "$(lasting 40)" ]
	unmap_all
	[ -z "$(ls -A $CTL/devices)" ]
	[ -z "$(ls -A /sys/class/rtrs-client)" ]
}

# Reads every file of the ABI that it finds, over and over. No -follow: find 4.9 was seen to crash on its way to tell of a
# loop of links, the directory of which had gone.
reader() {
	while [[ ! -e /run/tmp/stop ]]; do
		find /sys/class/rtrs-client/*/ /sys/class/rtrs-server/*/ /sys/class/rnbd-client/ctl/ /sys/class/rnbd-server/ctl/ \
			/sys/block/rnbd*/ -type f -readable ! -path '*/power/*' -exec cat {} + 2>/dev/null | wc -c
	done
}

@test "four processes read sysfs while disks come and go" {
	local i pids=()
	rm -f /run/tmp/stop
	for i in 1 2 3 4; do
		reader >/run/tmp/reader$i & pids+=($!)
	done
	for ((i = 0; i < 25; i++)); do
		map "come$((i % 3))" /dev/ram0 access_mode=ro
		map "come$((i % 3))" /dev/ram1 access_mode=ro
		unmap rnbd0
		unmap rnbd1
	done
	touch /run/tmp/stop
	for i in "${pids[@]}"; do wait "$i"; done
	for i in 1 2 3 4; do [ "$(awk '{ n += $1 } END { print n }' /run/tmp/reader$i)" -gt 1000 ]; done
}

@test "unmap under load: refused; by force: done, the load gets its errors" {
	local disk pid
	map load /dev/ram0
	disk=$(disk_of load /dev/ram0)
	load "$disk" 3>&- & pid=$!
	await 20 io_done "$disk" 100
	run -1 unmap "$disk"
	[[ $output == *"Device or resource busy"* ]]
	unmap "$disk" force
	ends_badly $pid
	[ ! -e "/sys/block/$disk" ]
}

@test "modules are unloaded under load: the client refuses, the server ends what runs" {
	local disk pid
	map load /dev/ram0
	disk=$(disk_of load /dev/ram0)
	load "$disk" 3>&- & pid=$!
	await 20 io_done "$disk" 100
	run -1 rmmod rnbd-client
	run -1 rmmod rtrs-client
	rmmod rnbd-server
	ends_badly $pid
	await 10 grep -q closed "/sys/block/$disk/rnbd/state"
	unmap "$disk"
	load_server
	map load /dev/ram0
	disk=$(disk_of load /dev/ram0)
	dd if="/dev/$disk" of=/dev/null bs=64k count=8 iflag=direct status=none
}
