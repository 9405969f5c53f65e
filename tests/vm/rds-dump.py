#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Dumps of the netlink family rds, read a block of 4096 bytes at a time: what changes between two blocks is the caller's choice.

usage: rds-dump.py COMMAND       runs it after the first block. Prints how many connections were told, how many of them twice, and
                                 1 if the dump was flagged as cut by changes
       rds-dump.py --while FILE  one dump after the other as long as the file is there. Prints how many there were
"""
import os
import socket
import struct
import subprocess
import sys

BLOCK = 4096  # the kernel fills what was ever offered
GENERIC, CTRL, DONE, DUMP, INTR = 16, 16, 3, 0x301, 0x10


def message(kind, flags, cmd, payload=b""):
    return struct.pack("=IHHIIBBH", 20 + len(payload), kind, flags, 1, 0, cmd, 1, 0) + payload


def attributes(data):
    while data:
        size, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:size]
        data = data[(size + 3) & ~3:]


def family(sock):
    sock.send(message(CTRL, 1, 3, struct.pack("=HH", 8, 2) + b"rds\0"))
    return struct.unpack("=H", dict(attributes(sock.recv(BLOCK)[20:]))[1])[0]


def dump(sock, kind, between):
    """Names of connections, and whether the dump was cut."""
    names, cut, block = [], 0, 0
    sock.send(message(kind, DUMP, 1))
    while True:
        data = sock.recv(BLOCK)
        while data:
            size, what, flags = struct.unpack_from("=IHH", data)
            cut |= flags & INTR
            if what == DONE:
                return names, cut // INTR
            assert what == kind, struct.unpack_from("=i", data, 16)
            told = dict(attributes(data[20:size]))
            names.append((told[1], told[2], told[3], told[4]))
            data = data[(size + 3) & ~3:]
        block += 1
        if block == 1 and between:
            subprocess.run(between, shell=True, check=True, stdout=subprocess.DEVNULL)


client = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC)
number = family(client)
if sys.argv[1] == "--while":
    dumps = 0
    while os.path.exists(sys.argv[2]):
        dump(client, number, None)
        dumps += 1
    print(dumps)
else:
    told, torn = dump(client, number, sys.argv[1])
    print(len(told), len(told) - len(set(told)), torn)
