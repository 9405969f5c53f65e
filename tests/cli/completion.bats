#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Completion: in the shells, on a terminal, with keys.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare man
}

setup() {
	load helpers
	replay two-sessions
	# a busy machine is not what most tests are about
	trap '' ALRM
}

shell() { "$PY" "$CLI/shell.py" "$PLAIN" "$REC" "$@"; }

# offers WORD..: what may come at the last of the words
offers() { adm 0 __complete $(($# - 1)) -- "$@"; }

@test "bash: words, options, values, live names, @ and : in the middle" { shell lines bash; }

@test "zsh: the same" { shell lines zsh; }

@test "fish: the same" { shell lines fish; }

@test "what the verb would change is offered first, what is on the line already is not" {
	for s in bash zsh fish; do
		shell lists "$s"
	done
}

@test "at every position what the command table holds is offered, and shown by each shell" { shell table; }

@test "bash: COMP_WORDBREAKS and all other settings stay; other settings do as well" { shell state; }

@test "names are quoted, and none is run" {
	for s in bash zsh fish; do
		shell names "$s"
	done
}

@test "no module, no permission, no tool: silence" {
	for s in bash zsh fish; do
		shell silent "$s"
	done
}

@test "from the key to the word: less than 50 ms, 200 ms with 4096 devices" {
	shell times bash
	shell times zsh
	shell times fish
}

@test "the script of each shell; as JSON; no other shell" {
	adm 0 completion bash
	diff <(printf '%s\n' "$output") "$TOP/completions/rnbdadm.bash"
	bash -n "$TOP/completions/rnbdadm.bash"
	adm 0 completion zsh
	diff <(printf '%s\n' "$output") "$TOP/completions/_rnbdadm"
	zsh -n "$TOP/completions/_rnbdadm"
	adm 0 completion fish
	diff <(printf '%s\n' "$output") "$TOP/completions/rnbdadm.fish"
	fish -n "$TOP/completions/rnbdadm.fish"
	adm 0 completion zsh -j
	valid rnbdadm.completion/1
	fails 2 usage completion tcsh
	fails 2 usage completion
}

@test "words and their descriptions" {
	offers rnbdadm sess
	[ "$output" = $'session\tsessions: associations with servers' ]
	offers rnbdadm device l
	[ "$output" = $'list\tlist the mapped devices' ]
	offers rnbdadm sr
	[ -z "$output" ]
	offers rnbdadm device list --sor
	[ "$output" = $'--sort\torder, \'-\' descending' ]
	# no hidden one, and none twice
	offers rnbdadm __
	[ -z "$output" ]
	offers rnbdadm device list --nl
	[ -z "$output" ]
	offers rnbdadm device list --wide --wi
	[ -z "$output" ]
	offers rnbdadm session add s --path 10.0.0.1 --pat
	[[ $output == --path$'\t'* ]]
	offers rnbdadm session list -- --
	[ -z "$output" ]
	# a place beyond the words
	for n in 2 18446744073709551614 18446744073709551615; do
		adm 0 __complete $n -- rnbdadm sess
		[ -z "$output" ]
	done
}

@test "sessions, paths, devices, exports, ports, settings, fields, topics" {
	offers rnbdadm session remove ''
	[ "${lines[0]}" = $'cl1@srv1\tsession, degraded, 1 of 2 paths' ]
	offers rnbdadm path reconnect --only-down cl1@srv1 ''
	[ "$output" = $'ip:10.0.1.1@ip:10.0.1.2\treconnecting, mlx5_1:1' ]
	offers rnbdadm remap --only-disconnected rn
	[ "$output" = $'rnbd2\tram0 on cl1@srv2, disconnected' ]
	offers rnbdadm unmap ra
	[ "$output" = $'ram0\trnbd2 on cl1@srv2, disconnected' ]
	# what is mapped is not to be mapped
	offers rnbdadm map ra
	[ -z "$output" ]
	offers rnbdadm path add cl1@srv1 ip:10.0.0.1@
	[[ $output != *@ip:10.0.0.2$'\t'* && $output == *@ip:10.0.0.3$'\t'* ]]
	offers rnbdadm server client show ''
	[ "${output%%$'\t'*}" = cl7@here ]
	offers rnbdadm server export close s
	[ "$output" = $'sdb\tvol1 of cl7@here' ]
	offers rnbdadm server port drain mlx5_1
	[ "${output%%$'\t'*}" = mlx5_1:1 ]
	offers rnbdadm stats --role server ''
	[[ $output == *cl7@here* && $output != *rnbd0* ]]
	offers rnbdadm session set cl1@srv1 --reconnect-delay ''
	[ "$output" = $'1000ms\tas it is now' ]
	offers rnbdadm device set rnbd0 --access ''
	[ "${output%%$'\t'*}" = rw ]
	offers rnbdadm session set cl1@srv1 --mp-policy min-l
	[ "${output%%$'\t'*}" = min-latency ]
	offers rnbdadm device list --sort -size
	[ "${output%%$'\t'*}" = -size_bytes ]
	offers rnbdadm wait cl1@srv1 --for pres
	[ "${output%%$'\t'*}" = present ]
	offers rnbdadm check rdma.port
	[ "${output%%$'\t'*}" = rdma.port_state ]
	offers rnbdadm schema stats-r
	[ "${output%%$'\t'*}" = stats-reset ]
	offers rnbdadm help fields dev
	[ "${output%%$'\t'*}" = device ]
	offers rnbdadm --nl-record ''
	[ "$output" = $'\tfiles' ]
}

@test "names with control characters are left out" {
	replay shell
	offers rnbdadm unmap new
	[ -z "$output" ]
	replay hostile
	offers rnbdadm session show ''
	[[ $output != *[$'\e\x7f\x01']* && $output != *$'\xc2\x9b'* && $output == *back\\slash$'\t'* ]]
}

@test "names that begin with '-' are offered behind -- alone, and as values" {
	replay dashed
	for words in "session show" "stats reset" "session set --io-timeout 5s" unmap; do
		# shellcheck disable=SC2086
		offers rnbdadm $words ''
		[[ $'\n'$output != *$'\n-s\t'* && $'\n'$output != *$'\n-'[va]* && $'\n'$output != *$'\n--all\t'*"session, "* ]]
	done
	offers rnbdadm session show -- ''
	[ "$(cut -f 1 <<<"$output")" = $'--all\n-s' ]
	offers rnbdadm unmap -- -v
	[ "$(cut -f 1 <<<"$output" | sort -u)" = -v ]
	offers rnbdadm device list --session=
	[ "$(cut -f 1 <<<"$output")" = $'--session=--all\n--session=-s' ]
}

@test "a kernel that is slow gives no words, in time, and no error" {
	mkfifo "$BATS_TEST_TMPDIR/slow"
	exec {hold}<>"$BATS_TEST_TMPDIR/slow"
	R=(--nl-replay "$BATS_TEST_TMPDIR/slow" --test-root "$REC/root")
	trap - ALRM
	local t0=${EPOCHREALTIME/./}
	RNBDADM=$PLAIN offers rnbdadm session show ''
	((${EPOCHREALTIME/./} - t0 < 3000000))
	exec {hold}>&-
	[ -z "$output" ] && [ -z "$stderr" ]
}

@test "output settings do not reach the scripts" {
	RNBDADM_OUTPUT=json offers rnbdadm sess
	[ "$output" = $'session\tsessions: associations with servers' ]
}

@test "installed: bash, zsh and fish find it by themselves" {
	make -s -C "$TOP/rnbdadm" install DESTDIR="$BATS_TEST_TMPDIR" PREFIX=/usr >&2
	shell installed "$BATS_TEST_TMPDIR/usr/share"
}

@test "the documents of these tests are valid" { all_valid; }
