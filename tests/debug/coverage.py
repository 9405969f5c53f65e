#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Line coverage of each of our modules, from what guests have kept (directories named gcov below LOGS), merged.

usage: coverage.py LOGS MODULES LEAST [MISSING]
MODULES is where the modules were built: the .gcno files are there. Prints TAP, a test per module: it fails below LEAST
percent, or is skipped then where MISSING says what was not run; the last line counts them. Functions that were never entered
are listed. Only lines of .c files count; each must not have been compiled anew since.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))

# Directory of the sources, module
MODULES = (
    ("rtrs/core/", "rtrs-core"),
    ("compat/", "rtrs-core"),
    ("rtrs/client/", "rtrs-client"),
    ("rtrs/server/", "rtrs-server"),
    ("rnbd/client/", "rnbd-client"),
    ("rnbd/server/", "rnbd-server"),
    ("rds/core/", "rds"),
    ("rds/tcp/", "rds_tcp"),
)


def run(*args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def kept(logs):
    return sorted(os.path.join(where, "gcov") for where, names, _ in os.walk(logs) if "gcov" in names)


def files(top, end):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(top) for name in names if name.endswith(end))


def merge(dirs, tmp):
    """One tree of .gcda files out of all of them"""
    merged = dirs[0]
    for i, other in enumerate(dirs[1:]):
        out = os.path.join(tmp, "merged%d" % i)
        run("gcov-tool", "merge", "-o", out, merged, other)
        merged = out
    return merged


def counts(build, merged, tmp):
    """What gcov says of each source file: lines {number: count}, functions {name: count}"""
    tree = os.path.join(tmp, "tree")
    for gcno in files(build, ".gcno"):
        to = os.path.join(tree, os.path.relpath(gcno, build))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(gcno, to)
    # In the guest they are named by the place where the modules were built
    where = os.path.join(merged, os.path.relpath(build, ROOT))
    for gcda in files(where, ".gcda"):
        shutil.copy(gcda, os.path.join(tree, os.path.relpath(gcda, where)))
    lines, functions = collections.defaultdict(dict), collections.defaultdict(dict)
    for gcno in files(tree, ".gcno"):
        out = run("gcov", "--json-format", "--stdout", gcno)
        for text in out.decode().splitlines():
            for f in json.loads(text)["files"]:
                name = os.path.realpath(f["file"])
                for line in f["lines"]:
                    have = lines[name]
                    have[line["line_number"]] = max(have.get(line["line_number"], 0), line["count"])
                for fn in f["functions"]:
                    have = functions[name]
                    have[fn["name"]] = max(have.get(fn["name"], 0), fn["execution_count"])
    return lines, functions


def module_of(name, top):
    if not name.startswith(top) or not name.endswith(".c") or name.endswith(".mod.c"):
        return None
    return next((module for where, module in MODULES if name[len(top):].startswith(where)), None)


def main():
    logs, build, least = sys.argv[1], os.path.abspath(sys.argv[2]), float(sys.argv[3])
    missing = "".join(sys.argv[4:])
    top = os.path.join(ROOT, "kernel", "")
    dirs = kept(logs)
    if not dirs and missing:
        print("1..0 # skip %s\ncoverage: 0 passed, 0 failed, 1 skipped" % missing)
        return
    if not dirs:
        sys.exit("Bail out! no guest kept its coverage below " + logs)
    with tempfile.TemporaryDirectory() as tmp:
        lines, functions = counts(build, merge(dirs, tmp), tmp)
    total = collections.Counter()
    hit = collections.Counter()
    missed = collections.defaultdict(list)
    for name in sorted(lines):
        module = module_of(name, top)
        if not module:
            continue
        total[module] += len(lines[name])
        hit[module] += sum(1 for n in lines[name].values() if n)
        idle = sorted(fn for fn, n in functions[name].items() if not n)
        if idle:
            missed[module].append("%s: %s" % (name[len(top):], " ".join(idle)))
    names = list(dict.fromkeys(module for _, module in MODULES))
    print("1..%d" % len(names))
    bad = skipped = 0
    for i, module in enumerate(names, 1):
        share = 100.0 * hit[module] / total[module] if total[module] else 0.0
        ok = share >= least
        skip = "" if ok or not missing else " # skip below %g %%, and %s" % (least, missing)
        bad += not ok and not skip
        skipped += bool(skip)
        print("%sok %d coverage of %s: %.1f %% of %d lines%s" %
              ("" if ok or skip else "not ", i, module, share, total[module], skip))
        for text in missed[module]:
            print("#   never entered: " + text)
    print("coverage: %d passed, %d failed, %d skipped" % (len(names) - bad - skipped, bad, skipped))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
