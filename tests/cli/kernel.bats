#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Recordings of a real kernel (6.1, Soft-RoCE), made with --nl-record: rec/kernel-*.nl.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

# real NAME: the next command sees this recording
real() { R=(--nl-replay "$CLI/rec/kernel-$1.nl" --test-time "$TIME" --test-root "$REC/bare"); }

@test "lists" {
	for c in "session list --stats" "path list" "device list" "stats"; do
		name=${c%% *}
		real "$name"
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid_any
		golden "kernel-$name.json"
	done
}

@test "map: the request is the same today" {
	real map
	adm 0 map /dev/ram0 --session demo --path ip:10.0.0.1 --no-wait
	[ "$output" = /dev/rnbd0 ]
}

@test "every prefix of a recording ends in an answer or an error" {
	want=$(stat -c %s "$CLI/rec/kernel-session.nl")
	for ((n = 0; n < want; n += 53)); do
		head -c "$n" "$CLI/rec/kernel-session.nl" >"$BATS_TEST_TMPDIR/cut.nl"
		run --separate-stderr "$RNBDADM" --nl-replay "$BATS_TEST_TMPDIR/cut.nl" session list --stats -j
		echo "$n: $status $stderr"
		[ "$status" = 1 ]
		valid_any
	done
}

@test "the documents of these tests are valid" { all_valid; }
