#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measures contenders that are mapped at once: measure.py RESULTS ROUND CONTENDER=DISK..

In each cell one fio for each of them waits in the background, and they take turns: one goes on for a window, and rests with
nothing in flight while the others have theirs. It has one CPU, where Soft-RoCE does all of its I/Os' work; where the scheduler woke
it would count for more than what is measured. All figures are of such a window: I/Os that the disk completed, time that no CPU
was idle, time of the kernel's work queues; but the packets that the link sent are those of the whole turn. Appends a line of
JSON for each.
"""
import collections
import glob
import json
import os
import signal
import statistics
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
WANTED = os.environ.get("BENCH_CELLS", "").split()
WINDOW = float(os.environ["BENCH_SECONDS"])
TURNS = int(os.environ["BENCH_TURNS"])
SIZE = os.environ.get("BENCH_SIZE", "1g")
PROFILE = os.environ.get("BENCH_PROFILE") and os.environ["LAB_OUT"]
WARM_UP = 0.05
RUNTIME = 86400  # it is killed before
TICK = os.sysconf("SC_CLK_TCK")
CPUS = os.cpu_count()
BIND = () if os.environ.get("BENCH_UNBOUND") else (f"--cpus_allowed={CPUS - 1}",)


def wanted():
    """Cells of BENCH_CELLS, which has names like 4k-read-qd16; all where there are none"""
    cells = {c[0].replace("rand", "").replace(" ", "-"): c for c in CELLS}
    unknown = set(WANTED) - set(cells)
    if unknown:
        sys.exit(f"BENCH_CELLS: no cell {' '.join(sorted(unknown))}; there are {' '.join(cells)}")
    return [c for name, c in cells.items() if not WANTED or name in WANTED]


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


def kworkers(is_worker={}):
    """Seconds that each kernel worker has run. A process is asked once for its name."""
    ran = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pid not in is_worker:
                is_worker[pid] = read(f"/proc/{pid}/comm").startswith("kworker")
            if is_worker[pid]:
                ran[pid] = int(read(f"/proc/{pid}/schedstat").split()[0]) / 1e9
        except OSError:
            pass
    return ran


def sample(disk):
    return time.monotonic(), ios(disk), idle()


def window(disk):
    before, looked0 = kworkers(), time.monotonic()
    t0, ios0, idle0 = sample(disk)
    time.sleep(WINDOW)
    t1, ios1, idle1 = sample(disk)
    after, looked1 = kworkers(), time.monotonic()
    done = ios1 - ios0
    if not done:
        sys.exit(f"{disk}: no I/O within {t1 - t0:.1f} s")
    busy = (t1 - t0) * CPUS - (idle1 - idle0)
    # the looks take their time, in which I/O goes on
    workers = sum(t - before.get(pid, 0) for pid, t in after.items()) * (t1 - t0) / (looked1 - looked0)
    return {
        "ios": done,
        "iops": done / (t1 - t0),
        "cpu_us": busy / done * 1e6,
        "workqueue_us": workers / done * 1e6,
    }


def part(symbol, module):
    if "crc32" in symbol:
        return "checksum"
    if module == "rdma_rxe":
        return "soft-roce"
    return "drivers" if module.startswith(("rtr", "rnb", "nvme")) else "rest"


class Load:
    """fio on one disk, at rest but when it has its turn"""

    def __init__(self, disk, rw, size, depth):
        self.disk = disk
        self.fio = subprocess.Popen(
            ["fio", "--name=cell", f"--filename=/dev/{disk}", f"--rw={rw}", f"--bs={size}", f"--iodepth={depth}", "--direct=1",
             "--ioengine=libaio", f"--size={SIZE}", "--norandommap", "--thread", "--time_based", f"--runtime={RUNTIME}", "--minimal", *BIND],
            stdout=subprocess.DEVNULL)

    def begin(self):
        start = ios(self.disk)
        self.until(lambda: ios(self.disk) >= start + 50, "fio does not run")
        self.rest()

    def until(self, true, what):
        limit = time.monotonic() + 120
        while not true():
            if self.fio.poll() is not None or time.monotonic() > limit:
                sys.exit(f"{self.disk}: {what}")
            time.sleep(0.01)

    def rest(self):
        self.fio.send_signal(signal.SIGSTOP)
        self.until(lambda: read(f"/sys/block/{self.disk}/inflight").split() == ["0", "0"], "I/O does not end")

    def turn(self):
        ios0, packets0 = ios(self.disk), packets()
        self.fio.send_signal(signal.SIGCONT)
        time.sleep(WARM_UP)
        figures = window(self.disk)
        self.rest()
        # from rest to rest: all that was sent for what was done
        figures["packets"] = (packets() - packets0) / (ios(self.disk) - ios0)
        return figures

    def profile(self):
        """Samples of its turn by the part of the kernel that they are in: where the clock counts instructions, its share of them"""
        self.fio.send_signal(signal.SIGCONT)
        time.sleep(WARM_UP)
        data = "/run/tmp/perf.data"
        subprocess.run(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-c", "19997", "-o", data, "--", "sleep", str(WINDOW)],
                       check=True, stderr=subprocess.DEVNULL)
        self.rest()
        report = subprocess.run(["perf", "report", "-i", data, "--stdio", "-q", "--sort", "symbol", "-F", "sample,symbol", "-t", ";"],
                                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        modules = {s[2]: s[3].strip("[]") for s in map(str.split, read("/proc/kallsyms").split("\n")) if len(s) == 4}
        parts = collections.Counter()
        for line in filter(lambda li: ";" in li, report.split("\n")):
            samples, symbol = line.split(";")[:2]
            where, name = symbol.split()[:2]
            parts[part(name, modules.get(name, "")) if where == "[k]" else "application"] += int(samples)
        return parts

    def end(self):
        self.fio.kill()
        self.fio.wait()


def cell(disks, name, *kind):
    """Whose turn it is, and the figures. There and back: nobody is always first."""
    loads = {}
    try:
        for contender, disk in disks.items():
            loads[contender] = Load(disk, *kind)
            loads[contender].begin()
        for turn in range(TURNS):
            for contender in list(loads)[:: -1 if turn % 2 else 1]:
                yield contender, loads[contender].turn()
        for contender in loads if PROFILE else ():
            with open(f"{PROFILE}/profile.jsonl", "a") as f:
                json.dump({"contender": contender, "cell": name, **loads[contender].profile()}, f)
                f.write("\n")
    finally:
        for load in loads.values():
            load.end()


def main():
    results, rnd, *contenders = sys.argv[1:]
    disks = dict(c.split("=") for c in contenders)
    iops = {c: [] for c in disks}
    for name, *kind in wanted():
        mine = {c: [] for c in disks}
        with open(results, "a") as f:
            for contender, figures in cell(disks, name, *kind):
                mine[contender].append(figures["iops"])
                json.dump({"round": int(rnd), "contender": contender, "cell": name, **figures}, f)
                f.write("\n")
        for contender, values in mine.items():
            iops[contender].append(f"{statistics.mean(values):7.0f}")
    for contender, line in iops.items():
        print(f"  round {rnd}: {contender:10}", *line, flush=True)


main()
