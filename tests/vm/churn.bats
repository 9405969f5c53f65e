#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths of a session are removed and added, disconnected and reconnected for a minute under each policy, while I/O with verify
# runs and statistics are read and reset: no error, no wrong byte, nothing left (CVE-2021-47026 was found like that).
# lab: timeout 600
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

MINUTE=60

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 3
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

# The server may still be at the last one of these addresses
add() { echo "$1" >$SYS/add_path; }

# Until the end of I/O: path N goes and comes, by all ways; one is always left
churn_path() {
	local dir=("$SYS"/paths/ip:10.0."$1".1@*)
	while kill -0 "$FIO" 2>/dev/null; do
		echo 1 >"$dir/disconnect"
		echo 1 >"$dir/reconnect" || :
		echo 1 >"$dir/remove_path"
		await 20 add "ip:10.0.$1.1"
		echo round
	done 2>/dev/null
}

look() {
	local file
	while kill -0 "$FIO" 2>/dev/null; do
		for file in "$SYS"/paths/*/stats/*; do cat "$file"; done
		for file in "$SYS"/paths/*/stats/reset_all; do echo 1 >"$file"; done
		"$ADM" stats -j
	done >/dev/null 2>&1
}

churn() {
	local rounds
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1 --path ip:10.0.2.1 --mp-policy "$1"
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=32 --rw=randrw --bs=4k --size=16m \
		--verify=crc32c --verify_fatal=1 --time_based --runtime=$MINUTE --output=/tmp/fio.out &
	FIO=$!
	await 30 io_done rnbd0 50
	churn_path 1 >/tmp/rounds.1 &
	churn_path 2 >/tmp/rounds.2 &
	look &
	wait "$FIO" || { cat /tmp/fio.out; fail "fio"; }
	wait
	rounds=$(cat /tmp/rounds.1 /tmp/rounds.2 | wc -l)
	echo "# $1: paths went and came $rounds times" >&3
	((rounds >= 4))
	cmp -n 16777216 /dev/rnbd0 /dev/ram0
	"$ADM" unmap rnbd0
	census_clean
}

@test "round-robin" { churn round-robin; }

@test "min-inflight" { churn min-inflight; }

@test "min-latency" { churn min-latency; }
