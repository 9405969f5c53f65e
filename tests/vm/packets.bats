#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Packets on the link for one I/O, acknowledgements included, between all pairs of our modules and the in-tree ones: where one end
# is ours never more than the in-tree modules need among themselves, and the least there can be between our own ends.
# Writes packets.tsv: client, server, always_invalidate, kind of I/O, packets.
# lab: on debug: packets are counted, no time is
# lab: two guests
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

COUNT=100

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	on_server ram_disk 16
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

teardown() {
	unmap_all
	on_server unload_all
	unload_all
	dmesg_clean
	on_server dmesg_clean
}

read_disk() { dd if=/dev/rnbd0 of=/dev/null bs="$1" count=$COUNT iflag=direct status=none; }

write_disk() { dd if=/dev/zero of=/dev/rnbd0 bs="$1" count=$COUNT oflag=direct status=none; }

# cost PAIR MODE KIND LIMIT CMD..: heartbeats and what is sent again are in the count, too: a tenth of a packet for each I/O. A
# busy machine sends more again: the least of three counts. No LIMIT: what the in-tree modules needed.
cost() {
	local pair=$1 mode=$2 kind=$3 limit=$4 before n count='' try
	shift 4
	[[ -n $limit ]] || limit=$(awk -F'\t' -v mode="$mode" -v kind="$kind" \
		'$1 $2 == "in-treein-tree" && $3 == mode && $4 == kind { print int($5 + 0.5) }' "$LAB_OUT/packets.tsv")
	for try in 1 2 3; do
		before=$(rxe_pkts rxe1)
		"$@" || return
		n=$(($(rxe_pkts rxe1) - before))
		[[ -n $count ]] && ((n >= count)) || count=$n
		((10 * count > (10 * limit + 1) * COUNT)) || break
	done
	printf '%s\t%s\t%s\t%d.%02d\n' "${pair/ /$'\t'}" "$mode" "$kind" $((count / COUNT)) $((count % COUNT)) >>"$LAB_OUT/packets.tsv"
	((10 * count <= (10 * limit + 1) * COUNT)) || fail "$kind: $count packets for $COUNT I/Os, more than $limit each"
}

# pair CLIENT SERVER MODE [READ-4K WRITE-4K READ-64K WRITE-64K]
pair() {
	local names
	names="${1/#client/ours} ${2/#server/ours}"
	names=${names//peer_client/in-tree}
	names=${names//peer_server/in-tree}
	on_server "load_$2 always_invalidate=$3" && "load_$1" || return
	map_line "sessname=packets path=ip:10.1.0.1 device_path=/dev/ram0" || return
	await 20 test -b /dev/rnbd0 && read_disk 4k || return
	cost "$names" "$3" "4k read" "${4-}" read_disk 4k && cost "$names" "$3" "4k write" "${5-}" write_disk 4k &&
		cost "$names" "$3" "64k read" "${6-}" read_disk 64k && cost "$names" "$3" "64k write" "${7-}" write_disk 64k || return
	echo normal >/sys/block/rnbd0/rnbd/unmap_device && await 10 test ! -b /dev/rnbd0
}

@test "in-tree client, in-tree server, always_invalidate=Y: to compare" { pair peer_client peer_server Y 8 5 23 20; }

@test "in-tree client, in-tree server, always_invalidate=N: to compare" { pair peer_client peer_server N 8 5 23 20; }

@test "our client, our server, always_invalidate=Y: two messages" { pair client server Y 4 5 19 20; }

@test "our client, our server, always_invalidate=N: two messages" { pair client server N 4 5 19 20; }

@test "our client, in-tree server, always_invalidate=Y" { pair client peer_server Y; }

@test "our client, in-tree server, always_invalidate=N" { pair client peer_server N; }

@test "in-tree client, our server, always_invalidate=Y" { pair peer_client server Y; }

@test "in-tree client, our server, always_invalidate=N" { pair peer_client server N; }
