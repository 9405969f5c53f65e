#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# stats and stats reset.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	replay two-sessions
}

@test "a line of totals with --totals, on a terminal as elsewhere" {
	adm 0 stats --totals
	golden stats-totals.txt
	run -0 script -qec "$(printf '%q ' "$PLAIN" "${R[@]}" stats)" /dev/null
	[[ $output != *" total "* ]]
}

@test "one session, one path, the session of a device" {
	adm 0 stats cl1@srv2 --brief
	[ "$output" = ip:10.0.0.1@ip:10.0.0.3 ]
	adm 0 stats cl1@srv1 10.0.1.2 --brief
	[ "$output" = ip:10.0.1.1@ip:10.0.1.2 ]
	adm 0 stats rnbd2 --brief
	[ "$output" = ip:10.0.0.1@ip:10.0.0.3 ]
	adm 0 stats /dev/rnbd1 --brief
	[ "${#lines[@]}" = 2 ]
	fails 4 not_found stats cl1@srv3
	[[ $stderr == *"did you mean cl1@srv1"* ]]
	for w in "rnbd9 rnbd0" "rest reset" "latncy latency" "vol9 vol0"; do
		fails 4 not_found stats "${w% *}"
		[[ $stderr == *": no such session or device"*"hint: did you mean "*"${w#* }"* ]]
	done
	# what is no word behind these
	for w in "reset rest" "latency latency" "rest 10.0.0.2"; do
		# shellcheck disable=SC2086
		fails 4 not_found stats $w
		[[ $stderr == *": no such session or device"*"hint: rnbdadm status lists all objects"* ]]
	done
	fails 4 not_found stats --role server rnbd9
	[[ $stderr == *": no such client"*"hint: rnbdadm server client list"* ]]
	fails 4 not_found stats cl1@srv1 10.7.7.7
	adm 0 stats cl1@srv1 id:2 --brief
	[ "$output" = ip:10.0.1.1@ip:10.0.1.2 ]
	for hca in mlx5_1 mlx5_1:1; do
		adm 0 stats cl1@srv1 --hca $hca --brief
		[ "$output" = ip:10.0.1.1@ip:10.0.1.2 ]
	done
	fails 4 not_found stats cl1@srv1 --hca mlx5_1:2
	fails 2 usage stats --hca mlx5_1
	fails 2 usage stats cl1@srv1 --hca mlx5_1 --by device
	fails 2 usage stats cl1@srv1 bird
	fails 2 usage stats 1
	fails 2 usage stats a b c
}

@test "--per-cpu" {
	adm 0 stats --per-cpu
	golden stats-cpu.txt
	adm 0 stats --per-cpu -o csv
	golden stats-cpu.csv
	adm 0 stats --per-cpu -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].per_cpu[1].migrations_to')" = 12 ]
	adm 0 stats --per-cpu=active
	golden stats-cpu.txt
	fails 2 usage stats --per-cpu=all
}

@test "-i: totals, what was added, and a reset in between" {
	replay series
	adm 0 stats -i 10ms -c 3 -j
	[ "${#lines[@]}" = 3 ]
	all=("${lines[@]}")
	for line in "${all[@]}"; do
		output=$line
		valid rnbdadm.stats/1
	done
	output=${all[0]}
	[ "$(jqv '.interval_ns == null')" = true ]
	[ "$(jqv '.stats[0].counters.read_ios')" = 123456789 ]
	output=${all[1]}
	[ "$(jqv '.stats[0].counters | [.read_ios, .read_bytes, .write_ios, .inflight] | join(" ")')" = "100 409600 50 31" ]
	[ "$(jqv '.interval_ns > 9000000')" = true ]
	[ "$(jqv '.reset | not')" = true ]
	output=${all[2]}
	[ "$(jqv .reset)" = true ]
	[ "$(jqv '.stats[0].counters.read_ios == null')" = true ]
}

@test "-i: a program that was stopped makes up for nothing" {
	local out=$BATS_TEST_TMPDIR/out pid
	replay series
	"$PLAIN" "${R[@]}" stats -i 300ms -c 3 -j >"$out" 3>&- &
	pid=$!
	until [[ -s $out ]]; do sleep 0.02; done
	kill -STOP $pid
	sleep 1
	kill -CONT $pid
	wait $pid
	output=$(<"$out")
	valid any
	[ "$(jq -s '[.[1:][].interval_ns] | length == 2 and max >= 1000000000 and min >= 290000000' "$out")" = true ]
}

@test "-i in text and CSV; --skip-first; --rate" {
	replay series
	adm 0 stats -i 10ms -c 2
	[ "$(grep -c SESSION <<<"$output")" = 2 ]
	adm 0 stats -i 10ms -c 2 -o csv
	[ "$(grep -c session <<<"$output")" = 1 ]
	[ "${#lines[@]}" = 7 ]
	adm 0 stats -i 100ms -c 1 --skip-first --rate -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].rates.read_ios_per_second | . > 100 and . <= 1000')" = true ]
	adm 0 stats -i 100ms -c 1 --skip-first --rate
	[[ ${lines[1]} == *IOPS*MiB/s*IOPS*MiB/s*INFL* ]]
}

@test "--rate alone measures the next second and is one document" {
	replay series
	adm 0 stats --rate -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].rates.read_ios_per_second | . > 30 and . <= 100')" = true ]
}

@test "-c and --skip-first need -i; -i has a lower bound" {
	fails 2 usage stats -c 3
	fails 2 usage stats --skip-first
	fails 2 usage stats -i 0
	fails 2 usage stats -i 1 -c 0
	fails 2 usage stats -i often
}

@test "a recording that ends: the samples so far, then the failure" {
	replay series
	adm 1 stats -i 10ms -c 9 -j
	[ "${#lines[@]}" = 4 ]
	output=${lines[3]}
	valid rnbdadm.stats/1
	[ "$(jqv .error.code)" = failed ]
}

@test "--role server asks for the other end" {
	replay server
	adm 0 stats --role server -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].counters.read_ios')" = 5 ]
	replay absent
	fails 8 unavailable stats --role server
	[[ $stderr == *rnbd_server* ]]
}

@test "a stream ends well when its reader goes away" {
	replay series
	run -0 --separate-stderr bash -c '"$@" | head -1; exit ${PIPESTATUS[0]}' _ "$PLAIN" "${R[@]}" stats -i 100ms -c 3
	[ -z "$stderr" ]
}

@test "reset: a session, a path, all" {
	replay reset-session
	adm 0 stats reset cl1@srv1
	[ -z "$output$stderr" ]
	adm 0 stats reset cl1@srv1 -j
	valid rnbdadm.stats-reset/1
	golden stats-reset.json
	replay reset-path
	adm 0 stats reset cl1@srv1 10.0.1.2 -v
	[[ $stderr == *"1 path "* ]]
	adm 0 stats reset cl1@srv1 --hca mlx5_1 -v
	[[ $stderr == *"1 path "* ]]
	adm 0 stats reset cl1@srv1 --hca mlx5_1 -n
	[ "$output" = "rnbdadm stats reset cl1@srv1 --hca=mlx5_1" ]
	replay reset-all
	adm 0 stats reset --all
}

@test "reset: nothing named, too much named, dry run, refused" {
	fails 2 usage stats reset
	fails 2 usage stats reset cl1@srv1 --all
	fails 4 not_found stats reset cl1@srv7
	adm 0 stats reset cl1@srv1 -n
	[ "$output" = "rnbdadm stats reset cl1@srv1" ]
	adm 0 stats reset --all -n -j
	valid rnbdadm.stats-reset/1
	[ "$(jqv '.plan[0] | join(" ")')" = "stats reset --all" ]
	replay reset-denied
	fails 5 permission stats reset cl1@srv1
}

@test "--by session and hca: sums" {
	adm 0 stats --by session
	golden stats-session.txt
	adm 0 stats --by session --per-cpu --latency -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0] | [.object, .name, .counters.read_ios, .counters.reconnects_failed, .polling.polls] | join(" ")')" = "session cl1@srv1 123537993 7 1400000" ]
	[ "$(jqv '.stats[0].hca == null and .stats[0].heartbeat_latency_ns == null')" = true ]
	adm 0 stats --by hca -j
	valid rnbdadm.stats/1
	[ "$(jqv '[.stats[].session] | tojson')" = '[null,null]' ]
	adm 0 stats --by hca -o csv -F name,session
	[ "${lines[1]}" = mlx5_0:1, ]
	adm 0 stats --by hca -o csv -F name,read_ios
	[ "$output" = "name,read_ios
mlx5_0:1,123456799
mlx5_1:1,81204" ]
	adm 0 stats --by hca --per-cpu -o csv -F cpu,read_ios
	[ "$output" = "cpu,read_ios
0,7716049
3,115740740
1,10" ]
	fails 2 usage stats --by bird
}

@test "--by device: what the block layer counts, of all, a session, a device" {
	adm 0 stats --by device
	golden stats-device.txt
	adm 0 stats --by device -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[1] | [.object, .name, .session, .counters.read_bytes, .counters.inflight, .hca, .polling.polls] | join(" ")')" = "device rnbd1 cl1@srv1 40960 3  " ]
	adm 0 stats cl1@srv1 --by device --brief
	[ "$output" = "rnbd0
rnbd1" ]
	adm 0 stats /dev/rnbd2 --by device -o csv -F name,write_ios
	[ "$output" = "name,write_ios
rnbd2,20" ]
	replay two-sessions bare
	adm 0 stats rnbd0 --by device -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].counters.read_ios == null')" = true ]
	fails 4 not_found stats rnbd7 --by device
	fails 2 usage stats cl1@srv1 10.0.0.2 --by device
	for how in --per-cpu --latency "--role server"; do
		# shellcheck disable=SC2086
		fails 2 usage stats --by device $how
	done
}

@test "what the block layer counts, at its ends, cut and garbled" {
	grown "18446744073709551615 0 36028797018963969 9223372036854775807 9007199254740993 0 18014398509481983 0 4294967295 0 0"
	for how in "stats --by device" "device list --stats"; do
		# shellcheck disable=SC2086
		adm 0 $how -j
		valid_any
		jqv '[.. | numbers | . >= 0] | all'
	done
	[ "$(jqv '.devices[0].counters | [.read_ios, .read_bytes, .write_ios, .write_bytes, .inflight] | tojson')" = \
		"[null,null,9007199254740993,9223372036854775296,4294967295]" ]
	for text in "1 2 3" "" "birds" "1 2 3 4 5 6 7 8 x"; do
		printf '%s\n' "$text" >"$BATS_TEST_TMPDIR/root/sys/block/rnbd0/stat"
		adm 0 stats --by device -j
		valid rnbdadm.stats/1
		[ "$(jqv '.stats[0].counters | [.read_ios, .inflight] | tojson')" = "[null,null]" ]
	done
}

@test "CPUs of a path in more than one message" {
	replay parts
	adm 0 stats --per-cpu
	golden stats-cpu.txt
}

@test "counters at 0, 2^53+1, 2^63-1, 2^63 and U64_MAX in every form" {
	local how
	replay extreme
	for how in "stats --per-cpu --latency" "stats --by session --latency" "stats --by hca --per-cpu" "stats latency"; do
		# shellcheck disable=SC2086
		adm 0 $how -j
		valid_any
		jqv '[.. | numbers | . >= 0] | all'
	done
	adm 0 stats --latency -j
	[[ $output == *'"le_ns":1048576,"read":9007199254740993,'*'"read":9223372036854775807,'*'"read":null,'* ]]
	adm 0 stats latency
	adm 0 stats -o prom
	prom
	[[ $output == *" 9007199254740993"* && $output == *" 9223372036854775807"* && $output != *922337203685477580[8-9]* && $output != *1844674407370955161* ]]
}

@test "reset --only: groups, and what is none" {
	replay reset-only
	adm 0 stats reset cl1@srv1 --counters latency,sg,reconnects
	adm 0 stats reset cl1@srv1 --counters latency,sg -n
	[ "$output" = "rnbdadm stats reset cl1@srv1 --counters latency,sg" ]
	# what the recording has is another set
	adm 1 stats reset cl1@srv1 --counters latency
	fails 2 usage stats reset cl1@srv1 --counters latency,birds
	fails 2 usage stats reset cl1@srv1 --counters ,
}

@test "the documents of these tests are valid" { all_valid; }
