#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The packages are built; they have what they are to have, and lintian finds no error.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

for need in dpkg-buildpackage dh_dkms lintian; do
	command -v $need >/dev/null || { skip "packages" "no $need; run tests/deps.sh check"; finish; }
done
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
version=$(sed -n 's/^VERSION = //p' rnbdadm/Makefile)
SRC=$dir/rnbd-dkms/usr/src/rnbd-$version

build() {
	mkdir -p build
	exec 9>build/.deb.lock # as tests/vm/lib/machine.bash does
	flock 9
	make -s --no-print-directory deb >"$dir/log" 2>&1 || { tail -n 40 "$dir/log"; return; }
	grep -iE '(^|[^_])warning:' "$dir/log"
	for p in rnbdadm rnbd-dkms; do
		dpkg-deb -x build/deb/${p}_"$version"_*.deb "$dir/$p" && dpkg-deb -e build/deb/${p}_"$version"_*.deb "$dir/$p.control" ||
			echo "no package $p of version $version"
	done
	[[ ! -e build/deb/rnbd ]] || echo "the copy that it was built in is still there"
}

# is NAME GOT WANT
is() { [[ $2 == "$3" ]] || { echo "$1:"; diff <(printf '%s\n' "$2") <(printf '%s\n' "$3"); }; }

field() { sed -n "s/^$2: //p" "$dir/$1.control/control"; }

fields() {
	is version "$(field rnbdadm Version) $(field rnbd-dkms Version)" "$version $version"
	is architecture "$(field rnbdadm Architecture) $(field rnbd-dkms Architecture)" "$(dpkg --print-architecture) all"
	for lib in libc6 libnl-3-200 libnl-genl-3-200 libjansson4; do
		grep -qw "$lib" <<<"$(field rnbdadm Depends)" || echo "rnbdadm does not depend on $lib"
	done
	grep -qw dkms <<<"$(field rnbd-dkms Depends)" || echo "rnbd-dkms does not depend on dkms"
}

tool() {
	local tool=$dir/rnbdadm/usr/sbin/rnbdadm
	is "version of the tool" "$("$tool" version)" "rnbdadm $version"
	is schemas "$(cd "$dir/rnbdadm/usr/share/rnbdadm/schema" && find . -type f | sort)" \
		"$("$tool" schema --list | sed 's,.*,./&.json,' | sort)"
	find "$dir/rnbdadm" "$dir/rnbd-dkms" -path '*/usr/local*' -o -name '*.o' -o -name '*.ko' -o -name '*.cmd'
}

# README's links work below /usr/share/doc
documents() {
	local doc=$dir/rnbdadm/usr/share/doc/rnbdadm
	is documents "$(cd "$doc" && find . -name '*.md*' -printf '%P\n' | sed 's/\.gz$//' | sort)" "$(tree | grep -E '^([A-Z]+|docs/.*)\.md$')"
	find "$doc" -name '*.md.gz'
}

modules() {
	is "sources of the modules" "$(cd "$SRC" && find . -type f ! -name dkms.conf -printf '%P\n' | sort)" \
		"$(tree kernel include | grep -E '\.[ch]$|/Kbuild$')"
	for f in $(tree kernel include | grep -E '\.[ch]$|/Kbuild$'); do
		cmp -s "$f" "$SRC/$f" || echo "$f is another"
	done
}

# kbuild CONFIG..: the modules that kernel/Kbuild has for a kernel with this configuration
kbuild() {
	make -s -f - "$@" src=kernel srctree=/ comma=, <<-'END'
		include kernel/Kbuild
		modules: ; @printf '%s\n' $(obj-m:.o=)
	END
}

# As DKMS reads it: a shell does
dkms_conf() (
	kernel_source_dir=$dir/headers dkms_tree=/dkms
	mkdir -p "$kernel_source_dir"
	echo "$1" >"$kernel_source_dir/.config"
	declare -a MAKE BUILT_MODULE_NAME BUILT_MODULE_LOCATION DEST_MODULE_LOCATION
	# shellcheck disable=SC1091
	. "$SRC/dkms.conf"
	is name "$PACKAGE_NAME $PACKAGE_VERSION $AUTOINSTALL" "rnbd $version yes"
	# shellcheck disable=SC2153
	is "version of the modules" "$(sed -n 's/^RNBD_VERSION := //p' kernel/Kbuild)" "$version"
	is make "${MAKE[0]}" "make -C $kernel_source_dir M=$dkms_tree/rnbd/$version/build/kernel modules"
	is modules "$(printf '%s\n' "${BUILT_MODULE_NAME[@]}")" "$(kbuild "$1")"
	is "places in the tree" "${BUILT_MODULE_LOCATION[*]}" "${BUILT_MODULE_NAME[*]/*/kernel}"
	is "places of the modules" "${DEST_MODULE_LOCATION[*]}" "${BUILT_MODULE_NAME[*]/*//updates/dkms}"
)

# Modules of these names may be there
instead() {
	local all
	all=$(kbuild CONFIG_INFINIBAND_ADDR_TRANS=y)
	is "what DKMS installs where others are" "$(cat "$dir"/rnbd-dkms/usr/share/dkms/modules_to_force_install/*)" rnbd
	is "what depmod prefers" "$(awk '$1 == "override" && $4 == "updates/dkms" { print $2 }' "$dir/rnbd-dkms/lib/depmod.d/rnbd-dkms.conf")" "$all"
	is "a version in each, which DKMS compares" "$(grep -l '^MODULE_VERSION(RNBD_VERSION);' kernel/*/*/main.c | wc -l)" "$(wc -w <<<"$all")"
}

uninstalled() {
	local place=$dir/host/lib/modules/1.0-test/updates m
	mkdir -p "$place/dkms" "$dir/headers/include/generated"
	: >"$dir/headers/Makefile"
	echo '#define UTS_RELEASE "1.0-test"' >"$dir/headers/include/generated/utsrelease.h"
	for m in $(kbuild CONFIG_INFINIBAND_ADDR_TRANS=y); do
		: >"$place/$m.ko"
	done
	touch "$place/rds.ko.xz" "$place/rds_x.ko" "$place/dkms/rds.ko"
	make -s --no-print-directory modules_uninstall KDIR="$dir/headers" DESTDIR="$dir/host"
	is "what is still there" "$(cd "$place" && find . -type f | sort)" $'./dkms/rds.ko\n./rds_x.ko'
}

# What a package's script asks of these commands where systemd runs: script PACKAGE NAME ARGUMENT. Disks are mapped.
script() {
	mkdir -p "$dir/bin"
	for c in rm systemctl deb-systemd-helper deb-systemd-invoke; do
		printf '#!/bin/sh\necho "%s $*" >&2\n' $c >"$dir/bin/$c"
	done
	printf '#!/bin/sh\necho "dkms $*"\n' >"$dir/bin/dkms"
	printf '#!/bin/sh\n[ "$*" = "device list --brief" ] && echo rnbd0 && echo rnbd1\n' >"$dir/bin/rnbdadm"
	chmod +x "$dir"/bin/*
	sed 's,-d /run/systemd/system,-d /,' "$dir/$1.control/$2" >"$dir/script"
	PATH=$dir/bin:$PATH sh "$dir/script" "$3" 2>&1
}

purge() {
	is "before it is removed" "$(script rnbdadm prerm remove)" "rnbdadm: to be unmapped, unless in use: rnbd0 rnbd1
deb-systemd-invoke stop rnbd-device@*.service rnbd-audit.service rnbd-restore.service rnbd-shutdown.service
rnbdadm: still mapped, and not unmapped at shutdown any more: rnbd0 rnbd1"
	is "removed" "$(script rnbdadm postrm remove)" "systemctl --system daemon-reload
systemctl --system daemon-reload"
	is "purged" "$(script rnbdadm postrm purge)" "rm -rf /etc/rnbd /run/rnbd /run/rnbdadm.lock
rm -f /etc/systemd/system/*.wants/rnbd-device@*.service
deb-systemd-helper purge rnbd-audit.service rnbd-server.service
deb-systemd-helper purge rnbd-restore.service"
	is "modules removed" "$(script rnbd-dkms prerm remove)" "dkms remove -m rnbd -v $version --all"
	is "modules purged" "$(script rnbd-dkms postrm purge)" "rm -f /var/lib/rnbd-writers"
}

# Disks may be in use
units() {
	[[ ! -e $dir/rnbdadm.control/preinst ]] || script rnbdadm preinst upgrade
	is prerm "$(script rnbdadm prerm upgrade)" ""
	is postrm "$(script rnbdadm postrm upgrade)" ""
	script rnbdadm postinst configure | grep -E 'deb-systemd-invoke|systemctl .*start'
}

errors() {
	local said
	said=$(lintian --no-cfg --allow-root --tag-display-limit 0 --fail-on error build/deb/*.changes) ||
		{ echo "lintian: exit status $?" && grep -E '^E:' <<<"$said"; }
}

check "make deb builds them without a warning" build
check "control fields" fields
check "rnbdadm: the tool and its schemas" tool
check "rnbdadm: README and docs" documents
check "rnbd-dkms: the sources of the modules, nothing else" modules
check "rnbd-dkms: dkms.conf names all modules" dkms_conf CONFIG_INFINIBAND_ADDR_TRANS=y
check "rnbd-dkms: for a kernel without InfiniBand, the modules of RDS" dkms_conf CONFIG_INET=y
check "rnbd-dkms: its modules take the place of others" instead
check "make modules_uninstall takes our modules away" uninstalled
check "what removal and purge take away" purge
check "an upgrade stops and starts no unit" units
check "lintian: no error" errors
finish
