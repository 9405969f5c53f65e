#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A path that is ten times slower than the other does not slow down what the other can do; a busy one is not taken for a lost one.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: two guests
# lab: links 2
# lab: cpus 1
# lab: no sanitizers: its times are of the modules
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

# iops DISK: reads per second, while all paths have some to do. When no more are begun, the slow path has work for a while, alone.
iops() {
	local pid before t0
	fio --filename="/dev/$1" --thread --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=r --time_based \
		--runtime=60 --minimal >/dev/null 3>&- & pid=$!
	DISK=$1 goes_on || return
	before=$(ios "$1") t0=${EPOCHREALTIME/./}
	sleep 4
	echo $((($(ios "$1") - before) * 1000000 / (${EPOCHREALTIME/./} - t0)))
	kill $pid
	wait $pid || :
}

# slow POLICY: in percent of what the same kind of disk does over the fast link alone, in a session of its own, in turn. Both links
# are slow enough for it to be them that limit, not the host.
slow() {
	local fast i one=0 two=0
	echo "sessname=fast path=ip:10.1.0.1 device_path=/dev/ram1" >$CTL/map_device || return
	fast=$(disk_of fast /dev/ram1)
	await 20 test -b "/dev/$fast" && map /dev/ram0 || return
	set_to heartbeat_interval_ms=500 heartbeat_misses=20 "mpath_policy=$1" && limit 3mbit 300kbit || return
	for i in 1 2 3; do
		one=$((one + $(iops "$fast")))
		two=$((two + $(iops "$DISK")))
	done
	echo "# $1: $((one / 3)) reads/s over the fast path alone, $((two / 3)) with one ten times slower beside it, $((two * 100 / one)) % of what that one carries" >&3
	PERCENT=$((two * 100 / one))
}

# limit RATE RATE: of what the server sends over each link. First when nothing is sent, see lose().
limit() {
	local tc="tc qdisc replace dev link"
	on_server "modprobe sch_netem && ${tc}1 root netem limit 100000 rate $1 && ${tc}2 root netem limit 100000 rate $2"
}

@test "min-latency: 90 % of the fast path's throughput" {
	slow min-latency
	((PERCENT >= 90))
}

@test "min-inflight: 90 % of the fast path's throughput" {
	slow min-inflight
	((PERCENT >= 90))
}

@test "round-robin, to compare: the slow path is felt" {
	slow round-robin
	((PERCENT <= 60))
}

# zeroes FLAGS: with NOUNMAP, which a server may overlook; the first request that is sent has these flags in the trace
zeroes() {
	requests_to "/dev/$DISK" fallocate -z -o 0 -l 4096 "/dev/$DISK" >/dev/null
	[[ $(grep -m 1 -o 'block_rq_issue: .*' /run/tmp/requests) =~ ^block_rq_issue:\ [0-9]+,[0-9]+\ $1 ]] || fail "$(</run/tmp/requests)"
}

@test "a server that is too slow to say what it understands: it is sent what all do" {
	map "$(on_server loop_disk 16)"
	zeroes N
	echo 1 >"$SDIR/paths/$(path_of 2)/disconnect"
	echo 1 >"$SDIR/paths/$(path_of 1)/disconnect"
	on_server "tc qdisc change dev link1 root netem limit 100000 delay 300ms"
	set_to connect_timeout_ms=100
	"$ADM" path reconnect $SESSION "$(path_of 1)" --timeout 30s
	await 30 eval 'dmesg_new | grep -qE "session s1 is back, but not .*: -(110|ETIMEDOUT)"'
	"$ADM" remap "$DISK" --timeout 30s
	zeroes W
	limit 1gbit 1gbit
}

DATA=/run/tmp/data
put() { dd if=$DATA of="/dev/$DISK" bs=4k oflag=direct status=none; }
get() { dd if="/dev/$DISK" bs=4k count=8 iflag=direct status=none | cmp - $DATA; }

# What was lost on the path, and what went elsewhere for that
lost_on() { awk '{ print FILENAME == ARGV[1] ? $1 : $6 }' "$SDIR/paths/$(path_of "$1")/stats/"{reconnects,rdma} | xargs; }

# over_other LINK CMD: it does eight requests while the server's answers over this link are lost, but for its heartbeats
over_other() {
	local other t0 took
	other=$(lost_on $((3 - $1)))
	cut io "$1"
	t0=${EPOCHREALTIME/./}
	"$2"
	took=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "# I/O time-out 2 s: $2 waited for $took ms, then went on over the other path" >&3
	# The block layer looks at whole seconds
	((took >= 2000 && took < 2000 + 2500 * ${LAB_SLOW:-1}))
	dmesg_new | grep -qE "path $(path_of "$1"): lost: -(110|ETIMEDOUT)\$"
	# With other queue pairs, of which nothing is lost
	await 20 path_is "$1" connected
	[ "$(lost_on "$1")" = "1 1" ]
	[ "$(lost_on $((3 - $1)))" = "$other" ]
	mend io "$1"
}

@test "a path that answers nothing but heartbeats: the request exceeds the I/O time-out, then goes over the other one" {
	limit 1gbit 1gbit
	map /dev/ram0
	set_to heartbeat_interval_ms=60000 io_timeout_ms=2000 reconnect_delay_ms=100
	dd if=/dev/urandom of=$DATA bs=4k count=8 status=none
	over_other 1 put
	[ "$(on_server "dd if=/dev/ram0 bs=4k count=8 iflag=direct status=none | sha256sum")" = "$(sha256sum - <$DATA)" ]
	over_other 2 get
}

# Its heartbeats wait behind all that is on the way
@test "a saturated link: no false alarm, no wrong byte" {
	local until=$((SECONDS + 20))
	map /dev/ram0
	set_to heartbeat_interval_ms=1000 heartbeat_misses=3
	limit 20mbit 20mbit
	while ((SECONDS < until)); do
		fio --filename="/dev/$DISK" --thread --bs=64k --direct=1 --ioengine=libaio --randseed=$SECONDS --minimal \
			--name=r --rw=randread --iodepth=32 --time_based --runtime=10 \
			--name=v --rw=randwrite --iodepth=4 --size=4m --verify=crc32c --verify_fatal=1 >/run/tmp/fio || fail "$(</run/tmp/fio)"
		path_is 1 connected && path_is 2 connected
	done
	[[ $(dmesg_new) != *lost* ]]
	[ "$(cat "$SDIR"/paths/*/stats/reconnects)" = $'0 0\n0 0' ]
}
