# SPDX-License-Identifier: GPL-2.0
# Helpers for .bats files about mapped disks, beside those of guest.bash: both ends in one guest, the server at 10.0.0.1.
#
#   map PATH [OPTION..]           maps it in session s1, or sessname=; prints the name of the disk
#   map_fails TEXT OPTION..       the options are refused with the errno of this text
#   write_fails TEXT FILE VALUE   so is the value written to FILE
#   mode [PARAM=VALUE..]          the server's modules anew, with these parameters
#   sum DEVICE                    of what is on it, past the page cache; same_contents A B
#   verify DISK OPTION..          random writes of fio, with checksums, and the options say how many
# shellcheck shell=bash

. "$ROOT/tests/vm/guest.bash"

CTL=/sys/class/rnbd-client/ctl

map() {
	local path=$1 session=s1 opt
	shift
	for opt in "$@"; do
		[[ $opt != sessname=* ]] || session=${opt#*=}
	done
	echo "sessname=$session path=ip:10.0.0.1 device_path=$path $*" >$CTL/map_device || return
	disk_of "$session" "$path"
}

write_fails() {
	local why=$1
	run -1 env LC_ALL=C bash -c 'printf "%s\n" "$1" >"$2"' - "$3" "$2"
	# shellcheck disable=SC2154 # output: of bats
	[[ $output == *"$why"* ]] || fail "$output"
}

map_fails() {
	local why=$1
	shift
	write_fails "$why" $CTL/map_device "$*"
}

mode() {
	unload rnbd-server rtrs-server
	load_server "$@"
}

# The page cache of a device that the server has open may be old: look under it
sum() { dd if="$1" bs=1M iflag=direct status=none | sha256sum; }

same_contents() {
	local here there
	here=$(sum "$1") && there=$(sum "$2") && [[ $here == "$there" ]] || fail "$1 is $here, $2 is $there"
}

verify() {
	local disk=$1
	shift
	fio --filename="/dev/$disk" --rw=randwrite --bsrange=512-120k --verify=crc32c --verify_fatal=1 --direct=1 \
		--ioengine=libaio --randseed="$RANDOM" --minimal "$@" >/run/tmp/fio || { cat /run/tmp/fio; return 1; }
}
