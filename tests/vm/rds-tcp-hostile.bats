#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# RDS over TCP towards a peer that is made of bytes (tests/vm/tools/rds-raw.c), in another namespace, where the module does not
# listen. 10.1.0.1 is ours, the peer has 10.1.0.2 and more; 10.1.0.50 is ours, too, so that there are peers with lower addresses. With
# RDS=stock (--env RDS, on 6.1 or 6.12) the module is the kernel's own, which listens everywhere but in a VRF.
# lab: on debug: what a peer sends is judged by KASAN, lockdep and kmemleak
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	modprobe -a veth sch_netem
	rds_load
	wire peer 1
	ip addr add 10.1.0.50/24 dev w1
	for i in {3..9} {51..59}; do
		echo "addr add 10.1.0.$i/24 dev v1"
	done | ip -n peer -b -
	if stock; then
		modprobe vrf
		ip -n peer link add vrf0 type vrf table 10
		ip -n peer link set vrf0 up
		ip -n peer link set v1 master vrf0
	else
		there -- "$BASH" -c "echo 0 >/proc/sys/net/rds/tcp/listen"
	fi
}

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	ip netns del peer
	rds_unload
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	! stock || VRF=(device vrf0)
}

teardown() {
	echo 1 >/proc/sys/net/rds/ping_enable
	kill $READER $RAW $SOCKET 2>/dev/null || :
	dmesg_clean
}

# raw WORD..: the peer; what it prints is in $output
raw() {
	run ip netns exec peer "$TOOLS/rds-raw" "${VRF[@]}" "$@"
	echo "$output"
	[[ $status == 0 ]]
}

# raw_begin WORD..: the same in the background, until it has said "ready"; what it prints is in /run/tmp/raw
raw_begin() {
	ip netns exec peer "$TOOLS/rds-raw" "${VRF[@]}" "$@" >/run/tmp/raw 2>&1 3>&- & RAW=$!
	await 60 grep -q ready /run/tmp/raw || fail "$(</run/tmp/raw)"
}

# reads [OPTION].. ADDRESS PORT: from now on this socket prints what it reads, "FROM:PORT LEN SUM [CONTROL..]", to /run/tmp/reads
reads() {
	"$TOOLS/rds-reader" "$@" >/run/tmp/reads 2>&1 3>&- & READER=$!
	await 10 grep -q ready /run/tmp/reads
}

# has_read LINE..: that and nothing else
has_read() {
	await 10 grep -qxF -e "${*: -1}" /run/tmp/reads
	diff <(printf '%s\n' ready "$@") /run/tmp/reads
}

more() { (($(counter "$1") > $2)); }

@test "headers and payload in pieces; what is old is dropped where it is marked so; gaps are legal" {
	reads 10.1.0.50 4000
	raw from 10.1.0.2 connect 10.1.0.50 get map map . \
		send 1 0 100 5000 4000 - \
		pieces 1 send 2 0 60 5000 4000 - pieces 0 \
		pieces 7 send 3 0 300 5000 4000 - pieces 0 \
		send 3 4 300 5000 4000 - send 1 4 100 5000 4000 - \
		send 3 0 10 5000 4000 - \
		send 10 0 20 5000 4000 - send 12 4 30 5000 4000 - \
		send 13 0 0 5000 4000 - \
		send 14 0 5 5000 9999 - \
		send 15 6 1048576 5000 4000 - \
		send 16 0 0 5001 0 - get '*/0/0/5001'
	has_read "10.1.0.2:5000 100 same 1" "10.1.0.2:5000 60 same 2" "10.1.0.2:5000 300 same 3" "10.1.0.2:5000 10 same 3" \
		"10.1.0.2:5000 20 same 10" "10.1.0.2:5000 30 same 12" "10.1.0.2:5000 0 same 0" "10.1.0.2:5000 1048576 same 15"
}

# Not stock: it takes any length
@test "more than 1 MiB is announced: the connection ends, before memory is taken, and is counted" {
	local before
	before=$(counter tcp_drop_bad_record)
	reads 10.1.0.50 4000
	raw from 10.1.0.3 connect 10.1.0.50 get map map . head 1 0 1048577 5000 4000 - gone
	raw from 10.1.0.3 connect 10.1.0.50 get map map . head 1 0 4294967295 5000 4000 - gone
	raw from 10.1.0.3 connect 10.1.0.50 get map map . head 1 1 4294967295 0 0 - gone
	await 5 more tcp_drop_bad_record $((before + 2))
	raw from 10.1.0.3 connect 10.1.0.50 get map map . send 1 0 1 5000 4000 -
	has_read "10.1.0.3:5000 1 same 1"
}

@test "an extension of RDMA: no cookie comes out of it; unknown extensions" {
	! stock || skip "it would end the kernel"
	reads 10.1.0.50 4000
	raw from 10.1.0.2 connect 10.1.0.50 get map map . \
		send 1 0 3 5000 4000 03000003000000006400000000000000 \
		send 2 0 4 5000 4000 02000012340000000000000000000000 \
		send 3 0 5 5000 4000 09ffffffffffffffffffffffffffffff \
		send 4 0 6 5000 4000 ffffffffffffffffffffffffffffffff \
		send 5 0 7 5000 4000 05ffff06000000010000000000000000
	has_read "10.1.0.2:5000 3 same 1" "10.1.0.2:5000 4 same 2" "10.1.0.2:5000 5 same 3" "10.1.0.2:5000 6 same 4" \
		"10.1.0.2:5000 7 same 5"
}

@test "a map of another length is ignored; flags of a map and more are those of a message" {
	reads 10.1.0.50 4000
	raw from 10.1.0.2 connect 10.1.0.50 get map map 5000 . \
		send 0 1 100 0 0 - send 0 1 8191 0 0 - send 0 1 8193 0 0 - send 0 1 0 0 0 - \
		send 1 0 1 5000 4000 - send 2 5 100 5000 4000 - send 3 5 8192 5000 4000 - \
		send 4 0 0 5001 0 - get '*/0/0/5001' \
		send 5 0 0 5000 0 - send 6 0 0 5001 0 - get '*/0/0/5001'
	# the port is congested, still: no pong goes there
	[[ $output != */0/0/5000* ]]
	has_read "10.1.0.2:5000 1 same 1" "10.1.0.2:5000 100 same 2" "10.1.0.2:5000 8192 same 3"
}

# Not stock: no pings, no answers to probes
@test "the probe for paths is answered, also without pings" {
	raw from 10.1.0.2 connect 10.1.0.50 get map map . send 1 0 0 1 0 05000800000000000000000000000000 get '*/0/0/1'
	echo 0 >/proc/sys/net/rds/ping_enable
	raw from 10.1.0.2 connect 10.1.0.50 get map map . send 1 0 0 5000 0 - send 2 0 0 1 0 05000800000000000000000000000000 get '*/0/0/1'
	[[ $output != */0/0/5000* ]]
}

# Not stock: it reads on
@test "a peer that looks at no map: it is not read any more, and read on when the socket is gone" {
	local i sends=()
	for i in {1..40}; do
		sends+=(send "$i" 0 1048576 5000 4004 -)
	done
	"$TOOLS/rds-socket" bind 10.1.0.50 4004 >/run/tmp/socket 3>&- & SOCKET=$!
	await 10 grep -q ready /run/tmp/socket
	ip netns exec peer "$TOOLS/rds-raw" "${VRF[@]}" from 10.1.0.2 connect 10.1.0.50 map . "${sends[@]}" send 41 0 0 5000 0 - say sent stay \
		>/run/tmp/raw 2>&1 3>&- & RAW=$!
	unread() { adm_is "any(.sockets[]; .local_port == 4004 and .receive_queue_bytes $1)" rds socket; }
	await 20 unread "> 8388608"
	lasts 500
	unread "< 12000000"
	[[ $(</run/tmp/raw) != *sent* ]]
	kill $SOCKET
	await 20 grep -q sent /run/tmp/raw
	kill $RAW
}

# Not stock: it waits for ever
@test "a sender that waits for a congested port: the peer goes, and is called when it is back" {
	local before
	before=$(counter cong_send_blocked)
	raw_begin from 10.1.0.8 connect 10.1.0.50 get map map 5000 . send 1 0 0 5001 0 - get '*/0/0/5001' say ready stay
	"$TOOLS/rds-socket" bind 10.1.0.50 4003 wait 10.1.0.8 5000 1 100 >/run/tmp/socket 3>&- & SOCKET=$!
	await 10 more cong_send_blocked "$before"
	kill $RAW
	wait $RAW || :
	raw from 10.1.0.8 listen accept gone connect 10.1.0.50 get map map . get '*/100/4003/5000'
	await 10 grep -q ready /run/tmp/socket
}

@test "10000 pings, and nobody reads the pongs" {
	local before after
	before=$(sed -n 's/MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	raw_begin from 10.1.0.4 connect 10.1.0.50 map . pings 10000 5000 say ready stay
	after=$(sed -n 's/MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	((before - after < 20000)) || fail "$((before - after)) kB"
	waiting() { adm_is "any(.connections[]; .remote_address == \"10.1.0.4\" and .unsent_messages + .unacknowledged_messages $1)" rds connection; }
	waiting "<= 256"
	raw from 10.1.0.2 connect 10.1.0.50 get map map . send 1 0 0 5000 0 - get '*/0/0/5000'
	kill $RAW
	wait $RAW || :
	# what was left of them does not count against those to come
	raw_begin from 10.1.0.4 connect 10.1.0.50 map . say ready stay
	await 10 waiting "== 0"
	kill $RAW
	wait $RAW || :
	raw from 10.1.0.4 connect 10.1.0.50 get map map . send 1 0 0 5001 0 - get '*/0/0/5001'
}

@test "half a record, and the end: by a reset, by FIN; nothing of it is delivered" {
	reads 10.1.0.50 4000
	raw from 10.1.0.2 connect 10.1.0.50 get map map . send 1 0 50 5000 4000 - head 2 0 1000 5000 4000 - body 2 0 500 \
		send 3 0 0 5000 0 - reset
	raw from 10.1.0.2 connect 10.1.0.50 get map map . head 2 0 1000 5000 4000 - body 2 0 999 fin gone
	raw from 10.1.0.2 connect 10.1.0.50 get map map . raw 0000 reset
	raw from 10.1.0.2 connect 10.1.0.50 get map map . send 2 4 60 5000 4000 -
	has_read "10.1.0.2:5000 50 same 1" "10.1.0.2:5000 60 same 2"
}

@test "garbage" {
	raw from 10.1.0.5 connect 10.1.0.50 raw "$(printf 'ff%.0s' {1..400})" gone
	raw from 10.1.0.5 connect 10.1.0.50 raw "$(printf '474554202f%.0s' {1..40})" gone
	raw from 10.1.0.5 connect 10.1.0.50 get map map . send 1 0 0 5000 0 - get '*/0/0/5000'
}

@test "who connects: the lower address; the higher one is refused and called back" {
	# 10.1.0.51 is higher than ours, 10.1.0.50
	raw from 10.1.0.51 listen begin 10.1.0.50 gone accept get map map . send 1 0 0 5000 0 - get '*/0/0/5000'
	# 10.1.0.1 sends to a higher one: it connects. 10.1.0.50 to a lower one: it calls, ends that, and is called.
	raw_begin from 10.1.0.52 listen say ready accept get map map . get 1/0/100/4000/5000
	"$TOOLS/rds-socket" bind 10.1.0.50 4000 send 10.1.0.52 5000 1 100 >/run/tmp/socket 3>&- & SOCKET=$!
	wait $RAW || fail "$(</run/tmp/raw)"
	kill $SOCKET
	raw_begin from 10.1.0.6 listen say ready accept gone connect 10.1.0.50 get map map . get 1/0/100/4001/5000
	"$TOOLS/rds-socket" bind 10.1.0.50 4001 send 10.1.0.6 5000 1 100 >/run/tmp/socket 3>&- & SOCKET=$!
	wait $RAW || fail "$(</run/tmp/raw)"
	kill $SOCKET
}

@test "a second connection while there is one; what the first had is not lost" {
	reads 10.1.0.50 4000
	raw from 10.1.0.7 connect 10.1.0.50 get map map . send 1 0 10 5000 4000 - \
		slot 1 begin 10.1.0.50 gone \
		slot 0 send 2 0 20 5000 4000 - alive
	has_read "10.1.0.7:5000 10 same 1" "10.1.0.7:5000 20 same 2"
}

# Not stock: what TCP has acknowledged is lost. Flags are 4 (sent again), or 6 if our end has read the peer's map by then: it asks for
# acknowledgments.
@test "a reset with bytes that the peer has not read: they come again, marked, in order, but for what it has acknowledged" {
	raw_begin from 10.1.0.53 listen say ready accept able get map get 1/0/100/4002/5000 waits 1332 reset \
		accept able get map get '1/[46]/' get '2/[46]/' waits 1184 ack 5 send 0 0 0 0 0 - get '10/[46]/' reset \
		accept able get map get '[0-9]*/[46]/' ack 99999 send 0 0 0 0 0 - get '10/[46]/' send 1 0 0 5000 0 - get '*/0/0/5000' \
		reset accept able get map get '10/[46]/'
	"$TOOLS/rds-socket" bind 10.1.0.50 4002 send 10.1.0.53 5000 10 100 >/run/tmp/socket 3>&- & SOCKET=$!
	wait $RAW || fail "$(</run/tmp/raw)"
	cat /run/tmp/raw
	# Twice: the acknowledgment of what was never sent counts for nothing
	diff <(printf '%s/4/100/4002/5000\n' {6..10} {6..10}) \
		<(grep -v '/0/5000' /run/tmp/raw | tail -n +15 | grep -v map | sed 's:/6/:/4/:')
}

# generation N: a map whose header tells it; not in it is port 5001
generation() { echo "send 0 1 8192 0 0 0600000$1$(printf '0%.0s' {1..22})"; }

# Not stock: it loses what is sent again
@test "another peer with the address of one before, of ours or of the kernel's own: what it sends again is no repetition" {
	reads 10.1.0.50 4000
	# shellcheck disable=SC2046
	raw from 10.1.0.9 connect 10.1.0.50 get map $(generation 007) send 100 0 10 5001 4000 - send 101 0 0 5001 0 - get '*/0/0/5001' reset \
		connect 10.1.0.50 get map $(generation 007) send 2 4 15 5001 4000 - send 102 0 0 5001 0 - get '*/0/0/5001' reset \
		connect 10.1.0.50 get map $(generation 008) send 2 4 20 5001 4000 - send 3 0 0 5001 0 - get '*/0/0/5001' reset \
		connect 10.1.0.50 get map map . send 1 4 30 5001 4000 - send 2 0 0 5001 0 - get '*/0/0/5001'
	has_read "10.1.0.9:5001 10 same 100" "10.1.0.9:5001 20 same 2" "10.1.0.9:5001 30 same 1"
}

# Not stock. That they go after a minute or two is not waited for.
@test "4200 strangers: their connections are bounded, and those who were there before do not notice" {
	local conns
	ip route add 10.0.0.0/16 via 10.1.0.2
	there -- ip addr add 10.0.0.1/16 dev lo
	raw_begin strangers 4200 10.0.0.2 10.1.0.50 say ready stay
	cat /run/tmp/raw
	conns=$("$ADM" rds connection -F remote_address --no-headers | grep -c ' *10\.0\.')
	echo "# $conns connections of 4200 strangers" >&3
	((conns <= 4096))
	kill $RAW
	wait $RAW || :
	raw from 10.1.0.2 connect 10.1.0.50 get map map . send 1 0 0 5000 0 - get '*/0/0/5000'
}

# Not stock
@test "100 strangers with half a message of 1 MiB each: 64 are read at a time, and what others send waits" {
	reads 10.1.0.50 4005
	ip route replace 10.0.0.0/16 via 10.1.0.2
	there -- ip addr replace 10.0.0.1/16 dev lo
	begun() { [[ $("$TOOLS/rds-tcp" begun 10.1.0.50 10.0.0.2) == "begun $1" ]]; }
	raw_begin halves 100 10.0.0.2 10.1.0.50 say ready stay
	await 10 begun 64
	ip netns exec peer "$TOOLS/rds-raw" "${VRF[@]}" from 10.1.0.5 connect 10.1.0.50 get map map . \
		send 1 0 1048576 5000 4005 - say sent stay >/run/tmp/waits 2>&1 3>&- & SOCKET=$!
	await 10 grep -q map /run/tmp/waits
	lasts 700
	begun 64
	diff <(echo ready) /run/tmp/reads
	kill $RAW
	wait $RAW || :
	has_read "10.1.0.5:5000 1048576 same 1"
}

@test "nobody listens where the sysctl says so, and again" {
	tcp_set listen 0
	run ip netns exec peer "$TOOLS/rds-raw" from 10.1.0.2 connect 10.1.0.50
	[[ $status == 1 && $output == *"Connection refused"* ]]
	tcp_set listen 1
	raw from 10.1.0.2 connect 10.1.0.50 get map
}
