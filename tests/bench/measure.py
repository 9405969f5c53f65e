#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measures one contender: measure.py RESULTS ROUND CONTENDER DISK

For each cell fio runs in the background, and all figures are of one window in the middle of it: I/Os that the disk completed,
packets that the link sent, time that no CPU was idle, time of the kernel's work queues. Appends a line of JSON per cell.
"""
import glob
import json
import os
import subprocess
import sys
import time

CELLS = (
    ("4k randread qd1", "randread", "4k", 1),
    ("4k randwrite qd1", "randwrite", "4k", 1),
    ("4k randread qd16", "randread", "4k", 16),
    ("4k randwrite qd16", "randwrite", "4k", 16),
    ("64k read qd8", "read", "64k", 8),
    ("64k write qd8", "write", "64k", 8),
)
WINDOW = float(os.environ.get("BENCH_SECONDS", "4"))
WARM_UP = 0.4
TICK = os.sysconf("SC_CLK_TCK")
CPUS = os.cpu_count()


def read(path):
    with open(path) as f:
        return f.read()


def ios(disk):
    stat = read(f"/sys/block/{disk}/stat").split()
    return int(stat[0]) + int(stat[4])


def packets():
    return sum(int(read(p)) for p in glob.glob("/sys/class/infiniband/rxe*/ports/1/hw_counters/sent_pkts"))


def idle():
    """Seconds, all CPUs together: idle, and idle with I/O outstanding"""
    cpu = read("/proc/stat").split("\n", 1)[0].split()
    return (int(cpu[4]) + int(cpu[5])) / TICK


def kworkers():
    """Seconds that each kernel worker has run"""
    ran = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if read(f"/proc/{pid}/comm").startswith("kworker"):
                ran[pid] = int(read(f"/proc/{pid}/schedstat").split()[0]) / 1e9
        except OSError:
            pass
    return ran


def sample(disk):
    return time.monotonic(), ios(disk), packets(), idle()


def window(disk):
    before = kworkers()
    t0, ios0, packets0, idle0 = sample(disk)
    time.sleep(WINDOW)
    t1, ios1, packets1, idle1 = sample(disk)
    after = kworkers()
    done = ios1 - ios0
    busy = (t1 - t0) * CPUS - (idle1 - idle0)
    workers = sum(t - before.get(pid, 0) for pid, t in after.items())
    return {
        "iops": done / (t1 - t0),
        "packets": (packets1 - packets0) / done,
        "cpu_us": busy / done * 1e6,
        "workqueue_us": workers / done * 1e6,
    }


def cell(disk, rw, size, depth):
    fio = subprocess.Popen(
        ["fio", "--name=cell", f"--filename=/dev/{disk}", f"--rw={rw}", f"--bs={size}", f"--iodepth={depth}", "--direct=1",
         "--ioengine=libaio", "--size=1g", "--norandommap", "--thread", "--time_based", "--runtime=60", "--minimal"],
        stdout=subprocess.DEVNULL)
    try:
        start, limit = ios(disk), time.monotonic() + 120
        while ios(disk) < start + 50:
            if fio.poll() is not None or time.monotonic() > limit:
                sys.exit(f"{disk}: fio does not run")
            time.sleep(0.05)
        time.sleep(WARM_UP)
        return window(disk)
    finally:
        fio.kill()
        fio.wait()


def main():
    results, rnd, contender, disk = sys.argv[1:]
    line = []
    for name, rw, size, depth in CELLS:
        figures = cell(disk, rw, size, depth)
        with open(results, "a") as f:
            json.dump({"round": int(rnd), "contender": contender, "cell": name, **figures}, f)
            f.write("\n")
        line.append(f"{figures['iops']:7.0f}")
    print(f"  round {rnd}: {contender:10}", *line, flush=True)


main()
