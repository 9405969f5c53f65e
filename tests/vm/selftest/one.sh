#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lab by itself, with the in-tree drivers at both ends: tests/vm/lab run --mods peer tests/vm/selftest/one.sh
. "$ROOT/tests/vm/guest.bash"
set -e

net_up 1
dmesg_mark
disk=$(ram_disk 64)
load_server
load_client
echo "sessname=selftest path=ip:10.0.0.1 device_path=$disk" >/sys/class/rnbd-client/ctl/map_device
await 10 test -b /dev/rnbd0
fio --name=verify --filename=/dev/rnbd0 --rw=randwrite --bs=4k --size=8m --verify=crc32c --direct=1 --ioengine=libaio \
	--iodepth=8 --output-format=terse --minimal >/run/tmp/fio
cmp -n 8388608 /dev/rnbd0 "$disk"
echo normal >/sys/block/rnbd0/rnbd/unmap_device
await 10 test ! -b /dev/rnbd0
unload_all
dmesg_clean
echo "lab: mapped, 8 MiB written and verified, unmapped, unloaded"
