#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# check on a real kernel: what a guest can have wrong, one thing after the other. The tests build on each other.
# lab: make rnbdadm
# lab: timeout 900
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup() {
	. "$ROOT/tests/vm/guest.bash"
	ADM=$ROOT/build/rnbdadm
	P1=ip:10.0.0.1@ip:10.0.0.1
	P2=ip:10.0.1.1@ip:10.0.1.1
}

# finds STATUS ID OBJECT WORDS: that result, with a cure unless it is ok or skipped; a failure is exit code 11
finds() {
	local rc=0
	"$ADM" check "$2" -j >/run/tmp/check.json 2>/dev/null || rc=$?
	jq -e --arg status "$1" --arg id "$2" --arg object "$3" --arg words "$4" --argjson rc $rc '
		$rc == (if .summary.fail > 0 then 11 else 0 end) and
		any(.results[]; .status == $status and .id == $id and (.object // "") == $object and (.message | contains($words)) and
			((.status == "pass" or .status == "skip") or (.hint | length > 0)))' /run/tmp/check.json >/dev/null ||
		{ echo "not found: $*"; cat /run/tmp/check.json; return 1; }
}

@test "a bare host: no modules, no family, no RDMA link" {
	finds fail modules.client rnbd_client "not loaded"
	finds skip modules.server rnbd_server "not loaded"
	finds skip modules.origin "" "no rnbd module"
	finds fail netlink.family rnbd "not loaded"
	finds fail rdma.devices "" "no RDMA device"
	finds skip session.paths_down "" "not loaded"
	run ! "$ADM" check
	[[ $output == *"FAIL  netlink.family"*"server.listen"* ]]
}

@test "a server without an RDMA link, or without its directory" {
	load_server dev_search_path=/nonexistent
	finds fail server.listen "" "no RDMA device"
	finds fail server.search_path /nonexistent "does not exist"
	finds skip modules.client rnbd_client "not loaded"
	unload_all
}

@test "all well: two paths, a device, both sides" {
	net_up 2
	ram_disk 32
	load_server
	load_client
	"$ADM" map /dev/ram0 --session s1 --path "$P1" --path "$P2"
	for id in modules.rtrs modules.rdma_cm modules.origin netlink rdma.devices rdma.port_state rdma.phys_state rdma.rate rdma.roce \
		rdma.gid net session.paths_down session.single_path session.reconnects session.policy device.state device.size \
		device.node server.listen server.export_perm server.writers server.memory; do
		"$ADM" check $id -j >/run/tmp/check.json || { cat /run/tmp/check.json; return 1; }
		jq -e 'any(.results[]; .status == "pass") and .summary.warn == 0' /run/tmp/check.json || { cat /run/tmp/check.json; return 1; }
	done
	finds pass netlink.ops rnbd all
	finds pass rdma.gid ip:10.0.1.1 "of rxe1:1"
	finds pass net.route "$P1" "through lo"
	finds pass session.paths_down s1 "all 2 paths"
	finds warn system.udev 60-rnbd.rules "" || finds pass system.udev 60-rnbd.rules ""
}

@test "a path down, one path, no path, a session whose paths share a port" {
	"$ADM" session disconnect s1 "$P2"
	finds fail session.paths_down s1 "1 of 2 paths down: $P2 is disconnected"
	"$ADM" session remove-path s1 "$P2"
	finds warn session.single_path s1 "one path only"
	ip addr add 10.0.0.9/24 dev dummy0
	"$ADM" session add-path s1 10.0.0.9@10.0.0.9
	finds warn session.shared_fate s1 "the port rxe0"
	"$ADM" session remove-path s1 ip:10.0.0.9@ip:10.0.0.9
	"$ADM" session add-path s1 "$P2"
	finds pass session.shared_fate s1 "nothing in common"
}

@test "an address gone" {
	ip addr del 10.0.1.1/24 dev dummy1
	finds fail net.address "$P2" "10.0.1.1 is not an address"
	finds fail rdma.gid ip:10.0.1.1 "no GID"
	ip addr add 10.0.1.1/24 dev dummy1
	await 10 finds pass rdma.gid ip:10.0.1.1 "of rxe1:1"
}

@test "an interface down, a small MTU, MTUs that differ" {
	ip link set dummy1 mtu 1500
	finds warn net.mtu dummy1 "RoCE MTU limited to 1024"
	finds warn net.mtu_mismatch s1 "4200 on dummy0, 1500 on dummy1"
	ip link set dummy1 mtu 4200
	finds pass net.mtu dummy1 "RoCE MTU 4096"
	ip link set dummy1 down
	finds fail rdma.port_state rxe1/1 DOWN
	finds fail net.link dummy1 down
	ip link set dummy1 up
	await 10 finds pass rdma.port_state rxe1/1 ACTIVE
}

@test "a device in migration, without read-ahead, with a scheduler, lost" {
	"$ADM" unmap rnbd0
	"$ADM" map /dev/ram0 --session s1 --path "$P1" --access migration
	finds warn device.access rnbd0 migration
	blockdev --setra 0 /dev/rnbd0
	finds warn device.readahead rnbd0 "0 KiB"
	modprobe mq-deadline
	echo mq-deadline >/sys/block/rnbd0/queue/scheduler
	finds warn device.scheduler rnbd0 mq-deadline
	echo none >/sys/block/rnbd0/queue/scheduler
	finds pass device.scheduler rnbd0 none
	mkfs.ext4 -q /dev/rnbd0
	mkdir /run/tmp/mnt
	mount /dev/rnbd0 /run/tmp/mnt
	"$ADM" session disconnect s1 --force
	finds fail device.state rnbd0 disconnected
	finds fail device.orphan_mount rnbd0 "mount /run/tmp/mnt"
	finds fail session.paths_down s1 "1 of 1 paths down"
	"$ADM" session reconnect s1
	await 10 finds pass device.state rnbd0 mapped
	umount /run/tmp/mnt
}

@test "limits, privilege, a server out of reach" {
	(ulimit -l 64 && finds warn system.memlock "" "64 KiB")
	chmod 755 /run/tmp
	run setpriv --reuid=65534 --clear-groups --inh-caps=-all "$ADM" check netlink.permission
	[[ $output == *"may look, but not change"* ]]
	"$ADM" check server.reachable --server 10.0.0.1:1234
	run ! "$ADM" check server.reachable --server 192.0.2.1
	[[ $output == *"no route"* ]]
	finds warn system.firewall "" "packet filter" || finds pass system.firewall "" "no packet filter"
}

@test "it changed nothing" {
	"$ADM" unmap --all -y
	dmesg_clean
}
