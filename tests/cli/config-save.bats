#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# config save: from what runs to a file that says the same.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	load config-host
	config_host
}

@test "save: INI and JSON, and nothing differs from what was saved" {
	for rec in two-sessions hostile empty; do
		replay $rec
		adm 0 config save
		[[ $rec != two-sessions ]] || golden config-save-running.txt
		[[ $rec != hostile || ($output == *'"\xc2\x9b31m"'* && $output != *[$'\e\x7f\x01']* && $output != *$'\xc2\x9b'*) ]]
		printf '%s\n' "$output" >"$CONF"
		adm 0 config validate "$CONF"
		# hostile names that no session may have are left out
		adm 0 config diff "$CONF" -j
		valid rnbdadm.plan/1
		[ "$(jqv '.changes | length')" = 0 ]
		adm 0 config save -j
		valid rnbdadm.config/1
		[[ $rec != two-sessions ]] || golden config-save-running.json
	done
	replay two-sessions
	run -0 bash -o pipefail -c '"$@" config save | "$@" config diff -' _ "$RNBDADM" "${R[@]}"
	[ -z "$output" ]
	adm 0 config save
	golden config-save-running.txt
	adm 0 config save --session cl1@srv2
	[ "$(grep -c '^\[' <<<"$output")" = 2 ]
	fails 4 not_found config save --session nosuch
}

@test "what is being removed is waited for, and then not there; for ten seconds, of the session that it is about" {
	replay removing
	adm 0 path list --filter session=cl1@srv1 -j
	[ "$(jqv '[.paths[].state] == ["connected", "closing"]')" = true ]
	adm 0 config save
	[[ $(grep ^path <<<"$output") == "path = ip:10.0.0.1@ip:10.0.0.2"$'\n'"path = ip:10.0.0.1@ip:10.0.0.3" && -z $stderr ]]
	adm 0 config save --session cl1@srv2
	[[ $(grep ^path <<<"$output") == "path = ip:10.0.0.1@ip:10.0.0.3" && -z $stderr ]]
	replay removing-session
	adm 0 config save
	[[ $output == *cl1@srv1* && $output != *cl1@srv2* && -z $stderr ]]
	replay removing-long
	adm 0 config save
	[ "$(grep -c ^path <<<"$output")" = 3 ]
	[[ $stderr == *"warning: path ip:10.0.1.1@ip:10.0.1.2 of session cl1@srv1 is still being removed; run this again when it is gone" ]]
	replay removing-fails
	fails 10 timeout config save
}

@test "save: two paths of the same addresses are one; a plan says which of them goes" {
	replay same-path
	adm 0 config save --session cl1@srv1
	[ "$(grep -c ^path <<<"$output")" = 1 ]
	printf '%s\n' "$output" >"$CONF"
	adm 0 config validate "$CONF"
	adm 0 config apply -n --only session:cl1@srv1 "$CONF"
	[ "$output" = "rnbdadm path remove cl1@srv1 id:4" ]
}

@test "save: names of devices are those of the configuration; ports" {
	replay two-sessions
	conf <<<$'[session cl1@srv2]\npath = 10.0.0.3\n[device scratch]\nsession = cl1@srv2\ndevice-path = ram0'
	RNBDADM_CONFIG=$CONF adm 0 config save --session cl1@srv2
	[[ $output == *"[device scratch]"* && $output != *"dest-port"* ]]
	# and of 'map --name', unless the configuration has it for another one
	world two-sessions
	mkdir -p "$ROOT"/run/rnbd/registry/device:cl1@srv{1:vol0,1:vol1,2:ram0}
	printf data | tee "$ROOT"/run/rnbd/registry/device:cl1@srv{1:vol0,1:vol1}/name
	printf other >"$ROOT"/run/rnbd/registry/device:cl1@srv2:ram0/name
	RNBDADM_CONFIG=$CONF adm 0 config save
	[ "$(grep '^\[device' <<<"$output")" = $'[device data]\n[device vol1]\n[device scratch]' ]
}

@test "save: what no file can make again is told, and is a failure where it is named" {
	local total saved
	replay hostile
	adm 0 session list -j
	total=$(jqv '.sessions | length')
	adm 0 config save -j
	saved=$(jqv '.sessions | length')
	[ "$saved" -gt 0 ] && [ "$saved" -lt "$total" ]
	[ "$(jqv '.warnings | map(select(startswith("session "))) | length')" = $((total - saved)) ]
	[ "$(grep -c "^rnbdadm: warning: session '.*' cannot be saved: " <<<"$stderr")" = $((total - saved)) ]
	[[ $stderr == *"session 'new\\x0aline' cannot be saved: a session name must not hold spaces or control characters"* ]]
	fails 1 failed config save --session $'new\nline' "$CONF"
	[[ $stderr == "rnbdadm: config save $CONF: session 'new\\x0aline' cannot be saved: a session name must not"* ]]
	[ ! -e "$CONF" ]
	adm 0 config save --session 'back\slash'
	[[ -z $stderr && $output == *'[session back\slash]'* ]]
}

@test "save: connections, unless this host would take as many by itself" {
	world two-sessions
	mkdir -p "$ROOT/sys/devices/system/cpu"
	for cpus in 0 0-14 0-15,17 ""; do
		echo "$cpus" >"$ROOT/sys/devices/system/cpu/online"
		adm 0 config save
		# the other session is of modules that do not tell
		[ "$(grep connections <<<"$output")" = "connections = 16" ]
		echo "$output" >"$CONF"
		adm 0 config diff "$CONF"
	done
	for cpus in 0-15 0,2-15,17; do
		echo "$cpus" >"$ROOT/sys/devices/system/cpu/online"
		adm 0 config save
		[[ $output != *connections* ]]
	done
}

@test "save: to a file, at once, not over another one" {
	replay two-sessions
	adm 0 config save "$CONF"
	[ -z "$output$stderr" ]
	[ "$(stat -c %a "$CONF")" = 644 ]
	grep -q '^\[session cl1@srv1\]$' "$CONF"
	run -0 find "$BATS_TEST_TMPDIR" -name '*.tmp'
	[ -z "$output" ]
	fails 6 conflict config save "$CONF"
	adm 0 config save -j --force "$CONF"
	[ "$(jq -r .schema "$CONF")" = rnbdadm.config/1 ]
	fails 4 not_found config save /nonexistent/x
	(umask 077 && "$RNBDADM" "${R[@]}" config save "$BATS_TEST_TMPDIR/b")
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/b")" = 644 ]
	# what a run that was killed has left, by a process of the same number, is in nobody's way
	run -0 bash -c 'touch "$1.$$.tmp"; f=$1; shift; exec "$@" config save "$f"' _ "$BATS_TEST_TMPDIR/d" "$RNBDADM" "${R[@]}"
	[ -s "$BATS_TEST_TMPDIR/d" ]
	ln -s /dev/full "$BATS_TEST_TMPDIR/link"
	for f in "$BATS_TEST_TMPDIR/link" /dev/full "$BATS_TEST_TMPDIR"; do
		for force in "" --force; do
			# shellcheck disable=SC2086
			fails 6 conflict config save $force "$f"
			[[ $stderr == *"$f is no regular file"* && $stderr != *"exist"* ]]
		done
	done
	[ -L "$BATS_TEST_TMPDIR/link" ]
	adm 0 config save "$BATS_TEST_TMPDIR/c" -n
	[ ! -e "$BATS_TEST_TMPDIR/c" ]
	# it fails where the other would
	for n in "" -n; do
		# shellcheck disable=SC2086
		fails 6 conflict config save "$CONF" $n
		# shellcheck disable=SC2086
		fails 6 conflict config save --force "$BATS_TEST_TMPDIR/link" $n
		# shellcheck disable=SC2086
		fails 4 not_found config save /nonexistent/x $n
		# shellcheck disable=SC2086
		fails 1 failed config save "$CONF/x" $n
		# shellcheck disable=SC2086
		fails 6 conflict config save --force "$BATS_TEST_TMPDIR" $n
	done
	adm 0 config save "$CONF" --force -n
}

@test "save: owner, mode and access list of the old file stay, and a link with the file that it names" {
	local dir=$BATS_TEST_TMPDIR/real link=$BATS_TEST_TMPDIR/link acl
	replay two-sessions
	mkdir "$dir"
	echo old >"$dir/a"
	chmod 600 "$dir/a"
	((UID)) || chown 1234:4321 "$dir/a"
	ln -s real/a "$BATS_TEST_TMPDIR/middle"
	ln -s "$BATS_TEST_TMPDIR/middle" "$link"
	adm 0 config save --force "$link"
	[[ $(readlink "$link" "$BATS_TEST_TMPDIR/middle") == "$BATS_TEST_TMPDIR/middle"$'\n'"real/a" ]]
	grep -q '^\[session cl1@srv1\]$' "$dir/a"
	[ "$(stat -c %a "$dir/a")" = 600 ]
	((UID)) || [ "$(stat -c %u:%g "$dir/a")" = 1234:4321 ]
	# what the group may do is not what the bits of the group say
	acl=0x$("$PY" -c 'import struct; print((struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in (
		(1, 6, 2**32 - 1), (2, 4, 33), (4, 0, 2**32 - 1), (16, 4, 2**32 - 1), (32, 0, 2**32 - 1)))).hex())')
	if "$PY" -c 'import os, sys; os.setxattr(sys.argv[1], "system.posix_acl_access", bytes.fromhex(sys.argv[2][2:]))' "$dir/a" "$acl"; then
		adm 0 config save --force "$link"
		[ "$("$PY" -c 'import os, sys; print("0x" + os.getxattr(sys.argv[1], "system.posix_acl_access").hex())' "$dir/a")" = "$acl" ]
	fi
	# one to nothing yet: it has the target made; a circle is none
	ln -s real/new "$BATS_TEST_TMPDIR/first"
	adm 0 config save "$BATS_TEST_TMPDIR/first"
	[[ -L $BATS_TEST_TMPDIR/first && -f $dir/new && ! -L $dir/new ]]
	ln -s circle "$BATS_TEST_TMPDIR/circle"
	fails 1 failed config save --force "$BATS_TEST_TMPDIR/circle"
	run -0 strace -e trace=fsync,rename,openat -o "$BATS_TEST_TMPDIR/trace" "$PLAIN" "${R[@]}" config save --force "$link"
	[[ $(tail -n 4 "$BATS_TEST_TMPDIR/trace") == *rename*O_DIRECTORY*fsync* ]]
}

@test "save is killed at any of its calls: the old file or the new one" {
	local call n text old='# mine'
	replay two-sessions
	adm 0 config save
	for call in write fchmod fsync rename; do
		for n in 1 2; do
			echo "$old" >"$CONF"
			run strace -o "$BATS_TEST_TMPDIR/trace" -e trace=$call -e "inject=$call:signal=KILL:when=$n" \
				"$PLAIN" "${R[@]}" config save "$CONF" --force
			[[ $n == 2 || $status == 137 ]]
			text=$(<"$CONF")
			[[ $text == "$old" || $text == "# Written by 'rnbdadm config save'"* ]]
			[[ $text == "$old" ]] || adm 0 config diff "$CONF"
			adm 0 config save "$CONF" --force
			adm 0 config diff "$CONF"
		done
	done
}

@test "the documents of these tests are valid" { all_valid; }
