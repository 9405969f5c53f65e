#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libnl-3 3.7.0, iproute2 6.1.0 and glibc 2.36 (Debian 12) take the text "10.1" for three things: an address of DECnet, 10.1.0.0,
# 10.0.0.1. And nl_addr_parse() takes an IPv6 address that lacks one of its eight groups for a link-layer address, whose seventh
# part it drops without a word; "10.0.0.1/33", a prefix longer than the address, is no error either.
# One would guess: all mean 10.0.0.1, as inet_aton(3) has it, or all refuse it; what has seven groups is refused.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download libnl-3-200=3.7.0-0.2+b1 libnl-3-dev=3.7.0-0.2+b1 iproute2=6.1.0-3 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
lib=$(dirname "$(find . -name 'libnl-3.so.200*' -type f)")

cat >parse.c <<'C'
#include <netlink/addr.h>
#include <netlink/errno.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct nl_addr *addr;
	char text[64];
	int i, err;

	for (i = 1; i < argc; i++) {
		err = nl_addr_parse(argv[i], AF_UNSPEC, &addr);
		if (err)
			printf("%s: %s\n", argv[i], nl_geterror(err));
		else
			printf("%s: family %d, %u bytes, /%u, %s\n", argv[i], nl_addr_get_family(addr),
			       nl_addr_get_len(addr), nl_addr_get_prefixlen(addr),
			       nl_addr2str(addr, text, sizeof(text)));
	}
	return 0;
}
C
gcc -o parse parse.c -Iusr/include/libnl3 "$lib"/libnl-3.so.200
{
	LD_LIBRARY_PATH=$lib ./parse 10.0.0.1 10.1 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7 10.0.0.1/33
	# In a network of its own
	echo "ip: $(unshare -rn sh -c './bin/ip addr add 10.1/32 dev lo && ./bin/ip -o -4 addr show dev lo' | grep -oE '10\.[0-9.]+')"
	echo "getaddrinfo: $(getent ahostsv4 10.1 | awk 'NR == 1 { print $1 }')"
} | tee seen
diff seen - <<'SEEN'
10.0.0.1: family 2, 4 bytes, /32, 10.0.0.1
10.1: family 12, 2 bytes, /16, 10.1
1:2:3:4:5:6:7:8: family 10, 16 bytes, /128, 1:2:3:4:5:6:7:8
1:2:3:4:5:6:7: family 26, 6 bytes, /48, 01:02:03:04:05:06
10.0.0.1/33: family 2, 4 bytes, /33, 10.0.0.1/33
ip: 10.1.0.0
getaddrinfo: 10.0.0.1
SEEN
