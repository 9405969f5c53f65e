#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# --dry-run: the lines that it prints do the same, run by a shell.
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

# changes FILE COMMAND..: what it asks the kernel to change
changes() {
	local file=$BATS_TEST_TMPDIR/$1
	shift
	cp -r "$REC/root/." "$BATS_TEST_TMPDIR/$((++N))"
	R=(--nl-replay "$REC/changes.nl" --test-root "$BATS_TEST_TMPDIR/$N")
	"$@" 2>"$BATS_TEST_TMPDIR/trace" >/dev/null
	sed -nE '/ dump /d; / nlctrl/d; s/^nl ->.* ms //p' "$BATS_TEST_TMPDIR/trace" >"$file"
	[ -s "$file" ]
}

@test "a plan asks for what its command asks for" {
	local command plan N=0
	rnbdadm() { "$RNBDADM" "${R[@]}" --trace "$@"; }
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' 'path = fe80::9%lo' 'wait = 5s' 'io-timeout = 3s' \
		'[session s9]' 'path = ip:fe80::1%lo@ip:fe80::9%lo dest-port=999' 'connections = 4' 'wait = 6s' \
		'[device d]' 'session = cl1@srv1' 'device-path = vol9' 'access = ro' >"$BATS_TEST_TMPDIR/conf"
	while read -r command; do
		# shellcheck disable=SC2086
		changes asked rnbdadm $command
		R=(--nl-replay "$REC/changes.nl" --test-root "$REC/root")
		# shellcheck disable=SC2086
		adm 0 $command -n
		plan=$output
		changes planned eval "$plan"
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
		stats reset --role server --all
		stats reset cl7@here --role server
		config apply $BATS_TEST_TMPDIR/conf --wait=4s
		config apply $BATS_TEST_TMPDIR/conf --only session:s9 --no-wait
	E
}

@test "behind a line stands what its command is about" {
	local command would
	replay changes
	while IFS='|' read -r command would; do
		[[ $command != device* ]] || replay set-rw
		# shellcheck disable=SC2086
		adm 0 $command -n
		[[ $output == "rnbdadm $command"*"  # would $would" ]]
	done <<-E
		session remove cl1@srv1 --force|end the session, which has 2 devices
		server client disconnect cl7@here --force|disconnect a client that has 2 devices open
		remap rnbd2|remap rnbd2 (ram0 of session cl1@srv2)
		remap rnbd2 --recreate|unmap and map rnbd2 (ram0 of session cl1@srv2)
		resize rnbd0 32212254720|take rnbd0 (vol0 of session cl1@srv1) from 20.0 GiB to 30.0 GiB
		device set rnbd0 --access=rw|end the migration of rnbd0 (vol0 of session cl1@srv1)
	E
}

@test "a plan with names that begin with '-' can be run: options, --, names" {
	local begin planned
	while read -r begin; do
		replay dashed
		# shellcheck disable=SC2086
		adm 0 $begin -n -- -s
		[[ $output == "rnbdadm ${begin%% *} "*" -- -s"* && $output != *" -- "*" --"* ]]
		planned=$output
		run_plan "$planned" -n
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
	run_plan "$output" -n
	[ "$output" = "rnbdadm map --session=-s -- -w" ]
	# --save of another command has a value
	adm 0 map -n --session=-s --save --name x -- -w
	[ "$output" = "rnbdadm map --session=-s --name=x --save -- -w" ]
}

@test "names with control characters and odd bytes are printed as $'...', which a shell reads back" {
	local name plan
	replay two-sessions
	for name in $'a\x41\e\n\t\x01g' $'bad\xff\xc3\xa9' "quo'te\"s \\" '$x'; do
		adm 0 map "$name" --session cl1@srv1 -n
		plan=$output
		[[ ! $plan =~ [[:cntrl:]] ]]
		run_plan "$plan" -n
		[ "$output" = "$plan" ]
	done
}

@test "the documents of these tests are valid" { all_valid; }
