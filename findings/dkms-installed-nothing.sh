#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# dkms 3.0.10 (Debian 12): where a module of the same name is below /lib/modules already and neither has a MODULE_VERSION, "dkms install"
# leaves it alone, "dkms status" says "installed", and both exit with 0. A driver that the kernel ships, too, is so never replaced, whatever
# has changed in it. With a version in ours, or --force, it is installed.
# One would guess: what differs is installed, or the command fails, or status says so.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download dkms=3.0.10-8+deb12u1 kmod=30+20221128-1 libkmod2=30+20221128-1 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
lib=$PWD/usr/lib/$(gcc -print-multiarch)
export LD_LIBRARY_PATH=$lib PATH=$PWD/sbin:$PWD/usr/sbin:$PATH
kernel=6.1.0-1
mkdir -p tree lib/modules/$kernel/kernel/drivers headers/include/linux

# module FILE CONTENTS [VERSION]: CONTENTS make it another one, and modinfo finds its version
module() {
	printf 'name=rnbd\0license=GPL\0vermagic=%s \0' $kernel >modinfo
	[ $# -lt 3 ] || printf 'version=%s\0' "$3" >>modinfo
	echo "char contents[] = \"$2\";" | gcc -c -x c - -o "$1"
	objcopy --add-section .modinfo=modinfo "$1"
}

# installs WHAT [OPTION..]: the source of a package whose "make" gives the module made
installs() {
	rm -rf tree/* lib/modules/$kernel/updates src
	mkdir -p src/rnbd-1
	cp made.ko src/rnbd-1/made
	cat >src/rnbd-1/dkms.conf <<-'C'
		PACKAGE_NAME=rnbd
		PACKAGE_VERSION=1
		MAKE="cp made rnbd.ko"
		CLEAN=true
		BUILT_MODULE_NAME=rnbd
		DEST_MODULE_LOCATION=/updates/dkms
		STRIP=no
	C
	local rc=0 status
	usr/sbin/dkms install -m rnbd -v 1 -k $kernel --dkmstree "$PWD/tree" --sourcetree "$PWD/src" --installtree "$PWD/lib/modules" \
		--kernelsourcedir "$PWD/headers" --no-depmod "${@:2}" >log 2>&1 || rc=$?
	status=$(usr/sbin/dkms status --dkmstree "$PWD/tree" --sourcetree "$PWD/src" --installtree "$PWD/lib/modules" | grep -oE ' installed| built' | head -n 1)
	echo "$1: exit status $rc,$status, $(find lib/modules/$kernel/updates -name '*.ko' 2>/dev/null | wc -l) modules below updates"
}

module lib/modules/$kernel/kernel/drivers/rnbd.ko "of the kernel"
module made.ko "another one"
{
	installs "no version"
	installs "no version, --force" --force
	module made.ko "another one" 1
	installs "a version"
} | tee seen
diff seen - <<'SEEN'
no version: exit status 0, installed, 0 modules below updates
no version, --force: exit status 0, installed, 1 modules below updates
a version: exit status 0, installed, 1 modules below updates
SEEN
