#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""probe.py DEVICE FILE: how long I/O stands still.

Reads one block after another, past the page cache. FILE gets a line for each read that took more than 100 ms: when it
began, by CLOCK_MONOTONIC, and how long it took, in seconds. An error ends it; SIGTERM ends it well.
"""
import mmap
import os
import signal
import sys
import time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
device = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
size = os.lseek(device, 0, os.SEEK_END)
block = mmap.mmap(-1, 4096)
place = 0
with open(sys.argv[2], "a", buffering=1) as stalls:
    while True:
        place = (place + 17 * 4096) % size
        begin = time.monotonic()
        if os.preadv(device, [block], place) != len(block):  # a disk that is gone has no size
            sys.exit("short read")
        took = time.monotonic() - begin
        if took > 0.1:
            print(f"{begin:.3f} {took:.3f}", file=stalls)
        time.sleep(0.01)
