#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# map: what it sends, what it prints, how it fails. The recordings compare requests byte by byte.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	NEW=(map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9)
}

@test "a new session: prints the node and nothing else" {
	replay map
	adm 0 "${NEW[@]}"
	[ "$output" = /dev/rnbd3 ]
	[ -z "$stderr" ]
}

@test "the same as JSON and CSV" {
	replay map
	adm 0 "${NEW[@]}" -j
	valid rnbdadm.map/1
	golden map.json
	adm 0 "${NEW[@]}" -o csv
	golden map.csv
	adm 0 "${NEW[@]}" -F name,size_bytes
	[ "${lines[1]}" = "rnbd3     1.0 GiB" ]
}

@test "-v says what was done, -vv each request, --trace what is in it" {
	replay map
	adm 0 "${NEW[@]}" -v
	[ "$output" = /dev/rnbd3 ]
	[ "$stderr" = "rnbdadm: mapped vol9 of session cl1@srv3 as /dev/rnbd3 (1.0 GiB)" ]
	adm 0 "${NEW[@]}" -vv
	[[ $stderr == *"request map"* ]]
	adm 0 "${NEW[@]}" --trace
	[[ $stderr == *"-> "*"map len="*"device-path=vol9"*"path={ client-addr=0200"*"<- "*"name=rnbd3"*"ack error=0"* ]]
	[ "$output" = /dev/rnbd3 ]
}

@test "a name like an option: the line of a dry run can be run" {
	replay map
	adm 0 map --session cl1@srv3 --path 10.0.0.9 --no-wait --timeout 5s -n -- -vol9
	[ "$output" = "rnbdadm map --session cl1@srv3 --path ip:10.0.0.9 --no-wait --timeout=5000ms -- -vol9" ]
	line=$output
	run_plan "$line" -n
	[ "$output" = "$line" ]
}

@test "every option reaches the kernel; its warning reaches the user" {
	replay map-all
	ALL=(map vol9 --session=cl1@srv3 --path 10.0.0.1@10.0.0.9 --path fd00::9 --path gid:fe80::1,gid:fe80::9 --access ro
		--poll-queues 2 --connections=4 --dest-port 999 --mp-policy mi --timeout 2.5s)
	adm 0 "${ALL[@]}"
	[ "$output" = /dev/rnbd3 ]
	[ "$stderr" = "rnbdadm: warning: poll queues were cut to 1" ]
	adm 0 "${ALL[@]}" -j -q
	valid rnbdadm.map/1
	[ "$(jqv '.warnings[0]')" = "poll queues were cut to 1" ]
	[ -z "$stderr" ]
	replay warned-add-paths
	adm 0 map vol9 --session cl1@srv1 --path 10.0.9.9 --add-paths
	[ "$stderr" = "rnbdadm: warning: w1" ]
}

@test "a session that exists needs no path; paths it has may be named" {
	replay map-known
	adm 0 map vol9 --session cl1@srv1
	[ "$output" = /dev/rnbd3 ]
	fails 6 conflict map vol9 --session cl1@srv1 --path 10.0.0.77
	[[ $stderr == *10.0.0.77* ]]
}

@test "a session that exists keeps what is given to a new one" {
	local o n
	replay map-known
	for o in "--mp-policy rr" "--connections 4" "--poll-queues 2" "--poll-queues all" "--dest-port 99" "--connections 16 --poll-queues 1"; do
		for n in "" -n; do
			# shellcheck disable=SC2086
			fails 6 conflict map vol9 --session cl1@srv1 $o $n
			[[ $stderr == *"session 'cl1@srv1' exists and keeps its settings"* ]]
		done
	done
	[[ $stderr == *"hint: it has 0 poll queues; --poll-queues is for a new one"* ]]
	fails 6 conflict map vol9 --session cl1@srv1 --mp-policy rr
	[[ $stderr == *"hint: rnbdadm session set cl1@srv1 changes them"* ]]
	# what it has, what is not told, and the port of another path
	adm 0 map vol9 --session cl1@srv1 --mp-policy min-latency --connections 16 --poll-queues 0 --dest-port 1234 -n
	adm 0 map vol9 --session cl1@srv2 --poll-queues 2 --connections 4 -n
	adm 0 map vol9 --session cl1@srv1 --path 10.0.0.9 --dest-port 99 --add-paths -n
}

@test "no session and no path: not found; nothing named: usage" {
	replay map
	fails 4 not_found map vol9 --session cl1@srv3
	[[ $stderr == *--path* ]]
	fails 2 usage map vol9
	fails 2 usage map
}

@test "--server names the session and is its path" {
	replay map
	adm 0 map vol9 --server 10.0.0.9 -n
	[ "$output" = "rnbdadm map vol9 --session $(hostname | tr . _)@10_0_0_9 --path ip:10.0.0.9" ]
	adm 0 map vol9 --server localhost --session x -n
	[[ $output == "rnbdadm map vol9 --session x --path ip:"* ]]
	fails 4 not_found map vol9 --server no.such.host.invalid
}

@test "--dry-run: the plan, nothing sent, exit code as if done" {
	# this recording has no answer to a map
	replay two-sessions
	adm 0 "${NEW[@]}" --access ro --timeout 5s -n
	[ "$output" = "rnbdadm map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9 --access ro --timeout=5000ms" ]
	plan=$output
	adm 0 "${NEW[@]}" -n -j
	valid rnbdadm.map/1
	[ "$(jqv '.dry_run')" = true ]
	[ "$(jqv '.changed | not')" = true ]
	# the plan is a command line again
	eval "set -- $plan"
	shift
	adm 0 "$@" -n
	[ "$output" = "$plan" ]
	fails 6 conflict map vol0 --session cl1@srv1 -n
}

@test "already mapped; --idempotent; with another access" {
	replay two-sessions
	fails 6 conflict map vol0 --session cl1@srv1
	[[ $stderr == *"already mapped as /dev/rnbd0"* ]]
	adm 0 map vol0 --session cl1@srv1 --idempotent
	[ "$output" = /dev/rnbd0 ]
	adm 0 map vol0 --session cl1@srv1 --idempotent -j
	valid rnbdadm.map/1
	[ "$(jqv '.changed | not')" = true ]
	fails 6 conflict map vol0 --session cl1@srv1 --idempotent --access ro
	# there is nothing to do, and no line that would do it
	adm 0 map vol0 --session cl1@srv1 --idempotent -n
	[ -z "$output$stderr" ]
	adm 0 map vol0 --session cl1@srv1 --idempotent -n -F name
	[ -z "$output$stderr" ]
	adm 0 map vol0 --session cl1@srv1 --idempotent -nj
	valid rnbdadm.map/1
	jqv '.dry_run and .plan == [] and .changed == false and .devices[0].name == "rnbd0"'
}

@test "waits until the node can be opened" {
	cp -r "$REC/root" "$BATS_TEST_TMPDIR/root"
	rm "$BATS_TEST_TMPDIR/root/dev/rnbd3"
	R=(--nl-replay "$REC/map.nl" --test-root "$BATS_TEST_TMPDIR/root")
	adm 10 "${NEW[@]}" --wait=300ms -j
	valid rnbdadm.map/1
	[ "$(jqv .changed)" = true ]
	[ "$(jqv .error.code)" = timeout ]
	[ "$(jqv '.devices[0].name')" = rnbd3 ]
	adm 10 "${NEW[@]}" --wait=100ms
	[ -z "$output" ]
	[[ $stderr == *"rnbdadm unmap rnbd3"* ]]
	adm 0 "${NEW[@]}" --no-wait
	(sleep 0.5 && touch "$BATS_TEST_TMPDIR/root/dev/rnbd3") 3>&- &
	adm 0 "${NEW[@]}"
	[ "$output" = /dev/rnbd3 ]
	wait
}

@test "a size of zero is no device yet" {
	cp -r "$REC/root" "$BATS_TEST_TMPDIR/root"
	echo 0 >"$BATS_TEST_TMPDIR/root/sys/block/rnbd3/size"
	R=(--nl-replay "$REC/map.nl" --test-root "$BATS_TEST_TMPDIR/root")
	adm 10 "${NEW[@]}" --wait=100ms
}

@test "each errno has its exit code and its words" {
	replay map-enoent
	fails 4 not_found "${NEW[@]}"
	[[ $stderr == *"server has no device 'vol9' (its dev_search_path or exports)"* ]]
	replay map-eexist
	fails 6 conflict "${NEW[@]}"
	[[ $stderr == *"kernel: already mapped as rnbd7 (DEVICE_PATH)"* ]]
	replay map-writer
	fails 7 busy "${NEW[@]}"
	[[ $stderr == *"--access migration"* ]]
	replay map-privilege
	fails 5 permission "${NEW[@]}"
	[[ $stderr == *root* ]]
	replay map-capability
	fails 5 permission "${NEW[@]}"
	[[ $stderr == *"kernel: CAP_SYS_ADMIN is needed"* ]]
	replay map-refused
	fails 1 failed "${NEW[@]}" --dest-port 77
	[[ $stderr == *"10.0.0.9 does not listen on port 77"* ]]
	replay map-unreachable
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"(--path)"* && $stderr == *"no device for source address"* ]]
	[ "$(printf '%s' "$JSON" | jq -r '.error | [.errno, .errno_name, .attribute] | join(" ")')" = "113 EHOSTUNREACH --path" ]
	replay map-timeout
	fails 10 timeout "${NEW[@]}"
	replay map-invalid
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"session name is not valid (--session)"* ]]
	replay map-no-memory
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *ENOMEM* ]]
	replay map-nodev
	fails 1 failed "${NEW[@]}"
}

@test "what the server says is not taken for a fault of the way" {
	replay map-busy
	fails 7 busy "${NEW[@]}"
	replay map-write
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"--access ro"* ]]
	replay map-driver bare
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"server cannot open 'vol9'"* ]]
	replay map-no-block
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"no block device"* ]]
	replay map-many
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"no more devices"*"max_devices of rnbd_server"* ]]
	replay map-other-session
	fails 6 conflict "${NEW[@]}"
	[[ $stderr != *"already mapped"* ]]
	for recording in map-access map-closed; do
		replay $recording
		fails 5 permission "${NEW[@]}"
		[[ $stderr == *"the access list of the server does not let this host in"*"on the server"* && $stderr != *"needs root"* ]]
	done
	replay map-other-mode
	fails 1 failed "${NEW[@]}" --io-mode fileio
	[[ $stderr == *"not 'vol9' in this I/O mode"*"without --io-mode"* ]]
	replay map-hung-up
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"closed the connection"*"hint: another client may have this --session, or the access list there does not let it in"* ]]
}

@test "no RDMA device: unavailable, unless somebody answered" {
	for r in map-nodev map-unreachable map-timeout; do
		replay "$r" bare
		fails 8 unavailable "${NEW[@]}"
		[[ $stderr == *"no RDMA device"* && $stderr == *"rdma link"* ]]
	done
	replay map-refused bare
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *"does not listen"* && $stderr != *"no RDMA device"* ]]
	replay map-enoent bare
	fails 4 not_found "${NEW[@]}"
	[[ $stderr == *"server has no device"* && $stderr != *"no RDMA device"* ]]
}

@test "a missing attribute is told by its option" {
	replay map-missing
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *--path* ]]
	replay map-missing-nested
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *--path* ]]
}

@test "an answer without a name, a socket that fails" {
	replay map-nameless
	fails 1 failed "${NEW[@]}"
	replay map-errno
	fails 1 failed "${NEW[@]}"
	[[ $stderr == *ENOBUFS* ]]
}

@test "what cannot be right is refused before anything is sent" {
	replay absent
	while read -r line; do
		# shellcheck disable=SC2086
		fails 2 usage map vol9 $line
	done <<-'EOF2'
		--session a/b --path 10.0.0.9
		--session a.b --path 10.0.0.9
		--session ctl --path 10.0.0.9
		--session s --path 10.0.0.300
		--session s --path ip:10.0.0.9@ip:
		--session s --path @10.0.0.9
		--session s --path ip:10.0.0.1@ip:fe80::1
		--session s --path gid:10.0.0.9
		--session s --path ip:fe80::1%nosuchdev
		--session s --path 10.0.0.9 --access rx
		--session s --path 10.0.0.9 --dest-port 0
		--session s --path 10.0.0.9 --dest-port 65536
		--session s --path 10.0.0.9 --connections 0
		--session s --path 10.0.0.9 --connections 1025
		--session s --path 10.0.0.9 --poll-queues some
		--session s --path 10.0.0.9 --poll-queues 99999
		--session s --path 10.0.0.9 --mp-policy round-robbin
		--session s --path 10.0.0.9 --timeout 99ms
		--session s --path 10.0.0.9 --timeout infinite
		--session s --path 10.0.0.9 --timeout 11m
		--session s --path 10.0.0.9 --wait=soon
		--session s --session t --path 10.0.0.9
		--session s --path 10.0.0.9 --all
		--session s --path 10.0.0.9 vol10
	EOF2
	fails 2 usage map vol9 --session "" --path 10.0.0.9
	fails 2 usage map vol9 --session "a b" --path 10.0.0.9
	fails 2 usage map vol9 --session "$(printf 'n%.0s' {1..255})" --path 10.0.0.9
	fails 2 usage map "$(printf 'n%.0s' {1..255})" --session s --path 10.0.0.9
	fails 2 usage map "" --session s --path 10.0.0.9
}

@test "the longest names that the kernel takes are taken" {
	replay two-sessions
	n=$(printf 'n%.0s' {1..254})
	adm 0 map "$n" --session "$n" --path 10.0.0.9 -n
	adm 0 map "a b/c" --session s --path 10.0.0.9 -n
	[ "$output" = "rnbdadm map 'a b/c' --session s --path ip:10.0.0.9" ]
}

@test "--server NAME: no name server is asked where the session is there" {
	replay map-known
	adm 0 map vol9 --session cl1@srv1 --server nosuch.invalid
	fails 4 not_found map vol9 --session cl1@srv3 --server nosuch.invalid
}

@test "the lock: waited for, given up, left out" {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/run" "$root/sys"
	R=(--nl-replay "$REC/map.nl" --test-root "$root")
	exec {lock}>"$root/run/rnbdadm.lock"
	flock "$lock"
	adm 10 "${NEW[@]}" --no-wait --lock-timeout 100ms
	[[ $stderr == *rnbdadm.lock* ]]
	adm 0 "${NEW[@]}" --no-wait --no-lock
	(sleep 0.4) {lock}>&- &
	(sleep 0.4; flock -u "$lock") 3>&- &
	adm 0 "${NEW[@]}" --no-wait
	wait
	# a link in its place is not followed
	rm "$root/run/rnbdadm.lock"
	ln -s "$root/elsewhere" "$root/run/rnbdadm.lock"
	adm 1 "${NEW[@]}" --no-wait
	[ ! -e "$root/elsewhere" ]
}

@test "reading takes no lock" {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/run"
	exec {lock}>"$root/run/rnbdadm.lock"
	flock "$lock"
	R=(--nl-replay "$REC/two-sessions.nl" --test-root "$root" --lock-timeout 100ms)
	adm 0 device list
	adm 0 unmap rnbd2 -n
}

@test "signals end it at once, the lock with it" {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/run"
	R=(--nl-replay "$REC/map.nl" --test-root "$root")
	for sig in INT TERM KILL; do
		# bash ignores SIGINT in the background; env gives it back
		env --default-signal=INT "$PLAIN" "${R[@]}" "${NEW[@]}" --wait=60 3>&- >/dev/null 2>&1 &
		pid=$!
		# the tool, no more the shell, and it waits
		until [[ /proc/$pid/exe -ef $PLAIN && $(<"/proc/$pid/stat") == *") S "* ]]; do kill -0 "$pid"; sleep 0.02; done
		kill -"$sig" "$pid"
		wait "$pid" && false
		rc=$?
		[ "$rc" -gt 128 ]
		flock -n "$root/run/rnbdadm.lock" true
	done
}

@test "the documents of these tests are valid" { all_valid; }
