#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths that are lost and come back, in one guest: an RDMA device is deleted and made again, the server is loaded again.
# shellcheck shell=bash disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 2
	ram_disk 32
	load_server
	load_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	ADM=$ROOT/build/rnbdadm
	SYS=/sys/class/rtrs-client/s1
}

teardown() { "$ADM" unmap --all --force -y || :; }

adm_is() {
	local filter=$1
	shift
	"$ADM" "$@" -j >/tmp/adm.json
	jq -e "$filter" /tmp/adm.json >/dev/null || { echo "not so: $filter"; cat /tmp/adm.json; return 1; }
}

# fast: reconnects are not far between
quick() {
	echo 100 >$SYS/reconnect_delay_ms
	echo 500 >$SYS/reconnect_delay_max_ms
}

fio_start() {
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=16 --rw=randrw --bs=4k --size=16m \
		--verify=crc32c --verify_fatal=1 --time_based --runtime="$1" --output=/tmp/fio.out &
	FIO=$!
	await 30 io_done rnbd0 50
}

fio_end() {
	wait "$FIO" || { cat /tmp/fio.out; fail "fio"; }
}

paths_up() { [[ $(cat $SYS/paths/*/state | grep -c '^connected') == "$1" ]]; }

@test "an RDMA device is deleted and made again: the path comes back, no I/O fails" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1
	quick
	fio_start 12
	timeout 60 rdma link delete rxe1
	await 20 paths_up 1
	rxe_add rxe1 dummy1
	await 30 paths_up 2
	timeout 60 rdma link delete rxe0
	await 20 paths_up 1
	rxe_add rxe0 dummy0
	await 30 paths_up 2
	fio_end
	adm_is '([.stats[].counters.failovers] | add > 0) and all(.stats[].counters; .reconnects_ok == 1)' stats
}

@test "paths are added, removed, disconnected and reconnected by sysfs while I/O runs" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	fio_start 8
	echo ip:10.0.1.1 >$SYS/add_path
	paths_up 2
	local a=("$SYS"/paths/ip:10.0.0.1*)
	echo 1 >"$a/disconnect"
	paths_up 1
	echo 1 >"$a/reconnect"
	paths_up 2
	echo 1 >"$a/remove_path"
	[[ ! -e $a ]]
	paths_up 1
	run -1 bash -c "echo ip:10.0.1.1 >$SYS/add_path"
	echo ip:fd00:0::1 >$SYS/add_path
	paths_up 2
	fio_end
}

@test "no path is left: I/O waits, and goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	fio_start 10
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	adm_is '.devices[0].state == "disconnected"' device list
	rxe_add rxe0 dummy0
	await 30 paths_up 1
	await 20 adm_is '.devices[0].state == "mapped"' device list
	fio_end
}

@test "no path is left: I/O fails when the time is over, and works when the path is back" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo 1500 >$SYS/no_path_timeout_ms
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	local t0=$SECONDS
	run -1 dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	rxe_add rxe0 dummy0
	await 20 adm_is '.devices[0].state == "mapped"' device list
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
}

@test "the server is loaded again: the device is opened again, I/O goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	fio_start 10
	rmmod rnbd-server rtrs-server
	await 20 paths_up 0
	load_server
	await 30 paths_up 2
	fio_end
}

@test "unmap --force ends I/O that waits" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct &
	local pid=$!
	"$ADM" unmap rnbd0 --force -y
	ends_badly $pid
	rxe_add rxe0 dummy0
}
