#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# check: each condition provoked on a system tree, most by one file that differs from a host with nothing wrong. Of a server,
# the system and the configuration: check-server.bats.
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

@test "a host with nothing wrong: all of it ok, exit code 0, also with --strict" {
	adm 0 check --strict -j
	valid rnbdadm.check/1
	[ "$(jqv '.summary | .fail + .warn')" = 0 ]
	[ "$(jqv '[.results[] | select(.status == "pass") | .id] | unique | length')" -ge 34 ]
	jqv '.summary == (.results | {pass: map(select(.status == "pass")) | length, warn: 0, fail: 0,
		skip: map(select(.status == "skip")) | length})'
	adm 0 check
	golden check-good.txt
	[ -z "$stderr" ]
}

@test "problems and a count; with -v, and of the checks that are named, all" {
	adm 0 check
	[ "${#lines[@]}" = 1 ]
	adm 0 check -v
	golden check-good-v.txt
	((${#lines[@]} > 40))
	adm 0 check modules.client
	[[ ${lines[0]} == "ok    modules.client "* ]]
	put "$IB/state" "1: DOWN"
	adm 11 check
	[[ $output == "FAIL  rdma.port_state"* && $output != *$'\n'"ok "* && $output != *$'\n'"skip "* ]]
}

@test "every check of the table was run, each id in 'help checks'" {
	adm 0 check -j
	ids=$(jqv '[.results[].id] | unique[]')
	adm 0 help checks
	[ "$(awk '/^  / { print $1 }' <<<"$output" | sort)" = "$(sort <<<"$ids")" ]
	[ "$(wc -l <<<"$ids")" -ge 39 ]
}

@test "modules: not loaded, in-tree, not installed, of another kernel" {
	gone sys/module/rnbd_client
	finds skip modules.client rnbd_client "not loaded"
	gone sys/module/rnbd_server
	finds fail modules.client rnbd_client "not loaded"
	finds skip modules.server rnbd_server "not loaded"
	finds warn modules.rtrs rtrs_client "though rnbd_client is not"
	finds warn modules.rtrs rtrs_server "though rnbd_server is not"
	mkdir "$ROOT"/sys/module/rnbd_{client,server}
	gone sys/module/rtrs_client
	finds fail modules.rtrs rtrs_client "not loaded, though rnbd_client is"
	gone sys/module/rtrs_server
	gone sys/module/rdma_cm
	finds fail modules.rdma_cm rdma_cm "no such module"
	put /lib/modules/6.1.0-test/modules.dep "kernel/drivers/infiniband/core/rdma_cm.ko:"
	finds skip modules.rdma_cm rdma_cm "not loaded"
	put /lib/modules/6.1.0-test/modules.builtin "kernel/drivers/infiniband/core/rdma_cm.ko"
	finds pass modules.rdma_cm rdma_cm "is there"
	finds warn modules.installed rnbd_client "not installed"
	finds skip modules.signature rnbd_client "not installed"
	put /lib/modules/6.1.0-test/modules.dep "kernel/drivers/block/rnbd/rnbd-client.ko:"
	finds warn modules.installed rnbd_client "in-tree"
	put /lib/modules/6.1.0-test/kernel/drivers/block/rnbd/rnbd-client.ko "vermagic=6.1.0-other SMP"
	finds fail modules.signature rnbd_client "built for kernel 6.1.0-other, running is 6.1.0-test"
	# one that is loaded was taken, whatever it is
	put /lib/modules/6.1.0-test/modules.dep "updates/dkms/rnbd-client.ko:"
	put /lib/modules/6.1.0-test/updates/dkms/rnbd-client.ko "vermagic=6.1.0-test SMP"
	put /sys/kernel/security/lockdown "none [integrity] confidentiality"
	finds pass modules.signature rnbd_client "built for"
	mv "$ROOT"/sys/module/rnbd_client "$BATS_TEST_TMPDIR/"
	mv "$ROOT"/sys/module/rnbd_server "$BATS_TEST_TMPDIR/"
	finds fail modules.signature rnbd_client "rnbd-client.ko is not signed, and this kernel, booted securely"
	put /lib/modules/6.1.0-test/updates/dkms/rnbd-client.ko $'vermagic=6.1.0-test SMP\n~Module signature appended~'
	finds pass modules.signature rnbd_client "built for"
	put /lib/modules/6.1.0-test/updates/dkms/rnbd-client.ko "vermagic=6.1.0-test SMP"
	put /sys/kernel/security/lockdown "[none] integrity confidentiality"
	finds pass modules.signature rnbd_client "built for"
	put /sys/module/module/parameters/sig_enforce Y
	finds fail modules.signature rnbd_client "is not signed"
	mv "$BATS_TEST_TMPDIR"/rnbd_{client,server} "$ROOT/sys/module/"
	world absent
	finds fail modules.origin rtrs_core "in-tree"
	gone sys/module/rtrs_core
	finds skip modules.origin "" "no rnbd module"
	rmdir "$ROOT"/sys/module/rnbd_{client,server}
	finds skip modules.rtrs "" "no rnbd module"
}

@test "netlink: no family, an other version, operations and groups missing, no privilege" {
	world absent
	finds fail netlink.family rnbd "not loaded"
	finds skip netlink.ops "" "no netlink family"
	world check-old
	finds warn netlink.version rnbd "version 2"
	finds warn netlink.ops rnbd "remap"
	finds warn netlink.mcast rnbd "path, device, export"
	put /proc/self/status $'Name:\tx\nCapEff:\t0000000000001000'
	finds warn netlink.permission "" "not change"
	# what cannot be looked at is not well; told once, by the first that needs it
	world denied
	finds fail session.paths_down rnbd_client "cannot be read: Operation not permitted"
	finds fail server.writers rnbd_server "cannot be read"
	adm 11 check session device server -j
	[ "$(jqv '[.results[] | select(.status == "fail") | .object] | join(" ")')" = "rnbd_client rnbd_server" ]
	world no-operation
	finds skip net.address "" "does not tell"
}

@test "rdma: no device, port and link down, slow, no GID, own name space, errors" {
	put "$IB/state" "1: DOWN"
	put "$IB/phys_state" "3: Disabled"
	finds fail rdma.port_state mlx5_0/1 "DOWN (Disabled)"
	[ "$(jqv '.results[0].data.phys_state')" = Disabled ]
	finds fail rdma.phys_state mlx5_0/1 Disabled
	put "$IB/rate" "25 Gb/sec (1X EDR)"
	finds warn rdma.rate mlx5_0/1 "but ens1f0np0 has 100 Gb/s"
	put "$IB/link_layer" InfiniBand
	finds warn rdma.rate mlx5_0/1 "one lane"
	finds skip rdma.roce mlx5_0/1 Ethernet
	put "$IB/link_layer" Ethernet
	gone sys/class/infiniband/mlx5_0/device
	finds pass rdma.rate mlx5_0/1 software
	put "$IB/gid_attrs/types/3" "IB/RoCE v1"
	finds fail rdma.roce mlx5_0/1 "ens1f0np0"
	put "$IB/gids/1" 0000:0000:0000:0000:0000:0000:0000:0000
	put "$IB/gids/3" 0000:0000:0000:0000:0000:0000:0000:0000
	finds fail rdma.gid ip:10.0.0.1 "cl1@srv1"
	gone "$IB/counters"
	finds skip rdma.counters mlx5_0/1 "counts no errors"
	gone sys/class/infiniband
	finds fail rdma.devices "" "no RDMA device"
	finds skip rdma.rate "" "no RDMA device"
}

@test "rdma.counters: errors that rise between two looks" {
	(
		n=12
		until [[ -e $ROOT/stop ]]; do
			echo $((n++)) >"$ROOT/new" && mv "$ROOT/new" "$ROOT/$IB/counters/symbol_error"
			sleep 0.02
		done
	) 3>&- &
	# between the looks of one run there may have been no time for it
	for ((i = 0; i < 20; i++)); do
		adm 0 check rdma.counters -j
		valid rnbdadm.check/1
		[[ $output != *"errors are rising: symbol_error"* ]] || break
	done
	touch "$ROOT/stop"
	wait $!
	((i < 20))
	finds pass rdma.counters mlx5_0/1 "no errors"
}

@test "net: address gone, no route, another route, no answer, interface down, MTU, flow control" {
	sed -i '/^address 10.0.0.1 /d' "$ROOT/rtnetlink"
	finds fail net.address "ip:10.0.0.1@ip:10.0.0.2" "10.0.0.1 is not an address"
	finds pass net.address "ip:10.0.1.1@ip:10.0.1.2" "is here"
	adm 0 check net.address --path 10.0.1.1@10.0.1.2
	adm 11 check net.address --path 10.0.0.2
	fails 4 not_found check net.address --path 10.0.0.2 --path 10.7.7.7
	sed -i '/eth0/d; /^route .*ens1f0np0/d' "$ROOT/rtnetlink"
	finds fail net.route "ip:10.0.0.1@ip:10.0.0.2" "no route to 10.0.0.2"
	put /rtnetlink "route default eth0
neighbour 10.0.0.2 0"
	finds warn net.route "ip:10.0.0.1@ip:10.0.0.2" "leaves through eth0, the path uses ens1f0np0"
	finds fail net.neigh "ip:10.0.0.1@ip:10.0.0.2" "does not answer"
	finds pass net.neigh "ip:10.0.1.1@ip:10.0.1.2" "not asked"
	gone "$NET/operstate"
	finds skip net.link ens1f0np0 "unknown"
	put "$NET/operstate" down
	finds fail net.link ens1f0np0 "is down"
	put "$NET/mtu" 1500
	finds warn net.mtu ens1f0np0 "RoCE MTU limited to 1024"
	finds warn net.mtu_mismatch cl1@srv1 "MTU 1500 on ens1f0np0, 4200 on ens1f1np1"
	put "$NET/mtu" 4191
	finds warn net.mtu ens1f0np0 "RoCE MTU limited to 2048"
	put "$NET/mtu" 4192
	finds pass net.mtu ens1f0np0 "RoCE MTU 4096"
	put "$NET/ecn/roce_np/enable/3" 0
	finds warn net.pause mlx5_0/1 "ECN is off"
	gone "$NET/ecn"
	finds skip net.pause mlx5_0/1 "does not tell"
}

@test "paths of the configuration that do not run: looked at as well, with where they stand" {
	local conf=/etc/rnbd/conf.d/10-srv1.conf
	printf '%s\n' "address 192.168.1.5 24 eth0" "address 10.0.5.1 24 ib0" "route 10.0.5.2 ib0" "neighbour 10.0.1.9 0" >>"$ROOT/rtnetlink"
	put /sys/class/net/ib0/type 32
	put $conf $'[session cl1@srv1]\npath = 10.0.0.1@10.0.0.2\npath = 10.0.7.7@10.0.0.9\n[session s9]
path = 10.0.1.1@10.0.1.9\npath = 192.0.2.1\npath = 10.0.0.1@192.0.2.9\npath = 192.168.1.5@192.168.1.9
path = 10.0.5.1@10.0.5.2\npath = host:nosuch.invalid\npath = 10.0.0.9'
	finds fail net.address ip:10.0.7.7@ip:10.0.0.9 "10.0.7.7 is not an address of this host"
	[ "$(jqv '.results[] | select(.status == "fail" and .data.source == "'$conf':3") | .hint')" = \
		"ip addr add 10.0.7.7/PREFIX dev IFACE; or another address in $conf:3" ]
	# what runs is told of once, and needs no place
	[ "$(jqv '[.results[] | select(.object == "ip:10.0.0.1@ip:10.0.0.2") | .data.source] == [null]')" = true ]
	finds pass net.address ip:10.0.1.1@ip:10.0.1.9 "is here"
	finds skip net.address ip:192.0.2.1 "no address of its own"
	finds fail net.address host:nosuch.invalid "nosuch.invalid"
	finds fail rdma.gid ip:10.0.7.7 "no GID of an RDMA device is this address of a path of cl1@srv1"
	finds fail rdma.gid ip:192.168.1.5 "of a path of s9"
	finds pass rdma.gid ip:10.0.1.1 "GID 3 of mlx5_1:1"
	finds pass rdma.gid ip:10.0.5.1 IPoIB
	finds fail net.route ip:192.0.2.1 "leaves through eth0, which has no RDMA"
	[[ $output == *"or another address in $conf:6"* ]]
	finds fail net.route ip:192.168.1.5@ip:192.168.1.9 "leaves through eth0, which has no RDMA"
	finds warn net.route ip:10.0.0.1@ip:192.0.2.9 "leaves through eth0, the path uses ens1f0np0"
	finds pass net.route ip:10.0.5.1@ip:10.0.5.2 "through ib0"
	finds pass net.route ip:10.0.0.9 "10.0.0.9 through ens1f0np0"
	finds fail net.neigh ip:10.0.1.1@ip:10.0.1.9 "does not answer ARP"
	adm 11 check net.address rdma.gid --path 10.0.7.7@10.0.0.9 -j
	[ "$(jqv '.results | length')" = 2 ]
	fails 4 not_found check net.address --path 10.0.7.7@10.0.0.8
	# also without the module; not where the file has mistakes, which are told elsewhere
	world absent
	finds fail net.address ip:10.0.7.7@ip:10.0.0.9 "not an address"
	finds skip net.address "" "not loaded"
	world check-good
	printf 'hue = 3\n' >>"$ROOT/$conf"
	adm 0 check net.address rdma.gid
}

@test "sessions: paths down and why, one path, shared fate, reconnects, migrations, policy" {
	put "$IB/rate" "25 Gb/sec (1X EDR)"
	finds warn session.policy cl1@srv1 "round-robin over paths of 25 and 100"
	gone "$IB/rate"
	gone "${IB/mlx5_0/mlx5_1}/rate"
	finds skip session.policy cl1@srv1 "no rate"
	world check-dark
	finds fail session.paths_down cl1@srv2 "has no path"
	finds pass session.shared_fate cl1@srv1 "nothing in common"
	world check-bad
	finds fail session.paths_down cl1@srv1 "2 of 2 paths down"
	[[ $output == *ECONNREFUSED*ETIMEDOUT*"nobody listens on the server's port"* ]]
	adm 11 check session.paths_down --path 10.0.1.2 -j
	[[ $output != *ECONNREFUSED* && $output == *"1 of 1 paths down"*"nobody answers"* ]]
	[ "$(jqv '[.results[].status] | join(" ")')" = "fail skip skip" ]
	finds warn session.single_path cl1@srv2 "one path only"
	finds warn session.shared_fate cl1@srv1 "the port mlx5_0, the own address"
	finds fail session.reconnects cl1@srv3 "given up after 3 attempts"
	finds pass session.reconnects cl1@srv1 "no reconnect fails now, 7 did since the last reset"
}

@test "session.reconnects: what goes on failing, by its counter or by a path that tries now" {
	world check-flaps
	finds warn session.reconnects cl1@srv1 "reconnects go on failing, 14 since the last reset"
	# the same counters twice
	world two-sessions
	finds warn session.reconnects cl1@srv1 "reconnects go on failing, 7 since the last reset"
	finds pass session.reconnects cl1@srv2 "no reconnect failed"
}

@test "session.shared_fate: one subnet of the own addresses, as their interfaces have it" {
	world check-subnets
	printf 'address %s\n' "10.0.0.5 24 ens1f1np1" "fd00::1 64 ens1f0np0" "fd00::5 64 ens1f1np1" "fe80::1 64 ens1f0np0" \
		"fe80::5 64 ens1f1np1" >>"$ROOT/rtnetlink"
	finds warn session.shared_fate s1 "all paths share the subnet 10.0.0.0/24"
	finds warn session.shared_fate s2 "all paths share the subnet fd00::/64"
	finds pass session.shared_fate s3 "nothing in common"
	# the second address is in a network of its own, or of none
	sed -i 's/^address 10.0.0.5 24/address 10.0.0.5 30/; s/^address fd00::5 64/address fd00::5 124/' "$ROOT/rtnetlink"
	finds pass session.shared_fate s1 "nothing in common"
	finds pass session.shared_fate s2 "nothing in common"
	sed -i '/^address/d' "$ROOT/rtnetlink"
	finds pass session.shared_fate s1 "nothing in common"
}

@test "devices: disconnected, in use, migration, no node, queues" {
	world check-bad
	finds fail device.state rnbd0 "disconnected: ENOTCONN"
	finds fail device.orphan_mount rnbd0 "disconnected and used by mount /data"
	world check-stale
	finds fail device.state rnbd0 "disconnected: ESTALE"
	[[ $output == *"others may have written to it"*"rnbdadm remap rnbd0"* ]]
	world check-bad
	finds warn device.access rnbd1 "migration"
	[[ $output == *"rnbdadm device set rnbd1 --access rw"* ]]
	gone dev/rnbd0
	finds fail device.node rnbd0 "no /dev/rnbd0"
}

@test "each check has a cause and a cure" {
	adm 0 metadata
	[ "$(jqv '.checks | length')" -ge 41 ]
	[ "$(jqv '[.checks[] | select((.cause | length) < 10 or (.cure | length) < 8)] | length')" = 0 ]
	[ "$(jqv '[.checks[] | .id | split(".")[0]] == [.checks[].group]')" = true ]
	adm 0 help checks
	[ "$(grep -c '^  ' <<<"$output")" = "$("$PLAIN" metadata -j | jq '.checks | length')" ]
}

@test "text of what is wrong, groups, hints alone, words that are none" {
	replay two-sessions
	adm 11 check
	golden check-bad.txt
	[[ $stderr == "rnbdadm: check: "*" failures, "* ]]
	adm 11 check --fix-hints
	golden check-hints.txt
	adm 11 check device session.paths_down -j
	valid rnbdadm.check/1
	[ "$(jqv '[.results[].id | split(".")[0]] | unique | join(" ")')" = "device session" ]
	adm 11 check all --color=always
	[[ $output == *$'\033[31mFAIL\033[0m  modules'* ]]
	fails 2 usage check rdmaa
	[[ $stderr == *"did you mean rdma"* ]]
	fails 2 usage check rdma --path nonsense
	adm 0 check --help
	[[ $output == *"--path=[SRC@]DST        this path alone"* && $output != *"new session"* ]]
}

@test "check changes nothing and starts nothing" {
	find "$ROOT" -type f -exec md5sum {} + | sort >"$BATS_TEST_TMPDIR/before"
	strace -f -e trace=execve,sendto,sendmsg -o "$BATS_TEST_TMPDIR/trace" "$PLAIN" "${R[@]}" check >/dev/null
	[ "$(grep -c execve "$BATS_TEST_TMPDIR/trace")" = 1 ]
	run ! grep send "$BATS_TEST_TMPDIR/trace"
	find "$ROOT" -type f -exec md5sum {} + | sort | cmp - "$BATS_TEST_TMPDIR/before"
}

@test "the documents of these tests are valid" { all_valid; }
