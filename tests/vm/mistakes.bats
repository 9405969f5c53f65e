#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What a user does wrong: each mistake has a message and an exit code of its own, and leaves nothing behind.
# lab: on 6.1: the tool has its sanitizers there, and kernel/compat words errors in another way than on 6.12
# lab: cpus 1
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	ram_disk 64
	load_server
	load_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
}

nothing_left() {
	adm_is '.client == {sessions: [], devices: []}' status || return
	[ ! -e /sys/block/rnbd0 ] || return
	! ls -d /sys/class/rtrs-client/* 2>/dev/null
}

# adm STATUS CODE ARGS..: as text and as JSON it fails with this status; the message is in $stderr
adm_fails() {
	local status_wanted=$1 code=$2
	shift 2
	run --separate-stderr "-$status_wanted" "$ADM" "$@" -j
	jq -e --arg code "$code" '.error.code == $code' <<<"$output"
	run --separate-stderr "-$status_wanted" "$ADM" "$@"
	[ -z "$output" ]
	echo "$stderr"
	[[ $stderr == "rnbdadm: "* ]]
}

@test "wrong port: nobody listens there" {
	adm_fails 1 failed map /dev/ram0 --session s1 --path ip:10.0.0.1 --dest-port 999
	[[ $stderr == *999* ]]
	nothing_left
}

@test "wrong address: no route to it" {
	adm_fails 1 failed map /dev/ram0 --session s1 --path ip:192.0.2.1
	[[ $stderr == *192.0.2.1* ]]
	nothing_left
}

# told ERROR WHY CMD..: it fails with this error, and the kernel has said why
told() {
	dmesg_mark
	run -1 bash -c "${*:3}"
	[[ $output == *": write error: $1" ]] || fail "no '$1': $output"
	dmesg_new | grep -F "$2"
}

@test "a write to sysfs that fails: the reason is in the kernel log" {
	local ctl=/sys/class/rnbd-client/ctl/map_device
	told "Connection reset by peer" "ctl: 'sessname=s1 path=ip:10.0.0.1 dest_port=999 device_path=/dev/ram0' to map_device: ip:10.0.0.1: nobody listens on port 999" \
		"echo sessname=s1 path=ip:10.0.0.1 dest_port=999 device_path=/dev/ram0 >$ctl"
	told "Invalid argument" "to map_device: not accepted (-" "echo sessname=s1 >$ctl"
	# however long it is, and whatever it holds: the reason comes behind
	told "Invalid argument" "path=ip:192.0.2.1 path=ip:192.0.2.2 device_path=" \
		"printf 'sessname=s1 path=ip:192.0.2.1 path=ip:192.0.2.2 device_path=%02000d\n' 1 >$ctl"
	dmesg_new | grep -F "0' to map_device: not accepted (-"
	echo "sessname=s1 path=ip:10.0.0.1 device_path=/dev/ram0" >$ctl
	told "No route to host" "s1: 'ip:192.0.2.1' to add_path: ip:192.0.2.1: no route to the server" \
		"echo ip:192.0.2.1 >/sys/class/rtrs-client/s1/add_path"
	told "Device or resource busy" "rnbd0: 'normal' to unmap_device: rnbd0 is in use, opened 1 times" \
		"exec 9</dev/rnbd0; echo normal >/sys/block/rnbd0/rnbd/unmap_device"
	told "Invalid argument" "s1: '1' to heartbeat_misses" "echo 1 >/sys/class/rtrs-client/s1/heartbeat_misses"
	echo normal >/sys/block/rnbd0/rnbd/unmap_device
	nothing_left
}

@test "a GID, which RDMA CM takes on InfiniBand alone" {
	local gid
	gid=$(</sys/class/infiniband/rxe0/ports/1/gids/0)
	adm_fails 1 failed map /dev/ram0 --session s1 --path "gid:$gid"
	[[ $stderr == *"gid:$gid: no RDMA device leads there"* ]]
	nothing_left
}

@test "wrong address: cannot be read" {
	adm_fails 2 usage map /dev/ram0 --session s1 --path ip:10.0.0.300
	[[ $stderr == *10.0.0.300* ]]
	nothing_left
}

@test "no such device on the server" {
	adm_fails 4 not_found map /dev/nosuch --session s1 --path ip:10.0.0.1
	[[ $stderr == *nosuch* && $stderr == *dev_search_path* ]]
	nothing_left
}

@test "not a block device on the server" {
	adm_fails 1 failed map /etc/passwd --session s1 --path ip:10.0.0.1
	[[ $stderr == *"block device"* ]]
	nothing_left
}

@test "a new session without a path" {
	run --separate-stderr ! "$ADM" map /dev/ram0 --session s1
	[[ $stderr == *path* ]]
	nothing_left
}

@test "device already mapped" {
	run -0 --separate-stderr "$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	[ "$output" = /dev/rnbd0 ]
	adm_fails 6 conflict map /dev/ram0 --session s1 --path ip:10.0.0.1
	[[ $stderr == *"already mapped"*rnbd0* ]]
	run -0 --separate-stderr "$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --idempotent
	[ "$output" = /dev/rnbd0 ]
}

@test "a second writer" {
	adm_fails 7 busy map /dev/ram0 --session s2 --path ip:10.0.0.1
	[[ $stderr == *writ* ]]
}

@test "unmap of a device in use is refused and says by what" {
	mkfs.ext4 -q /dev/rnbd0
	mkdir -p /tmp/m
	mount /dev/rnbd0 /tmp/m
	adm_fails 7 busy unmap rnbd0
	[[ $stderr == */tmp/m* ]]
	umount /tmp/m
	run -0 "$ADM" unmap rnbd0
	nothing_left
}

@test "unmap of a device that is not there" {
	adm_fails 4 not_found unmap rnbd0
	run -0 "$ADM" unmap rnbd0 --idempotent
}

@test "not root" {
	cp "$ADM" /tmp/rnbdadm	# where everybody may read it
	run --separate-stderr -5 setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm map /dev/ram0 --session s1 --path ip:10.0.0.1
	[[ $stderr == "rnbdadm: "* && $stderr == *root* ]]
	run --separate-stderr -0 setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm device list
	nothing_left
}

@test "full stdout" {
	run --separate-stderr -1 bash -c '"$@" >/dev/full' _ "$ADM" session list -j
	[[ $stderr == *"No space left"* ]]
	run --separate-stderr -1 bash -c '"$@" >/dev/full' _ "$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	[[ $stderr == *"No space left"* ]]
	# The device is mapped nevertheless, and says so
	run -0 "$ADM" unmap --all --force
	nothing_left
}

@test "kill -9 while it maps from a server that never answers" {
	# The interface swallows what is sent to an address that nobody has
	"$ADM" map /dev/ram0 --session s9 --path ip:10.0.0.99 3>&- &
	pid=$!
	await 5 adm_is '.paths[0].state == "connecting"' path list
	kill -9 $pid
	t0=$SECONDS
	await 10 dead $pid
	((SECONDS - t0 < 5))
	await 5 nothing_left
}

@test "a server that never answers: the time-out applies and says so" {
	t0=$SECONDS
	adm_fails 10 timeout map /dev/ram0 --session s9 --path ip:10.0.0.99 --timeout 2
	[[ $stderr == "rnbdadm: map /dev/ram0: 10.0.0.99 did not answer in time"* && $stderr == *--timeout* ]]
	((SECONDS - t0 < 20))
	nothing_left
}

@test "client module missing" {
	rmmod rnbd_client rtrs_client
	adm_fails 8 unavailable map /dev/ram0 --session s1 --path ip:10.0.0.1
	[[ $stderr == *modprobe* ]]
	adm_fails 8 unavailable device list
	insmod "$MODS/rtrs-client.ko"
	insmod "$MODS/rnbd-client.ko"
}

@test "no RDMA device" {
	net_down
	adm_fails 8 unavailable map /dev/ram0 --session s1 --path ip:127.0.0.1
	[[ $stderr == *RDMA* ]]
	nothing_left
}

@test "no module at all" {
	unload_all
	adm_fails 8 unavailable session list
	[[ $stderr == *modprobe* ]]
}
