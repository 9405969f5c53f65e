#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo inside the guest
. "$ROOT/tests/vm/guest.bash"
PATH=$ROOT/build:$PATH

. "$ROOT/tests/vm/demo.bash"

step "Soft-RoCE on a dummy interface"
run modprobe -a dummy crc32_generic rdma_rxe rdma_cm
ip link show dummy0 >/dev/null 2>&1 || run ip link add dummy0 type dummy
run ip link set dummy0 mtu 4200 up
run ip addr add 10.0.0.1/24 dev dummy0
run rdma link add rxe0 type rxe netdev dummy0
run rdma link show

step "The server: a RAM disk to export, the transport, the export module"
run modprobe brd rd_nr=1 rd_size=327680
run blockdev --getsize64 /dev/ram0
for m in rtrs-core rtrs-server rnbd-server; do
	run insmod "$(modfile "$m")"
done

step "The client"
for m in rtrs-client rnbd-client; do
	run insmod "$(modfile "$m")"
done

step "Map the disk of the server"
run rnbdadm map /dev/ram0 --session demo --path ip:10.0.0.1
[[ -b /dev/rnbd0 ]] || stop "there is no /dev/rnbd0"
run lsblk -o NAME,SIZE,RO,TYPE /dev/rnbd0
size=$(blockdev --getsize64 /dev/rnbd0)
((size >= 256 << 20)) || stop "the disk has $size bytes only"

step "A file system on it, and a tree of files"
source=/lib/modules/$(uname -r)/kernel
sent0=$(rxe_pkts rxe0)
run mkfs.ext4 -q /dev/rnbd0
run mkdir -p /mnt/disk
run mount /dev/rnbd0 /mnt/disk
run cp -a "$source/fs" "$source/crypto" "$source/arch" "$source/block" "$source/lib" /mnt/disk/
run sync
run df -h /mnt/disk
run umount /mnt/disk
echo "$(($(rxe_pkts rxe0) - sent0)) RDMA packets"

step "Checksums of the original files"
cd "$source" || stop "no $source"
find fs crypto arch block lib -type f -print0 | xargs -0 sha256sum >/run/tmp/sums || stop "sha256sum"
files=$(wc -l </run/tmp/sums)
bytes=$(cut -c67- /run/tmp/sums | tr '\n' '\0' | du -b --files0-from=- | awk '{ n += $1 } END { print n }')
mib=$(awk -v b="$bytes" 'BEGIN { printf "%.1f", b / 1048576 }')
echo "$files files, $mib MiB"
((files >= 200)) || stop "$files files are too few to show anything"
cd / || stop "cd"

step "Unmap, map again, compare every file"
run rnbdadm unmap rnbd0
await 5 test ! -b /dev/rnbd0 || stop "the device is still there"
run rnbdadm map /dev/ram0 --session demo --path ip:10.0.0.1
run mount -o ro /dev/rnbd0 /mnt/disk
run cd /mnt/disk || exit
run sha256sum --check --quiet --strict /run/tmp/sums
there=$(find . -path ./lost+found -prune -o -type f -print | wc -l)
((there == files)) || stop "$there files on the disk, $files copied"
echo "all $files equal"
run cd / || exit
run umount /mnt/disk

step "What the tool shows"
run rnbdadm session list
run rnbdadm device list
run rnbdadm stats
run rnbdadm stats --json

step "Clean up"
run rnbdadm unmap rnbd0
for m in rnbd-client rnbd-server rtrs-client rtrs-server; do
	run rmmod "$m"
done
census_clean || stop "objects were left behind"
run rmmod rtrs-core
slab_clean && dmesg_clean || stop "see above"

printf '\ndemo: %s files (%s MiB) copied over RDMA, remapped and verified by SHA-256 — all equal\n' "$files" "$mib"
trap - EXIT
