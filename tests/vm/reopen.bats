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
	net_up 2
	ram_disk 32 2
	load_server
	load_client
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
	server_again
}

@test "B9: another client has written meanwhile: what waited fails, and remap goes on" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	echo -1 >$SYS/no_path_timeout_ms
	disconnected
	# More than the session has tags; the block layer takes for done what is set aside
	fio --name=w --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=1024 --rw=randwrite --bs=4k --size=4m --thread \
		--output=/tmp/fio.out &
	local pid=$!
	await 20 io_done rnbd0 1000
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	dd if=/dev/urandom of=/dev/rnbd1 bs=1M count=4 oflag=direct status=none
	dd if=/dev/rnbd1 of=/tmp/other bs=1M count=4 iflag=direct status=none
	"$ADM" unmap rnbd1
	back
	await 20 said 'session s1 is back, but not /dev/ram0' ESTALE
	"$ADM" remap rnbd0
	ends_badly $pid
	cmp -n $((4 << 20)) /dev/rnbd0 /tmp/other
	cmp -n $((4 << 20)) /dev/ram0 /tmp/other
}

@test "E1: cut off with a write waiting, another client writes, the server is loaded again: what waited fails" {
	local pid
	cut_off /dev/ram0
	other_writes /dev/ram0
	server_again
	back
	stays_away /dev/ram0
	cmp /tmp/mine /tmp/other
}

@test "E1: between two restarts of the server another client writes: what waited fails; the owner is let in after one without that" {
	local pid
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --no-path-timeout -1
	echo 60000 >$SYS/reconnect_delay_ms
	server_again
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	write_waits
	back
	goes_on
	server_again
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	write_waits
	other_writes /dev/ram0
	server_again
	back
	stays_away /dev/ram0
	cmp /tmp/mine /tmp/other
}

@test "E1: who comes back too late takes nothing from the owner, whether that is there or cut off, too" {
	local pid path2="/sys/class/rtrs-client/s2/paths/ip:10.0.1.1@ip:10.0.1.1"
	cut_off /dev/ram0
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	echo 1 >"$path2/disconnect"
	await 20 adm_is '.devices[0].state == "disconnected"' device show rnbd1
	back
	is_stale /dev/ram0
	echo 1 >"$path2/reconnect"
	await 20 adm_is '.devices[0].state == "mapped"' device show rnbd1
}

@test "E1: a client that is refused, as it has too many disks, is not the one that wrote last, nor after a restart" {
	local pid
	cut_off /dev/ram0
	echo 1 >/sys/module/rnbd_server/parameters/max_devices
	"$ADM" map /dev/ram1 --session s2 --path ip:10.0.1.1
	run ! "$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	[[ $output == *"allows this client no more devices"* ]]
	back
	goes_on
	server_again
	await 20 adm_is '.devices[0].state == "mapped"' device list
}

@test "E1: a record that is damaged lets nobody in by itself; one that cannot be made is told, and lets in until a restart" {
	local pid
	server_again record=/tmp/record
	cut_off /dev/ram0
	[ "$(stat -c '%s %a' /tmp/record)" = "64 600" ]
	rmmod rnbd-server rtrs-server
	printf x | dd of=/tmp/record bs=1 seek=40 conv=notrunc status=none
	load_server record=/tmp/record
	back
	stays_away /dev/ram0
	"$ADM" unmap rnbd0
	rmmod rnbd-server rtrs-server
	truncate -s 100 /tmp/record
	load_server record=/none/record
	cut_off /dev/ram0
	dmesg_new | grep 'rnbd_server: /none/record cannot be made: .*clients stay disconnected'
	back
	goes_on
	rmmod rnbd-server rtrs-server
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	write_waits
	load_server record=/tmp/record
	back
	stays_away /dev/ram0
	"$ADM" unmap rnbd0
	# Behind the piece
	[ "$(stat -c %s /tmp/record)" = 192 ]
	rm /tmp/record
	server_again
}

@test "E1: a record that cannot be changed keeps other clients from writing, and not the one that it names" {
	local pid
	mkdir -p /tmp/ro
	mount -t tmpfs record /tmp/ro
	server_again record=/tmp/ro/record
	cut_off /dev/ram0
	mount -o remount,ro /tmp/ro
	run ! "$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	[[ $output == *EROFS* ]]
	dmesg_new | grep 'rnbd_server: /tmp/ro/record cannot be written: .*No other client'
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1 --access ro
	"$ADM" unmap rnbd1
	back
	goes_on
	mount -o remount,rw /tmp/ro
	"$ADM" unmap rnbd0
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	"$ADM" unmap rnbd0
	server_again
	umount /tmp/ro
}

@test "E2: in migration and cut off, another client may write: what waited fails, whether it came before or after, is there or not" {
	local pid
	cut_off /dev/ram0 --access migration
	other_writes /dev/ram0
	back
	stays_away /dev/ram0
	cmp /tmp/mine /tmp/other
	"$ADM" unmap rnbd0
	cut_off /dev/ram0 --access migration
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	back
	stays_away /dev/ram0
	"$ADM" unmap --all --force
	# The other was there before, and until the server went
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1 --access migration
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --access migration --no-path-timeout -1
	"$ADM" session set s2 --reconnect-delay 10m --reconnect-delay-max 10m
	rmmod rnbd-server rtrs-server
	await 20 adm_is 'all(.devices[]; .state == "disconnected")' device list
	dd if=/dev/zero of=/dev/rnbd1 bs=64k count=1 oflag=direct status=none & pid=$!
	await 20 asleep $pid
	load_server
	# Though it is the first to be back
	await 30 adm_is '.devices[0].last_error == "ESTALE"' device show rnbd1
	ends_badly $pid
}

@test "E2: an end of a migration is rw when the other one has gone, and comes back as the one that wrote last" {
	local access=/sys/class/rnbd-server/ctl/devices/ram0/sessions/s1/access_mode pid
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --access migration --no-path-timeout -1
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1 --access migration
	"$ADM" unmap rnbd1
	await 20 adm_is '.devices[0].access == "rw"' device list
	[ "$(<$access)" = rw ]
	[ "$(</sys/block/rnbd0/rnbd/access_mode)" = rw ]
	# Nobody else writes beside it then, and it was told that it wrote last
	run ! "$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	disconnected
	write_waits
	back
	goes_on
	# One that was rw all along
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1 --access migration
	"$ADM" unmap rnbd1
	server_again
	await 20 adm_is '.devices[0].state == "mapped"' device list
}

@test "E1: remapped before it comes back by itself: what waited fails, what another client wrote stays" {
	local pid
	mkdir -p /dev/vols
	cp -a /dev/ram0 /dev/vols/disk
	cut_off /dev/vols/disk
	mv /dev/vols/disk /dev/vols/away
	back
	await 20 said 'session s1 is back, but not /dev/vols/disk' ENOENT
	other_writes /dev/ram0
	mv /dev/vols/away /dev/vols/disk
	"$ADM" remap rnbd0 || :	# by itself, just then
	ends_badly $pid
	cmp -n 65536 /dev/ram0 /tmp/other
	rm -r /dev/vols
}

@test "E5: the number of a disk has come to another one: what waited fails, and does not get there" {
	local pid loop
	loop=$(loop_disk 16)
	cut_off "$loop"
	losetup -d "$loop"
	truncate -s 16M /tmp/other-file
	losetup "$loop" /tmp/other-file
	back
	stays_away "$loop"
	cmp -n 65536 /dev/zero /tmp/other-file
	"$ADM" unmap rnbd0
	losetup -d "$loop"

	dm_disk one "0 32768 linear /dev/ram0 0"
	cut_off /dev/dm-0
	dmsetup remove --noudevsync one
	dm_disk one "0 32768 linear /dev/ram0 0"
	dd if=/dev/zero of=/dev/dm-0 bs=64k count=1 oflag=direct status=none
	back
	stays_away /dev/dm-0
	cmp -n 65536 /dev/zero /tmp/mine
	"$ADM" unmap rnbd0
	dmsetup remove --noudevsync one
}

@test "E5: a disk that has a name for ever is the same under another number, and attached anew; a smaller one is not" {
	local pid
	dm_disk one "0 16384 linear /dev/ram0 0" dm-0
	dmsetup create --noudevsync --uuid for-ever same --table "0 32768 linear /dev/ram0 0"
	await 10 test -b /dev/dm-1
	ln -s dm-1 /dev/away
	cut_off /dev/away
	dmsetup remove --noudevsync same
	dmsetup remove --noudevsync one
	dmsetup create --noudevsync --uuid for-ever same --table "0 32768 linear /dev/ram0 0"
	await 10 test -b /dev/dm-0
	ln -sfn dm-0 /dev/away
	back
	goes_on
	"$ADM" unmap rnbd0
	cut_off /dev/away
	dmsetup remove --noudevsync same
	dmsetup create --noudevsync --uuid for-ever same --table "0 32760 linear /dev/ram0 0"
	back
	stays_away /dev/away
	"$ADM" unmap rnbd0
	dmsetup remove --noudevsync same
	rm /dev/away
}

@test "E5: the node leads to another disk, whether the server is loaded again meanwhile or not: what waited fails" {
	local pid by
	mkdir -p /dev/vols
	for by in server_again nothing; do
		cp -a /dev/ram0 /dev/vols/sdb
		cut_off /dev/vols/sdb
		rm /dev/vols/sdb
		cp -a /dev/ram1 /dev/vols/sdb
		dd if=/dev/zero of=/dev/ram1 bs=64k count=1 oflag=direct status=none
		[[ $by != server_again ]] || server_again
		back
		stays_away /dev/vols/sdb
		cmp -n 65536 /dev/zero /dev/ram1
		"$ADM" unmap rnbd0
		rm /dev/vols/sdb
	done
	rmdir /dev/vols
}

@test "a reader in between, or the same client again, is no reason to stay away" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	local i
	for i in 1 2; do
		disconnected
		"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1 --access ro
		"$ADM" unmap rnbd1
		back
		await 20 adm_is '.devices[0].state == "mapped"' device list
	done
}

@test "a device that is gone when the session is back stays disconnected, with the reason" {
	ln -s ram0 /dev/away
	"$ADM" map /dev/away --session s1 --path ip:10.0.0.1
	disconnected
	rm /dev/away
	back
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
	disconnected
	server_again
	"$ADM" map /dev/ram0 --session s2 --path ip:10.0.1.1
	back
	await 20 said 'session s1 is back, but not /dev/ram0' ESTALE
	adm_is '.devices[0] | .state == "disconnected" and .last_error == "ESTALE"' device show rnbd0
	run ! "$ADM" recover s1
	[[ $output == *"another client has it open for writing"* ]]
	adm_is '.devices[0] | .state == "disconnected" and .last_error == "ESTALE"' device show rnbd0
	"$ADM" unmap rnbd1
	"$ADM" recover s1
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
