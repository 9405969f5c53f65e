#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Settings of sessions; sessions and paths that come and go; path policies.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

# nothing_sent: of what --trace printed, no request of a change
nothing_sent() {
	if grep -E -- "-> .* (map|unmap|remap|session-(set|add|del)|path-(add|del|reconnect|disconnect)) " <<<"$stderr"; then
		return 1
	fi
}

@test "settings: shown as the kernel tells them, null where it does not" {
	replay two-sessions
	adm 0 session show cl1@srv1 -j
	valid rnbdadm.session/1
	[ "$(jqv '.sessions[0] | [.max_reconnect_attempts, .heartbeat_interval_ms, .heartbeat_misses, .reconnect_delay_ms,
		.reconnect_delay_max_ms, .connect_timeout_ms, .io_timeout_ms, .no_path_timeout_ms, .held] | @csv')" = \
		"-1,5000,5,1000,30000,30000,0,-1,true" ]
	adm 0 session show cl1@srv1
	[[ $output =~ heartbeat_interval_ms:?\ +5000 ]]
	[[ $output =~ held:?\ +yes ]]
	adm 0 session show cl1@srv2 -j
	valid rnbdadm.session/1
	[ "$(jqv '.sessions[0] | [.heartbeat_interval_ms, .io_timeout_ms, .no_path_timeout_ms, .held] | all(. == null)')" = true ]
	adm 0 session list -F name,no_path_timeout_ms,held
	[[ ${lines[1]} =~ ^cl1@srv1\ +-1\ +yes$ && ${lines[2]} =~ ^cl1@srv2\ +-\ +-$ ]]
}

@test "settings: session set writes what differs, with times as people write them" {
	replay session-set-all
	adm 0 session set cl1@srv1 --heartbeat-interval 200ms --heartbeat-misses 100 --reconnect-delay 10ms \
		--reconnect-delay-max 10m --connect-timeout 1.5s --io-timeout 1d --no-path-timeout 0 --max-reconnect-attempts -1 -j
	valid rnbdadm.session/1
	[ "$(jqv '[.changes[].key] | length')" = 7 ]
	[ "$(jqv '.changes[] | select(.key == "io_timeout_ms") | [.old, .new] | @csv')" = 0,86400000 ]
	[ "$(jqv '.sessions[0] | [.no_path_timeout_ms, .connect_timeout_ms] | @csv')" = 0,1500 ]
	adm 0 session set cl1@srv1 --heartbeat-interval 0.2 --heartbeat-misses 100 --reconnect-delay 0.01s \
		--reconnect-delay-max 600 --connect-timeout 1500ms --io-timeout 24h --no-path-timeout 0s
	[ -z "$output$stderr" ]
	replay two-sessions
	for w in infinite -1 forever; do
		adm 0 session set cl1@srv1 --no-path-timeout $w --max-reconnect-attempts $w --io-timeout 0 --heartbeat-interval 5s -j
		valid rnbdadm.session/1
		[ "$(jqv '.changed == false and .changes == []')" = true ]
	done
	adm 0 session set cl1@srv1 --no-path-timeout 30 --reconnect-delay-max=5m --heartbeat-misses 3 -n --trace
	[ "$output" = "rnbdadm session set cl1@srv1 --heartbeat-misses=3 --reconnect-delay-max=300000ms --no-path-timeout=30000ms" ]
	nothing_sent
	read -ra words <<<"${output#rnbdadm }"
	adm 0 "${words[@]}" -n
	[[ $output == *--no-path-timeout=30000ms ]]
	adm 0 session add cl1@srv9 --path 10.0.0.9 --no-path-timeout -1 -n
	[[ $output == *--no-path-timeout=infinite ]]
}

@test "settings: what is out of range sends nothing" {
	replay two-sessions
	for o in heartbeat-interval=199ms heartbeat-interval=61s heartbeat-interval=infinite heartbeat-misses=1 heartbeat-misses=101 \
		reconnect-delay=9ms reconnect-delay=11m reconnect-delay-max=0 connect-timeout=99ms connect-timeout=-1 io-timeout=999ms \
		io-timeout=25h io-timeout=-1 no-path-timeout=2d no-path-timeout=x no-path-timeout=; do
		fails 2 usage session set cl1@srv1 "--$o"
		[[ $stderr == *"--${o%%=*}"* ]]
		fails 2 usage map vol9 --session cl1@srv3 --path 10.0.0.9 "--$o"
	done
	fails 2 usage session set cl1@srv1
	[[ $stderr == *"nothing to set"* ]]
}

@test "settings: refused by the kernel, or unknown to it" {
	replay session-set-nest
	fails 1 failed session set cl1@srv1 --heartbeat-interval 1s
	[[ $stderr == *"kernel: too short (--heartbeat-interval)"* ]]
	replay two-sessions
	fails 9 unsupported session set cl1@srv2 --heartbeat-interval 1s
	[[ $stderr == *"the loaded modules have no heartbeat_interval_ms"* ]]
	fails 4 not_found session set nosuch --io-timeout 5s
	replay old-modules
	fails 9 unsupported map vol9 --session cl1@srv3 --path 10.0.0.9 --io-timeout 5s
}

@test "settings: map gives them to a new session only" {
	replay map-settings
	NEW=(map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9)
	adm 0 "${NEW[@]}" --max-reconnect-attempts 3 --no-path-timeout 30s
	[ "$output" = /dev/rnbd3 ]
	adm 0 "${NEW[@]}" --max-reconnect-attempts 3 --no-path-timeout 30s -n
	[ "$output" = "rnbdadm ${NEW[*]} --max-reconnect-attempts=3 --no-path-timeout=30000ms" ]
	fails 6 conflict map vol9 --session cl1@srv1 --no-path-timeout 30s
	[[ $stderr == *"exists and keeps its settings"*"rnbdadm session set cl1@srv1"* ]]
	replay map-settings-bad
	fails 1 failed "${NEW[@]}" --io-timeout 1s
	[[ $stderr == *"kernel: not so (--io-timeout)"* ]]
}

@test "session add: what it sends, what it says" {
	ADD=(session add cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9)
	replay session-add
	adm 0 "${ADD[@]}"
	[ -z "$output$stderr" ]
	adm 0 "${ADD[@]}" -j
	valid rnbdadm.session/1
	[ "$(jqv '[.changed, .sessions[0].name, .sessions[0].held, .sessions[0].paths[0].state] | @csv')" = \
		'true,"cl1@srv3",true,"connected"' ]
	adm 0 "${ADD[@]}" -v
	[[ $stderr == "rnbdadm: made session cl1@srv3"* ]]
	replay session-add-all
	adm 0 session add cl1@srv3 --path 10.0.0.1@10.0.0.9 --path fd00::9 --dest-port 999 --connections 4 --poll-queues all \
		--timeout 2.5s --mp-policy mi --max-reconnect-attempts 7 --no-path-timeout forever
	replay session-add-slow
	adm 0 "${ADD[@]}" --wait
	replay session-add-never
	fails 10 timeout "${ADD[@]}" --wait
	printf '%s' "$JSON" | jq -e .changed
}

# as_named STATUS ARGS..: as adm, on a host that knows the names of $HOSTS alone, and has the resolver of $DNS
as_named() {
	local want=$1 t=$BATS_TEST_TMPDIR
	shift
	printf '%s\n' "$HOSTS" >"$t/hosts"
	printf '%s\n' "${DNS:+nameserver $DNS}" 'options timeout:1 attempts:1' >"$t/resolv.conf"
	echo "hosts: files ${DNS:+dns}" >"$t/nsswitch.conf"
	# shellcheck disable=SC2016
	run --separate-stderr "-$want" unshare -rmn bash -c 'for f in hosts resolv.conf nsswitch.conf; do
		mount --bind "$0/$f" "/etc/$f" || exit 99; done; exec "$@"' "$t" "$RNBDADM" "${R[@]}" "$@"
	printed "$@"
}

@test "host:NAME has the address that fits the other end" {
	unshare -rmn true || skip "needs a user namespace"
	replay two-sessions
	HOSTS=$'fd00::2 dual six\n10.0.0.9 dual four'
	as_named 0 session add new --path ip:10.0.0.1@host:dual -n
	[[ $output == *"--path ip:10.0.0.1@ip:10.0.0.9" ]]
	as_named 0 session add new --path host:dual@10.0.0.7 -n
	[[ $output == *"--path ip:10.0.0.9@ip:10.0.0.7" ]]
	as_named 0 session add new --path fd00::1@host:dual -n
	[[ $output == *"--path ip:fd00::1@ip:fd00::2" ]]
	for p in host:dual@host:four host:four@host:dual; do
		as_named 0 session add new --path $p -n
		[[ $output == *"--path ip:10.0.0.9@ip:10.0.0.9" ]]
	done
	as_named 0 session add new --path host:six@host:dual -n
	[[ $output == *"--path ip:fd00::2@ip:fd00::2" ]]
	as_named 2 session add-path cl1@srv1 10.0.0.1@host:six -n
	[[ $stderr == *"'10.0.0.1@host:six' mixes ipv4 and ipv6"* ]]
}

@test "host:NAME without an address: absent, not now, and no mistake of the command line" {
	unshare -rmn true || skip "needs a user namespace"
	replay two-sessions
	HOSTS='10.0.0.9 four'
	for c in "session add-path cl1@srv1" "session add new --path" "map vol9 --session new --path" "map vol9 --server" \
		"path show cl1@srv1"; do
		[[ $c == *--server ]] && name=nosuch || name=host:nosuch
		# shellcheck disable=SC2086
		as_named 4 $c $name
		[[ $stderr == *"host 'nosuch': "* ]]
		# nobody answers there: a network without any interface
		# shellcheck disable=SC2086
		DNS=127.0.0.77 as_named 1 $c $name -j
		[[ $stderr == *"host 'nosuch': Temporary failure in name resolution"* ]]
		[ "$(jqv .error.code)" = failed ]
	done
	as_named 2 session add-path cl1@srv1 host:
	as_named 2 session add-path cl1@srv1 fe80::1%nosuchif
	[[ $stderr == *"'fe80::1%nosuchif': no network interface 'nosuchif'"* ]]
	# an address and no name: nobody is asked for it
	as_named 2 map v --server fe80::1%nosuchif
	[[ $stderr == *"'fe80::1%nosuchif': no network interface 'nosuchif'"* ]]
	as_named 11 check server.reachable --server fe80::1%nosuchif
	[[ $output == *"'fe80::1%nosuchif': no network interface 'nosuchif'"* ]]
	# a configuration: what needs it fails, the rest does not
	printf '%s\n' '[session q]' 'path = host:nosuch' '[session r]' 'path = host:four' >"$BATS_TEST_TMPDIR/c.conf"
	as_named 3 config apply -n "$BATS_TEST_TMPDIR/c.conf"
	[ "$output" = "rnbdadm session add r --path ip:10.0.0.9" ]
	[[ $stderr == *"'host:nosuch' has no address"* ]]
}

@test "a path is given once" {
	replay two-sessions
	for p in "10.0.0.9 10.0.0.9" "10.0.0.9 ip:10.0.0.9" "10.0.0.1@10.0.0.9 10.0.0.1,10.0.0.9" "fe80::9%lo fe80:0::9%1" \
		"gid:fe80::9 gid:fe80:0:0:0:0:0:0:9"; do
		read -r one two <<<"$p"
		for c in "session add new --path $one --path $two" "map vol9 --session new --path $one --path $two --dest-port 99" \
			"session add-path cl1@srv1 $one $two"; do
			# shellcheck disable=SC2086
			fails 2 usage $c -n
			[[ $stderr == *": '$two' is given twice"* ]]
		done
	done
	# another source, another interface
	adm 0 session add new --path 10.0.0.9 --path 10.0.0.1@10.0.0.9 --path 10.0.1.1@10.0.0.9 --path fe80::9%1 --path fe80::9%2 -n
}

@test "session add: there already" {
	ADD=(session add cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9)
	replay session-added
	fails 6 conflict "${ADD[@]}"
	adm 0 "${ADD[@]}" --idempotent --trace -j
	valid rnbdadm.session/1
	nothing_sent
	[ "$(jqv '.changed == false and .sessions[0].name == "cl1@srv3"')" = true ]
	fails 6 conflict session add cl1@srv3 --path 10.0.5.5 --idempotent
	[[ $stderr == *"no path ip:10.0.5.5"*"session add-path cl1@srv3 ip:10.0.5.5"* ]]
	fails 6 conflict session add cl1@srv2 --path 10.0.0.3 --idempotent
	[[ $stderr == *"ends with its last device"* ]]
	replay session-add-exists
	fails 6 conflict "${ADD[@]}"
	[[ $stderr == *"kernel: it is there"* ]]
}

@test "session add: refusals" {
	ADD=(session add cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9)
	replay session-add-refused
	fails 1 failed "${ADD[@]}"
	[[ $stderr == *"10.0.0.9 does not listen on port 1234"* ]]
	replay session-add-late
	fails 10 timeout "${ADD[@]}"
	replay session-add-late bare
	fails 8 unavailable "${ADD[@]}"
	replay session-add-invalid
	fails 1 failed "${ADD[@]}"
	[[ $stderr == *"not so (--path)"* ]]
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported session add cl1@srv4 --path 10.0.0.9
		[[ $stderr == *"this kernel creates sessions only on map"* ]]
	done
	replay paths-denied
	fails 5 permission "${ADD[@]}"
	replay two-sessions
	fails 2 usage session add cl1@srv3
	fails 2 usage session add a/b --path 10.0.0.9
	fails 2 usage session add cl1@srv3 --path nowhere
	fails 2 usage session add cl1@srv3 --path 10.0.0.9 --poll-queues 5000
	fails 2 usage session add cl1@srv3 --path 10.0.0.9 --timeout 1ms
	fails 2 usage session add cl1@srv3 --path 10.0.0.9 --io-timeout 1ms
}

@test "session remove" {
	replay session-del
	adm 0 session remove cl1@srv3
	[ -z "$output$stderr" ]
	for verb in rm del; do
		adm 0 session $verb cl1@srv3 -j
		valid rnbdadm.session/1
		[ "$(jqv '.changed and .sessions[0].name == "cl1@srv3"')" = true ]
	done
	replay session-del-slow
	adm 0 session remove cl1@srv3 --wait --trace
	[ "$(grep -c -- '-> .*session-get dump' <<<"$stderr")" = 3 ]
	replay warned-remove
	adm 0 session remove cl1@srv1 --force -j
	[ "$(jqv '.warnings | @csv')" = '"w1","w2"' ]
	replay session-del-gone
	fails 4 not_found session remove cl1@srv3
	adm 0 session remove cl1@srv3 --idempotent
	fails 4 not_found session remove nosuch
	adm 0 session remove nosuch --if-exists
	replay session-del-busy
	fails 7 busy session remove cl1@srv3
	[[ $stderr == *"kernel: devices are mapped over it"* ]]
	replay paths-unsupported
	fails 9 unsupported session remove cl1@srv3
	replay session-del-old
	fails 9 unsupported session remove cl1@srv3
	replay paths-denied
	fails 5 permission session remove cl1@srv2 --force
	replay session-del-denied
	fails 5 permission session remove cl1@srv3
}

@test "session remove: devices stay unless --force is given" {
	replay session-del-force
	adm 7 session remove cl1@srv1 --trace
	nothing_sent
	fails 7 busy session remove cl1@srv1
	[[ $stderr == *"refused, 2 devices are mapped over it"*"rnbd0 is used by: mount /data"* ]]
	adm 0 session remove cl1@srv1 --force -j
	valid rnbdadm.session/1
	[ "$(jqv .changed)" = true ]
	replay session-del-last
	adm 0 session remove cl1@srv2 --force -v
	[[ $stderr == *"unmapped rnbd2"*"removed session cl1@srv2" ]]
}

@test "session remove --force: modules without that operation, nothing is unmapped" {
	replay old-modules
	for n in "" -n; do
		# shellcheck disable=SC2086
		adm 9 session remove cl1@srv1 --force --trace $n
		nothing_sent
		[ -z "$output" ]
	done
	fails 9 unsupported session remove cl1@srv1 --force
}

@test "session add-path" {
	replay path-add
	adm 0 session add-path cl1@srv1 10.0.2.1@10.0.2.2
	[ -z "$output$stderr" ]
	for words in "session add-path" "path add"; do
		# shellcheck disable=SC2086
		adm 0 $words cl1@srv1 10.0.2.1,10.0.2.2 -j
		valid rnbdadm.path/1
		[ "$(jqv '[.changed, (.paths[0] | .session, .name, .old_state, .state, .result)] | @csv')" = \
			'true,"cl1@srv1","ip:10.0.2.1@ip:10.0.2.2",,"connected","added"' ]
		# all that a list would tell
		[ "$(jqv '.paths[0] | [.server_addr, .family, .link_layer, .connections, .since] | @csv')" = \
			'"ip:10.0.2.2","ipv4","ethernet",17,"2026-11-21T08:00:02.000000Z"' ]
	done
	adm 0 session add-path cl1@srv1 10.0.2.1@10.0.2.2 -o csv
	[[ ${lines[0]} == session,name,client_addr,*,since,old_state,result ]]
	[[ ${lines[1]} == cl1@srv1,ip:10.0.2.1@ip:10.0.2.2,ip:10.0.2.1,ip:10.0.2.2,ipv4,mlx5_0,1,*,connected,*,,added ]]
	replay path-add-port
	adm 0 session add-path cl1@srv1 10.0.9.9 --dest-port 999 --timeout 5s
	replay path-add-slow
	adm 0 session add-path cl1@srv1 10.0.2.1@10.0.2.2 -j
	[ "$(jqv '.paths[0].state')" = connected ]
	adm 0 session add-path cl1@srv1 10.0.2.1@10.0.2.2 --no-wait -j
	[ "$(jqv '.paths[0].state')" = connecting ]
	replay path-add-never
	for w in "" --wait; do
		# shellcheck disable=SC2086
		fails 10 timeout session add-path cl1@srv1 10.0.2.1@10.0.2.2 $w
		[[ $stderr == *"the path is not connected after 30000 ms"* ]]
	done
	# as its help says
	adm 0 session add-path -h
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"node ready (10s; session add-path 30s)"* ]]
	adm 0 config edit-hints
	[[ $output != *"of a new session"* ]]
	fails 10 timeout session add-path cl1@srv1 10.0.2.1@10.0.2.2 --wait=2s
	[[ $stderr == *"after 2000 ms"* ]]
}

@test "session add-path: several, and refusals" {
	replay path-add-two
	fails 1 failed session add-path cl1@srv1 10.0.9.9 --dest-port 999 --timeout 5s
	[[ $stderr == *"10.0.9.9 does not listen on port 999"* ]]
	replay path-add
	fails 3 partial session add-path cl1@srv1 10.0.2.1@10.0.2.2 10.0.0.1@10.0.0.2
	[[ $stderr == *"10.0.0.1@10.0.0.2: the session has this path already"* ]]
	adm 0 session add-path cl1@srv1 10.0.2.1@10.0.2.2 10.0.0.1@10.0.0.2 --idempotent -j
	[ "$(jqv '[.paths[].result] | @csv')" = '"added","present"' ]
	replay path-add-exists
	fails 6 conflict session add-path cl1@srv1 10.0.2.1@10.0.2.2
	adm 0 session add-path cl1@srv1 10.0.2.1@10.0.2.2 --idempotent
	replay path-add-late
	fails 10 timeout session add-path cl1@srv1 10.0.2.1@10.0.2.2
	replay path-add-nowhere
	fails 1 failed session add-path cl1@srv1 10.0.2.1@10.0.2.2
	[[ $stderr == *"no way to 10.0.2.2 over RDMA"*"kernel: no device for source address (PATH)"* ]]
	fails 2 usage session add-path cl1@srv1
	fails 2 usage session add-path cl1@srv1 nowhere
	fails 2 usage session add-path cl1@srv1 10.0.0.9 --timeout 20m
	fails 4 not_found session add-path nosuch 10.0.0.9
	[[ $stderr == *"no such session"* ]]
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported session add-path cl1@srv1 10.0.9.9
	done
	replay paths-denied
	fails 5 permission session add-path cl1@srv1 10.0.9.9
}

@test "session remove-path" {
	replay path-del
	for p in 10.0.1.2 ip:10.0.1.1@ip:10.0.1.2 id:2; do
		adm 0 session remove-path cl1@srv1 "$p"
		[ -z "$output$stderr" ]
	done
	adm 0 path del cl1@srv1 10.0.1.2 -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths[0] | [.old_state, .state, .result, .server_addr, .since] | @csv')" = '"connected","unknown","removed","ip:10.0.1.2",' ]
	replay path-del-down
	adm 0 session remove-path cl1@srv1 10.0.1.2
	replay path-del-slow
	adm 0 session remove-path cl1@srv1 10.0.1.2 --wait --trace
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
	replay path-del-gone
	fails 4 not_found session remove-path cl1@srv1 10.0.1.2
	adm 0 session remove-path cl1@srv1 10.0.1.2 --idempotent
	fails 4 not_found session remove-path cl1@srv1 10.0.9.9
	adm 0 session remove-path cl1@srv1 10.0.9.9 --idempotent -j
	[ "$(jqv '.changed == false and (.paths[0] | .result == "absent" and .name == "10.0.9.9" and .state == "unknown")')" = true ]
	adm 0 session remove-path nosuch 10.0.9.9 --idempotent
	fails 4 not_found session remove-path nosuch 10.0.9.9
	fails 2 usage session remove-path cl1@srv1
	fails 2 usage session remove-path cl1@srv1 2
	replay paths-denied
	fails 5 permission session remove-path cl1@srv1 10.0.1.2
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported session remove-path cl1@srv1 10.0.1.2
	done
}

@test "the last connected path of devices stays unless --force is given" {
	replay path-del
	adm 7 session remove-path cl1@srv1 10.0.0.2 10.0.1.2 --trace
	nothing_sent
	fails 7 busy session remove-path cl1@srv1 10.0.0.2 10.0.1.2
	[[ $stderr == *"refused, this is the last connected path and 2 devices are in use"*"rnbd0 is used by: mount /data"*"--force"* ]]
	adm 0 session remove-path cl1@srv1 10.0.0.2 10.0.1.2 --force
	replay path-del-down
	fails 7 busy session remove-path cl1@srv1 10.0.0.2
	[[ $stderr == *"the last connected path"* ]]
	replay path-del-last
	fails 7 busy session remove-path cl1@srv2 10.0.0.3
	[[ $stderr == *"and 1 device is mapped"*"rnbd2 is mapped"* ]]
	adm 0 session remove-path cl1@srv2 10.0.0.3 -f
	replay session-added
	# no device is mapped over it
	fails 1 failed session remove-path cl1@srv3 10.0.0.9
	replay path-off
	fails 7 busy session disconnect cl1@srv1
	fails 7 busy session disconnect cl1@srv1 10.0.0.2 10.0.1.2
	adm 0 session disconnect cl1@srv1 --force
	replay path-on
	fails 7 busy session reconnect cl1@srv1 10.0.0.2
	[[ $stderr == *"--only-down leaves it alone"* ]]
	ask() { script -qec "$(printf '%q ' "$PLAIN" "${R[@]}" session remove-path cl1@srv1 10.0.0.2 10.0.1.2 --force "$@")" /dev/null; }
	replay path-del
	run -12 ask <<<no
	[[ $output == *"rnbd0 is used by: mount /data"*"Take down the last connected path of session cl1@srv1. Type yes:"*declined* ]]
	run -0 ask <<<yes
	run -0 ask -y </dev/null
}

@test "session disconnect" {
	replay path-off
	adm 0 session disconnect cl1@srv1 10.0.0.2
	[ -z "$output$stderr" ]
	adm 0 path disconnect cl1@srv1 10.0.1.2 -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths[0] | [.old_state, .state, .result] | @csv')" = '"connected","disconnected","disconnected"' ]
	replay path-off-already
	adm 0 session disconnect cl1@srv1 10.0.1.2 -j
	[ "$(jqv '[.changed, .paths[0].result] | @csv')" = 'false,"unchanged"' ]
	fails 4 not_found session disconnect cl1@srv1 10.9.9.9
	fails 4 not_found session disconnect nosuch
	replay both-up
	fails 1 failed session disconnect cl1@srv1 10.0.1.2
	replay paths-denied
	fails 5 permission session disconnect cl1@srv1 10.0.1.2
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported session disconnect cl1@srv1 10.0.1.2
	done
}

@test "session disconnect --all: all sessions, none if one is refused" {
	replay path-off-all
	fails 7 busy session disconnect --all -y
	[[ $stderr == "rnbdadm: session disconnect: ip:10.0.1.1@ip:10.0.1.2 of session cl1@srv1: refused, this is the last connected path"* ]]
	adm 7 session disconnect --all -y --trace
	nothing_sent
	ask() { script -qec "$(printf '%q ' "$PLAIN" "${R[@]}" session disconnect --all "$@")" /dev/null; }
	run -12 ask --force <<<no
	[[ $output == *"rnbd0 is used by: mount /data"*"Take down the last connected path of session cl1@srv1. Type yes:"*declined* ]]
	adm 0 session disconnect --all --force -j
	valid rnbdadm.path/1
	[ "$(jqv '[.changed, ([.paths[] | .session, .result] | join(" "))] | @csv')" = \
		'true,"cl1@srv1 disconnected cl1@srv1 disconnected cl1@srv2 disconnected"' ]
	replay path-off-unused
	run -12 ask <<<no
	[[ $output == *"Disconnect all paths (3). Type yes:"*declined* ]]
	run -0 ask <<<yes
	fails 12 declined session disconnect --all
	adm 0 session disconnect --all -y
	replay empty
	adm 0 session disconnect --all
	fails 2 usage session disconnect
	[[ $stderr == *"name a session, or --all"* ]]
	fails 2 usage session disconnect --all cl1@srv1
}

@test "session disconnect --wait: until the path is down" {
	replay path-off-slow
	adm 0 session disconnect cl1@srv1 10.0.1.2 -j
	[ "$(jqv '.paths[0].state')" = closing ]
	adm 0 session disconnect cl1@srv1 10.0.1.2 --no-wait
	adm 0 session disconnect cl1@srv1 10.0.1.2 --wait --trace -j
	valid rnbdadm.path/1
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
	[ "$(jqv '.paths[0] | [.old_state, .state, .result] | @csv')" = '"connected","disconnected","disconnected"' ]
	replay path-off-never
	fails 10 timeout session disconnect cl1@srv1 10.0.1.2 --wait=100ms
	[[ $stderr == *"the path is not down"* ]]
	printf '%s' "$JSON" | jq -e '.changed and .paths[0].state == "closing"'
	# what the kernel says is so needs no look
	replay path-off
	adm 0 session disconnect cl1@srv1 --force --wait --trace
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 1 ]
	adm 0 session disconnect cl1@srv1 10.0.1.2 --wait -n --trace
	nothing_sent
	replay path-off-already
	adm 0 session disconnect cl1@srv1 10.0.1.2 --wait
	fails 2 usage session disconnect cl1@srv1 10.0.1.2 --wait=soon
}

@test "session reconnect: what is down comes first" {
	replay path-on
	adm 0 session reconnect cl1@srv1 10.0.1.2
	[ -z "$output$stderr" ]
	adm 0 session reconnect cl1@srv1 --trace -j
	valid rnbdadm.path/1
	[ "$(grep -o -- '-> .*path-reconnect len=.*' <<<"$stderr" | grep -o 'id=.' | tr '\n' ' ')" = "id=2 id=1 " ]
	[ "$(jqv '[.paths[] | .old_state, .state, .result] | @csv')" = \
		'"connected","connected","reconnected","reconnecting","connected","reconnected"' ]
	adm 0 path readd cl1@srv1 10.0.1.2
	adm 0 session reconnect cl1@srv1 --only-down -j
	[ "$(jqv '[.paths[].result] | @csv')" = '"connected","reconnected"' ]
	replay path-on-time
	adm 0 session reconnect cl1@srv1 10.0.1.2 --timeout 1.5s
	replay path-on-fails
	fails 10 timeout session reconnect cl1@srv1 10.0.1.2
	[[ $stderr == *"10.0.1.2 did not answer in time"* ]]
	# the other one is the last path then
	fails 3 partial session reconnect cl1@srv1 --force
	printf '%s' "$JSON" | jq -e '[.paths[].result] == ["reconnected", "failed"]'
	fails 3 partial session reconnect cl1@srv1
	printf '%s' "$JSON" | jq -e '[.paths[].result] == ["refused", "failed"]'
	replay path-on-later
	fails 1 failed session reconnect cl1@srv1 10.0.1.2
	[[ $stderr == *"this attempt has failed (ENOTCONN)"*"rnbdadm wait cl1@srv1 ip:10.0.1.1@ip:10.0.1.2 --for state=connected"* ]]
	replay path-on-lost
	fails 3 partial session reconnect cl1@srv1
	[[ $stderr == *"10.0.0.2 does not listen"*"the last connected path"* ]]
}

@test "session reconnect, recover --wait: a failed attempt is no end" {
	replay path-on-slow
	for c in "session reconnect cl1@srv1 10.0.1.2" "session recover cl1@srv1"; do
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
	adm 0 session reconnect cl1@srv1 10.0.1.2 --wait -j
	# as it was seen last
	[ "$(jqv '.paths[0] | [.old_state, .state, .last_error, .reconnect_attempts] | tojson')" = '["reconnecting","connected",null,3]' ]
	replay path-on-later
	fails 10 timeout session reconnect cl1@srv1 10.0.1.2 --wait
	[[ $stderr == *"the path is not connected after 10000 ms"*"it is tried further; rnbdadm wait cl1@srv1 ip:10.0.1.1@ip:10.0.1.2"* ]]
	printf '%s' "$JSON" | jq -e '.changed | not'
	fails 10 timeout session recover cl1@srv1 --wait=100ms
	replay path-on-never
	adm 0 session reconnect cl1@srv1 10.0.1.2
	fails 10 timeout session reconnect cl1@srv1 10.0.1.2 --wait
	printf '%s' "$JSON" | jq -e '.changed and .paths[0].state == "reconnecting"'
	# other failures are
	replay path-on-lost
	fails 3 partial session reconnect cl1@srv1 --wait
	replay paths-denied
	fails 5 permission session reconnect cl1@srv1 10.0.1.2 --wait
	replay path-on
	adm 0 session reconnect cl1@srv1 --force --wait -n --trace
	nothing_sent
}

@test "recover --wait: nodes of devices, and paths that were missing" {
	cp -r "$REC/root" "$BATS_TEST_TMPDIR/root"
	rm "$BATS_TEST_TMPDIR/root/dev/rnbd2"
	replay recover
	R+=(--test-root "$BATS_TEST_TMPDIR/root")
	adm 0 recover device rnbd2
	adm 10 recover device rnbd2 --wait=100ms
	[[ $stderr == *"/dev/rnbd2 cannot be opened after"* ]]
	adm 3 recover --all --wait=100ms -j
	valid rnbdadm.recover/1
	[ "$(jqv '.changed and .recovered[0].type == "path" and .failed[0].name == "rnbd2"')" = true ]
	touch "$BATS_TEST_TMPDIR/root/dev/rnbd2"
	adm 0 recover --all --wait
	printf '%s\n' "[session cl1@srv1]" "path = 10.0.2.1@10.0.2.2" >"$BATS_TEST_TMPDIR/rnbd.conf"
	export RNBDADM_CONFIG=$BATS_TEST_TMPDIR/rnbd.conf
	replay add-missing-slow
	adm 0 recover session cl1@srv1 --add-missing --wait --trace
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
	replay add-missing-never
	adm 0 recover session cl1@srv1 --add-missing
	fails 10 timeout recover session cl1@srv1 --add-missing --wait
	[[ $stderr == *"the path is not connected"* ]]
}

@test "session reconnect: all sessions, and refusals" {
	replay path-on-all
	fails 12 declined session reconnect --all
	fails 3 partial session reconnect --all -y
	[[ $stderr == *"ip:10.0.0.1@ip:10.0.0.3: refused"* ]]
	adm 0 session reconnect --all -y --force -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths | length')" = 3 ]
	adm 0 session reconnect --all --only-down
	replay empty
	adm 0 session reconnect --all
	fails 2 usage session reconnect
	fails 2 usage session reconnect --all cl1@srv1
	replay two-sessions
	fails 2 usage session reconnect cl1@srv1 --timeout 1ms
	fails 4 not_found session reconnect nosuch
	fails 4 not_found session reconnect cl1@srv1 10.9.9.9
	replay paths-denied
	fails 5 permission session reconnect cl1@srv1 10.0.1.2
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported session reconnect cl1@srv1 10.0.1.2
	done
}

@test "recover: paths first, then devices" {
	replay recover
	for c in "recover --all" "session recover --all"; do
		# shellcheck disable=SC2086
		adm 0 $c --trace
		[ -z "$output" ]
		[ "$(grep -o -- '-> .* \(path-reconnect\|remap\) len=.*' <<<"$stderr" | grep -o 'path-reconnect\|remap' | tr '\n' ' ')" = \
			"path-reconnect remap " ]
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid rnbdadm.recover/1
		[ "$(jqv '[.changed, (.recovered[] | .type, .name, .result)] | @csv')" = \
			'true,"path","ip:10.0.1.1@ip:10.0.1.2","reconnected","device","rnbd2","remapped"' ]
	done
	for c in "session recover cl1@srv1" "recover session cl1@srv1" "path recover cl1@srv1 10.0.1.2"; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		valid rnbdadm.recover/1
		[ "$(jqv '[.recovered[].type] | @csv')" = '"path"' ]
	done
	for c in "session recover cl1@srv2" "recover device rnbd2" "recover device ram0 --session cl1@srv2"; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		[ "$(jqv '[.recovered[].name] | @csv')" = '"rnbd2"' ]
	done
	adm 0 recover session cl1@srv1 10.0.0.2 -j
	[ "$(jqv '.changed == false and .recovered == [] and .failed == []')" = true ]
	replay recover-back
	adm 0 recover --all -j
	[ "$(jqv '[.recovered[].type] | @csv')" = '"path"' ]
	replay recover-fails
	fails 3 partial recover --all
	printf '%s' "$JSON" | jq -e '.failed[0].error.code == "timeout" and .recovered[0].name == "rnbd2"'
	fails 10 timeout session recover cl1@srv1
}

@test "recover --add-missing: paths that the configuration lists" {
	local conf=$BATS_TEST_TMPDIR/rnbd.conf o
	printf '%s\n' "[session cl1@srv1]" "path = 10.0.0.2" "path = 10.0.1.1@10.0.1.2" "path = 10.0.2.1@10.0.2.2" \
		"[session cl1@srv2]" "path = 10.0.0.3" >"$conf"
	export RNBDADM_CONFIG=$conf
	replay add-missing
	for o in --add-missing --add-missing=config; do
		adm 0 session recover cl1@srv1 $o -j
		valid rnbdadm.recover/1
		[ "$(jqv '[.recovered[] | .type, .name, .session, .result] | join(" ")')" = "path ip:10.0.2.1@ip:10.0.2.2 cl1@srv1 added" ]
		[ "$(jqv '.changed and .failed == []')" = true ]
	done
	adm 0 session recover cl1@srv1 --add-missing -n
	[ "$output" = "rnbdadm session add-path cl1@srv1 ip:10.0.2.1@ip:10.0.2.2" ]
	replay warned-missing
	adm 0 session recover cl1@srv1 --add-missing -j
	[ "$(jqv '.warnings | @csv')" = '"w1"' ]
	replay add-missing
	# a bare --wait of add-path is longer
	adm 0 session recover cl1@srv1 --add-missing --wait -n
	[ "$output" = "rnbdadm session add-path cl1@srv1 ip:10.0.2.1@ip:10.0.2.2 --wait=10s" ]
	# without the option, and where nothing is missing
	adm 0 session recover cl1@srv1 -j
	[ "$(jqv '.changed == false')" = true ]
	adm 0 recover session cl1@srv2 --add-missing -j
	[ "$(jqv '.changed == false')" = true ]
	# a port, a device's session, all of them: connected, added, remapped
	sed -i '3s/$/\npath = 10.0.9.9 dest-port=999/' "$conf"
	adm 0 recover device rnbd0 --add-missing -n
	[ "${lines[0]}" = "rnbdadm session add-path cl1@srv1 ip:10.0.9.9 --dest-port=999" ]
	sed -i 4d "$conf"
	replay add-missing-all
	adm 0 recover --all --add-missing -j
	valid rnbdadm.recover/1
	[ "$(jqv '[.recovered[].result] | join(" ")')" = "reconnected added remapped" ]
	replay add-missing-fails
	fails 10 timeout session recover cl1@srv1 --add-missing
	sed -i '3s/$/\npath = 10.0.9.9/' "$conf"
	fails 3 partial session recover cl1@srv1 --add-missing
	printf '%s' "$JSON" | jq -e '.failed[0].error.code == "timeout" and .recovered[0].result == "added"'
	# what is wrong with the configuration is known before anything is done
	echo nonsense >>"$conf"
	fails 2 usage session recover cl1@srv1 --add-missing
	rm "$conf"
	fails 4 not_found session recover cl1@srv1 --add-missing
}

@test "recover: refusals" {
	replay two-sessions
	fails 2 usage recover
	fails 2 usage session recover
	fails 2 usage session recover cl1@srv1 --all
	fails 2 usage recover --all --timeout 1ms
	adm 2 recover --all -o csv
	fails 4 not_found recover session nosuch
	fails 4 not_found recover device rnbd9
	fails 4 not_found recover session cl1@srv1 10.9.9.9
	fails 9 unsupported session recover cl1@srv1 --add-missing=peer
	[[ $stderr == *--add-missing=config* ]]
	fails 2 usage session recover cl1@srv1 --add-missing=x
	replay paths-denied
	fails 5 permission recover --all
	replay old-modules
	fails 9 unsupported recover session cl1@srv1
	replay empty
	adm 0 recover --all
	[ -z "$output$stderr" ]
}

@test "mp-policy" {
	replay policy
	adm 0 mp-policy list
	[[ ${lines[1]} =~ ^round-robin\ +rr\ +yes\ +paths\ in\ turn ]]
	[ "${#lines[@]}" = 4 ]
	adm 0 mp-policy list -j
	valid rnbdadm.mp-policy-list/1
	[ "$(jqv '[.policies[].supported] | tojson')" = '[true,true,true]' ]
	# what the loaded modules say that they take
	replay policies-fewer
	adm 0 mp-policy list -j
	[ "$(jqv '[.policies[].supported] | tojson')" = '[true,true,false]' ]
	replay policies-untold
	adm 0 mp-policy list -j
	[ "$(jqv '[.policies[].supported] | tojson')" = '[null,null,null]' ]
	replay policy
	adm 0 mp-policy show cl1@srv1
	[ "$output" = min-latency ]
	adm 0 mp-policy show cl1@srv1 -j
	valid rnbdadm.session/1
	for p in rr round-robin; do
		adm 0 mp-policy set cl1@srv1 $p
		[ -z "$output$stderr" ]
	done
	adm 0 mp-policy set --all rr -j
	valid rnbdadm.mp-policy/1
	[ "$(jqv '[.changed, (.sessions[] | .name, .old, .new, .result)] | @csv')" = \
		'true,"cl1@srv1","min-latency","round-robin","set","cl1@srv2","round-robin","round-robin","unchanged"' ]
	adm 0 mp-policy set cl1@srv2 rr -j
	[ "$(jqv '.changed | not')" = true ]
	replay policy-fails
	fails 3 partial mp-policy set --all min-inflight
	for c in "cl1@srv1" "--all"; do
		fails 2 usage mp-policy set $c
		[[ $stderr == *": POLICY is missing"* ]]
	done
	fails 2 usage mp-policy set --all cl1@srv1 rr
	fails 2 usage mp-policy set cl1@srv1 round-robbin
	[[ $stderr == *"'round-robbin' is not a policy (round-robin, min-inflight, min-latency)"* ]]
	fails 2 usage session set cl1@srv1 --mp-policy round-robbin
	[[ $stderr == *"'round-robbin' is not a policy (round-robin, min-inflight, min-latency)"*"did you mean round-robin?"* ]]
	fails 4 not_found mp-policy set nosuch rr
	fails 4 not_found mp-policy show nosuch
	replay paths-denied
	fails 5 permission mp-policy set cl1@srv1 rr
	replay old-modules
	fails 9 unsupported mp-policy set cl1@srv1 rr
	replay absent
	fails 8 unavailable mp-policy list
}

@test "several paths of the same addresses" {
	replay same-path
	fails 6 conflict session remove-path cl1@srv1 10.0.0.2
	[[ $stderr == *"'10.0.0.2' fits 2 paths
  id:1  ip:10.0.0.1@ip:10.0.0.2  mlx5_0:1
  id:4  ip:10.0.0.1@ip:10.0.0.2  mlx5_1:1
  hint: give id:N or --hca"* ]]
	for v in remove-path reconnect disconnect; do
		adm 0 session $v cl1@srv1 --hca mlx5_1 -n
		[ "$output" = "rnbdadm session $v cl1@srv1 id:4" ]
		line=$output
		run --separate-stderr -0 "$RNBDADM" "${R[@]}" batch -n - <<<"$line"
		[ "$output" = "$line" ]
		# one whose name is its own keeps it
		adm 0 session $v cl1@srv2 10.0.0.3 --force -n
		[ "$output" = "rnbdadm session $v cl1@srv2 ip:10.0.0.1@ip:10.0.0.3 --force" ]
	done
	adm 0 recover session cl1@srv1 -n
	[ "$output" = "rnbdadm session reconnect cl1@srv1 id:4" ]
}

@test "--hca names a path wherever one is named" {
	replay path-del
	adm 0 session remove-path cl1@srv1 --hca mlx5_1
	adm 0 session remove-path cl1@srv1 --hca=mlx5_1:1 -n
	[ "$output" = "rnbdadm session remove-path cl1@srv1 ip:10.0.1.1@ip:10.0.1.2" ]
	fails 2 usage session remove-path cl1@srv1
	[[ $stderr == *"PATH is missing, or --hca"* ]]
	fails 4 not_found session remove-path cl1@srv1 --hca mlx5_1:2
	fails 4 not_found session remove-path cl1@srv1 10.0.0.2 --hca mlx5_1
	adm 0 session remove-path cl1@srv1 --hca mlx5_9 --idempotent -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths[0] | [.name, .result] | @csv')" = '"mlx5_9","absent"' ]
	replay path-off
	adm 0 session disconnect cl1@srv1 --hca mlx5_1:1 -j
	valid rnbdadm.path/1
	[ "$(jqv '[.paths[] | .name, .result] | @csv')" = '"ip:10.0.1.1@ip:10.0.1.2","disconnected"' ]
	fails 2 usage session disconnect --all --hca mlx5_1
	replay path-on
	adm 0 session reconnect cl1@srv1 --hca mlx5_1 -j
	[ "$(jqv '[.paths[] | .name, .result] | @csv')" = '"ip:10.0.1.1@ip:10.0.1.2","reconnected"' ]
	replay recover
	for c in "session recover" "recover session"; do
		# shellcheck disable=SC2086
		adm 0 $c cl1@srv1 --hca mlx5_1 -j
		valid rnbdadm.recover/1
		[ "$(jqv '[.recovered[].name] | @csv')" = '"ip:10.0.1.1@ip:10.0.1.2"' ]
		# shellcheck disable=SC2086
		fails 4 not_found $c cl1@srv1 --hca mlx5_9
	done
	replay same-hca
	fails 6 conflict session reconnect cl1@srv1 --hca mlx5_0
	[[ $stderr == *"'mlx5_0' fits 2 paths"*"ip:10.0.1.1@ip:10.0.1.2"*"give SRC@DST"* ]]
}

@test "--dry-run: nothing is sent, and its lines can be run" {
	replay two-sessions
	for c in "session add cl1@srv3 --path 10.0.0.1@10.0.0.9 --path 10.0.1.9 --io-timeout 1m --connections 2" \
		"session remove cl1@srv1 --force" "session add-path cl1@srv1 10.0.2.1@10.0.2.2 10.0.3.3" \
		"session remove-path cl1@srv1 10.0.1.2" "session remove-path cl1@srv1 10.0.0.2 --force" "session reconnect cl1@srv1 --force" \
		"session reconnect --all --only-down" "session disconnect cl1@srv1 10.0.1.2" "session disconnect cl1@srv1 --force" \
		"session disconnect --all --force" "recover --all" "recover session cl1@srv1" "recover device rnbd2" "mp-policy set --all mi"; do
		# shellcheck disable=SC2086
		adm 0 $c -n --trace
		plan=$output
		[ -n "$plan" ]
		nothing_sent
		# shellcheck disable=SC2086
		adm 0 $c -n -j
		valid_any
		[ "$(jqv '.dry_run and (.plan | length > 0) and .changed == false')" = true ]
		while IFS= read -r line; do
			read -ra words <<<"${line#rnbdadm }"
			adm 0 "${words[@]}" -n
			[ "$output" = "$line" ]
		done <<<"$plan"
	done
	fails 7 busy session remove-path cl1@srv1 10.0.0.2 -n
}

@test "the documents of these tests are valid" { all_valid; }
