#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sfdisk and blkid of util-linux 2.38.1 (Debian 12): an image of a disk with sectors of 4096 bytes, with a GPT of two partitions, is
# told as a disk with an MBR and one partition of type ee that fills it. Exit code 0; stderr has one line, of a size that does not match
# and "will be corrected by write".
# One would guess: the GPT is found, or its absence behind a protective MBR is an error. The tools assume sectors of 512 bytes for a
# regular file and look for the GPT's header at byte 512; it is at 4096. What exports a file as a disk must keep the sector size.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download fdisk=2.38.1-5+deb12u3 libfdisk1=2.38.1-5+deb12u3 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
LD_LIBRARY_PATH=$(echo usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH

truncate -s 64M disk
printf '%s\n' g n '' '' +16M n '' '' '' w | sbin/fdisk -b 4096 disk >/dev/null 2>&1
gpt=$(dd if=disk bs=1 skip=4096 count=8 status=none)
told=$(sbin/sfdisk --json disk 2>errors |
	python3 -c 'import json, sys; t = json.load(sys.stdin)["partitiontable"]; print(t["label"], *[p["type"] for p in t["partitions"]])')
probed=$(blkid -p -o value -s PTTYPE disk)
echo "at byte 4096: $gpt; sfdisk: $told; blkid: $probed; stderr: $(<errors)"
[[ $gpt == "EFI PART" && $told == "dos ee" && $probed == PMBR && $(<errors) == "GPT PMBR size mismatch"* ]]
