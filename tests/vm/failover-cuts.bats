#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# 50 times a path of two is lost, in turn, under I/O that is verified: no error, no wrong byte; 17 times on kernels but the
# first, 15 times on the debug kernel.
# lab: on 6.1: only emulated guests have cables
# lab: two guests
# lab: links 2
# lab: timeout 900
# lab: kernels 6.1 6.12
# lab: no sanitizers: its times are of the modules
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	# of both ends: where packets are lost in one direction, those of the other tell one end that all is well
	SERVER_QUICK=(heartbeat_interval_ms=200 heartbeat_misses=2)
	losses_begin
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	map /dev/ram0
	set_to "${QUICK[@]}"
}

teardown() { loss_end; }

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

# cuts N FEW KIND..: N times, the kinds in turn, on alternating paths
cuts() {
	local n=$1 i kinds
	[[ $KERNEL == 6.1 ]] || n=$2
	shift 2
	kinds=("$@")
	load_start
	for ((i = 0; i < n; i++)); do
		one_cut "${kinds[i / 2 % $#]}" $((1 + i % 2))
	done
	load_end /dev/ram0
}

@test "silent cuts, in one direction and in both: I/O goes on within a second; the CPU of the load alone has fail-overs" {
	local cpu=$(($(nproc) - 1))
	# what this starts runs there as well
	taskset -pc $cpu $BASHPID
	cuts 20 3 drop-in drop-out drop
	stalls "silent cuts, heartbeat 200 ms x 2" 1 2
	adm_is 'all(.stats[]; .counters.failovers > 0 and .counters.reconnects_ok > 0 and
		[.per_cpu[] | select(.failovers != 0) | [.cpu, .failovers]] == [['$cpu', .counters.failovers]])' stats --per-cpu
}

# So it is where several ways lead to the peer, and what is sent takes one of them by its port: each queue pair has its own
@test "silent connections, but for that of the heartbeats, which the client notices, or the server" {
	cuts 4 2 io
	stalls "silent connections, heartbeat 200 ms x 2" 1.2 2
	set_to heartbeat_interval_ms=60000
	cuts 2 2 io
	stalls "silent connections, heartbeat 200 ms x 2 of the server" 3 4
}

# told LINK N: monitor has said N times at least that its path is lost, and that it is back
told() {
	jq -es --arg path "$(path_of "$1")" --argjson n "$2" '[.[] | select(.event == "change" and .name == $path and .changes.state) |
		"\(.old_state) \(.state)"] | [map(select(. == "connected reconnecting")), map(select(. == "connecting connected"))] |
		all(.[]; length >= $n)' $EVENTS
}

# Were anything sent meanwhile from an interface that is set down, the queue pair of all of rdma_cm's messages would be in error: nobody
# could connect over it any more, and on Linux 6.1 whoever sent it would wait in cm_destroy_id() for ever (kernel/rtrs/core/rxe.c)
@test "an interface is set down, the server's or ours, or that of the server has no carrier: monitor tells, fail-overs are counted" {
	local EVENTS=/run/tmp/events link n=12
	[[ $KERNEL == 6.1 ]] || n=6
	[[ -n $VIRTIO ]] || n=4 # user-mode Linux has no carrier
	record $EVENTS path
	cuts $n $n set-down set-down-here down
	stalls "interface down" 1 2
	record_end $EVENTS
	for link in 1 2; do told $link $((n / 2)); done
	adm_is 'all(.stats[]; .counters.failovers > 0)' stats
}

# away LINK: the path is lost, and what both ends had of it. A client waits 5 s for the answer to its goodbye, and may have begun to
# connect before the interface was down.
away() {
	await 10 lost "$1"
	server await_no_queue_pairs "rxe$1"
	server_await_no_queue_pairs "rxe$1"
}

@test "while an interface is down its RDMA device is deleted, or modules go: nothing waits, and the path comes back" {
	local kind
	load_start
	for kind in rdma rdma-here; do
		cut set-down 1 && ip link set link1 down
		away 1
		cut $kind 1
		mend $kind 1
		ip link set link1 up && mend set-down 1
		connected 1
	done
	load_end /dev/ram0
	cut set-down 1 && ip link set link1 down
	away 1
	unmap_all
	rmmod rnbd-client rtrs-client
	# CM ids that are kept have the name of a module that is there
	rdma res show cm_id >/run/tmp/cm_id
	unload_all
	on_server "rmmod rnbd-server rtrs-server && rdma res show cm_id >/run/tmp/cm_id"
	on_server unload_all
	ip link set link1 up && mend set-down 1
	# Goodbyes could wait no longer: what they did to Soft-RoCE
	rdma link delete rxe1 && rxe_add rxe1 link1
	on_server "rdma link delete rxe1 && rxe_add rxe1 link1"
	on_server load_server "${SERVER_QUICK[@]}" && load_client
	map /dev/ram0
	dd if=/dev/$DISK of=/dev/null bs=1M count=4 iflag=direct status=none
}

@test "an RDMA device is deleted, the server's or ours" {
	cuts 12 4 rdma rdma-here
	stalls "RDMA device deleted" 1 2
}
