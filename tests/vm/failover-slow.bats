#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A path that is ten times slower than the other does not slow down what the other can do; a busy one is not taken for a lost one.
# lab: two guests
# lab: links 2
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	on_server ram_disk 64 2
	limit 1gbit 1gbit
	on_server load_server
	load_client
	memory_before
}

setup() { . "$ROOT/tests/vm/lib/failover.bash"; }

teardown() {
	mend_all
	unmap_all
	dmesg_clean
	on_server dmesg_clean
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

# iops DISK: reads per second
iops() {
	fio --filename="/dev/$1" --thread --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=r --time_based \
		--runtime=4 --minimal | awk -F';' '{ print $8 }'
}

# slow POLICY [LEAST]: in percent of what the same kind of disk does over the fast link alone, in a session of its own, in turn. Both
# links are slow enough for it to be them that limit, not the host; where that has other things to do, it takes more rounds.
slow() {
	local fast i one=0 two=0
	PERCENT=0
	echo "sessname=fast path=ip:10.1.0.1 device_path=/dev/ram1" >$CTL/map_device || return
	fast=$(basename "$(readlink "$CTL/devices/!dev!ram1@fast")")
	await 20 test -b "/dev/$fast" && map /dev/ram0 || return
	set_to heartbeat_interval_ms=500 heartbeat_misses=20 "mpath_policy=$1" && limit 10mbit 1mbit || return
	for ((i = 0; i < 3 || i < 9 && PERCENT < ${2:-0}; i++)); do
		one=$((one + $(iops "$fast")))
		two=$((two + $(iops "$DISK")))
		PERCENT=$((two * 100 / one))
	done
	echo "# $1: $((one / i)) reads/s over the fast path alone, $((two / i)) with one ten times slower beside it" >&3
}

# limit RATE RATE: of what the server sends over each link. First when nothing is sent, see lose().
limit() {
	local tc="tc qdisc replace dev link"
	on_server "modprobe sch_netem && ${tc}1 root netem limit 100000 rate $1 && ${tc}2 root netem limit 100000 rate $2"
}

@test "min-latency: 90 % of the fast path's throughput" {
	slow min-latency 90
	((PERCENT >= 90))
}

@test "min-inflight: 90 % of the fast path's throughput" {
	slow min-inflight 90
	((PERCENT >= 90))
}

@test "round-robin, to compare: the slow path is felt" {
	slow round-robin
	((PERCENT <= 60))
}

# Its heartbeats wait behind all that is on the way: what is read fills one direction; verify writes as well
@test "a saturated link: no false alarm, no wrong byte" {
	local until=$((SECONDS + 20))
	map /dev/ram0
	set_to heartbeat_interval_ms=1000 heartbeat_misses=3
	limit 20mbit 20mbit
	while ((SECONDS < until)); do
		fio --filename="/dev/$DISK" --thread --rw=randrw --rwmixread=80 --bs=64k --direct=1 --ioengine=libaio --iodepth=32 --name=v \
			--size=16m --verify=crc32c --verify_fatal=1 --randseed=$SECONDS --minimal >/run/tmp/fio || fail "$(</run/tmp/fio)"
		path_is 1 connected && path_is 2 connected
	done
	[[ $(dmesg_new) != *lost* ]]
	[ "$(cat "$SDIR"/paths/*/stats/reconnects)" = $'0 0\n0 0' ]
}
