#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the table of RDS and bench-rds.json: rds-report.py DIR JSON KEY=VALUE.., of DIR/exact/raw and DIR/clock/raw.

bench-rds.json:
  setup   what was measured on
  rows    list: what, unit, stock, ours, ratio (null where there is none), target (text), met (null: there is no target)

By instructions one CPU runs one in a nanosecond, time without work included: what the host does besides changes nothing. By the clock
each figure is the median over the rounds. On a host that others use, too, ratios of it scatter by a third: they are told, and judge
nothing but that no message waits for a timer.

Fails where a target is missed, and where ours has lost a message, doubled one or changed one.
"""
import collections
import json
import os
import statistics
import sys

MS = 1e6


class Figures:
    """Lines "CONTENDER WHAT KEY VALUE.." of a guest"""

    def __init__(self, path):
        self.all = collections.defaultdict(list)
        if not os.path.exists(path):
            return
        with open(path) as f:
            for line in f:
                contender, what, *rest = line.split()
                self.all[contender, what].append({k: float(v) for k, v in zip(rest[::2], rest[1::2])})

    def __bool__(self):
        return bool(self.all)

    def median(self, contender, what, figure):
        found = [figure(f) for f in self.all[contender, what]]
        return statistics.median(found) if found else None

    def damage(self):
        """Messages that did not arrive once and as they were sent: {contender: text}"""
        found = {}
        for (contender, what), lines in self.all.items():
            for line in lines:
                bad = [f"{line[k]:.0f} {k}" for k in ("lost", "again", "wrong") if line.get(k)]
                if bad:
                    found.setdefault(contender, []).append(f"{what}: {', '.join(bad)}")
        return found


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, unit, stock, ours, target="", met=None):
        if ours is None:
            return
        ratio = ours / stock if stock else None
        if met is not None:
            met = met(ratio, ours)
        self.rows.append({"what": what, "unit": unit, "stock": stock, "ours": ours, "ratio": ratio, "target": target, "met": met})

    def show(self):
        width = max(len(r["what"]) for r in self.rows)
        print(f"{'':{width}}  {'stock':>9}  {'ours':>9}  {'':6} {'ratio':>6}  target")
        for r in self.rows:
            stock = "-" if r["stock"] is None else number(r["stock"])
            ratio = "-" if r["ratio"] is None else f"{r['ratio']:.2f}"
            met = {None: "", True: "met", False: "MISSED"}[r["met"]]
            print(f"{r['what']:{width}}  {stock:>9}  {number(r['ours']):>9}  {r['unit']:6} {ratio:>6}  {r['target']:24} {met}".rstrip())

    def missed(self):
        return [r["what"] for r in self.rows if r["met"] is False]


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.2f}"


def per_message(f):
    return f["ns"] / f["messages"]


def per_second(f):
    return f["messages"] / f["ns"] * 1e9


def at_most(limit):
    return f"ratio <= {limit}", lambda ratio, ours: ratio is not None and ratio <= limit


def at_least(limit):
    return f"ratio >= {limit}", lambda ratio, ours: ratio is not None and ratio >= limit


def within(limit, unit):
    return f"<= {limit} {unit}", lambda ratio, ours: ours <= limit


def pair(figures, what, figure):
    return figures.median("stock", what, figure), figures.median("ours", what, figure)


def exact_rows(table, f):
    def add(name, unit, what, figure, target):
        table.add(name, unit, *pair(f, what, figure), *target)

    add("64 B over the loop, one way", "instr", "loop", per_message, at_most(0.5))
    add("... of it what the system calls alone take", "instr", "nothing", per_message, ("",))
    add("64 B over TCP, one way", "instr", "tcp", per_message, at_most(0.7))
    add("64 B over TCP, there and back, 1 task", "instr", "trip1", per_message, at_most(0.8))
    add("64 B over TCP, there and back, 4 tasks", "instr", "trip4", per_message, at_most(0.8))
    add("8 KiB over TCP, depth 8, 4 tasks", "1/s", "stress", per_second, at_least(1.2))
    for cut in "cut1", "cut6":
        add(f"silence beyond a cut of {cut[3:]} s", "ms", cut, lambda x: (x["longest"] - x["cut"]) / MS, within(300, "ms"))
    add("memory of an idle connection, each end", "B", "memory", lambda x: x["bytes"] / x["connections"], within(4096, "B"))
    # One that did not end in time says how many were still down.
    table.add("1,000 peers connect again", "s", *pair(f, "reconnect", lambda x: x["up"] / 1e9), *within(5, "s"))
    table.add("of these still down then", "", *pair(f, "reconnect", lambda x: x["down"]), *within(0, ""))


def clock_rows(table, f):
    def add(name, unit, what, figure, target):
        table.add(f"{name} (clock)", unit, *pair(f, what, figure), *target)

    add("64 B over the loop, one way", "us", "loop", lambda x: per_message(x) / 1e3, ("",))
    add("64 B over TCP, one way", "us", "tcp", lambda x: per_message(x) / 1e3, ("",))
    add("64 B over TCP, there and back, 1 task", "us", "trip1", lambda x: per_message(x) / 1e3, ("ratio <= 0.8",))
    add("64 B over TCP, there and back, 4 tasks", "us", "trip4", lambda x: per_message(x) / 1e3, ("ratio <= 0.8",))
    add("answers after 4 ms or more, of these", "%", "trip4", lambda x: 100 * x["slow"] / x["messages"], ("",))
    add("tries that a timer delayed, all 4 tasks", "", "delayed", lambda x: x["tries"], within(0, ""))
    add("8 KiB over TCP, depth 8, 4 tasks", "1/s", "stress", per_second, ("ratio >= 1.2",))
    add("longest wait for an answer, of these", "ms", "stress", lambda x: x["longest"] / MS, ("",))


def main():
    where, target, *setup = sys.argv[1:]
    exact, clock = (Figures(f"{where}/{part}/raw") for part in ("exact", "clock"))
    table = Table()
    exact_rows(table, exact)
    clock_rows(table, clock)
    table.show()
    with open(target, "w") as f:
        json.dump({"setup": dict(s.split("=", 1) for s in setup), "rows": table.rows}, f, indent=1)
        f.write("\n")
    failed = [f"target missed: {what}" for what in table.missed()]
    for part in exact, clock:
        for contender, bad in part.damage().items():
            print(f"{contender} did not deliver once and whole: {'; '.join(bad)}")
            failed += [f"ours: {b}" for b in bad if contender == "ours"]
    if failed:
        sys.exit("\n".join(failed))


main()
