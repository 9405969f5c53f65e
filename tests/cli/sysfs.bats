#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# --backend sysfs: the in-tree drivers, who have files and no netlink family. What they cannot do is said, with exit code 9.
# shellcheck shell=bats disable=SC2154,SC2034

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	load sysfs-tree
	sysfs_tree "$BATS_TEST_TMPDIR/root"
	R=(--backend sysfs --test-root "$ROOT" --test-time "$TIME")
	CLIENT=$SYS/class/rtrs-client/cl1@srv1 SERVER=$SYS/class/rtrs-server/cl9@here
	PATH1=$CLIENT/paths/ip:10.0.0.1@ip:10.0.0.2 PATH2=$CLIENT/paths/ip:10.0.1.1@ip:10.0.1.2
}

jqc() { printf '%s' "$output" | jq -c "$1"; }

# written FILE: what the tool wrote there
written() { [ "$(<"$1")" = "$2" ] || { echo "${1#"$ROOT"}: '$(<"$1")', not '$2'"; return 1; }; }

# untouched FILE..
untouched() { [[ $(cat "$@") == *Usage* && $(cat "$@" | grep -c Usage) -eq $# ]]; }

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
	adm 0 mp-policy show cl1@srv1
	[ "$output" = min-latency ]
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
	adm 0 stats --server -j
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
		adm 0 stats --server -j
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
		for c in stats "stats --per-cpu" "stats --server" "stats --totals" "path list --stats" "session list --stats" "server client list --stats"; do
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
	fails 8 unavailable status --server
	[[ $stderr == *"rnbd server module is not loaded (/sys/class/rnbd-server absent)"*"hint: modprobe rnbd_server"* ]]
	adm 0 status --client
	rm -r "$SYS"/class/r*
	fails 8 unavailable session list
	[[ $stderr == *"netlink family 'rnbd' absent"* ]]
	fails 8 unavailable status
	[[ $stderr == *"no rnbd module is loaded (netlink family 'rnbd' absent)"* ]]
	fails 8 unavailable status --backend sysfs
	[[ $stderr == *"no rnbd module is loaded (/sys/class/rnbd-client and rnbd-server absent)"* ]]
	adm 2 session list --backend sysf
}

@test "map: order and options of the text; it is counted and refused before" {
	local file=$SYS/class/rnbd-client/ctl/map_device
	# no disk comes of it here
	adm 1 map /dev/sdx --session s9 --path 10.0.0.1@10.0.0.2 --path ip:fe80::1%1@ip:fe80::2%1 --dest-port 4321 --access migration \
		--poll-queues 2
	written "$file" "sessname=s9 dest_port=4321 path=ip:10.0.0.1@ip:10.0.0.2 path=ip:fe80::1%1@ip:fe80::2%1 \
device_path=/dev/sdx access_mode=migration nr_poll_queues=2"
	[[ $stderr == *"the kernel did not name the disk"* ]]
	# without a network interface in the way
	adm 1 map vol9 --session cl1@srv1 --trace
	written "$file" "sessname=cl1@srv1 device_path=vol9"
	[[ $stderr == *"sysfs -> "*" ms 'sessname=cl1@srv1 device_path=vol9' to /sys/class/rnbd-client/ctl/map_device: ok"* ]]
	put "$file" Usage
	fails 6 conflict map vol0 --session cl1@srv1
	fails 2 usage map "vol 9" --session cl1@srv1
	[[ $stderr == *"device path contains a space, which this kernel's sysfs interface cannot take"* ]]
	fails 2 usage map vol9 --session s9 --path=10.0.0.{1,2,3,4,5,6,7}
	[[ $stderr == *"at most 6 paths"* ]]
	fails 9 unsupported map vol9 --session s9 --path 10.0.0.2 --connections 3
	[[ $stderr == *"the sysfs backend cannot set a number of connections"* ]]
	fails 9 unsupported map vol9 --session s9 --path 10.0.0.2 --timeout 1s
	fails 9 unsupported map vol9 --session s9 --path 10.0.0.2 --io-timeout 3s
	untouched "$file"
	adm 0 map vol9 --session s9 --path 10.0.0.2 -n
	[ "$output" = "rnbdadm map vol9 --session s9 --path ip:10.0.0.2" ]
	[ "$stderr" = "rnbdadm: would write 'sessname=s9 path=ip:10.0.0.2 device_path=vol9' to /sys/class/rnbd-client/ctl/map_device" ]
	adm 0 map vol9 --session s9 --path 10.0.0.2 -nqj
	[ -z "$stderr" ]
	untouched "$file"
}

@test "map: a session that exists keeps its settings" {
	local n
	for n in "" -n; do
		# shellcheck disable=SC2086
		fails 6 conflict map vol9 --session cl1@srv1 --mp-policy rr $n
		[[ $stderr == *"session 'cl1@srv1' exists and keeps its settings"*"rnbdadm session set cl1@srv1"* ]]
	done
	untouched "$SYS/class/rnbd-client/ctl/map_device"
	written "$CLIENT/mpath_policy" "min-latency (ML: 2)"
	# what it has, and what the files do not tell
	adm 0 map vol9 --session cl1@srv1 --path 10.0.0.2 --mp-policy ml --poll-queues 2 --dest-port 4321 -n
}

@test "unmap, remap, resize" {
	local file
	# it could not be mapped again
	fails 2 usage remap rnbd2 --recreate
	[[ $stderr == *"device path contains a space"* ]]
	fails 9 unsupported remap rnbd10 --recreate --timeout 5s
	adm 7 unmap rnbd0
	[[ $stderr == *"rnbd0 is used by: mount /data (ext4)"* ]]
	adm 0 unmap rnbd2 rnbd10 --dry-run
	[[ $stderr == *"would write 'normal' to /sys/block/rnbd10/rnbd/unmap_device"* ]]
	for file in unmap_device remap_device resize; do untouched "$SYS"/block/rnbd{0,2,10}/rnbd/$file; done
	adm 0 unmap rnbd10 -j
	written "$SYS/block/rnbd10/rnbd/unmap_device" normal
	adm 0 unmap rnbd0 --force -v
	written "$SYS/block/rnbd0/rnbd/unmap_device" force
	adm 0 remap rnbd10 -j
	written "$SYS/block/rnbd10/rnbd/remap_device" 1
	adm 0 resize rnbd2 2M -n
	untouched "$SYS/block/rnbd2/rnbd/resize"
	# it does not grow here
	adm 1 resize rnbd2 2M
	written "$SYS/block/rnbd2/rnbd/resize" 4096
	[[ $stderr == *"the size is 1048576 bytes now"* ]]
	fails 6 conflict resize rnbd10 1G
	fails 4 not_found unmap rnbd7
	rm "$SYS/block/rnbd2/rnbd/resize"
	fails 9 unsupported resize rnbd2 2M
	[[ $stderr == *"there is no file /sys/block/rnbd2/rnbd/resize"* ]]
}

@test "paths: added, removed, reconnected, disconnected; the last one stays" {
	adm 0 session add-path cl1@srv1 10.0.3.1@10.0.3.2 --no-wait
	written "$CLIENT/add_path" ip:10.0.3.1@ip:10.0.3.2
	fails 6 conflict session add-path cl1@srv1 10.0.0.1@10.0.0.2
	adm 0 session reconnect cl1@srv1 10.0.1.2 -j
	written "$PATH2/reconnect" 1
	adm 7 session disconnect cl1@srv1 10.0.0.2
	[[ $stderr == *"the last connected path"*"rnbd0 is used by: mount /data"* ]]
	untouched "$PATH1"/{disconnect,remove_path,reconnect}
	adm 0 session disconnect cl1@srv1 10.0.0.2 -f -n
	[[ $stderr == *"would write '1' to /sys/class/rtrs-client/cl1@srv1/paths/ip:10.0.0.1@ip:10.0.0.2/disconnect"* ]]
	untouched "$PATH1/disconnect"
	adm 0 session disconnect cl1@srv1 10.0.0.2 -f
	written "$PATH1/disconnect" 1
	adm 0 session remove-path cl1@srv1 10.0.1.2
	written "$PATH2/remove_path" 1
	fails 9 unsupported session reconnect cl1@srv1 10.0.1.2 --timeout 1s
	adm 7 server path disconnect cl9@here 10.0.0.1
	untouched "$SERVER"/paths/*/disconnect
	adm 0 server client disconnect cl9@here --force
	written "$(echo "$SERVER"/paths/*)/disconnect" 1
	# it says that it has closed it, and has not
	fails 7 busy server export close ram0 --force
	[[ $stderr == *"nothing was done"* ]]
	written "$SYS/class/rnbd-server/ctl/devices/ram0/sessions/cl9@here/force_close" 1
}

@test "settings and counters, where there is a file for them" {
	adm 0 mp-policy set cl1@srv1 rr
	written "$CLIENT/mpath_policy" round-robin
	adm 0 session set cl1@srv1 --max-reconnect-attempts 7 -n
	written "$CLIENT/max_reconnect_attempts" -1
	adm 0 session set cl1@srv1 --max-reconnect-attempts 7 --mp-policy min-inflight
	written "$CLIENT/max_reconnect_attempts" 7
	fails 9 unsupported session set cl1@srv1 --io-timeout 5s
	adm 0 stats reset cl1@srv1
	written "$PATH1/stats/reset_all" 1
	adm 0 stats reset cl1@srv1 10.0.1.2 --only ios,migrations,reconnects
	written "$PATH2/stats/rdma" 1
	written "$PATH2/stats/cpu_migration_from" 1
	written "$PATH2/stats/reconnects" 1
	[ "$(<"$PATH1/stats/reconnects")" = "0 0" ]
	adm 0 stats reset "$ODD"
	[[ $stderr == *"in flight"* ]]
	# ours keep it
	put "$(echo "$SYS/class/rtrs-client/$ODD/paths"/*)/stats/rdma_lat" "no buckets"
	adm 0 stats reset "$ODD"
	[ -z "$stderr" ]
	adm 0 stats reset --all --server -y
	written "$(echo "$SERVER"/paths/*)/stats/rdma" 1
	fails 9 unsupported stats reset cl1@srv1 --only latency
	[[ $stderr == *"there is no file /sys/class/rtrs-client/cl1@srv1/paths/"*"/stats/rdma_lat"* ]]
}

@test "what only the family has exits 9, and names what is missing" {
	fails 9 unsupported session add s9 --path 10.0.0.2
	[[ $stderr == *"the sysfs backend cannot make a session without a device"*"hint: "* ]]
	fails 9 unsupported session remove "$ODD" --force
	fails 9 unsupported server export revalidate ram0
	fails 9 unsupported session add-path cl1@srv1 10.0.3.2 --dest-port 5
}

@test "session remove --force: exits 9 before a disk is unmapped; a dry run, too" {
	local n
	for n in --force "--force -n" -n; do
		# shellcheck disable=SC2086
		fails 9 unsupported session remove cl1@srv1 $n
		[[ $stderr == *"the sysfs backend cannot remove a session: it ends with its last device"* ]]
	done
	untouched "$SYS"/block/rnbd{0,2,10}/rnbd/unmap_device
	fails 4 not_found session remove nosuch --force
	adm 0 session remove nosuch --if-exists
}

@test "what would be refused is refused in a dry run, too" {
	local conf=$BATS_TEST_TMPDIR/conf
	fails 9 unsupported map vol9 --session cl1@srv1 --path 10.0.0.7 --add-paths --dest-port 99 -n
	[[ $stderr == *"the sysfs backend cannot add a path to another port"* ]]
	adm 0 map vol9 --session cl1@srv1 --path 10.0.0.7 --add-paths -n
	[ "${lines[0]}" = "rnbdadm session add-path cl1@srv1 ip:10.0.0.7" ]
	[[ ${lines[1]} == "rnbdadm map vol9 --session cl1@srv1 "* ]]
	fails 9 unsupported map vol9 --session cl1@srv1 --path 10.0.0.7 --add-paths --timeout 1s -n
	printf '%s\n' '[session s9]' 'path = 10.0.0.2' 'path = 10.0.0.3' '[device d]' 'session = s9' 'device-path = vol9' >"$conf"
	fails 9 unsupported config apply "$conf" -n
	[[ $stderr == *"the sysfs backend cannot make a session without a device"*"3 of 3 changes would fail"* ]]
	[ "$(printf '%s' "$JSON" | jq -c '[.changes[] | .result, .error.code], .summary.failed')" = \
		$'["failed","unsupported","skipped","failed","skipped","failed"]\n3' ]
	# the rest is a plan
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' 'path = 10.0.3.1@10.0.3.2' 'mp-policy = rr' >>"$conf"
	adm 3 config apply "$conf" -n
	[ "$output" = "rnbdadm session add-path cl1@srv1 ip:10.0.3.1@ip:10.0.3.2
rnbdadm mp-policy set cl1@srv1 round-robin" ]
	adm 3 config apply "$conf" -nj
	[ "$(jqc '.dry_run and .changed == false and ([.changes[] | select(.session == "cl1@srv1") | .result] == [null, null])')" = true ]
	# what ends with its last device is no failure
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' >"$conf"
	adm 0 config apply "$conf" --prune=all --force -y -n
	[[ $output == *"rnbdadm unmap rnbd10"*"rnbdadm session remove "* ]]
	untouched "$CLIENT/add_path" "$SYS"/block/rnbd{0,2,10}/rnbd/unmap_device "$SYS/class/rnbd-client/ctl/map_device"
	written "$CLIENT/mpath_policy" "min-latency (ML: 2)"
	[ ! -e "$ROOT/run/rnbd" ]
}

@test "apply: a session of its own exits 9, also where its device cannot come either" {
	local conf=$BATS_TEST_TMPDIR/conf
	printf '%s\n' '[session s9]' 'path = 10.0.0.2' '[device d]' 'session = s9' 'device-path = vol9' >"$conf"
	fails 9 unsupported config apply "$conf"
	[[ $stderr == *"the sysfs backend cannot make a session without a device"*"device d: session 's9' is not there"*"2 of 2 changes failed"* ]]
	[ "$(printf '%s' "$JSON" | jq -c '[.changes[] | .result, .error.code], .summary.failed')" = \
		$'["failed","unsupported","skipped","failed"]\n2' ]
	# one more, of a session that is there: it is not all that failed
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' 'path = 10.0.3.1@10.0.3.2' >>"$conf"
	adm 3 config apply "$conf" --mode add
	written "$CLIENT/add_path" ip:10.0.3.1@ip:10.0.3.2
}

@test "errors of the driver: a sentence, the number, and where to look further" {
	local file=$SYS/block/rnbd2/rnbd/unmap_device
	# the one error that a plain file can give
	ln -sf /dev/full "$file"
	fails 1 failed unmap rnbd2
	[[ $stderr == *"No space left on device (ENOSPC)"*"hint: details may be in the kernel log"* ]]
	ln -sf /dev/full "$PATH2/remove_path"
	fails 1 failed session remove-path cl1@srv1 10.0.1.2
	[[ $stderr == *ENOSPC*"hint: details may be in the kernel log"* ]]
}

@test "wait: sysfs is looked at again and again" {
	adm 0 wait rnbd2 --for state=mapped --timeout 1s
	adm 10 wait rnbd10 --for state=mapped --timeout 200ms
	(sleep 0.3; put "$SYS/block/rnbd10/rnbd/state" open) 3>&- &
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
	adm 0 monitor --stats --once -j
	[ "$(printf '%s\n' "$output" | jq -sc '[.[] | select(.event == "stats") | .role, .counters.read_ios, .state]')" = \
		'["client",10,"connected","client",0,"disconnected","client",null,"connected","server",7,"connected"]' ]
	adm 10 monitor --count 1 --timeout 1500ms --no-snapshot
	for form in text jsonl; do
		"$RNBDADM" "${R[@]}" monitor --no-snapshot -o $form >"$EVENTS" 3>&- & pid=$!
		awaited sync
		put "$PATH2/state" connected
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

@test "server path disconnect --wait: until its directory is gone" {
	local dir
	dir=$(echo "$SERVER"/paths/*)
	adm 0 server path disconnect cl9@here 10.0.0.1 --force -j
	[ "$(jqv '.paths[0].state')" = closing ]
	fails 10 timeout server path disconnect cl9@here 10.0.0.1 --force --wait=200ms
	[[ $stderr == *"the path is not down"* ]]
	put "$dir/disconnect" 0
	(until [ "$(<"$dir/disconnect")" = 1 ]; do sleep 0.05; done; mv "$dir" "$BATS_TEST_TMPDIR/gone") 3>&- &
	adm 0 server path disconnect cl9@here 10.0.0.1 --force --wait=60s -j
	[ "$(jqv '.paths[0].state')" = disconnected ]
	wait
}

@test "check: they have no family, and their paths are looked at" {
	mkdir -p "$SYS"/module/rtrs_core
	adm 11 check modules.origin netlink.family netlink.ops session.paths_down -j
	[ "$(jqc '[.results[] | .status]')" = '["fail","fail","skip","fail","pass"]' ]
	[[ $(jqv '.results[0].message') == *"in-tree driver"* ]]
	[[ $(jqv '.results[1].message') == *"sysfs is in its place"* ]]
	[[ $(jqv '.results[3].message') == *"1 of 2 paths down"* ]]
}

@test "batch: one way to the kernel for all lines" {
	printf '%s\n' 'mp-policy set cl1@srv1 rr' 'unmap rnbd10' >"$BATS_TEST_TMPDIR/lines"
	adm 0 batch "$BATS_TEST_TMPDIR/lines" -j
	written "$CLIENT/mpath_policy" round-robin
	written "$SYS/block/rnbd10/rnbd/unmap_device" normal
	[ "$(jqv .backend)" = sysfs ]
	adm 0 batch "$BATS_TEST_TMPDIR/lines" -n
}

@test "the documents of these tests are valid" { all_valid; }
