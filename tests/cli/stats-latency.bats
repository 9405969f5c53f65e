#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# stats --latency, stats latency: distributions.
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

@test "--latency: of paths and of CPUs; unknown where the modules do not count them" {
	adm 0 stats --latency -j
	valid rnbdadm.stats/1
	golden stats-latency-paths.json
	[ "$(jqv '[.stats[].latency == null] | tojson')" = "[false,false,true]" ]
	[ "$(jqv '.stats[1].latency.buckets | tojson')" = "[]" ]
	adm 0 stats --latency
	golden stats-latency-table.txt
	adm 0 stats --latency --per-cpu -o csv
	golden stats-latency-cpu.csv
	adm 0 stats --per-cpu --latency -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats[0].per_cpu[1] | [.inflight, .polling.completions_max, .latency.max_read_ns] | join(" ")')" = "30 16 3104112" ]
}

@test "distributions of an interval; a longest one that did not change is not of it" {
	replay distributions
	adm 0 stats -i 10ms -c 2 --latency -j
	output=${lines[1]}
	valid rnbdadm.stats/1
	[[ $output == *'"latency":{"unit":"ns","clock":"submit-to-complete","buckets":[{"le_ns":32768,"read":5,"write":0},{"le_ns":4194304,"read":1,"write":0}],"max_read_ns":4000000,"max_write_ns":null}'* ]]
	[[ $output == *'"polling":{"completions":12,"polls":6,"completions_max":null}'* ]]
	[ "$(jqv '.reset | not')" = true ]
}

@test "latency as a plot: ASCII and UTF-8, 80 and 200 columns, linear and logarithmic" {
	local width
	for width in 80 200; do
		run -0 script -qec "stty cols $width; $(printf '%q ' "$PLAIN" "${R[@]}" stats latency)" /dev/null
		output=${output//$'\r'/}
		golden latency-$width.txt
		[ "$(wc -L <<<"$output")" -le $width ]
		LC_ALL=C.UTF-8 run -0 script -qec "stty cols $width; $(printf '%q ' "$PLAIN" "${R[@]}" stats latency cl1@srv1 --log)" /dev/null
		output=${output//$'\r'/}
		golden latency-$width-utf8.txt
		[ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" -le $width ]
	done
	# no room for bars
	run -0 script -qec "stty cols 30; $(printf '%q ' "$PLAIN" "${R[@]}" stats latency cl1@srv1)" /dev/null
	[[ $output != *'#'* && $output == *402311* ]]
}

@test "latency as JSON and CSV, quantiles; where nothing is counted: 9" {
	adm 0 stats latency -j
	[ "$(jqv '.sessions[0] | [.read_ios, .read_p50_ns, .read_p99_ns, .write_p99_ns, .read_max_ns] | join(" ")')" = "1487736 43673 121401 187267 3104112" ]
	[ "$(jqv '.sessions[1].read_p50_ns == null')" = true ]
	adm 0 stats latency -o csv -F session,read_ios,write_p999_ns
	[ "${lines[1]}" = "cl1@srv1,1487736,255161" ]
	# the distribution is in JSON alone
	adm 0 stats latency -o csv
	[[ $output != *buckets* && ${lines[1]} == *,5220198 ]]
	adm 0 stats latency -F session,buckets,write_ios --no-headers
	[[ ${lines[0]} =~ ^cl1@srv1\ +537162$ ]]
	adm 0 stats latency -F session,buckets -j
	jqv '.sessions[0].buckets | length == 7'
	adm 2 stats latency -F buckets -o csv
	adm 2 stats latency -F buckets
	[[ $stderr == *"--fields: these are in JSON alone"* ]]
	adm 0 stats latency rnbd0 10.0.1.2
	[ "${#lines[@]}" = 1 ]
	adm 0 stats latency cl1@srv1 --hca mlx5_1:1 -j
	[ "$(jqv '.sessions | map([.session, .read_ios]) | tojson')" = '[["cl1@srv1",0]]' ]
	adm 0 stats latency --sort -session -F session --no-headers
	[ "${lines[*]}" = "cl1@srv2 cl1@srv1" ]
	adm 0 stats latency --filter 'read_ios>0' -F session --no-headers
	[ "${lines[*]}" = cl1@srv1 ]
	replay old-stats
	fails 9 unsupported stats latency
	[[ $stderr == *"iostat -x"*bpftrace* ]]
	replay empty
	adm 0 stats latency
	[ "$output" = "no paths" ]
}

@test "the documents of these tests are valid" { all_valid; }
