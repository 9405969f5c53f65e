#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A write that was under way when its path died is sent again on the other path, and the first one may still reach the disk. A
# disk that holds requests tells in which order they came there and were answered: on our server the retry never comes before the
# first one is answered. What in-tree servers do is printed beside it. And links that are cut under I/O that is verified, with one end
# in-tree: no error, no wrong byte.
# lab: on debug: order of requests at the disk is one-CPU logic, for KASAN, lockdep and kmemleak
# lab: on 6.1 for ^in-tree client, our server.* links are cut: in-tree clients need more than one slow CPU
# lab: two guests
# lab: links 2
# lab: make tests/vm/hold
# lab: cpus 1
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	server hold 8
	on_server "ram_disk 16 && dd if=/dev/zero of=/dev/ram0 bs=1M oflag=direct count=16 status=none"
	memory_before
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	# In-tree servers take all addresses of different families for the same
	NET[2]=10.2.0.
}

teardown() {
	local link
	load_kill
	server command release
	for link in 1 2; do
		mend drop $link || :
		slow $link 0 || :
	done 2>/dev/null
	await 20 eval '! pgrep -x rdma >/dev/null'
	[[ -e /sys/class/infiniband/rxe1 ]] || mend rdma-here 1
	unmap_all
	# An in-tree client that is unloaded while it has a session leaves timers behind
	await 30 no_session
	unload_all
	on_server unload_all
	dmesg_clean
	on_server dmesg_clean
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back 60
	server hold_end
}

reconnect() { echo 1 >"$SDIR/paths/$(path_of "$1")/reconnect"; }

# slow LINK TIME: what we send is that late; what is under way stays so. The queue has its place before there is traffic (see link_up).
slow() { tc qdisc change dev "link$1" root netem limit 100000 delay "$2"; }
slow_ready() { modprobe sch_netem && tc qdisc replace dev "link$1" root netem limit 100000 delay 0; }
# Packets that were sent, and those that wait for it
sent() { tc -s qdisc show dev "link$1" root | sed -nE 's/^ Sent [0-9]+ bytes ([0-9]+) pkt.*/\1/p'; }
queued() { tc -s qdisc show dev "link$1" root | sed -nE 's/^ backlog [^ ]+ ([0-9]+)p .*/\1/p'; }

no_session() { [[ -z $(ls /sys/class/rtrs-client 2>/dev/null) ]]; }

# The block of each test is another one: $BLOCK
put() { printf '%-4096s' "$1" | dd of="/dev/$DISK" bs=4k seek="$BLOCK" oflag=direct iflag=fullblock status=none; }

on_disk() { on_server "dd if=/dev/nbd0 bs=4k skip=$BLOCK count=1 iflag=direct status=none | head -c 8"; }

# lose_path LINK CUT: without a word, or by the administrator
lose_path() {
	case $2 in
	silent) cut drop "$1" ;;
	disconnect) echo 1 >"$SDIR/paths/$(path_of "$1")/disconnect" 3>&- & ;;
	esac
}

# The second attempt is there, waiting on our server, at the disk on an in-tree one
retry_came() { server record >/run/tmp/record && grep -qE "slot_fenced|answered .* write $((BLOCK * 8))\+8" /run/tmp/record; }

# show CLIENT SERVER CUT
show() {
	echo "# client $1, server $2, $3:"
	sed "s/^/#   /" /run/tmp/record
	echo "#   on the disk: $(on_disk)"
} >&3

# fence CLIENT SERVER CUT: "ours" or "in-tree" each
fence() {
	local pid writes
	BLOCK=$((100 + BATS_TEST_NUMBER))
	on_server "$(modules_of "$2" server)"
	"$(modules_of "$1" client)"
	if [[ $1 == ours ]]; then
		map /dev/nbd0
		set_to no_path_timeout_ms=-1
	else
		# It may give up on a busy host
		map /dev/nbd0 || { echo "# in-tree client: mapped at the second attempt" >&3 && map /dev/nbd0; }
	fi
	put original
	on_server ": >$HOLD/record"
	server trace
	set_to mpath_policy=min-inflight
	writes=$(awk '{ print $5 }' "/sys/block/$DISK/stat")
	server command "hold $((BLOCK * 8)) 8 1"
	put first & pid=$!
	await 10 on_server "grep -q held $HOLD/record"
	LINK=$(links_in_use)
	[[ $LINK == [12] ]] || fail "which link? '$LINK'"
	# Not before: a slow host must not lose paths by itself
	[[ $1 != ours ]] || set_to heartbeat_interval_ms=200 heartbeat_misses=4
	lose_path "$LINK" "$3"
	await 60 retry_came
	if [[ $2 == ours ]]; then
		# It waits for as long as it takes
		sleep 1
		server record >/run/tmp/record
		! grep -q answered /run/tmp/record || { show "$@"; fail "the retry was carried out"; }
		server command release
		wait $pid
		put second
	else
		wait $pid
		put second
		server command release
	fi
	server record >/run/tmp/record
	show "$@"
	[ $(($(awk '{ print $5 }' "/sys/block/$DISK/stat") - writes)) -eq 2 ]
	[ "$(awk '{ print $9 }' "/sys/block/$DISK/stat")" -eq 0 ]
}

# The lost path is closed, then the first attempt is answered, then the retry comes, then what was written after it; each once
fenced() {
	fence "$@"
	[ "$(on_disk)" = "second  " ]
	[ "$(awk -v place=" write $((BLOCK * 8))+8 " -v path=" $(path_of "$LINK"): " '
		/path_state: .*-> closing/ && index($0, path) && !closed++ { print "closed" }
		index($0, place) { print $2, $6 }' /run/tmp/record | xargs)" = \
		"held first closed answered first arrived first answered first arrived second answered second" ]
}

@test "in-tree client, our server, a silent cut: the retry waits for the first attempt" { fenced in-tree ours silent; }

@test "in-tree client, our server, a path disconnected: the same" { fenced in-tree ours disconnect; }

@test "our client, our server, a silent cut: the server has not noticed, the retry closes the old path" {
	fenced ours ours silent
	grep -q 'connected -> closing, last error -103' /run/tmp/record
}

@test "our client, our server, a path disconnected: the retry waits" { fenced ours ours disconnect; }

# mapped with one path, over LINK
mapped_over() {
	on_server load_server
	load_client
	slow_ready 1
	slow_ready 2
	map /dev/nbd0
	set_to no_path_timeout_ms=-1 reconnect_delay_ms=100
	echo 1 >"$SDIR/paths/$(path_of $((3 - $1)))/disconnect"
	put original
	on_server ": >$HOLD/record"
	server trace
}

# late CUT: the server does not notice either: by itself it would take the write for half a minute. Nor does it hear of a new
# connection.
late() {
	local pid t0 last cut
	BLOCK=$((100 + BATS_TEST_NUMBER))
	mapped_over 1
	slow 1 8s
	t0=$EPOCHREALTIME
	put first & pid=$!
	await 10 eval '(($(queued 1) >= 2))'
	last=$(($(sent 1) + $(queued 1)))
	reconnect 2
	await 20 path_is 2 connected
	set_to max_reconnect_attempts=0
	if [[ $1 == silent ]]; then
		set_to heartbeat_interval_ms=$((300 * ${LAB_SLOW:-1})) heartbeat_misses=4
	else
		cut rdma-here 1 & cut=$!
	fi
	await 60 dead $pid
	wait $pid
	put second
	((${EPOCHREALTIME/./} - ${t0/./} < 8000000)) || skip "this host was too slow: the first attempt has arrived before"
	await 20 eval "((\$(sent 1) >= $last))"
	[[ $1 == silent ]] || { wait $cut && mend rdma-here 1; }
	[ "$(on_disk)" = "second  " ]
	server record >/run/tmp/record
	show ours ours "a slow link, $1"
	[ "$(grep -c "arrived write $((BLOCK * 8))+8" /run/tmp/record)" -le 2 ]
}

@test "our client, our server: a write that is late in the network comes to nothing when it was retried" { late silent; }

@test "our client, our server: the same where the RDMA device of the client is deleted" { late deleted; }

closed_on_server() { server record >/run/tmp/record && grep -q "path_state: .*$(path_of "$1"): .*-> closing" /run/tmp/record; }

@test "E10: the last path is lost while another connects: that one is up at once, and the disk open when the first attempt has ended" {
	local pid
	BLOCK=$((100 + BATS_TEST_NUMBER))
	mapped_over 1
	server command "hold $((BLOCK * 8)) 8 1"
	put first & pid=$!
	await 10 on_server "grep -q held $HOLD/record"
	slow 2 1s
	reconnect 2 3>&- &
	await 10 eval '(($(queued 2) > 0))'
	set_to heartbeat_interval_ms=$((200 * ${LAB_SLOW:-1})) heartbeat_misses=2
	cut drop 1
	await 10 lost 1
	slow 2 0
	! path_is 2 connected || skip "this host was too slow: the other path was up before"
	await 60 closed_on_server 1
	connected 2
	await 20 adm_is '.devices[0] | .state == "disconnected" and .last_error == "EBUSY"' device list
	server command release
	wait $pid
	put second
	server record >/run/tmp/record
	show ours ours "another path connects"
	[ "$(on_disk)" = "second  " ]
}

@test "our client, in-tree server, a silent cut: the record to compare" {
	fence ours in-tree silent
	grep -q 'answered .* second' /run/tmp/record
	# Nor does it change the access of a disk that is open
	map /dev/ram0 access_mode=migration
	run --separate-stderr -9 "$ADM" device set "$DISK" --access rw
	[[ $stderr == *"the server has no such operation"*"kernel: the server cannot do that"*"map it with --access rw"* ]]
	[ "$(<"/sys/block/$DISK/rnbd/access_mode")" = migration ]
}

@test "our client, our server: a path is cut while a disk takes no more; the other one stays, and so does I/O of another disk" {
	local i other writers=()
	on_server "load_server heartbeat_interval_ms=200 heartbeat_misses=3"
	on_server "echo none >/sys/block/nbd0/queue/scheduler && echo 4 >/sys/block/nbd0/queue/nr_requests"
	load_client
	map /dev/ram0
	other=$DISK
	map /dev/nbd0
	set_to heartbeat_interval_ms=200 heartbeat_misses=3
	server command "hold 0 16384 100"
	for ((i = 0; i < 12; i++)); do
		dd if=/dev/zero of="/dev/$DISK" bs=4k count=1 seek=$i oflag=direct status=none 3>&- & writers+=($!)
	done
	await 10 under_way "$DISK" 12
	dmesg_mark
	cut drop 1
	await 10 lost 1
	SECONDS=0
	# For longer than an answer of the server was waited for
	for ((i = 0; SECONDS < 8; i++)); do
		timeout 3 dd if="/dev/$other" of=/dev/null bs=4k count=1 skip=$((i % 64)) iflag=direct status=none
	done
	path_is 2 connected
	run -1 grep '10[.]2[.]0.*: lost' <(dmesg_new)
	mend drop 1
	server command release
	for i in "${writers[@]}"; do
		wait "$i"
	done
	on_server "echo 128 >/sys/block/nbd0/queue/nr_requests"
	await 30 path_is 1 connected
}

@test "our client, in-tree server: links are cut, the server is loaded again" {
	local i kinds=(drop-in rdma rdma-here) n=6
	[[ $KERNEL == 6.1 ]] || n=2
	on_server load_peer_server
	load_client
	map /dev/ram0
	set_to "${QUICK[@]}"
	load_start
	for ((i = 0; i < n; i++)); do
		one_cut "${kinds[i % 3]}" $((1 + i % 2))
	done
	stalls "in-tree server, cuts of all kinds"
	on_server "rmmod rnbd-server rtrs-server && load_peer_server"
	connected 1
	connected 2
	goes_on
	load_end /dev/ram0
}

@test "in-tree client, our server: links are cut, one of them silently" {
	local link kinds=([1]=rdma [2]=drop)
	[[ -n $VIRTIO ]] || skip "on a host this slow in-tree clients fail I/O when a path goes, and crash when they are unloaded"
	on_server load_server
	load_peer_client
	map /dev/ram0
	load_start
	for link in 1 2; do
		cut "${kinds[link]}" $link
		await 40 lost $link
		goes_on
		mend "${kinds[link]}" $link
		# It would try in 30 s by itself
		await 20 reconnect $link
		await 20 path_is $link connected
	done
	load_end /dev/ram0
}
