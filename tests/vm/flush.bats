#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What an application was told is on the medium is there after a crash of the server's host. Below the server's device lies
# dm-log-writes, which takes a write into its log when a flush after it is done, or when it was FUA: the log up to a mark is the
# device as a crash at that moment would leave it at worst. Marks are made each time that fsync has returned. And what a client
# does that finds the server's disk begun anew.
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
	logged_disk
	echo "sessname=flush path=ip:10.0.0.1 device_path=/dev/dm-0" >$CTL/map_device
	await 10 test -b /dev/rnbd0
}

teardown() {
	! mountpoint -q /run/tmp/mnt || umount /run/tmp/mnt
	! dmsetup status logged >/dev/null 2>&1 || dmsetup resume --noudevsync logged
	[[ ! -e /sys/block/rnbd0 ]] || echo force >/sys/block/rnbd0/rnbd/unmap_device
	[[ ! -e /run/tmp/list ]] || { rm /run/tmp/list && adm 0 server access open --force; }
	! mountpoint -q /run/tmp/outer || await 10 umount /run/tmp/outer
	[[ ! -e /sys/block/dm-0 ]] || await 10 released
	losetup -d /dev/loop6 /dev/loop7
	dmesg_clean
}

logged_disk() {
	dmsetup create --noudevsync --uuid LAB-logged logged --table "0 $((320 * 2048)) log-writes /dev/loop6 /dev/loop7"
	await 5 test -b /dev/dm-0
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

@test "fileio: what was answered is on the medium, nobody has to flush" {
	unmap_logged
	logged_disk
	echo "sessname=flush path=ip:10.0.0.1 device_path=/dev/dm-0 io_mode=fileio" >$CTL/map_device
	made_lasting none
}

# put_file N CONV: file N anew, of N * 100 KiB, with this conv= of dd
put_file() {
	dd if=/dev/urandom of=/run/tmp/file$1 bs=1k count=$(($1 * 100)) status=none
	dd if=/run/tmp/file$1 of=/run/tmp/mnt/file$1 bs=7k conv="$2" status=none
}

# files_written FS: each crash comes after an fsync, before anything else is written back. What is written in place needs no
# journal, and so no FUA: a flush alone makes it lasting. The last file needs the journal alone.
files_written() {
	local i
	"mkfs.$1" -q /dev/rnbd0
	mkdir -p /run/tmp/mnt
	mount -t "$1" /dev/rnbd0 /run/tmp/mnt
	for i in 1 2 3; do put_file $i fsync; done
	sync -d /run/tmp/mnt
	put_file 2 notrunc,fdatasync
	dmsetup message logged 0 mark flushed
	put_file 4 fsync
	dmsetup message logged 0 mark crash
	rm /run/tmp/mnt/file1
	umount /run/tmp/mnt
}

# files_there FS IMAGE N
files_there() {
	local i
	mount -t "$1" -o loop "$2" /run/tmp/mnt
	for ((i = 1; i <= $3; i++)); do cmp /run/tmp/file$i /run/tmp/mnt/file$i; done
	umount /run/tmp/mnt
}

filesystem() {
	files_written "$1"
	unmap_logged
	"$REPLAY" image /dev/loop7 crash /run/tmp/image
	files_there "$1" /run/tmp/image 4
}

@test "ext4: what fsync has written survives, the file system is sound" {
	filesystem ext4
	e2fsck -fn /run/tmp/image
}

@test "xfs: the same" {
	filesystem xfs
	xfs_repair -n /run/tmp/image
}

# A file system in a file, by an export of this mode, above a file system on the logged disk
file_export() {
	local mark
	unmap_logged
	logged_disk
	mkfs.ext4 -q -N 64 /dev/dm-0
	mkdir -p /run/tmp/outer
	mount /dev/dm-0 /run/tmp/outer
	truncate -s 64M /run/tmp/outer/image
	cat >/run/tmp/list <<-E
		[peer client]
		auth = none
		session = flush
		from = ip:10.0.0.1
		[export image]
		path = /run/tmp/outer/image
		io-mode = $1
		allow = client
	E
	adm 0 server access apply /run/tmp/list
	echo "sessname=flush path=ip:10.0.0.1 device_path=image" >$CTL/map_device
	await 10 test -b /dev/rnbd0
	[ "$(</sys/block/rnbd0/rnbd/io_mode)" = "$1" ]
	files_written ext4
	echo normal >/sys/block/rnbd0/rnbd/unmap_device
	await 10 umount /run/tmp/outer
	await 10 released
	for mark in flushed:3 crash:4; do
		"$REPLAY" image /dev/loop7 ${mark%:*} /run/tmp/image
		mount -o loop /run/tmp/image /run/tmp/outer
		files_there ext4 /run/tmp/outer/image ${mark#*:}
		e2fsck -fn /run/tmp/outer/image
		umount /run/tmp/outer
		e2fsck -fn /run/tmp/image
	done
}

@test "a file, blockio: the same, and the file system that it lies on is sound" { file_export blockio; }

@test "a file, fileio: the same" { file_export fileio; }

writes() { dd if=/dev/urandom of=/dev/rnbd0 bs=64k count=4 oflag=direct status=none; }

# set_to SETTING=VALUE..: and I/O waits for a server that is back soon
set_to() {
	local setting
	for setting in no_path_timeout_ms=-1 reconnect_delay_ms=100 reconnect_delay_max_ms=500 "$@"; do
		echo "${setting#*=}" >"/sys/class/rtrs-client/flush/${setting%%=*}"
	done
}

server_gone() {
	rmmod rnbd-server rtrs-server
	await 20 state_is rnbd0 closed
}

# As after a boot of its host: the same disk, whose cache is empty
begun_anew() {
	released
	logged_disk
	load_server
}

lost() {
	server_gone
	begun_anew
	await 30 state_is rnbd0 open
}

# fails CMD..: with EIO
fails() { run -1 "$@" && [[ $output == *"Input/output error"* ]] || fail "$* ended with $status: $output"; }

@test "E3: the disk begins anew, and what was acknowledged was not flushed: the next flush fails, one that waits as well, no other" {
	local pid
	set_to
	record /run/tmp/events device
	writes
	lost
	fails sync /dev/rnbd0
	sync /dev/rnbd0
	dmesg_new | grep 'rnbd0: .* /dev/dm-0 of session flush may have lost what was written since the last flush: the next one fails'
	adm_is '.devices[0] | .write_losses == 1 and .state == "mapped"' device show rnbd0
	await 10 grep '"changes":.*"write_losses":{"old":0,"new":1}' /run/tmp/events
	record_end /run/tmp/events

	writes
	server_gone
	sync /dev/rnbd0 2>/dev/null & pid=$!
	await 20 asleep $pid
	begun_anew
	ends_badly $pid
	sync /dev/rnbd0

	writes
	lost
	fails dd if=/dev/zero of=/dev/rnbd0 bs=4k count=1 oflag=direct,dsync
	dd if=/dev/zero of=/dev/rnbd0 bs=4k count=1 oflag=direct,dsync status=none
	adm_is '.devices[0].write_losses == 3' device show rnbd0
}

# Flushes are not in the counter of the disk
in_flight() { [[ $(cut -d ' ' -f 5 "$1/stats/rdma") == 1 ]]; }

@test "E3: a flush that was under way when the server was lost comes too late as well" {
	local pid path=(/sys/class/rtrs-client/flush/paths/*)
	set_to
	writes
	dmsetup suspend --noudevsync logged
	sync /dev/rnbd0 2>/dev/null & pid=$!
	await 20 in_flight "$path"
	echo 1 >"$path/disconnect"
	await 20 state_is rnbd0 closed
	dmsetup resume --noudevsync logged
	rmmod rnbd-server rtrs-server
	begun_anew
	echo 1 >"$path/reconnect"
	ends_badly $pid
	sync /dev/rnbd0
}

@test "E3: what was flushed, or written with FUA, is not lost, nor anything where the modules alone are loaded again" {
	set_to
	writes
	sync /dev/rnbd0
	lost
	writes
	server_gone
	load_server
	await 30 state_is rnbd0 open
	sync /dev/rnbd0
	unmap_logged
	logged_disk
	echo "sessname=flush path=ip:10.0.0.1 device_path=/dev/dm-0 always_fua=1" >$CTL/map_device
	set_to
	writes
	lost
	sync /dev/rnbd0
	adm_is '.devices[0] | .write_losses == 0 and .always_fua' device show rnbd0
}

@test "E3: with lost_writes=1 such a disk stays disconnected until it is remapped, then its next flush fails" {
	local pid
	set_to lost_writes=1
	writes
	server_gone
	sync /dev/rnbd0 2>/dev/null & pid=$!
	await 20 asleep $pid
	begun_anew
	await 20 adm_is '.devices[0] | .state == "disconnected" and .last_error == "EREMOTEIO"' device show rnbd0
	ends_badly $pid
	echo 1 >/sys/block/rnbd0/rnbd/remap_device
	fails sync /dev/rnbd0
	sync /dev/rnbd0
}
