#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The server is killed under load and comes back, or stands still and goes on: I/O waits and goes on, or fails at once, as it was
# set; disks are there again without a hand of anybody. Or it has lost the session, and a path of it seems to be up.
# lab: on debug: what a lost server leaves is judged by KASAN and kmemleak
# lab: on 6.1 for ^(the module of the RDMA devices|the server stands still): the debug kernel has no such module, and nothing that stops it
# lab: two guests
# lab: links 2
# lab: disk 16
# lab: timeout 900
# lab: cpus 1
# lab: kernels 6.1 6.12
# lab: no sanitizers: its times are of the modules
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	server up
	load_client
	memory_before
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	# The time that kernels but the first are worth
	[[ $KERNEL == 6.1 || -z $VIRTIO || $BATS_TEST_NUMBER == 1 ]] || skip "on Linux 6.1, and on the debug kernel"
	map /dev/vda
	set_to "${QUICK[@]}"
}

teardown() {
	load_kill
	if booted; then server_power thaw; else server_power on && server up; fi
	unmap_all
	dmesg_clean
	on_server dmesg_clean
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

both() { "$@" 1 && "$@" 2; }

# By sectors: what is set aside is counted as done, with none
sectors() { awk '{ print $3, $7 }' "/sys/block/$DISK/stat"; }

# Without a path nothing is done
stands_still() {
	local before
	before=$(sectors)
	sleep 1
	[[ $(sectors) == "$before" ]] || fail "I/O goes on"
}

gone() { await 15 lost "$1"; }

reads() { dd if="/dev/${1:-$DISK}" of=/dev/null bs=4k count=1 iflag=direct; }

in_other() {
	local SESSION=s2 SDIR=${SDIR/s1/s2}
	"$@"
}

# The same disk in another session, in which nothing waits: $OTHER
map_other() {
	local waits=$DISK
	in_other map /dev/vda access_mode=ro && in_other set_to "${QUICK[@]}" no_path_timeout_ms=0 || return
	OTHER=$DISK DISK=$waits
}

# killed HOW ARG..: once for each; when it is there again, "server HOW ARG" loads its modules. Two sessions with the same disk.
killed() {
	local how=$1 arg since on reader
	shift
	rm -f /run/tmp/{after-boot,after-load,eio,under-way}
	map_other
	load_start
	for arg in "$@"; do
		dd if="/dev/$OTHER" of=/dev/null bs=4k iflag=direct status=none & reader=$!
		await 10 under_way "$OTHER"
		since=$EPOCHREALTIME
		server_power off
		ends_badly $reader
		seconds_since "$since" >>/run/tmp/under-way
		both gone
		stands_still
		await 15 state_is "$OTHER" closed
		for _ in 1 2 3; do
			SECONDS=0 since=$EPOCHREALTIME
			run -1 reads "$OTHER"
			seconds_since "$since" >>/run/tmp/eio
			[[ $output == *"Input/output error"* ]]
			((SECONDS <= 3))
		done
		on=$EPOCHREALTIME
		server_power on
		server "$how" "$arg"
		since=$EPOCHREALTIME
		goes_on 60
		seconds_since "$since" >>/run/tmp/after-load
		seconds_since "$on" >>/run/tmp/after-boot
		both connected
		await 60 reads "$OTHER"
	done
	load_end /dev/vda
	echo "# booted again $# times: I/O went on $(spread /run/tmp/after-load) after the server's modules were loaded," \
		"$(spread /run/tmp/after-boot) after the power was on" >&3
	echo "# no-path-timeout 0: a read that was under way failed $(spread /run/tmp/under-way) after the power went," \
		"one that began later after $(spread /run/tmp/eio)" >&3
	# The median, as in stalls()
	sort -n /run/tmp/eio | awk -v slow="${LAB_SLOW:-1}" -v n=$((3 * $#)) 'NR == int((n + 1) / 2) { exit $1 > slow }'
}

# Each time it comes back with other buffers
@test "killed several times: with no-path-timeout=-1 I/O waits and goes on, with 0 it fails at once and the disk works again" {
	local buffers=(sess_queue_depth=64 max_chunk_size=65536 always_invalidate=N sess_queue_depth=1000 '')
	[[ $KERNEL == 6.1 || -z $VIRTIO ]] || buffers=(sess_queue_depth=64)
	killed up "${buffers[@]}"
}

@test "no-path-timeout=5000: I/O waits for so long, then fails" {
	local since
	set_to no_path_timeout_ms=5000
	server_power off
	both gone
	SECONDS=0 since=$EPOCHREALTIME
	run -1 reads
	echo "# no-path-timeout 5 s: a read failed after $(seconds_since "$since") s" >&3
	[[ $output == *"Input/output error"* ]]
	((SECONDS >= 3 && SECONDS <= 8))
	server_power on
	server up
	both connected
	await 10 reads
}

@test "the module of the RDMA devices is unloaded and loaded again, on either end: I/O waits, the paths come back" {
	local since there
	grep -q '^rdma_rxe ' /proc/modules || skip "rdma_rxe is no module of this kernel"
	load_start
	for there in "" on_server; do
		since=$EPOCHREALTIME
		$there timeout 60 rmmod rdma_rxe
		echo "# rdma_rxe ${there:+of the server }is unloaded: $(seconds_since "$since") s" >&3
		both gone
		stands_still
		$there eval "rxe_add rxe1 link1 && rxe_add rxe2 link2"
		both connected
		goes_on
	done
	load_end /dev/vda
}

uptime_there() { on_server cat /proc/uptime | awk '{ print $1 * 1000000 }'; }

# What has become of both disks, one after the other, as monitor has told it
told() {
	jq -rs '[.[] | select(.event == "change" and .changes.state)] | group_by(.name)[] | [.[0].name, .[].state] | join(" ")' \
		/run/tmp/told | xargs
}

@test "the server stands still, and goes on: I/O waits, or fails, as it was set, and goes on; both disks are back, told in order" {
	local reader since there
	[[ -n $VIRTIO ]] || skip "user-mode Linux has no monitor that stops it"
	map_other
	record /run/tmp/told device --no-snapshot
	uevents /run/tmp/uevents
	load_start
	dd if="/dev/$OTHER" of=/dev/null bs=4k iflag=direct status=none & reader=$!
	await 10 under_way "$OTHER"
	since=$EPOCHREALTIME there=$(uptime_there)
	server_power freeze
	ends_badly $reader
	both gone
	await 15 state_is "$OTHER" closed
	run -1 reads "$OTHER"
	[[ $output == *"Input/output error"* ]]
	stands_still
	# The loss has been noticed; it is not to be lost again because the server is busy with what has waited
	set_to heartbeat_interval_ms=1000
	in_other set_to heartbeat_interval_ms=1000
	server_power thaw
	there=$((${EPOCHREALTIME/./} - ${since/./} - ($(uptime_there) - there)))
	since=$EPOCHREALTIME
	goes_on 60
	echo "# the server stood still for $((there / 1000)) ms: I/O went on $(seconds_since "$since") s later" >&3
	((there >= 1000000))
	both connected
	await 60 reads "$OTHER"
	load_end /dev/vda
	uevents_end
	record_end /run/tmp/told
	[ "$(told)" = "$(printf '%s disconnected mapped\n' "$DISK" "$OTHER" | sort | xargs)" ]
	[ "$(grep -v change /run/tmp/uevents | xargs)" = "ready offline offline online online" ]
}

# the_last LINK: its path was lost as the server said that there is no session
the_last() { dmesg_new | grep -qE "path $(path_of "$1"): lost: -(ENXIO|6)\$"; }

# Path 1 hears of the end, and is to connect again: the answer proves that path 2 is lost, too, long before its heartbeats do
@test "B8: loaded again while a path that is cut looks up: it is lost with the server's answer to the other; the disk is opened again" {
	set_to heartbeat_interval_ms=5000 heartbeat_misses=20 reconnect_delay_max_ms=200
	load_start
	# At once, as Soft-RoCE ends a connection that has I/O a few seconds after it is cut
	lose link2 all
	server again
	await 20 lost 2
	if ! the_last 2 && ! dmesg_new | grep -qE "path $(path_of 1): does not come back: -(ENXIO|6)\$"; then
		mend drop 2
		skip "Soft-RoCE has ended the connection before anybody could look: a slow host"
	fi
	the_last 2
	goes_on
	connected 1
	mend drop 2
	connected 2
	load_end /dev/vda
	dmesg_new | grep -q "mapped /dev/vda of session $SESSION again"
}

# The last one: the server is left with these modules
@test "an in-tree server is killed: the same" {
	unmap_all
	on_server "unload_all && load_peer_server"
	# It takes all addresses of different families for the same
	NET[2]=10.2.0.
	map /dev/vda
	set_to "${QUICK[@]}"
	killed up_in_tree ''
}
