# SPDX-License-Identifier: GPL-2.0
# Helpers for .bats files about who may open what, beside those of guest.bash.
#
#   map SESSION NAME [ACCESS [ADDRESS..]]   as rw, over 10.0.0.1; all disks that there are have a node then
#   reads DISK                              a block, past the page cache
# shellcheck shell=bash

. "$ROOT/tests/vm/guest.bash"

map() {
	local session=$1 name=$2 access=${3-rw} addr paths=''
	shift $(($# < 3 ? $# : 3))
	for addr in "${@:-10.0.0.1}"; do paths+=" path=ip:$addr"; done
	echo "sessname=$session$paths device_path=$name access_mode=$access" >/sys/class/rnbd-client/ctl/map_device || return
	for addr in /sys/block/rnbd*; do await 10 test -b "/dev/${addr##*/}"; done
}

reads() { dd if="$1" of=/dev/null bs=4k count=1 iflag=direct status=none 2>&1; }
