#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# recover: paths first, then devices.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

@test "path reconnect, recover --wait: a failed attempt is no end" {
	replay path-on-slow
	for c in "path reconnect cl1@srv1 10.0.1.2" "recover cl1@srv1"; do
		# shellcheck disable=SC2086
		fails 1 failed $c
		# shellcheck disable=SC2086
		adm 0 $c --wait --trace
		[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
		# shellcheck disable=SC2086
		adm 0 $c --wait=1m -j
		valid_any
		[ "$(jqv '.changed and ([.paths, .recovered | arrays | .[].result] == ["reconnected"])')" = true ]
	done
	adm 0 path reconnect cl1@srv1 10.0.1.2 --wait -j
	# as it was seen last
	[ "$(jqv '.paths[0] | [.old_state, .state, .last_error, .reconnect_attempts] | tojson')" = '["reconnecting","connected",null,3]' ]
	replay path-on-later
	fails 10 timeout path reconnect cl1@srv1 10.0.1.2 --wait
	[[ $stderr == *"the path is not connected after 10000 ms"*"it is tried further; rnbdadm wait cl1@srv1 ip:10.0.1.1@ip:10.0.1.2"* ]]
	printf '%s' "$JSON" | jq -e '.changed | not'
	fails 10 timeout recover cl1@srv1 --wait=100ms
	replay path-on-never
	adm 0 path reconnect cl1@srv1 10.0.1.2
	fails 10 timeout path reconnect cl1@srv1 10.0.1.2 --wait
	printf '%s' "$JSON" | jq -e '.changed and .paths[0].state == "reconnecting"'
	# other failures are
	replay path-on-lost
	fails 3 partial path reconnect cl1@srv1 --wait
	replay paths-denied
	fails 5 permission path reconnect cl1@srv1 10.0.1.2 --wait
	replay path-on
	adm 0 path reconnect cl1@srv1 --force --wait -n --trace
	nothing_sent
}

@test "recover --wait: nodes of devices, and paths that were missing" {
	own_root
	rm "$ROOT/dev/rnbd2"
	world recover
	adm 0 recover cl1@srv2
	adm 10 recover cl1@srv2 --wait=100ms
	[[ $stderr == *"/dev/rnbd2 cannot be opened after"* ]]
	adm 3 recover --all --wait=100ms -j
	valid rnbdadm.recover/1
	[ "$(jqv '.changed and .recovered[0].type == "path" and .failed[0].name == "rnbd2"')" = true ]
	touch "$BATS_TEST_TMPDIR/root/dev/rnbd2"
	adm 0 recover --all --wait
	printf '%s\n' "[session cl1@srv1]" "path = 10.0.2.1@10.0.2.2" >"$BATS_TEST_TMPDIR/rnbd.conf"
	export RNBDADM_CONFIG=$BATS_TEST_TMPDIR/rnbd.conf
	replay add-missing-slow
	adm 0 recover cl1@srv1 --add-missing --wait --trace
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
	replay add-missing-never
	adm 0 recover cl1@srv1 --add-missing
	fails 10 timeout recover cl1@srv1 --add-missing --wait
	[[ $stderr == *"the path is not connected"* ]]
}

@test "recover: paths first, then devices" {
	replay recover
	adm 0 recover --all --trace
	[ -z "$output" ]
	[ "$(grep -o -- '-> .* \(path-reconnect\|remap\) len=.*' <<<"$stderr" | grep -o 'path-reconnect\|remap' | tr '\n' ' ')" = \
		"path-reconnect remap " ]
	adm 0 recover --all -j
	valid rnbdadm.recover/1
	[ "$(jqv '[.changed, (.recovered[] | .type, .name, .result)] | @csv')" = \
		'true,"path","ip:10.0.1.1@ip:10.0.1.2","reconnected","device","rnbd2","remapped"' ]
	for c in "recover cl1@srv1" "recover cl1@srv1 10.0.1.2"; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid rnbdadm.recover/1
		[ "$(jqv '[.recovered[].type] | @csv')" = '"path"' ]
	done
	adm 0 recover cl1@srv2 -j
	[ "$(jqv '[.recovered[].name] | @csv')" = '"rnbd2"' ]
	adm 0 recover cl1@srv1 10.0.0.2 -j
	[ "$(jqv '.changed == false and .recovered == [] and .failed == []')" = true ]
	replay recover-back
	adm 0 recover --all -j
	[ "$(jqv '[.recovered[].type] | @csv')" = '"path"' ]
	replay recover-fails
	fails 3 partial recover --all
	printf '%s' "$JSON" | jq -e '.failed[0].error.code == "timeout" and .recovered[0].name == "rnbd2"'
	fails 10 timeout recover cl1@srv1
}

@test "recover --add-missing: paths that the configuration lists" {
	local conf=$BATS_TEST_TMPDIR/rnbd.conf
	printf '%s\n' "[session cl1@srv1]" "path = 10.0.0.2" "path = 10.0.1.1@10.0.1.2" "path = 10.0.2.1@10.0.2.2" \
		"[session cl1@srv2]" "path = 10.0.0.3" >"$conf"
	export RNBDADM_CONFIG=$conf
	replay add-missing
	adm 0 recover cl1@srv1 --add-missing -j
	valid rnbdadm.recover/1
	[ "$(jqv '[.recovered[] | .type, .name, .session, .result] | join(" ")')" = "path ip:10.0.2.1@ip:10.0.2.2 cl1@srv1 added" ]
	[ "$(jqv '.changed and .failed == []')" = true ]
	adm 0 recover cl1@srv1 --add-missing -n
	[ "$output" = "rnbdadm path add cl1@srv1 ip:10.0.2.1@ip:10.0.2.2" ]
	replay warned-missing
	adm 0 recover cl1@srv1 --add-missing -j
	[ "$(jqv '.warnings | @csv')" = '"w1"' ]
	replay add-missing
	# a bare --wait of 'path add' is longer
	adm 0 recover cl1@srv1 --add-missing --wait -n
	[ "$output" = "rnbdadm path add cl1@srv1 ip:10.0.2.1@ip:10.0.2.2 --wait=10s" ]
	# without the option, and where nothing is missing
	adm 0 recover cl1@srv1 -j
	[ "$(jqv '.changed == false')" = true ]
	adm 0 recover cl1@srv2 --add-missing -j
	[ "$(jqv '.changed == false')" = true ]
	# a port, a device's session, all of them: connected, added, remapped
	sed -i '3s/$/\npath = 10.0.9.9 dest-port=999/' "$conf"
	adm 0 recover cl1@srv1 --add-missing -n
	[ "${lines[0]}" = "rnbdadm path add cl1@srv1 ip:10.0.9.9 --dest-port=999" ]
	sed -i 4d "$conf"
	replay add-missing-all
	adm 0 recover --all --add-missing -j
	valid rnbdadm.recover/1
	[ "$(jqv '[.recovered[].result] | join(" ")')" = "reconnected added remapped" ]
	replay add-missing-fails
	fails 10 timeout recover cl1@srv1 --add-missing
	sed -i '3s/$/\npath = 10.0.9.9/' "$conf"
	fails 3 partial recover cl1@srv1 --add-missing
	printf '%s' "$JSON" | jq -e '.failed[0].error.code == "timeout" and .recovered[0].result == "added"'
	# what is wrong with the configuration is known before anything is done
	echo nonsense >>"$conf"
	fails 2 usage recover cl1@srv1 --add-missing
	rm "$conf"
	fails 4 not_found recover cl1@srv1 --add-missing
}

@test "recover: refusals" {
	replay two-sessions
	fails 2 usage recover
	fails 2 usage recover cl1@srv1 --all
	fails 2 usage recover --all --timeout 1ms
	adm 2 recover --all -o csv
	fails 4 not_found recover nosuch
	fails 4 not_found recover cl1@srv1 10.9.9.9
	fails 2 usage recover cl1@srv1 --add-missing=peer
	replay paths-denied
	fails 5 permission recover --all
	replay old-modules
	fails 9 unsupported recover cl1@srv1
	replay empty
	adm 0 recover --all
	[ -z "$output$stderr" ]
}

@test "the documents of these tests are valid" { all_valid; }
