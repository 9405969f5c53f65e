#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What the rules of udev get to know, the rules and units themselves, and their installation.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
	export TO=$BATS_FILE_TMPDIR/to
	make -s -C "$TOP/rnbdadm" install DESTDIR="$TO" PREFIX=/usr
}

setup() {
	load helpers
	ROOT=$BATS_TEST_TMPDIR/root
	mkdir -p "$ROOT"
	R=(--test-root "$ROOT" --test-time "$TIME")
}

# disk NAME SESSION DEVICE_PATH PATH..: as sysfs shows it
disk() {
	mkdir -p "$ROOT/sys/block/$1/rnbd" "$ROOT/sys/class/rtrs-client/$2/paths"
	printf '%s\n' "$2" >"$ROOT/sys/block/$1/rnbd/session"
	printf '%s\n' "$3" >"$ROOT/sys/block/$1/rnbd/mapping_path"
	for p in "${@:4}"; do mkdir "$ROOT/sys/class/rtrs-client/$2/paths/$p"; done
}

@test "udev: links by session, by name, by each address of the server" {
	disk rnbd0 cl1@srv1 vol0 ip:10.0.0.1@ip:10.0.0.2 ip:10.0.1.1@ip:10.0.1.2 ip:10.0.2.1@ip:10.0.1.2
	mkdir -p "$ROOT/etc/rnbd/conf.d"
	# the mistake of another section takes nothing away
	printf '%s\n' '[session cl1@srv1]' 'path = 10.0.0.2' '[device data]' 'session = cl1@srv1' 'device-path = vol0' '[x]' \
		>"$ROOT/etc/rnbd/conf.d/a.conf"
	adm 0 udev rnbd0
	[ "$output" = "RNBD_SESSION=cl1@srv1
RNBD_DEVICE_PATH=vol0
RNBD_BY_SESSION=cl1@srv1/vol0
RNBD_BY_NAME=data
RNBD_BY_PATH=rnbd/by-path/ip:10.0.0.2/vol0 rnbd/by-path/ip:10.0.1.2/vol0 \
disk/by-path/rnbd-ip:10.0.0.2,vol0 disk/by-path/rnbd-ip:10.0.1.2,vol0
ID_SERIAL=cl1@srv1,vol0
ID_PATH=rnbd-ip:10.0.0.2,vol0" ]
	[ -z "$stderr" ]
	# what the rules make links of
	[ "$(grep -oE 'RNBD_[A-Z_]+' "$TO/usr/lib/udev/rules.d/60-rnbd.rules" | sort -u)" = \
		"$(grep -oE '^RNBD_[A-Z_]+' <<<"$output" | grep -vx RNBD_DEVICE_PATH | sort)" ]
	adm 0 udev rnbd0 -j
	valid rnbdadm.udev/1
	[ "$(jqv '[.by_session, .by_name, .by_path[1]] | join(" ")')" = "cl1@srv1/vol0 data ip:10.0.1.2/vol0" ]
	adm 0 udev rnbd0p12
	[ "$output" = "RNBD_SESSION=cl1@srv1
RNBD_DEVICE_PATH=vol0
RNBD_BY_SESSION=cl1@srv1/vol0-part12
RNBD_BY_NAME=data-part12
RNBD_BY_PATH=rnbd/by-path/ip:10.0.0.2/vol0-part12 rnbd/by-path/ip:10.0.1.2/vol0-part12 \
disk/by-path/rnbd-ip:10.0.0.2,vol0-part12 disk/by-path/rnbd-ip:10.0.1.2,vol0-part12
ID_SERIAL=cl1@srv1,vol0
ID_PATH=rnbd-ip:10.0.0.2,vol0" ]
}

@test "udev: disks of names that look alike have links of their own" {
	disk rnbd0 a,b c
	disk rnbd1 a b,c
	adm 0 udev rnbd0
	[ "${lines[-1]}" = 'ID_SERIAL=a\x2cb,c' ]
	adm 0 udev rnbd1
	[ "${lines[-1]}" = 'ID_SERIAL=a,b\x2cc' ]
}

@test "udev: what is no mapped disk has nothing, and that is no failure" {
	mkdir -p "$ROOT/sys/block/rnbd1" "$ROOT/sys/block/sda/rnbd"
	echo s >"$ROOT/sys/block/sda/rnbd/session"
	echo d >"$ROOT/sys/block/sda/rnbd/mapping_path"
	for d in rnbd1 rnbd99 sda ../sda rnbd0/../sda rnbd1p1 rnbd1p rnbd1px; do
		adm 0 udev "$d"
		[ -z "$output$stderr" ]
	done
	# half of it
	mkdir -p "$ROOT/sys/block/rnbd2/rnbd"
	echo s >"$ROOT/sys/block/rnbd2/rnbd/session"
	adm 0 udev rnbd2
	[ -z "$output$stderr" ]
}

@test "udev: odd names are escaped, and stay where they belong" {
	# shellcheck disable=SC2016
	disk rnbd0 's;1"$x' $'../a b\\\e\xff' gid:fe80::1@gid:fe80::2
	adm 0 udev rnbd0
	[ "${lines[2]}" = 'RNBD_BY_SESSION=s\x3b1\x22\x24x/..\x2fa\x20b\x5c\x1b\xff' ]
	disk rnbd1 s2 ..
	adm 0 udev rnbd1
	[ "${lines[2]}" = 'RNBD_BY_SESSION=s2/\x2e\x2e' ]
	disk rnbd4 s4 $' v \t'
	adm 0 udev rnbd4
	[ "${lines[2]}" = 'RNBD_BY_SESSION=s4/\x20v\x20\x09' ]
	disk rnbd2 s3 幅
	adm 0 udev rnbd2
	[ "${lines[2]}" = 'RNBD_BY_SESSION=s3/幅' ]
}

@test "udev: a name that no file can have is cut, ends in a hash, and is told" {
	local long name
	printf -v long '%0120d' 0
	# they differ in what is cut
	disk rnbd0 s "${long//0/%}x" ip:10.0.0.1@ip:10.0.0.2
	disk rnbd1 s2 "${long//0/%}y" ip:10.0.0.1@ip:10.0.0.2
	adm 0 udev rnbd0p128
	[ "$stderr" = "rnbdadm: warning: rnbd0: a name is too long for that of a file; its links end in a hash of it" ]
	run -0 awk 'length > 255' < <(sed '/^RNBD_DEVICE_PATH=/d; s/^ID_SERIAL=\(.*\)/x=rnbd-\1-part128/' <<<"$output" | tr '= /' '\n')
	[ -z "$output" ]
	adm 0 udev rnbd0p128
	[[ ${lines[2]} =~ ^RNBD_BY_SESSION=s/(.*~[0-9a-f]{16})-part128 ]]
	name=${BASH_REMATCH[1]}
	adm 0 udev rnbd0
	[[ $output == *"RNBD_BY_SESSION=s/$name"$'\n'* ]]
	adm 0 udev rnbd1
	[[ $output == *"RNBD_BY_SESSION=s2/"*~* && $output != *"${name: -16}"* ]]
	adm 0 udev rnbd0 -j
	valid rnbdadm.udev/1
	[ "$(jqv '.warnings | length')" = 1 ]
}

@test "udev: no lock, no netlink, no other program, and quick" {
	command -v strace >/dev/null || skip "no strace"
	disk rnbd0 s1 vol0 ip:10.0.0.1@ip:10.0.0.2
	strace -f -o "$BATS_TEST_TMPDIR/trace" "$PLAIN" "${R[@]}" udev rnbd0
	run ! grep -E 'AF_NETLINK|flock|O_WRONLY|O_RDWR' "$BATS_TEST_TMPDIR/trace"
	[ "$(grep -c 'execve(' "$BATS_TEST_TMPDIR/trace")" = 1 ]
}

@test "udev: a large configuration and many paths take milliseconds" {
	local i few many
	disk rnbd0 s1 vol0 ip:10.0.0.1@ip:10.0.1.1
	few=$(instructions udev rnbd0)
	mkdir -p "$ROOT/etc/rnbd" "$ROOT/sys/class/rtrs-client/s1/paths/ip:10.0.0.1@ip:10.0.1."{2..32}
	{
		printf '[session s1]\npath = 10.0.0.1\n'
		for ((i = 0; i < 4000; i++)); do printf '[device d%d]\nsession = s1\ndevice-path = vol%d\n' $i $i; done
	} >"$ROOT/etc/rnbd/rnbdadm.conf"
	many=$(instructions udev rnbd0)
	echo "$few, $many instructions"
	adm 0 udev rnbd0
	[[ $output == *RNBD_BY_NAME=d0* && $output == *10.0.1.32* ]]
	((few > 100000 && few < 4000000 && many < 150000000))
	# as of a disk that apply has mapped: its note spares the configuration
	mkdir -p "$ROOT/run/rnbd/registry/device:s1:vol0"
	printf d0 >"$ROOT/run/rnbd/registry/device:s1:vol0/name"
	few=$(instructions udev rnbd0)
	echo "$few instructions with a note"
	adm 0 udev rnbd0
	[[ $output == *RNBD_BY_NAME=d0* ]]
	((few > 100000 && few * 10 < many))
}

@test "owner: what config apply made is marked, until it is removed" {
	mkdir -p "$ROOT/run" "$ROOT/sys/class/infiniband/mlx5_0"
	mkdir -p "$ROOT/run/rnbd/registry/session:cl1@srv1"
	printf config >"$ROOT/run/rnbd/registry/session:cl1@srv1/owner"
	R=(--nl-replay "$REC/two-sessions.nl" --test-root "$ROOT")
	adm 0 session list -F name,owner
	[[ ${lines[1]} =~ ^cl1@srv1\ +config$ && ${lines[2]} =~ ^cl1@srv2\ +-$ ]]
	mkdir -p "$ROOT/run/rnbd/registry/device:cl1@srv2:ram0"
	printf config >"$ROOT/run/rnbd/registry/device:cl1@srv2:ram0/owner"
	R=(--nl-replay "$REC/unmap.nl" --test-root "$ROOT")
	adm 0 unmap rnbd2
	[ ! -e "$ROOT/run/rnbd/registry/device:cl1@srv2:ram0" ]
	[ -e "$ROOT/run/rnbd/registry/session:cl1@srv1" ]
}

@test "owner: what is made by hand is nobody's, whatever was there of that name" {
	local dir=$ROOT/run/rnbd/registry how
	mkdir -p "$ROOT/run" "$ROOT/sys/class/infiniband/mlx5_0" "$ROOT/dev"
	touch "$ROOT/dev/rnbd3"
	for how in "map vol9 --session" "session-add session add"; do
		mkdir -p "$dir"/{session:cl1@srv3,device:cl1@srv3:vol9}
		printf config | tee "$dir"/{session:cl1@srv3,device:cl1@srv3:vol9}/owner
		R=(--nl-replay "$REC/${how%% *}.nl" --test-root "$ROOT")
		# shellcheck disable=SC2086
		adm 0 ${how#session-add } cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9
		[ ! -e "$dir/session:cl1@srv3" ]
	done
	# which is that of the session alone
	[ "$(ls "$dir")" = device:cl1@srv3:vol9 ]
	R=(--nl-replay "$REC/map.nl" --test-root "$ROOT")
	adm 0 map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9
	[ -z "$(ls "$dir")" ]
}

@test "installed: rules and units, with the program's place, and gone again" {
	[ -x "$TO/usr/sbin/rnbdadm" ]
	[ -d "$TO/etc/rnbd/conf.d" ]
	for f in systemd/system/rnbd-{restore,shutdown,device@}.service udev/rules.d/60-rnbd.rules; do
		[ "$(stat -c %a "$TO/usr/lib/$f")" = 644 ]
		grep -q '/usr/sbin/rnbdadm' "$TO/usr/lib/$f"
		run ! grep '@SBINDIR@' "$TO/usr/lib/$f"
	done
	# every command line in them is one of the tool
	while read -r line; do
		read -ra words <<<"${line//%k/rnbd0}"
		adm 0 "${words[@]}" -h
	done < <(sed -n 's|.*/usr/sbin/rnbdadm \([^"]*\).*|\1|p' "$TO"/usr/lib/systemd/system/rnbd-*.service "$TO"/usr/lib/udev/rules.d/*)
	make -s -C "$TOP/rnbdadm" uninstall DESTDIR="$TO" PREFIX=/usr
	[ -z "$(find "$TO" -type f)" ]
	make -s -C "$TOP/rnbdadm" install DESTDIR="$TO" PREFIX=/usr
}

@test "units: systemd takes them" {
	command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
	sed -i "s|/usr/sbin/rnbdadm|$PLAIN|" "$TO"/usr/lib/systemd/system/rnbd-*.service
	cp "$TO/usr/lib/systemd/system/rnbd-device@.service" "$TO/usr/lib/systemd/system/rnbd-device@data.service"
	for u in restore shutdown device@data; do
		run -0 systemd-analyze verify --man=no "$TO/usr/lib/systemd/system/rnbd-$u.service"
		[[ $output != *rnbd-* ]]
		# nobody else pulls it in, and without it the order before remote file systems is none
		grep -qE '^Wants=(.* )?remote-fs-pre\.target( |$)' "$TO/usr/lib/systemd/system/rnbd-$u.service"
	done
	# what unmaps when it is stopped does so after lvm2 has taken down what is on the disks
	for u in shutdown device@; do
		grep -qx 'Before=remote-fs-pre.target blk-availability.service' "$TO/usr/lib/systemd/system/rnbd-$u.service"
	done
}

@test "the documents of these tests are valid" { all_valid; }
