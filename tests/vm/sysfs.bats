#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The admin tool on the in-tree drivers, which have files in /sys and no netlink family; then on ours by both ways, which must
# agree. Both sides are in one guest. The tests build on each other.
# lab: on debug: the tool, our modules and the in-tree ones on one CPU; no program starts faster
# lab: kernels 6.1 6.12
# lab: in-tree modules, too
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 2
	ram_disk 16 2
	load_peer_server
	load_peer_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
}

teardown_file() {
	. "$ROOT/tests/vm/guest.bash"
	unmap_all
}

# says STATUS WORDS ARGS..: it fails like that, and the message holds the words
says() {
	local want=$1 words=$2
	shift 2
	adm "$want" "$@"
	[ -z "$output" ] && [[ $stderr == "rnbdadm: "*$words* ]]
}

# Module parameters there are, and their modes
parameters() { (cd /sys/module && stat -c '%n %a' r{trs,nbd}_{core,client,server}/parameters/* 2>/dev/null | sed 's,/parameters/, ,' | sort); }

PARAMETERS='rnbd_server dev_search_path 444
rnbd_server port_nr 444
rtrs_server always_invalidate 444
rtrs_server max_chunk_size 444
rtrs_server sess_queue_depth 444'

@test "in-tree: module parameters and their modes" { [ "$(parameters)" = "$PARAMETERS" ] || fail "$(parameters)"; }

@test "in-tree: map over two paths; lists, shows, status" {
	adm_is '.backend == "sysfs" and .sessions == []' session list
	adm 0 map /dev/ram0 --session s1 --path 10.0.0.1@10.0.0.1 --path ip:10.0.1.1@ip:10.0.1.1 --mp-policy min-latency \
		--max-reconnect-attempts 9
	[ "$output" = /dev/rnbd0 ]
	[ -z "$stderr" ]
	adm_is '.sessions[0] | [.name, .state, .mp_policy, .max_reconnect_attempts, .paths_connected, .devices, .queue_depth] ==
		["s1", "connected", "min-latency", 9, 2, ["rnbd0"], null]' session list
	adm_is '.paths[0] | [.name, .client_addr, .server_addr, .hca, .hca_port, .netdev, .state] ==
		["ip:10.0.0.1@ip:10.0.0.1", "ip:10.0.0.1", "ip:10.0.0.1", "rxe0", 1, "dummy0", "connected"]' path list
	adm_is '.devices[0] | [.session, .device_path, .state, .access, .size_bytes, .read_only, .poll_queues, .open_count] ==
		["s1", "/dev/ram0", "mapped", "rw", 16777216, false, 0, null] and .logical_block_bytes >= 512' device show rnbd0
	adm_is '.clients[0] | [.name, .state, .paths_connected, .devices] == ["s1", "connected", 2, ["ram0"]]' server client list
	adm_is '.exports[0] | [.device, .size_bytes, .clients[0].session, .clients[0].device_path, .clients[0].access] ==
		["ram0", 16777216, "s1", "/dev/ram0", "rw"]' server export list
	adm_is '.summary | [.sessions_total, .paths_total, .paths_down, .devices_total, .clients_total, .exports_total] ==
		[1, 2, 0, 1, 1, 1]' status --check-state
	adm 0 status
	adm 0 device wait rnbd0
}

@test "in-tree: counters, of this much I/O; reset" {
	adm 0 stats reset s1
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=32 iflag=direct status=none
	dd if=/dev/zero of=/dev/rnbd0 bs=8k count=16 oflag=direct status=none
	adm_is '[.stats[].counters] | [map(.read_ios), map(.write_ios)] | map(add) == [32, 16]' stats s1
	adm_is '.stats[0].counters | .reconnects_ok == 0 and .inflight == null and .read_bytes >= .read_ios * 4096' stats
	adm_is '.stats[0].per_cpu | length == '"$(nproc --all)"' and .[0].migrations_from != null' stats --per-cpu
	adm_is '.stats | length == 2 and (.[0].counters.write_bytes != null)' stats --role server
	adm 0 stats -i 200ms -c 2
	adm 0 stats -o prom
	[[ $output == *'rnbd_path_up{session="s1"'*'backend="sysfs"'* ]]
	adm 0 stats reset s1 --counters ios
	adm_is '[.stats[].counters | .read_ios, .write_ios, .read_bytes] | add == 0' stats s1
	says 9 "stats/sg_entries" stats reset s1 --counters sg
	says 9 "do not count latencies" stats latency
}

@test "in-tree: paths go and come, the last one stays" {
	adm 0 path disconnect s1 10.0.1.1@10.0.1.1
	adm_is '.sessions[0].state == "degraded"' session show s1
	says 7 "the last connected path" path remove s1 10.0.0.1
	adm 0 path reconnect s1 10.0.1.1
	adm_is '.sessions[0].state == "connected"' session show s1
	adm 0 path remove s1 10.0.1.1 --wait
	adm_is '.paths | length == 1' path list
	adm_is '.changed and .paths[0].name == "ip:10.0.1.1@ip:10.0.1.1" and .paths[0].result == "added"' \
		path add s1 10.0.1.1@10.0.1.1
	says 6 "has this path already" path add s1 10.0.1.1@10.0.1.1
	adm_is '.sessions[0] | [.paths_connected, .paths_configured] == [2, 2]' session show s1
	adm 0 session set s1 --mp-policy rr
	adm_is '.sessions[0].mp_policy == "round-robin"' session show s1
}

@test "in-tree: config: what runs is saved and applied, a new session exits 9" {
	local conf=/run/tmp/s1.conf
	adm 0 config save $conf
	adm_is '.changed == false and .changes == [] and .unlisted == []' config apply $conf
	printf '%s\n' '[session s2]' 'path = 10.0.0.1' '[device other]' 'session = s2' 'device-path = /dev/ram1' >>$conf
	says 9 "the sysfs backend cannot make a session without a device" config apply $conf
	[[ $stderr == *"device other: session 's2' is not there"*"2 of 2 changes failed"* ]]
	adm_is '[.sessions[].name] == ["s1"]' session list
	# what is to be done to a session that is there: a path, its policy, a device, and that is taken away again
	sed -i '/s2/,$d; /path = .*10.0.1.1/d; s/round-robin/min-inflight/' $conf
	printf '%s\n' '[device more]' 'session = s1' 'device-path = /dev/ram1' >>$conf
	adm 0 config apply $conf
	adm 0 config diff $conf
	adm_is '.sessions[0] | [.paths_configured, .mp_policy, .devices] == [1, "min-inflight", ["rnbd0", "rnbd1"]]' session list
	sed -i '/more/,$d; s/^path = .*/&\npath = ip:10.0.1.1@ip:10.0.1.1/; s/min-inflight/round-robin/' $conf
	adm 0 config apply --prune $conf
	adm_is '.sessions[0] | [.paths_connected, .mp_policy, .devices] == [2, "round-robin", ["rnbd0"]]' session list
}

@test "in-tree: recover, wait, check" {
	adm 0 wait s1 --for state=connected --timeout 20s
	(sleep 0.5; "$ADM" path disconnect s1 10.0.1.1) 3>&- &
	adm 0 wait s1 --for state=degraded --timeout 20s
	wait
	adm 10 wait s1 --for state=connected --timeout 200ms
	adm 11 check modules.origin netlink.family netlink.ops session.paths_down -j
	jq -e '[.results[] | [.id, .status]] | unique == [["modules.origin", "fail"], ["netlink.family", "fail"], ["netlink.ops", "skip"],
		["session.paths_down", "fail"]]' <<<"$output"
	jq -e '.results | map(select(.id == "session.paths_down"))[0].message | contains("1 of 2 paths down")' <<<"$output"
	adm_is '.changed and ([.recovered[] | .type, .name] == ["path", "ip:10.0.1.1@ip:10.0.1.1"])' recover --all
	adm 0 recover s1
	adm_is '.sessions[0].state == "connected"' session show s1
	adm 0 check session.paths_down device.state
}

@test "in-tree: udev: what the disk is called, and its links" {
	adm_is '[.session, .device_path, .by_session] == ["s1", "\\x2fdev\\x2fram0", "s1/\\x2fdev\\x2fram0"]' udev rnbd0
	mkdir -p /run/udev/rules.d
	sed "s|@SBINDIR@|$ROOT/build|" "$ROOT/udev/60-rnbd.rules.in" >/run/udev/rules.d/60-rnbd.rules
	/lib/systemd/systemd-udevd --daemon --resolve-names=never
	udevadm trigger --action=online --settle /sys/block/rnbd0
	for link in 'by-session/s1/\x2fdev\x2fram0' by-path/ip:10.0.{0,1}.1/'\x2fdev\x2fram0'; do
		[ "$(readlink -f "/dev/rnbd/$link")" = /dev/rnbd0 ]
	done
	pkill -x systemd-udevd
}

@test "in-tree: resize, remap, what is in use stays" {
	adm_is '.changed and .new_size_bytes == 20971520' resize rnbd0 +4M
	[ "$(blockdev --getsize64 /dev/rnbd0)" -eq 20971520 ]
	adm 0 resize rnbd0 16M --allow-shrink --force
	adm_is '.changed == false and .devices[0].result == "mapped"' remap rnbd0
	exec 7<>/dev/rnbd0
	says 7 "the device is in use (EBUSY)" unmap rnbd0
	exec 7>&-
	mkfs.ext4 -q /dev/rnbd0
	mount /dev/rnbd0 /mnt
	says 7 "refused, the device is in use" unmap rnbd0
	[[ $stderr == *"rnbd0 is used by: mount /mnt (ext4)"* ]]
	says 7 "the last connected path" path disconnect s1
	umount /mnt
	adm 0 unmap rnbd0 --dry-run
	[ "$output" = "rnbdadm unmap rnbd0  # would unmap rnbd0 (/dev/ram0 of session s1)" ]
	[[ $stderr == *"would write 'normal' to /sys/block/rnbd0/rnbd/unmap_device"* ]]
	test -b /dev/rnbd0
}

@test "in-tree: what is refused has its sentence" {
	says 4 "server has no device '/dev/nosuch'" map /dev/nosuch --session s1
	[[ $stderr == *"hint: if the server has an access list, 'rnbdadm server access test' there tells what it allows"* ]]
	says 6 "already mapped as /dev/rnbd0" map /dev/ram0 --session s1
	says 7 "already open read-write by another client (EPERM)" map /dev/ram0 --session s2 --path 10.0.0.1
	says 2 "device path contains a space" map "/dev/ram 1" --session s1
	adm_is '.sessions | length == 1' session list
}

@test "in-tree: what they cannot do exits 9" {
	says 9 "the sysfs backend cannot make a session without a device" session add s3 --path 10.0.0.1
	says 9 "the sysfs backend cannot set a number of connections" map /dev/ram1 --session s1 --connections 2
	says 9 "the sysfs backend cannot limit the time" map /dev/ram1 --session s1 --timeout 1s
	says 9 "the loaded modules have no io_timeout_ms" session set s1 --io-timeout 5s
	says 9 "the sysfs backend cannot tell which ports" server port list
	says 9 "use 'resize' on the client" server export revalidate ram0
	map_line "sessname=s1 device_path=/dev/ram1 access_mode=migration"
	says 9 "the sysfs backend cannot change the access" device set /dev/ram1 --access rw
	adm 0 unmap /dev/ram1
	says 9 "the sysfs backend cannot" server port drain rxe1:1 --force
	says 9 "the sysfs backend cannot" server port undrain rxe1:1
	says 9 "the sysfs backend cannot" path add s1 10.2.0.1 --dest-port 99
	says 8 "netlink family 'rnbd' absent" session list --backend netlink
}

@test "in-tree: who may not gets 5, and nothing changes" {
	local cmd before what='[.client | .sessions[] | [.name, .mp_policy, [.paths[] | [.name, .state]]]], [.client.devices[] | [.name, .state]]'
	adm 0 status -j
	before=$(jq -c "$what" <<<"$output")
	[[ $before == *s1*connected*rnbd0*mapped* ]]
	for cmd in "map /dev/ram1 --session s1" "unmap rnbd0" "session set s1 --mp-policy round-robin" "path add s1 10.2.0.1" \
		"stats reset --all" "server client disconnect s1 --force"; do
		# shellcheck disable=SC2086
		run --separate-stderr -5 setpriv --reuid 65534 --regid 65534 --clear-groups "$ADM" $cmd
		[[ -z $output && $stderr == "rnbdadm: "*@(denied|EACCES|root)* ]] || fail "$cmd: $output $stderr"
	done
	adm 0 status -j
	[ "$(jq -c "$what" <<<"$output")" = "$before" ]
}

@test "in-tree: the server closes a device, and a client; unmap" {
	record /run/tmp/events device export --no-snapshot --timeout 60s
	adm 0 map /dev/ram1 --session s1 --access ro
	[ "$output" = /dev/rnbd1 ]
	await 10 grep -q '"event":"create","object":"export"' /run/tmp/events
	says 7 "1 client has it open" server export close ram1
	adm 0 server export close ram1 --force
	adm_is '[.exports[].device] == ["ram0"]' server export list
	await 10 grep -q '"event":"destroy","object":"export"' /run/tmp/events
	adm 0 unmap rnbd1 --force --wait
	record_end /run/tmp/events
	# It may look while the server has opened the device, and the client does not know yet
	jq -es '[.[] | select(.event != "sync" and .event != "change") | "\(.source) \(.event) \(.object) \(.name)"] |
		(.[:2] | sort) + .[2:3] == ["poll create device rnbd1", "poll create export ram1", "poll destroy export ram1"]' /run/tmp/events
	says 7 "the client is connected" server client disconnect s1
	adm 0 server client disconnect s1 --force --wait
	adm_is '.clients == []' server client list
	await 10 adm_is '.sessions[0].state == "disconnected"' session show s1
	adm 0 path reconnect s1
	adm_is '.sessions[0].state == "connected"' session show s1
	adm 0 unmap --all --wait
	adm_is '.sessions == []' session list
	dmesg_clean
}

# agree ARGS..: what sysfs tells, netlink tells, too. What is measured anew each time is left out.
agree() {
	"$ADM" "$@" -j --backend sysfs >/tmp/sysfs.json
	"$ADM" "$@" -j --backend netlink >/tmp/netlink.json
	document "$(</tmp/sysfs.json)"
	document "$(</tmp/netlink.json)"
	jq -e '.backend == "sysfs"' /tmp/sysfs.json
	jq -se '[.[] | [paths(type != "null" and type != "object" and type != "array") as $p |
			select($p[-1] | IN("time", "backend", "heartbeat_latency_ns", "inflight", "id") | not) |
			{($p | tojson): getpath($p)}] | add] |
		(.[0] | length) > 10 and (.[1] as $n | .[0] |
			all(to_entries[]; $n[.key] == .value or error("\(.key): \(.value), not \($n[.key])")))' \
		/tmp/sysfs.json /tmp/netlink.json
}

@test "ours: the same module parameters and modes, and nine more" {
	unload_all
	load_server
	load_client
	[ "$(parameters)" = "$(sort <<<"$PARAMETERS
rnbd_server access 444
rnbd_server max_devices 644
rnbd_server record 444
rnbd_server share_local 644
rtrs_server eager_bytes 444
rtrs_server heartbeat_interval_ms 644
rtrs_server heartbeat_misses 644
rtrs_server listen 444
rtrs_server max_memory 444")" ] || fail "$(parameters)"
}

@test "ours: both ways tell the same" {
	adm_is '.backend == "netlink"' session list
	adm 0 map /dev/ram0 --session s1 --path 10.0.0.1@10.0.0.1 --path 10.0.1.1@10.0.1.1 --backend sysfs
	[ "$output" = /dev/rnbd0 ]
	adm 0 map /dev/ram1 --session s1 --access ro
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=32 iflag=direct status=none
	adm 0 path disconnect s1 10.0.1.1
	for c in "session list --stats" "path list" "device list --details" status "stats --per-cpu" "stats --role server" "server export list" \
		"server client list"; do
		# shellcheck disable=SC2086
		agree $c || fail "$c"
	done
	adm 0 unmap --all --backend sysfs
	adm_is '.sessions == []' session list
}

@test "ours: by sysfs, of a server with an access list: exports by their names, what is refused, what a change ends" {
	printf '%s\n' '[peer any]' 'auth = none' 'session = s1' 'from = ip:10.0.0.0/8' '[export vol0]' 'path = /dev/ram0' 'allow = any:ro' \
		>/run/tmp/list
	adm 0 server access apply /run/tmp/list
	adm 0 map vol0 --session s1 --path 10.0.0.1@10.0.0.1 --access ro --backend sysfs
	[ "$output" = /dev/rnbd0 ]
	adm_is '.devices[0] | [.device_path, .state, .access, .size_bytes] == ["vol0", "mapped", "ro", 16777216]' device show rnbd0 --backend sysfs
	agree status
	says 4 "server has no device '/dev/ram0'" map /dev/ram0 --session s1 --access ro --backend sysfs
	says 1 "map vol0" map vol0 --session s2 --path 10.0.0.1 --access ro --backend sysfs
	adm 0 server access close --force
	run ! dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	adm 0 unmap --all --force --backend sysfs
	adm 0 server access open --force
}

# "NAME MODE" of the files that rnbd-sysfs(5) has an entry for
documented() { sed -nE 's/^\.It Pa ([a-z_]+) Pq (rw?)$/\1 \2/p' "$ROOT/man/rnbd-sysfs.5.in" | sort -u; }

# The same of what is there. Links lead out; uevent and power/ are the driver core's.
present() {
	find -H /sys/class/rtrs-{client,server}/* /sys/class/rnbd-{client,server}/ctl /sys/block/rnbd*/rnbd \
		/sys/module/r{trs,nbd}_*/parameters -name power -prune -o -type f ! -name uevent -printf '%f %m\n' |
		sed 's/ 644$/ rw/; s/ 444$/ r/' | sort -u
}

@test "ours: rnbd-sysfs(5) has an entry for each file, with its mode, and for no other" {
	local file
	adm 0 map /dev/ram0 --session s1 --path 10.0.0.1@10.0.0.1
	documented >/run/tmp/documented
	present >/run/tmp/present
	# of each directory something, as one that is not there has nothing to miss
	for file in no_path_timeout_ms cur_latency sg_entries wc_completion map_device mapping_path force_close max_memory; do
		grep "^$file " /run/tmp/present
	done
	diff /run/tmp/documented /run/tmp/present
	adm 0 unmap --all
}

@test "ours: the examples of rnbd-sysfs(5) do what they show, and the log says what it shows" {
	local page=$ROOT/man/rnbd-sysfs.5.in module param options said
	ip addr add 10.0.0.2/24 dev dummy0
	await 10 grep -qs 0a00:0002 /sys/class/infiniband/rxe0/ports/1/gids/*
	ln -s ram1 /dev/sdb
	sed -n '/^A disk, a setting/,/^\.Ed/p' "$page" | grep -v '^[.A]' >/run/tmp/screen
	sed -n 's/^# //p' /run/tmp/screen >/run/tmp/lines
	[ "$(wc -l </run/tmp/lines)" -ge 5 ]
	run -0 bash -e /run/tmp/lines
	[ "$output" = "$(grep -v '^# ' /run/tmp/screen)" ]
	options=$(sed -n 's/^options //p' "$page")
	[ "$(wc -l <<<"$options")" -eq 2 ]
	while read -r module param; do
		# shellcheck disable=SC2086
		for param in $param; do [ -e "/sys/module/$module/parameters/${param%%=*}" ]; done
	done <<<"$options"
	adm 0 map /dev/ram0 --session s1 --path 10.0.0.1@10.0.0.1
	dmesg_mark
	run -1 bash -c 'echo 1 >/sys/class/rtrs-client/s1/heartbeat_misses'
	said=$(grep '^rtrs_client: s1: .1. to heartbeat_misses' "$page")
	# the errno behind it: by number where the kernel knows no names
	[[ -n $said && $(dmesg_new) == *"${said%(*}"* ]]
	adm 0 unmap --all
}
