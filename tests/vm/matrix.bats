#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The lab matrix: our modules and the in-tree ones at both ends of a link, each pair but the in-tree one, in both modes of the
# server. Every cell does the same to a disk (matrix.bash); matrix-table makes a table of what they say.
# lab: two guests
# lab: kernels 6.1 6.12
# lab: timeout 1200
# shellcheck shell=bats

setup_file() {
	. "$ROOT/tests/vm/matrix.bash"
	on_server ". $ROOT/tests/vm/matrix.bash && server_prepare"
	prepare
}

setup() { . "$ROOT/tests/vm/matrix.bash"; }

@test "our client, our server, always_invalidate=Y" { cell ours ours Y; }

@test "our client, our server, always_invalidate=N" { cell ours ours N; }

@test "our client, in-tree server, always_invalidate=Y" { cell ours in-tree Y; }

@test "our client, in-tree server, always_invalidate=N" { cell ours in-tree N; }

@test "in-tree client, our server, always_invalidate=Y" { cell in-tree ours Y; }

@test "in-tree client, our server, always_invalidate=N" { cell in-tree ours N; }
