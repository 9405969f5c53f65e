#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Generates the uapi headers, the kernel's policy tables and rnbdadm's tables of names from rnbd.yaml and rds.yaml
# with the YNL generator of the kernel sources (Debian package linux-source-6.12).
#
# usage: regen.sh [--check | --user FAMILY HEADER]
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
for family in rnbd rds; do
	sed '/^        request: \*[a-z]*-request$/d' "$ROOT/include/netlink/$family.yaml" >"$tmp/Documentation/netlink/specs/$family.yaml"
done

ynl_gen() { # FAMILY ARGS...
	spec=Documentation/netlink/specs/$1.yaml
	shift
	(cd "$tmp" && timeout 60 /usr/bin/python3 tools/net/ynl/ynl-gen-c.py --spec "$spec" "$@")
}

if [ "${1-}" = --user ]; then
	cp "$ROOT/include/netlink/$2.yaml" "$tmp/Documentation/netlink/specs/"
	ynl_gen "$2" -o user.h --mode user --header
	cat "$tmp/user.h" >"$3"
	exit
fi

stale=0
put() { # FAMILY OUTPUT
	family=$1
	out=$2
	if [ -n "$check" ]; then
		cmp -s "$tmp/$(basename "$out")" "$ROOT/$out" || {
			echo "$out is not what include/netlink/$family.yaml gives; run include/netlink/regen.sh" >&2
			stale=1
		}
	else
		cp "$tmp/$(basename "$out")" "$ROOT/$out"
	fi
}

gen() { # FAMILY OUTPUT ARGS...
	ynl_gen "$1" -o "$(basename "$2")" "${@:3}"
	# The table of groups would be static and unused: the family has its own.
	sed -i -e 's,Documentation/netlink/specs/,include/netlink/,' \
		-e '/^static const struct genl_multicast_group/,/^};/d' "$tmp/$(basename "$2")"
	put "$1" "$2"
}

# The generator's own tables for user space have no sign: rnbdadm's are made by what reads the specifications for the generator
tables() { # FAMILY OUTPUT
	/usr/bin/python3 "$ROOT/include/netlink/tables.py" "$tmp" "$1" >"$tmp/$(basename "$2")"
	put "$1" "$2"
}

gen rnbd include/uapi/linux/rnbd.h --mode uapi --header
gen rnbd kernel/rtrs/core/nl-gen.h --mode kernel --header
gen rnbd kernel/rtrs/core/nl-gen.c --mode kernel --source
# Requests of this family have no attributes: there is no policy to generate
gen rds include/uapi/linux/rds_netlink.h --mode uapi --header
tables rnbd rnbdadm/kernel/netlink/rnbd-gen.h
tables rds rnbdadm/kernel/netlink/rds-gen.h
exit $stale
