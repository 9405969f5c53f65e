#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the table and bench.json: report.py DIR JSON KEY=VALUE..., of DIR/raw.jsonl and DIR/pairs/client/packets.tsv.

bench.json:
  setup    what was measured on: accel (kvm or tcg), cpus, kernel, rounds, turns of each contender, seconds of each turn
  figures  list, one entry for each contender, cell and quantity:
           contender  ours, in-tree, nvme; with -N where the server ran with always_invalidate=N; before: ours at another commit;
                      uncounted: ours without statistics
           cell       "4k randread qd1" and so on
           quantity   iops; packets (sent on the link, acknowledgements included, per I/O); cpu_us (CPU time of the whole machine,
                      which is both ends and the application, per I/O); workqueue_us (the part of it spent in kernel work queues,
                      where the servers complete what they receive, softirqs that ran on top of them included, per I/O)
           median, rounds: in each of them the contenders take turns, and all turns of one together count
           to_in_tree, to_nvme, to_before, to_uncounted  ratio of these, median over the rounds; in-tree in the same mode; absent
                      where there is none
           to_in_tree_error, ..  its standard error, as that of the mean over the rounds, from how the turns differ
           Contenders that are not measured in one group have no ratio: nvme has none to those with -N.
  exact    list as figures, quantity iops: one CPU that runs an instruction in a nanosecond, whatever else the machine does; two
           turns in each round, of 0.6 s
  interrupt  the same of one round, with a disk that ends requests in a hard interrupt
  files    the same of a file of XFS as a disk: file (by the access list), loop (a loop device on it, exported), nvme-file (nvmet);
           to_loop, to_nvme_file  ratio of file to these
  profile  list, with BENCH_PROFILE: contender, cell, shares of the instructions (checksum, soft-roce, drivers, rest, application);
           iops, those of exact without the instructions of the checksum
  pairs    list: client, server, always_invalidate, io, packets per I/O over a link of two machines; to_in_tree: in-tree at both ends
           in the same mode; to_nvme: the figure of that size at the least depth

Fails where by instructions ours is slower than in-tree, a file slower than a loop device on it, or statistics cost too much. By the
clock it only tells where, and how sure that is: on a host that others use, too, turns scatter by a tenth to a quarter.
"""
import collections
import json
import os
import statistics
import sys

NAMES = {
    "ours": "this project, secure",
    "before": "this project at BENCH_BEFORE, secure",
    "uncounted": "this project without statistics, secure",
    "in-tree": "in-tree RNBD, secure",
    "nvme": "NVMe/RDMA",
    "ours-N": "this project, insecure",
    "in-tree-N": "in-tree RNBD, insecure",
    "file": "a file by the access list",
    "loop": "the file as a loop device, exported",
    "nvme-file": "the file by nvmet",
}
QUANTITIES = {
    "iops": "I/Os per second",
    "packets": "Packets per I/O",
    "cpu_us": "CPU time per I/O, microseconds: both ends and the application",
    "exact": "I/Os per second of one CPU of a thousand million instructions per second",
    "interrupt": "The same, where the disk ends requests in a hard interrupt",
    "files": "The same of a file of XFS; in brackets to a loop device on it, and to NVMe/RDMA",
    "workqueue_us": "Of it in kernel work queues: completions of the server, and softirqs that ran on top of them",
}
STATISTICS_PERCENT = 1  # of the I/Os per second that statistics may cost
MEASURED = ("iops", "packets", "cpu_us", "workqueue_us")
DIGITS = {"iops": 0, "exact": 0, "interrupt": 0, "files": 0, "packets": 1, "cpu_us": 0, "workqueue_us": 0}


def rival(contender, kind):
    if kind in ("before", "uncounted"):
        return kind
    if kind == "nvme":
        return None if contender.endswith("-N") else kind  # they have no turns together
    return "in-tree-N" if contender.endswith("-N") else "in-tree"


class Turns:
    """What a contender had in its turns of one round, of one quantity. They last equally long; what is per I/O weighs as much as a
    turn had of them."""

    def __init__(self):
        self.values = []
        self.weights = []

    def add(self, line, quantity):
        self.values.append(line[quantity])
        self.weights.append(1 if quantity == "iops" else line["ios"])

    def together(self):
        return sum(v * w for v, w in zip(self.values, self.weights)) / sum(self.weights)


def ratio(rounds, other):
    """Median over the rounds, and the standard error of their mean: how far its turns are from that ratio to those of the other"""
    pairs = [(rounds[r], other[r]) for r in rounds.keys() & other.keys()]
    if not pairs or not all(b.together() for _, b in pairs):
        return None, None
    ratios, variances = [], []
    for a, b in pairs:
        ratios.append(a.together() / b.together())
        off = [x - ratios[-1] * y for x, y in zip(a.values, b.values)]
        variances.append(statistics.pvariance(off) / len(off) / b.together() ** 2)
    return statistics.median(ratios), sum(variances) ** 0.5 / len(pairs)


def figures(raw):
    values = collections.defaultdict(lambda: collections.defaultdict(Turns))
    for line in raw:
        for quantity in MEASURED:
            values[line["contender"], line["cell"], quantity][line["round"]].add(line, quantity)
    for (contender, cell, quantity), rounds in values.items():
        entry = {"contender": contender, "cell": cell, "quantity": quantity,
                 "rounds": [round(rounds[r].together(), 2) for r in sorted(rounds)]}
        entry["median"] = round(statistics.median(entry["rounds"]), 2)
        for kind in ("in_tree", "nvme", "before", "uncounted"):
            other = rival(contender, kind)
            itself = kind in ("before", "uncounted")
            against, error = ratio(rounds, values.get((other, cell, quantity), {}))
            if other != contender and against is not None and (not itself or contender == "ours"):
                entry["to_" + kind] = round(against, 4 if itself else 3)
                entry["to_" + kind + "_error"] = round(error, 4)
        yield entry


def compare_files(entries):
    by = {(e["contender"], e["cell"]): e["median"] for e in entries}
    for e in entries:
        if e["contender"] == "file":
            e["to_loop"] = round(e["median"] / by["loop", e["cell"]], 3)
            e["to_nvme_file"] = round(e["median"] / by["nvme-file", e["cell"]], 3)


def text(entry):
    out = f"{entry['median']:.{DIGITS[entry['quantity']]}f}"
    if entry["contender"].startswith("ours"):
        sure = f" ±{entry['to_in_tree_error']:.2f}" if entry["quantity"] == "iops" and "to_in_tree" in entry else ""
        out += " (" + ", ".join((f"{entry[k]:.2f}" if k in entry else "-") + s for k, s in (("to_in_tree", sure), ("to_nvme", ""))) + ")"
    if entry["contender"] == "file":
        out += f" ({entry['to_loop']:.2f}, {entry['to_nvme_file']:.2f})"
    return out


def table(entries, quantity):
    cells = list(dict.fromkeys(e["cell"] for e in entries))
    by = {(e["contender"], e["cell"]): e for e in entries if e["quantity"] == quantity}
    print(f"\n| {QUANTITIES[quantity]} | " + " | ".join(cells) + " |")
    print("|---|" + "--:|" * len(cells))
    for contender in NAMES:
        if (contender, cells[0]) in by:
            print(f"| {NAMES[contender]} | " + " | ".join(text(by[contender, c]) for c in cells) + " |")


def pair_text(pair):
    out = f"{pair['packets']:.1f}"
    if "ours" in (pair["client"], pair["server"]):
        out += " (" + ", ".join(f"{pair[k]:.2f}" if k in pair else "-" for k in ("to_in_tree", "to_nvme")) + ")"
    return out


def pair_table(pairs):
    kinds = list(dict.fromkeys(p["io"] for p in pairs))
    rows = dict.fromkeys((p["client"], p["server"], p["always_invalidate"]) for p in pairs)
    print("\n| Packets per I/O: client, server, always_invalidate | " + " | ".join(kinds) + " |")
    print("|---|" + "--:|" * len(kinds))
    for row in rows:
        cost = {p["io"]: p for p in pairs if (p["client"], p["server"], p["always_invalidate"]) == row}
        print(f"| {', '.join(row)} | " + " | ".join(pair_text(cost[k]) for k in kinds) + " |")


def read_raw(path):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(line) for line in f]


def read_pairs(path, entries):
    """What is printed first of a size and a direction is the cell of the least depth."""
    if not os.path.exists(path):
        return
    with open(path) as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    in_tree = {(mode, io): float(packets) for client, server, mode, io, packets in rows if client == server == "in-tree"}
    nvme = {}
    for e in entries:
        if e["contender"] == "nvme" and e["quantity"] == "packets":
            nvme.setdefault(" ".join(e["cell"].replace("rand", "").split()[:2]), e["median"])
    for client, server, mode, io, packets in rows:
        pair = {"client": client, "server": server, "always_invalidate": mode, "io": io, "packets": float(packets)}
        for key, other in (("to_in_tree", in_tree.get((mode, io))), ("to_nvme", nvme.get(io))):
            if other:
                pair[key] = round(pair["packets"] / other, 2)
        yield pair


def counted(where, quantity):
    return [{**e, "quantity": quantity} for e in figures(read_raw(os.path.join(where, quantity, "raw.jsonl")))
            if e["quantity"] == "iops"]


PARTS = {"checksum": "checksum of the link", "soft-roce": "rest of Soft-RoCE", "drivers": "modules of the contender",
         "rest": "rest of the kernel", "application": "application"}


def profiles(where, exact):
    """Shares of the instructions, and the ratios of ours without the link's checksum, which adapters compute"""
    iops = {(e["contender"], e["cell"]): e["median"] for e in exact}
    for line in read_raw(os.path.join(where, "exact", "profile.jsonl")):
        samples = sum(line.get(p, 0) for p in PARTS)
        entry = {"contender": line["contender"], "cell": line["cell"], **{p: round(line.get(p, 0) / samples, 4) for p in PARTS}}
        entry["iops"] = round(iops[line["contender"], line["cell"]] / (1 - entry["checksum"]))
        yield entry


def profile_table(entries):
    by = {(e["contender"], e["cell"]): e for e in entries}
    print("\n| Percent of the instructions | " + " | ".join(PARTS.values()) + " | I/Os without the checksum |")
    print("|---|" + "--:|" * (len(PARTS) + 1))
    for e in entries:
        ratios = [f"{e['iops'] / by[o, e['cell']]['iops']:.2f}" for o in ("in-tree", "nvme") if (o, e["cell"]) in by]
        print(f"| {NAMES[e['contender']]}, {e['cell']} | " + " | ".join(f"{100 * e[p]:.1f}" for p in PARTS) + f" | {e['iops']}" +
              (f" ({', '.join(ratios)})" if e["contender"] == "ours" else "") + " |")


def main():
    where, target, *setup = sys.argv[1:]
    entries = list(figures(read_raw(os.path.join(where, "raw.jsonl"))))
    exact, interrupt, files = counted(where, "exact"), counted(where, "interrupt"), counted(where, "files")
    compare_files(files)
    pairs = list(read_pairs(os.path.join(where, "pairs", "client", "packets.tsv"), entries))
    setup = dict(s.split("=", 1) for s in setup)
    print(" ".join(f"{k}={v}" for k, v in setup.items()))
    print("In brackets: ratio to in-tree in the same mode, by the clock with its standard error, and ratio to NVMe/RDMA.")
    for quantity in MEASURED if entries else ():
        table(entries, quantity)
    for quantity, found in (("exact", exact), ("interrupt", interrupt), ("files", files)):
        if found:
            table(found, quantity)
    profile = list(profiles(where, exact))
    if profile:
        profile_table(profile)
    if pairs:
        pair_table(pairs)
    slower = {}
    for quantity, found in (("iops", entries), ("exact", exact), ("interrupt", interrupt)):
        slower[quantity] = [f"{e['cell']} {e['to_in_tree']} ±{e['to_in_tree_error']}" for e in found
                            if e["contender"] == "ours" and e["quantity"] == quantity and e.get("to_in_tree", 1) < 1]
        if found:
            print(f"\n{QUANTITIES[quantity]}, secure mode, below in-tree: " + (", ".join(slower[quantity]) or "nowhere"))
        change = [f"{e['cell']} {100 * e['to_before'] - 100:+.2f} %" for e in found
                  if e["contender"] == "ours" and e["quantity"] == quantity and "to_before" in e]
        if change:
            print(f"{QUANTITIES[quantity]}, secure mode, changed since before: " + ", ".join(change))
    cost = {e["cell"]: 100 - 100 * e["to_uncounted"] for e in exact if "to_uncounted" in e}
    if cost:
        print("Statistics cost, in percent of the I/Os per second of one CPU: " + ", ".join(f"{c} {p:.2f}" for c, p in cost.items()))
    with open(target, "w") as f:
        json.dump({"setup": setup, "figures": entries, "exact": exact, "interrupt": interrupt, "files": files, "profile": profile, "pairs": pairs}, f, indent=1)
        f.write("\n")
    below = [f"{e['cell']} {e['to_loop']}" for e in files if e.get("to_loop", 1) < 1]
    if below:
        sys.exit("By instructions a file is slower than a loop device on it: " + ", ".join(below))
    if slower["exact"]:
        sys.exit("By instructions it is slower than in-tree: " + ", ".join(slower["exact"]))
    if exact and not cost and not os.environ.get("BENCH_CELLS"):
        sys.exit("What statistics cost was not measured")
    if any(p > STATISTICS_PERCENT for p in cost.values()):
        sys.exit(f"Statistics cost more than {STATISTICS_PERCENT} %")


main()
