#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Counters: I/O that is known gives counts that are known, in sysfs and in netlink, for a path and for each CPU; each group is
# reset alone, what is in flight never. In one guest.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: on 6.1 for ^what ends on another CPU: it needs two CPUs
# lab: ynl
# lab: make tests/vm/hold
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

NAME=ip:10.0.0.1@ip:10.0.0.1
DIR=/sys/class/rtrs-client/s1/paths/$NAME/stats
SDIR=/sys/class/rtrs-server/s1/paths/$NAME/stats
OTHER=$(($(nproc) - 1)) # CPU
GROUPS_ALL="ios latency sg migrations polls reconnects"

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 2
	ram_disk 16
	load_server heartbeat_interval_ms=60000
	load_client
}

setup() {
	. "$ROOT/tests/vm/disk.bash"
}

teardown() {
	unmap_all
	[[ -z ${LOOP-} ]] || all_cpus
}

# get ROLE: the first path's counters, parts joined, in $output
get() {
	run -0 ynl dump stats-get "{\"role\":\"$1\"}"
	output=$(jq -e '.reply | group_by(."path-id") | map((map(.cpu // []) | add) as $cpu | .[0] + {cpu: $cpu})' <<<"$output")
}

reads() { taskset -c "${3:-0}" dd if="/dev/$1" of=/dev/null bs=4k count="$2" iflag=direct status=none; }
writes() { taskset -c "${3:-0}" dd if=/dev/zero of="/dev/$1" bs=8k count="$2" oflag=direct status=none; }

# Heartbeats are completions, too
no_heartbeats() { echo 60000 >"${DIR%%/paths/*}/heartbeat_interval_ms"; }

reset() { echo 1 >$DIR/reset_all; }

# column N FILE: sum of the numbers of this column from the back
column() { awk -v n="$1" '{ s += $(NF - n + 1) } END { print s }' "$2"; }

# The most and the average of the file are those of netlink, if there was no heartbeat in between
polls_agree() {
	local before after polls='.[0] | [."completions-max", (.completions / .polls | floor), .completions] | join(" ")'
	get client
	before=$(jq -r "$polls" <<<"$output")
	after=$(<$DIR/wc_completion)
	get client
	[[ $before == "$(jq -r "$polls" <<<"$output")" && $before == "$after "* && $before =~ ^[1-9][0-9]*\ [1-9][0-9]*\ [1-9] ]] ||
		{ echo "$before: $after"; return 1; }
}

@test "counts of known I/O in the files of both ends" {
	local disk
	disk=$(map /dev/ram0)
	no_heartbeats
	reset
	echo 0 >$SDIR/reset_all
	reads "$disk" 64
	writes "$disk" 32 $OTHER
	# 26 bytes of message and 6 of padding count with the data
	[ "$(<$DIR/rdma)" = "64 $((64 * 4128)) 32 $((32 * 8224)) 0 0" ]
	[ "$(<$SDIR/rdma)" = "64 $((64 * 4128)) 32 $((32 * 8224))" ]

	# 1 ms to 65536 ms, more than that, and the longest
	[ "$(cut -d: -f1 $DIR/rdma_lat | xargs)" = "$(printf '%d ms ' 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536)>= 65536 ms maximum ms" ]
	[ "$(grep -v maximum $DIR/rdma_lat | column 2 -)" -eq 64 ]
	[ "$(grep -v maximum $DIR/rdma_lat | column 1 -)" -eq 32 ]

	[ "$(head -n 1 $DIR/sg_entries)" = "entries: 0 1 2 4 8 16 32 64 128 >128" ]
	[ "$(wc -l <$DIR/sg_entries)" -eq "$(($(nproc --all) + 1))" ]
	# one page, or two that may lie side by side
	[ "$(awk 'NR > 1 { s += $3 + $4 } END { print s }' $DIR/sg_entries)" -eq 96 ]
	[ "$(awk 'NR > 1 { s += $3 } END { print s }' $DIR/sg_entries)" -ge 64 ]

	await 10 polls_agree
	# most in one poll, completions, polls: a request each, and what the server was told of its sends
	awk '{ exit !($1 >= 1 && $2 >= 96 && $3 >= 1 && $3 <= $2 && $1 * $3 >= $2) }' $SDIR/wc_completion

	[ "$(head -n 1 $DIR/cpu_migration)" = "    $(printf ' CPU%d' $(seq 0 $(($(nproc --all) - 1))))" ]
	[ "$(sed -n 's/^from: //p' $DIR/cpu_migration)" = "$(sed 's/ $//' $DIR/cpu_migration_from)" ]
	[ "$(sed -n 's/^to  : //p' $DIR/cpu_migration)" = "$(sed 's/ $//' $DIR/cpu_migration_to)" ]
}

@test "D8: a small write has one completion, as a read has: it is copied, and nobody waits for its send" {
	local disk n
	disk=$(map /dev/ram0)
	no_heartbeats
	reset
	dd if=/dev/zero of="/dev/$disk" bs=4k count=128 oflag=direct status=none
	get client
	n=$(jq '.[0].completions' <<<"$output")
	((n >= 128 && n < 140)) || fail "$n completions of 128 small writes" # one for 64 sends, too
	reset
	writes "$disk" 32
	get client
	n=$(jq '.[0].completions' <<<"$output")
	((n >= 64)) || fail "$n completions of 32 writes whose pages the device reads"
}

@test "the tool: totals, rates, the plot and Prometheus" {
	local disk reader
	disk=$(map /dev/ram0)
	no_heartbeats
	reset
	reads "$disk" 64
	writes "$disk" 32
	adm_is '.stats[0].counters | [.read_ios, .write_ios] == [64, 32]' stats s1
	run -0 "$ADM" stats latency s1
	echo "$output"
	[[ $output == *"read 64 ios "*"write 32 ios "* ]]
	run -0 "$ADM" stats -o prom
	python3 "$ROOT/tests/cli/prom.py" <<<"$output"
	grep -q '^rnbd_path_read_ios_total{session="s1",.*} 64$' <<<"$output"
	grep -q '^rnbd_path_io_latency_seconds_count{session="s1",.*op="write"} 32$' <<<"$output"
	"$ADM" stats --textfile=/run/tmp/prom
	[ "$(grep -c ^rnbd_path /run/tmp/prom)" = "$(grep -c ^rnbd_path <<<"$output")" ]
	run -0 "$ADM" stats s1 -o csv
	[[ ${lines[1]} == *,64,*,32,* ]]
	while reads "$disk" 16; do :; done 2>/dev/null 3>&- & reader=$!
	run -0 "$ADM" stats s1 -i 1 -c 1 --skip-first --rate -j
	kill $reader
	wait $reader || :
	jq -e '.stats[0] | .rates.read_ios_per_second > 1 and .rates.write_ios_per_second == 0 and .counters.read_ios > 1' <<<"$output"
}

@test "the same in netlink, and CPUs that add up" {
	local disk
	disk=$(map /dev/ram0)
	reset
	reads "$disk" 64
	writes "$disk" 32 $OTHER
	get client
	jqe '.[0] | ."read-ios" == 64 and ."read-bytes" == 64 * 4128 and ."write-ios" == 32 and ."write-bytes" == 32 * 8224' \
		'.[0] | (.latency | map(."read-ios") | add) == 64 and (.latency | map(."write-ios") | add) == 32' \
		'.[0] | (.sg | map(.ios) | add) == 96 and all(.sg[]; .entries <= 2)' \
		'.[0] | .completions >= 96 and .polls <= .completions and ."completions-max" * .polls >= .completions' \
		'.[0] | ."read-latency-max-ns" > 0 and ."write-latency-max-ns" > 0'
	# the longest is in the last bucket that has any
	jqe '.[0] | (.latency | map(select(."read-ios" > 0) | ."le-ns") | max) as $le | ."read-latency-max-ns" <= $le and ."read-latency-max-ns" > $le / 2'
	for name in read-ios read-bytes write-ios write-bytes completions polls; do
		jqe ".[0] | (.cpu | map(.\"$name\") | add) == .\"$name\""
	done
	jqe '.[0] | (.cpu | map(."completions-max") | max) == ."completions-max"' \
		'.[0] | (.cpu | map(.latency // [] | .[] | ."read-ios") | add) == 64' \
		'.[0] | (.cpu | map(.sg // [] | .[] | .ios) | add) == 96'
	# what left one CPU came to another
	jqe '.[0] | (.cpu | map(."migrations-from") | add) == (.cpu | map(."migrations-to") | add)' \
		'.[0] | (.cpu | map(.cpu)) | . == sort and . == unique'
	get server
	jqe '.[0] | ."read-ios" >= 64 and .completions >= 96 and .polls >= 1 and ."completions-max" >= 1' \
		'.[0] | (.cpu | map(.completions) | add) == .completions'
	run -0 ynl do stats-get "{\"path-id\":$(jq '.[0]."path-id"' <<<"$output"),\"role\":\"server\"}"
	jqe '.reply | ."read-ios" >= 64 and .cpu == null'
}

@test "0 and 1 reset what a file shows, and no other" {
	local disk file value other
	local -A before
	disk=$(map /dev/ram0)
	no_heartbeats
	for file in rdma rdma_lat sg_entries wc_completion; do
		for value in 0 1; do
			reads "$disk" 8
			for other in rdma rdma_lat sg_entries wc_completion; do
				before[$other]=$(<$DIR/$other)
			done
			echo $value >$DIR/$file
			for other in rdma rdma_lat sg_entries wc_completion; do
				if [[ $other == "$file" ]]; then
					[[ $(sed 's/^[^:]*://' $DIR/$other | tail -n +2) != *[1-9]* ]]
					[[ $(<$DIR/$other) != "${before[$other]}" ]]
				elif [[ $other != wc_completion ]]; then # heartbeats are completions, too
					[ "$(<$DIR/$other)" = "${before[$other]}" ]
				fi
			done
		done
		for value in 2 x 11 '' '1 1'; do
			write_fails "Invalid argument" $DIR/$file "$value"
		done
	done
	[ "$(<$DIR/rdma)" != "0 0 0 0 0 0" ]
	echo 0 >$DIR/reset_all
	[ "$(<$DIR/rdma)" = "0 0 0 0 0 0" ]
}

# migrated FILE: from there and to there, added up
migrated() {
	case $1 in
	cpu_migration) sed -n 's/^[a-z ]*://p' $DIR/$1 | xargs -n 1 | column 1 - ;;
	*) xargs -n 1 <$DIR/$1 | column 1 - ;;
	esac
}

# What the last CPU asks for is done, and answered, on the first: the workers of the loop device run there. Sets disk; all_cpus ends it
map_far() {
	LOOP=$(loop_disk 16)
	((OTHER == 0)) || { echo 0 >"/sys/block/${LOOP##*/}/queue/rq_affinity" && echo 1 >/sys/devices/virtual/workqueue/cpumask; }
	disk=$(map "$LOOP")
}

all_cpus() {
	losetup -d "$LOOP"
	((OTHER == 0)) || printf '%x\n' $(((1 << $(nproc)) - 1)) >/sys/devices/virtual/workqueue/cpumask
}

@test "what ends on another CPU is counted; 0 and 1 reset each file of that" {
	local disk file value other n
	((OTHER > 0)) || skip "one CPU"
	map_far
	for file in cpu_migration cpu_migration_from cpu_migration_to; do
		for value in 0 1; do
			reads "$disk" 64 $OTHER
			n=$(migrated cpu_migration_from)
			[ "$n" -gt 0 ]
			[ "$(migrated cpu_migration_to)" -eq "$n" ]
			[ "$(migrated cpu_migration)" -eq $((2 * n)) ]
			echo $value >$DIR/$file
			for other in cpu_migration cpu_migration_from cpu_migration_to; do
				[ "$(migrated $other)" -eq 0 ]
			done
		done
	done
	reads "$disk" 64 $OTHER
	n=$(migrated cpu_migration_from)
	get client
	jqe ".[0].cpu | (map(.\"migrations-from\") | add) == $n and (map(.\"migrations-to\") | add) == $n"
}

@test "0 and 1 reset what a file of the server shows, and no other" {
	local disk file value
	disk=$(map /dev/ram0)
	# heartbeats are completions, too
	polled() { (($(cut -d ' ' -f 2 $SDIR/wc_completion) >= 64)); }
	for file in rdma wc_completion reset_all; do
		for value in 0 1; do
			echo 1 >$SDIR/reset_all
			reads "$disk" 64
			[ "$(cut -d ' ' -f 1-2 $SDIR/rdma)" = "64 $((64 * 4128))" ]
			polled
			echo $value >$SDIR/$file
			if [[ $file == wc_completion ]]; then [[ $(<$SDIR/rdma) == "64 "* ]]; else [ "$(<$SDIR/rdma)" = "0 0 0 0" ]; fi
			if [[ $file == rdma ]]; then polled; else run ! polled; fi
		done
		write_fails "Invalid argument" $SDIR/$file 2
	done
}

@test "netlink resets groups" {
	local disk group
	map_far
	local -A zero=(
		[ios]='."read-ios" == 0 and ."read-bytes" == 0' [latency]='.latency == null and ."read-latency-max-ns" == 0'
		[sg]='.sg == null' [migrations]='all(.cpu // [] | .[]; ."migrations-from" + ."migrations-to" == 0)'
		[polls]='.completions < 50' [reconnects]='."reconnects-ok" == 0'
	)
	local -A more=([ios]='."read-ios" >= 8' [latency]='.latency != null' [sg]='.sg != null' [polls]='.completions >= 64')
	((OTHER == 0)) || more[migrations]='any(.cpu[]; ."migrations-from" > 0)'
	# heartbeats are completions, too
	for group in $GROUPS_ALL; do
		reads "$disk" 64 $OTHER
		run -0 ynl do stats-reset "{\"session-name\":\"s1\",\"groups\":[\"$group\"]}"
		[ "$(jq .error <<<"$output")" = null ]
		get client
		jqe ".[0] | ${zero[$group]}"
		for other in "${!more[@]}"; do
			[[ $other == "$group" ]] || jqe ".[0] | ${more[$other]}"
		done
	done
}

@test "in flight: on the CPU that submitted it, through every reset; how long it took" {
	local disk pid begin seen end ms row
	modprobe nbd nbds_max=1
	mkdir -p /run/tmp/hold
	"$ROOT/build/hold/hold" /dev/nbd0 8 /run/tmp/hold 3>&- &
	await 10 eval '[[ $(</sys/block/nbd0/size) -gt 0 ]]'
	disk=$(map /dev/nbd0)
	echo "hold 0 8 1" >/run/tmp/hold/control
	await 10 grep -q hold /run/tmp/hold/record
	reset
	begin=${EPOCHREALTIME/./}
	taskset -c $OTHER dd if=/dev/zero of="/dev/$disk" bs=4k count=1 oflag=direct status=none &
	pid=$!
	await 10 grep -q '^0 0 0 0 1 0$' $DIR/rdma
	seen=${EPOCHREALTIME/./}
	reset
	[ "$(<$DIR/rdma)" = "0 0 0 0 1 0" ]
	run -0 "$ADM" stats --per-cpu -j
	jqe '.stats[0] | .counters.inflight == 1 and (.per_cpu | map(select(.cpu == '$OTHER') | .inflight)) == [1]'
	end=${EPOCHREALTIME/./}
	echo release >/run/tmp/hold/control
	wait $pid
	[ "$(<$DIR/rdma)" = "0 0 1 4128 0 0" ]
	run -0 "$ADM" stats --latency --per-cpu -j
	# longer than it was seen to last, shorter than it can have taken; in the one bucket of that
	jqe ".stats[0].latency.max_write_ns | . >= $((end - seen))000 and . <= $((${EPOCHREALTIME/./} - begin))000" \
		'.stats[0] | .counters.inflight == 0 and all(.per_cpu[]; .inflight == 0)' \
		'.stats[0].latency | .max_write_ns as $max | .buckets | length == 1 and .[0].le_ns >= $max and .[0].le_ns < 2 * $max'
	# milliseconds of 2^20 ns
	ms=$(sed -n 's/^maximum ms: 0 //p' $DIR/rdma_lat)
	row=$(sed -n 's/^\([0-9]*\) ms: 0 1$/\1/p' $DIR/rdma_lat)
	[ "$ms" -gt 0 ]
	[ "$ms" -lt "$row" ]
	[ "$ms" -ge $((row / 2)) ]
	[ "$(grep -c ' 0 0$' $DIR/rdma_lat)" -eq 17 ]
	unmap_all
	kill %1
	await 10 eval '[[ ! -e /sys/block/nbd0/pid ]]'
}

@test "resets while I/O runs lose none of what comes later" {
	local disk i pids=()
	disk=$(map /dev/ram0)
	for i in 0 $OTHER; do
		reads "$disk" 2000 "$i" &
		pids+=($!)
	done
	while [[ -n $(jobs -r) ]]; do
		reset
	done
	wait "${pids[0]}"
	wait "${pids[1]}"
	[ "$(awk '{ print $5 }' $DIR/rdma)" -eq 0 ]
	reset
	reads "$disk" 16
	[ "$(cut -d ' ' -f 1-2 $DIR/rdma)" = "16 $((16 * 4128))" ]
}

@test "a dump with more than one message for a path" {
	local disk try
	disk=$(map /dev/ram0 path=ip:10.0.1.1 "path=ip:fd00:0::1" "path=ip:fd00:1::1")
	# where a block ends depends on how many buckets there are: until it is among CPUs
	for try in 4k 8k 16k 32k 64k 128k; do
		dd if="/dev/$disk" of=/dev/null bs=$try count=64 iflag=direct status=none
		taskset -c $OTHER dd if=/dev/zero of="/dev/$disk" bs=$try count=64 oflag=direct status=none
		run -0 ynl --room 4096 dump stats-get '{"role":"client"}'
		# totals once for each path, CPUs in them or behind them, no CPU left out
		jqe '[.reply[] | select(."path-name")] | length == 4' \
			'[.reply[]."path-id"] | . == sort' \
			'.reply | group_by(."path-id") | all(.[]; .[0]."path-name" and (map(.cpu // [] | .[]."read-ios") | add) == .[0]."read-ios")'
		[[ $(jq '.reply | length' <<<"$output") == 4 ]] || break
	done
	jqe '.reply | length > 4'
}
