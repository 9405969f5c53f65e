#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The configuration: its files, what they say, and what is wrong with them.
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

# wrong PLACE TEXT: the configuration of stdin has this mistake
wrong() {
	conf
	fails 2 usage config validate "$CONF"
	[[ $stderr == *"$CONF:$1: $2"* ]]
}

@test "show: main file, drop-ins in the order of their names, where each value is from" {
	world empty
	conf "$ROOT/etc/rnbd/rnbdadm.conf" <<-'E'
		[defaults]
		wait = 10s
		mp-policy = rr
	E
	conf "$ROOT/etc/rnbd/conf.d/10-b.conf" <<-'E'
		# a comment
		[session cl1@srv1] ; another
		path = 10.0.0.1,10.0.0.2   # the first
		path = 10.0.1.2 dest-port=999
		mp-policy =
	E
	conf "$ROOT/etc/rnbd/conf.d/9-c.conf" <<-'E'
		[defaults]
		wait = 20s
		[device data]
		session = cl1@srv1
		device-path = " a;b \x01"
	E
	echo "[nonsense" >"$ROOT/etc/rnbd/conf.d/ignored.bak"
	adm 0 config show
	golden config-show-files.txt
	adm 0 config show -j
	valid rnbdadm.config/1
	golden config-show-files.json
	adm 0 config show --resolved
	golden config-resolved.txt
	adm 0 config validate -v
	[ "$stderr" = "rnbdadm: 3 files, 3 sections" ]
	adm 0 config validate -j
	valid rnbdadm.config-validate/1
	[ "$(jqv '.files | length')" = 3 ]
}

@test "another file: FILE, --config, RNBDADM_CONFIG, stdin; and none at all" {
	world empty
	echo "[session a]
path=10.0.0.1" >"$CONF"
	adm 0 config show
	[ "$output" = "# nothing is configured" ]
	for w in "$CONF" "--config $CONF"; do
		# shellcheck disable=SC2086
		adm 0 config show $w
		[ "${lines[0]}" = "[session a]  # $CONF:1" ]
	done
	RNBDADM_CONFIG=$CONF adm 0 config show
	[ "${lines[0]}" = "[session a]  # $CONF:1" ]
	RNBDADM_CONFIG=/nonexistent adm 0 --config "$CONF" config show
	run -0 "$RNBDADM" "${R[@]}" config show - <"$CONF"
	[ "${lines[0]}" = "[session a]  # stdin:1" ]
	fails 4 not_found config show /nonexistent
	RNBDADM_CONFIG=/nonexistent adm 4 config show
	fails 1 failed config show "$ROOT"
}

@test "validate: what is wrong, and where" {
	world empty
	wrong 1:1 "neither '[section]' nor 'key = value'" <<<"nonsense"
	wrong 1:1 "a key needs a section" <<<"wait = 3"
	wrong 1:2 "a section is" <<<"[sesion a]"
	wrong 1:11 "the ']' is missing" <<<"[session a"
	wrong 1:11 "there is more behind the ']'" <<<"[session a] b"
	wrong 2:11 "there is more behind the quote" <<<$'[session a]\npath = "1" 2'
	wrong 1:10 "a session name must not hold" <<<"[session a.b]"
	wrong 1:9 "the name of a device becomes" <<<"[device ..]"
	wrong 2:3 "[session] has no key 'connectoins'; did you mean connections" <<<$'[session a]\n  connectoins = 3'
	wrong 2:1 "[defaults] has no key 'foo'" <<<$'[defaults]\nfoo = 3'
	wrong 2:8 "path: '" <<<$'[session a]\npath = 10.0.0.1 port=3'
	wrong 2:8 "'nowhere' is not an address" <<<$'[session a]\npath = nowhere'
	wrong 2:13 "'bad' is not a value of mp-policy (round-robin, min-inflight, min-latency, rr, mi, ml)" <<<$'[session a]\nmp-policy = bad'
	wrong 2:8 "wait: '1ms' is not from 100ms to 10m" <<<$'[defaults]\nwait = 1ms'
	wrong 2:14 "io-timeout: '1ms' is not 0 or from 1s to 1d" <<<$'[session a]\nio-timeout = 1ms'
	wrong 2:13 "dest-port: 0 is not between" <<<$'[session a]\ndest-port = 0'
	wrong 2:8 "the closing quote is missing" <<<$'[session a]\npath = "x'
	wrong 2:9 "after a backslash" <<<$'[session a]\npath = "\\q"'
	wrong 4:1 "wait is given twice, first in line 3" <<<$'[session a]\npath=10.0.0.1\nwait = 1\nwait = 2'
	wrong 3:10 "session 'a' is defined twice, first at $CONF:1" <<<$'[session a]\npath=10.0.0.1\n[session a]\npath=10.0.0.1'
	wrong 1:10 "session 'a' has no path" <<<"[session a]"
	wrong 3:8 "path 10.0.0.1 is given twice" <<<$'[session a]\npath = 10.0.0.1\npath = 10.0.0.1'
	wrong 3:8 "path ip:10.0.0.1 is given twice" <<<$'[session a]\npath = 10.0.0.1\npath = ip:10.0.0.1'
	wrong 2:11 "there is no [session b]" <<<$'[device a]\nsession = b\ndevice-path = v'
	wrong 1:9 "device 'a' has no device-path" <<<$'[device a]\nsession = b'
	wrong 4:1 "[device] has no key 'size'" <<<$'[device a]\nsession = b\ndevice-path = v\nsize = 1G'
	wrong 1:9 "device 'a' has no session" <<<$'[device a]\ndevice-path = b'
	wrong 6:9 "device 'b' is 'a' of" <<<$'[session s]\npath=10.0.0.1\n[device a]\nsession=s\ndevice-path=v\n[device b]\nsession=s\ndevice-path=v'
	printf '[session a]\npath = 10.0.0.1\0\n' | wrong 2:1 "a byte of zero"
	wrong 1:1 "neither" <<<'{"sessions":[]}'
	# all of them at once
	conf <<<$'[session a]\nx = 1\ny = 2'
	fails 2 usage config validate "$CONF"
	[[ $stderr == *"has 3 mistakes"* ]]
	printf '%s' "$JSON" | jq -e '.problems | length == 3 and all(.severity == "error")'
	conf <<<$'[session a]\npath = 10.0.0.1\nx = 1'
	adm 0 config validate --lenient "$CONF"
	[[ $stderr == *"warning: $CONF:3:1: [session] has no key 'x'"* ]]
	replay two-sessions
	for c in "config show" "config diff" "config apply -n"; do
		# shellcheck disable=SC2086
		fails 2 usage $c "$CONF"
		[[ $stderr == *"$CONF:3:1: [session] has no key 'x'"* ]]
		# shellcheck disable=SC2086
		adm "$([[ $c == *diff ]] && echo 11 || echo 0)" $c --lenient "$CONF"
		[[ $stderr == *"warning: $CONF:3:1: [session] has no key 'x'"* && -n $output ]]
	done
}

@test "a byte order mark is skipped" {
	world empty
	printf '\xef\xbb\xbf[session a]\npath = 10.0.0.1\n' >"$ROOT/etc/rnbd/rnbdadm.conf"
	printf '\xef\xbb\xbf[session b]\npath = 10.0.0.2\n' >"$ROOT/etc/rnbd/conf.d/b.conf"
	printf '\xef\xbb\xbf' >"$ROOT/etc/rnbd/conf.d/c.conf"
	adm 0 config show -j
	[ "$(jqc '[.sessions[].name]')" = '["a","b"]' ]
	wrong 1:1 "neither" < <(printf '\xef\xbb\xbfx\n')
}

@test "what is no regular file below /etc/rnbd is a mistake that hides nothing else and hangs nobody" {
	local f
	world empty
	mkdir -p "$ROOT/sys/block/rnbd0/rnbd" "$ROOT/sys/class/rtrs-client/a/paths"
	echo a >"$ROOT/sys/block/rnbd0/rnbd/session"
	echo vol0 >"$ROOT/sys/block/rnbd0/rnbd/mapping_path"
	printf '%s\n' '[session a]' 'path = 10.0.0.1' '[device data]' session=a device-path=vol0 >"$ROOT/etc/rnbd/conf.d/50.conf"
	ln -s /dev/null "$ROOT/etc/rnbd/conf.d/masked.conf"
	printf '#!/bin/sh\nexec timeout 20 %s "$@"\n' "$RNBDADM" >"$BATS_TEST_TMPDIR/limited"
	chmod +x "$BATS_TEST_TMPDIR/limited"
	RNBDADM=$BATS_TEST_TMPDIR/limited
	for f in rnbdadm.conf conf.d/40.conf conf.d/60.conf; do
		mkfifo "$ROOT/etc/rnbd/$f"
		fails 2 usage config validate
		[ "${stderr_lines[-1]}" = "  /etc/rnbd/$f: no regular file" ]
		adm 0 udev rnbd0
		[[ $output == *RNBD_BY_NAME=data* ]]
		rm "$ROOT/etc/rnbd/$f"
	done
	adm 0 config validate
	# a pipe that somebody names is one that somebody writes to
	run -0 bash -c '"$@" --config <(echo "[session c]"; echo "path = 10.0.0.3") config show' _ "$RNBDADM" "${R[@]}"
	[[ $output == "[session c]"* ]]
}

@test "a session defined in two files: both are named" {
	world empty
	conf "$ROOT/etc/rnbd/conf.d/1.conf" <<<$'[session a]\npath = 10.0.0.1'
	conf "$ROOT/etc/rnbd/conf.d/2.conf" <<<$'\n[session a]\npath = 10.0.0.1'
	for c in validate show diff apply; do
		fails 2 usage config "$c"
		[[ $stderr == *"/etc/rnbd/conf.d/2.conf:2:10: session 'a' is defined twice, first at /etc/rnbd/conf.d/1.conf:1"* ]]
	done
}

@test "edit-hints: a configuration that is valid, with every key" {
	world empty
	adm 0 config edit-hints
	printf '%s\n' "$output" >"$CONF"
	adm 0 config validate "$CONF"
	adm 0 config edit-hints -j
	valid rnbdadm.help/1
	# each key that a session or a device can have is told of
	for k in path mp-policy dest-port wait io-timeout session device-path access optional; do
		grep -q "^# $k =" "$CONF"
	done
}

@test "the documents of these tests are valid" { all_valid; }
