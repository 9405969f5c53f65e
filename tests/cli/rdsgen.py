# SPDX-License-Identifier: GPL-2.0
"""What stands for the RDS of a kernel below a moved root: its lists as RDS_INFO_* gives them, and peers that answer pings."""
import ipaddress
import os
import struct

SENDING, CONNECTING, CONNECTED = 1, 2, 4
NOBODY = ("::", 0)


def v4(address):
    return ipaddress.ip_address(address).packed


def v6(address):
    a = ipaddress.ip_address(address)
    return a.packed if a.version == 6 else bytes(10) + b"\xff\xff" + a.packed


def counter(name, value):
    return struct.pack("=32sQ", name.encode(), value)


def connection4(local, remote, flags, tx=1, rx=0, tos=0, transport="tcp"):
    return struct.pack("=QQ4s4s16sBB", tx, rx, v4(local), v4(remote), transport.encode(), flags, tos)


def connection6(local, remote, flags, tx=1, rx=0, transport="tcp"):
    return struct.pack("=QQ16s16s16sB", tx, rx, v6(local), v6(remote), transport.encode(), flags)


def message6(local, remote, size, seq=1, tos=0):
    return struct.pack("=QI16s16s", seq, size, v6(local[0]), v6(remote[0])) + struct.pack(">HHBB", local[1], remote[1], 0, tos)


def socket4(local, remote, inode, sndbuf=106496, rcvbuf=106496):
    return struct.pack("=I4s4s", sndbuf, v4(local[0]), v4(remote[0])) + struct.pack(">HH", local[1], remote[1]) + \
        struct.pack("=IQ", rcvbuf, inode)


def socket6(local, remote, inode, sndbuf=106496, rcvbuf=106496):
    return struct.pack("=I16s16s", sndbuf, v6(local[0]), v6(remote[0])) + struct.pack(">HH", local[1], remote[1]) + \
        struct.pack("=IQ", rcvbuf, inode)


def tcp6(local, remote):
    return struct.pack("=16s", v6(local[0])) + struct.pack(">H", local[1]) + struct.pack("=16s", v6(remote[0])) + \
        struct.pack(">H", remote[1]) + struct.pack("=QQIII", 0, 0, 1, 1, 1)


def put_list(root, number, records, size=None):
    """@size: of a record, where there may be none."""
    os.makedirs(os.path.join(root, "rds"), exist_ok=True)
    with open(os.path.join(root, "rds", str(number)), "wb") as f:
        f.write(struct.pack("=I", size or len(records[0])) + b"".join(records))


def make_rds(root, put, link):
    """Modules of the kernel, a peer that is up by IPv4 and by IPv6, one that is silent, one process that does not read."""
    put(root, "/sys/module/rds/version", "4.0")
    os.makedirs(os.path.join(root, "sys/module/rds_tcp"))
    put(root, "/proc/sys/net/rds/ping_enable", "1")
    put(root, "/proc/sys/net/core/rmem_default", "212992")
    put(root, "/proc/sys/net/core/wmem_default", "212992")
    put(root, "/proc/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100000A:9C69 0900000A:4001 02 00000001:00000000 01:00000014 00000000     0        0 11002 2 0 100 0 0 10 -1\n"
        "   1: 0100000A:9C40 0200000A:4001 01 00000000:00000000 00:00000000 00000000     0        0 11003 2 0 100 0 0 10 -1\n"
        "   2: 0100000A:4001 0300000A:9C42 01 00000000:00000000 00:00000000 00000000     0        0 11004 2 0 100 0 0 10 -1")
    put(root, "/proc/net/tcp6", "  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: %s:4001 %s:0000 0A 00000000:00000000 00:00000000 00000000     0        0 900 1 0 100 0 0 10 0" % ("0" * 32, "0" * 32))
    for pid, comm, fds in ((812, "ora_lms0", {3: "socket:[1001]", 4: "/dev/null", 5: "socket:[1002]", 6: "socket:[1001]"}),
                           (813, "ora lms1", {9: "socket:[1001]", 7: "socket:[1004]"})):
        put(root, "/proc/%d/comm" % pid, comm)
        for fd, to in fds.items():
            link(root, "/proc/%d/fd/%d" % (pid, fd), to)
    put(root, "/rds/ping/10.0.0.2", "10.0.0.1 tcp 250000")
    put(root, "/rds/ping/fd00::2", "fd00::1 infiniband 31000")
    put(root, "/rds/ping/10.0.0.9", "10.0.0.1 tcp")
    put_list(root, 10000, [counter("conn_reset", 3), counter("recv_queued", 2**53 + 1), counter("a" * 32, 2**64 - 1), counter("zero", 0)])
    put_list(root, 10001, [connection4("10.0.0.1", "10.0.0.9", CONNECTING, 5),
                           connection4("10.0.0.1", "10.0.0.2", CONNECTED | SENDING, 2**40, 77),
                           connection4("10.0.0.1", "10.0.0.2", 0, tos=3, transport="infiniband")])
    put_list(root, 10011, [connection6("10.0.0.1", "10.0.0.2", CONNECTED), connection6("fd00::1", "fd00::2", CONNECTED, 9, 8)])
    put_list(root, 10012, [message6(("10.0.0.1", 4000), ("10.0.0.9", 4000), 1000, 3), message6(("10.0.0.1", 4000), ("10.0.0.9", 4000), 24, 4),
                           message6(("10.0.0.1", 1), ("10.0.0.9", 0), 0)])
    put_list(root, 10013, [message6(("10.0.0.1", 4000), ("10.0.0.2", 4000), 512, 2**40 - 1),
                           message6(("fd00::1", 4002), ("fd00::2", 9), 90, 8)])
    put_list(root, 10014, [message6(("fd00::1", 4002), ("fd00::2", 9), 70000), message6(("fd00::1", 4002), ("fd00::2", 9), 70000),
                           message6(("10.0.0.1", 65535), ("10.0.0.2", 9), 1)])
    put_list(root, 10015, [socket6(("fd00::1", 4002), NOBODY, 1002), socket6(("10.0.0.1", 4000), ("10.0.0.2", 4000), 1001, 4608, 2304),
                           socket6(NOBODY, NOBODY, 1003), socket6(("10.0.0.1", 65535), ("0.0.0.0", 0), 1004)])
    put_list(root, 10016, [tcp6(("10.0.0.1", 40000), ("10.0.0.2", 16385)), tcp6(("10.0.0.1", 40001), ("10.0.0.2", 16385)),
                           tcp6(("fd00::1", 40002), ("fd00::2", 16385))])
