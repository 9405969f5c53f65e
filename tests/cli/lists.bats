#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Lists and shows: text, CSV and JSON of the same objects; fields, filters, order.
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

@test "every command that reads: text, JSON and CSV" {
	local root=$BATS_TEST_TMPDIR/root csv name line WANT FORMS
	cp -r "$REC/root" "$root"
	R+=(--test-root "$root")
	mkdir -p "$root/etc/rnbd" "$root/sys/block/rnbd0/rnbd" "$root/sys/class/rtrs-client/cl1@srv1/paths/ip:10.0.0.1@ip:10.0.0.2"
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.1@10.0.0.2' 'mp-policy = rr' '[device data]' 'session = cl1@srv1' \
		'device-path = vol0' >"$root/etc/rnbd/rnbdadm.conf"
	echo cl1@srv1 >"$root/sys/block/rnbd0/rnbd/session"
	echo vol0 >"$root/sys/block/rnbd0/rnbd/mapping_path"
	"$PY" "$CLI/contract.py" lines "$PLAIN" >"$BATS_TEST_TMPDIR/lines"
	cd "$CLI"
	while read -r csv name; do
		line=$(grep -m 1 -E "^$name( |\$)" "$BATS_TEST_TMPDIR/lines")
		WANT=0 FORMS="txt json"
		case $name in
		# what they print is in the sources
		help | completion | metadata | schema) continue ;;
		check | config\ diff | server\ access\ diff) WANT=11 ;;
		stats\ latency) line=$name ;;
		esac
		[[ $csv == false ]] || FORMS+=" csv"
		# documents have the name of a file as it was given
		# shellcheck disable=SC2086
		shown "${name// /-}" ${line//"$CLI/"/}
	done < <("$PLAIN" metadata | jq -r '.commands[] | select(.changes | not) | "\(.csv) \(.name)"')
}

@test "session list: the same rows with UTF-8" {
	LC_ALL=C.UTF-8 adm 0 session list
	golden session-list-utf8.txt
}

@test "session list --stats adds counters, --details ids" {
	adm 0 session list --stats --details -p
	valid rnbdadm.session/1
	golden session-list-stats.json
}

@test "session show" {
	adm 0 session show cl1@srv1 --stats
	golden session-show-stats.txt
	adm 0 session show cl1@srv1 -j
	valid rnbdadm.session/1
	[ "$(jqv '.sessions | length')" = 1 ]
}

@test "path list --stats" {
	adm 0 path list -j --stats
	golden path-list-stats.json
}

@test "path list --session and --down" {
	adm 0 path list --session cl1@srv1 --brief
	[ "$output" = $'ip:10.0.0.1@ip:10.0.0.2\nip:10.0.1.1@ip:10.0.1.2' ]
	adm 0 path list --down --brief
	[ "$output" = ip:10.0.1.1@ip:10.0.1.2 ]
	fails 4 not_found path list --session cl1@srv8
}

@test "path show: by address, by its end, by RDMA device" {
	adm 0 path show cl1@srv1 ip:10.0.1.1@ip:10.0.1.2
	golden path-show-down.txt
	first=$output
	for sel in 10.0.1.1,10.0.1.2 ip:10.0.1.2 10.0.1.2; do
		adm 0 path show cl1@srv1 "$sel"
		[ "$output" = "$first" ]
	done
	adm 0 path show cl1@srv1 --hca mlx5_1:1
	[ "$output" = "$first" ]
	adm 0 path show cl1@srv1 --hca mlx5_1
	[ "$output" = "$first" ]
	adm 0 path show cl1@srv1 --hca mlx5_1 -j
	valid rnbdadm.path/1
}

@test "path show: absent, malformed, not given" {
	fails 4 not_found path show cl1@srv1 10.0.1.77
	fails 4 not_found path show cl1@srv1 --hca mlx5_1:2
	fails 2 usage path show cl1@srv1 1
	fails 2 usage path show cl1@srv1
	fails 2 usage path show cl1@srv1 ip:10.0.0.1@gid:fe80::1
}

@test "device show: by disk, node, link, remote name" {
	adm 0 device show rnbd1
	golden device-show-held.txt
	first=$output
	for sel in /dev/rnbd1 /dev/rnbd/by-session/cl1@srv1/vol1 vol1; do
		adm 0 device show "$sel"
		[ "$output" = "$first" ]
	done
	adm 0 device show vol1 --session cl1@srv1
	[ "$output" = "$first" ]
	fails 4 not_found device show vol1 --session cl1@srv2
}

@test "device show --details --stats" {
	adm 0 device show rnbd0 --details --stats -p
	valid rnbdadm.device/1
	golden device-show-details.json
}

@test "a bare number selects nothing, two devices are one too many" {
	fails 2 usage device show 1
	[[ $stderr == *rnbd1* ]]
	replay twins
	fails 6 conflict device show vol0
	[[ $stderr == *rnbd0* && $stderr == *rnbd1* ]]
	adm 0 device show vol0 --session cl1@srv2 --fields name
	[ "$output" = "name  rnbd1" ]
}

@test "users of a device: swap, the system, a partition" {
	replay two-sessions swap
	adm 0 device list -F name,mountpoints --no-headers
	[ "$output" = $'rnbd0  /\nrnbd1  /part\nrnbd2  -' ]
}

@test "natural order: rnbd2 before rnbd10" {
	replay hostile
	adm 0 device list --brief
	[ "${lines[1]}" = rnbd2 ]
	[ "${lines[9]}" = rnbd10 ]
}

@test "-F: list, +, -, all, unknown, help" {
	adm 0 device list -F name,size_bytes
	[ "${lines[0]}" = "NAME   SIZE BYTES" ]
	adm 0 device list -F +fua,-session,-holders
	golden device-list-fields.txt
	adm 0 device list -F name,size_bytes -j
	[ "$(printf '%s' "$output" | jq -c '.devices[0]')" = '{"name":"rnbd0","size_bytes":21474836480}' ]
	adm 0 device list -F -links -o csv
	[[ ${lines[0]} != *links* && ${lines[0]} == name,node,* ]]
	fails 2 usage device list -F sise_bytes
	[[ $stderr == *"did you mean size_bytes"* ]]
	fails 2 usage device list -F ,
	adm 0 device list -F help
	golden device-fields.txt
	# no document has them in this form
	adm 2 device list -F help -j
	valid rnbdadm.device/1
	[ "$(jqv .error.code)" = usage ]
	[[ $stderr == *"-F help is text alone"*"help fields OBJECT -j"* ]]
	adm 2 device list -F help -o csv
	[ -z "$output" ]
}

@test "--sort: up, down, unknown values last" {
	adm 0 device list --sort size_bytes --brief
	[ "$output" = $'rnbd2\nrnbd0\nrnbd1' ]
	adm 0 device list --sort -size_bytes --brief
	[ "$output" = $'rnbd1\nrnbd0\nrnbd2' ]
	adm 0 path list --sort -heartbeat_latency_ns -F server_addr --no-headers
	[ "${lines[2]}" = ip:10.0.1.2 ]
	fails 2 usage device list --sort colour
}

@test "--filter: commas alone are no condition that everything meets" {
	for f in "," ",,"; do
		fails 2 usage device list --filter "$f"
		[[ $stderr == *"--filter: '$f' has no condition"* ]]
		fails 2 usage wait cl1@srv1 --for "$f" --test
		[[ $stderr == *"--for: '$f' has no condition"* ]]
	done
}

@test "--filter: a word that the field never has is refused, one of a later kernel is not" {
	fails 2 usage device list --filter state=maped
	[[ $stderr == *"state is never 'maped' (mapped, disconnected, init, unmapped)"*"did you mean mapped?"* ]]
	fails 2 usage path list --filter 'family!=ip'
	fails 2 usage wait --for access=wr vol0
	adm 0 device list --filter state=unknown --brief
	[ -z "$output" ]
	adm 0 device list --filter 'io_mode=' --brief
}

@test "--filter: =, !=, <, >, and, sizes, lists" {
	adm 0 device list --filter state=mapped --brief
	[ "$output" = $'rnbd0\nrnbd1' ]
	adm 0 device list --filter 'state!=mapped' --brief
	[ "$output" = rnbd2 ]
	adm 0 device list --filter 'size_bytes>1G,size_bytes<1T' --brief
	[ "$output" = rnbd0 ]
	adm 0 device list --filter 'size_bytes>=64M,size_bytes<=20GiB' --brief
	[ "$output" = $'rnbd0\nrnbd2' ]
	adm 0 device list --filter mountpoints=/data --brief
	[ "$output" = rnbd0 ]
	adm 0 device list --filter read_only=true --brief
	[ "$output" = rnbd2 ]
	adm 0 path list --filter heartbeat_latency_ns= --brief
	[ "$output" = ip:10.0.1.1@ip:10.0.1.2 ]
	adm 0 device list --filter name=rnbd9 -j
	[ "$(printf '%s' "$output" | jq -c .devices)" = '[]' ]
	for bad in state 'size_bytes>big' =x 'state!' nosuch=1; do
		fails 2 usage device list --filter "$bad"
	done
}

@test "--filter, wait --for: a list of nothing, == for =, words of a boolean" {
	for w in '' - null; do
		adm 0 device list --filter "mountpoints=$w" --brief
		[ "$output" = $'rnbd1\nrnbd2' ]
		adm 0 device list --filter "mountpoints!=$w" --brief
		[ "$output" = rnbd0 ]
	done
	adm 0 device list --filter holders= --brief
	[[ $output == *rnbd0* && $output != *rnbd1* ]]
	adm 0 device list --filter 'access==rw,size_bytes==20G' --brief
	[ "$output" = rnbd0 ]
	adm 0 wait rnbd0 --for state==mapped --test
	fails 11 differs wait rnbd0 --for state==init --test
	for w in true yes; do
		adm 0 device list --filter "read_only=$w" --brief
		[ "$output" = rnbd2 ]
	done
	for w in false no; do
		adm 0 device list --filter "read_only=$w" --brief
		[ "$output" = $'rnbd0\nrnbd1' ]
	done
	# one that is not known is equal to none
	adm 0 session list --filter held= --brief
	[ "$output" = cl1@srv2 ]
	for w in foo 1 True; do
		fails 2 usage device list --filter "read_only=$w"
		[[ $stderr == *"--filter: '$w' is neither true nor false, as read_only is"* ]]
		fails 2 usage wait rnbd0 --for "read_only!=$w" --test
		[[ $stderr == *"--for: '$w' is neither true nor false"* ]]
	done
	fails 2 usage device list --filter 'size_bytes>==1'
}

@test "--filter, wait --for: numbers below zero, fractions, and numbers that no double holds" {
	for c in =-1 '>=-1' '<0'; do
		adm 0 session list --filter "max_reconnect_attempts$c" --brief
		[ "$output" = $'cl1@srv1\ncl1@srv2' ]
		adm 0 wait cl1@srv1 --for "max_reconnect_attempts$c" --test
	done
	for c in '!=-1' '>-1' '<-1'; do
		adm 0 session list --filter "max_reconnect_attempts$c" --brief
		[ -z "$output" ]
		adm 11 wait cl1@srv1 --for "max_reconnect_attempts$c" --test
	done
	adm 0 session list --filter 'paths_connected>0.5,paths_connected<1.5' --brief
	[ "${#lines[@]}" = 2 ]
	for bad in 'paths_connected>0.5x' paths_connected=many 'paths_connected=1.2.3' 'name>a' 'state<=up'; do
		fails 2 usage session list --filter "$bad"
		fails 2 usage wait cl1@srv1 --for "$bad" --test
	done
	[[ $stderr == *"--for: state is not a number: only = and != are for it"* ]]
	replay extreme
	for c in =9007199254740993 '>9007199254740992,size_bytes<9007199254740994' '!=9007199254740992,size_bytes>0,size_bytes<9000T'; do
		adm 0 device list --filter "size_bytes$c" -F size_bytes -o csv
		[ "$output" = $'size_bytes\n9007199254740993' ]
	done
	adm 0 device list --filter 'size_bytes=9007199254740992' --brief
	[ -z "$output" ]
	for c in =9223372036854775807 '>9223372036854775806'; do
		adm 0 device list --filter "size_bytes$c" -F size_bytes -o csv
		[ "$output" = $'size_bytes\n9223372036854775807' ]
	done
	for c in '>9223372036854775807' '>=9223372036854775808'; do
		adm 0 device list --filter "size_bytes$c" --brief
		[ -z "$output" ]
	done
}

@test "a field that -F, --sort or --filter names is read" {
	adm 0 session list --filter 'read_bytes>1M' --brief
	[ "$output" = cl1@srv1 ]
	adm 0 session list --sort read_bytes --brief
	[ "$output" = $'cl1@srv2\ncl1@srv1' ]
	adm 0 session list -F name,read_bytes -o csv
	[ "${lines[2]}" = cl1@srv2,40960 ]
	adm 0 path list -F name,failovers -o csv
	[[ ${lines[2]} == *,3 ]]
	adm 0 device list --filter id=1 --brief
	[ "$output" = rnbd0 ]
	# what is not named is not asked for
	adm 0 session list -F name --trace
	[[ $stderr != *stats-get* ]]
	fails 2 usage wait cl1@srv1 --for 'read_bytes>0'
	[[ $stderr == *"counters cannot be waited for"* ]]
}

@test "--unit: text and CSV, never JSON" {
	adm 0 device list -F size_bytes --no-headers --unit=B
	[ "${lines[0]}" = "  21474836480" ]
	adm 0 device list -F size_bytes --no-headers --unit=M
	[[ ${lines[0]} == *"20480.0 MiB" ]]
	adm 0 device list -F size_bytes --no-headers --unit=T -o csv
	[ "${lines[0]}" = "0.0195 TiB" ]
	[ "${lines[1]}" = "1.00 TiB" ]
	adm 0 device list --unit=T -j
	[ "$(jqv '.devices[0].size_bytes')" = 21474836480 ]
}

@test "CSV: the elements of a list can be told apart" {
	local root=$BATS_TEST_TMPDIR/root
	cp -r "$REC/root" "$root"
	R+=(--test-root "$root")
	echo '38 22 252:0 / /mnt/c\134d,e rw - ext4 /dev/rnbd0 rw' >>"$root/proc/self/mountinfo"
	adm 0 device list -o csv -F name,mountpoints
	[ "${lines[1]}" = 'rnbd0,"/data /mnt/a\040b /mnt/c\134d,e"' ]
	adm 0 device show rnbd0 -o csv -F mountpoints
	[ "${lines[1]}" = '"/data /mnt/a\040b /mnt/c\134d,e"' ]
	# as it is where it is no list, and in JSON
	adm 0 device list -j
	[ "$(jqv '.devices[0].mountpoints[1:] | join("|")')" = '/mnt/a b|/mnt/c\d,e' ]
}

@test "--brief, --no-headers," {
	adm 0 session list --brief
	[ "$output" = $'cl1@srv1\ncl1@srv2' ]
	adm 0 session list --no-headers
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} == cl1@srv1* ]]
}

@test "empty: a header in text and CSV, [] in JSON, never nothing" {
	replay empty
	for o in session path device; do
		adm 0 "$o" list
		[ "${#lines[@]}" = 1 ]
		adm 0 "$o" list -o csv
		[ "${#lines[@]}" = 1 ]
		adm 0 "$o" list -j
		valid "rnbdadm.$o/1"
		[ "$(jqv ".${o}s == []")" = true ]
		adm 0 "$o" list -o jsonl
		valid "rnbdadm.$o/1"
	done
}

@test "a warning of the kernel in a list: on stderr and in the document, once" {
	replay warned-dump
	adm 0 session list
	[ "$stderr" = "rnbdadm: warning: this list is old" ]
	adm 0 device list -j
	valid rnbdadm.device/1
	[ "$(jqv '.warnings | @csv')" = '"this list is old"' ]
	adm 10 wait cl1@srv1 --for 'paths>=2' --timeout 300ms
	[ "$(grep -c warning <<<"$stderr")" = 1 ]
}

@test "jsonl: one object per line, each with its schema" {
	adm 0 device list -o jsonl
	[ "${#lines[@]}" = 3 ]
	for line in "${lines[@]}"; do
		output=$line
		valid rnbdadm.device/1
		[ "$(jqv '.devices | length')" = 1 ]
	done
}

@test "-j, -p and -o are one setting, the last one wins" {
	adm 0 -j device list -o text
	[[ $output == NAME* ]]
	adm 0 -o csv device list --json
	valid rnbdadm.device/1
	adm 0 device list -p
	valid rnbdadm.device/1
	((${#lines[@]} > 20))
	adm 0 device list -jp
	((${#lines[@]} > 20))
	RNBDADM_OUTPUT=json adm 0 device list
	valid rnbdadm.device/1
	RNBDADM_OUTPUT=json adm 0 device list -o text
	[[ $output == NAME* ]]
	for last in "-o jsonl -j" "-j -o jsonl -j" "-o prom -j" "-o csv -j"; do
		# shellcheck disable=SC2086
		adm 0 device list $last
		[ "${#lines[@]}" = 1 ]
		[ "$(jqv '.devices | length')" = 3 ]
	done
	for last in "-o jsonl -p" "-o prom -p" "-o text -p" "-o jsonl -jp"; do
		# shellcheck disable=SC2086
		adm 0 device list $last
		valid rnbdadm.device/1
		((${#lines[@]} > 20))
	done
	adm 0 device list -p -o jsonl
	[ "${#lines[@]}" = 3 ]
	for bad in jsonl csv JSON; do
		RNBDADM_OUTPUT=$bad adm 2 device list
		[ "$stderr" = "rnbdadm: device list: RNBDADM_OUTPUT: '$bad' is neither text nor json" ]
		RNBDADM_OUTPUT=$bad adm 2 device list -j
		[ "$(jqv .error.code)" = usage ]
	done
	RNBDADM_OUTPUT='' adm 0 device list
	[[ $output == NAME* ]]
}

@test "global options before and after the verb" {
	adm 0 --json session list
	a=$output
	adm 0 session --json list
	b=$output
	adm 0 session list --json
	[ "$a" = "$output" ]
	[ "$b" = "$output" ]
}

@test "an object alone is listed; no other name is taken for one" {
	local what list
	for what in session path device "server export" "server client" "server path" "server port"; do
		# shellcheck disable=SC2086
		adm 0 $what list
		list=$output
		# shellcheck disable=SC2086
		adm 0 $what
		[ "$output" = "$list" ]
	done
	adm 0 session -j
	valid rnbdadm.session/1
	fails 2 usage sessio list
	fails 2 usage session li
}

@test "the documents of these tests are valid" { all_valid; }
