#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The admin tool against the real kernel, both sides on one host: what changes things, and what shows them afterwards. The
# tests build on each other.
# lab: on debug: the tool and both ends are one-CPU logic, for KASAN, lockdep and kmemleak
# lab: timeout 900
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	ram_disk 64 2
	load_server
	load_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
}

jqv() { jq -er "$1" <<<"$output"; }

# screen COLUMNS ARGS..: what a terminal of that width shows
screen() {
	local columns=$1
	shift
	script -qec "stty cols $columns; $(printf '%q ' "$ADM" "$@")" /dev/null | tr -d '\r'
}

reads() { dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none; }

@test "device wait: the event of the map ends it" {
	"$ADM" device wait rnbd0 --timeout 60 -j >/run/tmp/wait 3>&- &
	pid=$!
	refused 10 timeout "there is no such device" device wait rnbd0 --timeout 300ms
	[ ! -s /run/tmp/wait ]
	adm 0 map /dev/ram0 --session s1 --path ip:10.0.0.1
	[ "$output" = /dev/rnbd0 ]
	wait $pid
	document "$(</run/tmp/wait)"
	jq -e '.devices[0].name == "rnbd0" and .devices[0].state == "mapped"' /run/tmp/wait
	adm 0 device wait /dev/ram0 --session s1 --timeout 0 -v
	[[ $stderr == *"rnbd0 is mapped"* ]]
}

@test "what the kernel said is recorded for a report, and replayed elsewhere" {
	adm 0 status -j --nl-record /run/tmp/record
	jq 'del(.time, .backend)' <<<"$output" >/run/tmp/here
	adm 0 status -j --nl-replay /run/tmp/record
	jq 'del(.time, .backend)' <<<"$output" >/run/tmp/there
	diff /run/tmp/here /run/tmp/there
	jq -e '.summary.sessions_total == 1' /run/tmp/there
}

@test "status: both sides, as text at 80 columns and as JSON" {
	run -0 screen 80 status
	echo "$output"
	[[ ${lines[0]} == "client  1 session  1 path up  1 device    server  1 client  1 export" ]]
	[[ $output == *"s1  "*connected*"round-robin"*"ip:10.0.0.1@ip:10.0.0.1"*"rxe0:1"*"rnbd0  /dev/ram0  rw  64.0 MiB"* ]]
	[[ $output == *"client of this host"*"ram0  /dev/ram0  rw  64.0 MiB"* ]]
	for line in "${lines[@]}"; do ((${#line} <= 80 + 20)); done # escape sequences
	adm 0 status --check-state -j
	jqv '.summary == {sessions_total: 1, sessions_degraded: 0, sessions_down: 0, paths_total: 1, paths_down: 0,
		devices_total: 1, devices_down: 0, clients_total: 1, clients_down: 0, exports_total: 1}'
	[ "$(jqv '[.modules[].loaded] | all')" = true ]
	[ "$(jqv '.client.devices[0].name + .server.exports[0].device')" = rnbd0ram0 ]
	[ "$(jqv '.server.exports[0].clients[0].opened_at | startswith("20")')" = true ]
}

@test "what a session pins, on both sides" {
	for c in "session show" "server client show"; do
		# shellcheck disable=SC2086
		adm 0 $c s1 -j
		(($(jqv '.sessions[0].pinned_bytes // .clients[0].pinned_bytes') > 65536))
		# shellcheck disable=SC2086
		adm 0 $c s1
		[[ $output =~ pinned_bytes\ +[0-9.]+\ [KM]iB ]]
	done
	adm 0 server client list
	[[ ${lines[0]} =~ ^NAME\ +STATE\ +PATHS\ +PINNED\ +AT-MOST\ +DEVICES$ ]]
	adm 0 server client show s1 -j
	[ "$(jqv '.clients[0] | .pinned_bytes * 16 < .pinned_max_bytes')" = true ]
}

@test "session set: only what differs" {
	adm 0 session set s1 --mp-policy mi --max-reconnect-attempts 7 -j
	[ "$(jqv '[.changes[].key] | join(" ")')" = "mp_policy max_reconnect_attempts" ]
	[ "$(</sys/class/rtrs-client/s1/mpath_policy)" = "min-inflight (MI: 1)" ]
	[ "$(</sys/class/rtrs-client/s1/max_reconnect_attempts)" = 7 ]
	adm 0 session set s1 --mp-policy mi --max-reconnect-attempts infinite -j --timeout 30
	[ "$(jqv '[.changed, .changes[0].old, .changes[0].new] | map(tostring) | join(" ")')" = "true 7 -1" ]
	adm 0 session set s1 --mp-policy min-inflight -j --wait
	[ "$(jqv '.changed | not')" = true ]
	adm 0 session set s1 --mp-policy rr
	[ -z "$output$stderr" ]
	adm 0 session show s1 -F mp_policy,max_reconnect_attempts -j
	[ "$(jqv '.sessions[0] | [.mp_policy, .max_reconnect_attempts] | @csv')" = '"round-robin",-1' ]
}

@test "resize: grow; a smaller size is refused, with what uses the disk" {
	adm 0 resize rnbd0 +64M -v
	[[ $stderr == *"64.0 MiB -> 128.0 MiB"* ]]
	[ "$(blockdev --getsize64 /dev/rnbd0)" = $((128 << 20)) ]
	adm 0 resize rnbd0 128M -j
	[ "$(jqv '.changed | not')" = true ]
	refused 7 busy "smaller than the current 128.0 MiB" resize rnbd0 64M
	refused 7 busy "--force too" resize rnbd0 64M --allow-shrink
	adm 0 resize rnbd0 64M --allow-shrink --force -j --wait
	[ "$(jqv '[.changed, .old_size_bytes, .new_size_bytes] | @csv')" = "true,134217728,67108864" ]
	[ "$(blockdev --getsize64 /dev/rnbd0)" = $((64 << 20)) ]
	mkfs.ext4 -q /dev/rnbd0
	mkdir -p /tmp/m
	mount /dev/rnbd0 /tmp/m
	refused 7 busy "rnbd0 is used by: mount /tmp/m (ext4)" resize rnbd0 32M
	run -0 screen 80 status rnbd0
	[[ $output == *"mounted /tmp/m"* ]]
	umount /tmp/m
}

@test "remap: what is mapped is left alone" {
	adm 0 remap rnbd0 -j
	[ "$(jqv '[.changed, .devices[0].result] | @csv')" = 'false,"mapped"' ]
	adm 0 remap rnbd0
	[ -z "$output$stderr" ]
}

@test "server export: list, show; close is refused without --force" {
	adm 0 server export list
	[[ ${lines[1]} =~ ^ram0\ +64.0\ MiB\ +1\ +-$ ]]
	adm 0 server export show /dev/ram0 -j
	[ "$(jqv '.exports[0] | [.device, .node, .size_bytes, .clients[0].session, .clients[0].access] | @csv')" = \
		'"ram0","/dev/ram0",67108864,"s1","rw"' ]
	refused 7 busy "s1 has it open as '/dev/ram0' (rw)" server export close ram0
	refused 7 busy "--force" server export close ram0 --session s1 --dry-run
	adm 0 server export close ram0 --force -n
	[ "$output" = "rnbdadm server export close ram0 --session=s1 --force  # would close ram0, open as /dev/ram0" ]
	reads
}

@test "server export close: the client's I/O fails until it remaps" {
	adm 0 server export close ram0 --force --wait -j
	[ "$(jqv '[.changed, .closed[0].device, .closed[0].session, .closed[0].result] | @csv')" = 'true,"ram0","s1","closed"' ]
	adm 0 server export list -j
	[ "$(jqv '.exports | length')" = 0 ]
	run ! reads
	refused 4 not_found "no client has such a device open" server export close ram0 --force
	adm 0 server export close ram0 --force --idempotent -j
	[ "$(jqv '.closed[0].result')" = absent ]
	adm 0 remap rnbd0 -j --timeout 10
	[ "$(jqv '[.changed, .devices[0].result] | @csv')" = 'true,"remapped"' ]
	reads
}

@test "server export close under I/O: it fails at once, the disk says why it is disconnected, remap brings it back" {
	local before pid
	dmesg_mark
	before=$(ios rnbd0)
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=16 --rw=randrw --bs=4k --size=16m --time_based \
		--runtime=120 >/run/tmp/fio.out 2>&1 3>&- &
	pid=$!
	await 30 io_done rnbd0 $((before + 50))
	await 10 under_way rnbd0
	adm 0 server export close ram0 --force --wait -j
	[ "$(jqv '[.changed, .closed[0].device, .closed[0].session, .closed[0].result] | @csv')" = 'true,"ram0","s1","closed"' ]
	await 30 test ! -e /proc/$pid
	ends_badly $pid
	grep 'Input/output error' /run/tmp/fio.out
	await 10 adm_is '.devices[0] | .state == "disconnected" and .last_error == "ENOTCONN"' device show rnbd0
	run ! under_way rnbd0
	run ! reads
	adm 0 remap rnbd0 -j --timeout 10
	[ "$(jqv '[.changed, .devices[0].result] | @csv')" = 'true,"remapped"' ]
	adm_is '.devices[0] | .state == "mapped" and .last_error == null' device show rnbd0
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=16 --rw=randwrite --bs=4k --size=4m --verify=crc32c
	dmesg_clean
}

@test "server client disconnect: refused without --force; the client says what it lost" {
	adm 0 session set s1 --max-reconnect-attempts 0 # it would be back at once
	refused 7 busy "s1 has ram0 open" server client disconnect s1
	adm 0 server client disconnect s1 --force --wait=30 -j
	[ "$(jqv '[.changed, .clients[0].name] | @csv')" = 'true,"s1"' ]
	adm 0 server client list -j
	[ "$(jqv '.clients | length')" = 0 ]
	await 30 sh -c "! '$ADM' status --role client --check-state -q >/dev/null"
	adm 11 status --role client --check-state
	[[ $output == *disconnected* && $stderr == *"not fully up"* ]]
	adm 0 unmap rnbd0
	adm 0 map /dev/ram0 --session s1 --path ip:10.0.0.1
	reads
}

@test "remap --recreate: a disk of its own, in a session as it was" {
	adm 0 session set s1 --mp-policy ml --max-reconnect-attempts 9
	adm 0 remap rnbd0 --recreate
	[[ $output == /dev/rnbd* ]]
	adm 0 device list -j
	[ "$(jqv '.devices | length')" = 1 ]
	[ "$(jqv '.devices[0].device_path')" = /dev/ram0 ]
	adm 0 session show s1 -j
	[ "$(jqv '.sessions[0] | [.mp_policy, .max_reconnect_attempts] | @csv')" = '"min-latency",9' ]
}

@test "mistakes: each has a message that helps" {
	refused 2 usage "'10Q' is not a size" resize rnbd0 10Q
	refused 2 usage "not a multiple of the logical block, 512" resize rnbd0 1000
	refused 4 not_found "did you mean rnbd0?" remap rnbd9
	refused 4 not_found "did you mean s1?" session set s2 --mp-policy rr
	refused 2 usage "'fastest' is not a value of --mp-policy (round-robin, min-inflight, min-latency" session set s1 --mp-policy fastest
	refused 4 not_found "rnbdadm server client list" server client disconnect nobody --force
	cp "$ADM" /tmp/rnbdadm	# where everybody may read it
	for c in "resize rnbd0 +1M" "remap rnbd0" "session set s1 --mp-policy mi" "server export close ram0 --force"; do
		# shellcheck disable=SC2086
		run --separate-stderr -5 setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm --no-lock $c
		[[ $stderr == *root* ]]
	done
	run -0 setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm status
	# completion is of everybody, too
	run -0 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm __complete 2 -- rnbdadm unmap rn
	[[ $output == rnbd0* && -z $stderr ]]
}

@test "every line of a dry run can be run" {
	adm 0 map /dev/ram1 --session s1
	for c in "resize rnbd0 +1M" "session set s1 --mp-policy rr" "remap rnbd0 --recreate" "server export close ram1 --force" \
		"server client disconnect s1 --force" "unmap rnbd1" "stats reset s1" "map /dev/ram1 --session s9 --path ip:10.0.0.1"; do
		# shellcheck disable=SC2086
		adm 0 $c --dry-run
		plan=$output
		[ -n "$plan" ]
		while IFS= read -r line; do
			[[ $line == "rnbdadm "* ]]
			run -0 bash -c "${line/rnbdadm/$ADM --dry-run}"
			[ "$output" = "$line" ]
		done <<<"$plan"
	done
	adm 0 device list -j
	[ "$(jqv '[.devices[].size_bytes] | @csv')" = "67108864,67108864" ]
}

@test "unmap --all: what is in use stays, the rest goes; as at a shutdown" {
	exec 8</dev/rnbd1
	adm 3 unmap --all --timeout 30 -j
	[ "$(jqv '[.error.code, .devices[].result] | @csv')" = '"partial","unmapped","refused"' ]
	refused 7 busy "rnbd1 is used by: process $$ (" unmap --all --timeout 30
	exec 8<&-
	adm 0 unmap --all --timeout 30
	[ -z "$output$stderr" ]
	adm 0 status -j
	[ "$(jqv '.summary.sessions_total + .summary.devices_total')" = 0 ]
}

@test "status of a host without the modules: 8, and a complete document" {
	unload_all
	refused 8 unavailable modprobe status
	adm 8 status -j
	[ "$(jqv '[.client.sessions, .client.devices, .server.exports, .server.clients] | add | length')" = 0 ]
	[ "$(jqv '[.modules[].loaded] | any | not')" = true ]
	# completion knows of nothing, and loads nothing
	for words in "2 -- rnbdadm unmap rn" "3 -- rnbdadm session show s" "4 -- rnbdadm server client show s"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm __complete $words
		[ -z "$output$stderr" ]
	done
	run ! grep -E '^(rtrs|rnbd)' /proc/modules
}

@test "the access list: closed until it is loaded, then what it says; what a change would end is named, and ended by --force alone" {
	unload_all
	load_server access=closed
	load_client
	adm 0 server access show
	[[ $output == "state closed "* ]]
	run ! "$ADM" map vol0 --session s1 --path ip:10.0.0.1
	cat >/run/tmp/list <<-'E'
		[peer web1]
		auth = none
		session = s1
		from = ip:10.0.0.0/8
		max-devices = 2
		[peer old1]
		auth = none
		session = s2
		from = ip:10.0.0.1
		[export vol0]
		path = /dev/ram0
		allow = web1, old1:ro
		[export mem/]
		path = /dev/
		allow = web1:migration
	E
	adm 11 server access diff /run/tmp/list
	[[ $output == "~ list  state  closed -> listed"*"+ export vol0  path=/dev/ram0 io-mode=blockio allow=old1:ro, web1:rw"* ]]
	adm 0 server access apply /run/tmp/list
	adm 0 server access diff /run/tmp/list
	[ -z "$output$stderr" ]
	# for those who may change nothing, too
	run -0 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/rnbdadm server access show
	[[ $output == "state listed "*"mem/"*"vol0"* ]]
	"$ADM" monitor access -j --count 3 >/run/tmp/access 3>&- &
	pid=$!
	await 10 grep -q '"sync"' /run/tmp/access
	adm 0 map vol0 --session s1 --path ip:10.0.0.1
	[ "$output" = /dev/rnbd0 ]
	adm_is '.clients[0].peer == "web1"' server client list
	adm_is '.exports[0].clients[0] | .peer == "web1" and .export == "vol0"' server export list
	adm_is '.peers | map(select(.name == "web1"))[0] | .sessions == 1 and .devices == 1 and .max_devices == 2' server access show
	adm_is '.allowed and .granted == "rw" and .path == "/dev/ram0"' server access test vol0 --peer web1
	adm 11 server access test vol0 --session s2 --from 10.0.0.1
	[ "$output" = "no: old1 has ro, asked for is rw" ]
	adm 11 server access test vol9 --peer old1
	[ "$output" = "no: there is no export vol9" ]
	run ! "$ADM" map ram0 --session s2 --path ip:10.0.0.1
	wait $pid
	document "$(</run/tmp/access)"
	jq -se 'map(select(.object == "access") | [.event, .access.step, .access.peer]) | .[0] == ["granted", "path", "web1"] and
		.[1] == ["granted", "open", "web1"]' /run/tmp/access
	# what is in use goes with --force alone
	refused 7 busy "refused, 1 opening would end" server export remove vol0
	[[ $stderr == *"s1 has vol0 open (rw): there is no export vol0"* ]]
	adm 0 server export remove vol0 --force -n
	reads
	adm 0 server export remove vol0 --force
	await 10 adm_is '.exports == []' server export list
	refused 7 busy "would end" server access close
	adm 0 server peer add more --auth none --session 'm*' --from gid:fe80::/64 --max-memory 256M
	adm_is '.peers | map(.name) | index("more") != null' server access show
	adm_is '.peers | length == 3' config save
	adm 0 server access open --force
	adm_is '.state == "open" and .peers == []' server access show
	adm 0 unmap --all --force
}

# within SECONDS ARGS..: "adm 0 ARGS..", which takes at most so long. Alone this kernel needs a tenth of that.
within() {
	local began=$EPOCHREALTIME took
	adm 0 "${@:2}"
	took=$((${EPOCHREALTIME/./} - ${began/./}))
	((took <= $1 * 1000000 * ${LAB_SLOW:-1})) || fail "${*:2}: $took us"
}

@test "the access list: 1,000 peers and 10,000 exports are applied in seconds, shown, and changed" {
	load_server access=closed
	awk 'BEGIN {
		for (i = 0; i < 1000; i++)
			printf "[peer p%d]\nauth = none\nsession = s%d@*\nfrom = ip:10.1.%d.%d\n", i, i, i / 250, i % 250 + 1
		for (i = 0; i < 10000; i++)
			printf "[export vol%d]\npath = /dev/vg0/vol%d\nallow = p%d, p%d:ro\n", i, i, i % 1000, (i + 1) % 1000
	}' >/run/tmp/list
	within 5 server access apply /run/tmp/list
	within 5 server access show
	((${#lines[@]} > 11000))
	printf '[export one-more]\npath = /dev/ram0\nallow = p0\n' >>/run/tmp/list
	within 5 server access apply /run/tmp/list
	adm_is '.exports | length == 10001' server access show
	adm 0 server access open --force
}
