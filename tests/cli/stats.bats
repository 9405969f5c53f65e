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

@test "totals: text, JSON, CSV" {
	adm 0 stats
	golden stats.txt
	adm 0 stats -j
	valid rnbdadm.stats/1
	golden stats.json
	adm 0 stats -o csv
	golden stats.csv
}

@test "a line of totals on a terminal or with --totals" {
	adm 0 stats --totals
	golden stats-totals.txt
	run -0 script -qec "stty cols 120; $(printf '%q ' "$PLAIN" "${R[@]}" stats --color=never)" /dev/null
	[[ $output == *" total "*"123 538 003"* ]]
	run -0 script -qec "$(printf '%q ' "$PLAIN" "${R[@]}" stats --no-totals)" /dev/null
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
	fails 4 not_found stats cl1@srv1 10.7.7.7
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

@test "--server asks for the other role" {
	replay server
	adm 0 stats --server -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].counters.read_ios')" = 5 ]
	replay absent
	fails 8 unavailable stats --server
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
	replay reset-all
	adm 0 stats reset --all -y
}

@test "reset --all asks: 12 without an answer" {
	replay reset-all
	fails 12 declined stats reset --all
	[[ $stderr == *-y* ]]
	run -12 script -qec "$(printf '%q ' "$PLAIN" "${R[@]}" stats reset --all)" /dev/null <<<no
	run -0 script -qec "$(printf '%q ' "$PLAIN" "${R[@]}" stats reset --all)" /dev/null <<<yes
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

@test "the documents of these tests are valid" { all_valid; }
