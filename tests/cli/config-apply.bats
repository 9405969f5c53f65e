#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# config diff and config apply: the way from what runs to what the configuration says.
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

plan() {
	conf <<-'E'
		[session cl1@srv1]
		path = ip:10.0.0.1@ip:10.0.0.2
		path = ip:10.0.2.1@ip:10.0.2.2
		mp-policy = round-robin
		io-timeout = 30s
		[session cl1@srv3]
		path = 10.0.0.1@10.0.0.9
		path = 10.0.1.9
		dest-port = 999
		[device data]
		session = cl1@srv1
		device-path = vol0
		[device more]
		session = cl1@srv3
		device-path = vol9
		access = ro
	E
}

@test "diff and dry run: in the order of work" {
	replay two-sessions
	plan
	adm 11 config diff "$CONF"
	golden config-diff-all.txt
	[[ $stderr == *"config diff $CONF: 7 changes" ]]
	adm 11 config diff "$CONF" -j
	valid rnbdadm.plan/1
	output=${output//$CONF/FILE}
	golden config-diff-all.json
	adm 0 config apply "$CONF" -n
	golden config-apply-n.txt
	[ -z "$stderr" ]
	adm 0 config apply "$CONF" -nj --trace
	valid rnbdadm.plan/1
	[ "$(jqv '.dry_run and (.changes | all(.result == null))')" = true ]
	run ! grep -E -- "-> .* (map|session-(set|add|del)|path-(add|del)) " <<<"$stderr"
	# each line of the plan is a command
	adm 0 config apply "$CONF" -n
	while read -r line; do
		eval "words=(${line#rnbdadm})"
		run -0 "$RNBDADM" "${words[@]}" -h
	done <<<"$output"
}

@test "dry run: names that begin with '-'" {
	world empty
	conf <<<$'[session -q]\npath = 10.0.0.9\n[device d]\nsession = -q\ndevice-path = -v'
	adm 0 config apply -n "$CONF"
	[ "$output" = "rnbdadm session add --path ip:10.0.0.9 -- -q
rnbdadm map --session=-q --name=d -- -v" ]
	adm 0 config apply -nj "$CONF"
	jqv '[.changes[].command] == [["session", "add", "--path", "ip:10.0.0.9", "--", "-q"],
		["map", "--session=-q", "--name=d", "--", "-v"]]'
}

@test "dry run: a host without an address fails what needs it" {
	world empty
	conf <<<$'[session q]\npath = host:nosuch.invalid\n[device d]\nsession = q\ndevice-path = v'
	fails 1 failed config apply -n "$CONF"
	[[ $stderr == *"session q: 'host:nosuch.invalid' has no address"*"device d: session 'q' is not there"*"2 of 2 changes would fail"* ]]
	jq -e '[.changes[] | [.result, .error.code]] == [["failed", "failed"], ["skipped", "failed"]]' <<<"$JSON"
	conf <<<$'[session q]\npath = host:nosuch.invalid\n[device d]\nsession = q\ndevice-path = v\n[session s]\npath = 10.0.0.9'
	adm 3 config apply -n "$CONF"
	[ "$output" = "rnbdadm session add s --path ip:10.0.0.9" ]
	[[ $stderr == *"2 of 3 changes would fail"* ]]
	adm 3 config apply -nj "$CONF"
	valid rnbdadm.plan/1
	jqv '.dry_run and .error.code == "partial" and .summary.failed == 2 and (.changes[] | select(.name == "s").error == null)'
}

@test "dry run: a disk in use and the last connected path stay" {
	mkdir -p "$ROOT/proc/self" "$ROOT/run/rnbd/registry/device:cl1@srv1:vol0"
	echo '30 1 252:0 / /data rw - ext4 /dev/rnbd0 rw' >"$ROOT/proc/self/mountinfo"
	printf config >"$ROOT/run/rnbd/registry/device:cl1@srv1:vol0/owner"
	world two-sessions
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2'
	fails 1 failed config apply --prune -n "$CONF"
	[[ $stderr == *"device rnbd0: refused, the device is in use"*"rnbd0 is used by: mount /data"* ]]
	conf <<<$'[session cl1@srv1]\npath = 10.0.1.2'
	fails 1 failed config apply -n "$CONF"
	[[ $stderr == *"no other path of session 'cl1@srv1' is connected"* ]]
	# with one that comes before it goes, and not where the first failure is the end
	conf <<<$'[session cl1@srv1]\npath = 10.0.1.2\npath = 10.0.9.2\n[session q]\npath = host:nosuch.invalid'
	adm 3 config apply -n "$CONF"
	[[ $output == *"path add cl1@srv1 ip:10.0.9.2"*"path remove cl1@srv1 ip:10.0.0.1@ip:10.0.0.2" ]]
	conf <<<$'[session a]\npath = host:nosuch.invalid\n[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\npath = 10.0.9.2'
	fails 1 failed config apply -n --stop-on-error "$CONF"
	adm 3 config apply -n "$CONF"
	[ "$output" = "rnbdadm path add cl1@srv1 ip:10.0.9.2" ]
	[ -e "$ROOT/run/rnbd/registry/device:cl1@srv1:vol0/owner" ]
}

@test "modes: add leaves what is there; --only takes one, with the session that it needs" {
	replay two-sessions
	plan
	adm 11 config diff --mode add "$CONF" -j
	[ "$(jqv '[.changes[].action] | unique | join(" ")')" = add ]
	adm 11 config diff --only device:more "$CONF" -j
	[ "$(jqv '[.changes[] | .session] | unique | join(" ")')" = cl1@srv3 ]
	[ "$(jqv '.unlisted | length == 0')" = true ]
	adm 11 config diff --only device:data --mode add "$CONF" -j
	[ "$(jqv '[.changes[].object] | join(" ")')" = path ]
	adm 11 config diff --only session:cl1@srv1 "$CONF" -j
	[ "$(jqv '[.changes[].session] | unique | join(" ")')" = cl1@srv1 ]
	fails 4 not_found config diff --only session:cl1@srv2 "$CONF"
	fails 2 usage config diff --only cl1@srv1 "$CONF"
}

@test "apply: nothing to do sends nothing, says nothing" {
	replay two-sessions
	adm 0 config save
	printf '%s\n' "$output" >"$CONF"
	adm 0 config apply "$CONF"
	[ -z "$output$stderr" ]
	adm 0 config apply "$CONF" -j
	valid rnbdadm.plan/1
	[ "$(jqv '.changed == false')" = true ]
}

@test "an instance of rnbd-device@ is the device's name, or as systemd-escape writes it" {
	local name
	cp -r "$REC/root/." "$ROOT"
	world unmap
	conf <<<$'[session cl1@srv2]\npath = 10.0.0.3\n[device my-disk@a]\nsession = cl1@srv2\ndevice-path = ram0'
	mkdir -p "$ROOT/dev/rnbd/by-name"
	ln -s ../../rnbd2 "$ROOT/dev/rnbd/by-name/my-disk@a"
	for name in my-disk@a 'my\x2ddisk\x40a'; do
		adm 0 config apply -n --only "device:$name" "$CONF"
		[[ $stderr != *"has no"* ]]
		adm 0 unmap --idempotent "/dev/rnbd/by-name/$name" -n
		[ "${output%  #*}" = "rnbdadm unmap rnbd2 --idempotent" ]
	done
	fails 4 not_found config apply -n --only 'device:my\x2fdisk' "$CONF"
	grep -qE '^RestartPreventExitStatus=(.* )?4( |$)' "$TOP/systemd/rnbd-device@.service.in"
	# absent is absent
	adm 0 unmap --idempotent '/dev/rnbd/by-name/my\x2ddisk' -n
	[ -z "$output" ]
}

@test "a /run that cannot be written to: --no-lock is named, and does without" {
	command -v strace >/dev/null || skip "no strace"
	own_root
	world unmap
	readonly_run() {
		run --separate-stderr strace -o "$BATS_TEST_TMPDIR/trace" -P "$ROOT/run/rnbdadm.lock" -e inject=openat:error=EROFS \
			"$PLAIN" "${R[@]}" unmap rnbd2 "$@"
	}
	readonly_run
	[[ $status -ne 0 && $stderr == *"Read-only file system"* && $stderr == *"hint: --no-lock"* ]]
	readonly_run --no-lock
	[[ $status -eq 0 && -z $stderr ]]
}

@test "apply --wait: until a new disk can be opened" {
	cp -r "$REC/root/." "$ROOT"
	rm "$ROOT/dev/rnbd3"
	world changes
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.2\n[device d]\nsession = cl1@srv1\ndevice-path = vol9'
	adm 10 config apply --mode add --wait=100ms "$CONF" -j
	valid rnbdadm.plan/1
	[ "$(jqv '.changed and (.changes[0] | .result == "added" and .error.code == "timeout")')" = true ]
	adm 0 config apply --mode add --no-wait "$CONF"
	# what udev makes the link of, as this file is not below /etc/rnbd
	[ "$(<"$ROOT/run/rnbd/registry/device:cl1@srv1:vol9/name")" = d ]
	(sleep 0.5; touch "$ROOT/dev/rnbd3") 3>&- &
	adm 0 config apply --mode add --wait=1m "$CONF"
	wait
}

@test "apply: refused, by which port" {
	world apply-refused
	mkdir -p "$ROOT/sys/class/infiniband/mlx5_0"
	conf <<<$'[session cl1@srv3]\npath = 10.0.0.9\ndest-port = 999'
	fails 1 failed config apply "$CONF"
	[[ $stderr == *"10.0.0.9 does not listen on port 999"* ]]
}

@test "apply: goes on after a failure, unless told otherwise" {
	replay may-look
	conf <<<$'[session s8]\npath = 10.0.0.8\n[session s9]\npath = 10.0.0.9'
	fails 5 permission config apply "$CONF"
	[ "$(printf '%s' "$JSON" | jq -c '[.changes[].result]')" = '["failed","failed"]' ]
	[[ $stderr == *"2 of 2 changes failed"* ]]
	fails 5 permission config apply --stop-on-error "$CONF"
	[ "$(printf '%s' "$JSON" | jq -c '[.changes[].result]')" = '["failed",null]' ]
	[[ $stderr == *"s8"*"1 of 2 changes failed"* && $stderr != *"session s9"* ]]
	# what was skipped for that does not hide why
	printf '%s\n' 'path = 10.0.1.9' '[device d]' 'session = s9' 'device-path = vol9' >>"$CONF"
	fails 5 permission config apply "$CONF"
	[ "$(printf '%s' "$JSON" | jq -c '[.changes[].result]')" = '["failed","failed","skipped","skipped"]' ]
	[[ $stderr == *"4 of 4 changes failed"* ]]
}

@test "apply: a device that is optional may fail, with a warning; one that is not may not" {
	optional() {
		printf '%s\n' '[session cl1@srv2]' 'path = 10.0.0.3' '[device a]' 'session = cl1@srv2' 'device-path = vol8' "optional = $1"
		[[ -z $2 ]] || printf '%s\n' '[device b]' 'session = cl1@srv2' 'device-path = vol9'
	}
	cp -r "$REC/root/." "$ROOT"
	for r in apply-optional apply-required; do
		world $r
		conf < <(optional yes "")
		adm 0 config apply --mode add "$CONF"
		[ -z "$output" ]
		[ "$stderr" = "rnbdadm: warning: device a: server has no device 'vol8' (its dev_search_path or exports) (optional)" ]
		adm 0 config apply --mode add --stop-on-error "$CONF" -j
		valid rnbdadm.plan/1
		jqv 'has("error") | not'
		jqv '.changed == false and .summary.failed == 0 and (.warnings | length == 1)'
		jqv '.changes | length == 1 and (.[0] | .result == "failed" and .error.code == "not_found")'
		conf < <(optional no "")
		fails 1 failed config apply --mode add "$CONF"
		[[ $stderr == *"device a: server has no device 'vol8'"*"1 of 1 changes failed" && $stderr != *warning* ]]
	done
	# beside one that is needed: it decides
	conf < <(optional yes too)
	world apply-optional
	adm 0 config apply --mode add --stop-on-error "$CONF" -j
	valid rnbdadm.plan/1
	jqv 'has("error") | not'
	jqv '.changed and .summary.failed == 0 and [.changes[].result] == ["failed", "added"]'
	world apply-required
	fails 1 failed config apply --mode add "$CONF"
	[[ $stderr == *"warning: device a: "*"device b: "*"is in use"*"1 of 2 changes failed" ]]
	[ "$(jq -c '[.summary.failed, .changes[].result]' <<<"$JSON")" = '[1,"failed","failed"]' ]
	# the other way round
	conf < <(optional no too)
	world apply-optional
	fails 3 partial config apply --mode add "$CONF"
	jq -e '.changed and .summary.failed == 1 and [.changes[].result] == ["failed", "added"]' <<<"$JSON"
}

@test "apply: what 'config save' wrote, with what was changed in it" {
	replay two-sessions
	adm 0 config save
	{
		sed -E '/^\[session cl1@srv1\]/,/^$/ { s/^io-timeout.*/io-timeout = 5s/; s/^no-path-timeout.*/no-path-timeout = 0/
			/^path = .*10.0.1.2/s/$/\npath = 10.0.2.1@10.0.2.2/ }' <<<"$output"
		printf '[session s3]\npath = 10.0.0.9 dest-port=999\nmp-policy =\nconnections = 4\n[device more]\nsession = s3\n%s' \
			$'device-path = "a b"\naccess = migration\npoll-queues = 2\noptional = yes\n'
	} >"$CONF"
	cp -r "$REC/root/." "$ROOT"
	world changes
	adm 0 config apply "$CONF" --trace
	[ -z "$output" ]
	sent=$(grep -oE -- '-> +[0-9.]+ ms (map|session-add|session-set|path-add) .*' <<<"$stderr" | sed -E 's/.* ms ([a-z-]+) len=[0-9]+/\1/')
	diff - <(sed -E 's/(-addr=)[0-9a-f]+/\1X/g' <<<"$sent") <<-'E'
		path-add session-id=1 client-addr=X server-addr=X timeout-ms=30000
		session-add name=s3 path={ server-addr=X } connections=4 poll-queues=2 timeout-ms=30000
		session-set id=1 role=0 settings={ io-timeout-ms=5000 no-path-timeout-ms=0 }
		map session-name=s3 device-path='a b' access-mode=2 timeout-ms=30000
	E
	[ "$(<"$ROOT/run/rnbd/registry/device:s3:a\\x20b/name")" = more ]
}

@test "what apply cannot change while it runs differs all the same: diff says so, apply warns" {
	replay two-sessions
	conf <<-'E'
		[session cl1@srv1]
		path = 10.0.0.2
		path = 10.0.1.2
		connections = 4
		poll-queues = 2
		[session cl1@srv2]
		path = 10.0.0.3
		io-timeout = 3s
		no-path-timeout =
		[device d]
		session = cl1@srv2
		device-path = ram0
		access =
		[device e]
		session = cl1@srv1
		device-path = vol0
		access = migration
	E
	adm 0 config diff "$CONF" --mode add
	[[ $output != *!* ]]
	adm 11 config diff "$CONF"
	[ "$output" = "  session cl1@srv1
!   poll-queues  0 -> 2  (only a new session takes it)
!   connections  16 -> 4  (only a new session takes it)
!   device e  access  rw -> migration  (it needs an unmap)
  session cl1@srv2
!   io-timeout  - -> 3000ms  (the loaded modules have no such setting)
!   device d  access  ro -> rw  (it needs an unmap)
- device rnbd1  vol1@cl1@srv1  (unlisted, owner none; only with --prune=all)
0 to add, 0 to change, 0 to remove, 1 unlisted, 5 that stay" ]
	[ "$stderr" = "rnbdadm: config diff $CONF: 0 changes, and 5 that apply cannot make" ]
	adm 11 config diff "$CONF" -j
	valid rnbdadm.plan/1
	jqv '.changes == [] and .error.code == "differs" and (.unmet | length == 5)'
	[ "$(jqv '.unmet[] | select(.key == "access") | [.object, .session, .name, .old, .new, (.source | sub(".*:"; ""))] | join(" ")')" = \
		"device cl1@srv2 d ro rw 13
device cl1@srv1 e rw migration 17" ]
	[ "$(jqv '.unmet[] | select(.key == "io_timeout_ms") | [.session, .old, .new] | tojson')" = '["cl1@srv2",null,"3000ms"]' ]
	# apply has nothing to do, and says what remains
	for n in "" -n; do
		# shellcheck disable=SC2086
		adm 0 config apply "$CONF" $n
		[ -z "$output" ]
		[ "$(grep -c 'warning: ' <<<"$stderr")" = 5 ]
		[[ $stderr == *"warning: session cl1@srv1: connections stays 16, not 4: only a new session takes it"* ]]
		[[ $stderr == *"warning: session cl1@srv2: io-timeout stays unknown, not 3000ms: "* ]]
		[[ $stderr == *"warning: device d: access stays ro, not rw: it needs an unmap"* ]]
	done
	replay set-rw
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\n[device e]\nsession = cl1@srv1\ndevice-path = vol0\naccess = rw'
	adm 11 config diff "$CONF"
	[[ $output == *"!   device e  access  migration -> rw  ('rnbdadm device set' makes it so)"* ]]
	replay two-sessions
	# what is as it is asked for, or was not asked for
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\nconnections = 16\npoll-queues =\n[session cl1@srv2]\npath = 10.0.0.3\nconnections = 3'
	adm 0 config diff "$CONF"
	sed -i 's/^poll-queues =.*/&all/' "$CONF"
	adm 0 config diff "$CONF"
	# where it is asked for: by the device that wants the most, in [defaults], in the session
	conf <<<$'[defaults]\n[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\n[device a]\nsession = cl1@srv1\ndevice-path = vol0
poll-queues = 2\n[device b]\nsession = cl1@srv1\ndevice-path = vol1\npoll-queues = 3'
	for place in ":12 3" ":2 7" ":4 4"; do
		adm 11 config diff "$CONF" -j
		[ "$(jqv '.unmet[] | select(.key == "poll_queues") | (.source | sub(".*:"; ":")) + " " + .new')" = "$place" ]
		case $place in
		:12*) sed -i '1a poll-queues = 7' "$CONF" ;;
		:2*) sed -i '3a poll-queues = 4' "$CONF" ;;
		esac
	done
}

@test "an empty value is the kernel's, also where another one runs" {
	local k v plan keys="mp-policy max-reconnect-attempts heartbeat-interval heartbeat-misses reconnect-delay reconnect-delay-max connect-timeout io-timeout no-path-timeout lost-writes"
	replay told
	{
		printf '[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\n'
		# shellcheck disable=SC2086
		printf '%s =\n' $keys
	} >"$CONF"
	adm 11 config diff "$CONF" -j
	valid rnbdadm.plan/1
	[ "$(jqv '.changes | map([.name, .old, .new, (.source | sub(".*:"; ""))] | join(" ")) | .[]')" = "mp_policy min-latency round-robin 4
max_reconnect_attempts 7 -1 5
heartbeat_interval_ms 200ms 5000ms 6
heartbeat_misses 100 5 7
reconnect_delay_ms 10ms 1000ms 8
reconnect_delay_max_ms 600000ms 30000ms 9
connect_timeout_ms 1500ms 30000ms 10
io_timeout_ms 86400000ms 0 11
no_path_timeout_ms infinite 0 12
lost_writes disconnect fail-flush 13" ]
	# the manual and the guide have the same
	adm 0 config apply -n "$CONF"
	plan=$output
	for k in $keys; do
		v=$(sed -nE "/^\.It Pa ${k//-/_}(_ms)? Pq rw$/ { n; s/(.*[,;] )?\\\\?(-?[0-9]+) at first.*/\2/p }" "$TOP/man/rnbd-sysfs.5.in")
		case $k in
		mp-policy) v=$(sed -n 's/^| `\([a-z-]*\)` (default) .*/\1/p' "$TOP/docs/guide/multipath.md") ;;
		lost-writes) [ "$v" = 0 ] && v=fail-flush ;;
		*-misses | *-attempts) ;;
		*) v+=ms ;;
		esac
		adm 0 session set cl1@srv1 --$k="$v" -n
		grep -qxF -- "$output" <<<"$plan"
	done
	# one request, which the recording compares
	adm 0 config apply "$CONF"
	# in the defaults, too; a session that is new is told nothing
	printf '%s\n' '[defaults]' 'io-timeout =' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' '[session s9]' 'path = 10.0.0.9' >"$CONF"
	adm 0 config apply -n "$CONF"
	[ "$output" = "rnbdadm session add s9 --path ip:10.0.0.9
rnbdadm session set cl1@srv1 --io-timeout=0" ]
}

@test "a path without a port is one of the usual port; another one of the same addresses goes first" {
	replay moved
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.1@10.0.0.2\npath = 10.0.1.1@10.0.1.2'
	adm 0 config apply -n "$CONF"
	[ "$output" = "rnbdadm path remove cl1@srv1 ip:10.0.0.1@ip:10.0.0.2
rnbdadm path add cl1@srv1 ip:10.0.0.1@ip:10.0.0.2
rnbdadm path remove cl1@srv1 ip:10.0.1.1@ip:10.0.1.2
rnbdadm path add cl1@srv1 ip:10.0.1.1@ip:10.0.1.2" ]
	adm 0 config apply "$CONF" -j
	valid rnbdadm.plan/1
	[ "$(jqv '[.changes[] | .step, .result] | join(" ")')" = "5 removed 5 added 5 removed 5 added" ]
	# nothing is taken away
	adm 11 config diff "$CONF" --mode add -j
	[ "$(jqv '[.changes[].action] | unique | join(" ")')" = add ]
	# that of the session, or of the path, is another one
	echo "dest-port = 999" >>"$CONF"
	adm 0 config diff "$CONF"
	sed -i '3s/$/ dest-port=1234/' "$CONF"
	adm 11 config diff "$CONF" -j
	[ "$(jqv '.changes | length')" = 2 ]
	# the only one stays, and that is told
	replay moved-last
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.1@10.0.0.2'
	adm 1 config apply "$CONF" -j
	valid rnbdadm.plan/1
	[ "$(jqv '[.changes[].result] | join(" ")')" = "deferred failed" ]
	[[ $stderr == *"no other path of session 'cl1@srv1' is connected"*"would have this path twice"* ]]
}

@test "link-local addresses keep their interface, from file to plan" {
	replay two-sessions
	conf <<-'E'
		[session cl1@srv1]
		path = 10.0.0.2
		path = 10.0.1.2
		path = fe80::9%lo
		[session s9]
		path = fe80::1%lo,ip:fe80::9%lo
		path = fe80::1%99@fe80::8%99
	E
	adm 0 config show --resolved "$CONF"
	[ "$(grep -o '^path = .*%[^ ]*' <<<"$output")" = "path = ip:fe80::9%lo
path = ip:fe80::1%lo@ip:fe80::9%lo
path = ip:fe80::1%99@ip:fe80::8%99" ]
	adm 0 config apply -n "$CONF"
	[ "$output" = "rnbdadm path add cl1@srv1 ip:fe80::9%lo
rnbdadm session add s9 --path ip:fe80::1%lo@ip:fe80::9%lo
rnbdadm path add s9 ip:fe80::1%99@ip:fe80::8%99" ]
	adm 0 map vol9 --session s9 --path fe80::9%lo -n
	[ "$output" = "rnbdadm map vol9 --session s9 --path ip:fe80::9%lo" ]
	adm 0 session add s9 --path fe80::1%lo@fe80::9%lo -n
	[ "$output" = "rnbdadm session add s9 --path ip:fe80::1%lo@ip:fe80::9%lo" ]
	adm 0 recover cl1@srv1 --add-missing --config "$CONF" -n
	[[ $output == *"rnbdadm path add cl1@srv1 ip:fe80::9%lo" ]]
}

@test "the plan of apply has the times that apply takes, and what --wait says" {
	replay two-sessions
	conf <<<$'[defaults]\nwait = 5s\n[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.9.2\nmp-policy = rr\n[device d]\nsession = cl1@srv1\ndevice-path = -x'
	adm 0 config apply -n "$CONF" --wait=1m --timeout 3s
	[ "$output" = "rnbdadm path add cl1@srv1 ip:10.0.9.2 --timeout=5s
rnbdadm session set cl1@srv1 --mp-policy=round-robin --timeout=3000ms
rnbdadm map --session cl1@srv1 --name=d --timeout=5s --wait=1m -- -x
rnbdadm path remove cl1@srv1 ip:10.0.1.1@ip:10.0.1.2 --timeout=3000ms" ]
	adm 0 config apply -n "$CONF" --no-wait
	[[ $output == *"map --session cl1@srv1 --name=d --timeout=5s --no-wait -- -x"* ]]
}

@test "an address that has no answer: the rest goes on, nothing is taken away" {
	replay two-sessions
	conf <<<$'[session cl1@srv1]\npath = ip:10.0.0.1@ip:10.0.0.2\npath = fe80::1%nosuchdev0'
	adm 0 config validate "$CONF"
	adm 11 config diff "$CONF" -j
	valid rnbdadm.plan/1
	[ "$(jqv '[.changes[].action] | join(" ")')" = add ]
	fails 1 failed config apply "$CONF"
	[[ $stderr == *"has no address"* ]]
}

@test "prune: what is not ours goes with --force alone" {
	replay two-sessions
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2'
	adm 0 config diff --prune "$CONF" -j
	[ "$(jqv '.unlisted | length')" = 4 ]
	adm 11 config diff --prune=all "$CONF"
	fails 7 busy config apply --prune=all "$CONF"
	[[ $stderr == *"refused, this would remove device rnbd0, device rnbd1, device rnbd2, session cl1@srv2"* ]]
}

@test "random worlds converge, in safe steps, whatever refuses and wherever it dies" {
	"$PY" "$CLI/converge.py" "$PLAIN" "$BATS_TEST_TMPDIR" 60
}

@test "apply notes a name that the configuration changed: udev makes the link of that" {
	local note
	own_root
	note=$ROOT/run/rnbd/registry/device:cl1@srv1:vol0
	mkdir -p "$note"
	printf before >"$note/name"
	world two-sessions
	conf <<<$'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\n[device now]\nsession = cl1@srv1\ndevice-path = vol0'
	adm 0 config apply --mode add -n "$CONF"
	[ "$(<"$note/name")" = before ]
	adm 0 config apply --mode add "$CONF"
	[ "$(<"$note/name")" = now ]
}

@test "the documents of these tests are valid" { all_valid; }
