#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What a client finds when its paths are back: a server that was loaded again, with other buffers; a device that is
# there again, late, or not at all, or that another client has. And a disk of the server that does not answer. In one guest.
# lab: on debug: objects that come and go are judged by KASAN and kmemleak
# lab: no sanitizers: its times are of the modules
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	both_ends 32
}

setup() { . "$ROOT/tests/vm/reconnect.bash"; }

teardown() { reconnect_end; }

@test "the server is loaded again: the device is opened again, I/O goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	fio_start
	rmmod rnbd-server rtrs-server
	await 20 paths_up 0
	load_server
	local since=$EPOCHREALTIME
	await 30 adm_is '.devices[0].state == "mapped"' device list
	echo "# loaded again: the device was open again $(seconds_since "$since") s later" >&3
	await 30 paths_up 2
	fio_end
}

said_again() { dmesg_new | grep -q 'mapped /dev/ram0 of session s1 again'; }

@test "the server's administrator disconnects the client: it is back by itself; the device that he closes is not" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	fio_start
	local since=$EPOCHREALTIME
	"$ADM" server client disconnect s1 --force
	await 20 said_again
	echo "# disconnected by the server: the device was open again after $(seconds_since "$since") s" >&3
	fio_end
	"$ADM" server export close /dev/ram0 --force
	since=$EPOCHREALTIME
	run -1 dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	echo "# closed by the server: a read failed after $(seconds_since "$since") s" >&3
	await 10 adm_is '.devices[0] | .state == "disconnected" and .last_error == "ENOTCONN"' device show rnbd0
	paths_up 1
	"$ADM" remap rnbd0
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
}

@test "the server comes back with other buffers: shorter ones, more of them, fewer of them, never invalidated, invalidated again" {
	local params
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	quick
	echo -1 >$SYS/no_path_timeout_ms
	for params in max_chunk_size=16384 sess_queue_depth=1024 sess_queue_depth=8 always_invalidate=N always_invalidate=Y; do
		fio_start --bs=64k --iodepth=32 --size=8m
		rmmod rnbd-server rtrs-server
		await 20 paths_up 0
		load_server $params
		[ "$(</sys/module/rtrs_server/parameters/"${params%=*}")" = "${params#*=}" ]
		await 30 adm_is '.devices[0].state == "mapped"' device list
		fio_end 50
	done
	# More at once than there are slots from here on
	adm_is '.sessions[0].queue_depth == 8' session list
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=64 --rw=randwrite --bs=4k --size=4m --verify=crc32c
}

@test "B7: a session without a device learns of a server with shorter buffers, too" {
	"$ADM" session add held --path ip:10.0.0.1 --reconnect-delay 100ms
	rmmod rnbd-server rtrs-server
	await 20 adm_is '.sessions[0].paths_connected == 0' session list
	load_server max_chunk_size=16384
	await 30 adm_is '.sessions[0].paths_connected == 1' session list
	"$ADM" map /dev/ram0 --session held
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=psync --rw=write --bs=64k --size=4m --verify=crc32c
	"$ADM" unmap rnbd0
	rmmod rnbd-server rtrs-server
	load_server
}

@test "B9: another client has written meanwhile: what waited fails, and remap goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	echo -1 >$SYS/no_path_timeout_ms
	local path=("$SYS"/paths/*)
	echo 1 >"$path/disconnect"
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	# More than the session has tags; the block layer takes for done what is set aside
	fio --name=w --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=1024 --rw=randwrite --bs=4k --size=4m --thread \
		--output=/tmp/fio.out &
	local pid=$!
	await 20 io_done rnbd0 1000
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	dd if=/dev/urandom of=/dev/rnbd1 bs=1M count=4 oflag=direct status=none
	dd if=/dev/rnbd1 of=/tmp/other bs=1M count=4 iflag=direct status=none
	"$ADM" unmap rnbd1
	echo 1 >"$path/reconnect"
	await 20 said 'session s1 is back, but not /dev/ram0' ESTALE
	"$ADM" remap rnbd0
	ends_badly $pid
	cmp -n $((4 << 20)) /dev/rnbd0 /tmp/other
	cmp -n $((4 << 20)) /dev/ram0 /tmp/other
}

@test "a reader in between, or the same client again, is no reason to stay away" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	local path=("$SYS"/paths/*) i
	for i in 1 2; do
		echo 1 >"$path/disconnect"
		await 20 adm_is '.devices[0].state == "disconnected"' device list
		"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1 --access ro
		"$ADM" unmap rnbd1
		echo 1 >"$path/reconnect"
		await 20 adm_is '.devices[0].state == "mapped"' device list
	done
}

@test "a device that is gone when the session is back stays disconnected, with the reason" {
	ln -s ram0 /dev/away
	"$ADM" map /dev/away --session s1 --path ip:10.0.0.1
	local path=("$SYS"/paths/*)
	echo 1 >"$path/disconnect"
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	rm /dev/away
	echo 1 >"$path/reconnect"
	await 20 said 'session s1 is back, but not /dev/away' ENOENT
	adm_is '.devices[0].state == "disconnected"' device list
	ln -s ram0 /dev/away
	"$ADM" remap rnbd0
	adm_is '.devices[0].state == "mapped"' device list
	rm /dev/away
}

@test "a device that shows late: what waits goes on by itself" {
	ln -s ram0 /dev/away
	"$ADM" map /dev/away --session s1 --path ip:10.0.0.1 --no-path-timeout -1
	quick
	local pid
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	rm /dev/away
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none & pid=$!
	rxe_add rxe0 dummy0
	await 20 said 'session s1 is back, but not /dev/away' ENOENT
	kill -0 $pid
	ln -s ram0 /dev/away
	wait $pid
	await 10 adm_is '.devices[0].state == "mapped"' device list
	rm /dev/away
}

@test "a device that stays away keeps its session's other one from nothing: I/O, unmap, map" {
	local flusher
	null_disk cached size=16 cache_size=1
	ln -s cached /dev/away
	"$ADM" map /dev/away --session s1 --path ip:10.0.0.1 --no-path-timeout -1
	"$ADM" map /dev/ram0 --session s1 --access ro
	quick
	# More than the session has tags
	fio_start --rw=randwrite --iodepth=1024 --size=16m
	await 30 io_done rnbd0 1024
	timeout 60 rdma link delete rxe0
	await 20 paths_up 0
	rm /dev/away
	sync /dev/rnbd0 & flusher=$!
	await 20 asleep $flusher
	rxe_add rxe0 dummy0
	await 20 said 'session s1 is back, but not /dev/away' ENOENT
	timeout 10 dd if=/dev/rnbd1 of=/dev/null bs=4k count=64 iflag=direct status=none
	timeout 20 "$ADM" unmap rnbd1
	timeout 20 "$ADM" map /dev/ram0 --session s1 --access ro
	timeout 20 "$ADM" unmap rnbd1
	kill -0 $FIO
	kill -0 $flusher
	ln -s cached /dev/away
	wait $flusher
	fio_end
	cmp -n $((16 << 20)) /dev/rnbd0 /dev/cached
	rm /dev/away
	"$ADM" unmap rnbd0
	null_disk_gone cached
}

@test "a device that another client has when the server is back stays disconnected, with the reason; recover brings it back" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	local path=("$SYS"/paths/*)
	echo 1 >"$path/disconnect"
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	rmmod rnbd-server rtrs-server
	load_server
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	echo 1 >"$path/reconnect"
	await 20 said 'session s1 is back, but not /dev/ram0' EPERM
	adm_is '.devices[0] | .state == "disconnected" and .last_error == "EPERM"' device show rnbd0
	run ! "$ADM" recover device rnbd0
	adm_is '.devices[0] | .state == "disconnected" and .last_error == "EPERM"' device show rnbd0
	"$ADM" unmap rnbd1
	"$ADM" recover device rnbd0
	adm_is '.devices[0] | .state == "mapped" and .last_error == null' device show rnbd0
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
}

@test "an I/O time-out ends the path of a request whose disk does not answer" {
	dm_disk slow "0 65536 linear /dev/ram0 0"
	"$ADM" map /dev/dm-0 --session s1 --path ip:10.0.0.1
	quick
	echo 1000 >$SYS/io_timeout_ms
	dmsetup suspend --noudevsync --nolockfs slow
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct &
	local pid=$!
	ends_badly $pid
	said 'lost' ETIMEDOUT
	dmsetup resume --noudevsync slow
	await 30 adm_is '.devices[0].state == "mapped"' device list
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	"$ADM" unmap rnbd0
	dmsetup remove --noudevsync slow
}

# A disk of the server does not answer: $reader waits for it
hung_read() {
	dm_disk slow "0 65536 linear /dev/ram0 0"
	"$ADM" map /dev/dm-0 --session s1 --path ip:10.0.0.1
	dmsetup suspend --noudevsync --nolockfs slow
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct & reader=$!
	await 10 under_way rnbd0
}

@test "unmap by force while the disk of the server does not answer: it can be killed, and goes on" {
	local reader pid
	hung_read
	bash -c 'echo force >/sys/block/rnbd0/rnbd/unmap_device' &
	pid=$!
	await 10 test ! -e /sys/block/rnbd0/rnbd
	kill -9 $pid
	ends_badly $pid
	dmsetup resume --noudevsync slow
	wait $reader || :
	await 30 test ! -e /sys/block/rnbd0
	# The server closes it behind that
	await 30 dmsetup remove --noudevsync slow
}

@test "the modules of the server are unloaded while its disk does not answer: rmmod waits for the disk" {
	local reader pid
	hung_read
	rmmod rnbd-server rtrs-server 3>&- & pid=$!
	await 20 paths_up 0
	kill -0 $pid
	dmsetup resume --noudevsync slow
	wait $pid
	[ ! -e /sys/module/rtrs_server ]
	wait $reader || :
	load_server
	"$ADM" unmap rnbd0 --force
	dmsetup remove --noudevsync slow
}
