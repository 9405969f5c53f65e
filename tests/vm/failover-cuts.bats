#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# 50 times a path of two is lost, in turn, under fio with verify: no error, no wrong byte; 17 times on kernels but the
# first, 15 times on the debug kernel.
# lab: two guests
# lab: links 2
# lab: make rnbdadm
# lab: timeout 900
# lab: kernels 6.1 6.12
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

# What is sent meanwhile from an interface that is set down leaves the queue pair of all of rdma_cm's messages in error. On Linux 6.1
# the server was then seen to wait in cm_destroy_id() for the rest of the run, in which it let nobody connect; why is not known, and
# the state of that queue pair does not tell.
@test "an interface is set down, the server's or ours, or that of the server has no carrier: monitor tells, fail-overs are counted" {
	local EVENTS=/run/tmp/events monitor link n=12 kinds=(down)
	[[ $KERNEL == 6.1 ]] || n=6 kinds=(set-down set-down-here down)
	[[ -n $VIRTIO ]] || n=4 # user-mode Linux has no carrier
	"$ADM" monitor path -j >$EVENTS 3>&- & monitor=$!
	await 10 grep -q '"event":"sync"' $EVENTS
	cuts $n $n "${kinds[@]}"
	stalls "interface down" 1 2
	kill $monitor
	wait $monitor
	document "$(<$EVENTS)"
	for link in 1 2; do told $link $((n / 2)); done
	adm_is 'all(.stats[]; .counters.failovers > 0)' stats
}

@test "an RDMA device is deleted, the server's or ours" {
	cuts 12 4 rdma rdma-here
	stalls "RDMA device deleted" 1 2
}
