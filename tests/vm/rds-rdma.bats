#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# RDS over RDMA, ours towards ours, or towards the kernel's own on the server where that kernel has it. RDS_PEER says which: ours, stock.
# lab: on debug: connections that come and go are judged by KASAN, lockdep and kmemleak
# lab: two guests
# lab: make tests/vm/tools
# lab: timeout 400
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	modprobe -a cls_matchall act_gact
	on_server "modprobe -a cls_matchall act_gact; . $ROOT/tests/vm/rds-tcp.bash; RDS=$(peer) rdma_load"
	rdma_load
}

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	rdma_unload
	on_server rdma_unload
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	. "$ROOT/tests/vm/rds-tcp.bash"
	HERE=10.1.0.2 THERE=10.1.0.1
}

teardown() {
	kill -9 "${END_HERE[@]}" 2>/dev/null || :
	wire_mend
	dmesg_clean
}

peer() { echo "${RDS_PEER:-ours}"; }
towards_ours() { [[ $(peer) == ours ]]; }

start_there() { on_server "$TOOLS/rds-traffic $* $THERE $HERE >/run/tmp/there 2>&1 & PEER=\$!"; }
start_here() { "$TOOLS/rds-traffic" "$@" "$HERE" "$THERE" >/run/tmp/ends.here 2>&1 3>&- & END_HERE[ends]=$!; }

# both_over [enough]: waits for both ends, which must have all of each other's messages once
both_over() {
	local rc=0
	[[ ${1-} != enough ]] || { kill "${END_HERE[ends]}" && on_server 'kill $PEER'; } || return
	wait "${END_HERE[ends]}" || rc=1
	on_server 'wait $PEER' || rc=1
	on_server 'cat /run/tmp/there' >/run/tmp/ends.there
	cat /run/tmp/ends.here /run/tmp/ends.there
	return "$rc"
}

# What comes in is lost, at both ends. Not what goes out: Soft-RoCE takes that for an error of the queue pair, also of the one that
# all messages of the connection manager have.
wire_cut() {
	tc filter add dev link1 ingress matchall action drop && on_server 'tc filter add dev link1 ingress matchall action drop'
}

wire_mend() { tc filter del dev link1 ingress 2>/dev/null || :; on_server 'tc filter del dev link1 ingress 2>/dev/null || :'; }

anew() { rdma_unload && on_server rdma_unload && on_server "RDS=$(peer) rdma_load" && rdma_load; }

@test "either end begins, or both at once; 0 bytes to 1 MiB" {
	start_there -n 100 && start_here -n 100
	both_over
	"$ADM" rds connection | grep -q '10\.1\.0\.2 *10\.1\.0\.1 *infiniband .*connected'
	anew
	start_here -n 100 && start_there -n 100
	both_over
	anew
	start_there -n 100 -b 2000 & both=$!
	start_here -n 100 -b 2000
	wait $both
	both_over
}

@test "IPv6" {
	HERE=fd01::2 THERE=fd01::1
	start_there -n 100 && start_here -n 100
	both_over
}

@test "pings from both ends" {
	adm 0 rds ping 10.1.0.1 -c 1 --timeout 10s
	on_server "$ADM rds ping 10.1.0.2 -c 1 --timeout 10s"
}

@test "a reader that is slow: senders are told, and woken up" {
	start_there -n 400 -m 2000 -r 4608 && start_here -n 400 -m 2000 -r 4608
	both_over
	(($(figure /run/tmp/ends.here congested) > 0 && $(figure /run/tmp/ends.here unwoken) == 0))
}

@test "the wire is cut: exactly once" {
	local ms
	start_there -n 1000000 -x 20000 -q 15 && start_here -n 1000000 -x 20000 -q 15
	await 20 grep -q moving /run/tmp/ends.here
	for ms in 300 6000 700; do
		wire_cut
		lasts $ms
		wire_mend
		lasts 500
	done
	both_over enough
	adm_is '.connections | any(.reconnects != null and .reconnects > 0)' rds connection
}

@test "the RDMA device goes, and comes back: exactly once" {
	start_there -n 1000000 -x 20000 -q 15 && start_here -n 1000000 -x 20000 -q 15
	await 20 grep -q moving /run/tmp/ends.here
	rdma link delete rxe1
	lasts 300
	rxe_add rxe1 link1
	on_server 'rdma link delete rxe1; lasts 300; rxe_add rxe1 link1'
	lasts 500
	both_over enough
}
