#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Names and numbers that nobody expects, attributes that are not what they should be, many objects.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

SERVER=("server client list --stats --details" "server export list --details" "server path list" "server port list" "status")

@test "names: JSON is one valid document, the bytes are not lost" {
	replay hostile
	for c in "session list --stats --details" "path list --stats" "device list --details --stats" "stats" "${SERVER[@]}"; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid_any
	done
	adm 0 monitor --once -j
	[ "${#lines[@]}" = 86 ]
	adm 11 check -j
	valid_any
	adm 0 server port list -j
	[ "$(jqv '.ports[] | select(.hca_hex).hca_hex')" = 626164fffe ]
	adm 0 session list -j
	[ "$(jqv '.sessions[] | select(.name_hex).name_hex')" = 626164fffe ]
	[ "$(printf '%s' "$output" | jq -c '[.sessions[].name] | index("new\nline", "tab\tesc\u001b[31m", "quo\"te", "\u0001\u007f") != null' | sort -u)" = true ]
}

@test "names: JSON holds no control character" {
	local c
	replay hostile
	for c in "session list -j" "device list -j" "path list -p" "monitor --once -j" "config save -j" "${SERVER[@]/%/ -j}"; do
		# shellcheck disable=SC2086
		adm 0 $c
		[[ $output != *$'\e'* && $output != *$'\x7f'* && $output != *$'\xc2\x9b'* ]]
	done
	adm 0 session list -j
	[[ $output == *'\u007f'* && $output == *'\u009b31m'* ]]
	[ "$(printf '%s' "$output" | jq -r '.sessions[].name' | grep -c $'\xc2\x9b31m')" = 1 ]
}

@test "names: text holds no control character" {
	replay hostile
	for c in "session list" "path list" "device list" "stats" "device show rnbd5" "device list --brief -F device_path" "${SERVER[@]}" \
		"monitor --once" check; do
		# shellcheck disable=SC2086
		adm $([[ $c != check ]] && echo 0 || echo 11) $c
		[[ $output != *$'\e'* && $output != *$'\x7f'* && $output != *$'\x01'* && $output != *$'\xc2\x9b'* ]]
	done
	adm 0 device list
	[[ $output == *'new\x0aline'* && $output == *'\x1b[31m'* && $output == *'\x9b31m'* ]]
	# one row each
	[ "${#lines[@]}" = 15 ]
	adm 4 device show $'a\e[31m\n'
	[[ $stderr == *'a\x1b[31m\x0a'* && $stderr != *$'\e'* ]]
}

@test "names: a plan holds no control character, and a shell reads back what it names" {
	local plan line names=() words=()
	replay hostile
	# the names of devices stand in comments, which end with their lines
	for line in unmap "path disconnect"; do
		# shellcheck disable=SC2086
		adm 0 $line --all --force -n
		plan=$output
		[ "${#lines[@]}" = 14 ]
		[[ ! ${plan//$'\n'/} =~ [[:cntrl:]] ]]
		"$PY" -c 'import sys; sys.exit(any(127 <= ord(c) < 160 for c in sys.stdin.buffer.read().decode(errors="replace")))' <<<"$plan"
	done
	while IFS= read -r line; do
		eval "words=(${line#rnbdadm }"$'\n)'
		[ "${#words[@]}" = 5 ]
		names+=("${words[2]}")
		# nobody can name what has no name
		[[ ${words[2]} ]] || continue
		adm 0 session show "${words[2]}" -F queue_depth
		run_plan "$line" -n
		[ "$output" = "$line" ]
	done <<<"$plan"
	for line in $'new\nline' $'tab\tesc\e[31m' $'\x01\x7f' $'bad\xff\xfe' $'\xc2\x9b31m' '' 'quo"te' 'back\slash'; do
		[[ $'\r'$(printf '%s\r' "${names[@]}") == *$'\r'"$line"$'\r'* ]]
	done
	adm 0 path disconnect --all --force -n -j
	valid rnbdadm.path/1
	# the bytes are not lost
	"$PY" - "$output" "${names[@]}" <<-'EOF2'
		import json, os, sys
		doc, names = json.loads(sys.argv[1]), [os.fsencode(n) for n in sys.argv[2:]]
		lines = [bytes.fromhex(line).split(b"\0") for line in doc["plan_hex"]]
		assert [line[:3] for line in lines] == [[b"path", b"disconnect", n] for n in names], (lines, names)
		assert doc["plan"] == [[w.decode(errors="replace") for w in line] for line in lines]
	EOF2
	adm 0 session set $'new\nline' --mp-policy mi -n -j
	jqv 'has("plan_hex") | not'
	adm 0 map $'vol\e\xff' --session s9 --path 10.0.0.9 -n --trace
	[ "$output" = "rnbdadm map \$'vol\\033\\377' --session s9 --path ip:10.0.0.9" ]
	[[ $stderr != *$'\e'* ]]
	printf '[session s9]\npath = 10.0.0.9\n[device d]\nsession = s9\ndevice-path = vol\xff\n' >"$BATS_TEST_TMPDIR/conf"
	adm 11 config diff "$BATS_TEST_TMPDIR/conf" -j
	valid rnbdadm.plan/1
	line=$(jqv '.changes[] | select(.command_hex) | .command_hex')
	[[ $("$PY" -c 'import sys; print(bytes.fromhex(sys.argv[1]).split(b"\0"))' "$line") == "[b'map', b'vol\xff', b'--session', b's9'"* ]]
}

@test "names: CSV is read back as it was" {
	local c
	replay hostile
	for c in device_path:"device list" session:stats session:"stats latency" session:"stats --per-cpu" session:"stats --latency"; do
		# shellcheck disable=SC2086
		adm 0 ${c#*:} -o csv
		"$PY" - "${c%%:*}" <<-'EOF2' "$output"
			import csv, io, sys
			rows = list(csv.DictReader(io.StringIO(sys.argv[2], newline="")))
			names = [r[sys.argv[1]] for r in rows]
			assert len(rows) == 14 and all(None not in r and None not in r.values() for r in rows), rows
			for n in ('quo"te', "com,ma", "new\nline", "back\\slash", " pad ", "n" * 254):
			    assert n in names, n
		EOF2
	done
}

@test "names: every list as CSV has the rows that its JSON has, each as wide as the first" {
	local c n
	for r in hostile extreme; do
		replay $r
		for c in "session list" "path list" "device list" "server client list" "server export list" "server path list" \
			"server port list" stats "stats --role server" "stats --by session" "stats latency"; do
			[[ $r == extreme || $c != *"--role server" ]] || continue
			# shellcheck disable=SC2086
			adm 0 $c -j
			n=$(printf '%s' "$output" | jq '[.[] | arrays | length][0]')
			# shellcheck disable=SC2086
			adm 0 $c -o csv
			"$PY" - "$n" <<-'EOF2' "$output"
				import csv, io, sys
				rows = list(csv.reader(io.StringIO(sys.argv[2], newline="")))
				assert len(rows) == 1 + int(sys.argv[1]) > 1, rows
				assert {len(row) for row in rows} == {len(rows[0])}, rows
				assert not [v for row in rows for v in row if v[:1] == "-" and v != "-1"], rows
			EOF2
		done
	done
}

@test "names: they select what they name" {
	replay hostile
	for n in 'quo"te' 'back\slash' 'com,ma' $'new\nline' $'bad\xff\xfe' " pad "; do
		adm 0 session show "$n" -F queue_depth
		[ "$output" = "queue_depth  512" ]
		adm 0 status "$n" --role client -j
		[ "$(jqv '.client.sessions | length')" = 1 ]
		adm 0 server client show "$n" -F state
		[ "$output" = "state  connected" ]
		adm 0 server export show "$n" -F logical_block_bytes
		[ "$output" = "logical_block_bytes  512" ]
		adm 0 server port drain "$n:1" --idempotent --force -n
	done
}

@test "numbers: integers up to 2^63-1, null beyond, never negative" {
	replay extreme
	adm 0 stats -j
	valid rnbdadm.stats/1
	[ "$(jqv '[.stats[].counters.read_ios] | tojson')" = '[0,9007199254740993,9223372036854775807,null,null]' ] ||
		[[ $output == *'"read_ios":9007199254740993,'*'"read_ios":9223372036854775807,'*'"read_ios":null,'* ]]
	[ "$(jqv '[.stats[].counters | .inflight, .reconnects_ok] | unique | tojson')" = '[null]' ]
	for c in "stats" "stats --totals" "stats -o csv" "session list" "path list" "device list" "device list -o csv" "stats --per-cpu"; do
		# shellcheck disable=SC2086
		adm 0 $c
		[[ $output != *" -"[0-9]* && $output != *,-[0-9]* ]]
	done
	for c in "session list" "path list" "device list"; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid_any
	done
	[ "$(jqv '.devices[0] | [.state, .kernel_state] | join(" ")')" = "unknown unknown" ]
	adm 0 path list -j
	[ "$(jqv '.paths[0] | [.state, .since, .heartbeat_latency_ns, .netdev] | tojson')" = '["unknown",null,null,null]' ]
}

@test "numbers of a server: the same, in JSON, CSV, for Prometheus and as text" {
	local c want='[0,9007199254740993,9223372036854775807,null,null]'
	replay extreme
	# each list as JSON, the field with these numbers, its sum; then as CSV
	for c in ".stats[].counters|stats --role server|"{read_ios,read_bytes,write_ios,write_bytes,failovers} \
		".clients[].counters|server client list --stats|"{read_bytes,write_ios} \
		".paths[].counters|server path list --stats|"{read_bytes,write_ios} \
		".clients[]|server client list|pinned_bytes" ".server.clients[]|status|pinned_bytes" \
		".exports[]|server export list|size_bytes" ".server.exports[]|status|size_bytes"; do
		IFS='|' read -r where command field <<<"$c"
		# shellcheck disable=SC2086
		adm 0 $command -j
		valid_any
		[ "$(jqv "[$where.$field] | tojson")" = "$want" ]
		[[ $command != status ]] || continue
		# shellcheck disable=SC2086
		adm 0 $command -o csv -F "$field" --no-headers
		# bats leaves out empty lines at the end
		[ "$output" = $'0\n9007199254740993\n9223372036854775807' ]
	done
	adm 0 stats --role server -j
	[ "$(jqv '[.stats[].counters.inflight] | unique | tojson')" = '[null]' ]
	adm 0 server client list -j
	[ "$(jqv '.clients[4] | [.paths_connected, .paths_configured, .devices_mapped] | tojson')" = '[4294967295,4294967295,4294967295]' ]
	adm 0 stats --role server -o prom
	"$PY" "$CLI/prom.py" <<<"$output"
	[ "$(grep -c '^rnbd_server_path_read_ios_total{.*} \(0\|9007199254740993\|9223372036854775807\)$' <<<"$output")" = 3 ]
	[[ $(grep -c '^rnbd_server_path_read_ios_total{' <<<"$output") = 3 && $output != *" -"[0-9]* ]]
	for c in "stats --role server" "server client list --stats" "server export list" "server path list --stats" "server port list" status \
		"server client show c5 --stats" "server export show sd4" "server path show c5 10.1.0.5 --stats"; do
		# shellcheck disable=SC2086
		adm 0 $c
		[[ $output != *" -"[0-9]* && $output != *922337203685477580[89]* && $output != *18446744073709551615* ]]
	done
	grep -qE '^read_bytes +-$' <<<"$output"
}

@test "attributes short, unknown, missing: null, no crash" {
	replay odd
	for c in "session list --stats" "path list --stats" "device list --stats --details" "stats --per-cpu"; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid_any
		# shellcheck disable=SC2086
		adm 0 $c
	done
	adm 0 device list -j
	[ "$(jqv '[.devices[].size_bytes] | tojson')" = '[null,null]' ]
}

@test "no shell, no other program: one exec for each command" {
	command -v strace >/dev/null || skip "strace is not installed"
	replay map
	for c in "map vol9 --session cl1@srv3 --path 10.0.0.1@10.0.0.9" "session list" "device list -j" "stats" "help" "version -v"; do
		# shellcheck disable=SC2086
		strace -f -qq -e trace=execve -o "$BATS_TEST_TMPDIR/trace" "$PLAIN" "${R[@]}" $c >/dev/null
		[ "$(grep -c execve "$BATS_TEST_TMPDIR/trace")" = 1 ]
	done
}

@test "a kernel without texts of errors: no failure" {
	command -v strace >/dev/null || skip "strace is not installed"
	local trace=$BATS_TEST_TMPDIR/trace without
	without=$("$PLAIN" session list 2>&1) || :
	strace -o "$trace" -e trace=setsockopt -e inject=setsockopt:error=ENOPROTOOPT:when=3..4 true 2>/dev/null ||
		skip "this strace injects no errors"
	run strace -o "$trace" -e trace=setsockopt -e inject=setsockopt:error=ENOPROTOOPT:when=3..4 "$PLAIN" session list
	[ "$(grep -cE 'NETLINK_(EXT|CAP)_ACK.*ENOPROTOOPT.*INJECTED' "$trace")" = 2 ]
	[ "$output" = "$without" ]
}

@test "a replay opens no socket" {
	command -v strace >/dev/null || skip "strace is not installed"
	replay map
	strace -f -qq -e trace=%network -o "$BATS_TEST_TMPDIR/trace" "$PLAIN" "${R[@]}" map vol9 --session cl1@srv3 --path 10.0.0.1@10.0.0.9
	[ ! -s "$BATS_TEST_TMPDIR/trace" ]
}

@test "1000 sessions, 4000 paths, 1000 devices: each list within a second" {
	replay many
	limit=$((10000 * $("$PY" "$CLI/pace.py")))
	for c in "session list -j --stats" "session list" "path list" "device list" "device list -j" "stats --totals"; do
		best=9999999
		# a busy machine may need another try
		for _ in 1 2 3; do
			t0=$EPOCHREALTIME
			# shellcheck disable=SC2086
			"$PLAIN" "${R[@]}" $c >/dev/null
			t1=$EPOCHREALTIME
			t=$((${t1/./} - ${t0/./}))
			((t < best)) && best=$t
			((best < limit)) && break
		done
		echo "$c: $best of $limit us"
		((best < limit))
	done
}

@test "the documents of these tests are valid" { all_valid; }
