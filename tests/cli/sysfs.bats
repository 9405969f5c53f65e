#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# --backend sysfs: what the files of the in-tree drivers tell, who have no netlink family.
# shellcheck shell=bats disable=SC2154,SC2034

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	load sysfs-tree
	sysfs_host
}

@test "sessions: text and JSON" {
	adm 0 session list
	golden sysfs-session-list.txt
	adm 0 session list --stats --details -j
	golden sysfs-session-list.json
	[ "$(jqv .backend)" = sysfs ]
	[ "$(jqc '[.sessions[] | .state, .mp_policy, .max_reconnect_attempts, .devices_mapped]')" = \
		'["degraded","min-latency",-1,2,"connected","min-inflight",5,1]' ]
	adm 0 session show cl1@srv1
	fails 4 not_found session show cl1@srv2
	adm 0 session show "$ODD" -j
	[ "$(jqv '.sessions[0].name_hex')" = 6f3a642c64ff ]
}

@test "a session may be called paths" {
	tree_session paths round-robin -1
	tree_path paths ip:10.0.7.1@ip:10.0.7.2 connected rxe0 42110 "1 512 0 0 0 0" "1 0" "0" "0"
	adm 0 path list -j --filter session=paths
	[ "$(jqc '[.paths[] | .name]')" = '["ip:10.0.7.1@ip:10.0.7.2"]' ]
	adm 0 session list -j --filter name=paths
	[ "$(jqc '[.sessions[] | .state, .paths_connected]')" = '["connected",1]' ]
}

@test "paths, devices, status" {
	adm 0 path list
	golden sysfs-path-list.txt
	adm 0 path list -j --details
	[ "$(jqc '[.paths[0] | .state, .heartbeat_latency_ns, .connections, .reconnect_attempts, .since, .id]')" = \
		'["connected",42110,null,null,null,null]' ]
	[ "$(jqc '[.paths[] | select(.hca == "rxe1") | .state, .heartbeat_latency_ns]')" = '["disconnected",null]' ]
	adm 0 path show cl1@srv1 10.0.0.2 -j
	adm 0 path show cl1@srv1 --hca rxe1 -F name
	adm 0 device list
	golden sysfs-device-list.txt
	adm 0 device list -j --stats
	golden sysfs-device-list.json
	[ "$(jqc '.devices[1].device_path')" = '"dir/vol \"1\", � "' ]
	adm 0 device list -o csv -F name,state,size_bytes
	[ "${lines[2]}" = rnbd2,mapped,1048576 ]
	adm 0 device show rnbd10 -j --details
	[ "$(jqc '.devices[0] | [.state, .kernel_state, .access, .hw_queues, .open_count]')" = \
		'["disconnected","closed","migration",2,null]' ]
	adm 0 status
	golden sysfs-status.txt
	adm 0 status -j
	adm 11 status --check-state
	adm 0 config save
	adm 0 version -j
	[ "$(jqv '.family_version == null and .backend == "sysfs"')" = true ]
}

@test "the server's side" {
	adm 0 server client list -j --stats
	[ "$(jqc '.clients[0] | [.name, .state, .paths[0].client_addr, .counters.read_ios, .devices]')" = \
		'["cl9@here","connected","ip:10.0.0.9",7,["ram0","sdb1"]]' ]
	adm 0 server path list
	adm 0 server export list
	golden sysfs-export-list.txt
	adm 0 server export show sdb1 -j
	[ "$(jqc '.exports[0] | [.size_bytes, .logical_block_bytes, (.clients[0] | .device_path, .read_only, .opened_at)]')" = \
		'[1048576,4096,"disks/b1",true,null]' ]
	adm 0 stats --role server -j
	[ "$(jqc '.stats[0].counters | [.write_ios, .write_bytes, .inflight, .failovers, .reconnects_ok]')" = '[8,80,null,null,null]' ]
	fails 9 unsupported server port list
	[[ $stderr == *"the sysfs backend cannot tell which ports"*"hint: the modules of this project have it"* ]]
}

@test "statistics: totals, intervals, CSV, Prometheus, CPUs" {
	adm 0 stats
	golden sysfs-stats.txt
	adm 0 stats -j --per-cpu
	[ "$(jqc '[.stats[].counters | .read_ios, .inflight, .failovers, .reconnects_ok, .reconnects_failed]')" = \
		'[10,null,1,0,0,0,null,0,null,7,null,3,4,2,3]' ]
	[ "$(jqc '.stats[2].counters | [.read_ios, .read_bytes == 9007199254740993, .inflight]')" = '[null,true,3]' ]
	[ "$(jqc '[.stats[0].per_cpu[] | .cpu, .migrations_from, .migrations_to, .read_ios]')" = '[0,1,3,null,1,2,4,null]' ]
	adm 0 stats -i 10ms -c 2 -j
	[ "$(printf '%s' "${lines[1]}" | jq -c '.stats[0].counters.write_bytes')" = 0 ]
	adm 0 stats -o csv
	adm 0 stats -o prom
	[[ $output == *'rnbd_path_read_bytes_total{session="cl1@srv1",client="ip:10.0.0.1",server="ip:10.0.0.2",'*' 40960'* ]]
	[[ $output == *'backend="sysfs"'* ]]
	# counted under that policy only, and nonsense when it went below zero
	put "$SYS/class/rtrs-client/$ODD/paths/"gid*2/stats/rdma "1 1 1 1 4294967295 0"
	adm 0 stats "$ODD" -j
	[ "$(jqc '.stats[0].counters | [.inflight, .failovers]')" = '[null,0]' ]
	rm "$PATH1"/stats/cpu_migration_*
	printf '%s\n' '     CPU0 CPU1' 'from: 11 12' 'to  : 13 14' >"$PATH1/stats/cpu_migration"
	adm 0 stats cl1@srv1 10.0.0.2 --per-cpu -j
	[ "$(jqc '[.stats[0].per_cpu[] | .migrations_from, .migrations_to]')" = '[11,13,12,14]' ]
	fails 9 unsupported stats latency
}

@test "statistics: numbers up to 2^63-1, null beyond, on both sides and in each form" {
	local v want c
	for v in 9007199254740993 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616; do
		want=$v
		((${#v} < 19)) || [[ $v == 9223372036854775807 ]] || want=null
		put "$PATH1/stats/rdma" "$v $v $v $v $v $v"
		put "$PATH1/stats/reconnects" "$v $v"
		put "$PATH1/stats/cpu_migration_from" "$v 1"
		put "$PATH1/stats/cpu_migration_to" "2 $v"
		put "$PATH1/cur_latency" "$v ns"
		put "$(echo "$SERVER"/paths/*)/stats/rdma" "$v $v $v $v $v $v"
		adm 0 stats cl1@srv1 10.0.0.2 --per-cpu -j
		valid rnbdadm.stats/1
		[ "$(jqc '.stats[0] | .counters | [.read_ios, .read_bytes, .write_ios, .write_bytes, .failovers, .reconnects_ok,
			.reconnects_failed] | unique')" = "[$want]" ]
		[ "$(jqc '.stats[0] | [.heartbeat_latency_ns, .per_cpu[0].migrations_from, .per_cpu[1].migrations_to]')" = "[$want,$want,$want]" ]
		[ "$(jqc '.stats[0] | [.counters.inflight, .per_cpu[1].migrations_from]')" = '[null,1]' ]
		adm 0 stats --role server -j
		valid rnbdadm.stats/1
		[ "$(jqc '.stats[0].counters | [.read_ios, .read_bytes, .write_ios, .write_bytes] | unique')" = "[$want]" ]
		# nothing is added; that is known but of what is no number
		adm 0 stats cl1@srv1 10.0.0.2 -i 10ms -c 2 -j
		[ "$(jq -c '.stats[0].counters.read_ios' <<<"${lines[1]}")" = "$([[ $v == 18446744073709551* ]] && echo null || echo 0)" ]
		adm 0 stats cl1@srv1 10.0.0.2 -o csv -F read_ios,failovers --no-headers
		[ "$output" = "$(sed 's/null//g' <<<"$want,$want")" ]
		adm 0 stats -o prom
		"$PY" "$CLI/prom.py" <<<"$output"
		[[ $output != *" $v"* || $want != null ]]
		[ "$(grep -c "^rnbd_path_read_ios_total{.*server=\"ip:10.0.0.2\".*} $v\$" <<<"$output")" = "$([[ $want == null ]] && echo 0 || echo 1)" ]
		for c in stats "stats --per-cpu" "stats --role server" "stats --totals" "path list --stats" "session list --stats" "server client list --stats"; do
			# shellcheck disable=SC2086
			adm 0 $c
			[[ $output != *" -"[0-9]* && $output != *922337203685477580[89]* && $output != *1844674407370955161[0-9]* ]]
		done
	done
}

@test "what is missing, empty, unreadable or garbled is null" {
	rm "$CLIENT"/{mpath_policy,max_reconnect_attempts} "$PATH1"/{hca_port,cur_latency,src_addr,stats/rdma}
	: >"$PATH1/state"
	put "$PATH1/hca_name" ""
	put "$PATH2/cur_latency" "soon"
	put "$PATH2/state" "dozing"
	put "$PATH2/dst_addr" "host:localhost"
	put "$PATH2/stats/rdma" "1 x -3 4"
	put "$PATH2/stats/reconnects" "5"
	rm "$SYS/block/rnbd0/rnbd"/{access_mode,nr_poll_queues} "$SYS/block/rnbd0/size" "$SYS/block/rnbd0/dev"
	rm -r "$SYS/block/rnbd0/mq"
	put "$SYS/block/rnbd0/rnbd/state" "?"
	put "$SYS/block/rnbd0/queue/logical_block_size" "12345678901234567890123"
	rm "$SYS/block/rnbd2/rnbd/mapping_path" && mkdir "$SYS/block/rnbd2/rnbd/mapping_path"
	mkdir "$SYS/block/rnbd3"
	adm 0 session list -j --stats
	[ "$(jqc '.sessions[0] | [.state, .mp_policy, .max_reconnect_attempts, .paths_connected]')" = '["disconnected",null,null,0]' ]
	adm 0 path list -j
	[ "$(jqc '.paths[0] | [.state, .hca, .hca_port, .client_addr, .heartbeat_latency_ns]')" = '["unknown",null,null,"",null]' ]
	[ "$(jqc '.paths[1] | [.state, .server_addr, .heartbeat_latency_ns]')" = '["unknown","",null]' ]
	adm 0 stats -j
	[ "$(jqc '[.stats[0,1].counters | .read_ios, .read_bytes, .write_ios, .write_bytes, .reconnects_ok, .reconnects_failed]')" = \
		'[null,null,null,null,0,0,1,null,null,4,5,null]' ]
	adm 0 stats -o prom
	adm 0 device list -j
	[ "$(jqc '.devices | length')" = 3 ]
	[ "$(jqc '.devices[0] | [.state, .access, .poll_queues, .size_bytes, .devnum, .logical_block_bytes, .hw_queues]')" = \
		'["unknown",null,null,null,null,null,null]' ]
	[ "$(jqc '.devices[1].device_path')" = '""' ]
	adm 0 status -j
}

@test "modules that are not loaded, and those with nothing to show" {
	rm -r "$SYS"/{class/r*,block}
	fails 8 unavailable session list
	[[ $stderr == *"rnbd client module is not loaded (/sys/class/rnbd-client and rnbd-server absent)"* ]]
	fails 8 unavailable map vol9 --session cl1@srv1
	adm 8 status -j
	[ "$(jqc '.client.sessions')" = '[]' ]
	fails 8 unavailable stats
	mkdir -p "$SYS"/class/{rtrs-client,rnbd-client/ctl}
	for c in "session list" "path list" "device list" stats; do
		# shellcheck disable=SC2086
		adm 0 $c -j
		[[ $(jqc '.sessions // .paths // .devices // .stats') == '[]' ]]
	done
	fails 8 unavailable server client list
	[[ $stderr == *"rnbd server module is not loaded (/sys/class/rnbd-server absent)"*"modprobe rnbd_server"* ]]
	adm 0 status
	# a half of them
	fails 8 unavailable map vol9 --session s9 --path 10.0.0.2
	[[ $stderr == *"map_device absent"* ]]
}

@test "auto: the family, or else sysfs" {
	R=(--test-root "$ROOT" --test-time "$TIME")
	adm 0 session list -j
	[ "$(jqv .backend)" = sysfs ]
	adm 0 device list --backend auto --brief
	fails 8 unavailable device list --backend netlink
	# the header says so, though nobody asked for it
	adm 0 status
	golden sysfs-status.txt
	[[ ${lines[0]} == *"    backend sysfs" ]]
	rm -r "$SYS"/class/{rtrs,rnbd}-server
	fails 8 unavailable status --role server
	[[ $stderr == *"rnbd server module is not loaded (/sys/class/rnbd-server absent)"*"hint: modprobe rnbd_server"* ]]
	adm 0 status --role client
	rm -r "$SYS"/class/r*
	fails 8 unavailable session list
	[[ $stderr == *"netlink family 'rnbd' absent"* ]]
	fails 8 unavailable status
	[[ $stderr == *"no rnbd module is loaded (netlink family 'rnbd' absent)"* ]]
	fails 8 unavailable status --backend sysfs
	[[ $stderr == *"no rnbd module is loaded (/sys/class/rnbd-client and rnbd-server absent)"* ]]
	adm 2 session list --backend sysf
}

@test "wait: sysfs is looked at again and again" {
	adm 0 wait rnbd2 --for state=mapped --timeout 1s
	adm 10 wait rnbd10 --for state=mapped --timeout 200ms
	(sleep 0.3; change "$SYS/block/rnbd10/rnbd/state" open) 3>&- &
	adm 0 wait rnbd10 --for state=mapped --timeout 60s -j
	[ "$(jqv '.waited_ms < 30000')" = true ]
}

# What it tells of each of five changes
declare -gA EVENT=(
	[text-1]="change path    cl1@srv1 ip:10.0.1.1@ip:10.0.1.2 state=disconnected->connected"
	[text-2]="create path    s9 ip:10.0.9.1@ip:10.0.9.2 state=connected hca=rxe0:1"
	[text-3]="destroy device  rnbd2 session=cl1@srv1"
	[text-4]="destroy session s9"
	[text-5]="destroy export  ram0 session=cl9@here"
	[jsonl-1]='"event":"change","object":"session"'
	[jsonl-2]='"event":"create","object":"path"'
	[jsonl-3]='"event":"destroy","object":"device"'
	[jsonl-4]='"event":"destroy","object":"session"'
	[jsonl-5]='"event":"destroy","object":"export"'
)

# awaited WORDS: monitor has told this
awaited() {
	local i
	for ((i = 0; i < 300; i++)); do
		grep -qF -e "$1" "$EVENTS" && return
		sleep 0.1
	done
	cat "$EVENTS"
	return 1
}

@test "monitor: sysfs is looked at each second; what is new, has changed, is gone" {
	local form pid code=0 gone=$BATS_TEST_TMPDIR/gone EVENTS=$BATS_TEST_TMPDIR/events
	adm 0 monitor --once -j
	[ "$(printf '%s\n' "$output" | jq -sr '[.[].source] | unique | tojson')" = '["poll"]' ]
	adm 0 monitor -i 1 --once -j
	[ "$(printf '%s\n' "$output" | jq -sc '[.[] | select(.event == "stats") | .role, .counters.read_ios, .state]')" = \
		'["client",10,"connected","client",0,"disconnected","client",null,"connected","server",7,"connected"]' ]
	adm 10 monitor --count 1 --timeout 1500ms --no-snapshot
	for form in text jsonl; do
		"$RNBDADM" "${R[@]}" monitor --no-snapshot -o $form >"$EVENTS" 3>&- & pid=$!
		awaited sync
		change "$PATH2/state" connected
		awaited "${EVENT[$form-1]}"
		# at once, as what is half there is told as well
		(SYS=$gone tree_session s9 "round-robin (RR: 0)" -1
			SYS=$gone tree_path s9 ip:10.0.9.1@ip:10.0.9.2 connected rxe0 1 "0 0 0 0 0 0" "0 0" "0 0" "0 0")
		mv "$gone/class/rtrs-client/s9" "$SYS/class/rtrs-client/"
		awaited "${EVENT[$form-2]}"
		mv "$SYS/block/rnbd2" "$gone"
		awaited "${EVENT[$form-3]}"
		mv "$SYS/class/rtrs-client/s9" "$gone"
		awaited "${EVENT[$form-4]}"
		mv "$SYS/class/rnbd-server/ctl/devices/ram0" "$gone"
		awaited "${EVENT[$form-5]}"
		kill $pid
		wait $pid
		rm -r "$ROOT" "$gone"
		sysfs_tree "$ROOT"
		output=$(<"$EVENTS")
		[[ $form == text ]] || { valid any && jq -es 'map(.source) | unique == ["poll"]' <"$EVENTS"; }
		[[ $form != text ]] || golden monitor-poll.txt
	done
	# no module is there any more
	"$RNBDADM" "${R[@]}" monitor --no-snapshot >"$EVENTS" 3>&- & pid=$!
	awaited sync
	mv "$SYS/class" "$SYS/block" "$BATS_TEST_TMPDIR"
	wait $pid || code=$?
	[ "$code" = 8 ]
	[ "$(tail -n 1 "$EVENTS" | cut -d' ' -f2)" = lost ]
}

@test "check: they have no family, and their paths are looked at" {
	mkdir -p "$SYS"/module/rtrs_core
	adm 11 check modules.origin netlink.family netlink.ops session.paths_down -j
	[ "$(jqc '[.results[] | .status]')" = '["fail","fail","skip","fail","pass"]' ]
	[[ $(jqv '.results[0].message') == *"in-tree driver"* ]]
	[[ $(jqv '.results[1].message') == *"sysfs is in its place"* ]]
	[[ $(jqv '.results[3].message') == *"1 of 2 paths down"* ]]
}

@test "the documents of these tests are valid" { all_valid; }
