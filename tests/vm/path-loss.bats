#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What a client does with a path that is lost, and in which order, as probes in the kernel see it. Both ends are in one guest.
# lab: on 6.1: it looks with kprobes, which the debug kernel has not
# lab: no sanitizers: it looks at the modules
# lab: parallel
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

TRACE=/sys/kernel/tracing
CALLS=/run/tmp/calls
QUEUE_DEPTH=512 # of a server that is told nothing
PIDS=()

setup_file() {
	. "$ROOT/tests/vm/hostile.bash"
	both_ends 16
	setup_slow
}

setup() { . "$ROOT/tests/vm/reconnect.bash"; }

teardown() {
	probes_end
	((${#PIDS[@]} == 0)) || kill "${PIDS[@]}" 2>/dev/null || :
	reconnect_end
	"$ADM" session remove s1 --idempotent --force
	local n
	for n in {11..22}; do
		ip addr del 10.0.1.$n/24 dev dummy1 2>/dev/null || ip neigh del 10.0.1.$n dev dummy1 2>/dev/null || :
	done
}

# probes NAME FUNCTION..: each call is an event from now on; probes_end: and is in $CALLS
probes() {
	echo >$TRACE/trace
	printf 'p:lost/%s %s\n' "$@" >$TRACE/kprobe_events
	echo 1 >$TRACE/events/lost/enable
}

probes_end() {
	[[ -e $TRACE/events/lost ]] || return 0
	echo 0 >$TRACE/events/lost/enable
	cat $TRACE/trace >$CALLS
	echo >$TRACE/kprobe_events
}

in_flight() { (($(cat "$SYS"/paths/*/stats/rdma | awk '{ n += $5 } END { print n }') >= $1)); }

# Of each worker that has moved a request: how many queue pairs it had destroyed by then, and in the end
destroyed() {
	awk '/ destroys: / { n[$1]++ } / moves: / && $1 in n && !($1 in first) { first[$1] = n[$1] }
		END { for (worker in first) print first[worker], n[worker] }' $CALLS
}

@test "G7: a path is lost: the first request goes on before the queue pairs of the other connections are destroyed" {
	local paths
	"$ADM" map /dev/slow --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1 --connections 8
	paths=("$SYS"/paths/*)
	fio --name=r --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=8 --rw=randread --bs=64k --size=2m --minimal \
		>/tmp/fio.out 3>&- & FIO=$!
	await 20 in_flight 8
	probes destroys ib_destroy_qp_user moves rtrs_client:rtrs_client_submit
	echo 1 >"${paths[0]}/disconnect"
	probes_end
	wait $FIO
	[ "$(destroyed)" = "1 9" ] || fail "$(destroyed): $(<$CALLS)"
}

# dying COUNT [ARG..]: a session s1 with so many paths to addresses of their own
dying() {
	local n args=()
	for ((n = 11; n < 11 + $1; n++)); do
		ip addr add 10.0.1.$n/24 dev dummy1
		args+=(--path "ip:10.0.1.1@ip:10.0.1.$n")
	done
	await 10 grep -qs "$(printf '0a00:01%02x' $((n - 1)))" /sys/class/infiniband/rxe1/ports/1/gids/*
	"$ADM" session add s1 "${@:2}" "${args[@]}"
}

# nobody_at COUNT: nobody is at these addresses any more, and they are connected again
nobody_at() {
	local n
	for ((n = 11; n < 11 + $1; n++)); do
		echo 1 >$SYS/paths/ip:10.0.1.1@ip:10.0.1.$n/disconnect
		ip addr del 10.0.1.$n/24 dev dummy1
		ip neigh replace 10.0.1.$n lladdr 02:00:00:00:00:77 dev dummy1 nud permanent
	done
	for ((n = 11; n < 11 + $1; n++)); do
		bash -c "echo 1 >$SYS/paths/ip:10.0.1.1@ip:10.0.1.$n/reconnect" 3>&- 2>/dev/null &
		PIDS+=($!)
	done
}

connecting() { adm_is "[.paths[] | select(.session == \"s1\" and .state == \"connecting\")] | length >= $1" path list; }

@test "G8: many paths wait for a server that does not answer: one of another session that is lost is taken down at once" {
	local t0 paths
	dying 12 --path ip:10.0.0.1 --connections 1
	"$ADM" map /dev/slow --session s2 --path ip:10.0.0.1 --path ip:fd00:0::1
	nobody_at 12
	await 20 connecting 8
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=4 iflag=direct status=none 3>&- &
	PIDS+=($!)
	paths=(/sys/class/rtrs-client/s2/paths/*)
	t0=$EPOCHREALTIME
	echo 1 >"${paths[0]}/disconnect"
	echo "# taken down after $(seconds_since "$t0") s" >&3
	((${EPOCHREALTIME%.*} - ${t0%.*} <= 5))
	connecting 8
	wait "${PIDS[-1]}"
}

@test "G10: another path is about to have the session made: no queue pair is made to be told so" {
	local made
	dying 4 --connections 1
	probes made ib_create_qp_kernel
	nobody_at 4
	await 30 connecting 4
	probes_end
	made=$(grep -c ' made: ' $CALLS)
	echo "# $made queue pairs for 4 paths" >&3
	((made <= 5))
}

@test "G5: a path that comes back has the requests and messages that it had" {
	local paths
	"$ADM" session add s1 --path ip:10.0.0.1 --connections 1
	paths=("$SYS"/paths/*)
	probes made "rtrs_core:rtrs_iu_alloc_unmapped count=%di:u32"
	echo 1 >"${paths[0]}/reconnect"
	probes_end
	! grep "count=$QUEUE_DEPTH" $CALLS || fail "made anew"

	# They are gone with what an administrator disconnects
	probes made "rtrs_core:rtrs_iu_alloc_unmapped count=%di:u32"
	echo 1 >"${paths[0]}/disconnect"
	echo 1 >"${paths[0]}/reconnect"
	probes_end
	grep "count=$QUEUE_DEPTH" $CALLS
}
