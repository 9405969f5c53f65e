#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions: their settings, how they come and go, path policies.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

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
		--reconnect-delay-max 10m --connect-timeout 1.5s --io-timeout 1d --no-path-timeout 0 --max-reconnect-attempts -1 \
		--lost-writes disconnect -j
	valid rnbdadm.session/1
	[ "$(jqv '[.changes[].key] | length')" = 8 ]
	[ "$(jqv '.changes[] | select(.key == "io_timeout_ms") | [.old, .new] | @csv')" = 0,86400000 ]
	[ "$(jqv '.changes[] | select(.key == "lost_writes") | [.old, .new] | @csv')" = '"fail-flush","disconnect"' ]
	[ "$(jqv '.sessions[0] | [.no_path_timeout_ms, .connect_timeout_ms, .lost_writes] | @csv')" = '0,1500,"disconnect"' ]
	adm 0 session set cl1@srv1 --heartbeat-interval 0.2 --heartbeat-misses 100 --reconnect-delay 0.01s \
		--reconnect-delay-max 600 --connect-timeout 1500ms --io-timeout 24h --no-path-timeout 0s --lost-writes disconnect
	[ -z "$output$stderr" ]
	replay two-sessions
	for w in infinite -1 forever; do
		adm 0 session set cl1@srv1 --no-path-timeout $w --max-reconnect-attempts $w --io-timeout 0 --heartbeat-interval 5s -j
		valid rnbdadm.session/1
		[ "$(jqv '.changed == false and .changes == []')" = true ]
	done
	adm 0 session set cl1@srv1 --no-path-timeout 30 --reconnect-delay-max=5m --heartbeat-misses 3 --lost-writes disconnect -n --trace
	[ "$output" = "rnbdadm session set cl1@srv1 --heartbeat-misses=3 --reconnect-delay-max=300000ms --no-path-timeout=30000ms \
--lost-writes=disconnect" ]
	nothing_sent
	read -ra words <<<"${output#rnbdadm }"
	adm 0 "${words[@]}" -n
	[[ $output == *"--no-path-timeout=30000ms --lost-writes=disconnect" ]]
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
	replay map-fua
	adm 0 "${NEW[@]}" --fua -j
	[ "$(jqv '.devices[0] | [.always_fua, .write_losses] | @csv')" = true,0 ]
	adm 0 "${NEW[@]}" --fua -n
	[ "$output" = "rnbdadm ${NEW[*]} --fua" ]
	replay map-fua-there
	adm 0 map vol0 --session cl1@srv1 --fua --idempotent
	fails 6 conflict map vol0 --session cl1@srv1 --idempotent
	[[ $stderr == *"already mapped as /dev/rnbd0 with access rw and --fua"* ]]
	adm 0 config save
	grep -A4 '^\[device vol0\]' <<<"$output" | grep -x 'fua = yes'
	replay map-io-mode
	adm 0 "${NEW[@]}" --io-mode fileio -j
	valid rnbdadm.map/1
	[ "$(jqv '.devices[0] | [.io_mode, .write_cache] | @csv')" = '"fileio",false' ]
	adm 0 "${NEW[@]}" --io-mode fileio -n
	[ "$output" = "rnbdadm ${NEW[*]} --io-mode fileio" ]
	fails 2 usage "${NEW[@]}" --io-mode file
	replay map-io-mode-there
	adm 0 map vol0 --session cl1@srv1 --io-mode fileio --idempotent
	adm 0 map vol0 --session cl1@srv1 --idempotent
	fails 6 conflict map vol0 --session cl1@srv1 --io-mode blockio --idempotent
	[[ $stderr == *"already mapped as /dev/rnbd0 with access rw and --io-mode fileio"* ]]
	adm 0 config save
	grep -A4 '^\[device vol0\]' <<<"$output" | grep -x 'io-mode = fileio'
	replay map-io-mode-cannot
	fails 9 unsupported "${NEW[@]}" --io-mode fileio
	[[ $stderr == *"the server knows no fileio"*"without --io-mode it is mapped with blockio"* ]]
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
	as_named 2 path add cl1@srv1 10.0.0.1@host:six -n
	[[ $stderr == *"'10.0.0.1@host:six' mixes ipv4 and ipv6"* ]]
}

@test "host:NAME without an address: absent, not now, and no mistake of the command line" {
	unshare -rmn true || skip "needs a user namespace"
	replay two-sessions
	HOSTS='10.0.0.9 four'
	for c in "path add cl1@srv1" "session add new --path" "map vol9 --session new --path" "map vol9 --server" \
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
	as_named 2 path add cl1@srv1 host:
	as_named 2 path add cl1@srv1 fe80::1%nosuchif
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
			"path add cl1@srv1 $one $two"; do
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
	[[ $stderr == *"no path ip:10.0.5.5"*"path add cl1@srv3 ip:10.0.5.5"* ]]
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
	adm 0 session remove cl1@srv3 -j
	valid rnbdadm.session/1
	[ "$(jqv '.changed and .sessions[0].name == "cl1@srv3"')" = true ]
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
	adm 0 session remove nosuch --idempotent
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

@test "session set --mp-policy" {
	replay policy
	for p in rr round-robin; do
		adm 0 session set cl1@srv1 --mp-policy $p
		[ -z "$output$stderr" ]
	done
	fails 2 usage session set cl1@srv1 --mp-policy round-robbin
	[[ $stderr == *"'round-robbin' is not a value of --mp-policy (round-robin, min-inflight, min-latency, rr, mi, ml)"*"did you mean round-robin?"* ]]
}

@test "names of earlier versions: an error that has the new one" {
	local old now
	while IFS='|' read -r old now; do
		# shellcheck disable=SC2086
		alone 2 $old
		[[ -z $output && $stderr == *"does not exist any more"*"hint: use '$now'"* ]]
	done <<-END
		session ls|list
		sess list|session
		session add-path x 10.0.0.1|path add
		session remove-path x 10.0.0.1|path remove
		session reconnect --all|path reconnect
		session disconnect --all|path disconnect
		session recover x|recover
		recover session x|recover SESSION
		recover device rnbd0|remap DEVICE
		mp-policy set --all rr|session set --mp-policy
		save|config save
		restore|config apply
		unmap --all --yes|--force
		unmap -y --all|--force
		stats --no-totals|--totals
		session list --no-tree|list
		resize rnbd0 --from-server|server export revalidate
		stats --save x|-o prom, or -i
		stats latency --from-diskstats|iostat -x
		status --client|--role client
		status --server|--role server
		stats reset --all --server|--role server
		stats reset --only ios|--counters
		monitor --stats=1s|--interval
		server export close sdb --all-clients|--all
		server export list --client x|--session
		unmap rnbd0 --if-exists|--idempotent
		batch lines|config apply
		-b lines|config apply
	END
}

@test "--dry-run: nothing is sent, and its lines can be run" {
	replay two-sessions
	for c in "session add cl1@srv3 --path 10.0.0.1@10.0.0.9 --path 10.0.1.9 --io-timeout 1m --connections 2" \
		"session remove cl1@srv1 --force" "path add cl1@srv1 10.0.2.1@10.0.2.2 10.0.3.3" \
		"path remove cl1@srv1 10.0.1.2" "path remove cl1@srv1 10.0.0.2 --force" "path reconnect cl1@srv1 --force" \
		"path reconnect --all --only-down" "path disconnect cl1@srv1 10.0.1.2" "path disconnect cl1@srv1 --force" \
		"path disconnect --all --force" "recover --all" "recover cl1@srv1"; do
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
			run_plan "$line" -n
			[ "$output" = "$line" ]
		done <<<"$plan"
	done
	fails 7 busy path remove cl1@srv1 10.0.0.2 -n
}

@test "the documents of these tests are valid" { all_valid; }
