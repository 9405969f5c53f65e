#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths of a session: several, of any family, and what remains when one dies.
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	both_ends 32
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	ADM=$ROOT/build/rnbdadm
}

teardown() { "$ADM" unmap --all --force -y || :; }

copy_and_compare() {
	dd if=/dev/urandom of=/tmp/data bs=64k count="$1" status=none
	dd if=/tmp/data of=/dev/rnbd0 bs=64k oflag=direct status=none
	dd if=/dev/rnbd0 bs=64k count="$1" iflag=direct status=none | cmp - /tmp/data
	dd if=/dev/ram0 bs=64k count="$1" iflag=direct status=none | cmp - /tmp/data
}

@test "two paths, IPv4 and IPv6: both carry the requests, in turn" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:fd00:1::1
	adm_is '.sessions[0] | .state == "connected" and .paths_connected == 2 and .mp_policy == "round-robin"' session list
	adm_is '[.paths[].family] | sort == ["ipv4","ipv6"]' path list
	adm_is '[.paths[].hca] | sort == ["rxe0","rxe1"]' path list
	"$ADM" stats reset s1
	copy_and_compare 128
	# 128 writes and 128 reads; each CPU takes the paths in turn
	adm_is '[.stats[].counters.write_ios] | length == 2 and min >= 60' stats
	adm_is '[.stats[].counters.read_ios] | min >= 60' stats
}

@test "source addresses, and as many connections as asked for" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1@ip:10.0.0.1 --path ip:10.0.1.1@ip:10.0.1.1 --connections 1
	adm_is '[.paths[] | .name + " " + (.connections | tostring)] |
		sort == ["ip:10.0.0.1@ip:10.0.0.1 2", "ip:10.0.1.1@ip:10.0.1.1 2"]' path list
	copy_and_compare 16
}

@test "without --connections there is one for each online CPU, and the service connection" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	adm_is ".paths[0].connections == $(nproc) + 1" path list
}

@test "the same address twice is refused, and nothing is left" {
	run --separate-stderr -6 "$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.0.1
	[[ $stderr == *10.0.0.1* ]]
	adm_is '.sessions == []' session list
}

@test "one of two paths cannot connect: the whole map fails, with that path's reason" {
	run --separate-stderr -1 "$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:192.0.2.1
	[[ $stderr == *192.0.2.1* ]]
	adm_is '.sessions == []' session list
}

@test "an RDMA device goes away: its path is lost, the other goes on; with the last one the disk is disconnected" {
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1
	timeout 60 rdma link delete rxe1
	await 20 adm_is '.sessions[0] | .state == "degraded" and .paths_connected == 1' session list
	copy_and_compare 32
	timeout 60 rdma link delete rxe0
	await 20 adm_is '.devices[0].state == "disconnected"' device list
	adm_is '.sessions[0] | .state == "reconnecting" and .paths_connected == 0' session list
	grep -q closed /sys/block/rnbd0/rnbd/state
	run -1 dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct
	"$ADM" unmap rnbd0
	adm_is '.sessions == []' session list
	rxe_add rxe0 dummy0
	rxe_add rxe1 dummy1
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	copy_and_compare 16
}
