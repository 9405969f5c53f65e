#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The configuration on a real kernel, with udev: what it says comes to be, in safe steps, from wherever it was left. The tests
# build on each other.
# lab: on debug: one-CPU logic; no program starts faster
# lab: timeout 1500
# lab: cpus 1
# lab: no sanitizers: it is started too often, and traced
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 3
	ram_disk 32 2
	load_client
	mkdir -p /run/udev/rules.d /etc/rnbd/conf.d
	for f in "$ROOT"/udev/*.in; do
		sed "s|@SBINDIR@|$ROOT/build|" "$f" >"/run/udev/rules.d/$(basename "$f" .in)"
	done
	/lib/systemd/systemd-udevd --daemon --resolve-names=never
}

teardown_file() { pkill -x systemd-udevd || :; }

setup() {
	. "$ROOT/tests/vm/guest.bash"
	CONF=/etc/rnbd/conf.d/a.conf
}

# conf I..: session s1 with a path over each of these links, its settings and disk
conf() {
	{
		printf '%s\n' '[session s1]' 'mp-policy = min-inflight' 'no-path-timeout = 30s' 'connections = 1'
		printf 'path = ip:10.0.%d.1\n' "$@"
		printf '%s\n' '[device data]' 'session = s1' 'device-path = ram0'
	} >$CONF
}

# conf with N paths, of which the first is the next link each $turn: there is something to do for apply
some_paths() {
	local i links=()
	for ((i = 0; i < $1; i++)); do
		links+=($(((turn + i) % 3)))
	done
	conf "${links[@]}"
}

is() { [[ $1 == "$2" ]] || fail "'$1' is not '$2'"; }

connected() { adm_is ".sessions[0].paths_connected >= 1" session list; }

# links_to DISK LINK..: these below /dev are links to it
links_to() {
	local disk=$1 link
	shift
	for link in "$@"; do
		[[ $(readlink -f "/dev/$link") == "/dev/$disk" ]] || fail "/dev/$link is no link to $disk" || return
	done
}

@test "apply before there is a server: it fails, and nothing is left" {
	conf 0
	run "$ADM" config apply
	echo "$output"
	[[ $status != [02] ]]
	adm_is '.sessions == []' session list
	[ -z "$(ls /run/rnbd/registry)" ]
}

@test "apply: what cannot be noted as its own is not made, and that is told" {
	load_server dev_search_path=/dev
	mkdir -p /run/rnbd/registry
	mount -t tmpfs -o ro none /run/rnbd/registry
	run --separate-stderr "$ADM" config apply
	umount /run/rnbd/registry
	echo "exit code $status: $output $stderr"
	[ "$status" = 1 ]
	[[ $stderr == *"session s1: cannot note its owner: Read-only file system (EROFS)"* ]]
	adm_is '.sessions == []' session list
}

@test "apply: the session, its settings, the disk, its links" {
	adm 0 config apply -v
	adm_is '.sessions[0] | .name == "s1" and .mp_policy == "min-inflight" and .no_path_timeout_ms == 30000 and
		.owner == "config" and .paths_connected == 1 and .devices_mapped == 1' session list
	udevadm settle --timeout=20
	for l in by-session/s1/ram0 by-name/data by-path/ip:10.0.0.1/ram0; do
		[ "$(readlink -f "/dev/rnbd/$l")" = /dev/rnbd0 ]
	done
	adm_is '.devices[0].links | length == 3' device show /dev/rnbd/by-name/data
}

@test "links stay while the disk is disconnected and after it comes back" {
	udevadm trigger --action=change --settle /sys/block/rnbd0
	[ -e /dev/rnbd/by-name/data ]
	udevadm trigger --action=offline --settle /sys/block/rnbd0
	[ -e /dev/rnbd/by-name/data ] && [ -e /dev/rnbd/by-path/ip:10.0.0.1/ram0 ]
}

@test "links to what is on the disk, as other disks have them: a partition, then a file system in it" {
	disk=(rnbd/by-{session/s1/ram0,path/ip:10.0.0.1/ram0,name/data} disk/by-{id/rnbd-s1,path/rnbd-ip:10.0.0.1},ram0)
	part=("${disk[@]/%/-part1}" disk/by-partuuid/12345678-01)
	fs=(disk/by-uuid/c0ffee00-1234-4321-abcd-0123456789ab 'disk/by-label/a\x20b')
	links_to rnbd0 "${disk[@]}" "disk/by-diskseq/$(</sys/block/rnbd0/diskseq)"
	partitions /dev/rnbd0 2048:16384
	blockdev --rereadpt /dev/rnbd0
	await 20 links_to rnbd0p1 "${part[@]}"
	mkfs.ext4 -q -L 'a b' -U "${fs[0]##*/}" /dev/rnbd0p1
	await 20 links_to rnbd0p1 "${fs[@]}"
	run -0 udevadm info -q property /dev/rnbd0p1
	for p in ID_SERIAL=s1,ram0 ID_PATH=rnbd-ip:10.0.0.1,ram0 ID_FS_TYPE=ext4 ID_PART_TABLE_TYPE=dos; do
		[[ $'\n'$output$'\n' == *$'\n'"$p"$'\n'* ]]
	done
	# nobody reads from a disk whose requests wait
	adm 0 path disconnect s1 --force
	udevadm trigger --action=change /sys/block/rnbd0 /sys/block/rnbd0/rnbd0p1
	udevadm settle --timeout=10
	links_to rnbd0 "${disk[@]}"
	links_to rnbd0p1 "${part[@]}" "${fs[@]}"
	adm 0 path reconnect s1
	await 10 adm_is '.devices[0].state == "mapped"' device list
	# the events of partitions come before what the disk is can be known: they are looked at again when it is online
	adm 0 unmap rnbd0
	adm 0 config apply
	await 20 links_to rnbd0p1 "${part[@]}" "${fs[@]}"
	udevadm trigger --action=remove --settle /sys/block/rnbd0/rnbd0p1
	[ ! -e "/dev/${part[0]}" ]
	udevadm trigger --action=online --settle --sysname-match=rnbd0
	await 20 links_to rnbd0p1 "${part[@]}" "${fs[@]}"
	dd if=/dev/zero of=/dev/rnbd0 bs=512 count=1 conv=fsync status=none
	blockdev --rereadpt /dev/rnbd0
	udevadm settle --timeout=20
	[ ! -e "/dev/${fs[0]}" ]
	links_to rnbd0 "${disk[@]}"
}

@test "apply again: nothing to do; what is saved is what runs" {
	adm_is '.changed == false and .changes == []' config apply
	run -0 bash -o pipefail -c "$ADM config save | $ADM config diff -"
	[ -z "$output" ]
}

# The disk is written without a pause until /run/tmp/stop is there
write_on() {
	while [[ ! -e /run/tmp/stop ]]; do
		dd if=/run/tmp/data of=/dev/rnbd0 bs=64k oflag=direct status=none || return
	done
}

# Its links are there when it is mapped. Who unmaps it then waits for udev, which may have it open.
@test "100 times mapped and unmapped, with udev; who maps finds the link at once" {
	local i n=100
	for ((i = 0; i < n; i++)); do
		"$ADM" map ram1 --session s1 --wait=20s >/run/tmp/often
		((i % 4)) || [ -b /dev/rnbd/by-session/s1/ram1 ]
		"$ADM" unmap ram1 --session s1
	done
	udevadm settle --timeout=120
	[ ! -e /dev/rnbd/by-session/s1/ram1 ]
	links_to rnbd0 rnbd/by-{session/s1/ram0,path/ip:10.0.0.1/ram0,name/data}
	adm_is '[.devices[].name] == ["rnbd0"]' device list
}

@test "another path in place of the only one, under I/O" {
	local link
	dd if=/dev/urandom of=/run/tmp/data bs=1M count=4 status=none
	write_on 3>&- &
	echo $! >/run/tmp/writer
	for link in 1 2 0; do
		conf $link
		adm 0 config apply -v
		grep -A1 "added path ip:10.0.$link.1" <<<"$stderr" | grep "removed path" || fail "no new path before the old one"
		adm_is ".paths | length == 1 and .[0].server_addr == \"ip:10.0.$link.1\"" path list
	done
	touch /run/tmp/stop
	wait "$(</run/tmp/writer)" || fail "the writer failed"
	dmesg_clean
}

@test "killed at any point: a disk never without a path, and the next run has the rest" {
	local turn=0 cut
	. "$ROOT/tests/vm/lib/killed.bash"
	rest() {
		"$ADM" config apply
		"$ADM" config diff
		some_paths $(((turn += 1) % 3 + 1))
	}
	check() {
		connected
		[ -b /dev/rnbd0 ]
		rest
	}
	some_paths 2
	sweep 14 config apply
	cut=$CUT
	# and from nothing
	check() {
		rest
		"$ADM" session remove s1 --force
	}
	"$ADM" session remove s1 --force
	sweep 8 config apply
	((cut + CUT >= 10))
	"$ADM" config apply
	adm_is '.devices | length == 1' device list
}

# No session has lost its last path, nor s1 its disk
none_lost() {
	local session path state
	for session in /sys/class/rtrs-client/*; do
		for path in "$session"/paths/*; do
			{ read -r state <"$path/state" && [[ $state == connected ]] && continue 2; } 2>/dev/null
		done
		fail "$session is not connected" || return
	done
	[[ -b /dev/rnbd/by-session/s1/ram0 ]]
}

# There is nothing left to do, and each object is noted as the configuration's, and no other one
all_there() {
	local mark text=''
	run -0 --separate-stderr "$ADM" config diff --prune "$1"
	for mark in /run/rnbd/registry/*/*; do
		text+=${mark#/run/rnbd/registry/}:$(<"$mark")$'\n'
	done
	[[ -z $output$stderr ]] && is "$text" "$(<"$1.marks")"$'\n'
}

# cut_before CALL [OPTION..]: apply is killed when it is about to make this system call for the Nth time, N = 1, 2, .. until it ends by
# itself: on the way there, and on that back. Then the next run has the rest. On the debug kernel it is each third call.
cut_before() {
	local n way cuts=0 t0=$EPOCHREALTIME
	local -A over=()
	for ((n = 1; ${#over[@]} < 2; n += ${LAB_SLOW:-1})); do
		for way in /run/tmp/{there,back}; do
			if [[ -z ${over[$way]-} ]]; then
				run strace -f --seccomp-bpf -o /run/tmp/trace -e "trace=$1" -e "inject=$1:signal=KILL:when=$n" "${@:2}" \
					"$ADM" config apply --prune $way
				case $status in
				0) over[$way]=$n ;;
				137) cuts=$((cuts + 1)) ;;
				*) fail "$output" ;;
				esac
				none_lost
			fi
			"$ADM" config apply --prune $way
			none_lost
			all_there $way
		done
	done
	echo "# $1: killed $cuts times, in $(seconds_since "$t0") s" >&3
	((cuts * ${LAB_SLOW:-1} >= 2))
}

@test "killed before any of its calls that change something: the next run has the rest, and all is its own" {
	local note=/run/rnbd/registry
	conf 0
	mv $CONF /run/tmp/back
	conf 1
	sed -i s/min-inflight/round-robin/ $CONF
	printf '%s\n' '[session s2]' 'connections = 1' 'path = ip:10.0.2.1' '[device more]' 'session = s2' 'device-path = ram1' >>$CONF
	mv $CONF /run/tmp/there
	printf '%s\n' device:s1:ram0/{name:data,owner:config} session:s1/owner:config >/run/tmp/back.marks
	printf '%s\n' device:s1:ram0/{name:data,owner:config} device:s2:ram1/{name:more,owner:config} session:s{1,2}/owner:config \
		>/run/tmp/there.marks
	"$ADM" config apply --prune /run/tmp/back
	cut_before sendmsg
	cut_before mkdir
	# others open what is there already, to read it
	cut_before openat -P $note/session:s2/owner.tmp -P $note/device:s2:ram1/owner.tmp
	cut_before write
	cut_before rename
	cut_before unlink
	cut_before rmdir
	# udev has the name, though this file is not below /etc/rnbd
	"$ADM" config apply --prune /run/tmp/there
	await 20 test -b /dev/rnbd/by-name/more
	"$ADM" config apply --prune /run/tmp/back
	dmesg_clean
}

@test "prune: what apply made goes, what others made stays, what is used stays" {
	# a name that udev cannot take as it is
	other=$("$ADM" map ./ram0 --session s2 --path 10.0.0.1 --access ro)
	udevadm settle --timeout=20
	[ "$(readlink -f '/dev/rnbd/by-session/s2/.\x2fram0')" = "$other" ]
	conf 0
	adm 0 config apply
	exec 7</dev/rnbd/by-name/data
	printf '[session s1]\npath = ip:10.0.0.1@ip:10.0.0.1\n' >$CONF
	adm 0 config diff
	[[ $output == "- device rnbd0  ram0@s1  (unlisted, owner config; only with --prune)"* ]]
	run "$ADM" config apply --prune
	[ "$status" = 3 ] || [ "$status" = 1 ]
	[[ $output == *"in use"* ]]
	exec 7<&-
	adm 0 config apply --prune
	adm_is '.devices | map(select(.device_path == "ram0")) == []' device list
	[ -b "$other" ]
	adm 0 unmap "$other"
	rm $CONF
	adm 0 config apply --mode=replace
	adm_is '.sessions | map(select(.name == "s1")) == []' session list
	[ -z "$(ls /run/rnbd/registry)" ]
	dmesg_clean
}

# What runs, without what is of the moment, as links by each path that udev saw, and without whose
# it is: what lines of a plan make is nobody's
what_runs() {
	adm 0 status --role client -j
	jq '.client | walk(if type == "object" then del(.since, .heartbeat_latency_ns, .links, .owner, .open_count, .openers) else . end)' <<<"$output" >>/run/tmp/runs.$1
	[ -b /dev/rnbd/by-name/data ]
	adm 0 config diff
	[ -z "$output" ]
}

@test "the plan of apply -n, run by a shell, comes to the same as apply" {
	local how
	rnbdadm() { "$ADM" "$@"; }
	for how in apply plan; do
		conf 0 1
		come() { "$ADM" config apply; }
		[[ $how == apply ]] || come() { "$ADM" config apply -n >/run/tmp/plan && . /run/tmp/plan; }
		come
		what_runs $how
		# another path, other settings, another disk
		conf 2
		sed -i 's/min-inflight/round-robin/; s/30s/infinite/' $CONF
		printf '%s\n' '[device more]' 'session = s1' 'device-path = ram1' 'access = ro' >>$CONF
		come
		what_runs $how
		adm 0 session remove s1 --force
	done
	rm $CONF
	(($(wc -l </run/tmp/runs.apply) > 100))
	diff /run/tmp/runs.{apply,plan}
}

@test "apply: servers that say nothing, three of eight, hold up neither the disks of the others nor other commands" {
	local i pid took alone with rc=0
	# five [SILENT]: milliseconds until the disks are there
	five() {
		local i t0
		for i in "$@"; do
			ip neigh replace 10.0.2.$i lladdr 02:00:00:00:00:$i dev dummy2 nud permanent
			printf '%s\n' "[session silent$i]" "path = 10.0.2.$i" "wait = $((15 * ${LAB_SLOW:-1}))s" "[device d$i]" "session = silent$i" 'device-path = ram0'
		done >$CONF
		for i in 1 2 3 4 5; do
			printf '%s\n' "[session z$i]" 'path = ip:10.0.0.1' "[device e$i]" "session = z$i" 'device-path = ram0' 'access = ro'
		done >>$CONF
		t0=${EPOCHREALTIME/./}
		"$ADM" config apply --wait=$((10 * ${LAB_SLOW:-1}))s & pid=$!
		await 20 eval '((5 == $(ls -d /sys/block/rnbd* | wc -l)))'
		took=$(((${EPOCHREALTIME/./} - t0) / 1000))
	}
	gone() { for i in 1 2 3 4 5; do adm 0 session remove z$i --force; done; }
	five
	alone=$took
	wait $pid
	gone
	five 77 78 79
	with=$took
	adm 0 map ram1 --session z1
	adm 0 unmap ram1 --session z1
	kill -0 $pid
	wait $pid || rc=$?
	is $rc 3
	echo "# alone $alone ms, beside three that say nothing $with ms" >&3
	adm_is '[.sessions[].name] | sort == ["z1", "z2", "z3", "z4", "z5"]' session list
	gone
	rm $CONF
	# and five seconds for a busy host, of the 15 that the three take
	((with * 10 <= alone * 13 + 50000))
}

hex() { printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n'; }

@test "names with quotes, a backslash, wide characters and what is no text: mapped, listed, linked, selected, unmapped" {
	local session=$'a"b\'c\\d幅\xff' path=$'e"f\'g\\h 幅\xfe' disk link
	ln -s ram1 "/dev/$path"
	adm 0 map "$path" --session "$session" --path 10.0.0.1
	disk=${output#/dev/}
	adm 0 device list -j
	[ "$(jq -r '.devices[0] | .name, .session_hex, .device_path_hex' <<<"$output")" = \
		"$disk"$'\n'"$(hex "$session")"$'\n'"$(hex "$path")" ]
	adm 0 session show "$session" -j
	[ "$(jq -r '.sessions[0] | .name, .name_hex' <<<"$output")" = $'a"b\'c\\d幅\xef\xbf\xbd\n'"$(hex "$session")" ]
	udevadm settle --timeout=20
	adm 0 udev "$disk"
	link=$(sed -n 's/^RNBD_BY_SESSION=//p' <<<"$output")
	[ "$link" = 'a\x22b\x27c\x5cd幅\xff/e\x22f\x27g\x5ch\x20幅\xfe' ]
	links_to "$disk" "rnbd/by-session/$link"
	adm 0 unmap "/dev/rnbd/by-session/$link"
	udevadm settle --timeout=20
	[ ! -e "/dev/rnbd/by-session/$link" ]
	adm 0 map "$path" --session "$session" --path 10.0.0.1
	adm 0 unmap "$path" --session "$session"
	adm_is '.devices == []' device list
	rm "/dev/$path"
	dmesg_clean
}
