#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Generates the uapi header and the kernel's policy tables from rnbd.yaml with
# the YNL generator of the kernel sources (Debian package linux-source-6.12).
#
# usage: regen.sh [--check] [TARBALL]
#   --check   change nothing; exit 1 if a generated file is not up to date
set -eu

check=
if [ "${1-}" = --check ]; then
	check=1
	shift
fi
tarball=${1:-/usr/src/linux-source-6.12.tar.xz}
top=$(cd "$(dirname "$0")/../.." && pwd)

if [ ! -r "$tarball" ]; then
	echo "regen.sh: $tarball is missing; apt-get install linux-source-6.12" >&2
	exit 2
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cache=${RNBD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rnbd}
ynl=$cache/ynl-$(stat -c %s-%Y "$tarball")
if [ ! -d "$ynl" ]; then
	mkdir -p "$cache"
	part=$(mktemp -d "$ynl.XXXXXX")
	tar -xJf "$tarball" -C "$part" --strip-components=1 --wildcards \
		'*/tools/net/ynl/lib' '*/tools/net/ynl/*.py' '*/Documentation/netlink/*.yaml'
	: > "$part/MAINTAINERS"	# the generator takes it for the root
	mv -T "$part" "$ynl" 2>/dev/null || rm -rf "$part"
fi
cp -r "$ynl/." "$tmp"
mkdir -p "$tmp/Documentation/netlink/specs"
cp "$top/include/netlink/rnbd.yaml" "$tmp/Documentation/netlink/specs/"

stale=0
gen() { # OUTPUT ARGS...
	out=$1
	shift
	(cd "$tmp" && timeout 60 python3 tools/net/ynl/ynl-gen-c.py \
		--spec Documentation/netlink/specs/rnbd.yaml -o "$(basename "$out")" "$@")
	# The table of groups would be static and unused: the family has its own.
	sed -i -e 's,Documentation/netlink/specs/rnbd.yaml,include/netlink/rnbd.yaml,' \
		-e '/^static const struct genl_multicast_group/,/^};/d' "$tmp/$(basename "$out")"
	if [ -n "$check" ]; then
		cmp -s "$tmp/$(basename "$out")" "$top/$out" || {
			echo "$out is not what include/netlink/rnbd.yaml gives; run include/netlink/regen.sh" >&2
			stale=1
		}
	else
		cp "$tmp/$(basename "$out")" "$top/$out"
	fi
}

gen include/uapi/linux/rnbd.h --mode uapi --header
gen kernel/rtrs/core/nl-gen.h --mode kernel --header
gen kernel/rtrs/core/nl-gen.c --mode kernel --source
exit $stale
