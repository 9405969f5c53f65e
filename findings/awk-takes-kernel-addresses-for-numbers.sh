#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mawk 1.3.4 and original-awk of 2022-09-12 (Debian 12) compare two lines of /proc/kallsyms as numbers where both addresses look like
# such, and "0000000060010e12" does: it is 60010 times 10 to the power of 12. So the range of a module's functions comes out wrong, or
# empty, where an address has a single "e" between digits, which changes with each build.
# One would guess: hexadecimal text of one length is compared as text, and sorts as the addresses do.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download mawk=1.3.4.20200120-3.1 original-awk=2022-09-12-1 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done

cat >kallsyms <<'K'
0000000060010e12 t first	[module]
0000000060020000 t second	[module]
0000000060030000 t third	[module]
K
for awk in usr/bin/mawk usr/bin/original-awk; do
	for address in '$1' '"0x" $1'; do
		echo "${awk##*/}: $address: $(./$awk '{ at = '"$address"' } NR == 1 || at < low { low = at } at > high { high = at }
			END { print low, high }' kallsyms)"
	done
done | tee seen
diff seen - <<'SEEN'
mawk: $1: 0000000060020000 0000000060010e12
mawk: "0x" $1: 0x0000000060010e12 0x0000000060030000
original-awk: $1: 0000000060020000 0000000060010e12
original-awk: "0x" $1: 0x0000000060010e12 0x0000000060030000
SEEN
