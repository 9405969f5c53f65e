#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A device grows while a client with the in-tree modules has it open beside one with ours: ours is told, the other one hears nothing
# and goes on. Ours runs in the server's guest.
# lab: on 6.1: in-tree clients need more than one slow CPU
# lab: debug kernel no: in-tree clients fail I/O of their own on one slow CPU
# lab: two guests
# lab: cpus 1
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

DISK=/dev/rnbd0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	on_server "loop_disk 16 && load_server dev_search_path=/dev && load_client &&
		$ADM map loop0 --session ours --path 10.1.0.1 --access ro"
	load_peer_client
	map_line "sessname=theirs path=ip:10.1.0.1 device_path=loop0"
	await 20 test -b $DISK
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	echo force >/sys/block/rnbd0/rnbd/unmap_device
	unload_all
	on_server "$ADM unmap --all --force && unload_all"
}

bytes() { blockdev --getsize64 $DISK; }

is_open() { [[ $(</sys/block/rnbd0/rnbd/state) == open ]]; }
closed() { ! is_open; }

# It would try again in 30 s by itself
reconnect() { echo 1 >"$(echo /sys/class/rtrs-client/theirs/paths/*)/reconnect"; }

verify() {
	fio --name=v --filename=$DISK --rw=randwrite --bs=4k --size=2m --offset="$1" --verify=crc32c --verify_fatal=1 --direct=1 \
		--ioengine=libaio --iodepth=8 --minimal "${@:2}"
}

@test "ours is told and resizes, theirs is listed as not reached and keeps its size, under load" {
	verify 0 --loops=1000 --runtime=20 3>&- & # with --time_based it would verify nothing
	local load=$!
	await 20 io_done rnbd0 200
	on_server "truncate -s 24M $(on_server losetup -nO BACK-FILE /dev/loop0) && losetup -c /dev/loop0"
	dmesg_mark
	run on_server "$ADM server export revalidate loop0 -j 2>/dev/null"
	[ "$status" -eq 3 ]
	[ "$(jq -c '[.changed, .old_size_bytes, .new_size_bytes, (.clients | map([.session, .result, .new_size_bytes]))]' <<<"$output")" = \
		'[true,16777216,25165824,[["ours","told",25165824],["theirs","not-reached",16777216]]]' ] || fail "$output"
	[ "$(jq -r '.clients[1].error | .code + ": " + .hint' <<<"$output")" = "unsupported: use 'resize' on the client" ]
	on_server "await 10 eval 'test \$(blockdev --getsize64 /dev/rnbd0) = 25165824'"
	on_server "echo 1 >/sys/class/rnbd-server/ctl/devices/loop0/revalidate"
	on_server "await 10 eval 'dmesg | grep -q \"session theirs cannot be told\"'"
	wait $load
	[ "$(bytes)" -eq 16777216 ]
	[ "$(</sys/block/rnbd0/rnbd/state)" = open ]
	run ! grep -E 'rtrs|rnbd' <(dmesg_new)
	run on_server "$ADM server client list -j"
	[ "$(jq -c '[.clients[] | [.name, .state]]' <<<"$output")" = '[["ours","connected"],["theirs","connected"]]' ]
}

@test "resized by hand, the new part of the disk is there" {
	echo $((24 << 11)) >/sys/block/rnbd0/rnbd/resize
	[ "$(bytes)" -eq 25165824 ]
	verify 21m
}

@test "a drained port: theirs goes, is refused, and is back when it is over" {
	run on_server "$ADM server port drain rxe1:1"
	[ "$status" -eq 7 ]
	on_server "$ADM server port drain rxe1:1 --force"
	run on_server "$ADM server port list -j"
	[ "$(jq -c '[.ports[0] | .state, .paths]' <<<"$output")" = '["drained",0]' ]
	await 20 closed
	! reconnect || fail "it is connected again"
	on_server "dmesg | grep 'refused: -EHOSTDOWN'"
	on_server "$ADM server port undrain rxe1:1"
	await 20 reconnect
	await 10 is_open
	verify 0
}

