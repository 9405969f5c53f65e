#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libnl 3.7.0 (Debian 12): nl_connect() sets the receive buffer to 32 KiB, which getsockopt() tells as 65536. A netlink socket that
# is only opened has what net.core.rmem_default says, 212992 on most hosts.
# One would guess: the library leaves the kernel's default alone, or enlarges it. A program that listens to a multicast group loses
# events (ENOBUFS) after a third of the burst that one without the library survives, until it calls nl_socket_set_buffer_size().
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download libnl-3-dev=3.7.0-0.2+b1 libnl-3-200=3.7.0-0.2+b1 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done

cat >buffer.c <<'EOF'
#include <stdio.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

static int buffer(int fd)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);

	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len);
	return bytes;
}

int main(void)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (!sk || nl_connect(sk, NETLINK_GENERIC) < 0)
		return 1;
	printf("%d %d\n", buffer(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC)), buffer(nl_socket_get_fd(sk)));
	return 0;
}
EOF
lib=$(echo lib/*-linux-gnu)
gcc -Iusr/include/libnl3 buffer.c -o buffer -L"usr/$lib" -L"$lib" -l:libnl-3.so.200
read -r plain libnl < <(LD_LIBRARY_PATH=$lib ./buffer)
echo "receive buffer: $plain bytes of a plain socket, $libnl bytes after nl_connect()"
((libnl == 65536 && plain == $(</proc/sys/net/core/rmem_default)))
