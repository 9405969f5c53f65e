#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Sessions, their settings and their paths by the admin tool, and monitor and wait on the events of a real kernel; both sides on
# one host. The tests build on each other.
# lab: on debug: the tool and both ends are one-CPU logic, for KASAN, lockdep and kmemleak
# lab: timeout 900
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 2
	ram_disk 32
	load_server
	load_client
	"$ADM" monitor -j --diff --full >/run/tmp/events 2>/run/tmp/events.err 3>&- &
	echo $! >/run/tmp/monitor
	await 20 grep -q '"event":"sync"' /run/tmp/events
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	P1=ip:10.0.0.1@ip:10.0.0.1
	P2=ip:10.0.1.1@ip:10.0.1.1
}

# told FILTER: monitor has a line that passes
told() { jq -es "any(.[]; $1)" /run/tmp/events >/dev/null; }

@test "session add: it is there without a device, with what it was told" {
	adm 0 session add s1 --path $P1 --connections 1 --no-path-timeout 30s --heartbeat-interval 1s --mp-policy min-inflight
	[ -z "$output$stderr" ]
	adm_is '.sessions[0] | .name == "s1" and .state == "connected" and .held == true and .no_path_timeout_ms == 30000 and
		.heartbeat_interval_ms == 1000 and .heartbeat_misses == 5 and .mp_policy == "min-inflight" and .devices_mapped == 0' \
		session show s1
	refused 6 conflict "exists already" session add s1 --path $P1
	adm 0 session add s1 --path $P1 --idempotent
	await 10 told '.event == "create" and .object == "session" and .name == "s1"'
	await 10 told '.event == "create" and .object == "client"'
	refused 1 failed "does not listen on port 999" session add s2 --path 10.0.0.1 --dest-port 999
	adm_is '.sessions | length == 1' session list
}

@test "session add: a device is mapped over it, and it outlives the device" {
	adm 0 map /dev/ram0 --session s1
	adm 0 unmap rnbd0
	adm_is '.sessions[0] | .state == "connected" and .devices_mapped == 0' session show s1
	refused 6 conflict "keeps its settings" map /dev/ram0 --session s1 --io-timeout 5s
	refused 6 conflict "keeps its settings" map /dev/ram0 --session s1 --poll-queues 1
	refused 6 conflict "keeps its settings" map /dev/ram0 --session s1 --mp-policy min-latency
	adm 0 map /dev/ram0 --session s1
	[ "$output" = /dev/rnbd0 ]
}

@test "a device is mapped over a session with poll queues, of which nothing is said" {
	local disk
	adm 0 session add polled --path $P2 --poll-queues 1
	adm 0 map /dev/ram0 --session polled --access ro
	disk=$output
	adm_is '.devices[0].poll_queues == 1' device show "$disk"
	refused 6 conflict "keeps its settings" map /dev/ram1 --session polled --poll-queues 0
	adm 0 unmap "$disk"
	adm 0 session remove polled
}

@test "session set: the kernel has what was asked for" {
	adm 0 session set s1 --io-timeout 1m --reconnect-delay 100ms --reconnect-delay-max 1s --connect-timeout 5s \
		--heartbeat-misses 3 --max-reconnect-attempts 100 --no-path-timeout forever -j
	jq -e '.changed and (.changes | length == 7)' <<<"$output"
	adm_is '.sessions[0] | [.max_reconnect_attempts, .heartbeat_interval_ms, .heartbeat_misses, .reconnect_delay_ms,
		.reconnect_delay_max_ms, .connect_timeout_ms, .io_timeout_ms, .no_path_timeout_ms] ==
		[100, 1000, 3, 100, 1000, 5000, 60000, -1]' session show s1
	adm 0 session set s1 --mp-policy rr
	adm_is '.sessions[0].mp_policy == "round-robin"' session show s1
}

@test "add-path: the event of it ends a wait" {
	"$ADM" wait s1 --for 'paths>=2' --timeout 120 -j >/run/tmp/wait 3>&- &
	pid=$!
	adm 11 wait s1 --for 'paths>=2' --test
	adm 0 path add s1 $P2
	[ -z "$output$stderr" ]
	wait $pid
	document "$(</run/tmp/wait)"
	jq -e '.met and .object.name == "s1"' /run/tmp/wait
	adm_is '.sessions[0] | .state == "connected" and .paths_connected == 2' session show s1
	refused 6 conflict "has this path already" path add s1 $P2
	adm 0 path add s1 $P2 --idempotent
	refused 10 timeout "192.0.2.1 did not answer in time" path add s1 ip:10.0.0.1@ip:192.0.2.1 --timeout 1s
	adm_is '.sessions[0].paths_configured == 2' session show s1
	await 10 told ".event == \"create\" and .object == \"path\" and .role == \"client\" and .name == \"$P2\""
	await 10 told ".event == \"change\" and .name == \"$P2\" and .old_state == \"connecting\" and .state == \"connected\""
}

@test "disconnect, reconnect: the states before and after are told" {
	adm 0 path disconnect s1 $P2
	adm_is '.paths[] | select(.name == "'$P2'").state == "disconnected"' path list --session s1
	await 10 told ".event == \"change\" and .name == \"$P2\" and .role == \"client\" and .state == \"disconnected\""
	await 10 told '.event == "change" and .object == "session" and .old_state == "connected" and .state == "degraded"'
	refused 7 busy "the last connected path" path disconnect s1 $P1
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none
	adm 0 path reconnect s1 $P2
	adm_is '.sessions[0].state == "connected"' session show s1
	await 10 told '.event == "change" and .object == "session" and .old_state == "degraded" and .state == "connected"'
	# each path in turn, those that are connected, too
	adm 0 path reconnect s1
	adm_is '.sessions[0] | .state == "connected" and .paths_connected == 2' session show s1
	await 10 told ".event == \"change\" and .name == \"$P1\" and .role == \"client\" and .state == \"disconnected\""
}

@test "recover: what is down comes back" {
	adm 0 path disconnect s1 $P2
	adm 0 recover --all -j
	jq -e '.changed and .recovered[0].type == "path" and .failed == []' <<<"$output"
	adm_is '.sessions[0].paths_connected == 2' session show s1
	adm 0 recover --all -j
	jq -e '.changed == false and .recovered == []' <<<"$output"
}

@test "monitor -i: the counters of each path, again and again" {
	adm 0 monitor path --no-snapshot -i 200ms --timeout 2s -j
	jq -es '[.[] | select(.event == "stats")] | group_by([.role, .name]) | length == 4 and all(.[]; length >= 3 and length <= 11) and
		all(.[][]; .counters.read_ios >= 0)' <<<"$output"
}

@test "monitor: its socket has room for 1 MiB of events, whatever the kernel gives everybody" {
	local pid port room found=0
	"$ADM" monitor -j >/run/tmp/room 3>&- &
	pid=$!
	await 20 grep -q '"event":"sync"' /run/tmp/room
	ss -f netlink -m >/run/tmp/sockets
	kill $pid
	wait $pid
	document "$(</run/tmp/room)"
	# the kernel doubles it; what everybody may have is less
	(($(</proc/sys/net/core/rmem_max) < 1 << 20))
	# libnl has the process in the lower 22 bits of the port; ss prints NAME/PID where that is all of it
	while read -r port room; do
		port=${port##*/}
		[[ $port =~ ^-?[0-9]+$ ]] || continue
		(((port & 0x3fffff) != pid || room != 2 << 20)) || found=1
	done < <(sed -nE 's/.* genl:([^ ]+) .*[(,]rb([0-9]+),.*/\1 \2/p' /run/tmp/sockets)
	((found)) || fail "$pid: $(</run/tmp/sockets)"
}

@test "monitor: events that the kernel dropped, and what is there then" {
	local pid i
	"$ADM" monitor session --rcvbuf 4096 -j >/run/tmp/overrun 3>&- &
	pid=$!
	await 20 grep -q '"event":"sync"' /run/tmp/overrun
	kill -STOP $pid
	for ((i = 0; i < 15; i++)); do
		"$ADM" session set s1 --mp-policy mi
		"$ADM" session set s1 --mp-policy rr
	done
	kill -CONT $pid
	await 10 eval '(($(grep -c "\"event\":\"sync\"" /run/tmp/overrun) == 2))'
	adm 0 session set s1 --mp-policy ml
	await 10 grep -q '"new":"min-latency"' /run/tmp/overrun
	kill $pid
	wait $pid
	document "$(</run/tmp/overrun)"
	jq -es 'map(select(.event != "change" or .resync)) | map([.event, .resync]) ==
		[["exists", false], ["sync", false], ["overrun", false], ["exists", true], ["sync", true]]' /run/tmp/overrun
	jq -es '(map(.event) | index("overrun")) as $n | $n < 20 and .[-1].event == "change"' /run/tmp/overrun
	adm 0 session set s1 --mp-policy rr
}

@test "remove-path: the last one stays, unless it is forced" {
	adm 0 path remove s1 $P2
	await 10 told ".event == \"destroy\" and .name == \"$P2\" and .role == \"client\""
	adm_is '.sessions[0].paths_configured == 1' session show s1
	refused 7 busy "the last connected path and 1 device" path remove s1 $P1
	refused 4 not_found "no such path" path remove s1 $P2
	adm 0 path remove s1 $P2 --idempotent
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none
	adm 0 path remove s1 $P1 --force
	adm_is '.sessions[0] | .paths == [] and .state == "disconnected"' session show s1
	adm 0 path add s1 $P1
	await 10 adm_is '.devices[0].state == "mapped"' device list
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none
}

@test "session remove: refused while a device is mapped" {
	refused 7 busy "1 device is mapped" session remove s1
	adm 0 session remove s1 --force
	adm_is '.sessions == []' session list
	adm_is '.devices == []' device list
	await 10 told '.event == "destroy" and .object == "session" and .name == "s1"'
	await 10 told '.event == "destroy" and .object == "client"'
	refused 4 not_found "no such session" session remove s1
	adm 0 session remove s1 --idempotent
}

@test "monitor: nothing came twice, and a signal is its end" {
	jq -es '[.[].seq] == [range(1; length + 1)]' /run/tmp/events
	jq -es 'all(.[]; select(.event == "change" and .changes.state) | .old_state != .state)' /run/tmp/events
	# what is gone at the end is what was made
	jq -cs '[.[] | select(.event == "create") | [.object, .role, .data.id]] - [.[] | select(.event == "destroy") |
		[.object, .role, .data.id]]' /run/tmp/events | tee /run/tmp/left
	[ "$(cat /run/tmp/left)" = "[]" ] || { cat /run/tmp/events; false; }
	kill -TERM "$(cat /run/tmp/monitor)"
	await 10 test ! -e "/proc/$(cat /run/tmp/monitor)"
	[ ! -s /run/tmp/events.err ]
	document "$(</run/tmp/events)"
	"$ADM" monitor 3>&- >/run/tmp/int &
	pid=$!
	await 20 grep -q sync /run/tmp/int
	kill -INT $pid
	wait $pid
}

@test "monitor: the modules are unloaded" {
	"$ADM" monitor -j 3>&- >/run/tmp/lost 2>/run/tmp/lost.err &
	pid=$!
	"$ADM" monitor path --follow -j 3>&- >/run/tmp/follow &
	follow=$!
	await 20 grep -q sync /run/tmp/lost
	await 20 grep -q sync /run/tmp/follow
	unload_all
	rc=0
	wait $pid || rc=$?
	[ "$rc" = 8 ]
	document "$(</run/tmp/lost)"
	jq -es '.[-2].event == "lost" and .[-1].error.code == "unavailable"' /run/tmp/lost
	grep -q "modules were unloaded" /run/tmp/lost.err
	# the other waits for them
	await 10 grep -q '"event":"lost"' /run/tmp/follow
	load_server
	load_client
	await 10 eval '(($(grep -c "\"event\":\"sync\"" /run/tmp/follow) == 2))'
	adm 0 session add s1 --path $P1
	await 10 eval '(($(grep -c "\"event\":\"create\"" /run/tmp/follow) == 2))'
	kill $follow
	wait $follow
	document "$(</run/tmp/follow)"
	jq -es 'map(select(.event != "change") | [.event, .role, .resync]) == [["sync", null, false], ["lost", null, false],
		["sync", null, true], ["create", "client", false], ["create", "server", false]]' /run/tmp/follow
	adm 0 session remove s1
}
