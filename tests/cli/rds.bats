#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# rds: what is told of the lists of a kernel, of none, and of lists that are not as they should be. How they are read is in
# unit/rds.c.
# shellcheck shell=bats disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	own_root
	R=(--test-time "$TIME" --test-root "$ROOT")
}

# list NUMBER RECORD..: the kernel's list has these records of rdsgen.py, and "-" takes it away
list() {
	[[ $2 != - ]] || { rm "$ROOT/rds/$1"; return; }
	(cd "$CLI" && "$PY" -c "from rdsgen import *; put_list('$ROOT', $1, [$2], ${3:-None})")
}

# no_connections: nothing is connected, nothing waits
no_connections() {
	local n
	for n in 10001:42 10011:65 10012:50 10013:50 10014:50 10015:52 10016:64; do
		list "${n%:*}" "" "${n#*:}"
	done
}

# found STATUS ID: the only result of this check, which is all that is not well
found() {
	jqe=".results | map(select(.status == \"warn\" or .status == \"fail\")) | length == 1 and .[0].id == \"$2\" and
		.[0].status == \"$1\" and .[0].hint != null"
	[ "$(jqv "$jqe")" = true ]
}

@test "status, socket, connection, stats, check: as text, JSON and CSV" {
	FORMS="txt json" shown rds-status rds status
	shown rds-socket rds socket
	shown rds-connection rds connection
	shown rds-stats rds stats
	FORMS="txt json" shown rds-check rds check
}

@test "lists: fields, order, filters, no headers" {
	adm 0 rds socket --filter 'receive_queue_bytes>0' --sort=-receive_queue_bytes -F local_address --no-headers
	[ "$output" = $'fd00::1\n10.0.0.1' ]
	adm 0 rds connection --filter state!=connected -F remote_address,state --no-headers
	[ "$output" = $'10.0.0.2  down\n10.0.0.9  connecting' ]
	adm 0 rds stats --filter 'value>0' --sort value -j
	[ "$(jqc '[.counters[].name]')" = '["conn_reset","recv_queued"]' ]
	fails 2 usage rds connection --filter nosuch=1
}

@test "no module: exit code 8 and what to load; check finds it" {
	local c file
	rm -r "$ROOT/sys/module/rds"
	for c in status socket connection stats "ping 10.0.0.2 -c 1"; do
		# shellcheck disable=SC2086
		fails 8 unavailable rds $c
		[[ $stderr == *"the module rds is not loaded"*"hint: modprobe rds_tcp"* ]]
	done
	adm 11 rds check -j
	found fail rds.module
	[[ $(jqv '.results[0].hint') == *"install the package"* ]]
	mkdir -p "$ROOT"/{proc/sys/kernel,lib/modules/6.1.0-test,etc/modprobe.d}
	echo 6.1.0-test >"$ROOT/proc/sys/kernel/osrelease"
	file=$ROOT/lib/modules/6.1.0-test/modules.dep
	echo kernel/net/rds/rds.ko: >"$file"
	adm 11 rds check -j
	[[ $(jqv '.results[0].hint') == "modprobe rds_tcp, or"* ]]
	printf '# install rds /bin/true\nalias x y\ninstall rds /bin/true\n' >"$ROOT/etc/modprobe.d/off.conf"
	adm 11 rds check -j
	[[ $(jqv '.results[0].hint') == "/etc/modprobe.d/off.conf keeps"* ]]
	sed -i 3d "$ROOT/etc/modprobe.d/off.conf"
	adm 11 rds check -j
	[[ $(jqv '.results[0].hint') == "modprobe rds_tcp, or"* ]]
}

@test "an older kernel: lists of IPv4 alone, without queues and tos" {
	list 10011 -
	list 10012 -
	list 10013 -
	list 10014 -
	list 10015 -
	list 10016 -
	list 10001 'connection4("10.0.0.1", "10.0.0.2", CONNECTED)[:41]'
	list 10006 'socket4(("10.0.0.1", 4000), ("0.0.0.0", 0), 1001)'
	adm 0 rds connection -j
	[ "$(jqc '.connections | map([.remote_address, .state, .tos, .unsent_bytes, .tcp_sockets])')" = \
		'[["10.0.0.2","connected",null,null,[]]]' ]
	adm 0 rds socket -j
	[ "$(jqc '.sockets | map([.local_address, .local_port, .remote_address, .send_queue_bytes, .processes[0].pid])')" = \
		'[["10.0.0.1",4000,null,null,812]]' ]
	adm 0 rds status
	[[ $output == *$'unsent       -\n'* ]]
}

@test "lists that are no such: exit code 9, and a growing one is read again" {
	list 10015 'bytes(40)'
	fails 9 unsupported rds socket
	[[ $stderr == *"RDS6_INFO_SOCKETS: "*"this version does not know the module's records"* ]]
	adm 11 rds check -j
	found fail rds.module
	list 10015 'bytes(103)' 52
	fails 9 unsupported rds status
	# more than the first buffer
	list 10015 '*[socket6(("fd00::1", 2 + i), NOBODY, i) for i in range(5000)]'
	adm 0 rds socket -F local_port --no-headers
	[ "${#lines[@]}" = 5000 ]
	[ "${lines[0]// /}-${lines[4999]// /}" = 2-5001 ]
}

@test "connections of the same addresses do not share out what waits" {
	list 10001 'connection4("10.0.0.1", "10.0.0.9", CONNECTED), connection4("10.0.0.1", "10.0.0.9", 0, transport="infiniband")'
	adm 0 rds connection -j
	[ "$(jqc '.connections[:2] | map([.transport, .unsent_messages, .unacknowledged_bytes])')" = \
		'[["infiniband",null,null],["tcp",null,null]]' ]
	adm 0 rds check -j
	[ "$(jqv '.results[] | select(.id == "rds.mixed").status')" = warn ]
}

@test "ping: answers of IPv4 and IPv6, what is no address" {
	adm 0 rds ping 10.0.0.2 -c 1
	[ "$output" = $'10.0.0.1 -> 10.0.0.2 over tcp\n1: 0.250 ms\n1 sent, 1 answered, min/mean/max 0.250/0.250/0.250 ms' ]
	FORMS="txt json" shown rds-ping rds ping ::ffff:10.0.0.2 -c 1
	adm 0 rds ping ip:fd00::2 -c 1 -j
	[ "$(jqc '[.source, .destination, .transport, .answers]')" = \
		'["fd00::1","fd00::2","infiniband",[{"round_trip_ns":31000,"sequence":1}]]' ]
	fails 2 usage rds ping gid:fe80::1
	fails 2 usage rds ping ip:10.0.0
	fails 2 usage rds ping 10.0.0.2 -c 0
	fails 2 usage rds ping
	fails 1 failed rds ping 10.0.0.77 -c 1
	[[ $stderr == *"10.0.0.77: no route"*"hint: ip route get 10.0.0.77"* ]]
}

@test "ping: no answer is exit code 10, and the hint says where to look" {
	adm 10 rds ping 10.0.0.9 -c 1 --timeout 700ms
	[[ ${lines[1]} == "1: no answer within 700 ms" && $stderr == *"no answer from 10.0.0.9 to 10.0.0.1"*"a firewall drops it" ]]
	echo "10.0.0.1 tcp" >"$ROOT/rds/ping/10.0.0.2"
	adm 10 rds ping 10.0.0.2 -c 1
	[[ ${lines[1]} == "1: no answer within 5000 ms" && $stderr == *"the connection is up"*"ping_enable=1" ]]
	no_connections
	adm 10 rds ping 10.0.0.2 -c 1 -j
	[[ $(jqv .error.hint) == "there is no connection to 10.0.0.2: there, modprobe rds_tcp"* ]]
	[ "$(jqc '[.sent, .answered, .answers]')" = '[1,0,[{"round_trip_ns":null,"sequence":1}]]' ]
}

@test "ping: some answers are exit code 3, a signal ends it" {
	local n
	mkfifo "$BATS_TEST_TMPDIR/said"
	"$RNBDADM" "${R[@]}" rds ping 10.0.0.2 -c 2 >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/err" &
	exec 8<"$BATS_TEST_TMPDIR/said"
	read -r <&8
	read -r <&8
	echo "10.0.0.1 tcp" >"$ROOT/rds/ping/10.0.0.2"
	read -r n <&8
	[ "$n" = "2: no answer within 5000 ms" ]
	n=0
	wait $! || n=$?
	[ $n = 3 ]
	grep "1 of 2 pings were not answered" "$BATS_TEST_TMPDIR/err"
	read -r n <&8
	[[ $n == "2 sent, 1 answered, "* ]]
	echo "10.0.0.1 tcp 5" >"$ROOT/rds/ping/10.0.0.2"
	# a shell without job control starts it deaf to an interrupt
	env --default-signal=INT "$RNBDADM" "${R[@]}" rds ping 10.0.0.2 >"$BATS_TEST_TMPDIR/said" &
	exec 8<"$BATS_TEST_TMPDIR/said"
	read -r <&8
	read -r <&8
	kill -INT $!
	wait $!
	read -r n <&8
	[[ $n == "1 sent, 1 answered, "* ]]
}

@test "check: every finding has a cure, and a sound host has none" {
	no_connections
	adm 0 rds check -j
	[ "$(jqc '[.summary.warn, .summary.fail, .summary.pass]')" = '[0,0,11]' ]
	echo 0 >"$ROOT/proc/sys/net/rds/ping_enable"
	adm 11 rds check -j
	found fail rds.ping_enable
	echo 1 >"$ROOT/proc/sys/net/rds/ping_enable"
	echo 4096 >"$ROOT/proc/sys/net/core/wmem_default"
	adm 0 rds check -j
	found warn rds.buffers
	[ "$(jqv '.results[] | select(.hint).hint')" = "sysctl net.core.wmem_default=212992" ]
	echo 212992 >"$ROOT/proc/sys/net/core/wmem_default"
	# a process has the port
	ln -s 'socket:[900]' "$ROOT/proc/813/fd/1"
	adm 11 rds check -j
	found fail rds.tcp_port
	[[ $(jqv '.results[] | select(.hint).message') == "process 813 (ora lms1) listens"* ]]
	rmdir "$ROOT/sys/module/rds_tcp"
	mkdir "$ROOT/sys/module/rds_rdma"
	adm 11 rds check -j
	found fail rds.tcp_port
	[[ $(jqv '.results[] | select(.hint).hint') == *"modprobe rds_tcp, which else fails"* ]]
	rm "$ROOT/proc/813/fd/1"
	rmdir "$ROOT/sys/module/rds_rdma"
	adm 11 rds check -j
	found fail rds.transport
	mkdir "$ROOT/sys/module/rds_tcp"
	: >"$ROOT/proc/net/tcp6"
	adm 11 rds check -j
	found fail rds.tcp_port
}

@test "check, status: modules of two origins" {
	local deps=$ROOT/lib/modules/6.1.0-test
	no_connections
	mkdir -p "$ROOT/proc/sys/kernel" "$deps"
	echo 6.1.0-test >"$ROOT/proc/sys/kernel/osrelease"
	printf '%s\n' kernel/net/rds/rds.ko: kernel/net/rds/rds_tcp.ko.xz: >"$deps/modules.dep"
	adm 0 rds check -j
	[ "$(jqv .summary.warn)" = 0 ]
	printf '%s\n' updates/dkms/rds.ko: updates/dkms/rds_tcp.ko: >"$deps/modules.dep"
	adm 0 rds check
	[ "$(grep -c '^warn  rds.origin .*is the kernel.s own, but the next modprobe loads /lib/modules/6.1.0-test/updates/dkms/rds' <<<"$output")" = 2 ]
	# ours are loaded
	echo 0.1 | tee "$ROOT/sys/module/rds/version" >"$ROOT/sys/module/rds_tcp/version"
	adm 0 rds check -j
	[ "$(jqv .summary.warn)" = 0 ]
	adm 0 rds status -j
	[ "$(jqc '.modules | map([.name, .version, .origin])')" = '[["rds","0.1","rnbd"],["rds_tcp","0.1","rnbd"],["rds_rdma",null,null]]' ]
	adm 0 rds status
	[[ ${lines[0]} == "module       rds, of rnbd-dkms, version 0.1" ]]
	echo kernel/net/rds/rds.ko: >"$deps/modules.dep"
	adm 0 rds check -j
	found warn rds.origin
	# a mixed pair
	rm "$ROOT/sys/module/rds_tcp/version" "$deps/modules.dep"
	adm 11 rds check -j
	found fail rds.origin
}

@test "check: the kernel's rds is loaded, and modprobe would take a transport of ours, which does not fit" {
	local deps=$ROOT/lib/modules/6.1.0-test
	no_connections
	mkdir -p "$ROOT/proc/sys/kernel" "$deps"
	echo 6.1.0-test >"$ROOT/proc/sys/kernel/osrelease"
	printf '%s\n' updates/dkms/rds.ko: updates/dkms/rds_tcp.ko: >"$deps/modules.dep"
	rmdir "$ROOT/sys/module/rds_tcp"
	adm 11 rds check
	[[ $output == *"FAIL  rds.transport          rds_tcp: /lib/modules/6.1.0-test/updates/dkms/rds_tcp.ko cannot be loaded beside the rds that is, the kernel's own: modprobe says Unknown symbol"* ]]
	[ "$(grep -c "hint: stop the programs of 'rnbdadm rds socket', modprobe -r rds, then modprobe rds" <<<"$output")" = 2 ]
	# and the other way round
	echo 0.1 >"$ROOT/sys/module/rds/version"
	adm 11 rds check
	[[ $output == *"FAIL  rds.transport          none is loaded"*"hint: modprobe rds_tcp, or modprobe rds_rdma"* ]]
	# the kernel's rds_rdma does not fit ours
	echo kernel/net/rds/rds_rdma.ko: >>"$deps/modules.dep"
	adm 11 rds check
	[[ $output == *"FAIL  rds.transport          none is loaded"*$'hint: modprobe rds_tcp\n'* ]]
	rm -r "$ROOT/sys/module/rds"
	adm 11 rds check
	[[ $output == *"FAIL  rds.module             rds: not loaded"*"hint: modprobe rds_tcp; a name"* ]]
	mkdir "$ROOT/sys/module/rds"
	echo 0.1 >"$ROOT/sys/module/rds/version"
	printf '%s\n' kernel/net/rds/rds.ko: kernel/net/rds/rds_tcp.ko: >"$deps/modules.dep"
	adm 11 rds check
	[[ $output == *"FAIL  rds.transport          rds_tcp: "*"/kernel/net/rds/rds_tcp.ko cannot be loaded beside the rds that is, of rnbd-dkms:"* ]]
}

# told_by NAME: the next commands see what this recording of the family tells as well
told_by() { R=(--nl-replay "$REC/$1.nl" --test-time "$TIME" --test-root "$ROOT"); }

@test "what only our own modules tell of connections: columns, -v, JSON; null with the kernel's" {
	adm 0 rds connection -j
	[ "$(jqc '.connections | map(.path_details, .peer, .reconnects, .last_error, .since, .paths_agreed) | unique')" = '[null]' ]
	told_by rds
	shown rds-told rds connection
	FORMS=txt shown rds-told-v rds connection -v
	adm 0 rds connection -j --filter peer=other
	[ "$(jqc '.connections | map([.tos, .path_details[0].local_port, .path_details[0].peer])')" = '[[4,40000,"other"]]' ]
	told_by rds-torn
	adm 0 rds connection -j
	[[ $(jqv '.warnings[0]') == "connections changed while they were read"* ]]
	told_by rds-failed
	fails 1 failed rds connection
	# a family of another name is not asked
	told_by two-sessions
	adm 0 rds connection -j
	[ "$(jqc '.connections | map(.path_details) | unique')" = '[null]' ]
}

@test "monitor rds: paths that exist, then up, down, refused, and why" {
	told_by monitor-rds
	adm 0 monitor rds
	golden monitor-rds.txt
	adm 0 monitor rds -j
	printf '%s\n' "$output" | jq -es '[.[].seq] == [range(1; 10)] and ([.[].event] | .[5:] == ["sync", "up", "down", "refused"])'
	printf '%s\n' "$output" | jq -es '.[7] | .object == "rds" and .name == "10.0.0.1-10.0.0.2" and .path == 3 and
		.local_address == "10.0.0.1" and .remote_address == "10.0.0.2" and .state == "down" and .reason == "ECONNRESET"'
	valid any
	adm 0 monitor rds --no-snapshot --filter event=refused
	[[ $output == *" sync"*" refused rds     fd00::1-fd00::2 transport=tcp tos=0 path=0 state=down error=ECONNREFUSED" ]]
	[ "${#lines[@]}" = 2 ]
	adm 0 monitor rds --no-snapshot --filter remote_address=10.0.0.9 --count 1
	[ "${#lines[@]}" = 2 ]
	adm 0 monitor rds --once
	[ "${#lines[@]}" = 6 ]
	adm 10 monitor rds --no-snapshot --count 9 --timeout 1s
	[[ $stderr == *"3 of 9 events in time"* ]]
}

@test "monitor rds: events that were dropped, a module that goes, one that is not there, what does not go together" {
	told_by monitor-rds-overrun
	adm 8 monitor rds --no-snapshot -j
	[ "$(jq -cs '[.[] | select(.event) | [.event, .resync]]' <<<"$output")" = "$(jq -c . <<<'[["sync",false],["up",false],["overrun",false],
		["exists",true],["exists",true],["exists",true],["exists",true],["exists",true],["sync",true],["up",false],["lost",false]]')" ]
	valid any
	[[ $stderr == *"the module rds was unloaded"* ]]
	adm 0 monitor rds --no-snapshot --follow
	told_by rds-absent
	fails 8 unavailable monitor rds
	[[ $stderr == *"the rds that is loaded, the kernel's own, has no netlink family rds"*"install rnbd-dkms"*"modprobe -r rds_tcp rds"* ]]
	rm -r "$ROOT/sys/module/rds"
	fails 8 unavailable monitor rds
	[[ $stderr == *"the module rds is not loaded"*"modprobe rds_tcp"* ]]
	told_by monitor-rds
	fails 2 usage monitor rds path
	fails 2 usage monitor rds --full
	fails 2 usage monitor rds --filter nosuch=1
}

@test "names that hurt a terminal are harmless" {
	printf 'a\e[31m' >"$ROOT/proc/812/comm"
	adm 0 rds socket
	[[ $output != *$'\e'* && $output == *'a\x1b[31m(812)'* ]]
	adm 0 rds check
	[[ $output != *$'\e'* ]]
	adm 0 rds socket -j
	[ "$(jqv '.sockets[0].processes[0].name')" = $'a\e[31m' ]
}

@test "what was printed is valid, and the schemas refuse what is not" { all_valid; }
