#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What must not happen at once, tried at once, on CPUs that run at once.
# lab: on 6.1: races need CPUs that run at once
# lab: make tests/fuzz/hostile
# lab: kernels 6.1 6.12
# lab: parallel
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

EXPORTS=/sys/class/rnbd-server/ctl/devices
STOP=/run/tmp/stop

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	. "$ROOT/tests/vm/hostile.bash"
	net_up 1
	ram_disk 16
	setup_slow
	modprobe loop
	load_server sess_queue_depth=64
	load_client
}

setup() {
	. "$ROOT/tests/vm/disk.bash"
	. "$ROOT/tests/vm/hostile.bash"
}

teardown() {
	touch $STOP
	unmap_all
	dmesg_clean
}

@test "A11: a message that changes while it is looked at" { both access-changes-its-mind; }

@test "A13: two CLOSE for one device on two connections" { both access-close-twice access-open-while-closing; }

@test "C19: force_close waits, whatever else goes on" { both access-force-in-flight access-force-and-vanish; }

@test "a way to a disk that is changed all the time leads there, or nowhere" {
	local top=/run/tmp/move pid rc=0
	mkdir -p $top/x/in $top/out
	mknod $top/x/in/disk b 1 0
	mknod $top/out/disk b 7 9	# of no size
	ln -s ../out $top/x/link
	mode sess_queue_depth=64 dev_search_path=$top/x
	"$ROOT/build/tools/exchange" $top/x/in $top/x/link 3>&- & pid=$!
	SECTORS=32768 DISK=in/disk hostile special-moving || rc=$?
	kill $pid
	mode sess_queue_depth=64
	[ $rc -eq 0 ]
}

@test "everybody closes at once: force_close, unmap, map, sysfs" {
	local end=$((SECONDS + $(lasting 20))) disk keep maps=0 i pids=()
	keep=/sys/block/$(map /dev/slow) # and its session, which takes long to come
	for i in 1 2; do
		while ((SECONDS < end)); do
			for file in $EXPORTS/*/sessions/*/force_close; do echo 1 >"$file" && echo; done 2>/dev/null
		done >/run/tmp/forced$i 3>&- &
		pids+=($!)
	done
	while ((SECONDS < end)); do cat $EXPORTS/*/sessions/*/* || :; done >/dev/null 2>&1 3>&- &
	pids+=($!)
	while ((SECONDS < end)); do
		for i in /dev/ram0 //dev/ram0; do
			! echo "sessname=s1 path=ip:10.0.0.1 device_path=$i access_mode=ro" >"$CTL/map_device" || maps=$((maps + 1))
		done
		for i in /sys/block/rnbd*; do [[ $i == "$keep" || ! -e $i ]] || unmap "${i##*/}" force || :; done
	done 2>/dev/null
	wait "${pids[@]}" || :
	echo "# $maps mapped, closed by force: $(wc -l </run/tmp/forced1) and $(wc -l </run/tmp/forced2)" >&3
	((maps)) && [[ -s /run/tmp/forced1 && -s /run/tmp/forced2 ]]
	unmap_all
	disk=$(map /dev/ram0)
	same_contents "/dev/$disk" /dev/ram0
}

raced() { grep -q forced $AT_ONCE && grep -q remapped $AT_ONCE; }

# Each time until both have worked once: that a disk is closed is known when its I/O fails, which takes its time on a slow host
@test "remap, force_close, I/O, resize and unmap at once" {
	local AT_ONCE=/run/tmp/at-once disk n fio pids
	for n in 1 2 3 4; do
		rm -f $STOP $AT_ONCE
		disk=$(map /dev/ram0)
		# Killed, not asked to end, for which it may take locks of its own: it goes when what it has under way has ended
		fio --filename="/dev/$disk" --thread --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --name=x --time_based \
			--runtime=90 --continue_on_error=all --minimal >/dev/null 2>&1 3>&- & fio=$!
		(until [[ -e $STOP ]]; do echo 1 >$EXPORTS/ram0/sessions/s1/force_close && echo forced || nap; done) \
			2>/dev/null >>$AT_ONCE 3>&- & pids=($!)
		for _ in 1 2; do
			(until [[ -e $STOP ]]; do
				echo 1 >"/sys/block/$disk/rnbd/remap_device" && echo remapped || :
				echo 32768 >"/sys/block/$disk/rnbd/resize" || nap
			done) 2>/dev/null >>$AT_ONCE 3>&- & pids+=($!)
		done
		await 2 false 2>/dev/null || :
		await 60 raced
		unmap "$disk" force
		[ ! -e "/sys/block/$disk" ]
		kill -9 "$fio" || :
		wait "$fio" || :
		touch $STOP
		wait "${pids[@]}" || :
		[ ! -e /sys/class/rtrs-client/s1 ]
		echo "# $(sort $AT_ONCE | uniq -c | xargs)" >&3
	done
	await 10 census_even
	disk=$(map /dev/ram0)
	same_contents "/dev/$disk" /dev/ram0
}

# Until it has the answer the client has one receive, for that
@test "the server's heartbeats begin behind its answer to INFO" {
	local trace=/sys/kernel/tracing
	[[ -n $VIRTIO ]] || skip "the debug kernel has no kprobes"
	printf 'p:path/%s\n' "sent rtrs_post_send_iu" "beats rtrs_hb_start" >$trace/kprobe_events
	echo >$trace/trace
	echo 1 >$trace/events/path/enable
	"$ADM" session add s1 --path ip:10.0.0.1
	echo 0 >$trace/events/path/enable
	cat $trace/trace
	[ "$(sed -n 's/.* \(sent\|beats\): .*/\1/p' $trace/trace | xargs)" = "sent sent beats beats" ]
	echo >$trace/kprobe_events
	"$ADM" session remove s1
}
