# SPDX-License-Identifier: GPL-2.0
# /sys as the in-tree drivers fill it, below a directory: two sessions, three paths, three disks, and the server's side.
# shellcheck shell=bash disable=SC2034

# put FILE TEXT
put() { printf '%s\n' "$2" >"$1"; }

# change FILE VALUE: who reads it meanwhile finds the old value or the new one, as in sysfs, and no empty file
change() { put "$BATS_TEST_TMPDIR/value" "$2" && mv "$BATS_TEST_TMPDIR/value" "$1"; }

# tree_path SESSION NAME STATE HCA LATENCY RDMA RECONNECTS FROM TO
tree_path() {
	local dir=$SYS/class/rtrs-client/$1/paths/$2 file
	mkdir -p "$dir/stats"
	put "$dir/src_addr" "${2%@*}"
	put "$dir/dst_addr" "${2##*@}"
	put "$dir/state" "$3"
	put "$dir/hca_name" "$4"
	put "$dir/hca_port" 1
	put "$dir/cur_latency" "$5 ns"
	put "$dir/stats/rdma" "$6"
	put "$dir/stats/reconnects" "$7"
	put "$dir/stats/cpu_migration_from" "$8 "
	put "$dir/stats/cpu_migration_to" "$9 "
	for file in reconnect disconnect remove_path stats/reset_all; do put "$dir/$file" "Usage: echo 1 > $file"; done
}

# tree_session NAME POLICY ATTEMPTS
tree_session() {
	local dir=$SYS/class/rtrs-client/$1
	mkdir -p "$dir/paths"
	put "$dir/mpath_policy" "$2"
	put "$dir/max_reconnect_attempts" "$3"
	put "$dir/add_path" "Usage: echo [<source addr>@]<destination addr> > add_path"
}

# tree_disk N SESSION DEVICE_PATH STATE ACCESS RO SECTORS
tree_disk() {
	local dir=$SYS/block/rnbd$1
	mkdir -p "$dir"/{rnbd,holders,queue,mq/0,mq/1}
	put "$dir/dev" "252:$1"
	put "$dir/ro" "$6"
	put "$dir/size" "$7"
	put "$dir/stat" "1 0 8 0 2 0 16 0 0 0 0"
	put "$dir/queue/logical_block_size" 512
	put "$dir/queue/physical_block_size" 4096
	put "$dir/queue/write_cache" "write back"
	put "$dir/queue/fua" 1
	put "$dir/rnbd/session" "$2"
	put "$dir/rnbd/mapping_path" "$3"
	put "$dir/rnbd/state" "$4"
	put "$dir/rnbd/access_mode" "$5"
	put "$dir/rnbd/nr_poll_queues" 0
	for file in unmap_device remap_device resize; do put "$dir/rnbd/$file" "Usage: echo ..."; done
	: >"$ROOT/dev/rnbd$1"
}

# tree_server SESSION PATH RDMA
tree_server() {
	local dir=$SYS/class/rtrs-server/$1/paths/$2
	mkdir -p "$dir/stats"
	put "$dir/src_addr" "${2%@*}"
	put "$dir/dst_addr" "${2##*@}"
	put "$dir/hca_name" rxe0
	put "$dir/hca_port" 1
	put "$dir/stats/rdma" "$3"
	put "$dir/disconnect" "Usage: echo 1 > disconnect"
}

# tree_open DEVICE SESSION DEVICE_PATH ACCESS RO
tree_open() {
	local dir=$SYS/class/rnbd-server/ctl/devices/$1
	mkdir -p "$dir/sessions/$2" "$dir/block_dev/queue" "$SYS/class/block/$1"
	put "$dir/block_dev/queue/logical_block_size" 4096
	put "$SYS/class/block/$1/dev" 7:0
	put "$SYS/class/block/$1/ro" 0
	put "$SYS/class/block/$1/size" 2048
	put "$dir/sessions/$2/mapping_path" "$3"
	put "$dir/sessions/$2/access_mode" "$4"
	put "$dir/sessions/$2/read_only" "$5"
	put "$dir/sessions/$2/force_close" "Usage: echo 1 > force_close"
}

ODD=$'o:d,d\xff'

# sysfs_tree ROOT
sysfs_tree() {
	ROOT=$1 SYS=$1/sys
	mkdir -p "$ROOT"/{dev,run,proc/self} "$SYS"/class/infiniband/{rxe0,rxe1} \
		"$SYS/class/rnbd-client/ctl/devices" "$SYS/class/rnbd-server/ctl/devices"
	put "$SYS/class/rnbd-client/ctl/map_device" "Usage: echo ..."
	printf '%s\n' '30 1 252:0 / /data rw - ext4 /dev/rnbd0 rw' >"$ROOT/proc/self/mountinfo"
	: >"$ROOT/proc/swaps"
	tree_session cl1@srv1 "min-latency (ML: 2)" -1
	tree_path cl1@srv1 ip:10.0.0.1@ip:10.0.0.2 connected rxe0 42110 "10 40960 20 81920 0 1" "0 0" "1 2" "3 4"
	tree_path cl1@srv1 ip:10.0.1.1@ip:10.0.1.2 disconnected rxe1 0 "0 0 0 0 0 0" "-1 7" "0 0" "0 0"
	tree_session "$ODD" "min-inflight (MI: 1)" 5
	tree_path "$ODD" gid:fe80:0000:0000:0000:0000:0000:0000:0001@gid:fe80:0000:0000:0000:0000:0000:0000:0002 connected mlx5_0 1500 \
		"18446744073709551614 9007199254740993 1 2 3 4" "2 3" "5 6" "7 8"
	tree_disk 0 cl1@srv1 vol0 open rw 0 41943040
	tree_disk 2 cl1@srv1 $'dir/vol "1", \xfe ' open ro 1 2048
	tree_disk 10 "$ODD" ram0 closed migration 0 131072
	tree_server cl9@here ip:10.0.0.9@ip:10.0.0.1 "7 70 8 80"
	tree_open ram0 cl9@here ram0 rw 0
	tree_open sdb1 cl9@here disks/b1 ro 1
}

# sysfs_host: the test's own, and what it asks of it
sysfs_host() {
	sysfs_tree "$BATS_TEST_TMPDIR/root"
	R=(--backend sysfs --test-root "$ROOT" --test-time "$TIME")
	CLIENT=$SYS/class/rtrs-client/cl1@srv1 SERVER=$SYS/class/rtrs-server/cl9@here
	PATH1=$CLIENT/paths/ip:10.0.0.1@ip:10.0.0.2 PATH2=$CLIENT/paths/ip:10.0.1.1@ip:10.0.1.2
}

# written FILE TEXT: what the tool wrote there
written() { [ "$(<"$1")" = "$2" ] || { echo "${1#"$ROOT"}: '$(<"$1")', not '$2'"; return 1; }; }

# untouched FILE..
untouched() { [[ $(cat "$@") == *Usage* && $(cat "$@" | grep -c Usage) -eq $# ]]; }
