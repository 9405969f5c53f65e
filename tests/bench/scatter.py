#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Scatters the memory of the guest, as it is on a host that has been up for long: scatter.py MIB, until it is killed

Of so much memory every other page is free in the end. Buffers that the application gets are single pages then, and not in one
piece by luck, which would be luck of the contender that is measured. Prints "scattered" when it is.
"""
import mmap
import signal
import sys

size = int(sys.argv[1]) << 20
memory = mmap.mmap(-1, size)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for offset in range(0, size, mmap.PAGESIZE):
    memory[offset] = 1
for offset in range(0, size, 2 * mmap.PAGESIZE):
    memory.madvise(mmap.MADV_DONTNEED, offset, mmap.PAGESIZE)
print("scattered", flush=True)
signal.pause()
