#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# show: whatever has that name.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	replay two-sessions
}

# shows KIND NAME WORD..: one object, in the list of its kind
shows() {
	adm 0 show "${@:3}" -j
	valid rnbdadm.show/1
	jqv --arg kind "$1" --arg name "$2" '[.sessions, .paths, .devices, .exports, .clients | length] == [
		("sessions", "paths", "devices", "exports", "clients") | if . == $kind then 1 else 0 end] and
		(.[$kind][0] | (.name // .device)) == $name'
}

@test "sessions, devices, paths, of the client and of the server, exports, clients" {
	jqv() { printf '%s' "$output" | jq -er "$@"; }
	shows sessions cl1@srv1 cl1@srv1
	shows devices rnbd0 rnbd0
	shows devices rnbd1 /dev/rnbd1

	shows paths ip:10.0.1.1@ip:10.0.1.2 10.0.1.1@10.0.1.2
	shows clients cl7@here cl7@here
	shows exports sdb sdb
	shows paths ip:10.0.1.7@ip:10.0.1.1 10.0.1.7@10.0.1.1
}

@test "as text: what 'show' of its kind prints" {
	adm 0 show rnbd0
	text=$output
	adm 0 device show rnbd0
	[ "$output" = "$text" ]
	adm 0 show cl7@here
	text=$output
	adm 0 server client show cl7@here
	[ "$output" = "$text" ]
}

@test "nothing, more than one, no modules, one side only" {
	fails 4 not_found show nosuch
	[[ $stderr == *"hint: rnbdadm status lists all objects" ]]
	fails 4 not_found show 10.9.9.9
	for w in "cl1@srv9 cl1@srv1, cl1@srv2" "rnbd9 rnbd0, rnbd1, rnbd2" "sdz sdb"; do
		fails 4 not_found show "${w%% *}"
		[[ $stderr == *": nothing has this name"*"hint: did you mean ${w#* }?" ]]
	done
	fails 4 not_found status cl1@srv9
	[[ $stderr == *": no such session or device"*"hint: did you mean cl1@srv1, cl1@srv2?" ]]
	fails 4 not_found status nosuch
	[[ $stderr == *"hint: rnbdadm status lists all objects" ]]
	# the name of a device on a server is that of an export here
	fails 6 conflict show ram0
	[[ $stderr == *"device rnbd2"*"export ram0"* ]]
	fails 2 usage show
	fails 2 usage show a b
	replay twins
	fails 6 conflict show vol0
	replay absent
	fails 8 unavailable show rnbd0
	replay denied
	fails 5 permission show rnbd0
	replay no-server
	adm 0 show rnbd0 -j
	valid rnbdadm.show/1
	fails 4 not_found show sdb
	replay only-server
	adm 0 show sdb -j
	valid rnbdadm.show/1
	fails 4 not_found show rnbd0
}

@test "the documents of these tests are valid" { all_valid; }
