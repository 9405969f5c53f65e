#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# batch: one run of many commands.
# shellcheck shell=bats disable=SC1003,SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	F=$BATS_TEST_TMPDIR/b
	replay batch bare
}

# lines LINE..: the file of the batch
lines() { printf '%s\n' "$@" >"$F"; }

@test "text: what the commands print, one after the other; quotes, comments, joined lines" {
	lines '# a comment' '' 'session list --brief   # and another' '  rnbdadm device "show" \' '   rnbd'\''0'\'' -F name' 'unmap rnbd2'
	adm 0 batch "$F"
	[ "$output" = $'cl1@srv1\ncl1@srv2\nname  rnbd0' ]
	[ -z "$stderr" ]
	adm 0 -b "$F"
	[ "$output" = $'cl1@srv1\ncl1@srv2\nname  rnbd0' ]
	run --separate-stderr -0 "$RNBDADM" "${R[@]}" batch - <"$F"
	[ "$output" = $'cl1@srv1\ncl1@srv2\nname  rnbd0' ]
	lines '# nothing' ''
	adm 0 batch "$F"
	[ -z "$output$stderr" ]
}

@test "text: \$'...' is read as bash reads it, and as a plan prints it" {
	local w words
	replay two-sessions
	for w in "\$'a\\x41\\101\\'\\\\\\q\\e\\0012\\x1g\\xg\\\"\\?'" "b\$'\\n\\t\\r\\a\\b\\f\\v'c" "\$'\\377\\xc3\\xa9'\$" "\"\$'x'\""; do
		eval "words=($w)"
		adm 0 map "${words[0]}" --session cl1@srv1 -n
		plan=$output
		for line in "map $w --session cl1@srv1" "$plan"; do
			lines "$line"
			adm 0 batch "$F" -n
			[ "$output" = "$plan" ]
		done
		[[ ! $plan =~ [[:cntrl:]] ]]
	done
	lines "map \$'a"
	fails 2 usage batch "$F"
	[[ $stderr == *"$F:1: a ' is not closed"* ]]
}

@test "-F help in a line: printed when it is its turn, once" {
	R=(--nl-replay /nonexistent)
	lines 'session list -F help' 'version'
	adm 0 batch "$F"
	[ "$(grep -c ^connect_timeout_ms <<<"$output")" = 1 ]
	lines 'session list -F help' 'sesion list'
	adm 2 batch "$F"
	[ -z "$output" ]
}

@test "JSON: one document" {
	lines 'session list -F name' 'device show rnbd0 -F name' '' 'unmap rnbd2'
	for o in -j "-o jsonl" -p; do
		# shellcheck disable=SC2086
		adm 0 batch "$F" $o
		valid rnbdadm.batch/1
		jqv '.lines_total == 3 and .failed == 0 and [.results[].line] == [1, 2, 4] and all(.results[]; .exit_status == 0 and
			.error == null and .skipped == false) and [.results[].changed] == [false, false, true]'
		jqv '.results[0].output.sessions == [{name: "cl1@srv1"}, {name: "cl1@srv2"}] and
			.results[1].command == "device show rnbd0 -F name" and .results[2].output.devices[0].result == "unmapped"'
	done
}

@test "a line that is wrong: nothing is done, each has its place, exit code 2" {
	lines 'unmap rnbd2' 'sesion list' 'session list -F bird' 'monitor' 'session list -j' 'batch x' 'stats -i 1' '__complete 0 -- x' \
		'unmap "rnbd0'
	# no answer of the kernel is asked for
	R=(--nl-replay /nonexistent --test-root "$REC/bare")
	fails 2 usage batch "$F"
	[[ $stderr == *"rnbdadm: $F:2: 'sesion' is not a command"*"did you mean session"* && $stderr == *"$F:3: session list: "*bird* ]]
	[[ $stderr == *"$F:4: monitor: 'monitor' has no place"* && $stderr == *"$F:5: session list: 'json' has no place"* ]]
	[[ $stderr == *"$F:6: "* && $stderr == *"$F:7: stats: 'interval' has"* && $stderr == *"$F:9: a \" is not closed"* ]]
	[[ $stderr == *"$F:8: __complete 0 x: '__complete' has no place"*"batch $F: 8 of 9 lines are wrong; nothing was done" ]]
	[ "$(jq -c '[.results[].exit_status]' <<<"$JSON")" = '[null,2,2,2,2,2,2,2,2]' ]
	[ "$(jq -c '[.results[] | select(.skipped)] | length' <<<"$JSON")" = 1 ]
}

# refuses MESSAGE LINE: as the second of two lines it keeps the first from being done, and alone it asks no kernel
refuses() {
	local words policy=$ROOT/sys/class/rtrs-client/cl1@srv1/mpath_policy
	lines 'session set cl1@srv1 --mp-policy rr' "$2"
	R=(--backend sysfs --test-root "$ROOT")
	adm 2 batch "$F" -j
	jqv '.failed == 1 and .results[0].skipped and .results[1].exit_status == 2 and .results[1].error.code == "usage"'
	[[ $stderr == "rnbdadm: $F:2: "*"$1"*"1 of 2 lines is wrong; nothing was done"* ]]
	[ "$(<"$policy")" = "min-latency (ML: 2)" ]
	eval "words=($2)"
	R=(--nl-replay /nonexistent --test-root "$ROOT")
	adm 2 "${words[@]}"
	[[ $stderr == "rnbdadm: "*"$1"* ]]
}

@test "a path that is wrong: nothing is done" {
	load sysfs-tree
	sysfs_tree "$BATS_TEST_TMPDIR/root"
	refuses "'10.0.0' is not an address" 'path add cl1@srv1 10.0.0'
	refuses "PATH: '10.0.0.9' is given twice" 'path add cl1@srv1 10.0.0.9 host:localhost 10.0.0.9'
	refuses "'10.0.0' is not an address" 'path add cl1@srv1 host:localhost@10.0.0'
	refuses "--timeout of path add is" 'path add cl1@srv1 10.0.0.9 --timeout 20m'
	refuses "'x' is not an address" 'path remove cl1@srv1 x'
	refuses 'PATH is missing, or --hca' 'path remove cl1@srv1'
	refuses "'id:x' is not an address" 'path reconnect cl1@srv1 id:x'
	refuses '--timeout of path reconnect is' 'path reconnect cl1@srv1 --timeout 1ms'
	refuses 'name a session, or --all' 'path disconnect'
	refuses '--all goes without SESSION' 'path disconnect --all cl1@srv1'
	refuses '--all goes without --hca' 'path reconnect --all --hca rxe0'
	refuses "'x' is not an address" 'recover cl1@srv1 x'
	refuses '--all goes without --hca' 'recover --all --hca rxe0'
	refuses 'name a session, or --all' 'recover'
	refuses '--timeout of recover is' 'recover cl1@srv1 --timeout 1ms'
	refuses 'PATH is missing, or --hca' 'server path disconnect cl9@here'
	refuses "'x' is not an address" 'server path disconnect cl9@here x'
	refuses 'name the path' 'path show cl1@srv1'
	refuses 'mixes ipv4 and ib' 'server path show cl9@here 10.0.0.1@gid:fe80::1'
}

@test "a session or a setting that is wrong: nothing is done" {
	load sysfs-tree
	sysfs_tree "$BATS_TEST_TMPDIR/root"
	refuses 'is not a value of --mp-policy' 'session set cl1@srv1 --mp-policy bogus'
	refuses 'nothing to set' 'session set cl1@srv1'
	refuses "--heartbeat-interval: '1ms' is not from 200ms" 'session set cl1@srv1 --heartbeat-interval 1ms'
	refuses '--path is missing' 'session add x@y'
	refuses 'must not hold' 'session add a/b --path 10.0.0.1'
	refuses "--path: '10.0.0' is not" 'session add x@y --path 10.0.0'
	refuses '--poll-queues: at most' 'session add x@y --path 10.0.0.1 --poll-queues 5000'
}

@test "a device that is wrong: nothing is done" {
	load sysfs-tree
	sysfs_tree "$BATS_TEST_TMPDIR/root"
	refuses '--session or --server is missing' 'map v'
	refuses 'must not hold' 'map v --session a/b --path 10.0.0.1'
	refuses "--path: '10.0.0' is not" 'map v --session x@y --path 10.0.0'
	refuses '--io-timeout: ' 'map v --session x@y --path 10.0.0.1 --io-timeout 1ms'
	refuses '--timeout of map is' 'map v --server host:localhost --timeout 1ms'
	refuses '--owner: ' "map v --session x@y --owner 'a b'"
	refuses 'name a device, --session or --all' 'unmap'
	refuses 'a bare number selects nothing' 'unmap rnbd0 2'
	refuses '--all goes with neither' 'unmap --all rnbd2'
	refuses '--all goes with neither' 'remap --all --session cl1@srv1'
	refuses 'a bare number selects nothing' 'remap 2'
	refuses '--timeout of remap is' 'remap rnbd2 --timeout 1ms'
	refuses 'a bare number selects nothing' 'device show 2'
	refuses 'a bare number selects nothing' 'device wait 2'
	refuses "'0x10' is not a size" 'resize rnbd2 0x10'
	refuses 'SIZE is missing' 'resize rnbd2'
	refuses 'a bare number selects nothing' 'resize 2 1G'
	refuses "'8388608T' is more than a disk can have" 'resize rnbd2 8388608T'
	refuses 'exclude each other' 'server export close ram0 --session a --all'
	refuses '--timeout of server export revalidate is' 'server export revalidate ram0 --timeout 1ms'
}

@test "a condition, a check or another word that is wrong: nothing is done" {
	load sysfs-tree
	sysfs_tree "$BATS_TEST_TMPDIR/root"
	refuses '--for' 'wait rnbd0 --for foo'
	refuses '--for is missing' 'wait rnbd0'
	refuses "'x' is not an address" 'wait cl1@srv1 x --for present'
	refuses "'bogus' is no check" 'check bogus'
	refuses "--path: 'x' is not" 'check --path x'
	refuses "'x' is neither session:NAME nor" 'config apply --only x'
	refuses "'x' is neither session:NAME nor" 'config diff --only x'
	refuses "'x' is neither session:NAME nor" 'config apply --only x'
	refuses '--counters: ' 'stats reset --all --counters bogus'
	refuses 'name a session or a device, or --all' 'stats reset'
	refuses '--all goes without a selector' 'stats reset --all cl1@srv1'
	refuses "'x' is not an address" 'stats reset cl1@srv1 x'
	refuses '--hca names a path of a session' 'stats --hca rxe0'
	refuses '--by device is of this client' 'stats --by device --role server'
	refuses 'a device is not of one path' 'stats rnbd0 10.0.0.2 --by device'
	refuses 'need -i' 'stats --count 2'
	refuses "'mapp'" 'help mapp'
}

@test "a line that fails: the end, with its exit code; with -k the rest, and exit code 3" {
	replay batch-fails bare
	lines 'unmap rnbd2' 'device list --brief' 'version'
	fails 7 busy batch "$F"
	[[ ${stderr_lines[0]} == "rnbdadm: $F:1: unmap rnbd2: "* && $stderr == *"line 1 failed, 2 not run"* ]]
	[ "$(jq -c '[.results[].skipped], [.results[].exit_status]' <<<"$JSON" | tr -d '\n')" = '[false,true,true][7,null,null]' ]
	[ "$(jq -r '.results[0].error.code' <<<"$JSON")" = busy ]
	adm 3 batch -k "$F"
	[[ $output == $'rnbd0\nrnbd1\nrnbd2\nrnbdadm '* ]]
	adm 3 batch --keep-going "$F" -j
	valid rnbdadm.batch/1
	jqv '.failed == 1 and .error.code == "partial" and [.results[].skipped] == [false, false, false]'
}

@test "-n: the plans, which are a batch again; nothing is sent" {
	replay two-sessions bare
	lines 'unmap rnbd2'
	adm 0 batch -n "$F"
	[ "$output" = "rnbdadm unmap rnbd2" ]
	adm 0 unmap rnbd2 -n
	run --separate-stderr -0 "$RNBDADM" "${R[@]}" batch - -n <<<"$output"
	[ "$output" = "rnbdadm unmap rnbd2" ]
	adm 0 batch -n "$F" -j
	valid rnbdadm.batch/1
	jqv '.results[0] | .changed == false and .output.plan == [["unmap", "rnbd2"]]'
}

# changes FILE COMMAND..: what it asks the kernel to change
changes() {
	local file=$BATS_TEST_TMPDIR/$1
	shift
	cp -r "$REC/root/." "$BATS_TEST_TMPDIR/$((++N))"
	R=(--nl-replay "$REC/changes.nl" --test-root "$BATS_TEST_TMPDIR/$N")
	adm 0 "$@" --trace
	sed -nE '/ dump /d; / nlctrl/d; s/^nl ->.* ms //p' <<<"$stderr" >"$file"
	[ -s "$file" ]
}

@test "a plan asks for what its command asks for" {
	local command N=0
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' 'path = fe80::9%lo' 'wait = 5s' 'io-timeout = 3s' \
		'[session s9]' 'path = ip:fe80::1%lo@ip:fe80::9%lo dest-port=999' 'connections = 4' 'wait = 6s' \
		'[device d]' 'session = cl1@srv1' 'device-path = vol9' 'access = ro' >"$BATS_TEST_TMPDIR/conf"
	while read -r command; do
		# shellcheck disable=SC2086
		changes asked $command
		R=(--nl-replay "$REC/changes.nl" --test-root "$REC/root")
		# shellcheck disable=SC2086
		adm 0 $command -n
		echo "$output" >"$F"
		changes planned batch "$F"
		diff "$BATS_TEST_TMPDIR/asked" "$BATS_TEST_TMPDIR/planned"
	done <<-E
		path add cl1@srv1 10.0.9.9 fe80::9%lo --dest-port 999 --timeout 5s
		path reconnect cl1@srv1 10.0.1.2 --timeout 5s
		session add s9 --path fe80::1%lo@fe80::9%lo --path 10.0.0.9 --dest-port 999 --timeout 3s --connections 4 --io-timeout 5s
		map vol9 --session s9 --path ip:fe80::9%lo --timeout 3s --poll-queues 2
		remap rnbd2 --timeout 3s
		recover cl1@srv1 --timeout 3s --wait=5s
		recover --all --timeout 3s
		recover --all --add-missing --config $BATS_TEST_TMPDIR/conf --timeout 3s
		unmap rnbd2 --idempotent
		path disconnect cl1@srv1 10.0.1.2 --idempotent
		session remove cl1@srv1 --force
		server export revalidate ram0 --timeout 3s
		stats reset --all
		config apply $BATS_TEST_TMPDIR/conf --wait=4s
		config apply $BATS_TEST_TMPDIR/conf --only session:s9 --no-wait
	E
}

@test "a plan with names that begin with '-' is a batch: options, --, names" {
	local begin planned
	while read -r begin; do
		replay dashed
		# shellcheck disable=SC2086
		adm 0 $begin -n -- -s
		[[ $output == "rnbdadm ${begin%% *} "*" -- -s"* && $output != *" -- "*" --"* ]]
		planned=$output
		run --separate-stderr -0 "$RNBDADM" "${R[@]}" batch -n - <<<"$planned"
		[ "$output" = "$planned" ]
	done <<-E
		session set --mp-policy mi
		session set --max-reconnect-attempts 5
		path reconnect --force
		path disconnect --force
		session remove --force
	E
	replay dashed
	adm 0 session set --mp-policy mi -n -- -s
	[ "$output" = "rnbdadm session set --mp-policy=min-inflight -- -s" ]
	# one session that is called as an option, not all of them
	adm 0 stats reset -n -- --all
	[ "$output" = "rnbdadm stats reset -- --all" ]
	adm 0 stats reset -nj -- --all
	valid_any
	jqv '.plan == [["stats", "reset", "--", "--all"]]'
	adm 0 map -n --session=-s -- -w
	[ "$output" = "rnbdadm map --session=-s -- -w" ]
	run --separate-stderr -0 "$RNBDADM" "${R[@]}" batch -n - <<<"$output"
	[ "$output" = "rnbdadm map --session=-s -- -w" ]
	# --save of another command has a value
	adm 0 map -n --session=-s --save --name x -- -w
	[ "$output" = "rnbdadm map --session=-s --name=x --save -- -w" ]
}

@test "-n of the batch: the options of the batch are in each line" {
	replay changes
	lines 'unmap rnbd2 --no-wait' 'remap rnbd2 --timeout 2s'
	adm 0 batch -n "$F" --timeout 5s --idempotent
	[ "$output" = "rnbdadm unmap rnbd2 --no-wait --timeout=5000ms --idempotent
rnbdadm remap rnbd2 --timeout=2000ms --idempotent" ]
}

@test "each line with what its command prints" {
	replay two-sessions
	run --separate-stderr -3 "$RNBDADM" "${R[@]}" batch -k - -j <<<$'session list\nsession show nosuch'
	printed
	golden batch.json
}

@test "a lock for each line that changes something, none for reading" {
	cp -r "$REC/bare" "$BATS_TEST_TMPDIR/root"
	R=(--nl-replay "$REC/batch.nl" --test-time "$TIME" --test-root "$BATS_TEST_TMPDIR/root")
	lines 'session list' 'device list' 'unmap rnbd2'
	exec 7>"$BATS_TEST_TMPDIR/root/run/rnbdadm.lock"
	flock 7
	fails 10 timeout batch "$F" --lock-timeout 50ms
	[ "$(jq -c '[.results[].skipped]' <<<"$JSON")" = '[true,true,true]' ]
	lines 'session list' 'device list'
	adm 0 batch "$F" --lock-timeout 50ms
	exec 7>&-
	lines 'session list' 'device list' 'unmap rnbd2'
	adm 0 batch "$F" --lock-timeout 50ms
}

@test "files that are none, and odd bytes" {
	fails 4 not_found batch /nonexistent
	printf 'version\0\n' >"$F"
	fails 2 usage batch "$F"
	lines $'session show "bad\xff\xfe"'
	replay two-sessions bare
	adm 4 batch "$F" -j
	valid rnbdadm.batch/1
	[ "$(jqv '.results[0].command')" = "session show \$'bad\\377\\376'" ]
	lines "device show ''"
	fails 2 usage batch "$F"
	fails 2 usage batch
}

@test "many lines" {
	for ((i = 0; i < 2000; i++)); do echo "help fields device"; done >"$F"
	R=(--nl-replay /nonexistent)
	adm 0 batch "$F" -j -q
	jqv '.lines_total == 2000 and .failed == 0'
}

@test "the documents of these tests are valid" { all_valid; }
