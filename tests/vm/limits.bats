#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What a disk can do: limits as the server has them, every operation on the backing device, sizes from nothing to 16 TiB,
# merged requests, polled queues. In one guest.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: on 6.1 for ^(discard|what is cut|nothing|size of requests|logical blocks|F15): kernel/compat sets the limits of a queue in another way than on 6.12
# lab: cpus 1
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

TRACE=/sys/kernel/tracing
OPS=$TRACE/events/rnbd_server/rnbd_server_io

setup_file() {
	. "$ROOT/tests/vm/disk.bash"
	net_up 1
	ram_disk 16
	modprobe loop
	load_server
	load_client
}

setup() { . "$ROOT/tests/vm/disk.bash"; }

teardown() {
	local dir
	[[ ! -e /sys/block/dm-0 || $(</sys/block/dm-0/dm/suspended) == 0 ]] || dmsetup resume --noudevsync "$(</sys/block/dm-0/dm/name)"
	unmap_all
	losetup -D
	rm -f /run/tmp/disk.*
	for dir in /sys/kernel/config/nullb/nb*; do
		[[ ! -d $dir ]] || null_disk_gone "${dir##*/}"
	done
}

# loop SIZE [OPTION..]: prints a loop device on a sparse file
loop() {
	local file size=$1
	shift
	file=$(mktemp /run/tmp/disk.XXXXXX) && truncate -s "$size" "$file" && losetup --show "$@" -f "$file"
}

# traced EVENT-DIR CMD..: what it made happen is in /run/tmp/trace
traced() {
	local events=$1
	shift
	echo >$TRACE/trace
	echo 1 >"$events/enable"
	"$@" || { echo 0 >"$events/enable"; return 1; }
	echo 0 >"$events/enable"
	grep -v '^#' $TRACE/trace >/run/tmp/trace || :
}

queue() { cat "/sys/block/$1/queue/$2"; }

fill() { dd if=/dev/urandom of="$1" bs=1M oflag=direct status=none 2>/dev/null || :; }

@test "discard, write zeroes with and without NOUNMAP: on the backing device" {
	local back disk file blocks
	back=$(loop 16M)
	file=$(losetup -n -O BACK-FILE "$back")
	disk=$(map "$back")
	fill "/dev/$disk"
	blocks=$(stat -c %b "$file")
	traced $OPS blkdiscard -o 1M -l 4M "/dev/$disk"
	grep -q 'op=discard .*sector=2048 ' /run/tmp/trace
	same_contents "/dev/$disk" "$back"
	[ "$(stat -c %b "$file")" -eq $((blocks - 8192)) ]

	[ "$(queue "$disk" write_zeroes_max_bytes)" -gt 0 ]
	# May unmap, must not be written
	traced $OPS fallocate -p -o 6M -l 4M "/dev/$disk"
	grep -q 'op=write-zeroes flags=0x[01]*0* ' /run/tmp/trace || cat /run/tmp/trace
	run ! grep -q 'op=write-zeroes flags=0x[89a-f]' /run/tmp/trace
	same_contents "/dev/$disk" "$back"
	[ "$(dd if="$back" bs=1M skip=6 count=4 iflag=direct status=none | tr -d '\0' | wc -c)" -eq 0 ]
	# Must not: the flag reaches the server; what it cannot do the block layer writes
	traced $OPS fallocate -z -o 11M -l 4M "/dev/$disk"
	grep -q 'op=write-zeroes flags=0x[89a-f]..' /run/tmp/trace
	same_contents "/dev/$disk" "$back"
	[ "$(dd if="$back" bs=1M skip=11 count=4 iflag=direct status=none | tr -d '\0' | wc -c)" -eq 0 ]
	blkdiscard -z "/dev/$disk"
	[ "$(dd if="$back" bs=1M iflag=direct status=none | tr -d '\0' | wc -c)" -eq 0 ]
}

@test "what is cut to a limit is whole blocks: 16 TiB, blocks of 4096 bytes" {
	local back disk file end=$((16 << 40))
	back=$(loop 16T -b 4096)
	file=$(losetup -n -O BACK-FILE "$back")
	disk=$(map "$back")
	[ "$(blockdev --getsize64 "/dev/$disk")" -eq $end ]
	[ "$(queue "$disk" logical_block_size)" -eq 4096 ]
	[ $(($(queue "$disk" discard_max_bytes) % 4096)) -eq 0 ]
	[ $(($(queue "$disk" write_zeroes_max_bytes) % 4096)) -eq 0 ]
	[ "$(queue "$disk" write_zeroes_max_bytes)" -lt $((1 << 32)) ]
	[ "$(queue "$disk" discard_max_bytes)" -gt $((3 << 30)) ]
	# More than one request of each
	dd if=/dev/urandom of="/dev/$disk" bs=1M seek=$((4096)) count=2 oflag=direct status=none
	fallocate -p -o 4096 -l 6G "/dev/$disk"
	[ "$(dd if="$back" bs=1M skip=4096 count=2 iflag=direct status=none | tr -d '\0' | wc -c)" -eq 0 ]
	dd if=/dev/urandom of="/dev/$disk" bs=1M seek=$((4096)) count=2 oflag=direct status=none
	blkdiscard -o 4096 -l 6G "/dev/$disk"
	[ "$(stat -c %b "$file")" -eq 0 ]
	# Its last megabyte
	dd if=/dev/urandom of=/run/tmp/disk.data bs=1M count=1 status=none
	dd if=/run/tmp/disk.data of="/dev/$disk" bs=1M seek=$(((end >> 20) - 1)) count=1 oflag=direct status=none
	dd if="/dev/$disk" bs=1M skip=$(((end >> 20) - 1)) count=1 iflag=direct status=none | cmp - /run/tmp/disk.data
	tail -c 1M "$file" | cmp - /run/tmp/disk.data
	run -1 dd if=/dev/zero of="/dev/$disk" bs=1M seek=$((end >> 20)) count=1 oflag=direct
}

@test "nothing: a device of 0 bytes" {
	local back disk
	back=$(losetup -f)
	# It is given to a file while it is open
	echo Y >/sys/module/rnbd_server/parameters/share_local
	disk=$(map "$back")
	echo N >/sys/module/rnbd_server/parameters/share_local
	[ "$(blockdev --getsize64 "/dev/$disk")" -eq 0 ]
	[ "$(dd if="/dev/$disk" bs=4k count=1 status=none | wc -c)" -eq 0 ]
	truncate -s 8M /run/tmp/disk.late
	losetup "$back" /run/tmp/disk.late
	echo 16384 >"/sys/block/$disk/rnbd/resize"
	fill "/dev/$disk"
	same_contents "/dev/$disk" "$back"
	losetup -d "$back" || :
}

# largest_unaligned DEVICE: written from, and read to, the middle of a page; the server sees one request of each
largest_unaligned() {
	local disk bytes
	disk=$(map "$1")
	bytes=$(($(queue "$disk" max_hw_sectors_kb) << 10))
	echo $((bytes >> 10)) >"/sys/block/$disk/queue/max_sectors_kb"
	traced $OPS "$ROOT/build/tools/unaligned" "/dev/$disk" $bytes
	[ "$(grep -c 'op=write ' /run/tmp/trace)" -eq 2 ]
	[ "$(grep -c "op=write .*bytes=$bytes$" /run/tmp/trace)" -eq 2 ]
	[ "$(grep -c "op=read .*bytes=$bytes$" /run/tmp/trace)" -eq 2 ]
	same_contents "/dev/$disk" "$1"
	unmap "$disk"
}

@test "size of requests: the smaller limit of session and server, wherever in a page a buffer begins" {
	local disk
	mode max_chunk_size=1048576 sess_queue_depth=16
	null_disk nb1 size=16 max_sectors=4096
	null_disk nb2 size=16 max_sectors=64
	await 5 test -b /dev/nb2
	disk=$(map /dev/nb1)
	# 128 pages in a region, one for a buffer that begins inside of a page
	[ "$(queue "$disk" max_hw_sectors_kb)" -eq 508 ]
	echo 508 >"/sys/block/$disk/queue/max_sectors_kb"
	traced $OPS dd if=/dev/urandom of="/dev/$disk" bs=508K count=6 oflag=direct iflag=fullblock status=none
	[ "$(grep -c 'op=write .*bytes=520192$' /run/tmp/trace)" -eq 6 ]
	traced $OPS dd if="/dev/$disk" of=/dev/null bs=508K count=6 iflag=direct status=none
	[ "$(grep -c 'op=read .*bytes=520192$' /run/tmp/trace)" -eq 6 ]
	same_contents "/dev/$disk" /dev/nb1
	disk=$(map /dev/nb2)
	[ "$(queue "$disk" max_hw_sectors_kb)" -eq 32 ]
	traced $OPS dd if=/dev/urandom of="/dev/$disk" bs=128K count=4 oflag=direct iflag=fullblock status=none
	[ "$(grep -c 'op=write .*bytes=32768$' /run/tmp/trace)" -eq 16 ]
	same_contents "/dev/$disk" /dev/nb2
	unmap_all
	largest_unaligned /dev/nb1
	mode
	largest_unaligned /dev/ram0
}

@test "large requests on a device that takes a page at once: one piece for each of the client's" {
	local disk
	null_disk nb1 size=16 virt_boundary=1
	disk=$(map /dev/nb1)
	[ "$(queue "$disk" max_hw_sectors_kb)" -eq 124 ]
	# As many as there are pages in a buffer, whatever the device takes
	[ "$(queue "$disk" max_segments)" -eq 32 ]
	echo 4 >/sys/block/nb1/queue/max_sectors_kb
	traced $OPS fio --filename="/dev/$disk" --rw=randwrite --bs=124k --verify=crc32c --verify_fatal=1 --direct=1 --ioengine=libaio \
		--iodepth=16 --size=15872k --name=s --minimal --output=/run/tmp/fio
	[ "$(grep -c 'op=write .*bytes=126976$' /run/tmp/trace)" -eq 128 ]
	# Each in 31 pieces
	[ "$(awk '{ print $5 }' /sys/block/nb1/stat)" -ge $((128 * 31)) ]
	same_contents "/dev/$disk" /dev/nb1
}

# readers DISK N: so many wait for this disk
readers() {
	local i
	READERS=()
	for ((i = 0; i < $2; i++)); do
		dd if="/dev/$1" of=/dev/null bs=4k count=1 skip=$((i * 8)) iflag=direct status=none 3>&- & READERS+=($!)
	done
	await 20 under_way "$1" $(($2 * 6 / 10))
}

readers_end() {
	local i
	for i in "${READERS[@]}"; do
		wait "$i"
	done
}

# holds_nobody_up DEVICE N: which N read from, and which is not through with that when the others are
holds_nobody_up() {
	local disk other same path
	mode sess_queue_depth=64 heartbeat_interval_ms=200 heartbeat_misses=2
	disk=$(map "$1")
	readers "$disk" "$2"
	same=$(map /dev/ram0)
	path=$("$ADM" server path list --no-headers -F id)
	fill "/dev/$same"
	blockdev --flushbufs "/dev/$same"
	echo "sessname=other path=ip:10.0.0.1 device_path=/dev/ram0 access_mode=ro" >/sys/class/rnbd-client/ctl/map_device
	other=$(disk_of other /dev/ram0)
	dd if="/dev/$other" of=/dev/null bs=4k count=1 iflag=direct status=none
	unmap "$same"
	# It is not through with what it had
	under_way "$disk" 4
	"$ADM" server path list --no-headers -F id | grep -qw "$path"
	readers_end
	unmap_all
	mode
}

@test "a disk that takes one request at a time holds up no other disk, and no path" {
	null_disk nb1 size=16 blocksize=4096 irqmode=2 completion_nsec=1000000000 hw_queue_depth=1
	holds_nobody_up /dev/nb1 20
}

@test "E9: nor does one that is made of it, and does not know how not to wait" {
	null_disk nb1 size=16 blocksize=4096 irqmode=2 completion_nsec=1000000000 hw_queue_depth=1
	modprobe dm-delay
	dm_disk waits "0 32768 delay /dev/nb1 0 0"
	holds_nobody_up /dev/dm-0 20
	await 15 no_exports
	dmsetup remove --noudevsync waits
}

@test "E11: a flush does not wait behind the discards of the same disk" {
	local disk pid
	null_disk nb1 size=16 irqmode=2 completion_nsec=1000000000 hw_queue_depth=1 discard=1 cache_size=1
	disk=$(map /dev/nb1)
	echo $((1 << 20)) >"/sys/block/$disk/queue/discard_max_bytes"
	blkdiscard "/dev/$disk" 3>&- & pid=$!
	await 20 under_way "$disk" 12
	sync "/dev/$disk"
	under_way "$disk" 4
	wait $pid
}

# The least time between two tries of one session to open a disk, in milliseconds, when each has tried three times
tries() {
	grep -v '^#' $TRACE/trace | awk '{ match($0, /session=[^ ]+/); who = substr($0, RSTART, RLENGTH); at = $4 + 0
		if (n[who]++ && (!least || at - last[who] < least)) least = at - last[who]
		last[who] = at }
		END { for (who in n) { all++; tired += n[who] >= 3 } ; if (all && tired == all) print int(least * 1000) }'
}

closing_paths() { [[ $("$ADM" server path list --no-headers -F state | grep -c closing) == "$1" ]]; }

# One that opens the disk for those who ask again is through in a moment
no_worker_in_ours() { [[ $(grep -lE '(rtrs_server|rnbd_server)' /proc/[0-9]*/stack 2>/dev/null | xargs -r -n 1 cat) != *worker_thread* ]]; }

@test "E8: a path that waits for a disk keeps no worker, nor does its session, nor who asks for the path again" {
	local i readers=()
	mode sess_queue_depth=16
	dm_disk hung "0 32768 linear /dev/ram0 0"
	for i in 1 2 3; do
		map /dev/dm-0 sessname=c$i access_mode=ro
	done
	dmsetup suspend --noudevsync --nolockfs hung
	for i in 1 2 3; do
		dd if="/dev/$(disk_of c$i /dev/dm-0)" of=/dev/null bs=4k count=1 iflag=direct status=none 3>&- & readers+=($!)
	done
	for i in 1 2 3; do
		await 20 under_way "$(disk_of c$i /dev/dm-0)"
	done
	for i in /sys/class/rtrs-server/c[123]/paths/*/disconnect; do
		echo 1 >"$i"
	done
	await 20 closing_paths 3
	# Each session is back at once, without that disk
	await 20 adm_is '[.devices[].last_error] == ["EBUSY","EBUSY","EBUSY"]' device list
	closing_paths 3
	await 10 no_worker_in_ours
	# Their clients ask again each second, and the server looks only once for each of them
	echo >$TRACE/trace
	echo 1 >$TRACE/events/rnbd_server/rnbd_server_open/enable
	await 20 eval '[[ -n $(tries) ]]'
	echo 0 >$TRACE/events/rnbd_server/rnbd_server_open/enable
	i=$(tries)
	echo "tries of a client: $i ms between them"
	((i > 500))
	dmsetup resume --noudevsync hung
	await 20 closing_paths 0
	unmap_all
	wait "${readers[@]}" || :
	await 15 no_exports
	dmsetup remove --noudevsync hung
	mode
}

@test "F4: a server opens a disk and answers no read: map returns, the disk can be opened, partitions come with the answer" {
	local disk file pid
	file=$(mktemp /run/tmp/disk.XXXXXX) && truncate -s 16M "$file" && partitions "$file" 2048:8192
	dd if="$file" of=/dev/ram0 bs=1M oflag=direct status=none
	dm_disk hung "0 32768 delay /dev/ram0 0 200"
	disk=$(map /dev/dm-0)
	# Where it answers, be it after a moment, they are there at once
	[ -b "/dev/${disk}p1" ]
	unmap "$disk"
	dmsetup suspend --noudevsync --nolockfs hung
	# Who waits for the node waits for them, too
	"$ADM" map /dev/dm-0 --session s1 --path ip:10.0.0.1 --wait=100ms 2>/run/tmp/map 3>&- & pid=$!
	await 10 dead $pid
	ends_badly $pid
	grep "cannot be opened" /run/tmp/map
	disk=$(disk_of s1 /dev/dm-0)
	grep 1 "/sys/block/$disk/rnbd/scanning"
	[ "$(blockdev --getsz "/dev/$disk")" -eq 32768 ]
	run ! worker_in bdev_disk_changed
	dmsetup resume --noudevsync hung
	await 10 grep -q 0 "/sys/block/$disk/rnbd/scanning"
	[ -b "/dev/${disk}p1" ]
	unmap "$disk"
	# Unmapped while it is read: with the answer it is gone
	dmsetup suspend --noudevsync --nolockfs hung
	disk=$(map /dev/dm-0)
	echo normal >"/sys/block/$disk/rnbd/unmap_device" 3>&- & pid=$!
	await 10 test ! -e "/sys/block/$disk/rnbd"
	dmsetup resume --noudevsync hung
	wait $pid
	[ ! -e "/sys/block/$disk" ]
	await 15 no_exports
	dmsetup remove --noudevsync hung
}

@test "F4b: forced away from a server that answers no request of it: within the time, other disks go on; by two paths, by one" {
	local disk other paths pid t0
	null_disk nb1 size=16
	dm_disk hung "0 32768 linear /dev/ram0 0"
	dmesg_mark
	for paths in 2 1; do
		disk=$(map /dev/dm-0)
		[[ $paths == 1 ]] || echo ip:fd00::1 >/sys/class/rtrs-client/s1/add_path
		"$ADM" session set s1 --no-path-timeout=60s
		other=$(map /dev/nb1)
		dmsetup suspend --noudevsync --nolockfs hung
		dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct status=none 3>&- & pid=$!
		await 20 under_way "$disk"
		t0=$EPOCHREALTIME
		adm 0 unmap "$disk" --force --timeout=4s
		echo "# $paths paths: gone after $(seconds_since "$t0") s" >&3
		[ ! -e "/sys/block/$disk" ]
		ends_badly $pid
		# More than there are slots: none is that of what the server still has
		fio --filename="/dev/$other" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=o --minimal --size=3m \
			--output=/run/tmp/fio 3>&- & pid=$!
		await 30 dead $pid
		wait $pid
		[[ $paths == 1 ]] || run ! grep "$other: session s1 is lost" <(dmesg_new)
		dmsetup resume --noudevsync hung
		unmap_all
		await 15 no_exports
	done
	dmsetup remove --noudevsync hung
}

@test "E23: what a disk ends in its interrupt is answered there" {
	local disk
	null_disk nb1 size=16 irqmode=2 completion_nsec=100000
	disk=$(map /dev/nb1)
	traced $TRACE/events/rnbd_server/rnbd_server_io_done dd if="/dev/$disk" of=/dev/null bs=4k count=50 iflag=direct status=none
	# The third letter of the flags is that of the context
	[ "$(grep -c '\] ..[hH].* rnbd_server_io_done:' /run/tmp/trace)" -eq 50 ] || fail "$(head -3 /run/tmp/trace)"
}

@test "a disk with less room than there are requests: all of them, verified; discards, zeroes and flushes between them" {
	local disk
	null_disk nb1 size=16 irqmode=2 completion_nsec=1000000 hw_queue_depth=2 submit_queues=1 discard=1 max_sectors=64 cache_size=1
	disk=$(map /dev/nb1)
	fio --filename="/dev/$disk" --rw=randrw --bsrange=4k-124k --bs_unaligned=0 --blockalign=4k --verify=crc32c --verify_fatal=1 \
		--direct=1 --ioengine=libaio --minimal --name=v --iodepth=32 --fsync=16 --size=12m >/run/tmp/fio ||
		{ cat /run/tmp/fio; false; }
	same_contents "/dev/$disk" /dev/nb1
	fio --filename="/dev/$disk" --rw=randtrimwrite --bs=64k --direct=1 --ioengine=libaio --minimal --name=t --iodepth=16 \
		--size=8m >/run/tmp/fio || { cat /run/tmp/fio; false; }
	same_contents "/dev/$disk" /dev/nb1
}

@test "logical blocks of 512 and 4096, verified at the depths" {
	local disk bs
	for bs in 512 4096; do
		null_disk nb$bs size=16 blocksize=$bs
		await 5 test -b /dev/nb$bs
		disk=$(map /dev/nb$bs)
		[ "$(queue "$disk" logical_block_size)" -eq $bs ]
		fio --filename="/dev/$disk" --rw=randwrite --bsrange=$bs-124k --bs_unaligned=0 --blockalign=$bs --verify=crc32c \
			--verify_fatal=1 --direct=1 --ioengine=libaio --minimal --name=v --iodepth=64 --size=3m >/run/tmp/fio ||
			{ cat /run/tmp/fio; false; }
		same_contents "/dev/$disk" /dev/nb$bs
		# Smaller than a block
		[ $bs -eq 512 ] || run -1 dd if=/dev/zero of="/dev/$disk" bs=512 count=1 oflag=direct
	done
}

@test "F15: a disk that is opened again keeps the read-ahead and the write cache of the administrator" {
	local disk
	disk=$(map /dev/ram0)
	echo 8192 >"/sys/block/$disk/queue/read_ahead_kb" && echo "write through" >"/sys/block/$disk/queue/write_cache"
	echo 1 >/sys/class/rnbd-server/ctl/devices/ram0/sessions/s1/force_close
	dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null || await 10 state_is "$disk" closed
	echo 1 >"/sys/block/$disk/rnbd/remap_device"
	[ "$(queue "$disk" read_ahead_kb) $(queue "$disk" write_cache)" = "8192 write through" ]
}

@test "neighbours are merged" {
	local disk before
	disk=$(map /dev/ram0)
	[ "$(queue "$disk" nomerges)" -eq 0 ]
	before=$(awk '{ print $6 }' "/sys/block/$disk/stat")
	traced $OPS fio --filename="/dev/$disk" --rw=write --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --iodepth_batch=16 \
		--iodepth_batch_complete_min=16 --name=m --size=4m --minimal --output=/run/tmp/fio
	[ "$(awk '{ print $6 }' "/sys/block/$disk/stat")" -gt $((before + 500)) ]
	grep -q 'op=write .*bytes=65536$' /run/tmp/trace
}

# Completions that the kinds of completion queues have brought since the trace began: polled, interrupt driven. The server's
# are of a third kind.
polled() {
	awk '
		/ cq_alloc: / { match($0, /cq\.id=[0-9]+/); kind[substr($0, RSTART, RLENGTH)] = $NF }
		/ cq_poll: / {
			match($0, /cq\.id=[0-9]+/)
			id = substr($0, RSTART, RLENGTH)
			match($0, /returned [0-9]+/)
			if (RLENGTH > 0) n[id] += substr($0, RSTART + 9, RLENGTH - 9)
		}
		END { for (id in n) sum[kind[id]] += n[id]
			for (k in sum) print k, sum[k] }' "$1"
}

@test "polled queues: io_uring with IOPOLL completes by polling alone" {
	local disk mark
	# The RDMA device keeps completion queues for the next who wants some: these are all new
	unload rnbd-client rtrs-client rnbd-server rtrs-server rtrs-core
	net_down
	net_up 1
	load_server
	load_client
	echo >$TRACE/trace
	echo 16384 >$TRACE/buffer_size_kb
	echo 1 >$TRACE/events/rdma_core/cq_alloc/enable
	disk=$(map /dev/ram0 nr_poll_queues="$(nproc)")
	echo 0 >$TRACE/events/rdma_core/cq_alloc/enable
	grep cq_alloc $TRACE/trace >/run/tmp/alloc
	[ "$(queue "$disk" io_poll)" -eq 1 ]
	[ "$(<"/sys/block/$disk/rnbd/nr_poll_queues")" -eq "$(nproc)" ]
	map_fails "Invalid argument" sessname=s1 device_path=/dev/ram1 nr_poll_queues=0
	for mark in randwrite randread; do
		traced $TRACE/events/rdma_core/cq_poll fio --filename="/dev/$disk" --rw=$mark --bs=4k --direct=1 --ioengine=io_uring \
			--hipri --iodepth=8 --name=p --size=2m --minimal --output=/run/tmp/fio
		grep -q ';0;' /run/tmp/fio
		run -0 polled <(cat /run/tmp/alloc /run/tmp/trace)
		echo "$output"
		# 512 requests; a heartbeat or two by interrupt
		[ "$(awk '/DIRECT/ { n += $2 } END { print n + 0 }' <<<"$output")" -ge 512 ]
		[ "$(awk '/SOFTIRQ/ { n += $2 } END { print n + 0 }' <<<"$output")" -le 20 ]
	done
	# Without it, the other way round
	traced $TRACE/events/rdma_core/cq_poll fio --filename="/dev/$disk" --rw=randread --bs=4k --direct=1 --ioengine=io_uring \
		--iodepth=8 --name=i --size=2m --minimal --output=/run/tmp/fio
	run -0 polled <(cat /run/tmp/alloc /run/tmp/trace)
	[ "$(awk '/SOFTIRQ/ { n += $2 } END { print n + 0 }' <<<"$output")" -ge 512 ]
	[ "$(awk '/DIRECT/ { n += $2 } END { print n + 0 }' <<<"$output")" -eq 0 ]
	same_contents "/dev/$disk" /dev/ram0
}

@test "forced away from who reads, writes and maps it" {
	local disk pid i
	for i in 1 2 3; do
		disk=$(map /dev/ram0)
		exec 7<>"/dev/$disk"
		fio --filename="/dev/$disk" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --name=f --time_based \
			--runtime=60 --minimal >/dev/null 2>&1 3>&- 7>&- & pid=$!
		rm -f /run/tmp/forced
		"$ROOT/build/tools/mapped-writer" "/dev/$disk" /run/tmp/forced 3>&- 7>&- &
		await 10 io_done "$disk" 200
		unmap "$disk" force
		[ ! -e "/sys/block/$disk" ]
		ends_badly $pid
		touch /run/tmp/forced
		wait
		[ ! -e /sys/class/rtrs-client/s1 ]
		exec 7>&-
	done
	disk=$(map /dev/ram0)
	same_contents "/dev/$disk" /dev/ram0
}
