#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kmod 30 (Debian 12): of two modules of one name, updates/X.ko and updates/dkms/X.ko, modprobe takes the first, though the second was
# installed later and is newer: "search updates built-in", the default, knows one directory below which all is alike, and what is
# nearer to its top wins. So modules of "make modules_install" stay in the way of a package with DKMS, which says "installed".
# Only "override" in depmod.d tells them apart.
# One would guess: the newer one, or that of DKMS, as the directory has its name.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download kmod=30+20221128-1 libkmod2=30+20221128-1 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
lib=$PWD/usr/lib/$(gcc -print-multiarch)
export LD_LIBRARY_PATH=$lib
tree=lib/modules/6.1.0-1

# module PATH: nothing but what modinfo reads
module() {
	mkdir -p "$(dirname "$tree/$1")"
	printf 'name=rnbd\0license=GPL\0' >modinfo
	echo | gcc -c -x c - -o "$tree/$1"
	objcopy --add-section .modinfo=modinfo "$tree/$1"
}

module kernel/drivers/rnbd.ko
module updates/rnbd.ko
module updates/dkms/rnbd.ko
touch -d yesterday $tree/kernel/drivers/rnbd.ko $tree/updates/rnbd.ko
touch $tree/modules.{order,builtin,builtin.modinfo}
mkdir conf
chosen() {
	sbin/depmod -b . -C conf 6.1.0-1
	cut -d : -f 1 $tree/modules.dep
}
{
	echo "search updates built-in" >conf/a.conf
	chosen
	echo "override rnbd * updates/dkms" >conf/b.conf
	chosen
} | tee seen
diff seen - <<'SEEN'
updates/rnbd.ko
updates/dkms/rnbd.ko
SEEN
