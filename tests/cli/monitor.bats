#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# monitor and wait.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

# words: the lines of text without their time
words() { cut -d' ' -f2- <<<"$output"; }

# each_valid: every line is one document
each_valid() {
	local line
	for line in "${lines[@]}"; do
		printf '%s\0' rnbdadm.event/1 "$BATS_TEST_DESCRIPTION" "$line" >>"$BATS_FILE_TMPDIR/documents"
	done
}

@test "monitor: what exists, then what happens" {
	replay monitor
	adm 0 monitor
	golden monitor-events.txt
	[ -z "$stderr" ]
	adm 0 monitor --no-snapshot
	golden monitor-changes.txt
	for line in "${lines[@]}"; do
		[[ $line == "$TIME "* ]]
	done
}

@test "monitor -j: one line each, with the states and why" {
	replay monitor
	adm 0 monitor -j
	each_valid
	printf '%s\n' "$output" | jq -es '[.[].seq] == [range(1; length + 1)]'
	printf '%s\n' "$output" | jq -es 'map(select(.event == "sync")) | length == 1'
	printf '%s\n' "$output" | jq -es 'map(select(.event == "change" and .object == "path"))[0] |
		.state == "reconnecting" and .old_state == "connected" and .reason == "ETIMEDOUT" and .session == "cl1@srv1" and
		.role == "client" and .resync == false and .changes.state == {old: "connected", new: "reconnecting"} and
		.changes.last_error == {old: null, new: "ETIMEDOUT"} and .monotonic_ns > 0'
	# the reason of the session is that of its path
	printf '%s\n' "$output" | jq -es 'map(select(.event == "change" and .object == "session"))[0] |
		.state == "reconnecting" and .old_state == "degraded" and .reason == "ETIMEDOUT"'
	for o in "-o json" "-o jsonl" "-p"; do
		# shellcheck disable=SC2086
		adm 0 monitor --once $o
		printf '%s\n' "$output" | jq -es 'length == 17 and .[16].event == "sync"'
	done
}

@test "monitor: what came before the snapshot is told once" {
	replay monitor
	adm 0 monitor --no-snapshot
	[ "$(grep -c "10.0.2.1@ip:10.0.2.2" <<<"$output")" = 2 ]
	run ! grep -E "10.0.0.1@ip:10.0.0.3|create session|destroy device" <<<"$output"
}

# counted FILTER: of the lines of --stats
counted() { printf '%s\n' "$output" | jq -es "[.[] | select(.event == \"stats\")] | $1"; }

@test "monitor -i: the counters of each path of both sides after what exists" {
	replay monitor
	adm 0 monitor path -i 1 --once -j
	each_valid
	counted 'length == 6 and .[0].object == "path" and .[0].session == "cl1@srv1" and .[0].counters.read_ios == 123456789 and
		.[2].counters.read_bytes == 40960 and ([.[].role] | unique == ["client", "server"]) and
		.[3].session == "cl7@here" and .[3].counters.write_bytes == 28672'
	# with the state that the path has, and why
	counted '.[1] | .state == "reconnecting" and .reason == "ETIMEDOUT" and .old_state == null'
	adm 0 monitor path -i 100ms --once
	[[ ${lines[-4]} == *"stats path    cl1@srv2 ip:10.0.0.1@ip:10.0.0.3 state=connected hca=mlx5_0:1 read_ios=10 read_bytes=40960 "*"reconnects_failed=0" ]]
	adm 0 monitor path -i 1 --once --full -j
	each_valid
	counted 'length == 6 and all(.[]; .data.state == .state)'
	replay extreme
	adm 0 monitor path -i 1 --once -j
	each_valid
	# what each path has counted, in the words of the document
	[ "$(jq -cs '[.[] | select(.event == "stats" and .role == "client") | .counters.read_ios]' <<<"$output")" = \
		'[0,9007199254740993,9223372036854775807,null,null]' ]
	[ "$(jq -cs '[.[] | select(.event == "stats" and .role == "client") | .counters | .inflight, .reconnects_ok] | unique' <<<"$output")" = '[null]' ]
	adm 0 monitor path -i 1 --once
	[ "$(grep -c " stats path .* read_ios=9223372036854775807 .*write_bytes=9223372036854775807 " <<<"$output")" = 2 ]
	[[ $output != *=-[0-9]* && $output != *=922337203685477580[89]* && $output != *=18446744073709551615* ]]
	fails 2 usage monitor -i 1ms
	adm 0 monitor --once -j --rcvbuf 65536
	fails 2 usage monitor --rcvbuf 1
}

@test "monitor -i: --filter and types hold for it; a server alone has it, too" {
	replay monitor
	adm 0 monitor -i 1 --once --filter role=server -j
	each_valid
	counted 'length == 3 and all(.[]; .role == "server")'
	adm 0 monitor path -i 1 --once --filter state=reconnecting
	[ "$(words | grep -c '^stats ')" = 1 ]
	adm 0 monitor device path -i 1 --once --filter object=device
	[ "$(words | grep -c '^stats ')" = 0 ]
	fails 2 usage monitor session device -i 1
	[[ $stderr == *"the types leave path out"* ]]
	replay only-server
	adm 0 monitor -i 1 --once -j
	each_valid
	counted 'length == 3 and all(.[]; .role == "server")'
}

@test "monitor --follow: modules that go are no end, and those that are not there are waited for" {
	replay monitor-lost
	adm 0 monitor --follow --no-snapshot
	[ "$(words)" = $'sync\nlost' ]
	adm 8 monitor --no-snapshot
	alone 8 monitor --follow --timeout 100ms
	[[ $stderr == *"not loaded in time"* ]]
	for sig in TERM INT; do
		# bash ignores SIGINT in the background; env gives it back
		env --default-signal=INT "$PLAIN" monitor --follow 3>&- &
		pid=$!
		# once it takes signals it is waiting; a shell blocks them, too, before it becomes the tool
		until [[ /proc/$pid/exe -ef $PLAIN && $(sed -n 's/^SigBlk:\s*//p' "/proc/$pid/status") == *4002 ]]; do sleep 0.02; done
		kill -$sig $pid
		wait $pid
	done
}

@test "monitor: 100 000 events in the memory of two" {
	"$PY" - "$CLI" "$BATS_TEST_TMPDIR" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import nlgen
		from recordings import *
		few, two, many = (sys.argv[2] + "/" + n for n in ("none.nl", "two.nl", "many.nl"))
		start = [UP] + server() + lists()
		nlgen.write(few, start)
		nlgen.write(two, start + [ntf("path", dict(PATHS[0], state=s), 1, 3 - s) for s in (2, 1)])
		start, events = open(few, "rb").read(), open(two, "rb").read()[len(open(few, "rb").read()):]
		open(many, "wb").write(start + events * 50000)
	END
	for n in two many; do
		# what the tool may take beside its libraries
		(ulimit -v 40000 && "$PLAIN" --nl-replay "$BATS_TEST_TMPDIR/$n.nl" --test-root "$REC/root" monitor -j --no-snapshot |
			awk -v last="$BATS_TEST_TMPDIR/$n.json" '/"event":"change"/ { n++; line = $0 } END { print line >last; print n }' \
				>"$BATS_TEST_TMPDIR/$n")
	done
	[ "$(cat "$BATS_TEST_TMPDIR"/{two,many})" = $'2\n100000' ]
	output=$(cat "$BATS_TEST_TMPDIR"/{two,many}.json)
	valid any
}

@test "monitor: types and filters" {
	replay monitor
	adm 0 monitor device --no-snapshot
	[ "$(words)" = $'sync\nchange device  rnbd0 session=cl1@srv1 state=mapped->disconnected error=ENOTCONN\nchange device  rnbd0 session=cl1@srv1 state=disconnected->mapped' ]
	adm 0 monitor session client --no-snapshot -j
	each_valid
	printf '%s\n' "$output" | jq -es '[.[].object] | unique == [null, "client", "session"]'
	adm 0 monitor path --filter state=reconnecting,role=client -j
	printf '%s\n' "$output" | jq -es '[.[] | select(.object) | .state] | length == 3 and all(. == "reconnecting")'
	# what the filter keeps back leaves a gap
	printf '%s\n' "$output" | jq -es '[.[].seq] != [range(1; length + 1)]'
	fails 2 usage monitor bird
	fails 2 usage monitor pat
	[[ $stderr == *"did you mean path"* ]]
	fails 2 usage monitor --filter colour=red
	adm 2 monitor -o csv
}

@test "monitor --diff, --full" {
	replay monitor
	adm 0 monitor session --no-snapshot
	[ "$(words | sed -n 2p)" = "change session cl1@srv1 state=degraded->reconnecting error=ETIMEDOUT" ]
	adm 0 monitor session --no-snapshot --diff
	[ "$(words | sed -n 2p)" = "change session cl1@srv1 state=degraded->reconnecting error=ETIMEDOUT paths_connected=1->0" ]
	[ "$(words | tail -n 1)" = "change session cl1@srv1 state=degraded mp_policy=min-latency->round-robin" ]
	adm 0 monitor session --no-snapshot --diff -j
	each_valid
	printf '%s\n' "$output" | jq -es '.[3].changes == {mp_policy: {old: "min-latency", new: "round-robin"}}'
	adm 0 monitor device --once --full
	[[ ${lines[0]} == *"exists device  rnbd0 session=cl1@srv1 state=mapped"*" size_bytes=21474836480 "* ]]
	# no key twice
	adm 0 monitor --full
	[[ $output == *"hca=mlx5_1 hca_port=1"*"mp_policy=min-latency->round-robin"* ]]
	run -0 awk '{ delete seen; for (i = 4; i <= NF; i++) if (sub(/=.*/, "", $i) && seen[$i]++) print FNR, $i }' <<<"$output"
	[ -z "$output" ]
	adm 0 monitor device --once --full -j
	each_valid
	printf '%s\n' "$output" | jq -es '.[0].data.size_bytes == 21474836480'
}

@test "monitor: events that were dropped" {
	replay monitor-overrun
	adm 0 monitor path -j
	each_valid
	printf '%s\n' "$output" | jq -es '[.[] | select(.resync)] | length == 7 and .[-1].event == "sync" and all(.[:-1][]; .event == "exists")'
	printf '%s\n' "$output" | jq -es '[.[] | .event] | index("overrun") == index("change") + 1'
	printf '%s\n' "$output" | jq -es '.[-1] | .event == "change" and .old_state == "connected" and .state == "reconnecting" and (.resync | not)'
	adm 0 monitor path
	[ "$(words | grep -c '^sync$')" = 2 ]
}

@test "monitor: the end" {
	replay monitor
	adm 0 monitor --count 2 --no-snapshot
	[ "${#lines[@]}" = 3 ]
	adm 0 monitor -c 1 path --filter state=connected --no-snapshot
	[ "${#lines[@]}" = 2 ]
	adm 0 monitor --timeout 0 --no-snapshot
	adm 10 monitor --count 100 --timeout 1 --no-snapshot
	[[ $stderr == *"14 of 100 events in time"* ]]
	replay monitor-lost
	adm 8 monitor --no-snapshot
	[ "$(words)" = $'sync\nlost' ]
	[[ $stderr == *"the rnbd modules were unloaded"* ]]
	adm 8 monitor --no-snapshot -j
	each_valid
	printf '%s\n' "$output" | jq -es '.[1].event == "lost" and .[2].error.code == "unavailable"'
	# a reader that goes away is no failure
	replay monitor
	run --separate-stderr -0 bash -c '"$@" | head -n 1; exit "${PIPESTATUS[0]}"' _ "$RNBDADM" "${R[@]}" monitor
	[ "${#lines[@]}" = 1 ]
	[ -z "$stderr" ]
}

@test "monitor: one side alone, nothing, and refusals" {
	replay monitor-client
	adm 0 monitor --once
	[ "${#lines[@]}" = 9 ]
	[ -z "$stderr" ]
	fails 8 unavailable monitor client --once
	replay empty
	adm 0 monitor
	[ "$(words)" = sync ]
	replay monitor-odd
	adm 0 monitor --no-snapshot -j
	each_valid
	for s in absent:8:unavailable denied:5:permission old-kernel:9:unsupported no-client:8:unavailable; do
		IFS=: read -r name code word <<<"$s"
		replay "$name"
		fails "$code" "$word" monitor
	done
}

@test "wait: each event is a reason to look" {
	replay wait-path
	for c in "cl1@srv1 --for paths>=2" "cl1@srv1 --for state=connected" "cl1@srv1 10.0.1.2 --for state=connected" \
		"cl1@srv1 id:2 --for last_error=null,state=connected" \
		"cl1@srv1 --hca mlx5_1 --for state=connected,hca=mlx5_1"; do
		# shellcheck disable=SC2086
		adm 0 wait $c --trace
		[ -z "$output" ]
		[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 2 ]
	done
	adm 0 wait cl1@srv1 --for 'paths>=2' -j
	valid rnbdadm.wait/1
	[ "$(jqv '[.met, .condition, .object.type, .object.name] | @csv')" = 'true,"paths>=2","session","cl1@srv1"' ]
	replay wait-gone
	adm 0 wait rnbd2 --for absent
	adm 0 wait cl1@srv1 --for present
	adm 0 wait ram0 --session cl1@srv2 --for 'size_bytes=64M'
	adm 0 wait nosuch --for absent -j
	valid rnbdadm.wait/1
	[ "$(jqv '.met and .object == null')" = true ]
}

@test "wait: not in time, not so, not understood" {
	replay two-sessions
	fails 10 timeout wait cl1@srv1 --for 'paths>=2' --timeout 1
	[[ $stderr == *"not paths>=2: paths_connected is 1"* ]]
	printf '%s' "$JSON" | jq -e '.met == false and .object.name == "cl1@srv1"'
	fails 10 timeout wait rnbd9 --for present
	[[ $stderr == *"there is no such object"* ]]
	fails 10 timeout wait rnbd0 --for absent
	fails 11 differs wait cl1@srv1 --for state=connected --test
	[[ $stderr == *"not state=connected: state is degraded"* ]]
	adm 0 wait cl1@srv1 --for state!=connected --test
	adm 0 wait rnbd0 --for state=mapped --test -v
	[ "$stderr" = "rnbdadm: rnbd0: state is mapped" ]
	fails 2 usage wait cl1@srv1
	fails 2 usage wait cl1@srv1 --for bird
	fails 2 usage wait cl1@srv1 --for colour=red
	[[ $stderr == *"--for: 'colour' is not a field"* ]]
	fails 2 usage wait cl1@srv1 --for size_bytes=1
	fails 2 usage wait cl1@srv1 10.0.1.2 --for 'paths>=2'
	fails 2 usage wait cl1@srv1 --hca mlx5_1 --for 'paths>=2'
	fails 11 differs wait cl1@srv1 --hca mlx5_1:1 --for state=connected --test
	fails 11 differs wait cl1@srv1 --hca mlx5_9 --for present --test
	fails 2 usage wait 3 --for present
	for w in 10.0.0.2 "ip:10.0.0.1@ip:10.0.0.2" gid:fe80::1 id:1 "10.9.9.9 --session cl1@srv1" "10.0.0.2 --hca mlx5_0"; do
		for c in absent present state=connected; do
			# shellcheck disable=SC2086
			fails 2 usage wait $w --for $c --test
			[[ $stderr == *"wait ${w%% *}: "*"is a path, and its session is not named"*"hint: rnbdadm wait SESSION ${w%% *} --for"* ]]
		done
	done
	adm 0 wait cl1@srv1 10.0.0.9 --for absent --test
	replay twins
	fails 6 conflict wait vol0 --for present
	replay absent
	fails 8 unavailable wait cl1@srv1 --for present
	replay denied
	fails 5 permission wait cl1@srv1 --for present
	replay old-kernel
	fails 9 unsupported wait cl1@srv1 --for present
}

@test "the documents of these tests are valid" { all_valid; }
