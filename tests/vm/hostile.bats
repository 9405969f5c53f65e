#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A peer in user space (tests/fuzz/hostile) that does everything wrong, against our server, in both of its modes. After each
# test the kernel must have nothing to say, and the server must be there for a proper client.
# lab: on debug: what a peer can break is seen by KASAN first
# lab: make tests/fuzz/hostile
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031

setup_file() {
	. "$ROOT/tests/vm/hostile.bash"
	net_up 1
	ram_disk 16
	setup_slow
}

setup() { . "$ROOT/tests/vm/hostile.bash"; }

teardown() { dmesg_clean; }

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

# All the others

@test "connect requests" { group Y connect; }

@test "the INFO exchange" { group Y info; }

@test "requests of the transport, always_invalidate=Y" { group Y request; }

@test "lean paths, always_invalidate=Y" { group Y lean; }

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

@test "a proper client after all that" { proper_client; }

@test "requests of the transport, always_invalidate=N" { group N request; }

@test "lean paths, always_invalidate=N" { group N lean; }

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
