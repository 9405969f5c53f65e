#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Generates the uapi header and the kernel's policy tables from rnbd.yaml with
# the YNL generator of the kernel sources (Debian package linux-source-6.12).
#
# usage: regen.sh [--check | --user HEADER]
#   --check   change nothing; exit 1 if a generated file is not up to date
#   --user    write the header of a user space library, from the whole specification
set -eu

check=
if [ "${1-}" = --check ]; then
	check=1
	shift
fi
# shellcheck source=tests/lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/lib.bash"
# shellcheck source=tests/vm/lib/kernel.bash
. "$ROOT/tests/vm/lib/kernel.bash"

ynl=$(lab_ynl) || exit 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -r "$ynl/." "$tmp"
mkdir -p "$tmp/Documentation/netlink/specs"
# Linux 6.1 has one policy for both, a get and its dump: that of the get
sed '/^        request: \*[a-z]*-request$/d' "$ROOT/include/netlink/rnbd.yaml" >"$tmp/Documentation/netlink/specs/rnbd.yaml"

ynl_gen() { (cd "$tmp" && timeout 60 /usr/bin/python3 tools/net/ynl/ynl-gen-c.py --spec Documentation/netlink/specs/rnbd.yaml "$@"); }

if [ "${1-}" = --user ]; then
	cp "$ROOT/include/netlink/rnbd.yaml" "$tmp/Documentation/netlink/specs/"
	ynl_gen -o user.h --mode user --header
	cat "$tmp/user.h" >"$2"
	exit
fi

stale=0
gen() { # OUTPUT ARGS...
	out=$1
	shift
	ynl_gen -o "$(basename "$out")" "$@"
	# The table of groups would be static and unused: the family has its own.
	sed -i -e 's,Documentation/netlink/specs/rnbd.yaml,include/netlink/rnbd.yaml,' \
		-e '/^static const struct genl_multicast_group/,/^};/d' "$tmp/$(basename "$out")"
	if [ -n "$check" ]; then
		cmp -s "$tmp/$(basename "$out")" "$ROOT/$out" || {
			echo "$out is not what include/netlink/rnbd.yaml gives; run include/netlink/regen.sh" >&2
			stale=1
		}
	else
		cp "$tmp/$(basename "$out")" "$ROOT/$out"
	fi
}

gen include/uapi/linux/rnbd.h --mode uapi --header
gen kernel/rtrs/core/nl-gen.h --mode kernel --header
gen kernel/rtrs/core/nl-gen.c --mode kernel --source
exit $stale
