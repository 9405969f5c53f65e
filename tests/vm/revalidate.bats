#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A device of the server changes its size: its clients are told, and their disks follow.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: cpus 1
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

EXPORT=/sys/class/rnbd-server/ctl/devices/loop0

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 2
	ram_disk 16
	[ "$(loop_disk 16)" = /dev/loop0 ]
	load_server sess_queue_depth=64 dev_search_path=/dev
	load_client
}

setup() {
	. "$ROOT/tests/vm/disk.bash"
	size 16
}

teardown() {
	# A test that fails leaves no disk that does not answer
	! dmsetup info still >/dev/null 2>&1 || dmsetup resume --noudevsync still
	"$ADM" unmap --all --force || :
	dmesg_clean
}

# size MIB: of the server's device
size() {
	truncate -s "$1M" "$(losetup -nO BACK-FILE /dev/loop0)" && losetup -c /dev/loop0
}

disk_is() { [[ $(blockdev --getsize64 "/dev/$1") -eq $(($2 << 20)) ]]; }

resized() { [[ $(grep -c RESIZE=1 /run/tmp/uevents) -eq $1 ]]; }

# grew NAME OLD NEW: monitor has said so
grew() {
	jq -se ".[] | select(.event == \"change\" and .name == $1) | .changes.size_bytes == {old: $2, new: $3}" /run/tmp/events >/dev/null
}

# told OLD NEW RESULT..: what revalidate said in $output
told() {
	jq -e --argjson old "$(($1 << 20))" --argjson new "$(($2 << 20))" --arg is "${*:3}" '.old_size_bytes == $old and
		.new_size_bytes == $new and ([.clients[].result] | join(" ")) == $is' <<<"$output" || fail "$output"
}

@test "a device grows: both clients are told, resize their disks, with a uevent and an event" {
	[ "$("$ADM" map loop0 --session s1 --path 10.0.0.1 --path 10.0.1.1 --access ro)" = /dev/rnbd0 ]
	[ "$("$ADM" map loop0 --session s2 --path 10.0.1.1 --access rw)" = /dev/rnbd1 ]
	[ "$("$ADM" map ram0 --session s2)" = /dev/rnbd2 ]
	size 24
	disk_is rnbd0 16 # nobody has told them
	uevents /run/tmp/uevents
	record /run/tmp/events device --diff --timeout 60s
	run -0 --separate-stderr "$ADM" server export revalidate loop0 -j
	told 16 24 told told
	await 10 disk_is rnbd0 24
	await 10 disk_is rnbd1 24
	disk_is rnbd2 16
	await 10 grew '"rnbd0"' $((16 << 20)) $((24 << 20))
	await 10 grew '"rnbd1"' $((16 << 20)) $((24 << 20))
	record_end /run/tmp/events
	await 10 resized 2
	uevents_end
	dd if=/dev/urandom of=/run/tmp/data bs=1M count=1 status=none
	dd if=/run/tmp/data of=/dev/rnbd1 bs=1M seek=23 oflag=direct status=none
	dd if=/dev/rnbd0 bs=1M skip=23 iflag=direct status=none | cmp - /run/tmp/data
	run -0 --separate-stderr "$ADM" server export revalidate loop0 -j
	told 24 24 unchanged unchanged
	[ "$(jq .changed <<<"$output")" = false ]
}

@test "what is told is no request in flight" {
	local i readers=()
	modprobe dm_mod
	dm_disk still "0 32768 linear /dev/ram0 0"
	"$ADM" map dm-0 --session s1 --path 10.0.0.1
	dmsetup suspend --noudevsync still
	for i in 1 2 3 4; do
		dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 skip=$((i * 16)) iflag=direct status=none 3>&- & readers+=($!)
	done
	await 10 under_way rnbd0 4
	for i in 1 2 3; do "$ADM" server export revalidate dm-0; done
	adm_is '.paths[0].counters.inflight == 4' server path list --stats
	dmsetup resume --noudevsync still
	for i in "${readers[@]}"; do wait "$i"; done
	"$ADM" unmap rnbd0
	await 10 dmsetup remove --noudevsync still
}

@test "one client of two" {
	"$ADM" map loop0 --session s1 --path 10.0.0.1 --access ro
	"$ADM" map loop0 --session s2 --path 10.0.0.1
	size 20
	run -0 --separate-stderr "$ADM" server export revalidate /dev/loop0 --session s2 -j
	told 16 20 told
	await 10 disk_is rnbd1 20
	disk_is rnbd0 16
	adm_is "[.exports[0].clients[].told_size_bytes] == [$((16 << 20)),$((20 << 20))]" server export show loop0 --details
}

@test "a smaller device is refused, and told with --force" {
	size 32
	"$ADM" map loop0 --session s1 --path 10.0.0.1
	size 16
	run -7 "$ADM" server export revalidate loop0
	[[ $output == *"smaller than clients know it"*"s1 has it open as 'loop0' with 32.0 MiB, not 16.0 MiB"* ]]
	disk_is rnbd0 32
	run -0 --separate-stderr "$ADM" server export revalidate loop0 --force -j
	told 32 16 told
	await 10 disk_is rnbd0 16
}

@test "sysfs: revalidate" {
	"$ADM" map loop0 --session s1 --path 10.0.0.1 --access ro
	"$ADM" map loop0 --session s2 --path 10.0.0.1
	[[ $(<$EXPORT/revalidate) == Usage:* ]]
	size 28
	write_fails "Invalid argument" $EXPORT/revalidate 2
	write_fails "Invalid argument" $EXPORT/revalidate ""
	echo 1 >$EXPORT/revalidate
	await 10 disk_is rnbd0 28
	await 10 disk_is rnbd1 28
}

@test "what is closed, unmapped or lost meanwhile stays so" {
	local i
	"$ADM" map loop0 --session s1 --path 10.0.0.1
	"$ADM" server export close loop0 --force
	run -4 "$ADM" server export revalidate loop0
	[[ $output == *"no such device open"* || $output == *"no client has such a device open"* ]]
	"$ADM" unmap --all --force
	for ((i = 0; i < 20; i++)); do
		"$ADM" map loop0 --session s1 --path 10.0.0.1 >/dev/null
		size $((17 + i))
		echo 1 >$EXPORT/revalidate
		((i % 2)) || "$ADM" server client disconnect s1 --force
		"$ADM" unmap rnbd0 --force
	done
	await 10 test ! -e $EXPORT
	run -4 "$ADM" server export revalidate loop0
}

@test "everything can be unloaded" {
	unload_all
}
