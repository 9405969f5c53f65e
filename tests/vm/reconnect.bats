#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths that are lost and come back, in one guest, or that are given up: an RDMA device is deleted and made again, an
# administrator disconnects them. What I/O does meanwhile, where another path is left and where none is.
# lab: on debug: objects that come and go are judged by KASAN and kmemleak
# lab: on 6.1 for ^(the module of the RDMA devices|G3): the debug kernel has no such module, and no probes
# lab: no sanitizers: its times are of the modules
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	both_ends 32
}

setup() { . "$ROOT/tests/vm/reconnect.bash"; }

teardown() { reconnect_end; }

# lost PATH..: monitor has seen each of them go and come back
lost() {
	jq -es '[.[] | select(.event == "change" and .role == "client" and .changes.state) | "\(.name) \(.old_state)->\(.state)"] as $seen |
		$ARGS.positional | all(. as $path | ["connected->reconnecting", "connecting->connected"] |
			all(. as $change | any($seen[]; . == "\($path) \($change)")))' --args "$@" </tmp/events >/dev/null ||
		fail "$(</tmp/events)"
}

@test "an RDMA device is deleted and made again: the path comes back, no I/O fails" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1
	quick
	local i paths=("$SYS"/paths/*)
	record /tmp/events path --diff
	fio_start
	timeout 60 rdma link delete rxe1
	await 20 paths_up 1
	rxe_add rxe1 dummy1
	await 30 paths_up 2
	timeout 60 rdma link delete rxe0
	await 20 paths_up 1
	rxe_add rxe0 dummy0
	await 30 paths_up 2
	fio_end
	await 10 lost "${paths[@]##*/}"
	record_end /tmp/events
	adm_is 'all(.stats[].counters; .reconnects_ok == 1)' stats
	for i in 0 1; do
		[[ $(<"${paths[i]}/stats/reconnects") == "1 "* ]]
		echo $i >"${paths[i]}/stats/reconnects"
		[ "$(<"${paths[i]}/stats/reconnects")" = "0 0" ]
	done
}

@test "the module of the RDMA devices is unloaded and loaded again: the paths come back, I/O waits and goes on" {
	grep -q '^rdma_rxe ' /proc/modules || skip "rdma_rxe is no module of this kernel"
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	fio_start
	timeout 60 rmmod rdma_rxe
	paths_up 0
	rxe_add rxe0 dummy0
	rxe_add rxe1 dummy1
	await 30 paths_up 2
	fio_end
	adm_is 'all(.stats[].counters; .reconnects_ok == 1)' stats
}

@test "paths are added, removed, disconnected, reconnected and recovered by sysfs and by rnbdadm while I/O runs" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	fio_start
	echo ip:10.0.1.1 >$SYS/add_path
	paths_up 2
	local a=("$SYS"/paths/ip:10.0.0.1*)
	echo 1 >"$a/disconnect"
	paths_up 1
	echo 1 >"$a/reconnect"
	paths_up 2
	echo 1 >"$a/remove_path"
	[[ ! -e $a ]]
	paths_up 1
	run -1 bash -c "echo ip:10.0.1.1 >$SYS/add_path"
	[[ $output == *"File exists"* ]]
	echo ip:fd00:0::1 >$SYS/add_path
	paths_up 2

	"$ADM" path add s1 ip:10.0.0.1
	paths_up 3
	"$ADM" path remove s1 ip:10.0.1.1@ip:10.0.1.1
	paths_up 2
	"$ADM" path disconnect s1 ip:10.0.0.1@ip:10.0.0.1
	paths_up 1
	"$ADM" path reconnect s1 ip:10.0.0.1@ip:10.0.0.1
	paths_up 2
	"$ADM" path disconnect s1 ip:fd00::1@ip:fd00::1
	paths_up 1
	"$ADM" recover s1
	paths_up 2
	fio_end
}

# carries PATH: requests go over it from now on
carries() {
	echo 1 >"$1/stats/rdma"
	await 30 grep -qE '^[1-9][0-9]+ ' "$1/stats/rdma"
}

@test "polled I/O takes every path, waits where none is left, goes on, and fails where it may not wait" {
	local a b
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --poll-queues 1 --no-path-timeout forever
	[ "$(</sys/block/rnbd0/queue/io_poll)" = 1 ]
	quick
	echo ip:10.0.1.1 >$SYS/add_path
	a=$(echo $SYS/paths/ip:10.0.0.1*)
	b=$(echo $SYS/paths/ip:10.0.1.1*)
	fio_start --ioengine=io_uring --hipri
	carries "$a"
	carries "$b"
	echo 1 >"$a/disconnect"
	paths_up 1
	carries "$b"
	echo 1 >"$b/disconnect"
	paths_up 0
	echo 1 >"$a/reconnect"
	carries "$a"
	echo 1 >"$b/remove_path"
	fio_end

	"$ADM" session set s1 --no-path-timeout 0
	fio_start --ioengine=io_uring --hipri
	carries "$a"
	echo 1 >"$a/disconnect"
	ends_badly $FIO
}

# Between the end of an attempt to connect again and the next one, in ms
pauses() {
	jq -rs '[.[] | select(.event == "change" and .role == "client" and (.state == "connecting" or .state == "reconnecting"))] |
		[., .[1:]] | transpose | [.[] | select(.[0].state == "reconnecting" and .[1].state == "connecting")][1:][] |
		(.[1].monotonic_ns - .[0].monotonic_ns) / 1000000 | floor' /tmp/events
}

paused() { (($(pauses | wc -l) >= $1)); }

@test "no path is left: I/O waits, attempts are ever farther between, up to the maximum, and I/O goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --reconnect-delay 100ms --reconnect-delay-max 1s --no-path-timeout forever
	record /tmp/events path
	fio_start
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	adm_is '.devices[0].state == "disconnected"' device list
	await 30 paused 5
	record_end /tmp/events
	pauses >/tmp/pauses
	echo "# pauses between attempts: $(xargs </tmp/pauses) ms" >&3
	# Twice as long each time, a quarter more or less
	awk -v slow="${LAB_SLOW:-1}" '{ ms = 100 * 2 ^ NR; if (ms > 1000) ms = 1000 }
		$1 < ms * 3 / 4 - 20 || $1 > ms * 5 / 4 + 500 * slow { exit bad = 1 } END { exit bad }' /tmp/pauses
	rxe_add rxe0 dummy0
	await 30 paths_up 1
	await 20 adm_is '.devices[0].state == "mapped"' device list
	# The same by hand
	run -7 "$ADM" path disconnect --all
	paths_up 1
	"$ADM" path disconnect --all --force
	paths_up 0
	"$ADM" path reconnect --all
	paths_up 1
	await 20 adm_is '.devices[0].state == "mapped"' device list
	fio_end
}

# wait_is MS [FILE VALUE]: a read waits for a path for ever, then it may wait for as long as this from the loss on, whatever else is
# set after two seconds. How long it was after the loss, or for 0 after that was set, is in $took, in ms.
wait_is() {
	local pid t0
	echo -1 >$SYS/no_path_timeout_ms
	t0=${EPOCHREALTIME/./}
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct 3>&- & pid=$!
	await 10 asleep $pid
	(($1)) || t0=${EPOCHREALTIME/./}
	echo "$1" >$SYS/no_path_timeout_ms
	if (($# > 1)); then
		await 10 eval "((\${EPOCHREALTIME/./} - $t0 > 2000000))"
		echo "$3" >"$SYS/$2"
	fi
	await 10 dead $pid
	ends_badly $pid
	took=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "# no-path-timeout is $1 ms while a read waits: it failed $took ms later" >&3
	rxe_add rxe0 dummy0
	await 20 adm_is '.devices[0].state == "mapped"' device list
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
}

@test "no path is left: I/O fails when the time is over, which is changed while it waits, and works when the path is back" {
	local took
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	wait_is 1500
	((took >= 1400 && took < 1500 + 3000 * ${LAB_SLOW:-1}))
	wait_is 4500 heartbeat_interval_ms 4000
	((took >= 4400 && took < 4500 + 1500 * ${LAB_SLOW:-1}))
	wait_is 0
	((took < 2500 * ${LAB_SLOW:-1}))
}

@test "no path is left, and nothing waits: reads and writes that are under way fail at once; the disk works when the path is back" {
	local t0 took
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	fio --name=rw --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=16 --rw=randrw --bs=4k --size=16m --time_based \
		--runtime=60 >/tmp/fio.out 2>&1 3>&- & FIO=$!
	await 30 io_done rnbd0 50
	t0=${EPOCHREALTIME/./}
	timeout 60 rdma link delete rxe0
	ends_badly $FIO
	took=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "# no-path-timeout is 0: reads and writes under way failed $took ms after the loss began" >&3
	((took < 5000 * ${LAB_SLOW:-1}))
	grep -q "Input/output error" /tmp/fio.out
	rxe_add rxe0 dummy0
	await 20 adm_is '.devices[0].state == "mapped"' device list
	dd if=/dev/zero of=/dev/rnbd0 bs=64k count=16 oflag=direct
}

@test "no path is left: I/O fails at once; told to wait after all, it waits and goes on" {
	local pid
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	run -1 dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	echo -1 >$SYS/no_path_timeout_ms
	await 10 eval '
		dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null 3>&- & pid=$!
		await 2 asleep $pid 2>/dev/null'
	rxe_add rxe0 dummy0
	wait $pid
}

@test "no path is left, and I/O waits: udev hears offline at the loss, online when the device is open again, each time" {
	local pid i
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --no-path-timeout -1
	quick
	uevents /run/tmp/uevents
	for i in 1 2; do
		timeout 60 rdma link delete rxe0
		await 20 eval "((\$(grep -c offline /run/tmp/uevents) == $i))"
		dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none 3>&- & pid=$!
		await 10 asleep $pid
		rxe_add rxe0 dummy0
		wait $pid
		await 20 eval "((\$(grep -c online /run/tmp/uevents) == $i))"
	done
	uevents_end
	[ "$(grep -v change /run/tmp/uevents | xargs)" = "ready offline online offline online" ]
}

# On Linux 6.12 that takes the lock of the limits, and waits for requests that wait for the path
@test "no path is left, I/O waits, and a limit of the queue is written: all goes on when the path is back" {
	local reader writer
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --no-path-timeout forever
	quick
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	await 10 state_is rnbd0 closed
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none 3>&- & reader=$!
	await 10 asleep $reader
	echo 64 >/sys/block/rnbd0/queue/max_sectors_kb 3>&- & writer=$!
	await 10 eval "dead $writer || asleep $writer"
	rxe_add rxe0 dummy0
	await 20 dead $reader
	wait $reader
	await 10 dead $writer
	wait $writer
	[ "$(</sys/block/rnbd0/queue/max_sectors_kb)" -eq 64 ]
	await 10 eval '"$ADM" unmap rnbd0'
}

@test "unmap --force ends I/O that waits" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct &
	local pid=$!
	await 20 asleep $pid
	"$ADM" unmap rnbd0 --force
	ends_badly $pid
	rxe_add rxe0 dummy0
}

by_hand() { echo 1 >"$1"; } 2>/dev/null

@test "attempts to reconnect are counted; by hand it goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo 2 >$SYS/max_reconnect_attempts
	timeout 60 rdma link delete rxe0
	await 30 adm_is '.paths[0].state == "disconnected"' path list
	grep -q '^0 2$' $SYS/paths/*/stats/reconnects
	local path=("$SYS"/paths/*)
	run -1 bash -c "echo 1 >'$path/reconnect'"
	[[ $output == *"endpoint is not connected"* ]]
	# That one was the first of two
	await 10 grep -q '^0 4$' $SYS/paths/*/stats/reconnects
	await 10 adm_is '.paths[0] | .state == "disconnected" and .reconnect_attempts == 2' path list
	rxe_add rxe0 dummy0
	# It may be at an attempt of its own, as its device is back
	await 20 by_hand "$path/reconnect"
	paths_up 1
	echo 0 >$SYS/max_reconnect_attempts
	# Beside it one that goes on, more slowly by far: it comes back twice, the second time when the device has long been there
	"$ADM" session add held --path ip:10.0.0.1 --reconnect-delay 2s --reconnect-delay-max 2s
	local other=(/sys/class/rtrs-client/held/paths/*) counts
	timeout 60 rdma link delete rxe0
	await 20 adm_is '.paths[0].state == "disconnected"' path list --session s1
	counts=$(<"$path/stats/reconnects")
	[[ $counts == "1 "[45] ]] || fail "$counts"
	rxe_add rxe0 dummy0
	await 30 grep -q '^1 ' "$other/stats/reconnects"
	"$ADM" server client disconnect held --force
	await 30 grep -q '^2 ' "$other/stats/reconnects"
	adm_is '.paths[0].state == "disconnected"' path list --session s1
	[ "$(<"$path/stats/reconnects")" = "$counts" ]
}

@test "G2: while a port is down attempts to connect leave no CM ids" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --reconnect-delay 100ms --reconnect-delay-max 100ms
	local before
	before=$(rdma resource show cm_id | wc -l)
	ip link set dummy0 down
	"$ADM" server client disconnect s1 --force
	await 60 eval "(( \$(awk '{ print \$2 }' $SYS/paths/*/stats/reconnects) >= 20 ))"
	rdma resource show cm_id >/run/tmp/ids
	(($(wc -l </run/tmp/ids) <= before)) || fail "$before were there: $(</run/tmp/ids)"
	ip link set dummy0 up
	await 30 paths_up 1
}

# hits EVENT: how often a probe was met
hits() { awk -v event="$1" '$1 == event { print $2 }' /sys/kernel/tracing/kprobe_profile; }

opened_again() { (($(dmesg_new | grep -c "mapped /dev/many/.* again") == $1)); }

# Each of them takes as long as a grace period, and it was one for each disk
@test "G3: disks of a session that is back are opened again without a grace period for each of them" {
	local probes=/sys/kernel/tracing/kprobe_events i wait
	[[ -e $probes ]] || skip "this kernel has no probes"
	mkdir -p /dev/many
	for i in {1..20}; do
		cp -a /dev/ram0 /dev/many/$i
		echo "sessname=s1 path=ip:10.0.0.1 device_path=/dev/many/$i access_mode=ro" >/sys/class/rnbd-client/ctl/map_device
	done
	printf '%s\n' "p:periods synchronize_rcu" "p:freezes blk_freeze_queue_start" >$probes
	for wait in 0 -1; do
		dmesg_mark
		echo $wait >$SYS/no_path_timeout_ms
		echo 1 >/sys/kernel/tracing/events/kprobes/enable
		"$ADM" path reconnect s1 --force
		await 30 opened_again 20
		echo 0 >/sys/kernel/tracing/events/kprobes/enable
		echo "$(hits periods) grace periods, $(hits freezes) queues frozen"
		(($(hits freezes) == 0 && $(hits periods) < 15))
	done
	echo >$probes
	rm -r /dev/many
}

@test "settings hold at once for a path that is lost: the delay, the attempts; one that was given up stays so" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --reconnect-delay 10m --reconnect-delay-max 10m
	timeout 60 rdma link delete rxe0
	await 20 adm_is '.paths[0].state == "reconnecting"' path list
	rxe_add rxe0 dummy0
	"$ADM" session set s1 --reconnect-delay 100ms --reconnect-delay-max 200ms
	await 20 paths_up 1
	"$ADM" session set s1 --reconnect-delay 10m --reconnect-delay-max 10m
	timeout 60 rdma link delete rxe0
	await 20 adm_is '.paths[0].state == "reconnecting"' path list
	echo 0 >$SYS/max_reconnect_attempts
	await 10 adm_is '.paths[0].state == "disconnected"' path list
	rxe_add rxe0 dummy0
	"$ADM" session set s1 --max-reconnect-attempts -1 --reconnect-delay 100ms --reconnect-delay-max 200ms
	adm_is '.paths[0].state == "disconnected"' path list
	"$ADM" path reconnect s1
	paths_up 1
}

@test "a path that is being connected is busy; disconnect ends that" {
	ip addr add 10.0.1.2/24 dev dummy1
	await 10 grep -qs 0a00:0102 /sys/class/infiniband/rxe1/ports/1/gids/*
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1@ip:10.0.1.2
	local path=$SYS/paths/ip:10.0.1.1@ip:10.0.1.2 pid
	echo 1 >"$path/disconnect"
	# Elsewhere now, where nobody answers
	ip addr del 10.0.1.2/24 dev dummy1
	ip neigh add 10.0.1.2 lladdr 02:00:00:00:00:77 dev dummy1
	bash -c "echo 1 >'$path/reconnect'" 3>&- &
	pid=$!
	await 10 adm_is '[.paths[].state] == ["connected", "connecting"]' path list
	run -1 bash -c "echo 1 >'$path/reconnect'"
	[[ $output == *"resource busy"* ]]
	echo 1 >"$path/disconnect"
	ends_badly $pid
	adm_is '[.paths[].state] == ["connected", "disconnected"]' path list
	ip neigh del 10.0.1.2 dev dummy1
}

@test "the last path may go; the session stays, and takes another" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	echo -1 >$SYS/no_path_timeout_ms
	fio_start
	local path=("$SYS"/paths/*)
	echo 1 >"$path/remove_path"
	adm_is '.sessions[0] | .paths_configured == 0 and .state == "disconnected"' session list
	echo ip:fd00:1::1 >$SYS/add_path
	fio_end
}

@test "settings: what is out of range is refused, the rest is told" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	local file value
	while read -r file value; do
		run -1 bash -c "echo $value >$SYS/$file"
	done <<-END
		heartbeat_interval_ms 199
		heartbeat_interval_ms 60001
		heartbeat_misses 1
		heartbeat_misses 101
		reconnect_delay_ms 9
		reconnect_delay_ms -1
		reconnect_delay_max_ms 600001
		connect_timeout_ms 99
		io_timeout_ms 999
		io_timeout_ms -1
		no_path_timeout_ms -2
		max_reconnect_attempts -2
		max_reconnect_attempts 10000
		max_reconnect_attempts x
	END
	echo 200 >$SYS/heartbeat_interval_ms
	echo 2 >$SYS/heartbeat_misses
	adm_is '.sessions[0] | .heartbeat_interval_ms == 200 and .heartbeat_misses == 2 and .reconnect_delay_ms == 1000 and
		.reconnect_delay_max_ms == 30000 and .connect_timeout_ms == 30000 and .io_timeout_ms == 0 and
		.no_path_timeout_ms == 0 and .max_reconnect_attempts == -1 and .held == false' session list
}

@test "bad words for paths: EINVAL, and nothing has changed" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	local path=("$SYS"/paths/*) word file
	for word in 10.0.1.1 ip: ip:10.0.1.1,ip:fd00::1 ip:1.2.3 x; do
		write_fails "Invalid argument" $SYS/add_path "$word"
	done
	for word in 0 2 yes; do
		for file in reconnect disconnect remove_path; do
			write_fails "Invalid argument" "$path/$file" $word
		done
	done
	paths_up 1
}

@test "a path that cannot be added can be waited for no longer: a signal ends it" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	ip neigh add 10.0.1.77 lladdr 02:00:00:00:00:77 dev dummy1
	bash -c "echo ip:10.0.1.1@ip:10.0.1.77 >$SYS/add_path" &
	local pid=$!
	await 10 adm_is '[.paths[].state] | any(. == "connecting")' path list
	kill -9 $pid
	ends_badly $pid
	await 20 adm_is '.sessions[0].paths_configured == 1' session list
	ip neigh del 10.0.1.77 dev dummy1
}

@test "a session without a device" {
	"$ADM" session add held --path ip:10.0.0.1 --path ip:fd00:1::1
	adm_is '.sessions[0] | .held and .devices_mapped == 0 and .paths_connected == 2' session list
	run -6 "$ADM" session add held --path ip:10.0.0.1
	"$ADM" map /dev/ram0 --session held
	run -7 "$ADM" session remove held
	"$ADM" unmap rnbd0
	adm_is '.sessions[0].held' session list
	run -1 rmmod rnbd-client
	"$ADM" session remove held
	adm_is '.sessions == []' session list
}
