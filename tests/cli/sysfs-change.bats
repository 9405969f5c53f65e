#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# --backend sysfs: what is written to the files of the in-tree drivers. What they cannot do is said, with exit code 9.
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

@test "unmap, remap, resize, device set" {
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
	fails 6 conflict device set rnbd10 --access rw
	[[ $stderr == *"the device is disconnected"*"rnbdadm remap rnbd10"* ]]
	put "$SYS/block/rnbd0/rnbd/access_mode" migration
	fails 9 unsupported device set rnbd0 --access rw
	[[ $stderr == *"the sysfs backend cannot change the access of a mapped device"*"the modules of this project have it, by netlink"* ]]
}

@test "paths: added, removed, reconnected, disconnected; the last one stays" {
	adm 0 path add cl1@srv1 10.0.3.1@10.0.3.2 --no-wait
	written "$CLIENT/add_path" ip:10.0.3.1@ip:10.0.3.2
	fails 6 conflict path add cl1@srv1 10.0.0.1@10.0.0.2
	adm 0 path reconnect cl1@srv1 10.0.1.2 -j
	written "$PATH2/reconnect" 1
	adm 7 path disconnect cl1@srv1 10.0.0.2
	[[ $stderr == *"the last connected path"*"rnbd0 is used by: mount /data"* ]]
	untouched "$PATH1"/{disconnect,remove_path,reconnect}
	adm 0 path disconnect cl1@srv1 10.0.0.2 -f -n
	[[ $stderr == *"would write '1' to /sys/class/rtrs-client/cl1@srv1/paths/ip:10.0.0.1@ip:10.0.0.2/disconnect"* ]]
	untouched "$PATH1/disconnect"
	adm 0 path disconnect cl1@srv1 10.0.0.2 -f
	written "$PATH1/disconnect" 1
	adm 0 path remove cl1@srv1 10.0.1.2
	written "$PATH2/remove_path" 1
	fails 9 unsupported path reconnect cl1@srv1 10.0.1.2 --timeout 1s
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
	adm 0 session set cl1@srv1 --mp-policy rr
	written "$CLIENT/mpath_policy" round-robin
	adm 0 session set cl1@srv1 --max-reconnect-attempts 7 -n
	written "$CLIENT/max_reconnect_attempts" -1
	adm 0 session set cl1@srv1 --max-reconnect-attempts 7 --mp-policy min-inflight
	written "$CLIENT/max_reconnect_attempts" 7
	fails 9 unsupported session set cl1@srv1 --io-timeout 5s
	adm 0 stats reset cl1@srv1
	written "$PATH1/stats/reset_all" 1
	adm 0 stats reset cl1@srv1 10.0.1.2 --counters ios,migrations,reconnects
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
	adm 0 stats reset --all --role server
	written "$(echo "$SERVER"/paths/*)/stats/rdma" 1
	fails 9 unsupported stats reset cl1@srv1 --counters latency
	[[ $stderr == *"there is no file /sys/class/rtrs-client/cl1@srv1/paths/"*"/stats/rdma_lat"* ]]
}

@test "what only the family has exits 9, and names what is missing" {
	fails 9 unsupported session add s9 --path 10.0.0.2
	[[ $stderr == *"the sysfs backend cannot make a session without a device"*"hint: "* ]]
	fails 9 unsupported session remove "$ODD" --force
	fails 9 unsupported server export revalidate ram0
	fails 9 unsupported path add cl1@srv1 10.0.3.2 --dest-port 5
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
	adm 0 session remove nosuch --idempotent
}

@test "what would be refused is refused in a dry run, too" {
	local conf=$BATS_TEST_TMPDIR/conf
	fails 9 unsupported map vol9 --session cl1@srv1 --path 10.0.0.7 --add-paths --dest-port 99 -n
	[[ $stderr == *"the sysfs backend cannot add a path to another port"* ]]
	adm 0 map vol9 --session cl1@srv1 --path 10.0.0.7 --add-paths -n
	[ "${lines[0]}" = "rnbdadm path add cl1@srv1 ip:10.0.0.7" ]
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
	[ "$output" = "rnbdadm path add cl1@srv1 ip:10.0.3.1@ip:10.0.3.2
rnbdadm session set cl1@srv1 --mp-policy=round-robin" ]
	adm 3 config apply "$conf" -nj
	[ "$(jqc '.dry_run and .changed == false and ([.changes[] | select(.session == "cl1@srv1") | .result] == [null, null])')" = true ]
	# what ends with its last device is no failure
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' 'path = 10.0.1.2' >"$conf"
	adm 0 config apply "$conf" --prune=all --force -n
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
	fails 1 failed path remove cl1@srv1 10.0.1.2
	[[ $stderr == *ENOSPC*"hint: details may be in the kernel log"* ]]
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

@test "the lock is free while a driver connects" {
	local file=$SYS/class/rnbd-client/ctl/map_device pid lock=$ROOT/run/rnbdadm.lock
	rm "$file"
	mkfifo "$file"
	"$PLAIN" "${R[@]}" map vol9 --session s9 --path 10.0.0.2 3>&- >/dev/null 2>&1 & pid=$!
	# it waits for somebody who reads
	until [[ -e $lock && $(<"/proc/$pid/wchan") == *fifo* || $(<"/proc/$pid/stat") == *") S "* ]]; do kill -0 $pid; sleep 0.02; done
	flock -w 20 "$lock" true
	kill -0 $pid
	adm 0 unmap rnbd10 --lock-timeout 0s
	kill $pid
	wait $pid || :
}

@test "the documents of these tests are valid" { all_valid; }
