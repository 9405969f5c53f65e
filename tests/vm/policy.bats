#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What can be set for a session and read of it, by sysfs and by netlink: path policies, attempts to reconnect, counters,
# pinned memory. In one guest, two paths.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: ynl
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

SESSION=/sys/class/rtrs-client/s1
NAMES=("round-robin (RR: 0)" "min-inflight (MI: 1)" "min-latency (ML: 2)")

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 2
	ram_disk 16 2
	load_server
	load_client
}

setup() { . "$ROOT/tests/vm/disk.bash"; }

teardown() { unmap_all; }

# file_is FILE TEXT: TEXT and a new line, no byte more
file_is() { cmp "$1" - <<<"$2" || fail "$1: '$(<"$1")', not '$2'"; }

map2() { map /dev/ram0 path=ip:10.0.1.1 "$@"; }

# One line for each path: reads, writes, in flight
counters() { awk '{ print $1, $3, $5 }' $SESSION/paths/*/stats/rdma; }

each_policy() {
	local i
	for i in 0 1 2; do
		echo $i >$SESSION/mpath_policy
		"$@" || return
	done
}

@test "mpath_policy: what it shows and takes, under both names" {
	local i text
	map2
	file_is $SESSION/mpath_policy "${NAMES[0]}"
	for i in "0 0" "1 1" "2 2" "0 rr" "1 MI" "2 Ml" "0 round-robin" "1 min-inflight (MI: 1)" "2 MIN-LATENCYthing"; do
		text=${i#* } i=${i%% *}
		echo "$text" >$SESSION/mp_policy
		file_is $SESSION/mpath_policy "${NAMES[i]}"
		file_is $SESSION/mp_policy "${NAMES[i]}"
		echo $(((i + 1) % 3)) >$SESSION/mpath_policy
		printf %s "$text" >$SESSION/mpath_policy
		file_is $SESSION/mp_policy "${NAMES[i]}"
	done
	for text in 3 -1 '' r rrr robin minlatency; do
		write_fails "Invalid argument" $SESSION/mpath_policy "$text"
	done
	[ "$(stat -c %a $SESSION/mpath_policy $SESSION/mp_policy $SESSION/max_reconnect_attempts | xargs)" = "644 644 644" ]
}

@test "max_reconnect_attempts: -1 to 9999" {
	local n
	map2
	file_is $SESSION/max_reconnect_attempts -1
	for n in 0 9999 -1 17; do
		echo $n >$SESSION/max_reconnect_attempts
		file_is $SESSION/max_reconnect_attempts $n
	done
	for n in -2 10000 '' x 0x10 1.5; do
		write_fails "Invalid argument" $SESSION/max_reconnect_attempts "$n"
	done
	write_fails "out of range" $SESSION/max_reconnect_attempts 4294967296
	file_is $SESSION/max_reconnect_attempts 17
}

@test "session-set: reply, event, errors" {
	map2
	run -0 ynl --listen session do session-set '{"name":"s1","mp-policy":"min-latency","max-reconnect-attempts":12}'
	jqe '.reply."mp-policy" == "min-latency" and .reply."max-reconnect-attempts" == 12 and .reply.name == "s1"'
	jqe '[.events[].msg | [.event, .state, ."old-state", ."mp-policy", ."max-reconnect-attempts"]] ==
		[["change", "connected", "connected", "min-latency", 12]]'
	file_is $SESSION/mpath_policy "${NAMES[2]}"
	file_is $SESSION/max_reconnect_attempts 12
	run -0 ynl --listen session --shell "echo 1 >$SESSION/mpath_policy; echo 13 >$SESSION/max_reconnect_attempts"
	jqe '[.events[].msg | [."mp-policy", ."max-reconnect-attempts"]] == [["min-inflight", 12], ["min-inflight", 13]]'
	run -0 ynl do session-set '{"name":"s1","mp-policy":"round-robin","max-reconnect-attempts":10000}'
	jqe '.error.errno == 22 and .error.text == "attempts to reconnect: 10000 is not in -1..9999" and
		.error.attribute == ".max-reconnect-attempts"'
	run -0 ynl do session-set '{"name":"s1","max-reconnect-attempts":-2}'
	jqe '.error.errno == 22'
	# All of it or nothing
	file_is $SESSION/mpath_policy "${NAMES[1]}"
	run -0 ynl do session-set '{"name":"s2","max-reconnect-attempts":1}'
	jqe '.error.errno == 2'
}

@test "map with a policy" {
	run -0 ynl do map '{"session-name":"s1","device-path":"/dev/ram0","mp-policy":"min-inflight","path":[
		{"server-addr":"020004d20a0000010000000000000000"},{"server-addr":"020004d20a0001010000000000000000"}]}'
	jqe '.reply.name == "rnbd0"'
	file_is $SESSION/mpath_policy "${NAMES[1]}"
}

loads() {
	fio --filename="/dev/$disk" --rw=randrw --bsrange=512-120k --verify=crc32c --verify_fatal=1 --direct=1 --ioengine=libaio \
		--iodepth=16 --name=v --size=2m --minimal >/run/tmp/fio || { cat /run/tmp/fio; return 1; }
	same_contents "/dev/$disk" /dev/ram0 || return
	# Each path had its part, and nothing is in flight
	awk '$1 + $2 == 0 || $3 != 0 { bad = 1 } END { exit bad || NR != 2 }' <(counters) || fail "$(counters)"
}

@test "every policy: the data is right, both paths carry requests, none is left in flight" {
	local disk
	disk=$(map2)
	each_policy loads
}

# Without a process, which takes its time beside fio: what is in flight on each path, added up in $in_flight. Never more than the
# depth, as a sum that wrapped would be, and never less than nothing.
in_flight() {
	local file n
	in_flight=0
	for file in $SESSION/paths/*/stats/rdma; do
		read -r _ _ _ _ n _ <"$file" && ((n >= 0 && n <= 64)) || fail "$file: $(<"$file")" || return
		in_flight=$((in_flight + n))
	done
}

under_load() { in_flight && ((in_flight > 0)); }

reset_often() {
	local i file in_flight
	await 60 under_load || return
	for ((i = 0; i < 20; i++)); do
		for file in $SESSION/paths/*/stats/{reset_all,rdma}; do echo 1 >"$file" || return; done
		in_flight || return
	done
	await 60 under_load
}

@test "every policy: a reset under load does not touch what is in flight" {
	local disk pid
	disk=$(map2)
	fio --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=r --time_based --runtime=900 \
		--minimal >/dev/null 3>&- & pid=$!
	each_policy reset_often
	kill $pid
	wait $pid || :
	[ "$(counters | awk '{ print $3 }' | xargs)" = "0 0" ]
	# Neither path looks busier than it is
	echo mi >$SESSION/mpath_policy
	fio --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=r --size=2m --minimal \
		>/dev/null
	counters | awk '$1 < 100 { print; exit 1 }'
}

@test "the policy is changed under load" {
	local disk pid i
	disk=$(map2)
	fio --filename="/dev/$disk" --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=w --size=4m --verify=crc32c \
		--verify_fatal=1 --minimal >/run/tmp/fio 3>&- & pid=$!
	for ((i = 0; i < 60; i++)); do
		echo $((i % 3)) >$SESSION/mpath_policy
	done
	wait $pid
	[ "$(counters | awk '{ print $3 }' | xargs)" = "0 0" ]
	same_contents "/dev/$disk" /dev/ram0
}

@test "counters: their files, to the byte" {
	local disk stats file zero value
	disk=$(map2)
	stats=$(echo $SESSION/paths/*@ip:10.0.0.1/stats)
	zero=$(printf '0 %.0s' $(seq "$(nproc --all)"))
	dd if="/dev/$disk" of=/dev/null bs=4k count=64 iflag=direct status=none
	dd if=/dev/zero of="/dev/$disk" bs=8k count=64 oflag=direct status=none
	[[ $(<"$stats/rdma") =~ ^[0-9]+\ [0-9]+\ [0-9]+\ [0-9]+\ 0\ 0$ ]]
	[[ $(<"$stats/cpu_migration_from") =~ ^([0-9]+\ )+$ ]]
	[ "$(wc -w <"$stats/cpu_migration_to")" -eq "$(nproc --all)" ]
	file_is "$stats/reconnects" "0 0"
	[ "$(wc -l <"$stats/reset_all")" -eq 1 ]
	# 26 bytes of message and 6 of padding count with the data
	cat $SESSION/paths/*/stats/rdma
	echo 1 | tee $SESSION/paths/*/stats/rdma >/dev/null
	dd if=/dev/zero of="/dev/$disk" bs=8k count=64 oflag=direct status=none
	[ "$(awk '{ n += $3; b += $4 } END { print n, b }' $SESSION/paths/*/stats/rdma)" = "64 $((64 * (8192 + 32)))" ]
	for file in rdma reconnects cpu_migration_from cpu_migration_to reset_all; do
		[ "$(stat -c %a "$stats/$file")" = 644 ]
		for value in 2 x 11 '' '1 1'; do
			write_fails "Invalid argument" "$stats/$file" "$value"
		done
		printf 1 >"$stats/$file"
	done
	file_is "$stats/rdma" "0 0 0 0 0 0"
	file_is "$stats/cpu_migration_from" "$zero"
	file_is "$stats/cpu_migration_to" "$zero"
}

@test "files of a path; its latency is 0 before the first heartbeat is answered" {
	local dir=$SESSION/paths/ip:10.0.0.1@ip:10.0.0.1
	map /dev/ram0 heartbeat_interval_ms=60000
	file_is "$dir/cur_latency" "0 ns"
	file_is "$dir/state" connected
	file_is "$dir/hca_name" rxe0
	file_is "$dir/hca_port" 1
	file_is "$dir/src_addr" ip:10.0.0.1
	file_is "$dir/dst_addr" ip:10.0.0.1
	echo 200 >$SESSION/heartbeat_interval_ms
	await 15 grep -qx '[1-9][0-9]* ns' "$dir/cur_latency"
	echo 60000 >$SESSION/heartbeat_interval_ms
	echo 1 >"$dir/reconnect"
	file_is "$dir/cur_latency" "0 ns"
	[ "$(cd "$dir" && stat -c %a state hca_name hca_port src_addr dst_addr cur_latency | sort -u)" = 444 ]
}

# maps PATH..: in the background, over paths of which one does not connect: PID
maps() {
	bash -c 'exec echo "sessname=s1 $* device_path=/dev/ram0" >'$CTL/map_device - "${@/#/path=}" 2>/dev/null 3>&- & PID=$!
	await 10 test -e $SESSION/paths
}

@test "directories: that of a session is there before its paths connect, that of a path when it is connected, both to its end" {
	local paths=$SESSION/paths
	ip neigh add 10.0.1.77 lladdr 02:00:00:00:00:77 dev dummy1
	maps ip:10.0.1.77
	file_is $SESSION/max_reconnect_attempts -1
	[ -z "$(ls $paths)" ]
	kill -9 $PID
	ends_badly $PID
	[ ! -e $SESSION ]
	maps ip:10.0.0.1 ip:10.0.1.77
	await 10 test -e $paths/ip:10.0.0.1@ip:10.0.0.1/stats
	file_is $paths/ip:10.0.0.1@ip:10.0.0.1/state connected
	[ "$(ls $paths)" = ip:10.0.0.1@ip:10.0.0.1 ]
	kill -9 $PID
	ends_badly $PID
	[ ! -e $SESSION ]
	ip neigh del 10.0.1.77 dev dummy1
	# A comma is as good as @
	map /dev/ram0 path=ip:10.0.1.1,ip:10.0.1.1
	echo ip:fd00:1::1,ip:fd00:1::1 >$SESSION/add_path
	[ "$(ls $paths | xargs)" = "ip:10.0.0.1@ip:10.0.0.1 ip:10.0.1.1@ip:10.0.1.1 ip:fd00:1::1@ip:fd00:1::1" ]
	echo 1 >$paths/ip:fd00:1::1@ip:fd00:1::1/remove_path
	[ "$(ls $paths | xargs)" = "ip:10.0.0.1@ip:10.0.0.1 ip:10.0.1.1@ip:10.0.1.1" ]
}

# The other one is lost, and is back, twice, in which time this one would have been, too
@test "a path that was disconnected is not connected again by itself; a second disconnect is as good; reconnect brings it back" {
	local a=$SESSION/paths/ip:10.0.0.1@ip:10.0.0.1 b=$SESSION/paths/ip:10.0.1.1@ip:10.0.1.1 i
	map2 reconnect_delay_ms=300
	echo 1 >$a/disconnect
	echo 1 >$a/disconnect
	for i in 1 2; do
		echo 1 >/sys/class/rtrs-server/s1/paths/ip:10.0.1.1@*/disconnect
		await 20 grep -q "^$i " $b/stats/reconnects
	done
	file_is $a/state disconnected
	file_is $a/stats/reconnects "0 0"
	echo 1 >$a/reconnect
	file_is $a/state connected
}

# of DIRECTORY: the uevents of what is below it, in turn
of() { grep -F "/virtual/$1" /run/tmp/uevents | xargs; }

@test "uevents: sessions of both ends, add of ours when its paths are there; ctl of both as the modules come and go" {
	local ctl
	uevents /run/tmp/uevents classes
	map2
	await 10 grep -q '^add.*/rtrs-client/s1' /run/tmp/uevents
	unmap_all
	await 10 grep -q '^remove.*/rtrs-server/s1' /run/tmp/uevents
	unload rnbd-client rnbd-server
	load_client
	load_server
	await 10 grep -q '^add.*/rnbd-server/ctl' /run/tmp/uevents
	uevents_end
	cat /run/tmp/uevents
	ctl=/devices/virtual
	[ "$(of rtrs-client/)" = "add@$ctl/rtrs-client/s1 2 remove@$ctl/rtrs-client/s1" ]
	[ "$(of rtrs-server/)" = "add@$ctl/rtrs-server/s1 remove@$ctl/rtrs-server/s1" ]
	[ "$(of rnbd-client/)" = "remove@$ctl/rnbd-client/ctl add@$ctl/rnbd-client/ctl" ]
	[ "$(of rnbd-server/)" = "remove@$ctl/rnbd-server/ctl add@$ctl/rnbd-server/ctl" ]
}

@test "pinned memory is told, for each path, and grows with the slots; G11: queue pairs are counted as adapters make them" {
	local one two disk
	map /dev/ram0
	run -0 ynl do session-get '{"name":"s1"}'
	one=$(jq '.reply."pinned-bytes"' <<<"$output")
	unmap_all
	map2
	run -0 ynl do session-get '{"name":"s1"}'
	two=$(jq '.reply."pinned-bytes"' <<<"$output")
	# 512 slots of a message, 1 KiB, and a list of 32 pages at least; a send queue
	[ "$one" -gt $((512 * (1024 + 256) + (1 << 20))) ]
	[ "$two" -eq $((2 * one)) ]
	unmap_all
	mode sess_queue_depth=128
	map /dev/ram0
	run -0 ynl do session-get '{"name":"s1"}'
	[ "$(jq '.reply."pinned-bytes"' <<<"$output")" -eq $((one / 4)) ]
	unmap_all
	# Of many connections each takes less: these write as well
	for two in 64 65; do
		"$ADM" session add s$two --path ip:10.0.0.1 --connections $two
	done
	adm_is '[.sessions[] | select(.role == "client") | .pinned_bytes] | .[0] > .[1]' session list
	disk=$(map /dev/ram0 sessname=s65)
	dd if=/dev/urandom of="/dev/$disk" bs=124k count=20 oflag=direct status=none
	same_contents "/dev/$disk" /dev/ram0
	unmap_all
	"$ADM" session remove s64
	"$ADM" session remove s65
	mode
}

reads() { dd if="$1" of=/dev/null bs=4k count=1 iflag=direct status=none; }

# What the session s1 pins at the server, in bytes
pinned() { ynl do session-get '{"name":"s1","role":"server"}' | jq '.reply."pinned-bytes"'; }

pins() { [[ $(pinned) == "$1" ]]; }

# measure SLOTS [PARAMETER..]: $one and $two, what a session pins with one path and with two
measure() {
	mode sess_queue_depth="$1" "${@:2}"
	map /dev/ram0
	one=$(pinned)
	all_closed
	map2
	two=$(pinned)
	all_closed
}

@test "memory: counted with its paths, refused where it is too much, given back" {
	local one two
	measure 64
	((one > 16 * 131072 && one < 2 * 16 * 131072))
	((two > one && two < one + 16 * 131072))
	# A path gives back what it took, not the end of the session alone
	map2
	echo 1 >$SESSION/paths/ip:10.0.1.1@ip:10.0.1.1/remove_path
	await 10 pins "$one"
	all_closed

	mode sess_queue_depth=64 max_memory=4
	map /dev/ram0
	dmesg_mark
	map_fails "Cannot allocate memory" sessname=s2 path=ip:10.0.0.1 device_path=/dev/ram1
	[ "$(dmesg_new | grep -c 'a session needs [0-9]* bytes more, available are [0-9]* of 4194304')" -eq 1 ]
	reads /dev/rnbd0
	all_closed
	map /dev/ram1 sessname=s2
	reads /dev/rnbd0
	all_closed
	mode
}

@test "memory: a path that is too much is refused, and what it took until then is given back" {
	local one two slots limit i tried=0
	for slots in 128 129; do
		measure $slots max_chunk_size=262144
		((limit = one / 1048576 + 1, two > limit * 1048576)) || continue
		mode sess_queue_depth=$slots max_chunk_size=262144 max_memory=$limit
		map /dev/ram0
		for i in 1 2; do
			write_fails "Cannot allocate memory" $SESSION/add_path ip:10.0.1.1
		done
		[ "$(find $SESSION/paths -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
		await 10 pins "$one"
		reads /dev/rnbd0
		all_closed
		((++tried))
	done
	((tried)) || fail "no depth leaves room for less than a path"
	mode
}

# What the session s1 may come to pin
most() { ynl do session-get '{"name":"s1","role":"server"}' | jq '.reply."pinned-max-bytes"'; }

# load DEPTH [OPTION..]: I/O of that many requests, in the background, $pid; /run/tmp/load ends it
load() {
	: >/run/tmp/load
	fio --name=load --filename=/dev/rnbd0 --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth="$1" --size=16m --time_based \
		--runtime=300 --minimal "${@:2}" >/run/tmp/load.out 2>&1 3>&- &
	pid=$!
}

# load_ends: it has not failed
load_ends() {
	local rc=0
	kill -INT "$pid"
	wait "$pid" || rc=$?
	[[ $rc == 0 || $rc == 128 ]] || { cat /run/tmp/load.out; return 1; }
	[[ $(sed -n 's/^3;//p' /run/tmp/load.out | cut -d';' -f4) == 0 ]] || { cat /run/tmp/load.out; return 1; }
}

@test "memory follows use: an idle session pins a sixteenth, grows under load, and is small again" {
	local small most begin
	mode
	# So that requests are in flight, however slow they come
	null_disk lazy size=16 irqmode=2 completion_nsec=500000000 hw_queue_depth=1024
	map /dev/lazy path=ip:10.0.1.1
	small=$(pinned)
	most=$(most)
	echo "pinned $small of $most"
	((small < 9 << 20 && most > 64 << 20))
	adm_is ".clients[0] | .pinned_bytes == $small and .pinned_max_bytes == $most" server client list
	reads /dev/rnbd0
	load 400
	begin=$(date +%s%N)
	await 20 pins "$most" || { pinned; false; }
	echo "grown after $((($(date +%s%N) - begin) / 1000000)) ms"
	# One path is lost, and is back
	echo 1 >/sys/class/rtrs-server/s1/paths/ip:10.0.1.1@*/disconnect
	await 20 grep -q "^1 " $SESSION/paths/ip:10.0.1.1@ip:10.0.1.1/stats/reconnects
	load_ends
	await 20 pins "$most"
	await 60 pins "$small"
	reads /dev/rnbd0
	[ "$(pinned)" -eq "$small" ]
	unmap_all
	mode
	null_disk_gone lazy
}

@test "memory follows use: paths are lost while it grows and shrinks, the data is right" {
	local i
	map2 reconnect_delay_ms=10
	for i in 1 2 3 4 5 6; do
		fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bsrange=512-120k --size=8m --verify=crc32c --direct=1 --ioengine=libaio \
			--iodepth=256 --minimal >/run/tmp/verify.out 2>&1 3>&- &
		pid=$!
		echo 1 >/sys/class/rtrs-server/s1/paths/ip:10.0.$((i % 2)).1@*/disconnect
		wait $pid || { cat /run/tmp/verify.out; false; }
		await 20 grep -q "^$(((i + 1) / 2)) " $SESSION/paths/ip:10.0.$((i % 2)).1@*/stats/reconnects
	done
	(($(pinned) > 8 << 20))
	unmap_all
}

# A session that is idle gives back slots within 30 s; this one takes any slot for a request, and must not
@test "memory follows use: of a server that is back with fewer slots an idle session keeps all" {
	local all end
	map /dev/ram0 reconnect_delay_ms=10
	rmmod rnbd-server rtrs-server
	load_server sess_queue_depth=64
	await 30 reads /dev/rnbd0
	all=$(pinned)
	end=$((SECONDS + 32))
	await 60 eval "((SECONDS >= end))"
	[ "$(pinned)" -eq "$all" ]
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bs=4k --size=4m --verify=crc32c --direct=1 --ioengine=libaio --iodepth=64 \
		--minimal
	grep -q "^1 " $SESSION/paths/*/stats/reconnects
	unmap_all
	mode
}

@test "memory follows use: a growth that is refused slows the session, and fails no request" {
	mode max_memory=8
	map /dev/ram0
	dmesg_mark
	fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bsrange=512-120k --size=16m --verify=crc32c --direct=1 --ioengine=libaio \
		--iodepth=256 --minimal
	(($(pinned) > 5 << 20 && $(pinned) <= 8 << 20))
	[ -z "$(dmesg_new)" ]
	all_closed
	mode
}

# The server keeps 32 MiB for the session, the client gigabytes for so many queues
@test "more memory than there is: refused before it is taken, with both figures" {
	local before
	mode sess_queue_depth=4096 max_chunk_size=8192 always_invalidate=N
	before=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
	run -0 ynl do map '{"session-name":"s1","device-path":"/dev/ram0","connections":1000,"path":[
		{"server-addr":"020004d20a0000010000000000000000"}]}'
	jqe '.error.errno == 12 and (.error.text | test("^a path of 4096 slots needs [0-9]+ KiB, [0-9]+ are available"))'
	[ "$(grep -o 'needs [0-9]*' <<<"$output" | cut -d' ' -f2)" -gt "$before" ]
	[ ! -e $SESSION ]
	await 10 census_even
	mode
	map2
}
