#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A machine with both packages installed: disks and file systems are there after a reboot, also when the network or the server
# comes late, and go in order before it.
# lab: on 6.1: packages, DKMS and systemd need Debian's kernel
# lab: boots 3
# lab: timeout 900
# lab: debug kernel no: the packages are for Debian's kernels
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup() {
	. "$ROOT/tests/vm/guest.bash"
	CONF=/etc/rnbd/conf.d/10-s1.conf
	NOTES=/var/lib/lab
}

is() { [[ $1 == "$2" ]] || fail "'$1' is not '$2'"; }

# unit_is UNIT PROPERTY VALUE
unit_is() { is "$(systemctl show -P "$2" "$1")" "$3"; }

# The unit failed and is tried again
again() { (($(systemctl show -P NRestarts rnbd-restore) > 0)); }

journal_has() { journalctl -b -o cat -u rnbd-restore | grep -q "$1"; }

# What the restored machine has, with what the last boot wrote
restored() {
	rnbdadm device list
	is "$(readlink -f /dev/rnbd/by-session/s1/vdb /dev/rnbd/by-path/ip:10.0.0.1/vdb /dev/rnbd/by-name/data \
		/dev/disk/by-id/rnbd-s1,vdb /dev/disk/by-path/rnbd-ip:10.0.0.1,vdb | sort -u)" /dev/rnbd0
	is "$(findmnt -no SOURCE,FSTYPE /data)" "/dev/rnbd0 ext4"
	sha256sum --check --quiet $NOTES/sums
	# the file system need not wait for the end of the units
	await 20 unit_is rnbd-restore ActiveState active
	rnbdadm check system.unit | grep "rnbd-restore.service: enabled, and it has not failed"
	await 20 unit_is rnbd-shutdown ActiveState active
}

# The last shutdown: file systems, then disks, then the network, to which nothing was left
went_in_order() {
	is "$(<$NOTES/left)" ""
	run grep -oE 'Unmounted data|(Stopping|Stopped) (rnbd-shutdown|lab-network)' "$LAB_OUT/console-$((LAB_BOOT - 1)).log"
	is "$output" $'Unmounted data\nStopping rnbd-shutdown\nStopped rnbd-shutdown\nStopping lab-network\nStopped lab-network'
}

# It has this to find when it is back, in part not yet on the disk
write_more() {
	dd if=/dev/urandom of="/data/$LAB_BOOT" bs=64k count=64 status=none
	sha256sum /data/[0-9] >$NOTES/sums
}

# DKMS says that they are installed also where it did nothing for them
@test "boot 1: the modules are those that DKMS built, beside others of these names, in-tree and of 'make modules_install'" {
	local tree
	tree=/lib/modules/$(uname -r)
	ls "$tree"/kernel/{drivers/infiniband/ulp/rtrs/rtrs-{core,client,server},net/rds/rds{,_tcp}}.ko
	[ "$(cd "$tree/updates" && echo *.ko)" = "rds_tcp.ko rnbd-client.ko rnbd-server.ko rtrs-client.ko rtrs-core.ko" ]
	run -0 --separate-stderr dkms status rnbd
	echo "$output"
	[[ $output == "rnbd/"*", $(uname -r), "*": installed" ]]
	modprobe rnbd_client
	for m in rds rds_tcp rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server; do
		is "$(modinfo -n $m)" "$tree/updates/dkms/$m.ko"
		[[ $m == rds* || -d /sys/module/${m/-/_} ]]
	done
	rnbdadm check modules.installed modules.origin
}

@test "boot 1: RDS: with the kernel's own loaded ours is refused, and log and tool say why; then modprobe loads ours" {
	local tree ours
	tree=/lib/modules/$(uname -r)
	ours=$(rnbdadm version | sed -n 's/^rnbdadm //p')
	insmod "$tree/kernel/net/rds/rds.ko"
	run ! modprobe rds_tcp
	echo "$output"
	[[ $output == *"'rds_tcp': Unknown symbol in module"*"(see dmesg)" ]]
	dmesg | grep "rds_tcp: Unknown symbol rds_core_missing_in_the_kernels_own_rds"
	run -11 --separate-stderr rnbdadm rds check
	echo "$output"
	[[ $output == *"rds_tcp: $tree/updates/dkms/rds_tcp.ko cannot be loaded beside the rds that is, the kernel's own"* ]]
	[[ $output == *"modprobe -r rds, then modprobe rds_tcp"* ]]
	modprobe -r rds
	modprobe rds_tcp
	is "$(cat /sys/module/rds{,_tcp}/version | paste -sd ' ')" "$ours $ours"
	run -0 rnbdadm rds status
	is "${lines[0]} ${lines[1]}" "module       rds, of rnbd-dkms, version $ours module       rds_tcp, of rnbd-dkms, version $ours"
	modprobe -r rds_tcp rds
}

@test "boot 1: RDS: the kernel's own is kept beside the package by the commands of docs/rds.md" {
	local tree
	tree=/lib/modules/$(uname -r)
	bash -euc "$(sed -n 's/^    # \(.*depmod.*\)$/\1/p' "$ROOT/docs/rds.md")"
	is "$(modinfo -n rds rds_tcp | paste -sd ' ')" "$tree/kernel/net/rds/rds.ko $tree/kernel/net/rds/rds_tcp.ko"
	modprobe rds_tcp
	is "$(</sys/module/rds/version)" 4.0
	modprobe -r rds_tcp rds
	rm /etc/depmod.d/rnbd-dkms.conf
	depmod -a
	is "$(modinfo -n rds_tcp)" "$tree/updates/dkms/rds_tcp.ko"
}

@test "boot 1: the tool maps a disk; systemd has what is to be done at boot and shutdown" {
	run -0 rnbdadm map vdb --session s1 --path ip:10.0.0.1 --name data
	is "$output" /dev/rnbd0
	is "$(readlink -f /dev/rnbd/by-session/s1/vdb /dev/rnbd/by-path/ip:10.0.0.1/vdb /dev/rnbd/by-name/data | sort -u)" /dev/rnbd0
	is "$(systemctl is-enabled rnbd-restore)" enabled
	unit_is rnbd-restore ConditionResult no
	await 10 unit_is rnbd-shutdown ActiveState active
}

@test "boot 1: a file system on it is in fstab, as the manual and the guide say, the configuration saved" {
	local line
	line=$(sed -n 's,^\.Dl \(/dev/rnbd/.*\),\1,p' "$ROOT/man/rnbdadm-config.8.in")
	is "$(sed -n 's,^    \(/dev/rnbd/.*\),\1,p' "$ROOT/docs/guide/boot.md" | tr -s ' ')" "$line"
	mkfs.ext4 -q "${line%% *}"
	mkdir -p /data /etc/rnbd/conf.d
	echo "$line" >>/etc/fstab
	systemctl daemon-reload
	mount /data
	rnbdadm config save $CONF
	cat $CONF
	write_more
}

@test "boot 2: file systems went before disks, disks before the network" { went_in_order; }

@test "boot 2: all is there again" {
	await 60 mountpoint -q /data
	restored
	unit_is rnbd-restore NRestarts 0
	write_more
	echo late >$NOTES/late
}

@test "boot 3: the boot does not wait for network and server" {
	went_in_order
	await 60 systemctl -q is-active multi-user.target
	await 60 again
	# until it is tried again
	await 60 eval 'rnbdadm check system.unit | grep "rnbd-restore.service: enabled, but not active"'
	[ ! -e /data/1 ]
}

@test "boot 3: the network is there: apply is tried again" {
	net_up
	await 60 journal_has "does not listen"
}

@test "boot 3: the server is there: disk, links and file system come" {
	modprobe rnbd_server
	await 60 mountpoint -q /data
	restored
}

@test "boot 3: a mistake in the configuration waits for the administrator, and is not tried again" {
	echo '[sesion s2]' >/etc/rnbd/conf.d/20-mistake.conf
	run -1 systemctl restart rnbd-restore
	unit_is rnbd-restore ActiveState failed	# activating, where it is tried again
	journal_has 20-mistake.conf:1
	rm /etc/rnbd/conf.d/20-mistake.conf
	systemctl restart rnbd-restore
	unit_is rnbd-restore ActiveState active
}

@test "boot 3: a unit of its own for one device" {
	umount /data
	rnbdadm unmap rnbd0
	# what is in the configuration is there again
	systemctl reload rnbd-restore
	await 20 test /dev/rnbd/by-name/data -ef /dev/rnbd0
	rnbdadm unmap rnbd0
	systemctl start rnbd-device@data
	await 20 test /dev/rnbd/by-name/data -ef /dev/rnbd0
	systemctl stop rnbd-device@data
	is "$(rnbdadm device list --no-headers)" ""
	await 20 test ! -e /dev/rnbd/by-name/data
}

# audited EVENT COUNT
audited() { (($(journalctl -b -o cat -u rnbd-audit | grep -c "\"event\":\"$1\"") == $2)); }

@test "boot 3: the server's unit loads it closed, then the access list; the journal has each decision" {
	local unit
	for unit in rnbd-{server,audit}; do is "$(systemctl is-enabled $unit)" disabled; done
	modprobe -r rnbd_server
	cat >/etc/rnbd/conf.d/30-list.conf <<-'E'
		[peer web1]
		auth = none
		session = s2
		from = ip:10.0.0.1
		[export vol0]
		path = /dev/vdb
		allow = web1
	E
	systemctl start rnbd-server
	is "$(</sys/module/rnbd_server/parameters/access)" listed
	systemctl start rnbd-audit
	await 20 audited sync 1
	run -0 rnbdadm map vol0 --session s2 --path ip:10.0.0.1
	await 20 audited granted 2
	rnbdadm unmap "$output"
	rm /etc/rnbd/conf.d/30-list.conf
	# nothing opens by itself
	run -1 systemctl reload rnbd-server
	is "$(</sys/module/rnbd_server/parameters/access)" listed
	rnbdadm server access open --force
	systemctl stop rnbd-audit
}

# none COMMAND: nothing is found, or it is shown
none() {
	run "$@"
	[ -z "$output" ] || fail "there: $output"
	((status == 1))
}

# purged PACKAGE..: they are gone, and all that they brought or made. The machine's disk, below /run/tmp/disk, has what is otherwise
# than on the host; what there was before the packages it says itself.
purged() {
	run -0 dpkg --purge "$@"
	echo "$output"
	removed=$output
	for unit in rnbd-{restore,shutdown,server,audit}; do
		unit_is $unit LoadState not-found
	done
	[ ! -e /run/rnbd ]
	cd /run/tmp/disk/up || return
	find . | sort | comm -13 ../before - >/run/tmp/new
	none grep -E 'rnbd|rtrs' /run/tmp/new
	find . ! -type d | sort | comm -13 ../before - >/run/tmp/files
	none grep -vE '^\./var/(log|cache/(debconf|man)|lib/(dpkg|lab|dkms/mok\.))' /run/tmp/files
	none grep -rlE 'rnbd|rtrs' var/lib/{systemd,dkms} etc/systemd
	none grep -E 'updates/dkms' "/lib/modules/$(uname -r)/modules.dep"
	run -1 dpkg-query -s rnbdadm rnbd-dkms
}

@test "boot 3: stopped without modules the unit has not failed; purge leaves nothing" {
	rnbdadm unmap --all
	rnbdadm session remove s1
	rmmod rnbd_client rtrs_client
	systemctl stop rnbd-shutdown
	unit_is rnbd-shutdown ActiveState inactive
	modprobe rnbd_client
	mkdir /run/tmp/disk
	mount /dev/vda /run/tmp/disk
	purged rnbdadm rnbd-dkms
	# those that others put there are theirs
	is "$(modinfo -n rnbd_client)" "/lib/modules/$(uname -r)/updates/rnbd-client.ko"
	is "$(modinfo -n rds)" "/lib/modules/$(uname -r)/kernel/net/rds/rds.ko"
}

# The modules are in the kernel, though no package has them any more
@test "boot 3: installed while it runs: systemd and udev know it at once; upgrades leave disks alone, purge unmaps, leaves nothing again" {
	run -0 dpkg -i /run/tmp/disk/rnbdadm.deb
	echo "$output"
	is "$(systemctl is-enabled rnbd-restore)" enabled
	for unit in rnbd-{restore,shutdown,server,audit}; do
		unit_is $unit LoadState loaded
		unit_is $unit NeedDaemonReload no
	done
	[[ " $(systemctl show -P Wants multi-user.target) " == *" rnbd-restore.service "* ]]
	unit_is rnbd-shutdown ActiveState inactive
	rnbdadm map vdb --session s1 --path ip:10.0.0.1 --name data
	await 20 test /dev/rnbd/by-name/data -ef /dev/rnbd0
	await 10 unit_is rnbd-shutdown ActiveState active
	systemctl enable rnbd-device@data
	/var/lib/dpkg/info/rnbdadm.prerm upgrade 0
	[ /dev/rnbd/by-name/data -ef /dev/rnbd0 ]
	unit_is rnbd-shutdown ActiveState active
	# made by the module, which no package has brought
	rm /var/lib/rnbd-writers
	purged rnbdadm
	[[ $removed == *"to be unmapped, unless in use: rnbd0"* && $removed != *"still mapped"* ]]
	[ ! -b /dev/rnbd0 ]
	unit_is rnbd-shutdown ActiveState inactive
}
