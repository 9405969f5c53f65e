#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libnl-3 3.7.0 (Debian 12) has the kernel's names for attribute policies, NLA_STRING and a greatest length, and other rules: a string
# that does not end in a NUL is refused, though the kernel takes it, and the greatest length counts the NUL, which the kernel's does
# not. With the kernel's length, IFNAMSIZ - 1, the longest names are refused: nla_parse() gives up the whole message.
# One would guess: what the kernel takes by a policy, libnl takes by the same one.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download libnl-3-200=3.7.0-0.2+b1 libnl-3-dev=3.7.0-0.2+b1 iproute2=6.1.0-3 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
lib=$(dirname "$(find . -name 'libnl-3.so.200*' -type f)")

cat >names.c <<'C'
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdio.h>
#include <string.h>

/* By libnl, with this policy */
static void parsed(struct nl_msg *msg, unsigned int maxlen)
{
	struct nla_policy policy[IFLA_IFNAME + 1] = {
		[IFLA_IFNAME] = { .type = NLA_STRING, .maxlen = maxlen },
	};
	struct nlattr *tb[IFLA_IFNAME + 1];
	struct nlmsghdr *n = nlmsg_hdr(msg);
	int err = nla_parse(tb, IFLA_IFNAME, nlmsg_attrdata(n, sizeof(struct ifinfomsg)),
			    nlmsg_attrlen(n, sizeof(struct ifinfomsg)), policy);

	printf(", libnl with maxlen %u: %s", maxlen, err ? nl_geterror(err) : "taken");
}

/* A name in so many bytes: by the kernel, whose policy is NLA_STRING with IFNAMSIZ - 1, then by libnl */
static void ask(struct nl_sock *sk, const char *name, int bytes)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, 0);
	struct ifinfomsg info = { 0 };
	int err;

	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put(msg, IFLA_IFNAME, bytes, name);
	nl_send_auto(sk, msg);
	err = nl_recvmsgs_default(sk);
	printf("%s in %d bytes: kernel: %s", name, bytes, err < 0 ? nl_geterror(err) : "taken");
	parsed(msg, IFNAMSIZ - 1);
	parsed(msg, IFNAMSIZ);
	putchar('\n');
	nlmsg_free(msg);
}

int main(int argc, char **argv)
{
	struct nl_sock *sk = nl_socket_alloc();
	int bytes = strlen(argv[1]);

	nl_connect(sk, NETLINK_ROUTE);
	nl_socket_disable_auto_ack(sk);
	ask(sk, argv[1], bytes + 1);
	ask(sk, argv[1], bytes);
	nl_socket_free(sk);
	return 0;
}
C
gcc -o names names.c -Iusr/include/libnl3 "$lib"/libnl-3.so.200
# In a network of its own, on its only link
LD_LIBRARY_PATH=$lib unshare -rn sh -c './names lo && ./bin/ip link set lo name fifteen-letters && ./names fifteen-letters' | tee seen
diff seen - <<'SEEN'
lo in 3 bytes: kernel: taken, libnl with maxlen 15: taken, libnl with maxlen 16: taken
lo in 2 bytes: kernel: taken, libnl with maxlen 15: Invalid input data or parameter, libnl with maxlen 16: Invalid input data or parameter
fifteen-letters in 16 bytes: kernel: taken, libnl with maxlen 15: Input data out of range, libnl with maxlen 16: taken
fifteen-letters in 15 bytes: kernel: taken, libnl with maxlen 15: Invalid input data or parameter, libnl with maxlen 16: Invalid input data or parameter
SEEN
