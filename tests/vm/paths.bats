#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Paths of a session: several, of any family, and what remains when one dies; the disk that one leads to when it is back.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: on 6.1 for ^(a session of 128 paths|E5): the debug kernel takes minutes for so many, and has no NVMe
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	both_ends 32
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
}

teardown() {
	# What a test that failed has left
	[[ ! -b /dev/dm-0 ]] || mute off
	"$ADM" unmap --all --force || :
	dmesg_clean
}

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

# has_gid RXE HEX: the end of an address that has come to the device
has_gid() { grep -qs "$2" "/sys/class/infiniband/$1/ports/1/gids/"*; }

link_local() { ip -6 -br addr show dev "$1" scope link | grep -o 'fe80:[0-9a-f:]*'; }

@test "link-local addresses with their interface, with a source and without: the tool, map_device, add_path" {
	local a b ctl=/sys/class/rnbd-client/ctl/map_device session=/sys/class/rtrs-client/s1
	a=$(link_local dummy0)
	b=$(link_local dummy1)
	"$ADM" map /dev/ram0 --session s1 --path "ip:$a%dummy0"
	adm_is '[.paths[].hca] == ["rxe0"]' path list
	"$ADM" path add s1 "ip:$b%dummy1@ip:$b%dummy1"
	adm_is '[.paths | sort_by(.hca)[] | [.hca, .state, .server_addr]] == [["rxe0", "connected", "ip:'"$a"'"], ["rxe1", "connected", "ip:'"$b"'"]]' path list
	adm_is '.paths[0].hca == "rxe1"' path show s1 "ip:$b@ip:$b"
	copy_and_compare 16
	"$ADM" unmap rnbd0
	echo "sessname=s1 path=ip:$a%dummy0@ip:$a%dummy0 device_path=/dev/ram0" >$ctl
	echo "ip:$b%$(<"/sys/class/net/dummy1/ifindex")" >$session/add_path
	[ "$(cat $session/paths/*/state | xargs)" = "connected connected" ]
	# There is no such interface
	run -1 bash -c "echo ip:$b%dummy7 >$session/add_path"
	[[ $output == *"Invalid argument"* ]]
	copy_and_compare 16
}

@test "a map over 8 paths, in-tree no more than 6" {
	local n args=()
	for n in {1..8}; do
		ip addr add "10.0.0.1$n/24" dev dummy0
		args+=(--path "ip:10.0.0.1$n")
	done
	await 10 has_gid rxe0 0a00:0012
	"$ADM" map /dev/ram0 --session s1 --connections 1 "${args[@]}"
	adm_is '.sessions[0] | .paths_connected == 8' session list
	"$ADM" stats reset s1
	copy_and_compare 16
	adm_is '[.stats[].counters.write_ios] | length == 8 and min >= 1' stats
	"$ADM" unmap rnbd0
	for n in {1..8}; do ip addr del "10.0.0.1$n/24" dev dummy0; done
}

# As many as there may be on either side; each address of 12 is a source and a destination
@test "a session of 128 paths, and no more: all carry requests, and all but one may go again" {
	local sys=/sys/class/rtrs-client/s1 n src dst pairs=() args=() t0=$EPOCHREALTIME
	[[ -n $VIRTIO ]] || skip "the debug kernel takes minutes for so many"
	unload rnbd-server rtrs-server
	load_server sess_queue_depth=16 max_chunk_size=16384
	for n in {11..22}; do ip addr add "10.0.0.$n/24" dev dummy0; done
	await 10 has_gid rxe0 0a00:0016
	for src in {11..22}; do
		for dst in {11..22}; do pairs+=("ip:10.0.0.$src@ip:10.0.0.$dst"); done
	done
	for n in {0..31}; do args+=(--path "${pairs[n]}"); done
	"$ADM" map /dev/ram0 --session s1 --connections 1 "${args[@]}"
	for n in {32..127}; do echo "${pairs[n]}" >$sys/add_path; done
	echo "# 128 paths were there after $(seconds_since "$t0") s" >&3
	adm_is '.sessions[0] | .state == "connected" and .paths_connected == 128 and .paths_configured == 128' session list
	run --separate-stderr -1 "$ADM" path add s1 "${pairs[128]}"
	[[ $stderr == *"a session has 1 to 128 paths"* ]]
	"$ADM" stats reset s1
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite --bs=4k --size=2m --verify=crc32c \
		--verify_fatal=1 --minimal >/tmp/fio || fail "$(</tmp/fio)"
	adm_is '[.stats[].counters | .write_ios + .read_ios] | length == 128 and min >= 1' stats
	t0=$EPOCHREALTIME
	"$ADM" path remove s1 "${pairs[@]:1:127}"
	echo "# 127 of them were gone after $(seconds_since "$t0") s" >&3
	adm_is '[.paths[] | .name, .state] == ["'"${pairs[0]}"'", "connected"]' path list
	copy_and_compare 16
	"$ADM" unmap rnbd0
	for n in {11..22}; do ip addr del "10.0.0.$n/24" dev dummy0; done
	unload rnbd-server rtrs-server
	load_server
}

@test "the same address twice is refused, and nothing is left" {
	run --separate-stderr -2 "$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1 --path ip:10.0.0.1
	[[ $stderr == *"'ip:10.0.0.1' is given twice"* ]]
	run -1 bash -c "echo sessname=s1 path=ip:10.0.0.1 path=ip:10.0.0.1 device_path=/dev/ram0 >/sys/class/rnbd-client/ctl/map_device"
	[[ $output == *"File exists"* ]]
	adm_is '.sessions == []' session list
}

# loaded DISK: its server's disk has some requests to do; sets LOAD
loaded() {
	fio --name=r --filename="/dev/$1" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --thread --time_based \
		--runtime=60 --minimal >/dev/null 2>&1 3>&- & LOAD=$!
	await 30 under_way "$1" 8
}

# It may have ended by an error
load_kill() { kill $LOAD 2>/dev/null || :; wait $LOAD || :; }

@test "closed and opened at once: the server, whose disk is slow, ends the last one first" {
	local map="sessname=s1 path=ip:10.0.0.1 path=ip:10.0.1.1 device_path=/dev/slow" ctl=/sys/class/rnbd-client/ctl disk path
	null_disk slow size=16 blocksize=4096 irqmode=2 completion_nsec=2000000000
	echo "$map" >$ctl/map_device
	loaded rnbd0
	# By a client that cannot wait for the end of I/O any more
	for path in /sys/class/rtrs-client/s1/paths/*; do echo 1 >"$path/disconnect"; done
	echo force >/sys/block/rnbd0/rnbd/unmap_device
	echo "$map" >$ctl/map_device
	disk=$(disk_of s1 /dev/slow)
	load_kill
	dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct
	"$ADM" unmap "$disk"
	null_disk_gone slow
}

# replaced OLD NEW MAP-ARG..: path OLD is removed and NEW added at once, while requests of a slow disk are under way
replaced() {
	local old=$1 new=$2 sys=/sys/class/rtrs-client/s1
	shift 2
	null_disk slow size=16 blocksize=4096 irqmode=2 completion_nsec=2000000000
	"$ADM" map /dev/slow --session s1 "$@"
	loaded rnbd0
	echo 1 >"$sys/paths/ip:$old@ip:$old/remove_path"
	echo "ip:$new" >$sys/add_path
	load_kill
	[[ $(dmesg_new) != *"I/O error"* ]]
	"$ADM" unmap rnbd0
	null_disk_gone slow
}

@test "removed and added at once: the server, whose disk is slow, ends the last one first" {
	replaced 10.0.1.1 10.0.1.1 --path ip:10.0.0.1 --path ip:10.0.1.1
}

@test "the last path is removed, and one over other addresses added at once: the server, whose disk is slow, ends the last one first" {
	replaced 10.0.0.1 10.0.1.1 --path ip:10.0.0.1 --no-path-timeout -1
}

# map_mute: /dev/dm-0, over two paths; mute: it does not answer; mute off
map_mute() {
	dmsetup create --noudevsync mute --table "0 65536 linear /dev/ram0 0" && await 10 test -b /dev/dm-0 &&
		"$ADM" map /dev/dm-0 --session s1 --path ip:10.0.0.1 --path ip:10.0.1.1 "$@"
}

mute() {
	if [[ ${1-} == off ]]; then
		dmsetup resume --noudevsync mute
	else
		dmsetup suspend --noudevsync --nolockfs mute
	fi
}

@test "removed and added at once, while the server's disk does not answer: refused; later it is not" {
	local sys=/sys/class/rtrs-client/s1
	map_mute
	mute
	loaded rnbd0
	echo 1 >$sys/paths/ip:10.0.1.1@ip:10.0.1.1/remove_path
	run -1 bash -c "echo ip:10.0.1.1 >$sys/add_path"
	[[ $output == *"Device or resource busy"* ]]
	mute off
	await 10 eval "echo ip:10.0.1.1 >$sys/add_path"
	load_kill
	"$ADM" unmap rnbd0
	dmsetup remove --noudevsync mute
}

# What is in the page cache of a disk is written when the last one closes it
@test "the server cannot close the disk of a session that is gone: it serves others, takes the client with its other disks, and that disk later" {
	local path back
	map_mute
	"$ADM" map /dev/ram0 --session s1 --access ro
	dd if=/dev/zero of=/dev/dm-0 bs=4k count=1 conv=notrunc status=none
	mute
	for path in /sys/class/rtrs-client/s1/paths/*; do echo 1 >"$path/disconnect"; done
	echo 1 >"$path/reconnect" 3>&- & back=$!
	await 20 adm_is '.devices[1].state == "mapped"' device list
	wait $back
	dd if=/dev/rnbd1 of=/dev/null bs=4k count=1 iflag=direct status=none
	await 20 adm_is '.devices[0] | .state == "disconnected" and .last_error == "EBUSY"' device list
	"$ADM" session add s2 --path ip:10.0.0.1
	"$ADM" unmap rnbd1
	mute off
	await 20 adm_is '.devices[0].state == "mapped"' device list
	dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none
	"$ADM" session remove s2
	"$ADM" unmap rnbd0
	dmsetup remove --noudevsync mute
}

@test "RDMA devices are deleted while the server's disk does not answer: nobody waits for it, and I/O goes on when it does" {
	local pid
	map_mute --no-path-timeout -1
	mute
	fio --name=v --filename=/dev/rnbd0 --rw=randwrite --bs=16k --size=2m --verify=crc32c --direct=1 --ioengine=libaio --iodepth=8 \
		--thread --minimal >/tmp/fio 3>&- & pid=$!
	await 30 under_way rnbd0 8
	timeout 20 rdma link delete rxe1
	timeout 20 rdma link delete rxe0
	adm_is '.client.sessions[0].state == "reconnecting"' status
	rxe_add rxe0 dummy0
	rxe_add rxe1 dummy1
	mute off
	wait $pid || fail "$(</tmp/fio)"
	cmp -n $((2 << 20)) /dev/rnbd0 /dev/ram0
	await 20 adm_is '.sessions[0].paths_connected == 2' session list
	"$ADM" unmap rnbd0
	dmsetup remove --noudevsync mute
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

# nvme_attach: a target of this host over TCP: /dev/nvme0n1 and /dev/nvme0n2, both with /dev/ram0 behind them
nvme_attach() {
	echo "transport=tcp,traddr=127.0.0.1,trsvcid=4420,nqn=nqn.disks" >/dev/nvme-fabrics
	await 20 test -b /dev/nvme0n1 && await 20 test -b /dev/nvme0n2
}

nvme_detach() { echo 1 >/sys/class/nvme/nvme0/delete_controller && await 20 test ! -e /sys/block/nvme0n1; }

@test "E5: an NVMe namespace behind the node: the same, attached anew, is taken again, another one is not" {
	local dir=/sys/kernel/config/nvmet ns pid
	. "$ROOT/tests/vm/reconnect.bash"
	modprobe -a nvmet-tcp nvme-tcp 2>/dev/null || skip "this kernel has no NVMe"
	mkdir -p $dir/subsystems/nqn.disks/namespaces/{1,2} $dir/ports/1 /dev/vols
	echo 1 >$dir/subsystems/nqn.disks/attr_allow_any_host
	for ns in "$dir"/subsystems/nqn.disks/namespaces/*; do
		echo -n /dev/ram0 >"$ns/device_path" && echo 1 >"$ns/enable"
	done
	for ns in trtype=tcp adrfam=ipv4 traddr=127.0.0.1 trsvcid=4420; do echo "${ns#*=}" >"$dir/ports/1/addr_${ns%=*}"; done
	ln -s $dir/subsystems/nqn.disks $dir/ports/1/subsystems/
	nvme_attach
	cp -a /dev/nvme0n1 /dev/vols/disk
	cut_off /dev/vols/disk
	rmmod rnbd-server rtrs-server
	nvme_detach
	nvme_attach
	load_server
	back
	goes_on
	"$ADM" unmap rnbd0
	cut_off /dev/vols/disk
	cp -a --remove-destination /dev/nvme0n2 /dev/vols/disk
	back
	stays_away /dev/vols/disk
	"$ADM" unmap rnbd0
	nvme_detach
	rm -r /dev/vols $dir/ports/1/subsystems/nqn.disks
}
