#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Who the server lets do what: the administrator's means against a client, operations on disks of all kinds, sizes of queues.
# lab: on debug: what the server refuses and frees is one-CPU logic, which KASAN and kmemleak judge
# lab: ynl
# lab: make tests/fuzz/hostile
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

CTL=/sys/class/rnbd-server/ctl/devices

setup_file() {
	. "$ROOT/tests/vm/hostile.bash"
	. "$ROOT/tests/vm/access.bash"
	net_up 2
	ram_disk 64 2
	setup_slow
	modprobe loop
	load_server sess_queue_depth=64
	load_client
}

setup() { . "$ROOT/tests/vm/hostile.bash" && . "$ROOT/tests/vm/access.bash"; }

teardown() {
	all_closed
	dmesg_clean
}

# A device whose I/O waits until `dmsetup resume gate`, with a read of the session s1 in it; the reader is $reader
gate() {
	local stats=/sys/class/rtrs-server/s1/paths/ip:10.0.0.1@ip:10.0.0.1/stats/rdma
	dm_disk gate "0 65536 linear /dev/ram1 0"
	map s1 /dev/dm-0
	dmsetup suspend --noudevsync gate
	echo 1 >$stats
	reads /dev/rnbd0 &
	reader=$!
	await 10 grep -q '^[1-9]' $stats
}

ungate() { dmsetup remove --noudevsync gate; }

# server [PARAM=VALUE]..: both modules of it loaded anew
server() {
	unload rnbd-server rtrs-server
	load_server "$@"
}

# export_id SESSION
export_id() { ynl dump export-get '{"session-name":"'"$1"'"}' | jq '.reply[0].id'; }

# cannot CMD..: fails with an I/O error
io_error() {
	run "$@"
	[[ $status -ne 0 && $output == *"Input/output error"* ]] || fail "$*: status $status, $output"
}

@test "sysfs, section 4: modes, contents, what force_close takes" {
	local dir=$CTL/ram0/sessions/s1 value
	map s1 /dev/ram0 ro
	[ "$(cd $dir && stat -c '%n %A %U' -- * | sort)" = "access_mode -r--r--r-- root
force_close -rw-r--r-- root
mapping_path -r--r--r-- root
read_only -r--r--r-- root" ]
	[ "$(cat $dir/read_only $dir/access_mode $dir/mapping_path)" = "1
ro
/dev/ram0" ]
	[[ $(cat $dir/force_close) == "Usage: echo"* ]]
	[ "$(wc -l <$dir/force_close)" -eq 1 ]
	for value in 0 2 11 1x normal " 1" ""; do
		run bash -c 'printf "%s\n" "$2" >"$1"' _ $dir/force_close "$value"
		[[ $status -ne 0 && $output == *"Invalid argument"* ]] || fail "'$value': $status, $output"
	done
	run -0 reads /dev/rnbd0
	printf 1 >$dir/force_close
	# It cannot go before who wrote to a file in it has left
	await 10 test ! -e $dir
}

@test "sysfs, section 1: modes and usage of what changes paths" {
	local dir=/sys/class/rtrs-client/s1 path=paths/ip:10.0.0.1@ip:10.0.0.1 file
	map s1 /dev/ram0
	[ "$(cd $dir && stat -c '%n %A %U' -- add_path max_reconnect_attempts mpath_policy $path/{reconnect,disconnect,remove_path,state} \
		$path/{hca_name,hca_port,src_addr,dst_addr,cur_latency} | sed "s,^$path/,," | sort)" = \
"add_path -rw-r--r-- root
cur_latency -r--r--r-- root
disconnect -rw-r--r-- root
dst_addr -r--r--r-- root
hca_name -r--r--r-- root
hca_port -r--r--r-- root
max_reconnect_attempts -rw-r--r-- root
mpath_policy -rw-r--r-- root
reconnect -rw-r--r-- root
remove_path -rw-r--r-- root
src_addr -r--r--r-- root
state -r--r--r-- root" ]
	[ "$(cd $dir/$path/stats && stat -c '%n %A' -- cpu_migration_{from,to} reconnects rdma reset_all | grep -c ' -rw-r--r--$')" -eq 5 ]
	# How to write, an empty line, the addresses
	[ "$(sed -nE '1s/^Usage: echo \[<[a-z ]*>@\]<[a-z ]*> > add_path$/usage/p; 2s/^$/empty/p; 3s/.*ip:.*ip:.*gid:.*/addresses/p; 4p' \
		$dir/add_path | xargs)" = "usage empty addresses" ]
	for file in reconnect disconnect remove_path; do
		[ "$(<$dir/$path/$file)" = "Usage: echo 1 > $file" ]
	done
}

@test "sysfs, section 2: modes, contents, what disconnect and the statistics take" {
	local dir=/sys/class/rtrs-server/s1/paths/ip:10.0.0.1@ip:10.0.0.1 file
	map s1 /dev/ram0
	[ "$(ls /sys/class/rtrs-server)" = s1 ]
	[ "$(ls /sys/class/rtrs-server/s1/paths)" = ip:10.0.0.1@ip:10.0.0.1 ]
	[ "$(cd $dir && stat -c '%n %A' -- disconnect hca_name hca_port src_addr dst_addr stats stats/*)" = "disconnect -rw-r--r--
hca_name -r--r--r--
hca_port -r--r--r--
src_addr -r--r--r--
dst_addr -r--r--r--
stats drwxr-xr-x
stats/rdma -rw-r--r--
stats/reset_all -rw-r--r--
stats/wc_completion -rw-r--r--" ]
	[ "$(ls $dir | wc -l)" -eq 6 ]
	[ "$(cat $dir/hca_name $dir/hca_port $dir/src_addr $dir/dst_addr)" = "rxe0
1
ip:10.0.0.1
ip:10.0.0.1" ]
	reads /dev/rnbd0
	[[ $(cat $dir/stats/rdma) =~ ^[1-9][0-9]*\ [1-9][0-9]{3,}\ [0-9]+\ [0-9]+$ ]]
	for file in disconnect stats/rdma; do
		for value in 0 2 all; do
			[[ $file$value != stats/rdma0 ]] || continue # as 1, see below
			run bash -c 'echo "$2" >"$1"' _ $dir/$file $value
			[[ $status -ne 0 && $output == *"Invalid argument"* ]]
		done
	done
	for value in 0 1; do
		reads /dev/rnbd0
		[[ $(cat $dir/stats/rdma) == [1-9]* ]]
		echo $value >$dir/stats/rdma
		[ "$(cat $dir/stats/rdma)" = "0 0 0 0" ]
	done
	[[ $(cat $dir/disconnect) == "Usage: echo"* ]]
	echo 1 >$dir/disconnect
	await 10 test ! -e $dir
}

@test "sysfs, section 3: modes, contents, usage, what unmap_device takes" {
	local ctl=/sys/class/rnbd-client/ctl dir=/sys/block/rnbd0/rnbd value
	map s1 /dev/ram0 ro
	[ "$(stat -c %A $ctl/map_device)" = -rw-r--r-- ]
	# The options in this order, an empty line, the addresses
	[ "$(sed -nE '1s/^Usage: echo .*\[dest_port=.* sessname=.* path=.* \[path=.* device_path=.* \[access_mode=.*ro.*rw.*migration.* '\
'\[nr_poll_queues=.*/options/p; 2s/^$/empty/p; 3s/.*ip:.*ip:.*gid:.*/addresses/p' $ctl/map_device | xargs)" = "options empty addresses" ]
	[ "$(readlink -f "$ctl/devices/!dev!ram0@s1")" = "$(readlink -f /sys/block/rnbd0)" ]
	[ "$(cd $dir && stat -c '%n %A' -- * | sort)" = "access_mode -r--r--r--
always_fua -r--r--r--
fua -r--r--r--
io_mode -r--r--r--
mapping_path -r--r--r--
nr_poll_queues -r--r--r--
remap_device -rw-r--r--
resize -rw-r--r--
scanning -r--r--r--
session -r--r--r--
state -r--r--r--
unmap_device -rw-r--r--
write_cache -r--r--r--" ]
	[ "$(cat $dir/{access_mode,mapping_path,nr_poll_queues,session,state})" = "ro
/dev/ram0
0
s1
open" ]
	[[ $(cat $dir/unmap_device) == "Usage: echo"*normal*force* ]]
	[ "$(wc -l <$dir/unmap_device)" -eq 1 ]
	for value in 0 1 Normal normalforce "force normal" ""; do
		run bash -c 'printf "%s\n" "$2" >"$1"' _ $dir/unmap_device "$value"
		[[ $status -ne 0 && $output == *"Invalid argument"* ]] || fail "'$value': $status, $output"
	done
	printf ' normal \n' >$dir/unmap_device
	[ ! -e /sys/block/rnbd0 ]
}

@test "map_device takes settings of a new session, by the names of its files; out of range nothing is left" {
	local map="path=ip:10.0.0.1 device_path=/dev/ram0 sessname=s1" ctl=/sys/class/rnbd-client/ctl/map_device
	echo "$map no_path_timeout_ms=-1 heartbeat_interval_ms=500 heartbeat_misses=4 max_reconnect_attempts=7" >$ctl
	[ "$(cd /sys/class/rtrs-client/s1 && cat {no_path_timeout,heartbeat_interval,reconnect_delay}_ms heartbeat_misses max_reconnect_attempts | xargs)" = \
		"-1 500 1000 4 7" ]
	# Those of a session that is there are changed in its files
	run -1 bash -c "echo ${map/ram0/ram1} io_timeout_ms=5000 >$ctl"
	all_closed
	run -1 bash -c "echo $map heartbeat_interval_ms=199 >$ctl"
	[[ $output == *"Invalid argument"* ]]
	[ -z "$(ls /sys/class/rtrs-client)" ]
}

@test "B17: a port above 32767, named behind the path, is that of all paths, of later ones too" {
	local session=/sys/class/rtrs-client/s1
	server sess_queue_depth=64 port_nr=65535
	echo "sessname=s1 path=ip:10.0.0.1 device_path=/dev/ram0 dest_port=65535" >/sys/class/rnbd-client/ctl/map_device
	echo ip:10.0.1.1 >$session/add_path
	[ "$(cat $session/paths/*/state | xargs)" = "connected connected" ]
	run -0 reads /dev/rnbd0
	all_closed
	server sess_queue_depth=64
}

@test "force_close: the device is released when it returns, the client is not told" {
	map s1 /dev/ram0
	map s2 /dev/ram0 ro
	[ "$(ls $CTL/ram0/sessions)" = "s1
s2" ]
	echo 1 >$CTL/ram0/sessions/s1/force_close
	map s3 /dev/ram0 rw
	[ "$(ls $CTL/ram0/sessions)" = "s2
s3" ]
	[ "$(cat /sys/block/rnbd0/rnbd/session)" = s1 ]
	io_error reads /dev/rnbd0
	run -0 reads /dev/rnbd1
	run -0 reads /dev/rnbd2
}

@test "force_close waits for what runs, and more than one may wait" {
	local pids=() pid reader
	gate
	for _ in 1 2 3; do
		bash -c "echo 1 >$CTL/dm-0/sessions/s1/force_close" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do await 10 waits_in "$pid" force_close_store; done
	[ -e $CTL/dm-0/sessions/s1 ]
	dmsetup resume --noudevsync gate
	for pid in "${pids[@]}"; do wait "$pid"; done
	wait "$reader"
	await 10 no_exports
	io_error reads /dev/rnbd0
	all_closed
	ungate
}

@test "export-close of netlink: one opening of one session, by its id" {
	local id
	map s1 /dev/ram0
	map s2 /dev/ram0 ro
	run -0 ynl dump export-get
	jqe '[.reply[] | ."read-only"] | sort == [0, 1]' \
		'all(.reply[]; ."since-ns" / 1000000000 - now | . > -60 and . < 60)'
	id=$(export_id s1)
	run -0 ynl --listen export do export-close "{\"id\":$id}"
	jqe '.error == null and ([.events[].msg | [.event, .id]] == [["destroy", '"$id"']])'
	[ "$(ls $CTL/ram0/sessions)" = s2 ]
	io_error reads /dev/rnbd0
	run -0 reads /dev/rnbd1
	run -0 ynl do export-close "{\"id\":$id}"
	jqe ".error.errno == 2 and (.error.text | test(\"$id\"))"
	run -0 ynl do export-close '{}'
	jqe '.error.errno == 22 and (.error.text | length) > 5'
	run -0 setpriv --bounding-set=-sys_admin "$ROOT/tests/vm/ynl.py" do export-close "{\"id\":$(export_id s2)}"
	jqe '.error.errno == 1'
}

@test "a kill ends the wait of force_close, not the close" {
	local pid reader
	gate
	bash -c "echo 1 >$CTL/dm-0/sessions/s1/force_close" &
	pid=$!
	await 10 waits_in $pid force_close_store
	kill -9 $pid
	await 5 dead $pid
	[ -e $CTL/dm-0/sessions/s1 ]
	dmsetup resume --noudevsync gate
	wait "$reader"
	await 10 no_exports
	all_closed
	ungate
}

@test "session-disconnect: all paths of the session, gone when it returns" {
	map s1 /dev/ram0 rw 10.0.0.1 10.0.1.1
	map s2 /dev/ram1
	[ "$(ls /sys/class/rtrs-server/s1/paths | wc -l)" -eq 2 ]
	echo 0 >/sys/class/rtrs-client/s1/max_reconnect_attempts
	run -0 ynl --listen session do session-disconnect '{"name":"s1","role":"server"}'
	jqe '.error == null'
	[ ! -e /sys/class/rtrs-server/s1 ]
	[ ! -e $CTL/ram0 ]
	jqe '[.events[] | select(.msg.role == "server" and .msg.name == "s1") | .msg.event] | .[-1] == "destroy"'
	run -0 reads /dev/rnbd1
	run -0 ynl do session-disconnect '{"name":"nosuch","role":"server"}'
	jqe '.error.errno == 2 and (.error.text | test("nosuch"))'
	run -0 ynl do session-disconnect '{"role":"server"}'
	jqe '.error.errno == 22 and (.error.text | length) > 5'
}

@test "a client comes back after session-disconnect" {
	map s1 /dev/ram0
	run -0 ynl do session-disconnect '{"name":"s1","role":"server"}'
	jqe '.error == null'
	all_closed
	map s1 /dev/ram0
	run -0 reads /dev/rnbd0
}

@test "a disk and its partition are independent, and the link leads to the whole disk" {
	local disk
	truncate -s 32M /run/tmp/part
	partitions /run/tmp/part 2048:8192 10240:8192
	disk=$(losetup -P --show -f /run/tmp/part)
	await 10 test -b "${disk}p2"
	map w1 "$disk" rw
	map w2 "${disk}p1" rw
	map w3 "${disk}p2" rw
	run ! map w4 "${disk}p1" rw
	[ "$(ls $CTL)" = "${disk##*/}
${disk##*/}p1
${disk##*/}p2" ]
	[ "$(readlink -f "$CTL/${disk##*/}p1/block_dev")" = "$(readlink -f "/sys/block/${disk##*/}")" ]
	[ "$(blockdev --getsz /dev/rnbd1)" = 8192 ]
	all_closed
	losetup -d "$disk"
}

@test "operations on a disk that has them: zeroes with and without NOUNMAP, discard, FUA, PREFLUSH" {
	local disk
	mkfs.ext4 -q /dev/ram1
	mkdir -p /run/tmp/ext4
	mount /dev/ram1 /run/tmp/ext4
	dd if=/dev/urandom of=/run/tmp/ext4/disk bs=1M count=32 conv=fsync status=none
	disk=$(losetup -b 4096 --show -f /run/tmp/ext4/disk)
	DISK=$disk hostile special-operations access-read-only access-read-only-disk
	losetup -d "$disk"
	umount /run/tmp/ext4
}

@test "zeroes without NOUNMAP may free blocks, with it they do not; nothing else is touched" {
	local disk before
	mkfs.ext4 -q /dev/ram1
	mkdir -p /run/tmp/ext4
	mount /dev/ram1 /run/tmp/ext4
	dd if=/dev/urandom of=/run/tmp/ext4/disk bs=1M count=8 conv=fsync status=none
	cp /run/tmp/ext4/disk /run/tmp/model
	disk=$(losetup --show -f /run/tmp/ext4/disk)
	map s1 "$disk"
	[ "$(</sys/block/rnbd0/queue/write_zeroes_max_bytes)" -gt 0 ]
	before=$(stat -c %b /run/tmp/ext4/disk)
	blkdiscard -z -o 1M -l 1M /dev/rnbd0
	dd if=/dev/zero of=/run/tmp/model bs=1M seek=1 count=1 conv=notrunc status=none
	sync /run/tmp/ext4/disk
	cmp /dev/rnbd0 /run/tmp/model
	[ "$(stat -c %b /run/tmp/ext4/disk)" -ge "$before" ]
	fallocate -p -o 2M -l 1M /dev/rnbd0
	dd if=/dev/zero of=/run/tmp/model bs=1M seek=2 count=1 conv=notrunc status=none
	cmp /dev/rnbd0 /run/tmp/model
	[ "$(stat -c %b /run/tmp/ext4/disk)" -le $((before - 2000)) ]
	blkdiscard -o 4M -l 3M /dev/rnbd0
	dd if=/dev/zero of=/run/tmp/model bs=1M seek=4 count=3 conv=notrunc status=none
	cmp "$disk" /run/tmp/model
	[ "$(stat -c %b /run/tmp/ext4/disk)" -le $((before - 8000)) ]
	all_closed
	losetup -d "$disk"
	umount /run/tmp/ext4
}

@test "a disk of no size, one of 16 TiB, one without discard" {
	local disk
	disk=$(losetup -f)
	DISK=$disk hostile special-empty
	truncate -s 16T /run/tmp/big
	disk=$(losetup --show -f /run/tmp/big)
	DISK=$disk hostile io-places io-round-trip
	losetup -d "$disk"
	hostile io-unknown-ops
	# A loop device without a file may fail a flush, and say so.
	! dmesg_new | grep -iE 'operation not supported error|I/O error' | grep -v 'dev loop[0-9]*, sector 0 op 0x1:'
}

@test "the last close of a loop device that goes with it" {
	local disk
	truncate -s 16M /run/tmp/auto
	disk=$(losetup --show -f /run/tmp/auto)
	map s1 "$disk"
	losetup -d "$disk" # goes with the last who has it
	run -0 reads /dev/rnbd0
	all_closed
	await 10 bash -c "! losetup $disk 2>/dev/null"
}

@test "names near PATH_MAX" {
	local top=/run/tmp name i
	name=$(printf 'd%.0s' {1..240})
	for i in {1..15}; do top+=/$name; done
	mkdir -p "$top"
	for i in 100 254; do mknod "$top/$(printf "n%.0s" $(seq "$i"))" b 1 0; done
	server sess_queue_depth=64 "dev_search_path=$top"
	map s1 "$(printf 'n%.0s' {1..100})"
	map s2 "$(printf 'n%.0s' {1..254})" ro
	[ "$(ls $CTL/ram0/sessions | wc -l)" -eq 2 ]
	all_closed
	# 4096 bytes and more with any name
	server sess_queue_depth=64 "dev_search_path=$top/$(printf 'e%.0s' {1..200})/$(printf 'f%.0s' {1..200})"
	run map s1 "$(printf 'n%.0s' {1..254})"
	[[ $status -ne 0 && $output == *"Invalid argument"* ]] || fail "$status $output"
	server sess_queue_depth=64
}

@test "B21: more regions than the service connection has room for" {
	all_closed
	server sess_queue_depth=2048 max_chunk_size=8192 always_invalidate=Y
	map s1 /dev/ram0
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bs=4k --size=2m --verify=crc32c --direct=1 \
		--ioengine=libaio --iodepth=64 --minimal >/dev/null
	all_closed
	server sess_queue_depth=64
}

@test "a queue depth that nothing divides, always_invalidate=N" {
	server sess_queue_depth=521 max_chunk_size=16384 always_invalidate=N
	map s1 /dev/ram0
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bs=64k --size=8m --verify=crc32c --direct=1 \
		--ioengine=libaio --iodepth=16 --minimal >/dev/null
	all_closed
	server sess_queue_depth=64
}

# behind A B C: the nodes in /dev/vols lead to these
behind() {
	local n=0 disk
	for disk; do
		rm -f /dev/vols/$((++n))
		cp -a "$disk" /dev/vols/$n
	done
}

# reopened STATE ERROR: the session is lost and back, and this has become of each disk
reopened() {
	echo 1 >"$SYS/disconnect"
	await 20 adm_is 'all(.devices[]; .state == "disconnected" and .last_error != "ESTALE")' device list
	behind "${@:3}"
	echo 1 >"$SYS/reconnect"
	await 20 adm_is "all(.devices[]; .state == \"$1\" and .last_error == $2)" device list
}

@test "E5: a loop device, a partition, a SCSI disk behind the node: the same is taken again, another of its kind and size is not" {
	local -a loop scsi here there
	local SYS="/sys/class/rtrs-client/s1/paths/ip:10.0.0.1@ip:10.0.0.1"
	truncate -s 16M /run/tmp/{one,two}
	partitions /run/tmp/one 2048:8192 10240:8192
	loop=("$(losetup -P --show -f /run/tmp/one)" "$(losetup --show -f /run/tmp/two)")
	modprobe sd_mod
	modprobe scsi_debug max_luns=2 dev_size_mb=16
	await 20 eval "(( \$(compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*' | wc -l) == 2 ))"
	mapfile -t scsi < <(compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*')
	await 10 test -b "${loop[0]}p2"
	here=("${loop[0]}" "${loop[0]}p1" "/dev/${scsi[0]##*/}")
	there=("${loop[1]}" "${loop[0]}p2" "/dev/${scsi[1]##*/}")
	mkdir /dev/vols
	behind "${here[@]}"
	for n in 1 2 3; do
		map s1 /dev/vols/$n ro
	done
	reopened mapped null "${here[@]}"
	reopened disconnected '"ESTALE"' "${there[@]}"
	reopened mapped null "${here[@]}"
	all_closed
	await 10 no_exports
	rm -r /dev/vols
	losetup -d "${loop[@]}"
	rmmod scsi_debug
}
