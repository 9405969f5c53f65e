#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# RDS over TCP between two namespaces of one host. RDS=stock (--env RDS, on 6.1 or 6.12) has the kernel's own modules do the same;
# where a test says "not stock", those are known to fail it.
# lab: on debug: connections that come and go with namespaces are judged by KASAN, lockdep and kmemleak
# lab: make tests/vm/tools
# lab: ynl
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	modprobe -a veth sch_netem
	rds_load
	wire peer 1
	echo 1 >/proc/sys/net/ipv6/conf/w1/keep_addr_on_down
}

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	ip netns del peer
	ip -all netns del
	rds_unload
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
}

teardown() {
	kill -9 "${END_HERE[@]}" "${END_THERE[@]}" $STRANGER 2>/dev/null || :
	[[ ! -e /run/netns/gone ]] || ip netns del gone
	dmesg_clean
}

# TCP connections that were begun here
opened() { awk '/^Tcp:/ && n++ { print $6 }' /proc/net/snmp; }

available() { sed -n 's/MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; }

@test "both ways at once, 0 bytes to 1 MiB: without waiting, blocking, without copying" {
	ends poll -n 4000
	ends_over poll
	ends block -n 2000 -b 500
	ends_over block
	ends zcopy -n 2000 -z
	ends_over zcopy
	[[ $(<"/run/tmp/zcopy.here") =~ zcopied=([0-9]+)/([0-9]+) && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]
	((BASH_REMATCH[1] > 1900))
}

@test "IPv6, and link-local addresses" {
	HERE=fd01::1 THERE=fd01::2 ends six -n 2000
	HERE=fe80::1 THERE=fe80::2 ends local -n 2000 -p 5000
	ends_over six local
	adm_is '.connections | any(.local_address == "fd01::1" and .remote_address == "fd01::2" and .transport == "tcp")' rds connection
}

@test "pings from both ends are answered, over both families" {
	adm 0 rds ping 10.1.0.2 -c 1 --timeout 10s
	adm 0 rds ping fd01::2 -c 1 --timeout 10s
	there -- "$ADM" rds ping 10.1.0.1 -c 1 --timeout 10s
	there -- "$ADM" rds ping fd01::1 -c 1 --timeout 10s
}

@test "a reader that is slow: senders are told, and woken up" {
	ends poll -n 3000 -m 2000 -r 4608
	ends_over poll
	ends block -n 2000 -m 2000 -r 4608 -b 2000 -p 5000
	ends_over block
	(($(figure /run/tmp/poll.here congested) > 0))
	(($(figure /run/tmp/poll.here unwoken) == 0))
	(($(figure /run/tmp/poll.there unwoken) == 0))
	(($(figure /run/tmp/block.here timeouts) == 0))
}

@test "both ends send first, at the same time" {
	local i names=()
	for i in {10..19}; do
		ip addr add 10.1.0.$((i * 2 + i % 2))/24 dev w1
		there -- ip addr add 10.1.0.$((i * 2 + 1 - i % 2))/24 dev v1
	done
	for i in {10..19}; do
		HERE=10.1.0.$((i * 2 + i % 2)) THERE=10.1.0.$((i * 2 + 1 - i % 2)) ends first$i -n 100 -s 2
		names+=(first"$i")
	done
	ends_over "${names[@]}"
}

# victim I: a process that talks to another one is killed, the sender or the receiver; what comes until then is not doubled
victim() {
	local file pids
	ends victim -n 1000000 -p 6000 $( (($1 % 2)) && echo -b100)
	moving victim
	pids=("${END_HERE[victim]}" "${END_THERE[victim]}")
	kill -9 "${pids[$1 / 2 % 2]}"
	kill -INT "${pids[1 - $1 / 2 % 2]}"
	wait "${END_HERE[victim]}" "${END_THERE[victim]}" || :
	for file in /run/tmp/victim.{here,there}; do
		[[ $(<"$file") != *sent=* || $(<"$file") == *" twice=0 disorder=0 wrong=0 "* ]] || fail "$(<"$file")"
	done
}

# rough MS..: with messages under way, a cut for each; every fourth takes the route away, behind every fifth a process is killed
rough() {
	local ms i=0
	for ms in "$@"; do
		i=$((i + 1))
		if ((i % 4 == 0)); then
			ip link set w1 down
			lasts "$ms"
			ip link set w1 up
		else
			cut
			lasts "$ms"
			mend
		fi
		# a second of the slowest kernel
		lasts 300
		((i % 5)) || victim $((i / 5))
		((i % 10)) || echo "# $i cuts, $(counter recv_queued) messages" >&3
	done
}

# SOAK=N (make soak-rds): N messages from each end, as fast as they go, with 50 cuts
@test "loss, 20 cuts, processes killed, a module that is to go: exactly once" {
	local LOSS=5 cuts=(100 200 100 700 100 100 1500 200 400 100 100 200 100 2000 100 200 100 700 100 1000)
	mend
	if [[ -n ${SOAK-} ]]; then
		# Little that waits: who comes later waits behind it
		ends all -n "$SOAK" -s 8 -q 60 -w 1048576
		cuts+=("${cuts[@]}" "${cuts[@]:0:10}")
	else
		ends all -n 1000000 -x 10000 -q 30
	fi
	moving all
	rough "${cuts[@]}"
	run ! rmmod rds_tcp
	[[ $output == *"in use"* ]]
	if [[ -n ${SOAK-} ]]; then
		ends_over all
		cat /run/tmp/all.* >&3
	else
		ends_enough all
	fi
	LOSS='' mend
}

# Not stock: a message may come twice, or is lost
@test "connections are reset under load: exactly once" {
	local i
	ends resets -n 1000000 -x 3000
	moving resets
	for i in {1..30}; do
		tcp_set rds_tcp_sndbuf $((200000 + i))
		lasts 50
		there -- "${BASH}" -c "echo $((300000 + i)) >/proc/sys/net/rds/tcp/rds_tcp_rcvbuf"
		lasts 50
	done
	ends_enough resets
}

# Not stock: it waits for the number of paths
@test "a host that is not there: EAGAIN, and SO_SNDTIMEO holds" {
	diff - <("$TOOLS/rds-tcp" timeo 10.1.0.1 10.1.0.99) <<-END
		timeo.sent 3
		timeo.errno ETIMEDOUT
		timeo.in.time 1
	END
	# Messages without payload take memory, too
	run ! timeout $((10 * ${LAB_SLOW:-1})) "$TOOLS/rds-socket" bind 10.1.0.1 4000 send 10.1.0.99 4001 70000 0
	[[ $output == *"temporarily unavailable"* ]]
}

@test "a connection comes from a port that is its path's, and that nobody has reserved" {
	local range=/proc/sys/net/ipv4/ip_local_port_range reserved=/proc/sys/net/ipv4/ip_local_reserved_ports before
	before=$(<$range)
	ip addr add 10.1.0.3/24 dev w1
	there -- ip addr add 10.1.0.4/24 dev v1
	echo 40000 40031 >$range
	echo 40000-40015,40024-40031 >$reserved
	HERE=10.1.0.3 THERE=10.1.0.4 ends ports -n 320 -s 32 -q 5
	ends_over ports
	echo "$before" >$range
	echo >$reserved
	# 40016 to 40023, each once
	diff <(printf '%X\n' {40016..40023}) <(awk '$3 == "0400010A:4001" && $4 == "01" { print substr($2, 10) }' /proc/net/tcp | sort -u)
}

@test "lists of TCP sockets: what is missing, and what is acknowledged" {
	diff - <("$TOOLS/rds-tcp" sockets 10.1.0.1 10.1.0.2) <<-END
		sockets.size 41
		sockets.idle 1
		sockets6.size 64
		sockets6.idle 1
	END
	# Without the right to rule the network, no sequence numbers: none is taken for used, of this size
	diff - <(setpriv --reuid 65534 --clear-groups "$TOOLS/rds-tcp" sockets 10.1.0.1 10.1.0.2) <<-END
		sockets.size 41
		sockets.idle 0
		sockets6.size 64
		sockets6.idle 0
	END
}

@test "the module stays while a socket is open" {
	local pid
	"$TOOLS/rds-socket" bind 10.1.0.1 4000 >/run/tmp/socket 3>&- & pid=$!
	await 10 grep -q ready /run/tmp/socket
	run ! rmmod rds_tcp
	run ! rmmod rds
	adm_is ".sockets[0].processes[0].pid == $pid" rds socket
	kill $pid
	wait $pid || :
	rds_unload
	# Who has the port in another namespace is nobody's concern
	ip netns add gone
	rm /run/tmp/socket
	ip netns exec gone "$TOOLS/rds-socket" tcp 16385 >/run/tmp/socket 3>&- & pid=$!
	await 10 grep -q ready /run/tmp/socket
	rds_load
	kill $pid
	wait $pid || :
	ends again -n 100
	ends_over again
}

# space_goes CMD..: the namespace goes while CMD, which has begun to send from there, is killed
space_goes() {
	local pid
	rm -f /run/tmp/gone # of the one before
	ip netns exec gone "$@" >/run/tmp/gone 2>&1 3>&- & pid=$!
	await 10 grep -qE 'moving|ready' /run/tmp/gone
	ip netns del gone
	kill -9 $pid || fail "$(</run/tmp/gone)"
	wait $pid || :
}

@test "a namespace goes under load" {
	local i pid
	for i in {1..10}; do
		wire gone 2
		"$TOOLS/rds-traffic" -n 1000000 -q 5 10.2.0.1 10.2.0.2 >/run/tmp/stays 2>&1 3>&- & pid=$!
		space_goes "$TOOLS/rds-traffic" -n 1000000 -q 5 10.2.0.2 10.2.0.1
		await 10 test ! -e /sys/class/net/w2
		# It may have given up
		kill -9 $pid || :
		wait $pid || :
	done
}

# left: objects of each kind that there are, but messages: a pong waits for the acknowledgment of who is gone
left() { awk '$1 != "rds_msg" { print $1, $2 - $3 }' /sys/kernel/debug/rds/objects; }

# SOAK=N (make soak-rds): 1000 of them
@test "namespaces come and go with connections: objects and memory are back" {
	local before objects
	"$TOOLS/rds-spaces" $((${SOAK:+196} + 4))
	objects=$(left)
	before=$(available)
	"$TOOLS/rds-spaces" $((${SOAK:+784} + 16))
	diff - <(left) <<<"$objects"
	echo "# $((before - $(available))) kB less" >&3
	((before - $(available) < 20000))
}

@test "a namespace goes while it connects to nobody, and with what nobody acknowledges" {
	local i
	for i in {1..6}; do
		wire gone 2
		tc qdisc add dev w2 root netem loss 100%
		space_goes "$TOOLS/rds-socket" bind 10.2.0.2 4000 send 10.2.0.1 4001 10 1000 send 10.2.0.77 4001 10 1000
		await 10 test ! -e /sys/class/net/w2
	done
	for i in {1..6}; do
		wire gone 2
		there gone -- "$ADM" rds ping 10.2.0.1 -c 1 --timeout 10s
		tc qdisc add dev w2 root netem loss 100%
		space_goes "$TOOLS/rds-socket" bind 10.2.0.2 4000 send 10.2.0.1 4001 10 1000 send 10.2.0.1 4001 8 10000
		await 10 test ! -e /sys/class/net/w2
	done
}

@test "a namespace goes while strangers connect to it" {
	local i
	for i in {1..10}; do
		wire gone 2
		# what answers is lost: the requests stay
		ip netns exec gone tc qdisc add dev v2 root netem loss 100%
		ip neigh replace 10.2.0.2 lladdr "$(ip netns exec gone cat /sys/class/net/v2/address)" dev w2
		there gone -- ip neigh replace 10.2.0.1 lladdr "$(</sys/class/net/w2/address)" dev v2
		rm -f /run/tmp/syn
		"$TOOLS/rds-raw" syn 100 10.2.0.2 say ready stay >/run/tmp/syn 3>&- & STRANGER=$!
		await 10 grep -q ready /run/tmp/syn
		ip netns del gone
		# It has seen the network go, or it waits
		kill $STRANGER || :
		wait $STRANGER || :
		await 10 test ! -e /sys/class/net/w2
	done
}

@test "a namespace goes while its sysctls are written" {
	local i pid name
	for i in {1..10}; do
		name=rds_tcp_sndbuf
		wire gone 2
		there gone -- "$ADM" rds ping 10.2.0.1 -c 1 --timeout 10s
		rm -f /run/tmp/writer
		"$TOOLS/sysctl-writer" gone /proc/sys/net/rds/tcp/$name 100000 200000 >/run/tmp/writer 3>&- & pid=$!
		await 10 grep -q ready /run/tmp/writer
		ip netns del gone
		await 10 dead $pid
		wait $pid
		await 10 test ! -e /sys/class/net/w2
	done
}

# told FILE FILTER: the lines of the recording that are about $2 there, as one array, pass the filter
told() { jq -es "[.[] | select(.remote_address == \"$2\")] | $3" "$1" >/dev/null; }

# its_path FILTER ADDRESS: of the connection to it, as the tool tells it
its_path() { adm_is ".connections[] | select(.remote_address == \"$2\") | $1" rds connection; }

# Not stock, as all that follow but the last: it has no netlink family
@test "netlink: a path that comes up, is reset and comes up again is told with the reason, at both ends" {
	local pid
	there -- ip addr add 10.1.0.60/24 dev v1
	record /run/tmp/here rds
	: >/run/tmp/there
	ip netns exec peer "$ADM" monitor rds --filter local_address=10.1.0.60 --count 3 >/run/tmp/there 3>&- & pid=$!
	await 10 grep -q sync /run/tmp/there
	adm 0 rds ping 10.1.0.60 -c 1 --timeout 10s
	its_path '.peer == "rnbd" and .reconnects == 0 and .last_error == null and (.path_details | length == 1) and .paths_agreed == 8 and
		(.path_details[0] | .state == "connected" and .remote_port == 16385 and .local_port % 8 == 0 and
			.next_send_sequence > 1 and .next_receive_sequence > 1 and .unsent_messages == 0)' 10.1.0.60
	tcp_set rds_tcp_sndbuf 250001
	await 10 told /run/tmp/here 10.1.0.60 'map([.event, .reason]) == [["up", null], ["down", "ECONNRESET"], ["up", null]]'
	its_path '.reconnects == 1 and .last_error == "ECONNRESET"' 10.1.0.60
	record_end /run/tmp/here
	wait $pid
	[[ $(awk '{ print $2, $NF }' /run/tmp/there | tail -n 3 | paste -sd' ') == "up state=connected down error=ECONNRESET up state=connected" ]]
	run -0 there -- "$ADM" rds connection -v
	[[ $output == *"  path 0 connected since "*" ports 16385-"*" peer rnbd next tx "*" last error ECONNRESET"* ]]
}

@test "netlink: a peer that refuses is told once, with the reason; a host that is not there as well" {
	local before
	there -- ip addr add 10.1.0.61/24 dev v1
	# Without ARP: where its answer takes seconds, the reason is EHOSTUNREACH
	ip neigh replace 10.1.0.61 lladdr "$(there -- ip -br link show v1 | awk '{ print $3 }')" dev w1
	there -- "${BASH}" -c 'echo 0 >/proc/sys/net/rds/tcp/listen'
	record /run/tmp/here rds --no-snapshot
	before=$(counter conn_reset)
	adm 10 rds ping 10.1.0.61 -c 1 --timeout 200ms
	adm 10 rds ping 10.1.0.98 -c 1 --timeout 200ms
	await 10 told /run/tmp/here 10.1.0.61 'map([.event, .reason]) == [["refused", "ECONNREFUSED"]]'
	its_path '.state != "connected" and .peer == null and (.last_error == "ECONNREFUSED") and .path_details[0].unacknowledged_messages == 0' 10.1.0.61
	# more attempts fail
	await 20 eval '(($(counter conn_reset) > before + 5))'
	there -- "${BASH}" -c 'echo 1 >/proc/sys/net/rds/tcp/listen'
	await 10 told /run/tmp/here 10.1.0.61 'map(.event) == ["refused", "up"]'
	await 20 told /run/tmp/here 10.1.0.98 'map(.event) == ["refused"] and (.[0].reason | . == "EHOSTUNREACH" or . == "ETIMEDOUT")'
	record_end /run/tmp/here
}

@test "netlink: each namespace sees its own connections and events alone" {
	local pid
	ip netns add gone
	ip netns exec gone "$ADM" monitor rds -j >/run/tmp/gone 3>&- & pid=$!
	await 10 grep -q sync /run/tmp/gone
	adm 0 rds ping 10.1.0.2 -c 1 --timeout 10s
	tcp_set rds_tcp_sndbuf 250002
	run -0 there gone -- "$ADM" rds connection -j
	jqe '.connections == []'
	run -0 there gone -- "$ROOT/tests/vm/ynl.py" --family rds dump connection-get
	jqe '.reply == []'
	run -0 there -- "$ADM" rds connection -j
	jqe '.connections | length > 0 and all(.[]; .remote_address != "10.1.0.2" and .path_details != null)'
	run -0 ynl --family rds dump connection-get
	# 10.1.0.2, as struct sockaddr_in
	jqe '.reply | any(.[]; ."remote-addr" | startswith("020000000a010002")) and
		all(.[]; ."local-addr" | startswith("020000000a010002") | not)'
	kill $pid
	wait $pid
	document "$(</run/tmp/gone)"
	[ "$(jq -cs 'map(.event)' /run/tmp/gone)" = '["sync"]' ]
}

@test "netlink: sequence numbers are for CAP_NET_ADMIN of the namespace, all else is for everybody" {
	adm 0 rds ping 10.1.0.2 -c 1 --timeout 10s
	its_path '.path_details[0] | .next_send_sequence > 1 and .next_receive_sequence > 1' 10.1.0.2
	run -0 --separate-stderr setpriv --bounding-set=-all --inh-caps=-all "$ADM" rds connection -j
	jqe '.connections | map(.path_details[]) | length > 0 and all(.[]; .next_send_sequence == null and .next_receive_sequence == null and
		.state != null and .unsent_messages != null)'
	run -0 setpriv --reuid 65534 --clear-groups "$ADM" monitor rds --once
}

# Not stock: one of its queues is for all of them
@test "1000 peers: what each costs; all are back within 5 s; while they are silent, few connections are tried at once" {
	local i before after pid
	for i in {1..1000}; do
		echo "addr add 10.1.$((8 + i / 256)).$((i % 256))/32 dev v1"
	done | ip -n peer -b -
	ip route add 10.1.8.0/22 via 10.1.0.2
	before=$(available)
	"$TOOLS/rds-tcp" many 10.1.0.1 10.1.8.1 1000
	after=$(available)
	echo "# $(((before - after) * 1024 / 1000)) bytes for both ends of a connection" >&3
	((before - after < 64000))
	tcp_set rds_tcp_sndbuf 200000
	"$TOOLS/rds-tcp" many 10.1.0.1 10.1.8.1 1000 >/run/tmp/many 2>&1
	echo "# back after $(grep ' s$' /run/tmp/many)" >&3
	grep -q "many.answered 1000" /run/tmp/many
	(($(sed -n 's/\..* s$//p' /run/tmp/many) < 5 * ${LAB_SLOW:-1}))
	before=$(opened)
	cut
	"$TOOLS/rds-tcp" many 10.1.0.1 10.1.8.1 1000 >/run/tmp/many 2>&1 & pid=$!
	# what is not acknowledged is missed after 0.6 s, then a second connection is tried, 32 at once, for 125 ms each
	lasts 3000
	after=$(opened)
	mend
	wait $pid
	echo "# back after $(grep ' s$' /run/tmp/many), $((after - before)) connections were tried in 3 s" >&3
	grep -q "many.answered 1000" /run/tmp/many
	((after - before < 3000))
}

@test "netlink: a dump that is cut by changes says so, and tells once each what is there all the time" {
	local all i
	for i in {1..100}; do
		echo "addr add 10.1.12.$i/32 dev v1"
	done | ip -n peer -b -
	ip route add 10.1.12.0/24 via 10.1.0.2
	"$TOOLS/rds-tcp" many 10.1.0.1 10.1.12.1 100
	all=$("$ADM" rds connection --no-headers -F remote_address | wc -l)
	((all >= 100))
	run -0 "$ROOT/tests/vm/rds-dump.py" true
	[[ $output == "$all 0 0" ]] || fail "$all: $output"
	run -0 "$ROOT/tests/vm/rds-dump.py" "$ADM rds ping 10.1.0.97 -c 1 --timeout 1ms || :"
	[[ ${lines[-1]} == "$((all + 1)) 0 1" ]] || fail "$all: $output"
	adm_is '.warnings == null and all(.connections[]; .path_details != null)' rds connection
}

@test "netlink: dumps while connections break, come and go" {
	local i pid dumps
	: >/run/tmp/go.on
	"$ROOT/tests/vm/rds-dump.py" --while /run/tmp/go.on >/run/tmp/dumps 2>&1 3>&- & pid=$!
	for i in {1..5}; do
		tcp_set rds_tcp_sndbuf $((200000 + i))
		lasts 200
		await 10 rmmod rds_tcp
		insmod "$MODS/rds_tcp.ko"
		adm 0 rds ping 10.1.0.2 -c 1 --timeout 10s
	done
	rm /run/tmp/go.on
	wait $pid || fail "$(</run/tmp/dumps)"
	dumps=$(</run/tmp/dumps)
	((dumps > 5))
}
