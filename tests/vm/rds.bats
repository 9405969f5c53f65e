#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# RDS sockets over the loop, and towards a peer that a test module plays (tests/vm/rds/rds-peer.c). What calls answer is held
# against records of the kernel's own module (tests/vm/rds/*.stock), and these against that module itself.
# lab: on debug: objects that come and go are judged by KASAN, lockdep and kmemleak
# lab: on 6.1 for stock: the kernel's own module is here
# lab: make tests/vm/tools
# lab: make tests/vm/rds
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	ip addr add 10.9.0.1/24 dev lo
	ip -6 addr add fd09::1/128 dev lo
}

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	unload rds-peer rds
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	RECORDS=$ROOT/tests/vm/rds
	TOOLS=$ROOT/build/tools
	PEER_KO=$ROOT/build/rds-$(uname -r)
	OBJECTS=/sys/kernel/debug/rds/objects
}

teardown() { dmesg_clean; }

load() { module_loaded rds || insmod "$MODS/rds.ko"; }
load_peer() { load && { module_loaded rds_peer || insmod "$PEER_KO/rds-peer.ko"; }; }

# With the differences that are wanted
stock_says() { sed -e 's/^send.flag.nosignal .*/send.flag.nosignal 1/' -e '/^info.100\(07\|16\)\./d' "$RECORDS/$1.stock"; }

same() { diff <(stock_says "$1") <("$TOOLS/rds-${1%.*}" "${@:2}" | sed '/^info.100\(07\|16\)\./d'); }

# Objects of a kind are as many as before: alive KIND
alive() { awk -v noun="$1" '$1 == noun { print $2 - $3 }' $OBJECTS; }
none_alive() { [[ $(alive "$1") == 0 ]]; }

# answers NAME <<<TEXT: what rds-net says
answers() {
	load_peer
	echo connect >/sys/module/rds_peer/parameters/peer
	echo echo >/sys/module/rds_peer/parameters/peer
	echo free >/sys/module/rds_peer/parameters/peer
	echo >/sys/module/rds_peer/parameters/log
	diff - <("$TOOLS/rds-net" "$1")
	none_alive rds_sock
	none_alive rds_msg
	none_alive rds_zcopy
}

log_has() { [[ $(</sys/module/rds_peer/parameters/log) == *"$1"* ]] || fail "not '$1' in $(</sys/module/rds_peer/parameters/log)"; }

@test "stock: the records are what the kernel's own module answers; ours is refused beside it" {
	[[ -e /lib/modules/$(uname -r)/kernel/net/rds/rds.ko ]] || skip "this kernel has none"
	modprobe rds
	modprobe rds_tcp
	diff "$RECORDS/table.loop.stock" <("$TOOLS/rds-table" 127.0.0.1 ::1)
	diff "$RECORDS/talk.loop.stock" <("$TOOLS/rds-talk" 127.0.0.1)
	diff "$RECORDS/talk.tcp.stock" <("$TOOLS/rds-talk" 10.9.0.1 2)
	run ! insmod "$MODS/rds.ko"
	[[ $output == *"File exists"* ]]
	# One run left references that keep it
	rmmod rds_tcp && rmmod rds || skip "the kernel's module cannot be unloaded"
}

@test "stock: a kernel that has the family is told by name" {
	load_taken() { insmod "$PEER_KO/rds-taken.ko"; }
	if module_loaded rds; then skip "the kernel's own module is still there"; fi
	load_taken
	run ! insmod "$MODS/rds.ko"
	dmesg_new | grep "rds: AF_RDS is taken"
	rmmod rds-taken
}

@test "loop: each call answers what stock does" {
	load
	same table.loop 127.0.0.1 ::1
	same talk.loop 127.0.0.1
}

@test "through a transport: congestion, monitors and zerocopy as stock over TCP" {
	load_peer
	same talk.tcp 10.9.0.1 2
}

@test "a peer that answers: sizes from 0 to 100000, a duplicate is dropped, pings and probes are answered" {
	answers echo <<-END
		echo.send 0
		echo.recv 0
		echo.same 1
		echo.send 1
		echo.recv 1
		echo.same 1
		echo.send 1024
		echo.recv 1024
		echo.same 1
		echo.send 1025
		echo.recv 1025
		echo.same 1
		echo.send 4096
		echo.recv 4096
		echo.same 1
		echo.send 100000
		echo.recv 100000
		echo.same 1
		echo.duplicate EAGAIN
	END
	# a map first, then messages by number; a pong to 5000 and one to the probe, none to port 0
	log_has "connect map 1/0/0/4000/5000 2/0/1/4000/5000"
	await 10 log_has "7/0/0/0/5000"
	await 10 log_has "8/0/0/0/1"
	# the peer's are asked for at once, or behind what is sent
	await 10 eval '(($(grep -o probe /sys/module/rds_peer/parameters/log | wc -l) == 2))'
}

@test "pings are switched off, probes are not" {
	load_peer
	echo 0 >/proc/sys/net/rds/ping_enable
	echo >/sys/module/rds_peer/parameters/log
	echo "ping 5000" >/sys/module/rds_peer/parameters/peer
	echo probe >/sys/module/rds_peer/parameters/peer
	await 10 log_has "/0/0/0/1"
	run ! log_has "/0/0/0/5000"
	echo 1 >/proc/sys/net/rds/ping_enable
}

@test "a peer that does not acknowledge: EAGAIN, time-out, signal, room again; queues are listed with real addresses" {
	answers queue <<-END
		queue.sent 3
		queue.full EAGAIN
		queue.poll 0
		queue.retrans 3
		queue.address 1
		queue.retrans6 3
		queue.send 0
		queue.send6 0
		queue.sndtimeo ETIMEDOUT
		queue.signal EINTR
		queue.acked 4
		queue.then 1000
	END
	answers room <<-END
		room.blocking 1000
	END
}

@test "cancel: by address and port; what is closed is not sent" {
	answers cancel <<-END
		cancel 0
		cancel.left 3
		cancel.v6 0
		cancel.v6.left 0
		cancel.poll 260
		close.left 0
		cancel.then 9
		cancel.then.in 1
	END
}

@test "a path that breaks: what was not acknowledged goes again, in order, marked, before the rest" {
	answers again <<-END
		again.held 3
		again.queued 3
		again.with.new 4
		again.still 4
		again.recv 10
		again.recv 11
		again.recv 12
		again.recv 20
		again.broken 30
	END
	[[ $(</sys/module/rds_peer/parameters/log) =~ map\ [0-9]+/6/10/4000/5000\ [0-9]+/6/11/4000/5000\ [0-9]+/6/12/4000/5000\ [0-9]+/0/20/4000/5000 ]]
}

@test "a congested peer: ENOBUFS, time-out, signal, wake-up; other ports and new sockets do not notice" {
	answers congested <<-END
		congested.fresh.poll 260
		congested.nonblock ENOBUFS
		congested.other.port 1
		congested.sndtimeo ETIMEDOUT
		congested.signal EINTR
		congested.poll.wakes 513
		congested.blocking 1
	END
}

@test "the loop: a reader that is slow stops its senders; connections nobody uses do not pile up" {
	answers flood <<-END
		flood.sent 19
		flood.errno ENOBUFS
		flood.freed 513
	END
	answers many <<-END
		many.bounded 1
	END
}

@test "sockets come and go under load, bound in vain or not" {
	answers churn <<-END
		churn 0
	END
	rmmod rds_peer
	rmmod rds
}

@test "addresses of the kernel are refused; a message that cannot be handed out stays; names are whole" {
	answers pointers <<-END
		pointers.send EFAULT
		pointers.self 10
		pointers.recv EFAULT
		pointers.set EFAULT
		pointers.get EFAULT
		pointers.info EAGAIN
		pointers.control EFAULT
		pointers.name.len 16
		pointers.name.beyond 165
		pointers.name.len 16
		pointers.name.beyond 165
		pointers.name.len 16
		pointers.name.beyond 165
		pointers.name.len 16
		pointers.name.beyond 165
		pointers.name.len 16
		pointers.name.beyond 165
		pointers.name.len 16
		pointers.name.beyond 165
		pointers.kept 10
	END
}

@test "lists: every byte of every list is defined" {
	answers defined <<-END
		defined.held 1
	END
}

@test "namespaces: the same address and port twice; lists are of one; a namespace goes with unread messages" {
	answers spaces <<-END
		spaces.socks 0
		spaces.conns 0
		spaces.recv 0
		spaces.ib EPROTOTYPE
		spaces.send 20
		spaces.here 20
		spaces.there 10
	END
	echo ack >/sys/module/rds_peer/parameters/peer
}

@test "zerocopy: pages go back whatever happens; completions wait for room" {
	answers zerocopy <<-END
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.send 100000
		zcopy.done 0
		zcopy.cookies 8
		zcopy.no.room EAGAIN
		zcopy.badptr EFAULT
		zcopy.congested ENOBUFS
		zcopy.full EAGAIN
	END
}

@test "sysctls: bounds and defaults as in the manual" {
	load
	local dir=/proc/sys/net/rds
	[[ $(<$dir/reconnect_max_delay_ms) == 1000 && $(<$dir/max_unacked_packets) == 8 ]]
	[[ $(<$dir/max_unacked_bytes) == 16777216 && $(<$dir/ping_enable) == 1 ]]
	run ! bash -c "echo 0 >$dir/reconnect_min_delay_ms"
	run ! bash -c "echo 2000 >$dir/reconnect_min_delay_ms"
	run ! bash -c "echo 1 >$dir/reconnect_max_delay_ms"
	grep -q '^RDS ' /proc/net/protocols
}

@test "a transport goes while connections are open, and comes back" {
	answers cancel >/dev/null <<<"" || :
	rmmod rds_peer
	none_alive rds_sock
	load_peer
	run ! insmod "$PEER_KO/rds-peer.ko"
	unload rds-peer rds
}
