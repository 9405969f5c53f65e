#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# check: what is wrong with a server, with the system and with the configuration.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	load check-host
	check_host
}

@test "server: nothing to listen on, no directory, no record, names that move, devices gone or read-only, two writers, memory, a server out of reach" {
	put /sys/class/block/sdb/ro 1
	finds warn server.export_perm sdb "read-only"
	gone sys/class/block/sdb
	finds fail server.export_perm sdb "gone from this host"
	finds pass server.search_path /srv/ "can be read; the directories of sessions below it were not looked at"
	put /sys/module/rnbd_server/parameters/dev_search_path "/srv"/of%SESSNAME%/disks
	finds pass server.search_path /srv/ "can be read"
	put /sys/module/rnbd_server/parameters/dev_search_path /srv
	finds pass server.search_path /srv "can be read"
	[[ $output != *"each session"* ]]
	rmdir "$ROOT/srv"
	finds fail server.search_path /srv "does not exist"
	put /sys/module/rnbd_server/parameters/dev_search_path /proc/meminfo
	finds fail server.search_path /proc/meminfo "is no directory"
	# who wrote last: a file that is there, that can be made, that cannot, that nobody wants, an older module
	finds pass server.record /var/lib/rnbd-writers "can be written"
	gone var/lib
	finds warn server.record /var/lib/rnbd-writers "cannot be written (ENOENT)"
	put /sys/module/rnbd_server/parameters/record /rnbd-writers
	finds pass server.record /rnbd-writers "can be written"
	put /rnbd-writers x
	finds pass server.record /rnbd-writers "can be written"
	put /sys/module/rnbd_server/parameters/record ""
	finds warn server.record "" "none is kept"
	gone sys/module/rnbd_server/parameters/record
	finds skip server.record "" "keeps none"
	# names that move
	finds pass server.names sdb "a name that lasts"
	world check-names
	finds warn server.names ram0 "/dev/vols/sdb1, a name that may be another disk's"
	world check-good
	put /proc/meminfo "MemAvailable: 60000 kB"
	finds fail server.memory "" "each client pins 64 MiB, available are 58 MiB"
	world check-bad
	finds warn server.writers sdb "2 clients may write"
	# F2: mounted, swap, below dm; a partition of what is exported; read only; nothing
	finds pass server.in_use sdb "this host does nothing with it"
	put /proc/self/mountinfo "30 1 8:0 / /data/a rw - ext4 /dev/ram0 rw
31 1 8:17 / /data/b rw - ext4 /dev/sdb1 rw"
	put /sys/class/block/sdb/sdb1/dev 8:17
	put /proc/swaps "Filename Type Size
/dev/sdb2 partition 1"
	put /sys/class/block/sdb/sdb2/dev 8:18
	put /sys/class/block/sdb/holders/dm-9/x ""
	put /sys/block/dm-9/dm/name vg0-lv1
	finds fail server.in_use sdb \
		"may write to it, and this host uses it: dm-9 (vg0-lv1), mount /data/b (ext4), swap on sdb2"
	finds warn server.in_use ram0 "clients read it, and this host uses it: mount /data/a (ext4)"
	adm 0 server export list
	[[ $output == *"USED BY"*sdb*"dm-9 (vg0-lv1),mount /data/b (ext4),swap on sdb2"* ]]
	gone proc/self/mountinfo
	# ports: all listen, some are drained, all are, none is there, or nobody tells
	finds warn server.listen "" "port 1234 of mlx5_0:1; drained: mlx5_1:1"
	[[ $output == *"rnbdadm server port undrain mlx5_1:1"* ]]
	world check-drained
	finds fail server.listen "" "no client can connect: mlx5_0:1, mlx5_1:1 drained"
	[[ $output == *"rnbdadm server port undrain mlx5_0:1"* ]]
	world check-deaf
	finds fail server.listen "" "listens on no RDMA device"
	world check-old
	finds skip server.listen "" "port 1234; the module does not tell"
	world check-bad
	# another size than the clients know; a smaller one is told of first
	finds skip server.size sdb "does not tell"
	world check-grew
	finds warn server.size sdb "has 2199023255552 bytes, cl8@here was told 1099511627776"
	adm 0 check server.size -j
	[ "$(jqv '.results | map(.status + " " + .object) | join(", ")')" = "skip ram0, warn sdb" ]
	world check-shrank
	finds fail server.size sdb "has 2199023255552 bytes only, cl8@here was told 4398046511104"
	[[ $output == *"revalidate sdb --force"* ]]
	world check-good
	finds pass server.listen "" "port 1234 of mlx5_0:1, mlx5_1:1"
	# an RDMA device in software where everybody comes in; not one of hardware, nor one that is not listened on
	sed -i 's/^route default .*/route default ens1f0np0/' "$ROOT/rtnetlink"
	finds pass server.listen "" "port 1234 of mlx5_0:1, mlx5_1:1"
	gone sys/class/infiniband/mlx5_1/device
	finds pass server.listen "" "port 1234 of mlx5_0:1, mlx5_1:1"
	gone sys/class/infiniband/mlx5_0/device
	finds warn server.listen "" "mlx5_0 is in software, over the interface of the default route"
	[[ $output == *"listen="* ]]
	sed -i 's/^route default .*/route default eth0/' "$ROOT/rtnetlink"
	finds pass server.size sdb "1099511627776 bytes, as its clients were told"
	world check-bad
	# the kernel's own attempts know best, those of the port that is asked for
	adm 11 check server.reachable --server 10.0.0.2 -j
	[[ $output == *"session cl1@srv1 cannot connect to it: ECONNREFUSED"* ]]
	adm 0 check server.reachable --server 10.0.0.3:1234 -j
	[[ $output == *"session cl1@srv2 is connected to it"* ]]
	# without a session nothing is tried, and nothing is claimed
	for host in 10.0.0.2:999 10.0.0.1 10.0.0.77; do
		adm 0 check server.reachable --server $host -j
		valid rnbdadm.check/1
		[ "$(jqv '.results | map(.status) | join(" ")')" = skip ]
		[[ $output == *"no connection was tried"* ]]
	done
	[[ $output == *"10.0.0.77 is reached through ens1f0np0, of RDMA device mlx5_0"* ]]
	adm 0 check server.reachable --server 10.0.0.2:999
	[[ $output == "skip  server.reachable "*"      hint: rnbdadm session add NAME --path 10.0.0.2 --dest-port 999 tries one"* ]]
	[[ ${lines[-1]} == "0 ok, 0 warnings, 0 failures, 1 skipped" ]]
	for bad in 10.0.0.2:99999 10.0.0.2:0 10.0.0.2: srv:65536 [fd00::2 [fd00::2]77 [fd00::2]:0 [10.0.0.2]:77 [srv]:77 :77; do
		fails 2 usage check server.reachable --server "$bad"
		[[ $stderr == *"--server: '$bad' is not HOST, HOST:PORT or [IPv6]:PORT, with a port from 1 to 65535"* ]]
	done
	for host in [fd00::2]:77 [fd00::2]; do
		adm 11 check server.reachable --server $host
		[[ $output == *"$host"*"no route"*"ip route get fd00::2"* ]]
	done
	adm 11 check server.reachable --server fd00::2:77
	[[ $output == *"ip route get fd00::2:77"* ]]
	adm 0 check server.reachable --server 10.0.0.1
	[[ $output == *"10.0.0.1 is an address of this host"* ]]
	world check-dark
	adm 0 check server.reachable --server 10.0.1.2 -j
	[ "$(jqv '.results[0] | .status + " " + .hint')" = "skip rnbdadm path reconnect cl1@srv1 ip:10.0.1.1@ip:10.0.1.2" ]
	[[ $output == *"session cl1@srv1 has a path to it, which is disconnected"* ]]
	world check-bad
	sed -i 's/^neighbour 10.0.0.2 1/neighbour 10.0.0.2 0/' "$ROOT/rtnetlink"
	adm 11 check server.reachable --server 10.0.0.2:999
	[[ $output == *"does not answer ARP on ens1f0np0"* ]]
	sed -i 's/^route default .*/route default vlan7/' "$ROOT/rtnetlink"
	adm 11 check server.reachable --server 192.0.2.1
	put "$IB/gids/4" 0000:0000:0000:0000:0000:0000:0000:0000
	put "$IB/gids/5" 0000:0000:0000:0000:0000:ffff:c0a8:0102
	put "$IB/gid_attrs/ndevs/5" vlan7
	adm 0 check server.reachable --server 192.0.2.1
	[[ $output == "skip "*"through vlan7, of RDMA device mlx5_0"* ]]
	sed -i 's/^route default .*/route default eth0/' "$ROOT/rtnetlink"
	adm 11 check server.reachable --server 192.0.2.1
	[[ $output == *"leaves through eth0, which has no RDMA"* ]]
	adm 11 check server.reachable --server nosuch.invalid
	sed -i '/^route default/d' "$ROOT/rtnetlink"
	adm 11 check server.reachable --server 192.0.2.1
	[[ $output == *"no route"* ]]
	gone sys/class/infiniband
	finds fail server.listen "" "no RDMA device to listen on"
	gone sys/module/rnbd_server
	finds skip server.listen "" "not loaded"
}

@test "server.search_path: a directory that may not be read" {
	[[ $(id -u) == 0 ]] || skip "needs root"
	chown 65534 "$ROOT/srv"
	chmod 700 "$ROOT/srv"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	RNBDADM=$BATS_TEST_TMPDIR/as
	# as FLAGS: a command that runs the tool with them
	as() {
		printf '#!/bin/sh\nexec setpriv %s %q "$@"\n' "$1" "$PLAIN" >"$RNBDADM"
		chmod 755 "$RNBDADM"
	}
	as "--bounding-set -dac_override,-dac_read_search --inh-caps -dac_override,-dac_read_search"
	finds fail server.search_path /srv/ "cannot be read, not even by root"
	as "--reuid 1234 --clear-groups"
	finds skip server.search_path /srv/ "this user may not look into it"
	as "--reuid 65534 --clear-groups"
	finds pass server.search_path /srv/ "can be read"
}

@test "system: packet filter, udev, unit, initramfs" {
	finds skip system.firewall "" "no RDMA in software"
	gone sys/class/infiniband/mlx5_0/device
	finds pass system.firewall "" "no packet filter"
	put /sys/module/nf_tables/refcnt 3
	finds warn system.firewall "" "packet filter"
	gone sys/module/nf_tables
	put /proc/net/ip_tables_names filter
	finds warn system.firewall "" "packet filter"
	gone run/udev/control
	finds warn system.udev 60-rnbd.rules "udev does not run"
	gone usr/lib/udev
	finds warn system.udev 60-rnbd.rules "not installed"
	# what became of a unit its runtime directory tells, where systemd runs
	finds pass system.unit rnbd-restore.service "enabled, and it has not failed"
	gone run/rnbd-restore
	finds warn system.unit rnbd-restore.service "not active: it failed, or was not started"
	[[ $output == *"systemctl status rnbd-restore.service"* ]]
	gone run/systemd
	finds pass system.unit rnbd-restore.service "systemd does not run here"
	mkdir -p "$ROOT/run/systemd/system"
	rm "$ROOT"/etc/systemd/system/multi-user.target.wants/*
	for unit in data disk.2; do
		put "/etc/systemd/system/multi-user.target.wants/rnbd-device@$unit.service" ""
	done
	mkdir "$ROOT/run/rnbd-device@disk.2"
	finds warn system.unit rnbd-device@data.service "not active"
	finds pass system.unit rnbd-device@disk.2.service "it has not failed"
	gone etc/systemd
	finds fail system.unit rnbd-restore.service "not enabled"
	gone usr/lib/systemd
	finds fail system.unit rnbd-restore.service "not installed"
	gone etc/rnbd
	finds skip system.unit rnbd-restore.service "nothing is configured"
	put /proc/self/mountinfo "22 1 252:0 / / rw - ext4 /dev/rnbd0 rw"
	finds fail system.initramfs rnbd0 "lacks rnbd_client"
	put /etc/initramfs-tools/modules rnbd_client
	finds pass system.initramfs rnbd0 "is told"
}

@test "config: mistakes, unknown keys, what is configured and does not run" {
	local conf=/etc/rnbd/conf.d/10-srv1.conf
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2'
	finds pass config.valid "" "1 file, 1 section"
	finds pass config.drift "" "the configuration runs"
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\n[device d]\nsession = cl1@srv1\ndevice-path = vol0\naccess = ro'
	finds warn config.drift "" "device d: access stays rw, not ro: it needs an unmap"
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\nmp-policy = min-latency'
	finds warn config.drift "" "2 changes to be made, first session mp_policy"
	world absent
	finds skip config.drift "" "not loaded"
	world check-good
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\nhue = 3\npath = x'
	finds fail config.valid $conf:3 "the first of several mistakes: [session] has no key 'hue'"
	finds skip config.drift "" "has mistakes"
	gone etc/rnbd
	finds skip config.valid "" "nothing is configured"
	finds skip config.drift "" "nothing is configured"
	RNBDADM_CONFIG=/nonexistent finds fail config.valid "" ENOENT
}

@test "server: the access list, what it offers, and whether it is what the configuration says" {
	finds pass server.access "" "1 peer, 1 export"
	finds pass server.access_dirs srv/ "/srv/ is there"
	chmod 777 "$ROOT/srv"
	finds fail server.access_dirs srv/ "/srv/ is not root's alone"
	rmdir "$ROOT/srv"
	finds fail server.access_dirs srv/ "/srv/ is not there (ENOENT)"
	put /srv "no directory"
	finds fail server.access_dirs srv/ "/srv/ is "
	world access
	put /dev/vg0/vol0 "a file"
	mkdir -p "$ROOT/srv2" "$ROOT/dev/vg1"
	finds pass server.access_dirs vol0 "/dev/vg0/vol0 is there"
	finds pass server.access_dirs vms/ "/dev/vg1/ is there"
	chmod 777 "$ROOT/dev"
	finds fail server.access_dirs vms/ "/dev is not root's alone: links in /dev/vg1/ are not followed"
	chmod 1777 "$ROOT/dev"
	finds pass server.access_dirs vms/ "/dev/vg1/ is there"
	chmod 755 "$ROOT/dev"
	finds fail server.access_dirs image "/srv/images/golden.img is not there"
	rm "$ROOT/srv" && mkdir -p "$ROOT/srv/images/golden.img"
	finds fail server.access_dirs image "is neither a block device nor a file"
	put /sys/class/infiniband/mlx5_1/ports/1/link_layer InfiniBand
	finds warn server.access hv "is known by an IP address, which nothing proves on InfiniBand"
	finds pass config.drift "" "the configuration runs"
	cp "$CLI/access.conf" "$ROOT/etc/rnbd/conf.d/20-access.conf"
	finds warn config.drift "access list" "6 changes to be made"
	world access-same
	finds pass config.drift "access list" "the configured list is loaded"
	world access-open
	finds warn server.access "" "open: every client that reaches this server"
	finds skip server.access_dirs "" "there is no list"
	world access-closed
	finds warn server.access "" "closed: nobody can map anything"
	world access-unloaded
	finds skip server.access "" "the module keeps no access list"
	gone sys/module/rnbd_server
	finds skip server.access "" "server module not loaded"
	finds skip server.access_dirs "" "server module not loaded"
}

@test "the documents of these tests are valid" { all_valid; }
