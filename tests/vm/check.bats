#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# check on a real kernel: what a guest can have wrong, one thing after the other. The tests build on each other. In other files, for
# what they set up: errors of a link that rise (rdma.counters) in failover-loss.bats. Left to
# tests/cli/check.bats, whose host is made of files: a link with fewer lanes or less speed than it could have (rdma.rate), as Soft-RoCE
# tells a rate of its own; flow control that is on or off (net.pause), as neither it nor any interface of a guest has DCB, which is what
# is seen here (tests/cli/unit/check.c has the kernel's answers); a transport's module that is gone below rnbd (modules.rtrs), as no
# kernel unloads it then.
# lab: on debug: what it looks at is one-CPU logic, for KASAN, lockdep and kmemleak
# lab: on 6.1 for ^(a kernel without rdma_cm|a server without an RDMA|huge pages|all well|a packet filter): the debug kernel has none of them
# lab: make tests/vm/older
# lab: in-tree modules, too
# lab: timeout 900
# lab: cpus 1
# lab: no sanitizers: it is started too often
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup() {
	. "$ROOT/tests/vm/guest.bash"
	DEP=/lib/modules/$(uname -r)/modules.dep
	P1=ip:10.0.0.1@ip:10.0.0.1
	P2=ip:10.0.1.1@ip:10.0.1.1
}

# Where single tests run, the last one, which unmaps, may not be among them
teardown_file() { . "$ROOT/tests/vm/guest.bash" && unmap_all; }

# looks ID..: these checks are run; a failure is exit code 11
looks() {
	run --separate-stderr "$ADM" check -v "$@"
	[[ $output == *FAIL* ]] && [[ $status == 11 ]] || [[ $output != *FAIL* && $status == 0 ]] || fail "status $status: $output"
}

# told STATUS ID OBJECT WORDS CURE: that result was among them; a warning or a failure has a cure, with these words
told() {
	local head line i
	printf -v head '%-4s  %-22s %s' "$1" "$2" "${3:+$3: }"
	for ((i = 0; i < ${#lines[@]}; i++)); do
		line=${lines[i]}
		[[ $line == "$head"*"$4"* ]] || continue
		[[ $1 == ok || $1 == skip ]] || [[ -n ${5-} && ${lines[i + 1]} == "      hint: "*"$5"* ]] || continue
		return 0
	done
	fail "not told: $*: $output"
}

finds() { looks "$2" && told "$@"; }

@test "a bare host: no modules, no family, no RDMA link" {
	run "$ADM" check -j
	looks
	told FAIL modules.client rnbd_client "not loaded" "modprobe rnbd_client"
	told skip modules.server rnbd_server "not loaded"
	told skip modules.origin "" "no rnbd module"
	told FAIL netlink.family rnbd "not loaded" "modprobe rnbd_client"
	told FAIL rdma.devices "" "no RDMA device" "type rxe"
	told skip session.\* "" "not loaded"
	told skip server.listen "" "not loaded"
	told ok netlink.permission "" "CAP_NET_ADMIN"
}

@test "a kernel without rdma_cm" {
	! grep -q /rdma_cm.ko "${DEP%dep}builtin" || skip "it is built in here"
	mount --bind /dev/null "$DEP"
	finds FAIL modules.rdma_cm rdma_cm "no such module" CONFIG_INFINIBAND_ADDR_TRANS
	umount "$DEP"
	finds skip modules.rdma_cm rdma_cm "the rnbd modules bring it"
}

@test "the in-tree drivers in place of ours" {
	load_peer_server
	looks modules netlink
	told FAIL modules.origin rtrs_core "is the in-tree driver" "modprobe those of this project"
	told FAIL netlink.family rnbd "though drivers are loaded" "load the modules of this project"
	unload_all
}

@test "the family of another release, with fewer operations and events" {
	module_load "$ROOT/build/older/build/lab-$(uname -r)/kernel" rtrs-core
	run "$ADM" check netlink -j
	looks modules.origin netlink
	told ok modules.origin rtrs_core "has the netlink family"
	told warn netlink.version rnbd "version 2, this tool knows 1" "of the same release"
	told warn netlink.ops rnbd "these modules lack access-set, access-test" "load newer modules"
	told warn netlink.mcast rnbd "no events of: access" "monitor and wait need them"
	unload_all
}

@test "a server without an RDMA link, without its directory, without memory" {
	load_server dev_search_path=/nonexistent sess_queue_depth=2048
	finds FAIL server.listen "" "no RDMA device" "check rdma.devices"
	finds FAIL server.search_path /nonexistent "does not exist" "mkdir -p /nonexistent"
	finds skip modules.client rnbd_client "not loaded"
	# 256 MiB for each client: what is left is less
	mkdir /run/full
	mount -t tmpfs -o size=100% full /run/full
	fallocate -l "$(awk '/^MemAvailable:/ { print $2 - 180 * 1024 }' /proc/meminfo)K" /run/full/it
	finds FAIL server.memory "" "each client pins 256 MiB" "smaller sess_queue_depth"
	umount /run/full
	unload rnbd-server
	finds warn modules.rtrs rtrs_server "loaded, though rnbd_server is not: nothing uses it" "modprobe rnbd_server, or modprobe -r rtrs_server"
	unload_all
	finds skip modules.rtrs "" "no rnbd module"
}

@test "all well: two paths, a device, both sides" {
	net_up 2
	ram_disk 32
	load_server
	load_client
	"$ADM" map /dev/ram0 --session s1 --path "$P1" --path "$P2"
	ids=(modules.rtrs modules.rdma_cm modules.origin netlink.{family,version,ops,mcast} rdma.{devices,port_state,phys_state,rate,roce}
		rdma.gid net.{address,route,neigh,link,mtu,mtu_mismatch}
		session.{paths_down,single_path,shared_fate,reconnects,policy} device.{state,access,node}
		server.{listen,record,names,export_perm,writers,size,memory})
	looks "${ids[@]}"
	[[ ${lines[-1]} == *" 0 warnings, 0 failures, "* ]]
	for id in "${ids[@]}"; do
		told ok "$id" "" ""
	done
	told ok netlink.ops rnbd all
	told ok rdma.gid ip:10.0.1.1 "of rxe1:1"
	told ok net.route "$P1" "through lo"
	finds skip net.pause rxe0/1 "in software; dummy0 has no DCB"
	strace -qo /run/tmp/asked -e trace=sendmsg,recvmsg "$ADM" check net.pause
	grep -q 'sendmsg.*RTM_GETDCB' /run/tmp/asked
	grep -q 'recvmsg.*error=-EOPNOTSUPP' /run/tmp/asked
	looks session
	told ok session.paths_down s1 "all 2 paths"
}

@test "modules that the next boot does not find, or not these" {
	finds warn modules.installed rnbd_client "not installed for kernel" modules_install
	sed "s/vermagic=$(uname -r)/vermagic=0.0-other/" "$MODS/rnbd-client.ko" >/run/tmp/rnbd-client.ko
	printf '%s:\n' ../../../../../../run/tmp/rnbd-client.ko kernel/drivers/infiniband/ulp/rtrs/rtrs-core.ko >/run/tmp/dep
	mount --bind /run/tmp/dep "$DEP"
	looks modules
	umount "$DEP"
	told FAIL modules.signature rnbd_client "built for kernel 0.0-other, running is $(uname -r)" "build the modules for $(uname -r)"
	told warn modules.installed rtrs_core "a reboot loads the in-tree" updates/
}

@test "a path down, one path, no path, a session whose paths share a port" {
	"$ADM" path disconnect s1 "$P2"
	finds FAIL session.paths_down s1 "1 of 2 paths down: $P2 is disconnected" recover
	"$ADM" path remove s1 "$P2"
	finds warn session.single_path s1 "one path only" "path add s1"
	ip addr add 10.0.0.9/24 dev dummy0
	"$ADM" path add s1 10.0.0.9@10.0.0.9
	finds warn session.shared_fate s1 "the port rxe0" "another adapter"
	"$ADM" path remove s1 ip:10.0.0.9@ip:10.0.0.9
	ip addr del 10.0.0.9/24 dev dummy0
	"$ADM" path add s1 "$P2"
	finds ok session.shared_fate s1 "nothing in common"
}

@test "paths of different rates" {
	ip link add fast type veth peer name other
	ip addr add 10.0.7.1/24 dev fast
	ip link set fast up
	ip link set other up
	rxe_add rxe7 fast
	"$ADM" path add s1 10.0.7.1@10.0.7.1
	finds warn session.policy s1 "round-robin over paths of" "session set s1 --mp-policy"
	"$ADM" path remove s1 ip:10.0.7.1@ip:10.0.7.1
	rdma link delete rxe7
	ip link delete fast
}

@test "an address gone" {
	ip addr del 10.0.1.1/24 dev dummy1
	looks net.address rdma.gid
	told FAIL net.address "$P2" "10.0.1.1 is not an address" "ip addr add 10.0.1.1"
	told FAIL rdma.gid ip:10.0.1.1 "no GID" "ip addr"
	ip addr del fd00:1::1/64 dev dummy1
	await 10 finds FAIL rdma.roce rxe1/1 "no address of dummy1" "ip addr add"
	ip addr add 10.0.1.1/24 dev dummy1
	ip addr add fd00:1::1/64 dev dummy1 nodad
	await 10 finds ok rdma.gid ip:10.0.1.1 "of rxe1:1"
}

@test "an interface down, a small MTU, MTUs that differ" {
	ip link set dummy1 mtu 1500
	looks net
	told warn net.mtu dummy1 "RoCE MTU limited to 1024" "ip link set dummy1 mtu 4200"
	told warn net.mtu_mismatch s1 "4200 on dummy0, 1500 on dummy1" "the same MTU"
	ip link set dummy1 mtu 4200
	finds ok net.mtu dummy1 "RoCE MTU 4096"
	ip link set dummy1 down
	looks rdma.port_state rdma.phys_state net.link
	told FAIL rdma.port_state rxe1/1 DOWN "ip link set dummy1 up"
	told FAIL rdma.phys_state rxe1/1 Disabled "cable"
	told FAIL net.link dummy1 down "ip link set dummy1 up"
	ip link set dummy1 up
	await 10 finds ok rdma.port_state rxe1/1 ACTIVE
	rxe_sound rxe1 dummy1 >&3
}

@test "a server that is gone: no route, another route, no answer" {
	local gone=ip:10.0.1.1@ip:10.0.9.1
	ip addr add 10.0.9.1/32 dev dummy1
	await 10 "$ADM" path add s1 10.0.1.1@10.0.9.1
	ip addr del 10.0.9.1/32 dev dummy1
	finds FAIL net.route $gone "no route to 10.0.9.1" "ip route add 10.0.9.1 dev dummy1"
	ip route add 10.0.9.0/24 dev dummy0
	finds warn net.route $gone "leaves through dummy0, the path uses dummy1" "a rule for the source address"
	# which then counts, whatever the main table says
	ip rule add from 10.0.1.1 table 77
	ip route add 10.0.9.0/24 dev dummy1 table 77
	finds ok net.route $gone "10.0.9.1 through dummy1"
	ip route del 10.0.9.0/24 dev dummy0
	finds ok net.route $gone "10.0.9.1 through dummy1"
	ip route replace prohibit 10.0.9.0/24 table 77
	finds FAIL net.route $gone "no route to 10.0.9.1" "ip route add 10.0.9.1 dev dummy1"
	ip rule del from 10.0.1.1 table 77
	ip route add 10.0.9.0/24 dev dummy1
	ip link set dummy1 arp on
	echo >/dev/udp/10.0.9.1/9
	await 10 finds FAIL net.neigh $gone "10.0.9.1 does not answer ARP" "ip neigh"
	run "$ADM" check server.reachable --server 10.0.9.1:1
	told FAIL server.reachable 10.0.9.1:1 "does not answer ARP" "is the server up"
	ip link set dummy1 arp off
	"$ADM" path remove s1 $gone
	ip route del 10.0.9.0/24 dev dummy1
	rxe_sound rxe1 dummy1 >&3
	await 30 finds ok session.paths_down s1 "all 2 paths"
}

@test "the same over IPv6" {
	local gone=ip:fd00:1::1@ip:fd00:9::1
	ip addr add fd00:1::1/64 dev dummy1 nodad # it went when the interface was down
	ip addr add fd00:9::1/128 dev dummy1 nodad
	await 10 "$ADM" path add s1 fd00:1::1@fd00:9::1
	finds ok net.route $gone "fd00:9::1 through lo"
	ip addr del fd00:9::1/128 dev dummy1
	finds FAIL net.route $gone "no route to fd00:9::1" "ip route add fd00:9::1 dev dummy1"
	ip -6 rule add from fd00:1::1 table 77
	ip route add fd00:9::/64 dev dummy1 table 77
	finds ok net.route $gone "fd00:9::1 through dummy1"
	ip -6 rule del from fd00:1::1 table 77
	ip route add fd00:9::/64 dev dummy1
	finds ok net.neigh $gone "not asked for lately"
	ip link set dummy1 arp on
	echo >/dev/udp/fd00:9::1/9
	await 10 finds FAIL net.neigh $gone "fd00:9::1 does not answer NDP" "ip neigh"
	echo >/dev/udp/fd00:9::2/9
	run "$ADM" check server.reachable --server fd00:9::2
	told FAIL server.reachable fd00:9::2 "does not answer NDP on dummy1" "is the server up"
	ip neigh replace fd00:9::1 lladdr 02:00:00:00:09:01 dev dummy1
	finds ok net.neigh $gone "fd00:9::1 answers NDP"
	ip link set dummy1 arp off
	"$ADM" path remove s1 $gone
	ip route del fd00:9::/64 dev dummy1
	rxe_sound rxe1 dummy1 >&3
	await 30 finds ok session.paths_down s1 "all 2 paths"
}

@test "two writers, a disk of the server that is write-protected" {
	"$ADM" map /dev/ram0 --session s2 --path "$P1" --access migration
	finds warn server.writers ram0 "2 clients may write to it" "during a migration only"
	"$ADM" unmap rnbd1
	blockdev --setro /dev/ram0
	finds warn server.export_perm ram0 "is read-only here" "blockdev --setrw /dev/ram0"
	blockdev --setrw /dev/ram0
}

@test "a disk of the server that has another size than its client was told" {
	local disk file
	disk=$(loop_disk 16)
	file=$(losetup -nO BACK-FILE "$disk")
	"$ADM" map "$disk" --session s1 --path "$P1"
	finds ok server.size "${disk##*/}" "16777216 bytes, as its clients were told"
	truncate -s 24M "$file"
	losetup -c "$disk"
	finds warn server.size "${disk##*/}" "has 25165824 bytes, s1 was told 16777216" "rnbdadm server export revalidate ${disk##*/}"
	"$ADM" server export revalidate "${disk##*/}"
	finds ok server.size "${disk##*/}" "25165824 bytes, as its clients were told"
	truncate -s 8M "$file"
	losetup -c "$disk"
	finds FAIL server.size "${disk##*/}" "has 8388608 bytes only, s1 was told 25165824" "rnbdadm server export revalidate ${disk##*/} --force"
	"$ADM" server export revalidate "${disk##*/}" --force
	finds ok server.size "${disk##*/}" "8388608 bytes, as its clients were told"
	"$ADM" unmap rnbd1
	losetup -d "$disk"
	rm "$file"
}

@test "a disk of the server that goes away while a client has it" {
	null_disk goes size=16
	"$ADM" map /dev/goes --session s1
	finds ok server.export_perm goes "is there"
	null_disk_gone goes
	finds FAIL server.export_perm goes "is open for s1, and gone from this host" "rnbdadm server export close goes --all"
	"$ADM" server export close goes --all --force
	"$ADM" unmap rnbd1
}

@test "a device in migration, without read-ahead, with a scheduler, without its node, lost" {
	"$ADM" unmap rnbd0
	"$ADM" map /dev/ram0 --session s1 --path "$P1" --access migration
	blockdev --setra 0 /dev/rnbd0
	modprobe mq-deadline
	rm /dev/rnbd0
	looks device
	told warn device.access rnbd0 migration "rnbdadm device set rnbd0 --access rw"
	"$ADM" device set rnbd0 --access rw
	finds ok device.access rnbd0 rw
	looks device
	told FAIL device.node rnbd0 "no /dev/rnbd0" "udevadm settle"
	mknod /dev/rnbd0 b "$(cut -d: -f1 /sys/block/rnbd0/dev)" "$(cut -d: -f2 /sys/block/rnbd0/dev)"
	# Writes nothing by itself while the device is lost
	mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 /dev/rnbd0
	mkdir /run/tmp/mnt
	mount /dev/rnbd0 /run/tmp/mnt
	sync -f /run/tmp/mnt
	"$ADM" path disconnect s1 --force
	run "$ADM" check -j
	looks device session
	told FAIL device.state rnbd0 disconnected "recover s1"
	told FAIL device.orphan_mount rnbd0 "mount /run/tmp/mnt" "recover s1"
	told FAIL session.paths_down s1 "1 of 1 paths down" recover
	"$ADM" path reconnect s1
	await 10 finds ok device.state rnbd0 mapped
}

@test "the system on a device" {
	local dir
	for dir in usr proc sys dev etc "${ROOT#/}"; do
		mkdir -p "/run/tmp/mnt/$dir"
		mount --bind "/$dir" "/run/tmp/mnt/$dir"
	done
	for dir in bin sbin lib lib64; do
		ln -s "usr/$dir" /run/tmp/mnt/$dir
	done
	run chroot /run/tmp/mnt "$ADM" check system.initramfs
	told FAIL system.initramfs rnbd0 "the initramfs lacks rnbd_client" update-initramfs
	umount -R /run/tmp/mnt
}

@test "nobody listens on the server's port; attempts that failed, the last of them" {
	"$ADM" session set s1 --reconnect-delay 100ms --reconnect-delay-max 200ms
	unload rnbd-server rtrs-server
	await 20 finds warn session.reconnects s1 "reconnects go on failing" "stats s1"
	finds FAIL session.paths_down s1 ECONNREFUSED "modprobe rnbd_server there"
	run "$ADM" check server.reachable --server 10.0.0.1
	told FAIL server.reachable 10.0.0.1 "session s1 cannot connect to it: ECONNREFUSED" "check session.paths_down"
	"$ADM" session set s1 --max-reconnect-attempts 1
	await 20 finds FAIL session.reconnects s1 "was given up after" "max-reconnect-attempts infinite"
	load_server
	"$ADM" session set s1 --max-reconnect-attempts infinite
	"$ADM" path reconnect s1
	await 10 finds ok device.state rnbd0 mapped
}

@test "privilege, a server out of reach" {
	chmod 755 /run/tmp
	run setpriv --reuid=65534 --clear-groups --inh-caps=-all "$ADM" check netlink.permission
	told warn netlink.permission "" "may look, but not change" CAP_NET_ADMIN
	looks server.reachable --server 10.0.0.7
	told skip server.reachable 10.0.0.7 "no connection was tried; 10.0.0.7 is reached through dummy0, of RDMA device rxe0"
	run "$ADM" check server.reachable --server 10.0.0.1:1234
	told ok server.reachable 10.0.0.1:1234 "session s1 is connected to it"
	run "$ADM" check server.reachable --server 192.0.2.1
	told FAIL server.reachable 192.0.2.1 "no route" "ip route get 192.0.2.1"
	ip link add plain type dummy
	ip addr add 192.0.2.2/24 dev plain
	ip link set plain up
	run "$ADM" check server.reachable --server 192.0.2.1
	told FAIL server.reachable 192.0.2.1 "leaves through plain, which has no RDMA" "in the RDMA network"
	run "$ADM" check server.reachable --server nosuch.invalid
	told FAIL server.reachable nosuch.invalid "" "DNS or /etc/hosts"
	ip link delete plain
}

@test "a packet filter" {
	modprobe nft_ct || skip "this kernel has none"
	finds warn system.firewall "" "packet filter" "UDP port 4791"
	modprobe -r nft_ct nf_tables
	finds ok system.firewall "" "no packet filter"
}

@test "rules of udev, and udev, absent or there" {
	rm -f {/etc,/run,/usr/local/lib,/usr/lib,/lib}/udev/rules.d/60-rnbd.rules
	finds warn system.udev 60-rnbd.rules "not installed" "udevadm control --reload"
	mkdir -p /etc/udev/rules.d
	touch /etc/udev/rules.d/60-rnbd.rules
	finds warn system.udev 60-rnbd.rules "udev does not run" "systemctl start systemd-udevd"
	mkdir -p /run/udev
	touch /run/udev/control
	finds ok system.udev 60-rnbd.rules "udev runs"
	rm /run/udev/control
}

@test "a configuration: none, with a mistake, without its unit, other than what runs" {
	local unit=rnbd-restore.service dir=/etc/systemd/system
	rm -rf /etc/rnbd
	rm -f {/etc,/usr/local/lib,/usr/lib,/lib}/systemd/system/$unit $dir/multi-user.target.wants/rnbd-*
	looks system config
	told skip system.unit $unit "nothing is configured"
	told skip config.\* "" "nothing is configured"
	mkdir -p /etc/rnbd/conf.d $dir/multi-user.target.wants
	printf '%s\n' '[session s1]' 'path = ip:10.0.0.1' 'hue = 3' >/etc/rnbd/conf.d/a.conf
	looks system config
	told FAIL config.valid /etc/rnbd/conf.d/a.conf:3 "no key 'hue'" "config validate"
	told FAIL system.unit $unit "not installed" "make install"
	printf '%s\n' '[session s1]' 'path = ip:10.0.0.1' 'mp-policy = min-latency' >/etc/rnbd/conf.d/a.conf
	touch $dir/$unit
	looks system config
	told ok config.valid "" "1 file, 1 section"
	told warn config.drift "" "first session mp_policy" "config apply"
	told FAIL system.unit $unit "not enabled" "systemctl enable $unit"
	"$ADM" config apply
	ln -s ../$unit $dir/multi-user.target.wants/
	looks system config
	told ok config.drift "" "the configuration runs"
	told ok system.unit $unit enabled
}

@test "it changed nothing" {
	"$ADM" unmap --all
	"$ADM" session remove s1 --idempotent
	dmesg_clean
}
