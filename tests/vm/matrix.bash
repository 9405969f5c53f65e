# SPDX-License-Identifier: GPL-2.0
# One cell of the lab matrix, for matrix.bats: what is done to a disk in every combination of ends, and what each operation
# comes to. Sourced by the client's guest and by the server's; the functions whose names start with "server_" run there.
#
# An operation prints nothing when all is right, or one line "NOTE N" with the number of a footnote of matrix-table; whatever
# else it prints is shown when it fails.
# shellcheck shell=bash

. "$ROOT/tests/vm/guest.bash"

BACK=/dev/loop1 # on a file of an ext4 that has no journal: it frees blocks, and can zero some without freeing them
MIB=96
DISK=/dev/rnbd0
DIR=/sys/block/rnbd0
DATA=/run/tmp/data TREE=/run/tmp/tree MNT=/run/tmp/mnt WANT=/run/tmp/want

# --- server's guest ----------------------------------------------------------------------------------------------------

server_prepare() {
	local file=/run/tmp/back.img
	modprobe loop && mkdir /run/tmp/back && truncate -s $((MIB + 32))M $file && mkfs.ext4 -q -O ^has_journal -m 0 $file &&
		losetup /dev/loop0 $file && mount /dev/loop0 /run/tmp/back || return
	truncate -s ${MIB}M /run/tmp/back/disk && losetup $BACK /run/tmp/back/disk
}

# Contents of the backing device from one MiB on, and how many blocks its file has
server_sum() { dd if=$BACK bs=1M skip="$1" count="$2" iflag=direct status=none | md5sum; }
server_blocks() { stat -c %b /run/tmp/back/disk; }

# Another device, of bytes that the other has not
server_second() { tr '\0' B </dev/zero | head -c 4M >/run/tmp/second && losetup /dev/loop2 /run/tmp/second; }

server_openings() { find /sys/class/rnbd-server/ctl/devices/*/sessions -mindepth 1 -maxdepth 1 -type d 2>/dev/null; }
server_idle() { [[ -z $(server_openings) ]]; }
server_close() { echo 1 >"$(server_openings)/force_close"; }

# Of $BACK alone: a directory export has nothing that is not in it
server_listed() {
	mkdir -p /run/vols && cp -a $BACK /run/vols && "$ADM" server access apply - <<-END
		[peer client]
		auth = none
		session = matrix
		from = ip:10.1.0.0/16
		[export vol0]
		path = $BACK
		allow = client
		[export vols/]
		path = /run/vols/
		allow = *
	END
}

# That the device had to do since it was attached, FUA writes included: a loop device has no FUA
server_flushes() { awk '{ print $16 }' /sys/block/${BACK#/dev/}/stat; }

# --- client's guest ----------------------------------------------------------------------------------------------------

prepare() {
	dd if=/dev/urandom of=$DATA bs=1M count=4 status=none && mkdir -p $TREE/{a,b} $MNT &&
		head -c 2M $DATA | split -b 90001 -a 3 - $TREE/a/ && head -c 64k $DATA | split -b 3001 -a 3 - $TREE/b/ &&
		modprobe -a ext4 xfs
}

map() {
	map_line "sessname=matrix path=ip:10.1.0.1 device_path=$BACK $*" && await 20 test -b $DISK
}

unmap() { echo "${1:-normal}" >$DIR/rnbd/unmap_device && await 20 test ! -e $DIR; }

# errno TEXT VALUE FILE: the write fails with the errno of this text
errno() {
	local said
	if said=$(printf '%s\n' "$2" 2>&1 >"$3"); then
		fail "'$2' written to $3: no error, but '$1' was expected"
	else
		[[ $said == *"$1"* ]] || fail "$said, but '$1' was expected"
	fi
}

# same MIB N [FILE]: what we read is on the backing device, and in FILE
same() {
	local want here there
	here=$(dd if=$DISK bs=1M skip="$1" count="$2" iflag=direct status=none | md5sum) &&
		there=$(on_server server_sum "$1" "$2") || return
	[[ $here == "$there" ]] || { fail "$2 MiB at MiB $1: read $here, on the backing device $there"; return 1; }
	(($# < 3)) || { want=$(md5sum <"$3") && [[ $here == "$want" ]]; } || fail "$2 MiB at MiB $1: read $here, written $want"
}

# The data at this MiB, and as what it must look like afterwards
lay() { dd if=$DATA of=$DISK bs=1M seek="$1" oflag=direct conv=notrunc status=none && cp $DATA $WANT; }

# What server_listed has, by the tool, which has files in /sys to go by here
by_tool() {
	local said
	[[ $("$ADM" map vol0 --session matrix --path 10.1.0.1) == "$DISK" ]] && same 0 4 $WANT && "$ADM" unmap rnbd0 --wait || return
	! said=$("$ADM" map $BACK --session matrix --path 10.1.0.1 2>&1) && [[ $said == *"server has no device '$BACK'"* ]] || fail "$said"
}

op_fio() {
	local max
	max=$(<$DIR/queue/max_hw_sectors_kb) || return
	timeout 60 fio --filename=$DISK --thread --rw=randwrite --bsrange="512-${max}k" --verify=crc32c --verify_fatal=1 --direct=1 \
		--ioengine=libaio --randseed="$RANDOM" --minimal --name=1 --iodepth=1 --size=1m --name=4 --iodepth=4 --offset=1m --size=2m \
		--name=16 --iodepth=16 --offset=3m --size=2m --name=64 --iodepth=64 --offset=5m --size=6m && same 0 11
}

op_discard() {
	local before after
	lay 16 && before=$(on_server server_blocks) && blkdiscard -o 17M -l 2M $DISK && blkdiscard -o $((16 << 20 | 8192)) -l 12k $DISK &&
		fallocate -p -o 1M -l 2M $WANT && fallocate -p -o 8k -l 12k $WANT && same 16 4 $WANT || return
	after=$(on_server server_blocks)
	# 512-byte blocks, less what the file system needs to tell of the holes
	((before - after > 4096)) || fail "$((before - after)) blocks were freed"
}

# Whatever the client makes of it: its flushes, or writes of its that must be on the medium when they are done, are the device's
op_flush() {
	local i n=() before=()
	[[ $(<$DIR/queue/write_cache) == "write back" ]] || { fail "the disk has no write cache"; return 1; }
	before+=("$(on_server server_flushes)")
	for i in 1 2 3 4 5; do
		dd if=$DATA of=$DISK bs=4k count=1 seek=$((5120 + i)) oflag=direct conv=notrunc,fsync status=none || return
	done
	before+=("$(on_server server_flushes)")
	dd if=$DATA of=$DISK bs=4k count=7 seek=5130 oflag=direct,dsync conv=notrunc status=none || return
	before+=("$(on_server server_flushes)")
	dd if=$DATA of=$DISK bs=4k count=9 seek=5140 oflag=direct conv=notrunc status=none || return
	before+=("$(on_server server_flushes)")
	n=($((before[1] - before[0])) $((before[2] - before[1])) $((before[3] - before[2])))
	((n[0] >= 5 && n[1] >= 7 && n[2] == 0)) || fail "${n[*]} flushes for 5 of fsync, 7 writes with O_DSYNC, 9 without"
}

# Through the device's own write zeroes or, where there are none, by writing
op_zeroes() {
	lay 24 && blkdiscard -z -o 25M -l 2M $DISK && blkdiscard -z -o $((24 << 20 | 512)) -l 12k $DISK &&
		fallocate -p -o 1M -l 2M $WANT && fallocate -p -o 512 -l 12k $WANT && same 24 4 $WANT || return
	if (($(<$DIR/queue/write_zeroes_max_bytes))); then
		[[ $HAS_ZEROES == y ]] || fail "the disk offers write zeroes, which this pair has not"
	elif [[ $HAS_ZEROES == y ]]; then
		fail "the disk offers no write zeroes"
	else
		echo NOTE 1
	fi
}

# Zeroed with leave to free the blocks, and without
op_nounmap() {
	local a b c
	[[ $HAS_ZEROES == y ]] || { echo NOTE 1; return; }
	lay 32 && a=$(on_server server_blocks) && fallocate -z -o 33M -l 1M $DISK && b=$(on_server server_blocks) &&
		fallocate -p -o 34M -l 1M $DISK && c=$(on_server server_blocks) &&
		fallocate -p -o 1M -l 2M $WANT && same 32 4 $WANT || return
	((b - c > 2000)) || { fail "$((b - c)) blocks were freed by a punched hole"; return 1; }
	if [[ $HAS_NOUNMAP == y ]]; then
		((b >= a)) || fail "$((a - b)) blocks were freed by zeroing that must not free any"
	else
		echo NOTE 2
	fi
}

# filesystem TYPE CHECK..
filesystem() {
	local type=$1
	shift
	mount -t "$type" $DISK $MNT && cp -r $TREE $MNT/ && umount $MNT && mount -t "$type" $DISK $MNT || return
	diff -r $TREE $MNT/tree && rm -r $MNT/tree/a && umount $MNT && "$@"
}

op_ext4() { mkfs.ext4 -q -F $DISK && filesystem ext4 e2fsck -fn $DISK; }

op_xfs() { mkfs.xfs -q -f --unsupported $DISK && filesystem xfs xfs_repair -n $DISK; }

state_is() { [[ $(<$DIR/rnbd/state) == "$1" ]]; }

path_is() { [[ $(<"$1/state") == "$2" ]]; }

# under_load CMD..: while requests are under way all the time, which go on after it; the data of both ends is the same then
under_load() {
	local pid rc=0
	timeout -k 1 90 fio --filename=$DISK --thread --rw=randrw --bsrange=512-16k --direct=1 --ioengine=libaio --iodepth=32 --name=load \
		--offset=48m --size=2m --time_based --runtime=80 --continue_on_error=all --minimal >/run/tmp/load 2>&1 3>&- & pid=$!
	await 20 io_done "${DIR##*/}" $(($(ios "${DIR##*/}") + 100)) && "$@" && await 20 io_done "${DIR##*/}" $(($(ios "${DIR##*/}") + 100)) || rc=1
	kill $pid || { fail "fio did not go on: $(tail -c 500 /run/tmp/load)" || rc=1; }
	wait $pid || :
	((rc == 0)) && same 48 2
}

# In-tree clients take a device that the server has closed for open. They know it is not once it could not be opened again: when
# a path is back, and the device is not.
remap_in_tree() {
	local path
	path=$(echo /sys/class/rtrs-client/matrix/paths/*)
	errno "already in progress" 1 $DIR/rnbd/remap_device && on_server "mv $BACK $BACK.away" && echo 1 >"$path/disconnect" &&
		await 10 state_is closed && echo 1 >"$path/reconnect" && await 20 path_is "$path" connected || return
	await 10 not_opened && state_is closed && on_server "mv $BACK.away $BACK" && echo 1 >$DIR/rnbd/remap_device && state_is open &&
		same 40 4 $WANT
}

not_opened() { dmesg_new | grep -q 'Opening failed'; }

remap_ours() {
	errno "already in progress" 1 $DIR/rnbd/remap_device && on_server server_close || return
	! dd if=$DISK of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null || { fail "read a device that is closed"; return 1; }
	await 10 state_is closed && echo 1 >$DIR/rnbd/remap_device && state_is open && same 40 4 $WANT
}

op_remap() { lay 40 && under_load "remap_${CLIENT/-/_}"; }

op_unmap() {
	exec 7<>$DISK || return
	errno "busy" normal $DIR/rnbd/unmap_device || return
	exec 7>&-
	unmap && on_server await 10 server_idle && map
}

op_force() {
	local pid rc=0
	timeout -k 1 90 fio --filename=$DISK --thread --rw=randrw --bsrange=512-64k --direct=1 --ioengine=libaio --iodepth=32 --name=load \
		--time_based --runtime=80 --minimal >/run/tmp/load 2>&1 3>&- & pid=$!
	await 20 io_done "${DIR##*/}" $(($(ios "${DIR##*/}") + 100)) && errno "busy" normal $DIR/rnbd/unmap_device && unmap force || rc=1
	((rc == 0)) || kill $pid
	if wait $pid; then fail "fio did not notice that its disk has gone" || rc=1; fi
	((rc == 0)) && on_server await 10 server_idle && map && lay 44 && same 44 4 $WANT
}

# What a process that polls has asked for ends by its polls, on completion queues that nothing else empties
op_poll() {
	local trace=/sys/kernel/tracing n rc=0
	[[ $CLIENT == ours ]] || { echo NOTE 4; return; }
	unmap && echo >$trace/trace && echo 'rc > 0' >$trace/events/rdma_core/cq_poll/filter &&
		echo rdma_core:cq_alloc rdma_core:cq_poll >$trace/set_event || return
	map nr_poll_queues=1 && timeout 60 fio --filename=$DISK --thread --rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1 --direct=1 \
		--ioengine=io_uring --hipri --iodepth=8 --name=polled --offset=52m --size=512k --minimal || rc=$?
	echo >$trace/set_event
	((rc == 0)) && same 52 1 || return
	read -ra n < <(awk '{ match($0, /cq\.id=[0-9]+/); id = substr($0, RSTART, RLENGTH) }
		/ cq_alloc: .*poll_ctx=DIRECT/ { direct[id] = 1 }
		/ cq_poll: / { n[id in direct] += $NF }
		END { print n[1] + 0, n[0] + 0 }' $trace/trace)
	# 256 requests; by interrupt what mapped the disk, and heartbeats
	((n[0] >= 256 && n[1] < 128)) || fail "${n[0]} completions were polled, ${n[1]} were not"
}

# cell CLIENT SERVER Y|N: "ours" or "in-tree" each. Says what came of it in a line for matrix-table; returns 1 when something failed.
OPS='load fio flush discard zeroes nounmap ext4 xfs remap unmap force poll unload'
cell() {
	local op said note result bad=0 loaded=y line since took='' t0=$SECONDS
	line="# cell: kernel=$KERNEL client=$1 server=$2 inv=$3"
	if [[ $1 == in-tree && -z $VIRTIO ]]; then
		for op in $OPS; do line+=" $op=-:3"; done
		echo "$line" >&3
		skip "in-tree clients fail I/O of their own on one slow CPU, while their path is up"
	fi
	CLIENT=$1 SERVER=$2 INV=$3
	HAS_ZEROES=y HAS_NOUNMAP=n
	[[ $KERNEL != 6.1 || "$1$2" == oursours ]] || HAS_ZEROES=n
	# Our client writes zeroes to a server that would free the blocks
	[[ $1 != ours ]] || HAS_NOUNMAP=y
	for op in $OPS; do
		note='' since=$EPOCHREALTIME
		if [[ $loaded == n && $op != unload ]]; then
			result=FAIL
		elif said=$("op_$op" 2>&1); then
			result=ok
			note=$(sed -n 's/^NOTE //p' <<<"$said")
		else
			result=FAIL bad=1
			printf '%s\n' "$said" | tail -n 30 | sed "s/^/# $op: /" >&3
			[[ $op == load ]] && loaded=n || again
		fi
		line+=" $op=$result${note:+:$note}"
		took+=", $op $(seconds_since "$since")"
	done
	echo "# seconds: ${took#, }" >&3
	echo "$line seconds=$((SECONDS - t0))" >&3
	return $bad
}

# After a failure: the next operation gets a disk that works, if there can be one
again() {
	! mountpoint -q $MNT || umount $MNT
	[[ ! -e $DIR ]] || unmap force
	map || :
} >/dev/null 2>&1

modules_of() { [[ $1 == ours ]] && echo "load_$2" || echo "load_peer_$2"; }

op_load() {
	! module_loaded rtrs-core && "$(modules_of "$CLIENT" client)" &&
		on_server "! module_loaded rtrs-core && $(modules_of "$SERVER" server) always_invalidate=$INV" && map
}

op_unload() {
	# shellcheck disable=SC2119
	unmap && unload_all && dmesg_clean && on_server "unload_all && dmesg_clean"
}
