#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""prom.py < FILE: what `promtool check metrics` would refuse. HELP and TYPE once, before the first series of the metric and with
all of them together; names and labels as Prometheus has them; no series twice; buckets that rise up to +Inf, which is the count;
names end as their type wants. Prints the number of series."""
import re
import sys

LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
SERIES = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.e+-]+|NaN|[+-]Inf)$')
problems = []
types, helps, seen, closed, buckets, counts = {}, {}, set(), set(), {}, {}


def labels(text):
    out, at = [], 0
    while at < len(text or ""):
        m = LABEL.match(text, at)
        if not m:
            raise ValueError("labels %r" % text)
        out.append((m[1], m[2]))
        at = m.end()
    if len({n for n, _ in out}) != len(out):
        raise ValueError("a label twice: %r" % text)
    return out


def base(name):
    for end in ("_bucket", "_count", "_sum"):
        if types.get(name.removesuffix(end)) == "histogram":
            return name.removesuffix(end)
    return name


def comment(line):
    global current
    _, kind, name, rest = line.split(" ", 3)
    table = helps if kind == "HELP" else types
    if name in table:
        raise ValueError("%s of %s twice" % (kind, name))
    table[name] = rest
    if kind == "TYPE":
        if rest not in ("counter", "gauge", "histogram"):
            raise ValueError("type %s" % rest)
        if (rest == "counter") != name.endswith("_total"):
            raise ValueError("%s is a %s" % (name, rest))
        current = name


def series(line):
    m = SERIES.match(line)
    if not m:
        raise ValueError("no series: %r" % line)
    name, value = base(m[1]), float(m[3])
    if name not in types or name not in helps or name != current:
        raise ValueError("%s is not below its HELP and TYPE" % name)
    pairs = labels(m[2])
    if (m[1], tuple(sorted(pairs))) in seen:
        raise ValueError("twice: %r" % line)
    seen.add((m[1], tuple(sorted(pairs))))
    key = (name, tuple(p for p in pairs if p[0] != "le"))
    if types[name] == "counter" and value < 0:
        raise ValueError("below zero: %r" % line)
    if m[1].endswith("_bucket"):
        buckets.setdefault(key, []).append((float(dict(pairs)["le"]), value))
    elif types[name] == "histogram":
        counts[key] = value


current = None
text = sys.stdin.buffer.read().decode()
if text and not text.endswith("\n"):
    problems.append("the last line has no end")
for number, line in enumerate(text.splitlines(), 1):
    try:
        (comment if line.startswith("#") else series)(line)
    except ValueError as e:
        problems.append("line %d: %s" % (number, e))
for key, b in buckets.items():
    if b != sorted(b) or [v for _, v in b] != sorted(v for _, v in b) or b[-1][0] != float("inf") or counts.get(key) != b[-1][1]:
        problems.append("histogram %s: %s, count %s" % (key, b, counts.get(key)))
for name in types:
    if not any(base(n) == name for n, _ in seen):
        problems.append("%s has no series" % name)
for p in problems:
    print(p)
print(len(seen), "series")
sys.exit(1 if problems else 0)
