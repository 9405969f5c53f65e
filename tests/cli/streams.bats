#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Streams, exit codes, usage errors, failures of the kernel.
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

@test "exit codes: one command line for each" {
	replay unmap
	adm 0 unmap rnbd2
	replay map-no-memory
	adm 1 map vol9 --session cl1@srv3 --path 10.0.0.9
	adm 2 map
	replay unmap
	adm 3 unmap rnbd2 rnbd9
	adm 4 device show rnbd9
	replay denied
	adm 5 device list
	replay twins
	adm 6 device show vol0
	replay two-sessions
	adm 7 unmap rnbd0
	replay absent
	adm 8 device list
	replay no-operation
	adm 9 device list
	replay map-timeout
	adm 10 map vol9 --session cl1@srv3 --path 10.0.0.9
	replay two-sessions
	adm 11 wait cl1@srv1 --for state=connected --test
}

@test "family absent, module absent, operation absent, privilege absent" {
	replay absent
	fails 8 unavailable session list
	[[ $stderr == *"client module is not loaded"*"modprobe rnbd_client"* ]]
	replay no-client
	fails 8 unavailable device list
	[[ $stderr == *"kernel: module rnbd_client is not loaded"* ]]
	replay old-kernel
	fails 9 unsupported device list
	replay no-operation
	fails 9 unsupported path list
	replay denied
	fails 5 permission session list
	[[ $stderr == *CAP_NET_ADMIN* ]]
}

@test "a torn dump is told" {
	replay torn
	adm 0 device list -j
	valid rnbdadm.device/1
	[[ $(jqv '.warnings[0]') == *torn* ]]
	[[ $stderr == "rnbdadm: warning: "* ]]
	replay generations
	adm 0 session list
	[[ $stderr == *torn* ]]
	adm 0 session list -q
	[ -z "$stderr" ]
}

@test "a recording that is cut, empty, foreign, absent" {
	replay cut
	fails 1 failed session list
	printf 'rnbdnl1\n' >"$BATS_TEST_TMPDIR/empty.nl"
	R=(--nl-replay "$BATS_TEST_TMPDIR/empty.nl")
	fails 1 failed session list
	R=(--nl-replay /etc/passwd)
	fails 1 failed session list
	R=(--nl-replay /nonexistent)
	fails 1 failed session list
	for n in 9 13 40 100 200; do
		head -c "$n" "$REC/two-sessions.nl" >"$BATS_TEST_TMPDIR/cut.nl"
		R=(--nl-replay "$BATS_TEST_TMPDIR/cut.nl")
		fails 1 failed session list
	done
}

@test "a recording of the kernel at hand can be replayed" {
	rec=$BATS_TEST_TMPDIR/own.nl
	R=()
	run --separate-stderr "$RNBDADM" session list -j --nl-record "$rec" --test-time "$TIME"
	first=$output code=$status
	valid rnbdadm.session/1
	# without the modules the kernel still answers that it knows no such family
	[ -s "$rec" ]
	run --separate-stderr "$RNBDADM" session list -j --nl-replay "$rec" --test-time "$TIME"
	[ "$status" = "$code" ]
	valid rnbdadm.session/1
	[ "${output/replay/netlink}" = "$first" ]
	alone 1 session list --nl-record /nonexistent/file
}

@test "unknown words: 2, nothing on stdout, a suggestion, one line of usage" {
	adm 2 sesion list
	[ -z "$output" ]
	[[ $stderr == *"did you mean session"* ]]
	[ "$(grep -c ^usage: <<<"$stderr")" = 1 ]
	adm 2 session lsit
	[[ $stderr == *"'lsit' is not a verb of 'session'"*"did you mean list"*"usage: rnbdadm session list|show"* ]]
	adm 2 session list --jsn
	[[ $stderr == *"did you mean --json"* ]]
	adm 2 session list --access rw
	[[ $stderr == *"not an option of 'session list'"* ]]
	adm 2 map v --session s --acess rw
	[[ $stderr == *"did you mean --access"* ]]
	adm 2 map v --session s --access rx
	[[ $stderr == *"did you mean r"* ]]
	adm 2 stats rest --all
	[[ $stderr == *"rest"* ]]
	adm 2 zzz
	[[ $stderr != *"did you mean"* ]]
	adm 2 resume
	[[ $stderr == *"did you mean resize"* ]]
	adm 2 reconnect
	[[ $stderr == *"'reconnect' is not a command"* ]]
}

@test "a word with one dash: quoted as it was typed, with the option that is meant, and no JSON by its letters" {
	local line words hint
	while IFS='|' read -r line words hint; do
		# shellcheck disable=SC2086
		run --separate-stderr -2 "$RNBDADM" "${R[@]}" $line
		printf '%s\n' "$line: $output" "$stderr"
		[ -z "$output" ]
		[[ $stderr == *"'$words' is not an option"* ]]
		[[ $stderr == *"did you mean $hint?"* || ($hint == none && $stderr != *"did you mean"*) ]]
	done <<-'EOF2'
		-help|-help|--help
		session -help|-help|--help
		map vol0 -session x -path 10.0.0.1|-session|--session
		map vol0 -path 10.0.0.1 -session x|-path|--path
		map vol0 --session=x -force|-force|--force
		map vol0 --session=x -mp-policy=rr|-mp-policy|--mp-policy
		session list -Zp|-Zp|none
		session list -nZj|-nZj|none
	EOF2
	# as it is meant
	for line in "session list -json" "session list -pretty" "session list -output json -Z" "session list -jZ" "session list -nj -Z"; do
		# shellcheck disable=SC2086
		run --separate-stderr -2 "$RNBDADM" "${R[@]}" $line
		printf '%s\n' "$line: $output" "$stderr"
		valid_any
		[ "$(jqv .error.code)" = usage ]
	done
	adm 2 session list -qqx
	[ -z "$output$stderr" ]
}

@test "usage errors in JSON: one document each" {
	while read -r line; do
		# shellcheck disable=SC2086
		run --separate-stderr -2 "$RNBDADM" $line
		printf '%s\n' "$line: $output"
		valid_any
		[ "$(jqv .error.code)" = usage ]
	done <<-'EOF2'
		-j
		-j bird
		bird --json
		session -p bird
		session list bird -o json
		session list --bird -j
		session list -o=json -j
		map --session= -j
		map -j
		session list -jo xml -j
		--json-version=2 session list -j
		session list --filter x -j
		version bird -j
		-o jsonl config
	EOF2
}

@test "no arguments: brief usage on stderr" {
	alone 2
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -le 3 ]
	alone 2 config
	[[ $stderr == *"save, show"* ]]
}

@test "values: missing, superfluous, joined, after --" {
	adm 2 device list --sort
	adm 2 device list --brief=yes
	adm 2 device list -F
	adm 2 device list -Z
	adm 0 device list -Fname --brief
	adm 0 device list -ojson -Fname
	[ "$(printf '%s' "$output" | jq -c '.devices[0]')" = '{"name":"rnbd0"}' ]
	adm 0 device list --color=never --brief
	adm 0 device list --color --brief
	adm 2 device list --color=green
	adm 4 stats -- reset
	adm 4 device show -- -j
	adm 2 -- device list
	adm 2 device list --backend ioctl
	adm 0 device list --backend=netlink --brief
	adm 2 version -o csv
}

@test "quiet: -q leaves usage errors, -qq nothing; the exit code stays" {
	adm 4 device show rnbd9 -q
	[ -z "$stderr" ]
	adm 2 device shw -q
	[ -n "$stderr" ]
	adm 2 device shw -qq
	[ -z "$stderr" ]
	adm 4 device show rnbd9 -qq -j
	[ -z "$stderr" ]
	[ "$(jqv .error.code)" = not_found ]
}

@test "what goes to stdout is there, or it is an error" {
	for c in "session list" "session list -j" "device list -o csv" "stats" "metadata" "help" "version" "schema session"; do
		# shellcheck disable=SC2086
		run --separate-stderr -1 bash -c '"$@" >/dev/full' _ "$PLAIN" "${R[@]}" $c
		[ "$stderr" = "rnbdadm: write error: No space left on device" ]
		# shellcheck disable=SC2086
		run --separate-stderr -1 bash -c '"$@" >&-' _ "$PLAIN" "${R[@]}" $c
		[[ $stderr == "rnbdadm: write error: "* ]]
	done
	# more than one buffer
	replay many
	run --separate-stderr -1 bash -c '"$@" >/dev/full' _ "$PLAIN" "${R[@]}" session list -j
	[ "$stderr" = "rnbdadm: write error: No space left on device" ]
}

@test "all streams closed: no file is written by mistake, no crash" {
	replay map
	run -1 bash -c 'exec <&- >&- 2>&-; "$@"' _ "$PLAIN" "${R[@]}" map vol9 --session cl1@srv3 --path 10.0.0.1@10.0.0.9
	# nothing to say, nothing to fail
	replay unmap
	run -0 bash -c 'exec <&- >&- 2>&-; "$@"' _ "$PLAIN" "${R[@]}" unmap rnbd2
}

@test "a reader that goes away kills a one-shot command with SIGPIPE" {
	replay many
	run --separate-stderr -141 bash -c '"$@" | head -1 >/dev/null; exit ${PIPESTATUS[0]}' _ "$PLAIN" "${R[@]}" session list -j -p
	[ -z "$stderr" ]
}

@test "errors name the object and carry errno" {
	adm 4 session show cl1@srv9 -j
	golden error-session.json
	adm 4 session show cl1@srv9
	[ "$stderr" = "rnbdadm: session show cl1@srv9: no such session
  hint: did you mean cl1@srv1, cl1@srv2?" ]
	replay absent
	adm 8 session list -j
	golden error-absent.json
}

@test "the documents of these tests are valid" { all_valid; }
