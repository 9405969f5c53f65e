#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What the server opens, for whom, and what it shows of it.
# lab: on debug: what the server opens and frees is one-CPU logic, for KASAN, lockdep and kmemleak
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

CTL=/sys/class/rnbd-server/ctl/devices

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	ram_disk 16 3
	load_server sess_queue_depth=64 # rtrs-server stays while rnbd-server goes and comes
	load_client
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown() {
	dmsetup resume --noudevsync gate 2>/dev/null || :
	unmap_all
	await 10 no_exports
	dmesg_clean
}

# server [PARAM=VALUE]: loaded anew
server() {
	unload rnbd-server
	load_server "$@"
}

# map SESSION NAME [ACCESS]
map() {
	echo "sessname=$1 path=ip:10.0.0.1 device_path=$2 access_mode=${3-rw}" >/sys/class/rnbd-client/ctl/map_device
}

# map_refused ERRNO-TEXT SESSION NAME [ACCESS]
map_refused() {
	local why=$1
	shift
	run map "$@"
	[[ $status -ne 0 && $output == *"$why"* ]] || fail "map $*: status $status, $output, not: $why"
	no_exports
}

@test "parameters out of range are refused" {
	unload rnbd-server
	run ! load_server port_nr=0
	run ! load_server dev_search_path=dev
	run ! load_server dev_search_path=
	run ! load_server "dev_search_path=/$(printf 'x%.0s' {1..4095})"
	load_server "dev_search_path=/dev/
"
	[ "$(cat /sys/module/rnbd_server/parameters/dev_search_path)" = /dev/ ]
	map s1 ram0
}

@test "heartbeats out of range are refused" {
	local dir=/sys/module/rtrs_server/parameters before set
	before=$(cat $dir/heartbeat_*)
	for set in heartbeat_interval_ms={199,0,-1,60001,x} heartbeat_misses={1,0,-1,101,x}; do
		run ! bash -c "echo ${set#*=} >$dir/${set%=*}"
	done
	[ "$(cat $dir/heartbeat_*)" = "$before" ]
}

@test "names: what is no block device, is not there, goes up" {
	server
	map_refused "No such file" s1 /dev/nothing
	map_refused "Block device required" s1 /dev/null
	map_refused "Block device required" s1 /dev
	map_refused "Invalid argument" s1 /dev/../dev/ram0
	map_refused "Invalid argument" s1 ..
	map s1 //dev///ram0
	map s1 dev/./ram1
}

@test "nothing outside of dev_search_path can be reached" {
	local top=/run/tmp/exports
	mkdir -p $top/one/disks $top/two/disks
	mknod $top/one/disks/a..b b 1 0
	mknod $top/two/disks/other b 1 1
	ln -s a..b $top/one/disks/inside
	ln -s ../disks/a..b $top/one/disks/round
	ln -s /dev/ram1 $top/one/disks/absolute
	ln -s ../../two/disks/other $top/one/disks/up
	ln -s / $top/one/disks/root
	# a session may be called as a link is
	mkdir -p /run/tmp/outside/disks
	mknod /run/tmp/outside/disks/disk b 1 1
	ln -s ../outside $top/out
	ln -s /run/tmp/outside $top/outright
	ln -s two $top/alias
	server dev_search_path=$top/%SESSNAME%/disks
	map_refused "No such file" one /dev/ram1
	map_refused "Invalid argument" one ../../two/disks/other
	map_refused "cross-device" one absolute
	map_refused "cross-device" one up
	map_refused "cross-device" one root/dev/ram1
	map_refused "cross-device" one round
	map_refused "No such file" three a..b
	map_refused "cross-device" out disk
	map_refused "cross-device" outright disk
	map one a..b
	map one inside ro
	map alias other ro
	[ "$(ls $CTL)" = "ram0
ram1" ]
}

@test "device nodes of a file system that must not have any" {
	local dir=/run/tmp/nodev
	mkdir -p $dir
	mount -t tmpfs -o nodev none $dir
	mknod $dir/disk b 1 0
	server dev_search_path=$dir
	map_refused "Permission denied" s1 disk
	umount $dir
}

@test "a disk that is read-only on the server" {
	server
	blockdev --setro /dev/ram2
	map_refused "Permission denied" s1 /dev/ram2
	map s1 /dev/ram2 ro
	blockdev --setrw /dev/ram2
}

@test "one writer, one more for a migration, any number of readers" {
	server
	map w1 /dev/ram0 rw
	run map w2 /dev/ram0 rw
	[ "$status" -ne 0 ]
	[[ $output == *"not permitted"* ]]
	[ ! -e /sys/class/rtrs-client/w2 ]
	map r1 /dev/ram0 ro
	map r2 /dev/ram0 ro
	map m1 /dev/ram0 migration
	run map m2 /dev/ram0 migration
	[ "$status" -ne 0 ]
	[ "$(cd $CTL/ram0/sessions && grep . -- */access_mode)" = "m1/access_mode:migration
r1/access_mode:ro
r2/access_mode:ro
w1/access_mode:rw" ]
	[ "$(cat $CTL/ram0/sessions/{r1,w1}/read_only)" = "1
0" ]
	all_closed
	map w2 /dev/ram0 rw
}

# access_is SESSION MODE: of /dev/ram0, at both ends
access_is() {
	[[ $(<$CTL/ram0/sessions/$1/access_mode) == "$2" && $(<"/sys/block/$(disk_of "$1" /dev/ram0)/rnbd/access_mode") == "$2" ]]
}

refused_rw() {
	run --separate-stderr "-$1" "$ADM" device set rnbd0 --access rw "${@:3}"
	[[ $stderr == *"$2"* ]] || fail "$stderr"
}

@test "device set: migration becomes rw where nobody else writes, under I/O; beside another client, or closed here, it does not" {
	local pid rc=0
	server
	map s1 /dev/ram0 migration
	access_is s1 migration
	run "$ADM" check device.access
	[[ $output == "warn"*"hint: once that is over: rnbdadm device set rnbd0 --access rw"* ]]
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --bs=4k --size=1m --loops=1000000 \
		--verify=crc32c --verify_fatal=1 --output=/tmp/fio.out 3>&- & pid=$!
	await 30 io_done rnbd0 50
	record /run/tmp/events device --no-snapshot
	adm 0 device set rnbd0 --access rw -j
	jqe '.changed and .changes == [{key: "access", old: "migration", new: "rw"}] and .devices[0].access == "rw"'
	access_is s1 rw
	await 10 grep -q '"access"' /run/tmp/events
	record_end /run/tmp/events
	await 30 io_done rnbd0 $(($(ios rnbd0) + 50))
	kill $pid
	wait $pid || rc=$?
	((rc == 128)) || fail "fio: status $rc: $(</tmp/fio.out)"
	run "$ADM" check device.access
	[[ $output == "ok "*"rnbd0: rw"* ]]
	# As one that was mapped so: one more may come for a migration, and none with rw
	run ! map s2 /dev/ram0 rw
	map s2 /dev/ram0 migration
	adm 0 device set rnbd0 --access rw -v
	[ "$stderr" = "rnbdadm: rnbd0 is rw already" ]
	all_closed

	map s2 /dev/ram0 rw
	map s1 /dev/ram0 migration
	run --separate-stderr -7 "$ADM" device set /dev/ram0 --session s1 --access rw
	[[ $stderr == *"refused, the device stays in migration"*"kernel: another client has it open for writing"* ]] || fail "$stderr"
	access_is s1 migration
	access_is s2 rw
	dd if=/dev/zero of="/dev/$(disk_of s1 /dev/ram0)" bs=4k count=1 oflag=direct status=none
	unmap "$(disk_of s2 /dev/ram0)"
	await 10 access_is s1 rw
	all_closed

	map s1 /dev/ram0 ro
	refused_rw 6 "the device is mapped read-only"
	all_closed
	map s1 /dev/ram0 migration
	"$ADM" server export close ram0 --force
	refused_rw 1 "kernel: rnbd0 is not open on the server: remap it first"
	no_exports
	run ! dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	await 10 state_is rnbd0 closed
	refused_rw 6 "the device is disconnected"
}

@test "device set: a server that does not answer: killed, in time, and nobody waits behind it" {
	local pid other fs=/run/tmp/fs
	dm_disk gate "0 16384 linear /dev/ram2 0"
	mkfs.ext4 -q -O ^has_journal /dev/dm-0
	mkdir -p $fs
	mount /dev/dm-0 $fs
	server record=$fs/writers
	map s1 /dev/ram0 migration
	# It notes that another one may write, and whoever asks for the disk waits for that
	dmsetup suspend --noudevsync gate
	map s2 /dev/ram0 migration 3>&- & other=$!
	await 10 worker_in rnbd_server_record_save
	"$ADM" device set rnbd0 --access rw >/dev/null 2>&1 3>&- & pid=$!
	await 10 worker_in rnbd_client_dev_set_rw
	timeout 5 "$ADM" device list >/dev/null
	timeout 5 genl ctrl list >/dev/null 2>&1 || [[ $? != 124 ]]
	kill -9 $pid
	await 5 dead $pid
	refused_rw 10 "the server did not answer within 500 ms" --timeout 500ms
	[ "$(</sys/block/rnbd0/rnbd/access_mode)" = migration ]
	dmsetup resume --noudevsync gate
	wait $other
	refused_rw 7 "refused, the device stays in migration"
	access_is s1 migration
	all_closed
	server
	umount $fs
	dmsetup remove --noudevsync gate
}

@test "one disk under two spellings: two directories, closed one by one" {
	local dirs first
	server
	map s1 /dev/ram0 ro
	map s1 //dev/ram0 ro
	map s1 /dev/./ram0 rw
	[ -L $CTL/ram0/block_dev ]
	[ "$(readlink -f $CTL/ram0/block_dev)" = "$(readlink -f /sys/block/ram0)" ]
	mapfile -t dirs < <(ls $CTL/ram0/sessions)
	[ ${#dirs[@]} -eq 3 ]
	[ "${dirs[0]}" = s1 ]
	[[ ${dirs[1]} == s1.* && ${dirs[2]} == s1.* ]]
	[ "$(sort $CTL/ram0/sessions/*/mapping_path)" = "//dev/ram0
/dev/./ram0
/dev/ram0" ]
	for first in /sys/block/rnbd*; do
		echo normal >"$first/rnbd/unmap_device"
		break
	done
	[ "$(ls $CTL/ram0/sessions | wc -l)" -eq 2 ]
}

@test "exports go with their session when the server is unloaded" {
	server
	map s1 /dev/ram0
	map s1 /dev/ram1
	rmmod rnbd-server
	[ ! -e /sys/class/rnbd-server ]
	load_server
}

@test "F2: what this host has mounted is opened for reading alone, unless share_local=Y; what clients write to is not mounted" {
	local share=/sys/module/rnbd_server/parameters/share_local mode
	server
	mkdir -p /run/tmp/mnt
	mkfs.ext4 -q /dev/ram1
	mount /dev/ram1 /run/tmp/mnt
	for mode in rw migration; do
		map_refused "resource busy" s1 /dev/ram1 $mode
		dmesg_new | grep -qE "open \"/dev/ram1\" as $mode: -(EBUSY|16): this host uses it, mounted"
	done
	dmesg_new | grep -q "on the server '/dev/ram1' is in use, its log says how"
	map s1 /dev/ram1 ro
	all_closed
	echo Y >$share
	map s1 /dev/ram1
	adm_is '[.exports[].used_by] == [["mount /run/tmp/mnt (ext4)"]]' server export list
	run "$ADM" check server.in_use
	[[ $output == *"FAIL  server.in_use"*"ram1: s1 may write to it, and this host uses it: mount /run/tmp/mnt (ext4)"* ]]
	all_closed
	umount /run/tmp/mnt
	echo N >$share
	map s1 /dev/ram1
	map s2 /dev/ram1 migration
	run ! mount /dev/ram1 /run/tmp/mnt
	[[ $output == *busy* ]]
	"$ADM" unmap /dev/ram1 --session s1
	run ! mount /dev/ram1 /run/tmp/mnt
	all_closed
	mount /dev/ram1 /run/tmp/mnt
	umount /run/tmp/mnt
}

@test "F2: below dm a partition and its disk are in use, its neighbour is not" {
	local disk
	server
	truncate -s 16M /run/tmp/part
	partitions /run/tmp/part 2048:8192 10240:8192
	modprobe loop
	disk=$(losetup -P --show -f /run/tmp/part)
	await 10 test -b "${disk}p2"
	dm_disk user "0 8192 linear ${disk}p1 0"
	map_refused "resource busy" s1 "${disk}p1"
	map_refused "resource busy" s1 "$disk"
	map s1 "${disk}p2"
	adm_is '[.exports[].used_by] == [[]]' server export list
	run ! map s2 "$disk"
	map s2 "$disk" ro
	run ! dm_disk more "0 8192 linear ${disk}p2 0"
	dmsetup remove --noudevsync user
	map s3 "$disk"
	all_closed
	map s3 "$disk"
	run ! dm_disk more "0 8192 linear ${disk}p1 0"
	all_closed
	losetup -d "$disk"
}
