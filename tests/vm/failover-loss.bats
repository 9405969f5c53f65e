#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Each link of two in turn loses 5 % of all packets for 60 s, under I/O that is verified: no error, no wrong byte;
# check tells of it.
# lab: on debug: late and lost packets of every kind meet KASAN
# lab: two guests
# lab: links 2
# lab: timeout 900
# lab: cpus 1
# lab: no sanitizers: its times are of the modules
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	losses_begin
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	map /dev/ram0
	# Soft-RoCE that sends a registration again ("rxe_reg_fast_mr: not free") may leave its queue pair standing, while heartbeats go
	# on over another
	set_to "${QUICK[@]}"
}

teardown() { loss_end; }

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

rising() { "$ADM" check rdma.counters | grep -q "^warn  rdma.counters  *rxe$1/1: errors are rising: "; }

# lossy LINK: for a minute
lossy() {
	local here there
	load_start
	echo "$(</proc/uptime) loss" >$CUTS
	cut loss "$1"
	await 30 rising "$1"
	sleep "$(lasting 60)"
	goes_on
	here=$(lost_packets "link$1")
	there=$(server lost_packets "link$1")
	mend loss "$1"
	echo "# link $1: $here packets were lost on their way to the client, $there on their way to the server" >&3
	((here > 0 && there > 0))
	stalls "5 % loss on link $1"
	await 30 eval "! rising $1"
	connected "$1"
	load_end /dev/ram0
}

@test "5 % loss for 60 s on the first link" { lossy 1; }

@test "5 % loss for 60 s on the second link" { lossy 2; }
