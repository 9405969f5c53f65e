#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes whose place in the log of dm-log-writes is known, and the log replayed.

  workload DISK TARGET MODE MODEL   writes to DISK; after each group that MODE made lasting puts a mark into the log of the dm
                                    device TARGET; MODEL remembers what must be there by then
  verify LOG MODEL                  the device, as the log has it at each mark, is the one of the model
  image LOG MARK FILE               the device at that mark
"""
import mmap
import os
import pickle
import random
import struct
import subprocess
import sys

BLOCK = 4096
BLOCKS = 2048
GROUPS = 12
SIZE = 320 << 20
PIECE = 1 << 20
MAGIC = 0x6A736677736872
FUA, DISCARD, MARK = 2, 4, 8


def workload(disk, target, mode, model):
    flags = os.O_RDWR
    if mode != "cached":
        flags |= os.O_DIRECT
    if mode == "dsync":
        flags |= os.O_DSYNC
    fd = os.open(disk, flags)
    buf = mmap.mmap(-1, BLOCK)
    random.seed(4711)
    groups = []
    for group in range(GROUPS):
        written = {}
        for block in random.sample(range(BLOCKS), 8):
            data = random.randbytes(BLOCK)
            buf[:] = data
            os.pwritev(fd, [buf], block * BLOCK)
            written[block] = data
        if mode in ("fsync", "cached"):
            os.fsync(fd)
        subprocess.run(["dmsetup", "message", target, "0", "mark", str(group)], check=True)
        groups.append(written)
    os.close(fd)
    with open(model, "wb") as f:
        pickle.dump(groups, f)


def entries(log):
    """(flags, sector, data) of each entry; the data of a mark is its text"""
    with open(log, "rb", buffering=1 << 20) as f:
        magic, version, count, size = struct.unpack("<QQQI", f.read(28))
        assert (magic, version) == (MAGIC, 1), "no log"
        f.seek(size)
        for _ in range(count):
            head = f.read(size)
            sector, sectors, flags, length = struct.unpack_from("<QQQQ", head)
            data = b""
            if flags & MARK:
                data = head[32:32 + length]
            elif flags & DISCARD:
                # Of a whole disk it is large
                yield from ((flags, sector * size + i, bytes(min(PIECE, sectors * size - i)))
                            for i in range(0, sectors * size, PIECE))
                continue
            else:
                data = f.read(sectors * size)
            yield flags, sector * size, data


def verify(log, model):
    with open(model, "rb") as f:
        groups = pickle.load(f)
    medium, expected, marks = {}, {}, 0
    for flags, pos, data in entries(log):
        if flags & MARK and data == b"dm-log-writes-end":
            break
        if flags & MARK:
            expected.update(groups[int(data)])
            for block, want in expected.items():
                if medium.get(block) != want:
                    sys.exit(f"mark {int(data)}: block {block} is not on the medium")
            marks += 1
            continue
        assert pos % BLOCK == 0 and len(data) % BLOCK == 0, (pos, len(data))
        for i in range(0, len(data), BLOCK):
            medium[(pos + i) // BLOCK] = data[i:i + BLOCK]
    assert marks == len(groups), marks
    print(f"{marks} marks, {len(expected)} blocks")


def image(log, mark, path):
    with open(path, "wb") as out:
        out.truncate(SIZE)
        for flags, pos, data in entries(log):
            if flags & MARK:
                if data.decode() == mark:
                    return
                continue
            out.seek(pos)
            out.write(data)
    sys.exit(f"no mark {mark}")


{"workload": workload, "verify": verify, "image": image}[sys.argv[1]](*sys.argv[2:])
