#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths of three sessions, one for each policy, are removed and added, disconnected and reconnected for a minute, while I/O with
# verify runs and statistics are read and reset: no error, no wrong byte, nothing left (CVE-2021-47026 was found like that).
# lab: on 6.1: paths come and go on CPUs that run at once
# lab: two guests
# lab: links 3
# lab: timeout 600
# lab: parallel
# lab: no sanitizers: its minute is for changes
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	on_server "ram_disk 16 3 && load_server sess_queue_depth=128"
	on_server 'for n in 0 1 2; do dd if=/dev/zero of=/dev/ram$n bs=1M oflag=direct count=16 status=none || break; done'
	load_client
	# What modules and RDMA devices keep from then on is not of the paths that come and go
	three_sessions && unmap_all && on_server census_clean && memory_before
}

setup() {
	. "$ROOT/tests/vm/disk.bash"
}

teardown() {
	touch /run/tmp/stop
	"$ADM" unmap --all --force || :
}

# The three sessions take 48 MiB, all the paths that come and go more than that
teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back 40
}

# /dev/rnbd0 to 2, each of a session that has the name of its policy
three_sessions() {
	local policy n=0
	for policy in round-robin min-inflight min-latency; do
		"$ADM" map /dev/ram$n --session $policy --path ip:10.1.0.1 --path ip:10.2.0.1 --path ip:10.3.0.1 --mp-policy $policy || return
		n=$((n + 1))
	done
}

# The server may still be at the last one of these addresses
add() { echo "$2" >"/sys/class/rtrs-client/$1/add_path"; } 2>/dev/null

# Until the end of I/O: path N of the session goes and comes, by all ways; one is always left
churn_path() {
	local dir=("/sys/class/rtrs-client/$1/paths/ip:10.$2.0.2@"*)
	while kill -0 "$3" 2>/dev/null; do
		echo 1 >"$dir/disconnect" || return
		# The server may still be at the last connections
		{ echo 1 >"$dir/reconnect" || :; } 2>/dev/null
		echo 1 >"$dir/remove_path" || return
		await 20 add "$1" "ip:10.$2.0.1" || return
		echo round
	done
}

# Files may go while they are looked at; the tool must not mind
look() {
	local file
	while [[ ! -e /run/tmp/stop ]]; do
		for file in /sys/class/rtrs-client/*/paths/*/stats/*; do cat "$file" || :; done
		for file in /sys/class/rtrs-client/*/paths/*/stats/reset_all; do echo 1 >"$file" || :; done
		"$ADM" stats -j >/run/tmp/stats 2>>/run/tmp/stats-failed || echo "exit status $?" >>/run/tmp/stats-failed
	done >/dev/null 2>&1
}

# churn POLICY DISK BACKING: in a session of the policy's name
churn() {
	local out=/run/tmp/$1 fio pids=() n rounds=()
	fio --name=v --filename="$2" --direct=1 --ioengine=libaio --iodepth=32 --rw=randrw --bs=4k --size=4m --thinktime=20ms \
		--thinktime_blocks=64 --verify=crc32c --verify_fatal=1 --loops=1000000 --runtime="$(lasting 60)" --output="$out.fio" & fio=$!
	await 30 io_done "${2#/dev/}" 50 || return
	for n in 2 3; do
		churn_path "$1" $n $fio >"$out.$n" & pids+=($!)
	done
	wait $fio || { fail "$(<"$out.fio")"; return 1; }
	for n in 2 3; do
		wait "${pids[n - 2]}" || { fail "$1: path $n did not go or come"; return 1; }
		rounds+=("$(wc -l <"$out.$n")")
	done
	echo "# $1: paths went and came ${rounds[0]} and ${rounds[1]} times" >&3
	((rounds[0] >= 10 / ${LAB_SLOW:-1} && rounds[1] >= 10 / ${LAB_SLOW:-1})) || { fail "too few"; return 1; }
	[[ $(sum "$2") == "$(on_server ". $ROOT/tests/vm/disk.bash && sum $3")" ]] || fail "$2 is not $3"
}

both_dmesg() { on_server dmesg && dmesg; }

@test "round-robin, min-inflight, min-latency" {
	local policy n=0 pid pids=() lost standing silent
	three_sessions
	for policy in round-robin min-inflight min-latency; do
		churn $policy /dev/rnbd$n /dev/ram$n & pids+=($!)
		n=$((n + 1))
	done
	look &
	for pid in "${pids[@]}"; do wait "$pid"; done
	touch /run/tmp/stop
	wait
	[[ ! -s /run/tmp/stats-failed ]] || fail "stats: $(</run/tmp/stats-failed)"
	document "$(</run/tmp/stats)"
	# What came by a path that is gone was never taken for a living one's. But Soft-RoCE that sends a registration again may leave
	# its queue pair standing; either end finds that its connection is silent.
	lost=$(dmesg_new | grep -c 'path ip:10.1.0.2@ip:10.1.0.1: lost') || :
	standing=$(both_dmesg | grep -c 'rxe_reg_fast_mr: .* not free') || :
	silent=$(both_dmesg | grep -c 'path ip:10.1.0.2@ip:10.1.0.1: connection [0-9]* is silent') || :
	((lost <= standing && lost <= silent)) || fail "paths that nobody touched were lost $lost times"
	"$ADM" unmap --all
	census_clean && on_server census_clean
}
