#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What map leaves beside the disk: --name, --owner, --save; and --add-paths.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	own_root
	mkdir -p "$ROOT/etc"
	world map-save
	NEW=(map vol9 --session cl1@srv3 --path 10.0.0.1@10.0.0.9)
	SAVED=$ROOT/etc/rnbd/conf.d/90-saved.conf
	NOTES="$ROOT/run/rnbd/registry/device:cl1@srv3:vol9"
}

@test "--save: the session and the device, as 'config apply' makes them" {
	adm 0 "${NEW[@]}" --save -v
	[ "$output" = /dev/rnbd3 ]
	[[ $stderr == *"saved in /etc/rnbd/conf.d/90-saved.conf"* ]]
	output=$(<"$SAVED")
	golden map-saved.ini
	[ "$(stat -c %a "$SAVED")" = 644 ]
	[ "$(ls "$ROOT/etc/rnbd/conf.d")" = 90-saved.conf ]
	world map-saved
	adm 0 config validate
	adm 0 config diff
	[[ $output == *"0 to add, 0 to change, 0 to remove"* ]]
}

@test "--save: to what is there already, which stays as it is; nothing comes twice" {
	mkdir -p "${SAVED%/*}"
	printf '# mine ;-)\n[session other]\npath=10.0.0.7' >"$SAVED"
	adm 0 "${NEW[@]}" --save --name data --connections 3 -j
	valid rnbdadm.map/1
	[ "$(head -n 3 "$SAVED")" = $'# mine ;-)\n[session other]\npath=10.0.0.7' ]
	grep -qx '\[device data\]' "$SAVED"
	grep -qx 'connections = 3' "$SAVED"
	cp "$SAVED" "$BATS_TEST_TMPDIR/before"
	# again, when it runs
	world map-saved
	adm 0 "${NEW[@]}" --save --idempotent --name data -j
	[ "$(jqv '.changed == false')" = true ]
	cmp "$SAVED" "$BATS_TEST_TMPDIR/before"
	adm 0 config validate
	# and when it does not: as after a kill before the map
	world map-save
	adm 0 "${NEW[@]}" --save
	cmp "$SAVED" "$BATS_TEST_TMPDIR/before"
	# one more device of a session that is listed
	sed -i '/^\[device/,$d' "$SAVED"
	adm 0 "${NEW[@]}" --save
	[ "$(grep -c '^\[session cl1@srv3' "$SAVED")" = 1 ]
	grep -qx '\[device vol9\]' "$SAVED"
	adm 0 config validate
}

@test "--save: mode and owner stay, and a link" {
	mkdir -p "${SAVED%/*}" "$ROOT/srv"
	echo '# mine' >"$ROOT/srv/disks"
	chmod 640 "$ROOT/srv/disks"
	((UID)) || chown 0:4321 "$ROOT/srv/disks"
	ln -s ../../../srv/disks "$SAVED"
	adm 0 "${NEW[@]}" --save
	[ "$(readlink "$SAVED")" = ../../../srv/disks ]
	grep -qx '\[device vol9\]' "$ROOT/srv/disks"
	[ "$(stat -c %a "$ROOT/srv/disks")" = 640 ]
	((UID)) || [ "$(stat -c %u:%g "$ROOT/srv/disks")" = 0:4321 ]
}

@test "--save: what is mapped and not saved is saved with --idempotent; not in a dry run" {
	world map-saved
	adm 0 "${NEW[@]}" --save --idempotent -n
	plan="rnbdadm map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9 --save --idempotent"
	[ "$output" = "$plan" ]
	adm 0 "${NEW[@]}" --save --idempotent -nj
	valid rnbdadm.map/1
	[ "rnbdadm $(jqv '.dry_run and .changed == false, (.plan[] | join(" "))' | tail -n 1)" = "$plan" ]
	[ ! -e "$SAVED" ]
	adm 0 "${NEW[@]}" --save --idempotent -j
	valid rnbdadm.map/1
	[ "$(jqv '.changed')" = true ]
	grep -qx '\[device vol9\]' "$SAVED"
	# then there is nothing to do
	adm 0 "${NEW[@]}" --save --idempotent -n
	[ -z "$output" ]
	# under the name that it was mapped with, unless that became another's
	rm "$SAVED"
	mkdir -p "$NOTES"
	echo data >"$NOTES/name"
	adm 0 "${NEW[@]}" --save --idempotent
	grep -qx '\[device data\]' "$SAVED"
	printf '[session s]\npath=10.0.0.7\n[device data]\nsession=s\ndevice-path=v\n' >"$SAVED"
	adm 0 "${NEW[@]}" --save --idempotent
	grep -qx '\[device vol9\]' "$SAVED"
	rm -r "$NOTES"
	world map-save
	rm "$SAVED"
	adm 0 "${NEW[@]}" --save --name data --owner me -n
	[ "$output" = "rnbdadm map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9 --name=data --owner=me --save" ]
	[ ! -e "$SAVED" ]
	[ ! -e "$NOTES" ]
}

@test "--save is killed at any of its calls: the old file or the new one, and the next run gets there" {
	local call n text
	mkdir -p "${SAVED%/*}"
	printf '[session other]\npath=10.0.0.7\n' >"$SAVED"
	cp "$SAVED" "$BATS_TEST_TMPDIR/old"
	run -0 "$PLAIN" "${R[@]}" "${NEW[@]}" --save
	cp "$SAVED" "$BATS_TEST_TMPDIR/new"
	for call in write fchmod fsync rename; do
		for n in 1 2; do
			cp "$BATS_TEST_TMPDIR/old" "$SAVED"
			run strace -o "$BATS_TEST_TMPDIR/trace" -e trace="$call" -e "inject=$call:signal=KILL:when=$n" \
				"$PLAIN" "${R[@]}" "${NEW[@]}" --save
			[[ $n == 2 || $status == 137 ]]
			text=$(<"$SAVED")
			[[ $text == "$(<"$BATS_TEST_TMPDIR/old")" || $text == "$(<"$BATS_TEST_TMPDIR/new")" ]]
			run -0 "$PLAIN" "${R[@]}" "${NEW[@]}" --save
			cmp "$SAVED" "$BATS_TEST_TMPDIR/new"
			adm 0 config validate
		done
	done
}

@test "--save: what cannot be saved is refused before anything is mapped" {
	mkdir -p "${SAVED%/*}"
	world map-add-paths-fails
	echo '[nonsense' >"$SAVED"
	fails 2 usage "${NEW[@]}" --save
	rm "$SAVED"
	mkdir "$SAVED"
	fails 2 usage "${NEW[@]}" --save
	[[ $stderr == *"90-saved.conf: no regular file"* ]]
	rmdir "$SAVED"
	for to in /dev/null circle nosuch/file; do
		ln -sfT "${to/#circle/90-saved.conf}" "$SAVED"
		adm any "${NEW[@]}" --save
		[[ $status -gt 0 && -z $output && $stderr != *"mapped as"* && -L $SAVED ]]
	done
	rm "$SAVED"
	fails 2 usage "${NEW[@]}" --save --config /etc/hosts
	RNBDADM_CONFIG=/etc/hosts fails 2 usage "${NEW[@]}" --save
	# nor is anything noted
	[ ! -e "$NOTES" ]
}

@test "--save: what fails later says that it is mapped" {
	# no dump after the map
	world map
	adm 1 "${NEW[@]}" --save
	[ "$output" = /dev/rnbd3 ]
	[[ $stderr == *"mapped as /dev/rnbd3, but not saved"* ]]
	adm 1 "${NEW[@]}" --save -j
	valid rnbdadm.map/1
	[ "$(jqv '.devices[0].name')" = rnbd3 ]
}

@test "--name and --owner: noted before the disk is there, gone with it" {
	adm 0 "${NEW[@]}" --name data --owner backup@night
	[ "$(<"$NOTES/name")" = data ]
	[ "$(<"$NOTES/owner")" = backup@night ]
	mkdir -p "$ROOT/sys/block/rnbd3/rnbd"
	echo cl1@srv3 >"$ROOT/sys/block/rnbd3/rnbd/session"
	echo vol9 >"$ROOT/sys/block/rnbd3/rnbd/mapping_path"
	adm 0 udev rnbd3
	[[ $output == *"RNBD_BY_NAME=data"* ]]
	# the note is asked before the configuration, which is read where there is none
	mkdir -p "${SAVED%/*}"
	printf '[session cl1@srv3]\npath=10.0.0.9\n[device configured]\nsession=cl1@srv3\ndevice-path=vol9\n' >"$SAVED"
	adm 0 udev rnbd3
	[[ $output == *"RNBD_BY_NAME=data"* ]]
	rm "$NOTES/name"
	adm 0 udev rnbd3
	[[ $output == *"RNBD_BY_NAME=configured"* ]]
	rm -r "${ROOT:?}/etc" "$NOTES"
	# a map that fails leaves no note
	world map-refused
	adm 1 "${NEW[@]}" --name data --owner me
	[ ! -e "$NOTES" ]
}

@test "--name: one name for one device" {
	mkdir -p "${SAVED%/*}" "$ROOT/dev/rnbd/by-name"
	printf '[session s]\npath=10.0.0.7\n[device data]\nsession=s\ndevice-path=v\n' >"$SAVED"
	fails 6 conflict "${NEW[@]}" --name data
	[[ $stderr == *"another device 'data' (/etc/rnbd/conf.d/90-saved.conf:3)"* ]]
	printf '[session cl1@srv3]\npath=10.0.0.9\n[device mine]\nsession=cl1@srv3\ndevice-path=vol9\n' >"$SAVED"
	fails 6 conflict "${NEW[@]}" --name data
	adm 0 "${NEW[@]}" --name mine -n
	ln -s ../../rnbd0 "$ROOT/dev/rnbd/by-name/linked"
	rm "$SAVED"
	fails 6 conflict "${NEW[@]}" --name linked
	[[ $stderr == *"/dev/rnbd/by-name/linked is rnbd0"* ]]
	# what is mapped already has the name, or it is another mapping than that asked for
	world map-saved
	fails 6 conflict "${NEW[@]}" --idempotent --name data
	fails 6 conflict "${NEW[@]}" --idempotent --owner me
	mkdir -p "$NOTES"
	echo data >"$NOTES/name"
	echo me >"$NOTES/owner"
	ln -s ../../rnbd3 "$ROOT/dev/rnbd/by-name/data"
	adm 0 "${NEW[@]}" --idempotent --name data --owner me
	fails 6 conflict "${NEW[@]}" --idempotent --owner you
	for name in a/b .. "a b" "$(printf 'n%.0s' {1..129})"; do
		fails 2 usage "${NEW[@]}" --name "$name"
	done
	fails 2 usage "${NEW[@]}" --owner "a b"
	fails 2 usage "${NEW[@]}" --owner "$(printf 'n%.0s' {1..65})"
}

@test "--add-paths: those that an existing session lacks, before the device" {
	local cmd=(map vol9 --session cl1@srv1 --path 10.0.0.2 --path 10.0.9.9 --timeout 5s)
	world map-add-paths
	fails 6 conflict "${cmd[@]}"
	[[ $stderr == *--add-paths* ]]
	adm 0 "${cmd[@]}" --add-paths -v
	[ "$output" = /dev/rnbd3 ]
	[[ $stderr == *"added path"* ]]
	adm 0 "${cmd[@]}" --add-paths -n
	[ "${lines[0]}" = "rnbdadm path add cl1@srv1 ip:10.0.9.9 --timeout=5000ms" ]
	[[ ${lines[1]} == "rnbdadm map vol9 --session cl1@srv1 "* ]]
	world map-add-paths-fails
	fails 1 failed "${cmd[@]}" --add-paths
	[[ $stderr == *"10.0.9.9 does not listen on port 1234"* ]]
}

@test "the documents of these tests are valid" { all_valid; }
