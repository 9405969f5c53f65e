#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths of sessions: added, removed, disconnected, reconnected.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
	export BATS_TEST_TIMEOUT=120 # one of them waits for ever if it fails
}

setup() { load helpers; }

@test "path add" {
	replay path-add
	adm 0 path add cl1@srv1 10.0.2.1@10.0.2.2
	[ -z "$output$stderr" ]
	for words in "path add" "path add"; do
		# shellcheck disable=SC2086
		adm 0 $words cl1@srv1 10.0.2.1,10.0.2.2 -j
		valid rnbdadm.path/1
		[ "$(jqv '[.changed, (.paths[0] | .session, .name, .old_state, .state, .result)] | @csv')" = \
			'true,"cl1@srv1","ip:10.0.2.1@ip:10.0.2.2",,"connected","added"' ]
		# all that a list would tell
		[ "$(jqv '.paths[0] | [.server_addr, .family, .link_layer, .connections, .since] | @csv')" = \
			'"ip:10.0.2.2","ipv4","ethernet",17,"2026-11-21T08:00:02.000000Z"' ]
	done
	adm 0 path add cl1@srv1 10.0.2.1@10.0.2.2 -o csv
	[[ ${lines[0]} == session,name,client_addr,*,since,old_state,result ]]
	[[ ${lines[1]} == cl1@srv1,ip:10.0.2.1@ip:10.0.2.2,ip:10.0.2.1,ip:10.0.2.2,ipv4,mlx5_0,1,*,connected,*,,added ]]
	replay path-add-port
	adm 0 path add cl1@srv1 10.0.9.9 --dest-port 999 --timeout 5s
	replay path-add-slow
	adm 0 path add cl1@srv1 10.0.2.1@10.0.2.2 -j
	[ "$(jqv '.paths[0].state')" = connected ]
	adm 0 path add cl1@srv1 10.0.2.1@10.0.2.2 --no-wait -j
	[ "$(jqv '.paths[0].state')" = connecting ]
	replay path-add-never
	for w in "" --wait; do
		# shellcheck disable=SC2086
		fails 10 timeout path add cl1@srv1 10.0.2.1@10.0.2.2 $w
		[[ $stderr == *"the path is not connected after 30000 ms"* ]]
	done
	# as its help says
	adm 0 path add -h
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"node ready (10s; path add 30s)"* ]]
	adm 0 config edit-hints
	[[ $output != *"of a new session"* ]]
	fails 10 timeout path add cl1@srv1 10.0.2.1@10.0.2.2 --wait=2s
	[[ $stderr == *"after 2000 ms"* ]]
}

@test "path add: several, and refusals" {
	replay path-add-two
	fails 1 failed path add cl1@srv1 10.0.9.9 --dest-port 999 --timeout 5s
	[[ $stderr == *"10.0.9.9 does not listen on port 999"* ]]
	replay path-add
	fails 3 partial path add cl1@srv1 10.0.2.1@10.0.2.2 10.0.0.1@10.0.0.2
	[[ $stderr == *"10.0.0.1@10.0.0.2: the session has this path already"* ]]
	adm 0 path add cl1@srv1 10.0.2.1@10.0.2.2 10.0.0.1@10.0.0.2 --idempotent -j
	[ "$(jqv '[.paths[].result] | @csv')" = '"added","present"' ]
	replay path-add-exists
	fails 6 conflict path add cl1@srv1 10.0.2.1@10.0.2.2
	adm 0 path add cl1@srv1 10.0.2.1@10.0.2.2 --idempotent
	replay path-add-late
	fails 10 timeout path add cl1@srv1 10.0.2.1@10.0.2.2
	replay path-add-nowhere
	fails 1 failed path add cl1@srv1 10.0.2.1@10.0.2.2
	[[ $stderr == *"no way to 10.0.2.2 over RDMA"*"kernel: no device for source address (PATH)"* ]]
	fails 2 usage path add cl1@srv1
	fails 2 usage path add cl1@srv1 nowhere
	fails 2 usage path add cl1@srv1 10.0.0.9 --timeout 20m
	fails 4 not_found path add nosuch 10.0.0.9
	[[ $stderr == *"no such session"* ]]
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported path add cl1@srv1 10.0.9.9
	done
	replay paths-denied
	fails 5 permission path add cl1@srv1 10.0.9.9
}

@test "path remove" {
	replay path-del
	for p in 10.0.1.2 ip:10.0.1.1@ip:10.0.1.2 id:2; do
		adm 0 path remove cl1@srv1 "$p"
		[ -z "$output$stderr" ]
	done
	adm 0 path remove cl1@srv1 10.0.1.2 -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths[0] | [.old_state, .state, .result, .server_addr, .since] | @csv')" = '"connected","unknown","removed","ip:10.0.1.2",' ]
	replay path-del-down
	adm 0 path remove cl1@srv1 10.0.1.2
	replay path-del-slow
	adm 0 path remove cl1@srv1 10.0.1.2 --wait --trace
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
	replay path-del-gone
	fails 4 not_found path remove cl1@srv1 10.0.1.2
	adm 0 path remove cl1@srv1 10.0.1.2 --idempotent
	fails 4 not_found path remove cl1@srv1 10.0.9.9
	adm 0 path remove cl1@srv1 10.0.9.9 --idempotent -j
	[ "$(jqv '.changed == false and (.paths[0] | .result == "absent" and .name == "10.0.9.9" and .state == "unknown")')" = true ]
	adm 0 path remove nosuch 10.0.9.9 --idempotent
	fails 4 not_found path remove nosuch 10.0.9.9
	fails 2 usage path remove cl1@srv1
	fails 2 usage path remove cl1@srv1 2
	replay paths-denied
	fails 5 permission path remove cl1@srv1 10.0.1.2
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported path remove cl1@srv1 10.0.1.2
	done
}

@test "the last connected path of devices stays unless --force is given" {
	replay path-del
	adm 7 path remove cl1@srv1 10.0.0.2 10.0.1.2 --trace
	nothing_sent
	fails 7 busy path remove cl1@srv1 10.0.0.2 10.0.1.2
	[[ $stderr == *"refused, this is the last connected path and 2 devices are in use"*"rnbd0 is used by: mount /data"*"--force"* ]]
	adm 0 path remove cl1@srv1 10.0.0.2 10.0.1.2 --force
	replay path-del-down
	fails 7 busy path remove cl1@srv1 10.0.0.2
	[[ $stderr == *"the last connected path"* ]]
	replay path-del-last
	fails 7 busy path remove cl1@srv2 10.0.0.3
	[[ $stderr == *"and 1 device is mapped"*"rnbd2 is mapped"* ]]
	adm 0 path remove cl1@srv2 10.0.0.3 -f
	replay session-added
	# no device is mapped over it
	fails 1 failed path remove cl1@srv3 10.0.0.9
	replay path-off
	fails 7 busy path disconnect cl1@srv1
	fails 7 busy path disconnect cl1@srv1 10.0.0.2 10.0.1.2
	adm 0 path disconnect cl1@srv1 --force
	replay path-on
	fails 7 busy path reconnect cl1@srv1 10.0.0.2
	[[ $stderr == *"--only-down leaves it alone"* ]]
}

@test "path disconnect" {
	replay path-off
	adm 0 path disconnect cl1@srv1 10.0.0.2
	[ -z "$output$stderr" ]
	adm 0 path disconnect cl1@srv1 10.0.1.2 -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths[0] | [.old_state, .state, .result] | @csv')" = '"connected","disconnected","disconnected"' ]
	replay path-off-already
	adm 0 path disconnect cl1@srv1 10.0.1.2 -j
	[ "$(jqv '[.changed, .paths[0].result] | @csv')" = 'false,"unchanged"' ]
	fails 4 not_found path disconnect cl1@srv1 10.9.9.9
	fails 4 not_found path disconnect nosuch
	replay both-up
	fails 1 failed path disconnect cl1@srv1 10.0.1.2
	replay paths-denied
	fails 5 permission path disconnect cl1@srv1 10.0.1.2
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported path disconnect cl1@srv1 10.0.1.2
	done
}

@test "path disconnect --all: all sessions, none if one is refused" {
	replay path-off-all
	fails 7 busy path disconnect --all
	[[ $stderr == "rnbdadm: path disconnect: ip:10.0.1.1@ip:10.0.1.2 of session cl1@srv1: refused, this is the last connected path"* ]]
	adm 7 path disconnect --all --trace
	nothing_sent
	adm 0 path disconnect --all --force -j
	valid rnbdadm.path/1
	[ "$(jqv '[.changed, ([.paths[] | .session, .result] | join(" "))] | @csv')" = \
		'true,"cl1@srv1 disconnected cl1@srv1 disconnected cl1@srv2 disconnected"' ]
	replay path-off-unused
	adm 0 path disconnect --all
	replay empty
	adm 0 path disconnect --all
	fails 2 usage path disconnect
	[[ $stderr == *"name a session, or --all"* ]]
	fails 2 usage path disconnect --all cl1@srv1
}

@test "path disconnect --wait: until the path is down" {
	replay path-off-slow
	adm 0 path disconnect cl1@srv1 10.0.1.2 -j
	[ "$(jqv '.paths[0].state')" = closing ]
	adm 0 path disconnect cl1@srv1 10.0.1.2 --no-wait
	adm 0 path disconnect cl1@srv1 10.0.1.2 --wait --trace -j
	valid rnbdadm.path/1
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 3 ]
	[ "$(jqv '.paths[0] | [.old_state, .state, .result] | @csv')" = '"connected","disconnected","disconnected"' ]
	replay path-off-never
	fails 10 timeout path disconnect cl1@srv1 10.0.1.2 --wait=100ms
	[[ $stderr == *"the path is not down"* ]]
	printf '%s' "$JSON" | jq -e '.changed and .paths[0].state == "closing"'
	# what the kernel says is so needs no look
	replay path-off
	adm 0 path disconnect cl1@srv1 --force --wait --trace
	[ "$(grep -c -- '-> .*path-get dump' <<<"$stderr")" = 1 ]
	adm 0 path disconnect cl1@srv1 10.0.1.2 --wait -n --trace
	nothing_sent
	replay path-off-already
	adm 0 path disconnect cl1@srv1 10.0.1.2 --wait
	fails 2 usage path disconnect cl1@srv1 10.0.1.2 --wait=soon
}

@test "path reconnect: what is down comes first" {
	replay path-on
	adm 0 path reconnect cl1@srv1 10.0.1.2
	[ -z "$output$stderr" ]
	adm 0 path reconnect cl1@srv1 --trace -j
	valid rnbdadm.path/1
	[ "$(grep -o -- '-> .*path-reconnect len=.*' <<<"$stderr" | grep -o 'id=.' | tr '\n' ' ')" = "id=2 id=1 " ]
	[ "$(jqv '[.paths[] | .old_state, .state, .result] | @csv')" = \
		'"connected","connected","reconnected","reconnecting","connected","reconnected"' ]
	adm 0 path reconnect cl1@srv1 --only-down -j
	[ "$(jqv '[.paths[].result] | @csv')" = '"connected","reconnected"' ]
	replay path-on-time
	adm 0 path reconnect cl1@srv1 10.0.1.2 --timeout 1.5s
	replay path-on-fails
	fails 10 timeout path reconnect cl1@srv1 10.0.1.2
	[[ $stderr == *"10.0.1.2 did not answer in time"* ]]
	# the other one is the last path then
	fails 3 partial path reconnect cl1@srv1 --force
	printf '%s' "$JSON" | jq -e '[.paths[].result] == ["reconnected", "failed"]'
	fails 3 partial path reconnect cl1@srv1
	printf '%s' "$JSON" | jq -e '[.paths[].result] == ["refused", "failed"]'
	replay path-on-later
	fails 1 failed path reconnect cl1@srv1 10.0.1.2
	[[ $stderr == *"this attempt has failed (ENOTCONN)"*"rnbdadm wait cl1@srv1 ip:10.0.1.1@ip:10.0.1.2 --for state=connected"* ]]
	replay path-on-lost
	fails 3 partial path reconnect cl1@srv1
	[[ $stderr == *"10.0.0.2 does not listen"*"the last connected path"* ]]
}

@test "path reconnect: all sessions, and refusals" {
	replay path-on-all
	fails 3 partial path reconnect --all
	[[ $stderr == *"ip:10.0.0.1@ip:10.0.0.3: refused"* ]]
	adm 0 path reconnect --all --force -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths | length')" = 3 ]
	adm 0 path reconnect --all --only-down
	replay empty
	adm 0 path reconnect --all
	fails 2 usage path reconnect
	fails 2 usage path reconnect --all cl1@srv1
	replay two-sessions
	fails 2 usage path reconnect cl1@srv1 --timeout 1ms
	fails 4 not_found path reconnect nosuch
	fails 4 not_found path reconnect cl1@srv1 10.9.9.9
	replay paths-denied
	fails 5 permission path reconnect cl1@srv1 10.0.1.2
	for m in paths-unsupported old-modules; do
		replay $m
		fails 9 unsupported path reconnect cl1@srv1 10.0.1.2
	done
}

@test "several paths of the same addresses" {
	replay same-path
	fails 6 conflict path remove cl1@srv1 10.0.0.2
	[[ $stderr == *"'10.0.0.2' fits 2 paths
  id:1  ip:10.0.0.1@ip:10.0.0.2  mlx5_0:1
  id:4  ip:10.0.0.1@ip:10.0.0.2  mlx5_1:1
  hint: give id:N or --hca"* ]]
	for v in remove reconnect disconnect; do
		adm 0 path $v cl1@srv1 --hca mlx5_1 -n
		[ "${output%  #*}" = "rnbdadm path $v cl1@srv1 id:4" ]
		line=$output
		run_plan "$line" -n
		[ "$output" = "$line" ]
		# one whose name is its own keeps it
		adm 0 path $v cl1@srv2 10.0.0.3 --force -n
		[ "${output%  #*}" = "rnbdadm path $v cl1@srv2 ip:10.0.0.1@ip:10.0.0.3 --force" ]
	done
	adm 0 recover cl1@srv1 -n
	[[ $output == "rnbdadm path reconnect cl1@srv1 id:4  # would reconnect ip:10.0.0.1@ip:10.0.0.2, which is "* ]]
}

@test "--hca names a path wherever one is named" {
	replay path-del
	adm 0 path remove cl1@srv1 --hca mlx5_1
	adm 0 path remove cl1@srv1 --hca=mlx5_1:1 -n
	[ "${output%  #*}" = "rnbdadm path remove cl1@srv1 ip:10.0.1.1@ip:10.0.1.2" ]
	fails 2 usage path remove cl1@srv1
	[[ $stderr == *"PATH is missing, or --hca"* ]]
	fails 4 not_found path remove cl1@srv1 --hca mlx5_1:2
	fails 4 not_found path remove cl1@srv1 10.0.0.2 --hca mlx5_1
	adm 0 path remove cl1@srv1 --hca mlx5_9 --idempotent -j
	valid rnbdadm.path/1
	[ "$(jqv '.paths[0] | [.name, .result] | @csv')" = '"mlx5_9","absent"' ]
	replay path-off
	adm 0 path disconnect cl1@srv1 --hca mlx5_1:1 -j
	valid rnbdadm.path/1
	[ "$(jqv '[.paths[] | .name, .result] | @csv')" = '"ip:10.0.1.1@ip:10.0.1.2","disconnected"' ]
	fails 2 usage path disconnect --all --hca mlx5_1
	replay path-on
	adm 0 path reconnect cl1@srv1 --hca mlx5_1 -j
	[ "$(jqv '[.paths[] | .name, .result] | @csv')" = '"ip:10.0.1.1@ip:10.0.1.2","reconnected"' ]
	replay recover
	adm 0 recover cl1@srv1 --hca mlx5_1 -j
	valid rnbdadm.recover/1
	[ "$(jqv '[.recovered[].name] | @csv')" = '"ip:10.0.1.1@ip:10.0.1.2"' ]
	fails 4 not_found recover cl1@srv1 --hca mlx5_9
	replay same-hca
	fails 6 conflict path reconnect cl1@srv1 --hca mlx5_0
	[[ $stderr == *"'mlx5_0' fits 2 paths"*"ip:10.0.1.1@ip:10.0.1.2"*"give SRC@DST"* ]]
}

@test "GIDs: the first of a path's own address, of RoCE v2 where there is one; what is behind it is not read" {
	local ports
	own_root
	world two-sessions
	ports=$ROOT/sys/class/infiniband/mlx5_0/ports/1
	mkfifo "$ports/gids/4" # who opens that waits
	own() { jqv '.paths[] | select(.name == "ip:10.0.0.1@ip:10.0.0.2") | [.gid_index, .netdev] | @csv'; }
	adm 0 path list -j
	[ "$(own)" = '3,"ens1f0np0"' ]
	rm "$ports/gids/4"
	echo "IB/RoCE v1" >"$ports/gid_attrs/types/3"
	adm 0 path list -j
	[ "$(own)" = '1,"ens1f0np0"' ]
	echo InfiniBand >"$ports/link_layer"
	rm "$ports/gids/2" && mkfifo "$ports/gids/2"
	adm 0 path list -j
	[ "$(own)" = '1,"ens1f0np0"' ]
}

@test "the documents of these tests are valid" { all_valid; }
