#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The lab matrix: our modules and the in-tree ones at both ends of a link, each pair but the in-tree one, in both modes of the
# server. Every cell does the same to a disk (matrix.bash); matrix-table makes a table of what they say. And what in-tree clients
# or servers alone do.
# lab: on 6.1 for ^(our client, )?in-tree: the in-tree modules of 6.1 as peers
# lab: on 6.12 for always_invalidate|given to another: one pass of all cells, and the in-tree modules of 6.12 as peers
# lab: two guests
# lab: cpus 1
# lab: kernels 6.1 6.12
# lab: timeout 1200
# shellcheck shell=bats

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/matrix.bash"
	on_server ". $ROOT/tests/vm/matrix.bash && server_prepare"
	prepare
}

setup() { . "$ROOT/tests/vm/matrix.bash"; }

teardown() {
	. "$ROOT/tests/vm/guest.bash" # its unmap is of any disk
	unmap_all
	! module_loaded rtrs-core || unload_all
	on_server "! module_loaded rtrs-core || unload_all"
}

@test "our client, our server, always_invalidate=Y" { cell ours ours Y; }

@test "our client, our server, always_invalidate=N" { cell ours ours N; }

@test "our client, in-tree server, always_invalidate=Y" { cell ours in-tree Y; }

@test "our client, in-tree server, always_invalidate=N" { cell ours in-tree N; }

@test "in-tree client, our server, always_invalidate=Y" { cell in-tree ours Y; }

@test "in-tree client, our server, always_invalidate=N" { cell in-tree ours N; }

# They take equal regions only, of which each has up to 512 chunks here
@test "B20: in-tree client, our server: a queue depth that nothing divides, always_invalidate=N" {
	on_server load_server sess_queue_depth=521 max_chunk_size=16384 always_invalidate=N
	load_peer_client
	map
	lay 0
	same 0 4 $WANT
	unmap
	dmesg_clean
}

# They give the name of the export as device_path
@test "in-tree client, our server with an access list: an export by its name, one of a directory, and nothing else" {
	local name ctl=/sys/class/rnbd-client/ctl/map_device
	on_server load_server sess_queue_depth=64
	on_server server_listed
	load_peer_client
	for name in vol0 "vols/${BACK##*/}"; do
		BACK=$name map
		lay 0
		same 0 4 $WANT
		unmap
	done
	by_tool
	for name in $BACK vols/loop0 vol1; do
		errno "No such file or directory" "sessname=matrix path=ip:10.1.0.1 device_path=$name" $ctl
	done
	run ! map_line "sessname=other path=ip:10.1.0.1 device_path=vol0"
	dmesg_clean
}

# It knows no modes, and what it has in place of the answer means nothing
@test "in-tree server: fileio is refused, nothing stays open there, blockio is what it does" {
	on_server load_peer_server
	load_client
	errno "Operation not supported" "sessname=matrix path=ip:10.1.0.1 device_path=$BACK io_mode=fileio" \
		/sys/class/rnbd-client/ctl/map_device
	[[ $(dmesg_new) == *"server knows no fileio"* ]]
	on_server "await 10 no_exports"
	map io_mode=blockio
	[ "$(<$DIR/rnbd/io_mode)" = blockio ]
}

# Ours never gives an id twice
@test "in-tree server: a disk whose id it has given to another after force_close is closed, and remapped" {
	local state
	on_server load_peer_server
	on_server server_second
	load_client
	map
	lay 0
	on_server server_close
	BACK=/dev/loop2 DISK=/dev/rnbd1 map
	state=$(<$DIR/rnbd/state)
	! dd if=$DISK of=/run/tmp/read bs=4k count=1 iflag=direct || fail "read from /dev/loop2: $(head -c 8 /run/tmp/read)"
	! dd if=$DATA of=$DISK bs=4k count=1 oflag=direct || fail "written to /dev/loop2"
	[[ $(dmesg_new) == *"given its id to rnbd1"* ]] || skip "this in-tree server has not given the id away"
	[ "$state" = closed ]
	echo 1 >$DIR/rnbd/remap_device
	state_is open
	same 0 4 $WANT
	[ "$(head -c 4M /dev/rnbd1 | tr -d B | wc -c)" -eq 0 ]
}
