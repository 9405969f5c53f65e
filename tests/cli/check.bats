#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# check: each condition provoked on a system tree, most by one file that differs from a host with nothing wrong.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	ROOT=$BATS_TEST_TMPDIR/root
	cp -r "$REC/check-root" "$ROOT"
	kernel check-good
	IB=/sys/class/infiniband/mlx5_0/ports/1
	NET=/sys/class/net/ens1f0np0
}

# kernel NAME: what the kernel answers
kernel() { R=(--nl-replay "$REC/$1.nl" --test-time "$TIME" --test-root "$ROOT"); }

put() {
	mkdir -p "$ROOT/${1%/*}"
	printf '%s\n' "$2" >"$ROOT/$1"
}

gone() { rm -r "${ROOT:?}/$1"; }

# finds STATUS ID OBJECT WORDS: that result, with a cure unless it is ok or skipped; any failure is exit code 11
finds() {
	run --separate-stderr "$RNBDADM" "${R[@]}" check "$2" -j
	printf '%s\n' "$output" "$stderr"
	valid rnbdadm.check/1
	printf '%s' "$output" | jq -e --arg status "$1" --arg id "$2" --arg object "$3" --arg words "$4" --argjson rc "$status" '
		$rc == (if .summary.fail > 0 then 11 else 0 end) and
		any(.results[]; .status == $status and .id == $id and (.object // "") == $object and (.message | contains($words)) and
			((.status == "pass" or .status == "skip") or (.hint | length > 0)))' ||
		return
	[[ $1 != warn ]] || adm 11 check "$2" --strict
}

@test "a host with nothing wrong: all of it ok, exit code 0, also with --strict" {
	adm 0 check --strict -j
	valid rnbdadm.check/1
	[ "$(jqv '.summary | .fail + .warn')" = 0 ]
	[ "$(jqv '[.results[] | select(.status == "pass") | .id] | unique | length')" -ge 40 ]
	jqv '.summary == (.results | {pass: map(select(.status == "pass")) | length, warn: 0, fail: 0,
		skip: map(select(.status == "skip")) | length})'
	adm 0 check
	golden check-good.txt
	[ -z "$stderr" ]
}

@test "every check of the table was run, each id in 'help checks'" {
	adm 0 check -j
	ids=$(jqv '[.results[].id] | unique[]')
	adm 0 help checks
	[ "$(awk '/^  / { print $1 }' <<<"$output" | sort)" = "$(sort <<<"$ids")" ]
	[ "$(wc -l <<<"$ids")" -ge 45 ]
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
	kernel absent
	finds fail modules.origin rtrs_core "in-tree"
	gone sys/module/rtrs_core
	finds skip modules.origin "" "no rnbd module"
	rmdir "$ROOT"/sys/module/rnbd_{client,server}
	finds skip modules.rtrs "" "no rnbd module"
}

@test "netlink: no family, an other version, operations and groups missing, no privilege" {
	kernel absent
	finds fail netlink.family rnbd "not loaded"
	finds skip netlink.ops "" "no netlink family"
	kernel check-old
	finds warn netlink.version rnbd "version 2"
	finds warn netlink.ops rnbd "remap"
	finds warn netlink.mcast rnbd "path, device, export"
	put /proc/self/status $'Name:\tx\nCapEff:\t0000000000001000'
	finds warn netlink.permission "" "not change"
	# what cannot be looked at is not well; told once, by the first that needs it
	kernel denied
	finds fail session.paths_down rnbd_client "cannot be read: Operation not permitted"
	finds fail server.writers rnbd_server "cannot be read"
	adm 11 check session device server -j
	[ "$(jqv '[.results[] | select(.status == "fail") | .object] | join(" ")')" = "rnbd_client rnbd_server" ]
	kernel no-operation
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
	rm "$ROOT/$IB"/gids/[13]
	finds fail rdma.gid ip:10.0.0.1 "cl1@srv1"
	put /sys/module/ib_core/parameters/netns_mode N
	finds warn rdma.netns "" "one network namespace"
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
	put /proc/net/fib_trie "     |-- 10.0.1.1
        /32 host LOCAL"
	finds fail net.address "ip:10.0.0.1@ip:10.0.0.2" "10.0.0.1 is not an address"
	finds pass net.address "ip:10.0.1.1@ip:10.0.1.2" "is here"
	adm 0 check net.address --path 10.0.1.1@10.0.1.2
	adm 11 check net.address --path 10.0.0.2
	fails 4 not_found check net.address --path 10.0.0.2 --path 10.7.7.7
	sed -i /eth0/d "$ROOT/proc/net/route"
	sed -i /ens1f0np0/d "$ROOT/proc/net/route"
	finds fail net.route "ip:10.0.0.1@ip:10.0.0.2" "no route to 10.0.0.2"
	put /proc/net/route "eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0"
	finds warn net.route "ip:10.0.0.1@ip:10.0.0.2" "leaves through eth0, the path uses ens1f0np0"
	put /proc/net/arp "10.0.0.2 0x1 0x0 00:00:00:00:00:00 * ens1f0np0"
	finds fail net.neigh "ip:10.0.0.1@ip:10.0.0.2" "does not answer"
	finds pass net.neigh "ip:10.0.1.1@ip:10.0.1.2" "not asked"
	gone proc/net/arp
	finds skip net.neigh "ip:10.0.0.1@ip:10.0.0.2" "does not tell"
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
	printf '     |-- %s\n        /32 host LOCAL\n' 192.168.1.5 10.0.5.1 >>"$ROOT/proc/net/fib_trie"
	printf '%s\n' "ib0 0005000A 00000000 0001 0 0 0 00FFFFFF 0 0 0" "eth0 0001A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0" \
		>>"$ROOT/proc/net/route"
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
	put /proc/net/arp "10.0.1.9 0x1 0x0 00:00:00:00:00:00 * ens1f1np1"
	finds fail net.neigh ip:10.0.1.1@ip:10.0.1.9 "does not answer ARP"
	adm 11 check net.address rdma.gid --path 10.0.7.7@10.0.0.9 -j
	[ "$(jqv '.results | length')" = 2 ]
	fails 4 not_found check net.address --path 10.0.7.7@10.0.0.8
	# also without the module; not where the file has mistakes, which are told elsewhere
	kernel absent
	finds fail net.address ip:10.0.7.7@ip:10.0.0.9 "not an address"
	finds skip net.address "" "not loaded"
	kernel check-good
	printf 'hue = 3\n' >>"$ROOT/$conf"
	adm 0 check net.address rdma.gid
}

@test "sessions: paths down and why, one path, shared fate, reconnects, migrations, policy" {
	put "$IB/rate" "25 Gb/sec (1X EDR)"
	finds warn session.policy cl1@srv1 "round-robin over paths of 25 and 100"
	gone "$IB/rate"
	gone "${IB/mlx5_0/mlx5_1}/rate"
	finds skip session.policy cl1@srv1 "no rate"
	kernel check-dark
	finds fail session.paths_down cl1@srv2 "has no path"
	finds pass session.shared_fate cl1@srv1 "nothing in common"
	kernel check-bad
	finds fail session.paths_down cl1@srv1 "2 of 2 paths down"
	[[ $output == *ECONNREFUSED*ETIMEDOUT*"nobody listens on the server's port"* ]]
	adm 11 check session.paths_down --path 10.0.1.2 -j
	[[ $output != *ECONNREFUSED* && $output == *"1 of 1 paths down"*"nobody answers"* ]]
	[ "$(jqv '[.results[].status] | join(" ")')" = "fail skip skip" ]
	finds warn session.single_path cl1@srv2 "one path only"
	finds warn session.shared_fate cl1@srv1 "the port mlx5_0, the own address"
	finds fail session.reconnects cl1@srv3 "given up after 3 attempts"
	finds pass session.reconnects cl1@srv1 "no reconnect fails now, 7 did since the last reset"
	finds warn session.cpu_migration cl1@srv1 "900 of 1000"
}

@test "session.reconnects: what goes on failing, by its counter or by a path that tries now" {
	kernel check-flaps
	finds warn session.reconnects cl1@srv1 "reconnects go on failing, 14 since the last reset"
	# the same counters twice
	kernel two-sessions
	finds warn session.reconnects cl1@srv1 "reconnects go on failing, 7 since the last reset"
	finds pass session.reconnects cl1@srv2 "no reconnect failed"
}

@test "session.shared_fate: one subnet of the own addresses, as their interfaces have it" {
	kernel check-subnets
	printf '     |-- %s\n        /32 host LOCAL\n' 10.0.0.5 >>"$ROOT/proc/net/fib_trie"
	put /proc/net/if_inet6 "fd000000000000000000000000000001 04 40 00 80 ens1f0np0
fd000000000000000000000000000005 05 40 00 80 ens1f1np1
fe800000000000000000000000000001 04 40 20 80 ens1f0np0
fe800000000000000000000000000005 05 40 20 80 ens1f1np1"
	finds warn session.shared_fate s1 "all paths share the subnet 10.0.0.0/24"
	finds warn session.shared_fate s2 "all paths share the subnet fd00::/64"
	finds pass session.shared_fate s3 "nothing in common"
	# the second address is in a network of its own, or of none
	sed -i 's/^fd000000000000000000000000000005 05 40/fd000000000000000000000000000005 05 7c/' "$ROOT/proc/net/if_inet6"
	printf '%s\n' "ens1f1np1 0400000A 00000000 0001 0 0 0 FCFFFFFF 0 0 0" >>"$ROOT/proc/net/route"
	finds pass session.shared_fate s1 "nothing in common"
	finds pass session.shared_fate s2 "nothing in common"
	sed -i '/ens1f/d' "$ROOT/proc/net/route"
	finds pass session.shared_fate s1 "nothing in common"
}

@test "devices: disconnected, in use, migration, no node, queues" {
	kernel check-bad
	finds fail device.state rnbd0 "disconnected: ENOTCONN"
	finds fail device.orphan_mount rnbd0 "disconnected and used by mount /data"
	finds warn device.access rnbd1 "migration"
	gone dev/rnbd0
	finds fail device.node rnbd0 "no /dev/rnbd0"
	put /sys/block/rnbd0/queue/read_ahead_kb 4
	finds warn device.readahead rnbd0 "4 KiB"
	put /sys/block/rnbd0/queue/scheduler "none [mq-deadline]"
	finds warn device.scheduler rnbd0 "mq-deadline"
}

@test "server: nothing to listen on, no directory, devices gone or read-only, two writers, memory, a server out of reach" {
	put /sys/class/block/sdb/ro 1
	finds warn server.export_perm sdb "read-only"
	gone sys/class/block/sdb
	finds fail server.export_perm sdb "gone from this host"
	finds pass server.search_path /srv/ "can be read; what each session has below it was not looked at"
	put /sys/module/rnbd_server/parameters/dev_search_path "/srv"/of%SESSNAME%/disks
	finds pass server.search_path /srv/ "can be read"
	put /sys/module/rnbd_server/parameters/dev_search_path /srv
	finds pass server.search_path /srv "can be read"
	[[ $output != *"each session"* ]]
	rmdir "$ROOT/srv"
	finds fail server.search_path /srv "does not exist"
	put /sys/module/rnbd_server/parameters/dev_search_path /proc/meminfo
	finds fail server.search_path /proc/meminfo "is no directory"
	put /proc/meminfo "MemAvailable: 60000 kB"
	finds fail server.memory "" "each client pins 64 MiB, available are 58 MiB"
	kernel check-bad
	finds warn server.writers sdb "2 clients may write"
	# ports: all listen, some are drained, all are, none is there, or nobody tells
	finds warn server.listen "" "port 1234 of mlx5_0:1; drained: mlx5_1:1"
	[[ $output == *"rnbdadm server port undrain mlx5_1:1"* ]]
	kernel check-drained
	finds fail server.listen "" "no client can connect: mlx5_0:1, mlx5_1:1 drained"
	[[ $output == *"rnbdadm server port undrain mlx5_0:1"* ]]
	kernel check-deaf
	finds fail server.listen "" "listens on no RDMA device"
	kernel check-old
	finds skip server.listen "" "port 1234; the module does not tell"
	kernel check-bad
	# another size than the clients know; a smaller one is told of first
	finds skip server.size sdb "does not tell"
	kernel check-grew
	finds warn server.size sdb "has 2199023255552 bytes, cl8@here was told 1099511627776"
	adm 0 check server.size -j
	[ "$(jqv '.results | map(.status + " " + .object) | join(", ")')" = "skip ram0, warn sdb" ]
	kernel check-shrank
	finds fail server.size sdb "has 2199023255552 bytes only, cl8@here was told 4398046511104"
	[[ $output == *"revalidate sdb --force"* ]]
	kernel check-good
	finds pass server.listen "" "port 1234 of mlx5_0:1, mlx5_1:1"
	finds pass server.size sdb "1099511627776 bytes, as its clients were told"
	kernel check-bad
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
	kernel check-dark
	adm 0 check server.reachable --server 10.0.1.2 -j
	[ "$(jqv '.results[0] | .status + " " + .hint')" = "skip rnbdadm session reconnect cl1@srv1 ip:10.0.1.1@ip:10.0.1.2" ]
	[[ $output == *"session cl1@srv1 has a path to it, which is disconnected"* ]]
	kernel check-bad
	sed -i 's/^10.0.0.2 0x1 0x2/10.0.0.2 0x1 0x0/' "$ROOT/proc/net/arp"
	adm 11 check server.reachable --server 10.0.0.2:999
	[[ $output == *"does not answer ARP on ens1f0np0"* ]]
	put /proc/net/route "vlan7 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0"
	adm 11 check server.reachable --server 192.0.2.1
	put "$IB/gid_attrs/ndevs/5" vlan7
	adm 0 check server.reachable --server 192.0.2.1
	[[ $output == "skip "*"through vlan7, of RDMA device mlx5_0"* ]]
	put /proc/net/route "eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0"
	adm 11 check server.reachable --server 192.0.2.1
	[[ $output == *"leaves through eth0, which has no RDMA"* ]]
	adm 11 check server.reachable --server nosuch.invalid
	sed -i /eth0/d "$ROOT/proc/net/route"
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

@test "system: memlock, huge pages, packet filter, udev, unit, initramfs" {
	put /proc/self/limits "Max locked memory         8388608              8388608              bytes"
	finds warn system.memlock "" "8192 KiB"
	put /proc/meminfo $'MemTotal: 1000000 kB\nHugePages_Total: 300\nHugepagesize: 2048 kB'
	finds warn system.hugepages "" "600 of 976 MiB"
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
	finds pass config.drift "" "what is configured runs"
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\npath = 10.0.1.2\n[device d]\nsession = cl1@srv1\ndevice-path = vol0\naccess = ro'
	finds warn config.drift "" "device d: access stays rw, not ro: it needs an unmap"
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\nmp-policy = min-latency'
	finds warn config.drift "" "2 changes to be made, first session mp_policy"
	kernel absent
	finds skip config.drift "" "not loaded"
	kernel check-good
	put $conf $'[session cl1@srv1]\npath = 10.0.0.2\nhue = 3\npath = x'
	finds fail config.valid $conf:3 "the first of several mistakes: [session] has no key 'hue'"
	finds skip config.drift "" "has mistakes"
	gone etc/rnbd
	finds skip config.valid "" "nothing is configured"
	finds skip config.drift "" "nothing is configured"
	RNBDADM_CONFIG=/nonexistent finds fail config.valid "" ENOENT
}

@test "each check has a cause and a cure" {
	adm 0 metadata
	[ "$(jqv '.checks | length')" -ge 47 ]
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
