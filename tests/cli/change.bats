#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# remap, resize, session set, device set, device wait.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

@test "remap: the request names the id; what is mapped is no failure" {
	replay remap
	adm 0 remap rnbd2 --trace
	[ -z "$output" ]
	[[ $stderr == *"remap len="*" id=3"$'\n'* ]]
	adm 0 remap rnbd2 rnbd0 -j
	valid rnbdadm.remap/1
	golden remap.json
	adm 0 remap rnbd0 -o csv
	golden remap.csv
	adm 0 remap --session cl1@srv1 -v
	[ -z "$stderr" ]
	replay remap-time
	adm 0 remap ram0 --timeout 2500ms -v
	[[ $stderr == "rnbdadm: remapped rnbd2 (ram0 of session cl1@srv2)" ]]
	fails 2 usage remap rnbd2 --timeout 1ms
}

@test "remap: refusals" {
	replay remap-gone
	fails 4 not_found remap rnbd2
	[[ $stderr == *"kernel: server has no device 'ram0'"*"hint: the server has no such device any more"* ]]
	replay remap-lost
	fails 1 failed remap rnbd2
	[[ $stderr == *"no path of cl1@srv2 is connected"* ]]
	replay remap-partial
	fails 3 partial remap rnbd0 rnbd2
	fails 4 not_found remap rnbd9
	fails 2 usage remap
	fails 2 usage remap --all rnbd0
	replay new-denied
	fails 5 permission remap rnbd2
	replay old-modules
	fails 9 unsupported remap rnbd2
}

@test "remap --all asks; --only-disconnected leaves the others out" {
	replay remap
	adm 0 remap --all
	adm 0 remap --all --only-disconnected --trace
	[ "$(grep -c -- "^nl ->.* remap " <<<"$stderr")" = 1 ]
	replay empty
	adm 0 remap --all
}

@test "remap --recreate: as it was; in use is refused" {
	replay recreate
	adm 0 remap rnbd2 --recreate
	[ "$output" = /dev/rnbd3 ]
	adm 0 remap rnbd2 --recreate -j
	valid rnbdadm.remap/1
	[ "$(jqv '.devices[0] | [.name, .new_name, .result] | @csv')" = '"rnbd2","rnbd3","recreated"' ]
	replay warned-recreate
	adm 0 remap rnbd2 --recreate -j
	[ "$(jqv '.warnings | @csv')" = '"w1","w2"' ]
	replay recreate-set
	adm 0 remap rnbd2 --recreate --trace
	[[ $stderr == *"session-set len="*"max-reconnect-attempts=5"* ]]
	# of a session that tells them the connections are asked for, too: it may end with its last device
	replay recreate-connections
	adm 0 remap rnbd0 --recreate --force
	replay recreate-fails
	fails 1 failed remap rnbd2 --recreate
	[[ $stderr == *"unmapped, but not mapped again"*"rnbdadm map ram0 --session cl1@srv2"* ]]
	replay recreate-force
	fails 7 busy remap rnbd0 --recreate
	[[ $stderr == *"rnbd0 is used by: mount /data"* ]]
	adm 0 remap rnbd0 --recreate --force
}

@test "resize: sizes" {
	replay resize
	for size in 30G +10G 30720M 32212254720 62914560s 30GiB 31457280K; do
		adm 0 resize rnbd0 "$size"
		[ -z "$output$stderr" ]
	done
	adm 0 resize rnbd0 30G -j --wait
	valid rnbdadm.resize/1
	golden resize.json
	adm 0 resize rnbd0 30G -v --trace
	[[ $stderr == *"resize len="*"id=1 size-bytes=32212254720"*"resized rnbd0: 20.0 GiB -> 30.0 GiB"* ]]
	for size in 1000 0 010 0x10 "" 9223372036854775808 +9223372036854775807 9223372036854775807 -20G -30G 1.5G 10Q G + - 10GG; do
		fails 2 usage resize rnbd0 "$size"
	done
	fails 2 usage resize rnbd0
	replay resize-4k
	fails 2 usage resize rnbd0 30000000512
	[[ $stderr == *"multiple of the logical block, 4096"* ]]
}

@test "resize: the same size is nothing to do" {
	replay two-sessions
	adm 0 resize rnbd0 20G -j
	valid rnbdadm.resize/1
	[ "$(jqv '.changed | not')" = true ]
	adm 0 resize rnbd0 +0
}

@test "resize: smaller needs two words" {
	replay resize-small
	fails 7 busy resize rnbd0 10G
	[[ $stderr == "rnbdadm: resize rnbd0 10G: refused, 10.0 GiB is smaller than the current 20.0 GiB"*"rnbd0 is used by: mount /data (ext4)"*"--allow-shrink"* ]]
	fails 7 busy resize rnbd0 -10G
	fails 7 busy resize rnbd0 10G --force
	fails 7 busy resize rnbd0 10G --allow-shrink
	adm 0 resize rnbd0 10G --allow-shrink --force
}

@test "resize: the size is read back" {
	replay resize-other
	fails 1 failed resize rnbd0 30G
	[[ $stderr == *"the size is 26843545600 bytes now, not the 32212254720 asked for"* ]]
	replay resize-late
	adm 0 resize rnbd0 30G --wait
}

@test "resize: refusals" {
	replay resize-refused
	fails 1 failed resize rnbd0 30G
	[[ $stderr == *"kernel: not so (SIZE)"* ]]
	fails 6 conflict resize rnbd2 1G
	[[ $stderr == *"the device is disconnected"*"rnbdadm remap rnbd2"* ]]
	fails 4 not_found resize rnbd9 1G
	replay new-denied
	fails 5 permission resize rnbd0 30G
	replay old-modules
	fails 9 unsupported resize rnbd0 30G
}

@test "session set: only what differs is asked for" {
	replay session-set
	adm 0 session set cl1@srv1 --mp-policy mi --max-reconnect-attempts 20
	[ -z "$output$stderr" ]
	adm 0 session set cl1@srv1 --mp-policy min-inflight --max-reconnect-attempts=20 -j
	valid rnbdadm.session/1
	golden session-set.json
	replay session-set-one
	adm 0 session set cl1@srv1 --mp-policy rr --max-reconnect-attempts -1 -v
	[ "$stderr" = "rnbdadm: set mp_policy of session cl1@srv1" ]
	replay two-sessions
	adm 0 session set cl1@srv1 --mp-policy ml --max-reconnect-attempts -1 -j
	valid rnbdadm.session/1
	[ "$(jqv '.changed == false and .changes == []')" = true ]
}

@test "session set: refusals" {
	replay session-set-refused
	fails 7 busy session set cl1@srv1 --mp-policy rr
	printf '%s' "$JSON" | jq -e '.changed == false and .changes == []'
	fails 2 usage session set cl1@srv1
	fails 2 usage session set cl1@srv1 --mp-policy best
	fails 2 usage session set cl1@srv1 --max-reconnect-attempts 10000
	fails 2 usage session set cl1@srv1 --max-reconnect-attempts -2
	fails 4 not_found session set nosuch --mp-policy rr
	replay new-denied
	fails 5 permission session set cl1@srv1 --mp-policy rr
	replay old-modules
	fails 9 unsupported session set cl1@srv1 --mp-policy rr
}

@test "device set: rw in place of migration, and nothing where it is rw" {
	replay set-rw
	adm 0 device set rnbd0 --access rw
	[ -z "$output$stderr" ]
	adm 0 device set vol0 --session cl1@srv1 --access=rw -j
	valid rnbdadm.device/1
	[ "$(jqv '[.changed, .changes, .devices[0].name, .devices[0].access] | tojson')" = \
		'[true,[{"key":"access","new":"rw","old":"migration"}],"rnbd0","rw"]' ]
	adm 0 device set rnbd0 --access rw --timeout 2500ms -v --trace
	[[ $stderr == *"device-set len="*"id=1 access-mode=1 timeout-ms=2500"*"rnbdadm: set access of rnbd0: migration -> rw" ]]
	replay two-sessions
	adm 0 device set rnbd0 --access rw -v
	[ "$stderr" = "rnbdadm: rnbd0 is rw already" ]
	adm 0 device set rnbd0 --access rw -j
	valid rnbdadm.device/1
	[ "$(jqv '.changed == false and .changes == [] and .devices[0].access == "rw"')" = true ]
}

@test "device set: refusals" {
	replay set-rw-busy
	fails 7 busy device set rnbd0 --access rw
	[[ $stderr == *"refused, the device stays in migration"*"kernel: another client has it open for writing"*"hint: unmap it there first"* ]]
	printf '%s' "$JSON" | jq -e '.changed == false and .changes == [] and .devices[0].access == "migration"'
	replay set-rw-cannot
	fails 9 unsupported device set rnbd0 --access rw
	[[ $stderr == *"the server has no such operation"*"hint: unmap it, and map it with --access rw"* ]]
	replay set-rw-lost
	fails 1 failed device set rnbd0 --access rw
	[[ $stderr == *"kernel: rnbd0 is not open on the server: remap it first"* ]]
	replay set-rw-ro
	fails 6 conflict device set rnbd0 --access rw
	[[ $stderr == *"the device is mapped read-only"*"unmap it, and map it with --access rw"* ]]
	replay may-look
	fails 5 permission device set rnbd0 --access rw
	for mode in ro migration; do
		fails 2 usage device set rnbd0 --access $mode
		[[ $stderr == *"to rw only, not to $mode"*"unmap the device, and map it with --access $mode"* ]]
	done
	fails 2 usage device set rnbd0 --access wr
	fails 2 usage device set rnbd0
	fails 2 usage device set rnbd0 --access rw --timeout 1ms
}

@test "device wait: each event is a reason to look" {
	replay wait
	adm 0 device wait rnbd0 --trace
	[ "$(grep -c "device-get dump" <<<"$stderr")" -ge 3 ]
	[ "$(grep -c "^nl \*\*.*device-ntf" <<<"$stderr")" = 2 ]
	[ -z "$output" ]
	adm 0 device wait vol0 --session cl1@srv1 -j
	valid rnbdadm.device/1
	[ "$(jqv '.devices[0].name')" = rnbd0 ]
	replay two-sessions
	fails 10 timeout device wait rnbd9 --timeout 1
	[[ $stderr == *"there is no such device"* ]]
	fails 10 timeout device wait rnbd2 --timeout 0
	[[ $stderr == *"rnbd2 is disconnected"* ]]
	fails 2 usage device wait 3
	replay twins
	fails 6 conflict device wait vol0
	replay two-sessions bare
	fails 10 timeout device wait rnbd0 --timeout 0
	[[ $stderr == *"there is no /dev/rnbd0"* ]]
}

@test "--dry-run: nothing is sent, and its lines can be run" {
	replay two-sessions
	for c in "remap rnbd2" "remap rnbd2 --recreate" "remap rnbd0 --recreate --force" "resize rnbd0 +1G" \
		"resize rnbd0 1G --allow-shrink --force" "session set cl1@srv1 --mp-policy rr" "unmap rnbd2" "stats reset cl1@srv1" \
		"server export close sdb --all --force" "server client disconnect cl7@here --force" \
		"map vol9 --session cl1@srv1" "device set rnbd0 --access rw"; do
		[[ $c != device* ]] || replay set-rw
		# shellcheck disable=SC2086
		adm 0 $c -n --trace
		plan=$output
		[ -n "$plan" ]
		[[ $stderr == *"nl --  "*" len="* ]]	# what would go out, as it would
		run ! grep -E -- "-> .* (map|unmap|remap|resize|device-set|session-set|export-close|session-disconnect|stats-reset) " <<<"$stderr"
		# shellcheck disable=SC2086
		adm 0 $c -n -j
		valid_any
		[ "$(jqv '.dry_run and (.plan | length > 0)')" = true ]
		while IFS= read -r line; do
			run_plan "$line" -n
			[ "$output" = "$line" ]
		done <<<"$plan"
	done
}

@test "a refusal names the option or argument, as it was typed" {
	local want command
	replay blamed
	own_root
	R+=(--test-root "$ROOT")
	while IFS='|' read -r want command; do
		# shellcheck disable=SC2086
		fails 1 failed $command </dev/null
		[[ $stderr == *"  kernel: not so ($want)"* ]]
		[ "$(jq -r '[.. | .error? | objects | .attribute] | unique | join(" ")' <<<"$JSON")" = "$want" ]
	done <<-END
		DEVICE|unmap rnbd2
		DEVICE|remap rnbd2
		SIZE|resize rnbd0 30G
		--access|device set rnbd0 --access rw
		PATH|path add cl1@srv1 10.0.2.1@10.0.2.2
		--path|map vol9 --session cl1@srv1 --path 10.0.2.1@10.0.2.2 --add-paths
		--mp-policy|session set cl1@srv1 --mp-policy rr
		--io-timeout|session set cl1@srv1 --io-timeout 5s
		--max-reconnect-attempts|session set cl1@srv1 --max-reconnect-attempts 7
		--path|session add cl1@srv3 --path 10.0.0.1@10.0.0.9
		--poll-queues|session add cl1@srv3 --path 10.0.0.1@10.0.0.9 --poll-queues 9
		--connections|session add cl1@srv3 --path 10.0.0.1@10.0.0.9 --connections 9
		PATH|path remove cl1@srv1 10.0.1.2
		--timeout|path reconnect cl1@srv1 10.0.1.2 --timeout 5s
		PATH|path disconnect cl1@srv1 10.0.1.2
		PATH|server path disconnect cl7@here 10.0.1.1
		--session|map vol9 --session cl1@srv3 --path 10.0.0.1@10.0.0.9
		--counters|stats reset cl1@srv1 --counters latency
		SELECTOR|stats reset cl1@srv1
		DEVICE|server export close ram0 --all --force
		SESSION|server client disconnect cl8@here --force
		PORT|server port undrain mlx5_1
		--timeout|server export revalidate sdb --session cl8@here --timeout 5s
	END
	# what came from several, or from none
	fails 1 failed session set cl1@srv1 --heartbeat-misses 9
	[[ $stderr$'\n' == *"  kernel: not so"$'\n'* ]]
	[ "$(jq -c .error.attribute <<<"$JSON")" = null ]
	# a configuration has keys
	for want in path:path mp-policy:mp-policy io-timeout:"io-timeout = 5s" device-path:device wait:wait; do
		printf '[session cl1@srv1]\npath = 10.0.0.1@10.0.0.2\npath = 10.0.1.1@10.0.1.2\n' >"$BATS_TEST_TMPDIR/conf"
		case ${want#*:} in
		path) echo 'path = 10.0.2.1@10.0.2.2' ;;
		mp-policy) echo 'mp-policy = rr' ;;
		wait) printf '%s\n' 'path = 10.0.2.1@10.0.2.2' 'wait = 5s' ;;
		device) printf '[session cl1@srv2]\npath = 10.0.0.1@10.0.0.3\n[device d]\nsession = cl1@srv2\ndevice-path = vol9\n' ;;
		*) echo "${want#*:}" ;;
		esac >>"$BATS_TEST_TMPDIR/conf"
		fails 1 failed config apply "$BATS_TEST_TMPDIR/conf"
		[[ $stderr == *"  kernel: not so (${want%%:*})"* ]]
	done
}

@test "no message and no exit code hangs on the words of the kernel" {
	local r name rc said
	for r in "$REC"/other-words-*.nl; do
		name=${r##*/other-words-} name=${name%.nl}
		replay "$name"
		run --separate-stderr "$RNBDADM" "${R[@]}" map vol9 --session cl1@srv3 --path 10.0.0.9 --io-mode fileio
		rc=$status said=$(grep -v '^  kernel: ' <<<"$stderr")
		((rc))
		replay "other-words-$name"
		run --separate-stderr "$RNBDADM" "${R[@]}" map vol9 --session cl1@srv3 --path 10.0.0.9 --io-mode fileio
		[[ $status == "$rc" && $(grep -v '^  kernel: ' <<<"$stderr") == "$said" ]]
	done
	# the texts are printed, nothing looks into them
	run ! grep -rnE '(strstr|strn?cmp)\(.*extack' "$TOP"/rnbdadm --include='*.c'
}

@test "the documents of these tests are valid" { all_valid; }
