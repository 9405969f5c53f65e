#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A peer in user space (tests/fuzz/hostile) that does everything wrong, against our server, in both of its modes. After each
# test the kernel must have nothing to say, and the server must be there for a proper client.
# lab: on debug: what a peer can break is seen by KASAN first
# lab: make tests/fuzz/hostile
# lab: make tests/vm/tools
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031

setup_file() {
	. "$ROOT/tests/vm/hostile.bash"
	net_up 1
	ram_disk 16
	setup_slow
	ip addr add 10.0.0.9/24 dev dummy0
	await 10 grep -qs 0a00:0009 /sys/class/infiniband/rxe0/ports/1/gids/*
}

setup() { . "$ROOT/tests/vm/hostile.bash"; }

teardown() {
	crowd_end
	dmesg_clean
}

map_it() { echo "sessname=$1 path=$2 device_path=/dev/ram0" >/sys/class/rnbd-client/ctl/map_device; }

# own FILE FUNCTION: tests of the peer that have one of their own in this file
own() { sed -n "s/^@test.*{ $2 \(.*\); }\$/\1/p" "$1" | tr ' ' '\n'; }

# group MODE PREFIX: all tests of that name; but those of races.bats, and in mode Y those that have a test of their own here
group() {
	local names own
	own=$(own "$ROOT/tests/vm/races.bats" both)
	[[ $1 == N ]] || own+=$'\n'$(own "$BATS_TEST_FILENAME" 'only Y')
	mapfile -t names < <("$HOSTILE" list | grep "^$2-" | grep -vxF -e "$own" -e '')
	only "$1" "${names[@]}"
}

# The main job, beside or after all that
proper_client() {
	load_client || return
	echo "sessname=proper path=ip:10.0.0.1 device_path=/dev/ram0" >/sys/class/rnbd-client/ctl/map_device || return
	await 10 test -b /dev/rnbd0 || return
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bsrange=512-120k --size=8m --verify=crc32c --direct=1 \
		--ioengine=libaio --iodepth=16 --minimal >/dev/null || return
	echo normal >/sys/block/rnbd0/rnbd/unmap_device || return
	unload rnbd-client rtrs-client
}

# The items of the list of what in-tree drivers get wrong

@test "A3: a client that says nothing is thrown out" { only Y special-silent; }

@test "the modules go while clients hold their connections, in each stage of the login, and say nothing" {
	local pid
	invalidating Y
	"$HOSTILE" 10.0.0.1 1234 /dev/ram0 /dev/slow special-silent 3>&- & pid=$!
	await 20 eval "compgen -G '/sys/class/rtrs-server/*/paths/*' >/dev/null"
	kill -STOP $pid
	objects_are rtrs_server_path 3
	timeout 20 rmmod rnbd-server rtrs-server
	kill -9 $pid
	! wait $pid || fail "it was through"
}

@test "A4: nothing but the answer is in an answer" { only Y rnbd-sess-info rnbd-open-reply; }

@test "A5: a header at the end of its chunk" { only Y request-chunk-end request-last-place; }

@test "A6: lengths of messages that are not so" { only Y request-usr-len request-long-message rnbd-short-messages; }

@test "A7: names without an end" { only Y info-unterminated rnbd-open-refused; }

@test "A8: I/O without the data that it tells of" { only Y io-lengths; }

@test "A9: writes to what is read-only, of all kinds" { only Y io-read-only access-read-only access-read-only-disk; }

@test "A12: a slot that is used twice" { only Y request-slot-twice; }

@test "A14: one disk under two names" { only Y rnbd-open-twice access-spellings; }

@test "A15: a session without a name, or with that of another" { only Y info-names info-name-taken info-name-of-session; }

@test "A16: nothing that is sent makes the kernel warn" { only Y request-heartbeats io-unknown-ops io-directions; }

@test "A18: empty messages take nobody's place" { only Y request-empty-sends request-all-slots; }

# Before it has named version 2, which has them, a client has none
@test "A21: priorities of all kinds" {
	if [[ -z $VIRTIO ]]; then
		# The debug kernel has no kprobes, but tells the priority of a request: without one it is that of who submits it
		null_disk prio size=16
		DISK=/dev/prio requests_to /dev/prio only Y io-priorities >/dev/null
		null_disk_gone prio
		sed -nE 's/.* (none|rt|be|idle),0,([0-7]) .*/\1 \2/p' /run/tmp/requests | uniq -c | xargs >/run/tmp/prios
		[ "$(</run/tmp/prios)" = "41 be 0 1 be 1 1 be 2 1 be 3 1 idle 4 1 idle 5 1 idle 6 1 idle 7 16 be 0" ]
		return
	fi
	prios_of submit_bio only Y io-priorities
	[ "$(uniq -c /run/tmp/prios | xargs)" = "36 0 5 4000 1 4001 1 4002 1 4003 1 6004 1 6005 1 6006 1 6007 16 0" ]
}

@test "B2: the id of a device that was closed by force leads nowhere" { only Y access-force-close; }

# The client itself has another path, or had one, or none. The log tells of each session once.
@test "E16: a connect request ends nothing, and joins nothing, of a client that is somewhere else" {
	only Y stranger-joins stranger-ends stranger-remembered
	dmesg_new | grep 'is not where its client is'
	[ "$(dmesg_new | grep -c 'ip:10.0.0.9 is not where its client is')" = 2 ]
	[ "$(dmesg_new | grep -c 'connection of ip:10.0.0.9 refused')" = 0 ]
}

@test "E12: a path that comes up when the last other one has gone makes no empty session" { only Y stranger-last-path; }

# Buffers of a session are 8 MiB here. 64 paths are as many as a host may begin and not end; a quarter of the account is less.
@test "E15: connect requests take no buffers, those of one host little of the account, and another host is served" {
	local limit pid
	ip addr add 10.0.0.2/24 dev dummy0
	for limit in 120 12; do
		unload rnbd-server rtrs-server
		load_server sess_queue_depth=64 max_memory=$limit
		"$HOSTILE" 10.0.0.1 1234 /dev/ram0 /dev/slow special-crowd 3>&- >/run/tmp/crowd & pid=$!
		await 60 grep -q . /run/tmp/crowd
		cat /run/tmp/crowd
		load_client
		! map_it second ip:10.0.0.1@ip:10.0.0.1 || fail "a host that begins so much is taken"
		await 20 map_it proper ip:10.0.0.2@ip:10.0.0.1
		kill -9 $pid
		ends_badly $pid
		echo normal >/sys/block/rnbd0/rnbd/unmap_device
		unload rnbd-client rtrs-client
		await 30 nobody_there
		case $limit in
		120) grep -qx "64 paths, then errno 87" /run/tmp/crowd ;;
		12) grep -qxE "[1-5]?[0-9] paths, then errno 87" /run/tmp/crowd ;;
		esac
	done
	unload rnbd-server rtrs-server
	ip addr del 10.0.0.2/24 dev dummy0
}

@test "E18: one disk under many names: no more openings than the administrator allows, which he may change" {
	local max=/sys/module/rnbd_server/parameters/max_devices
	invalidating Y
	[ "$(<$max)" -eq 512 ]
	for bad in 0 16385 x; do
		! echo $bad >$max || fail "$bad is taken"
	done
	echo 8 >$max
	only Y special-openings
	echo 512 >$max
}

# All the others

@test "connect requests" { group Y connect; }

@test "the INFO exchange" { group Y info; }

@test "requests of the transport, always_invalidate=Y" { group Y request; }

@test "lean paths, always_invalidate=Y" { group Y lean; }

@test "grants of slots, always_invalidate=Y" { group Y slots; }

@test "what a client writes to a chunk while the disk holds an eager request reaches no disk" {
	local pid
	invalidating Y
	dm_disk held "0 32768 linear /dev/ram0 0"
	dmsetup suspend --noudevsync --nolockfs held
	"$HOSTILE" 10.0.0.1 1234 /dev/dm-0 /dev/slow special-held 3>&- >/run/tmp/held & pid=$!
	await 20 grep -q written /run/tmp/held
	dmsetup resume --noudevsync held
	wait $pid || { cat /run/tmp/held; false; }
	await 20 nobody_there
	dmsetup remove --noudevsync held
}

@test "control messages of RNBD" { group Y rnbd; }

@test "I/O, always_invalidate=Y" { group Y io; }

@test "random bytes, always_invalidate=Y" { group Y random; }

# Other clients than ours send a write and the flush before it in one. WF in the trace is a write with FUA.
@test "B12: PREFLUSH and FUA of a write reach the device, each by itself" {
	local before
	invalidating Y
	null_disk cached size=16 cache_size=4
	before=$(awk '{ print $16 }' /sys/block/cached/stat)
	requests_to /dev/cached timeout -k 5 60 "$HOSTILE" 10.0.0.1 1234 /dev/cached /dev/slow special-flushes
	[ "$(($(awk '{ print $16 }' /sys/block/cached/stat) - before))" -eq 16 ]
	[ "$(grep -c ' WFS\? ' /run/tmp/requests)" -eq 18 ]
	[ "$(grep -c ' WS\? ' /run/tmp/requests)" -eq 14 ]
	await 30 nobody_there
	null_disk_gone cached
}

@test "E8: a discard that is longer than the server has told is refused, not cut into thousands" {
	invalidating Y
	null_disk short size=16 discard=1
	echo 65536 >/sys/block/short/queue/discard_max_bytes
	DISK=/dev/short hostile special-long-discard
	await 30 nobody_there
	null_disk_gone short
}

@test "F9: a flush that the server has not caused is told once, with its connection" {
	only Y request-bad-chunk
	dmesg_new
	(($(dmesg_new | grep -c 'receive on connection 1: WR flushed') == 2 && $(dmesg_new | grep -c ' on connection ') == 2))
}

# What the crowd of the test below began, also where that failed
crowd_end() {
	((${#CROWD[@]})) || return 0
	dmsetup resume --noudevsync hung
	kill -CONT "${CROWD[0]}"
	kill "${CROWD[@]}"
	wait "${CROWD[@]}" || :
	CROWD=()
	echo normal >/sys/block/rnbd0/rnbd/unmap_device
	unload rnbd-client rtrs-client
	await 20 nobody_there
	losetup -d /dev/loop0
	dmsetup remove --noudevsync hung
	null_disk_gone deep
	null_disk_gone cached
}

# What writes and flushes of the proper client took: there are N of them; those behind the first N
writes_done() { (($(wc -l </run/tmp/times) >= $1)); }
times_from() { tail -n +$(($1 + 1)) /run/tmp/times; }

# A host that is busy with something else makes some of them longer by far, never most: the lower quartile does not see that
quartile() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 3) / 4)] }'; }

proper_paths() {
	local dir=/sys/class/rtrs-client/proper/paths
	[[ $(<"$dir/ip:10.0.0.1@ip:10.0.0.1/state") == connected && $(<"$dir/ip:fd00::1@ip:fd00::1/state") == connected ]]
}

# measure NAME: NAME gets three times of the proper client, in microseconds: of a write with its flush, of the longest of them
# while the server ends one of two paths, and of a path that is disconnected and connected again
measure() {
	local n t0 failover='' connect='' path=ip:10.0.0.1@ip:10.0.0.1
	local -n us=$1
	kill -CONT "${CROWD[0]}"
	n=$(wc -l </run/tmp/times)
	await 20 writes_done $((n + 40))
	us=("$(times_from "$n" | quartile)")
	for _ in 1 2; do
		n=$(wc -l </run/tmp/times)
		echo 1 >"/sys/class/rtrs-server/proper/paths/$path/disconnect"
		await 20 writes_done $((n + 4))
		await 20 proper_paths
		failover+=$(times_from "$n" | sort -n | tail -n 1)$'\n'
		t0=${EPOCHREALTIME/./}
		echo 1 >"/sys/class/rtrs-client/proper/paths/$path/disconnect"
		echo 1 >"/sys/class/rtrs-client/proper/paths/$path/reconnect"
		await 20 proper_paths
		connect+=$((${EPOCHREALTIME/./} - t0))$'\n'
	done
	kill -STOP "${CROWD[0]}"
	us+=("$(printf %s "$failover" | quartile)" "$(printf %s "$connect" | quartile)")
	echo "# $1: a write and its flush ${us[0]} us, fail-over ${us[1]} us, a path lost and connected again ${us[2]} us" >&3
}

# as_alone NAME: measures, and none is more than half as much again as without the crowd. What is less than that by so much as
# the host takes from a guest at once, or an "await" rests, is no time of the modules. A host that is busy with something else
# for some seconds is given time: what the crowd holds up it holds up each time.
as_alone() {
	local i
	for _ in {1..5}; do
		measure "$1"
		local -n now=$1
		for i in 0 1 2; do
			((now[i] * 2 <= alone[i] * 3 || now[i] <= alone[i] + (i ? 50000 : 10000))) || continue 2
		done
		return
	done
	fail "$1: ${now[*]} us, alone ${alone[*]} us"
}

# Who waits until the disk takes a request
submitters() { grep -l blk_mq_get_tag /proc/[0-9]*/stack 2>/dev/null | wc -l; }

few_submitters() { [[ $(submitters) == [1-4] ]]; } # RNBD_SERVER_WORKERS

no_session() { ! compgen -G "/sys/class/rtrs-server/$1" >/dev/null; }

# More openings than a work queue of Linux has workers, 512. Their disk keeps those waiting who submit requests to it.
@test "E8: 600 openings of a disk that hangs, and their paths when they are lost, hold up no client of another disk" {
	local alone beside behind
	unload rnbd-server rtrs-server
	load_server sess_queue_depth=32 heartbeat_interval_ms=60000
	load_client
	null_disk cached size=16 cache_size=4 # one that has to be flushed
	echo "sessname=proper path=ip:10.0.0.1 path=ip:fd00::1 device_path=/dev/cached" >/sys/class/rnbd-client/ctl/map_device
	echo 100 >/sys/class/rtrs-client/proper/reconnect_delay_ms
	null_disk deep size=16
	dm_disk hung "0 32768 linear /dev/deep 0"
	modprobe loop hw_queue_depth=16
	losetup /dev/loop0 /dev/dm-0
	: >/run/tmp/times
	"$ROOT/build/tools/sync-times" /dev/rnbd0 /run/tmp/times 3>&- & CROWD=($!)
	measure alone
	dmsetup suspend --noudevsync --nolockfs hung
	PATHS=20 OPENINGS=30 "$HOSTILE" 10.0.0.1 1234 /dev/loop0 /dev/slow special-hang 3>&- >/run/tmp/crowd & CROWD+=($!)
	await 60 grep -q . /run/tmp/crowd
	cat /run/tmp/crowd
	await 20 objects_are rnbd_server_dev 601
	await 20 few_submitters
	as_alone beside
	kill "${CROWD[1]}"
	unset 'CROWD[1]'
	await 20 no_session 'hostile-*'
	as_alone behind
	objects_are rnbd_server_dev 601
	objects_are rtrs_server_path 22
	crowd_end
}

@test "a proper client after all that" { proper_client; }

@test "requests of the transport, always_invalidate=N" { group N request; }

@test "lean paths, always_invalidate=N" { group N lean; }

@test "grants of slots, always_invalidate=N" { group N slots; }

@test "I/O, always_invalidate=N" { group N io; }

@test "C2: answers that wait for others, which their peer does not take, go when it goes" {
	local pid
	invalidating N
	"$HOSTILE" 10.0.0.1 1234 /dev/ram0 /dev/slow special-deaf 3>&- & pid=$!
	await 20 adm_is '[.paths[].counters.inflight] == [32]' server path list --stats
	kill -9 $pid
	ends_badly $pid
	await 20 nobody_there
}

@test "random bytes, always_invalidate=N" { group N random; }

@test "A9, A14, always_invalidate=N" { group N access; }

@test "a proper client beside a hostile one" {
	local pid rc=0
	hostile random-bytes &
	pid=$!
	proper_client || rc=$?
	wait "$pid"
	[ "$rc" -eq 0 ]
}
