#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# RDS over TCP, ours towards the kernel's own, which is on the server. RDS and RDS_PEER say what is here and there: ours, stock.
# lab: on 6.1: the kernel's own module, as it is there
# lab: on 6.12 for reset: another version of it
# lab: debug kernel no: it has no RDS of its own
# lab: two guests
# lab: make tests/vm/tools
# lab: timeout 400
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	modprobe sch_netem
	on_server ". $ROOT/tests/vm/rds-tcp.bash; modprobe sch_netem; RDS=${RDS_PEER:-stock} rds_load"
	rds_load
}

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	rds_unload
	on_server rds_unload
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	HERE=10.1.0.2 THERE=10.1.0.1
}

# What one test has left must not be the next one's
teardown() {
	[[ -n $BATS_TEST_COMPLETED ]] || { pkill -9 rds-traffic; on_server "pkill -9 rds-traffic"; } || :
	dmesg_clean
}

start_there() { on_server "$TOOLS/rds-traffic $* $THERE $HERE >/run/tmp/there 2>&1 & PEER=\$!"; }
start_here() { "$TOOLS/rds-traffic" "$@" "$HERE" "$THERE" >/run/tmp/ends.here 2>&1 3>&- & END_HERE[ends]=$!; }

# both_over [enough]: waits for both ends; fails if one of them did
both_over() {
	local rc=0
	[[ ${1-} != enough ]] || { kill "${END_HERE[ends]}" && on_server 'kill $PEER'; } || return
	wait "${END_HERE[ends]}" || rc=1
	on_server 'wait $PEER' || rc=1
	on_server 'cat /run/tmp/there' >/run/tmp/ends.there
	cat /run/tmp/ends.here /run/tmp/ends.there
	return "$rc"
}

none_doubled() {
	local end
	for end in here there; do
		[[ $(<"/run/tmp/ends.$end") == *" twice=0 disorder=0 wrong=0 "* ]] || fail "at the end $end" || return
		echo "# $end: $(figure /run/tmp/ends.$end lost) of $(figure /run/tmp/ends.$end received) lost" >&3
	done
}

anew() {
	rds_unload && on_server rds_unload && on_server "RDS=${RDS_PEER:-stock} rds_load" && rds_load
}

@test "either end begins, or both at once; 0 bytes to 1 MiB" {
	start_there -n 1000 && start_here -n 1000
	both_over
	anew
	start_here -n 1000 && start_there -n 1000
	both_over
	anew
	start_there -n 1000 -b 500 & both=$!
	start_here -n 1000 -b 500
	wait $both
	both_over
}

@test "IPv6" {
	HERE=fd01::2 THERE=fd01::1
	start_there -n 1000 && start_here -n 1000
	both_over
}

@test "pings from both ends" {
	adm 0 rds ping 10.1.0.1 -c 1 --timeout 10s
	on_server "$ADM rds ping 10.1.0.2 -c 1 --timeout 10s"
}

# Nothing is sent within 200 ms
quiet_here() {
	local n
	n=$(counter send_queued)
	lasts 200
	[[ -n $n && $(counter send_queued) == "$n" ]]
}

# A sender may know already that there is no room when the reader is stopped, and asks no more
@test "a reader that stands still: senders are told, and woken up" {
	local before queued
	before=$(counter cong_send_error)
	start_there -n 1000000 -m 2000 -r 4608 && start_here -n 1000000 -m 2000 -r 4608
	await 20 grep -q moving /run/tmp/ends.here
	on_server 'kill -STOP $PEER'
	await 20 quiet_here
	(($(counter cong_send_error) > before))
	queued=$(counter send_queued)
	on_server 'kill -CONT $PEER'
	await 20 eval '(($(counter send_queued) > queued + 100))'
	both_over enough
	(($(figure /run/tmp/ends.here congested) > 0 && $(figure /run/tmp/ends.here unwoken) == 0))
}

# What the other end's TCP has, and its RDS has not, is lost with the connection: that is told
@test "the wire is cut 10 times: nothing comes twice, at either end" {
	local ms
	start_there -n 1000000 -x 10000 -q 10 && start_here -n 1000000 -x 10000 -q 10
	await 20 grep -q moving /run/tmp/ends.here
	for ms in 100 300 100 700 1500; do
		tc qdisc add dev link1 root netem loss 100%
		lasts $ms
		tc qdisc del dev link1 root
		lasts 400
		on_server "tc qdisc add dev link1 root netem loss 100%; lasts $ms; tc qdisc del dev link1 root"
		lasts 400
	done
	both_over enough || :
	none_doubled
}

@test "connections are reset under load: nothing comes twice, at either end" {
	local i
	start_there -n 1000000 -x 5000 -q 10 && start_here -n 1000000 -x 5000 -q 10
	await 20 grep -q moving /run/tmp/ends.here
	for i in {1..10}; do
		tcp_set rds_tcp_sndbuf $((200000 + i))
		lasts 100
		on_server "tcp_set rds_tcp_sndbuf $((200000 + i))"
		lasts 100
		ss -K dst $THERE >/dev/null
		lasts 100
	done
	both_over enough || :
	none_doubled
}

# Both ours: each end has numbered what it sent over several paths, and one of them does not know that any more
@test "the other end, ours, is loaded anew while this one sends over several paths: exactly once" {
	local RDS_PEER=ours i sender
	anew
	"$TOOLS/rds-traffic" -n 1000000 -x 5000 -s 16 -p 6000 $HERE $THERE >/run/tmp/sender 2>&1 3>&- & sender=$!
	start_there -n 1000000 -x 5000 -s 16 -p 6000
	await 20 grep -q moving /run/tmp/sender
	on_server 'kill -9 $PEER; wait $PEER' || :
	on_server "rds_unload && RDS=ours rds_load"
	start_there -n 1000000 -x 5000 -s 16 -p 8000 && start_here -n 1000000 -x 5000 -s 16 -p 8000
	await 20 grep -q moving /run/tmp/ends.here
	# What is sent again has numbers that are low for the end that stayed
	for i in {1..5}; do
		tcp_set rds_tcp_sndbuf $((200000 + i))
		lasts 200
		on_server "tcp_set rds_tcp_sndbuf $((200000 + i))"
		lasts 200
	done
	both_over enough
	kill -9 $sender
	wait $sender || :
}
