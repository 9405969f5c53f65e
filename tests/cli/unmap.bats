#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# unmap: what is in use stays, unless it is forced.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	replay unmap
}

@test "a free device: silent" {
	adm 0 unmap rnbd2
	[ -z "$output" ]
	[ -z "$stderr" ]
	adm 0 unmap ram0 -v
	[ "$stderr" = "rnbdadm: unmapped rnbd2 (ram0 of session cl1@srv2)" ]
	adm 0 unmap /dev/rnbd/by-session/cl1@srv2/ram0 -j
	valid rnbdadm.unmap/1
	golden unmap.json
	adm 0 unmap rnbd2 -o csv
	[ "${lines[1]}" = rnbd2,ram0,cl1@srv2,unmapped ]
}

@test "the request names the id" {
	adm 0 unmap rnbd2 --trace
	[[ $stderr == *"unmap len="*" id=3"$'\n'* ]]
	[[ $stderr != *force* ]]
}

@test "in use: refused with 7, and by what" {
	fails 7 busy unmap rnbd0
	[[ $stderr == *"rnbd0 is used by: mount /data (ext4), mount /mnt/a b (ext4)"* ]]
	fails 7 busy unmap rnbd1
	[[ $stderr == *"rnbd1 is used by: dm-3 (vg0-lv1)"* ]]
	printf '%s' "$JSON" | jq -e '.devices[0].result == "refused" and .changed == false and .devices[0].error.code == "busy"'
}

@test "in use: swap, the system, a partition" {
	replay unmap swap
	fails 7 busy unmap rnbd2
	[[ $stderr == *swap* ]]
	fails 7 busy unmap rnbd0
	[[ $stderr == *"the system itself"* ]]
	fails 7 busy unmap rnbd1
	[[ $stderr == */part* ]]
}

@test "in use: /boot is the system, too, on a disk or a partition; what only begins so is not" {
	local root=$BATS_TEST_TMPDIR/root
	cp -r "$REC/swap" "$root"
	printf 'Filename Type Size Used Priority\n' >"$root/proc/swaps"
	printf '%s\n' '22 1 8:1 / / rw - ext4 /dev/sda1 rw' '23 22 252:0 / /boot rw - ext4 /dev/rnbd0 rw' \
		'24 22 252:17 / /boot rw - ext2 /dev/rnbd1p1 rw' '25 22 252:2 / /boot/efi rw - vfat /dev/rnbd2 rw' >"$root/proc/self/mountinfo"
	replay unmap
	R+=(--test-root "$root")
	fails 7 busy unmap rnbd0
	[[ $stderr == *"rnbd0 is used by: mount /boot (ext4), the system itself"* ]]
	fails 7 busy unmap rnbd1
	[[ $stderr == *"mount /boot (ext2), the system itself"* ]]
	fails 7 busy unmap rnbd2
	[[ $stderr == *"rnbd2 is used by: mount /boot/efi (vfat)"* && $stderr != *"the system itself"* ]]
	adm 0 device show rnbd0 -j
	valid rnbdadm.device/1
	[ "$(jqv '.devices[0].mountpoints | tojson')" = '["/boot"]' ]
}

@test "in use: nobody known, but it is open" {
	replay unmap bare
	fails 7 busy unmap rnbd0
	[[ $stderr == *"1 open file"* ]]
}

# process PID NAME NAMESPACE FILE..: has these open
process() {
	local dir=$ROOT/proc/$1 n=0 f
	mkdir -p "$dir"/{ns,fd}
	printf '%s\n' "$2" >"$dir/comm"
	ln -s "mnt:[$3]" "$dir/ns/mnt"
	for f in "${@:4}"; do ln -s "$f" "$dir/fd/$((n++))"; done
}

@test "in use: by whom, in other namespaces and processes, and by a loop device" {
	own_root bare
	world unmap
	mkdir -p "$ROOT/sys/block/rnbd0/rnbd0p1"
	echo 252:17 >"$ROOT/sys/block/rnbd0/rnbd0p1/dev"
	process 1 systemd 1 /dev/null
	process 97 $'odd\e[1m' 1 socket:[4] /dev/rnbd00 /dev/rnbd0 /dev/rnbd0
	process 812 sleep 2
	process 813 sleep 2
	printf '%s\n' '22 1 8:1 / / rw - ext4 /dev/sda1 rw' '36 22 252:17 / /mnt/a\040b rw - ext4 /dev/root rw' >"$ROOT/proc/812/mountinfo"
	cp "$ROOT/proc/812/mountinfo" "$ROOT/proc/813/mountinfo"
	mkdir -p "$ROOT/sys/block/loop3/loop"
	echo /dev/rnbd0p1 >"$ROOT/sys/block/loop3/loop/backing_file"
	fails 7 busy unmap rnbd0
	[ "${stderr_lines[1]}" = '  rnbd0 is used by: process 97 (odd\x1b[1m), /mnt/a b of process 812 (sleep), loop3' ]
	adm 0 device list -j
	valid rnbdadm.device/1
	[ "$(jqc '[.devices[] | .openers | length]')" = '[3,0,0]' ]
	adm 0 device list
	[[ ${lines[1]} == *'process 97 (odd\x1b[1m),/mnt/a b of process 812 (sleep),loop3' ]]
	rm -r "$ROOT"/proc/{97,812,813} "$ROOT/sys/block/loop3"
	mkdir -p "$ROOT/sys/fs/ext4/rnbd0p1"
	fails 7 busy unmap rnbd0
	[[ $stderr == *"rnbd0 is used by: ext4, mounted where no process sees it"* ]]
}

@test "--force: without a terminal it is enough" {
	replay unmap-force
	adm 0 unmap rnbd0 --force
	[ -z "$stderr" ]
	adm 0 unmap -f rnbd0 rnbd1
}

@test "absent: 4, or fine with --idempotent" {
	fails 4 not_found unmap rnbd9
	[[ $stderr == *rnbd* ]]
	adm 0 unmap rnbd9 --idempotent
	adm 0 unmap rnbd9 --idempotent -j
	valid rnbdadm.unmap/1
	[ "$(jqv '.devices[0].result')" = absent ]
	[ "$(jqv '.changed | not')" = true ]
	adm 0 unmap --session nosuch --idempotent
	fails 4 not_found unmap --session nosuch
}

@test "gone between the look and the request" {
	replay unmap-gone
	fails 4 not_found unmap rnbd2
	adm 0 unmap rnbd2 --idempotent
}

@test "the kernel says busy" {
	replay unmap-busy
	fails 7 busy unmap rnbd2
	[[ $stderr == *"kernel: rnbd2 is open"* ]]
}

@test "several: the rest goes on, 3 when some failed" {
	fails 3 partial unmap rnbd2 rnbd0
	[[ $stderr == *"rnbd0 is used by"*"1 of 2 devices failed"* ]]
	printf '%s' "$JSON" | jq -e '[.devices[].result] == ["unmapped", "refused"] and .changed'
	fails 3 partial unmap rnbd9 rnbd2
	fails 7 busy unmap rnbd0 rnbd1
	adm 0 unmap rnbd2 rnbd2 -j
	[ "$(jqv '.devices | length')" = 1 ]
}

@test "--session: all of it, or one name in it" {
	adm 0 unmap --session cl1@srv2
	adm 0 unmap ram0 --session cl1@srv2
	fails 4 not_found unmap ram0 --session cl1@srv1
	fails 7 busy unmap --session cl1@srv1
}

@test "--all: what is in use stays without --force" {
	fails 3 partial unmap --all
	[[ $stderr == *"rnbd0: refused"*"/data"*"--force"*"2 of 3 devices failed"* ]]
	printf '%s' "$JSON" | jq -e '[.devices[].result] == ["refused", "refused", "unmapped"] and .changed'
	replay lazy bare
	adm 0 unmap rnbd0 --lazy
	replay unmap-idle bare
	adm 0 unmap --all --timeout 30
	[ -z "$stderr" ]
	replay unmap-force
	adm 0 unmap --all --force
	replay unmap-partial
	fails 3 partial unmap --all --force
	[[ $stderr == *"rnbd1: "*EIO* ]]
	replay empty
	adm 0 unmap --all
}

@test "--all with more, or nothing at all: usage" {
	fails 2 usage unmap
	fails 2 usage unmap --all rnbd0
	fails 2 usage unmap --all --session cl1@srv1
	fails 2 usage unmap 2
}

@test "--dry-run: the plan, the same checks, nothing sent" {
	replay two-sessions
	adm 0 unmap rnbd2 -n
	[ "$output" = "rnbdadm unmap rnbd2  # would unmap rnbd2 (ram0 of session cl1@srv2)" ]
	adm 0 unmap --all --force -n
	[ "$output" = "rnbdadm unmap rnbd0 --force  # would unmap rnbd0 (vol0 of session cl1@srv1)
rnbdadm unmap rnbd1 --force  # would unmap rnbd1 (vol1 of session cl1@srv1)
rnbdadm unmap rnbd2 --force  # would unmap rnbd2 (ram0 of session cl1@srv2)" ]
	adm 0 unmap rnbd2 -n -j
	valid rnbdadm.unmap/1
	[ "$(jqv '.plan[0] | join(" ")')" = "unmap rnbd2" ]
	[ "$(jqv '.devices[0].result')" = would-unmap ]
	fails 7 busy unmap rnbd0 -n
	fails 4 not_found unmap rnbd9 -n
	# how it is to be done is in the line, too
	adm 0 unmap rnbd2 --no-wait --wait=2s --timeout 5s --idempotent -n
	[ "${output%  #*}" = "rnbdadm unmap rnbd2 --no-wait --wait=2s --timeout=5000ms --idempotent" ]
	adm 0 unmap rnbd0 --lazy --timeout infinite -n
	[ "${output%  #*}" = "rnbdadm unmap rnbd0 --lazy --timeout=infinite" ]
	adm 0 unmap rnbd0 rnbd2 --lazy -nj
	valid rnbdadm.unmap/1
	[ "$(jqv '[.devices[].result] | unique | join(" ")')" = would-unmap ]
	# but not if it is not to wait at all
	fails 10 timeout unmap rnbd0 --lazy --timeout 0 -n
}

@test "--lazy waits for the last close, at most --timeout" {
	replay lazy bare
	adm 0 unmap rnbd0 --lazy
	replay unmap bare
	adm 10 unmap rnbd0 --lazy --timeout 0
	[[ $stderr == *"still in use"* ]]
	# which is for all together: at most four looks, 50 ms apart, after the first
	replay lazy-long bare
	adm 10 unmap rnbd0 rnbd1 --lazy --timeout 200ms --trace
	(($(grep -c -- '-> .*device-get dump' <<<"$stderr") <= 5))
	[[ $stderr == *"2 of 2 devices failed"* ]]
}

@test "--wait until the node is gone" {
	cp -r "$REC/root" "$BATS_TEST_TMPDIR/root"
	R=(--nl-replay "$REC/unmap.nl" --test-root "$BATS_TEST_TMPDIR/root")
	fails 10 timeout unmap rnbd2 --wait=100ms
	rm "$BATS_TEST_TMPDIR/root/dev/rnbd2"
	adm 0 unmap rnbd2 --wait
}

@test "the documents of these tests are valid" { all_valid; }
