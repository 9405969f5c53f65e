#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# rnbdadm rds on the kernel's own modules: two network namespaces of one host, a wire between them. The tests build on each other.
# lab: on 6.1: the kernel of the lab that has rds, and the sanitizers of the tool
# lab: in-tree modules only
# lab: debug kernel no: it has no RDS of its own
# lab: make tests/vm/tools
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	modprobe veth
	ip netns add peer
	ip link add w0 type veth peer name w1 netns peer
	ip link set w0 up
	ip addr add 10.1.0.1/24 dev w0
	ip addr add 10.1.0.3/24 dev w0
	ip addr add fd01::1/64 dev w0 nodad
	ip -n peer link set w1 up
	ip -n peer addr add 10.1.0.2/24 dev w1
	ip -n peer addr add fd01::2/64 dev w1 nodad
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	ip netns del peer
	modprobe -ra rds_tcp rds veth
}

# hold NAME WORDS..: a program with such a socket, until "drop NAME"; peer_hold: on the other side
hold() { held "$1" "$ROOT/build/tools/rds-socket" "${@:2}"; }

peer_hold() { held "$1" ip netns exec peer "$ROOT/build/tools/rds-socket" "${@:2}"; }

held() {
	"${@:2}" >"/run/tmp/$1" 3>&- &
	echo $! >"/run/tmp/$1.pid"
	await 10 grep -q ready "/run/tmp/$1"
}

drop() {
	local pid status=0
	pid=$(<"/run/tmp/$1.pid")
	kill "$pid"
	# its files are closed, though nobody may have waited for it yet
	await 10 eval "[[ ! -e /proc/$pid/fd/1 ]]"
	# killed by that signal, and not before
	wait "$pid" || status=$?
	[[ $status == 143 ]]
}

# at_peer STATUS ARGS..: as adm, on the other side
at_peer() {
	local want=$1
	shift
	run --separate-stderr ip netns exec peer "$ADM" "$@"
	printf '%s\n' "peer\$ rnbdadm $*" "$output" "$stderr" "exit code $status"
	[[ $status == "$want" ]]
}

@test "no module, no transport, a port that is taken: what it says, and what helps" {
	refused 8 unavailable "the module rds is not loaded" rds status
	[[ $stderr == *"modprobe rds_tcp"* ]]
	# nothing was loaded by that
	[ ! -e /sys/module/rds ]
	modprobe rds
	adm 8 rds ping 10.1.0.2 -c 1
	[[ $stderr == *"takes the address 10.1.0.1"*"modprobe rds_tcp"* ]]
	adm 11 rds check -j
	jqe '.results | map(select(.status == "fail")) | map(.id) == ["rds.transport"]'
	hold taken tcp 16385
	run ! modprobe rds_tcp
	[[ $output == *"Address family not supported"* ]]
	adm 11 rds check -j
	jqe '.results | map(select(.id == "rds.tcp_port"))[0] | .status == "fail" and
		(.message | contains("(rds-socket) listens on TCP port 16385")) and (.hint | contains("Address family not supported"))'
	drop taken
	modprobe rds_tcp
	adm 0 rds status -j
	jqe '.modules | map([.name, .loaded, .version, .origin]) ==
		[["rds", true, "4.0", "kernel"], ["rds_tcp", true, null, "kernel"], ["rds_rdma", false, null, null]]' \
		'.transports == ["loopback", "tcp"]' '.listeners == [{transport: "tcp", address: null, port: 16385}]' \
		'.summary.sockets_total == 0'
	adm 0 rds check
}

@test "ping: over the wire by IPv4 and IPv6, to oneself, and the connections that this makes" {
	adm 0 rds ping 10.1.0.2 -c 1 -j
	jqe '.source == "10.1.0.1" and .transport == "tcp" and .answered == 1 and .answers[0].round_trip_ns > 1000'
	adm 0 rds ping fd01::2 -c 1
	[[ ${lines[0]} == "fd01::1 -> fd01::2 over tcp" && ${lines[1]} == "1: "*" ms" ]]
	# not from the first address, which the route names
	adm 0 rds ping 10.1.0.3 -c 1
	adm 0 rds ping 127.0.0.1 -c 1
	[[ ${lines[0]} == "127.0.0.1 -> 127.0.0.1 over loopback" ]]
	adm 0 rds connection -j
	jqe '.connections | map([.local_address, .remote_address, .transport, .tos, .state]) == [
		["10.1.0.1", "10.1.0.2", "tcp", 0, "connected"], ["10.1.0.3", "10.1.0.3", "loopback", 0, "connected"],
		["127.0.0.1", "127.0.0.1", "loopback", 0, "connected"], ["fd01::1", "fd01::2", "tcp", null, "connected"]]' \
		'.connections[0] | .next_send_sequence > 1 and .next_receive_sequence > 1 and
			(.tcp_sockets[0] | test("^10.1.0.1:[0-9]+-10.1.0.2:16385$"))'
	adm 0 rds stats -j
	jqe '(.counters | map({(.name): .value}) | add) as $c | $c.recv_ping >= 4 and $c.send_pong >= 4 and $c.conn_reset >= 0'
}

@test "socket: what waits to be read, what waits to be sent, and whose it is" {
	peer_hold reader rcvbuf 1200 bind 10.1.0.2 4001
	hold sender bind 10.1.0.1 4000 connect 10.1.0.2 4001 send 10.1.0.2 4001 1 3000 send 10.1.0.9 4001 2 700
	hold six bind fd01::1 4002
	await 10 eval '[[ $(ip netns exec peer $ADM rds socket -F receive_queue_messages --no-headers) == *1 ]]'
	at_peer 0 rds socket -j
	jqe '.sockets | length == 1 and (.[0] | .local_address == "10.1.0.2" and .local_port == 4001 and .remote_address == null and
		.receive_queue_bytes == 3000 and .receive_buffer_bytes == 1200 and .send_queue_messages == 0 and
		.processes == [{pid: '"$(<"/run/tmp/reader.pid")"', name: "rds-socket"}])'
	at_peer 0 rds check -j
	jqe '[.results[] | select(.status == "warn")] | map(.id) == ["rds.queues"] and (.[0].message | contains("3000 bytes wait, 1200"))'
	await 10 eval '[[ $($ADM rds socket --filter local_port=4000 -F send_queue_messages --no-headers) == *2 ]]'
	adm 0 rds socket -j
	jqe '.sockets | map([.local_address, .remote_address, .remote_port, .send_queue_bytes, .receive_queue_bytes]) ==
		[["10.1.0.1", "10.1.0.2", 4001, 1400, 0], ["fd01::1", null, null, 0, 0]]'
	adm 0 rds connection --filter remote_address=10.1.0.9 -j
	# between two attempts it is down
	jqe '.connections[0] | (.state == "connecting" or .state == "down") and .unsent_messages + .unacknowledged_messages >= 2'
	adm 0 rds check
	[[ $output == *"10.1.0.1-10.1.0.9: "@(connecting|down)*"10.1.0.9 does not answer at TCP port 16385"* ]]
	adm 0 rds status
	[[ ${lines[*]} == *"sockets      2, 2 bound"*"connecting"* ]]
	# not root: lists without the processes of others
	run -0 setpriv --reuid 65534 --clear-groups "$ADM" rds socket -j
	jqe '.sockets | length == 2 and all(.[]; .processes == null)'
	drop sender
	await 10 eval '[[ $($ADM rds socket -F local_port --no-headers) == *4002 ]]'
	drop six
	drop reader
}

@test "ping: no answer, and why" {
	adm 10 rds ping 10.1.0.9 -c 1 --timeout 300ms
	[[ $output == *"1: no answer within 300 ms"* && $stderr == *"10.1.0.9 does not answer at TCP port 16385"* ]]
	sysctl -q net.rds.ping_enable=0
	adm 10 rds ping 10.1.0.2 -c 1 --timeout 300ms -j
	jqe '.error.code == "timeout"' '.error.hint | contains("sysctl net.rds.ping_enable=1")'
	adm 11 rds check -j
	jqe '.results | map(select(.status == "fail") | .id) == ["rds.ping_enable"]'
	sysctl -q net.rds.ping_enable=1
	refused 1 failed "no route" rds ping 192.0.2.1 -c 1
	refused 2 usage "is not an address" rds ping fd01:::2 -c 1
}

@test "ping: one after the other, until a signal ends it" {
	"$ADM" rds ping 10.1.0.2 >/run/tmp/ping 3>&- &
	pid=$!
	await 20 grep -q '^2: ' /run/tmp/ping
	kill $pid
	wait $pid
	[[ $(tail -n 1 /run/tmp/ping) == [2-9]" sent, "[2-9]" answered, min/mean/max "* ]]
	# also while it waits
	"$ADM" rds ping 10.1.0.9 --timeout infinite >/run/tmp/ping 2>&1 3>&- &
	pid=$!
	await 20 eval '[[ $($ADM rds socket -F processes --no-headers) == *rnbdadm* ]]'
	kill $pid
	status=0
	wait $pid || status=$?
	[[ $status == 10 && $(</run/tmp/ping) == *"no answer from 10.1.0.9"* ]]
	# which is not said of the time that it was not given
	run ! grep "no answer within" /run/tmp/ping
}

@test "nothing is kept: the modules go, with no socket left" {
	adm 0 rds socket -j
	jqe '.sockets == []'
	[[ $(</sys/module/rds_tcp/refcnt) == 0 ]]
	modprobe -r rds_tcp
	refused 8 unavailable "is not loaded" rds stats
}
