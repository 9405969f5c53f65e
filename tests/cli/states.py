# SPDX-License-Identifier: GPL-2.0
"""Every command of the table: in every state of the system, in every form, and what every change has."""
import concurrent.futures
import csv
import fcntl
import io
import os
import re
import shutil
import tempfile

from commands import (ANSWERED, ARGUMENTS, BY_OPTION, CHANGES, SILENT, expect, metadata, problem, problems, run, try_it)
from documents import check_document, load


def one_state(binary, rec, name, words, state, codes):
    p = try_it(binary, rec, name, words + ["-j"], state)
    text = try_it(binary, rec, name, words, state)
    what = "%s %s (%s)" % (name, " ".join(words), state)
    out, doc = [], None
    # a stream has one document in each line, and a failure is the last
    for line in p.stdout.splitlines() if name == "monitor" and p.stdout else [p.stdout]:
        if doc and "error" in doc:
            out.append(what + ": goes on after an error")
        doc, bad = check_document(line)
        out += ["%s: %s" % (what, b) for b in bad]
    if p.returncode not in codes:
        out.append("%s: exit %d, not %s: %s" % (what, p.returncode, codes, p.stderr.decode()))
    if doc and ("error" in doc) != bool(p.returncode):
        out.append("%s: exit %d and error %s" % (what, p.returncode, doc.get("error")))
    if doc and p.returncode and doc["error"]["exit_status"] != p.returncode:
        out.append("%s: exit_status is not the exit status" % what)
    if text.returncode != p.returncode:
        out.append("%s: text exits %d, JSON %d" % (what, text.returncode, p.returncode))
    if p.returncode and (text.stdout and p.returncode != 11 or not text.stderr.startswith(b"rnbdadm: ")):
        out.append("%s: text of a failure: %r %r" % (what, text.stdout, text.stderr))
    if not p.returncode and (not text.stdout and name not in SILENT or text.stdout and name in CHANGES or text.stderr):
        out.append("%s: text of a success: %r %r" % (what, text.stdout, text.stderr))
    return out


def one_csv(binary, rec, name, words, state, codes):
    p = try_it(binary, rec, name, words + ["-o", "csv"], state)
    what = "%s %s (%s, csv)" % (name, " ".join(words), state)
    out = []
    rows = list(csv.reader(io.StringIO(p.stdout.decode())))
    if p.returncode not in codes:
        out.append("%s: exit %d, not %s: %s" % (what, p.returncode, codes, p.stderr.decode()))
    if not rows and not p.returncode:
        out.append(what + ": not even a head")
    # the lists do not have the new session, and no path is closed
    if state in ANSWERED.values() and len(rows) < 2 and name not in ("session add", "server port undrain"):
        out.append(what + ": no row of what was changed")
    # a failure may come with the rows of what it is about, and says so on stderr alone
    if any(len(r) != len(rows[0]) for r in rows) or (rows and not all(h.replace("_", "").isalnum() for h in rows[0])):
        out.append("%s: rows: %r" % (what, p.stdout))
    if (p.returncode != 0) != p.stderr.startswith(b"rnbdadm: "):
        out.append("%s: exit %d: %r" % (what, p.returncode, p.stderr))
    return out


def states(binary, rec, one=one_state, wanted=lambda c: True):
    jobs = []
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as conf, concurrent.futures.ThreadPoolExecutor(3) as pool:
        # with a step that depends on another one
        conf.write("[session cl1@srv9]\npath = 10.0.0.9\n[device d]\nsession = cl1@srv9\ndevice-path = vol9\n")
        conf.flush()
        for c in filter(wanted, metadata(binary)["commands"]):
            name = c["name"]
            good, bad = ARGUMENTS.get(name, ([], None))
            for state in ("empty", ANSWERED.get(name, "two-sessions"), "absent", "denied", "may-look"):
                # where nothing is configured there is nothing to do and to refuse
                words = [conf.name] if state in ("may-look", "changes") and name == "config apply" else good
                jobs.append(pool.submit(one, binary, rec, name, words, state, expect(name, state, True, c["changes"])))
            if bad:
                jobs.append(pool.submit(one, binary, rec, name, bad, "two-sessions",
                                        expect(name, "two-sessions", False)))
            if name in BY_OPTION:
                jobs.append(pool.submit(one, binary, rec, name, BY_OPTION[name], "two-sessions", {4}))
    for j in jobs:
        problems.extend(j.result())
    print(len(jobs), "command lines")


def lines(binary, rec=None):
    for c in metadata(binary)["commands"]:
        name = c["name"]
        recording = ["--nl-replay", os.path.join(rec, ANSWERED.get(name, "two-sessions") + ".nl")] if rec else []
        print(" ".join(recording + [name] + ARGUMENTS.get(name, ([], None))[0]))


# What has no use of --force: by these nothing that is in use goes away
NEVER_IN_USE = {
    "map": "makes a disk",
    "session add": "makes a session",
    "path add": "the others stay",
    "session set": "holds for what comes",
    "device set": "it stays in use",
    "recover": "what is up is left alone",
    "stats reset": "I/O goes on",
    "server port undrain": "paths come back",
    "server export add": "the others stay",
    "server peer add": "the others stay",
}


def one_locked(binary, rec, name, words):
    """Another one holds the lock: nothing is asked, nothing is sent, nothing is written. --no-lock does not care."""
    with tempfile.TemporaryDirectory() as own:
        root = shutil.copytree(os.path.join(rec, "root"), os.path.join(own, "root"), symlinks=True)
        conf = os.path.join(own, "conf")
        with open(conf, "w") as f:
            f.write("[session cl1@srv9]\npath = 10.0.0.9\n")
        if name == "config apply":
            words = [conf]
        command = ["--nl-replay", os.path.join(rec, ANSWERED.get(name, "two-sessions") + ".nl"), "--test-root", root, "--trace",
                   *name.split(), *words]
        with open(os.path.join(root, "run/rnbdadm.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = sorted(os.walk(root))
            p = run(binary, *command, "--lock-timeout=10ms")
            err = p.stderr.decode()
            if p.returncode != 10 or "another rnbdadm holds" not in err:
                problem(name, "does not wait for the lock: exit", p.returncode, err)
            if "nl ->" in err or p.stdout or sorted(os.walk(root)) != before:
                problem(name, "did something without the lock:", err, p.stdout)
            p = run(binary, *command, "--no-lock")
            if p.returncode or "nl ->" not in p.stderr.decode():
                problem(name, "--no-lock: exit", p.returncode, p.stderr.decode())


def changes(binary, rec):
    meta = metadata(binary)
    everywhere = {o["long"] for o in meta["options"]}
    table = [c for c in meta["commands"] if c["changes"]]
    for c in table:
        name, words = c["name"], ARGUMENTS[c["name"]][0]
        for o in {"force", "dry-run", "idempotent", "wait", "no-wait"} - everywhere - {o["long"] for o in c["options"]}:
            problem(name, "has no --" + o)
        told = "--force" in run(binary, *name.split(), "-h").stdout.decode().partition("\nArguments:\n")[0].partition("\nOptions:\n")[0]
        if told == (name in NEVER_IN_USE):
            problem(name, "has a use of --force and none" if told else "does not say what it needs --force for")
        good = {0}
        # nobody may change anything here: nothing is sent, even with all of them
        p = try_it(binary, rec, name, words + ["--dry-run", "--force", "--idempotent", "--wait"], "may-look")
        if p.returncode not in good:
            problem(name, "--dry-run: exit", p.returncode, p.stderr.decode())
        # there is no event that shows it
        for wait, codes in (("--wait=1ms", good | {10}), ("--no-wait", good)):
            p = try_it(binary, rec, name, words + [wait], ANSWERED.get(name, "two-sessions"))
            if p.returncode not in codes:
                problem(name, wait + ": exit", p.returncode, p.stderr.decode())
        if good == {0}:
            one_locked(binary, rec, name, words)
    for name in set(NEVER_IN_USE) - {c["name"] for c in table}:
        problem(name, "is no change")
    print(len(table), "changes")


def leaves(obj, names):
    for k, v in obj.items():
        if isinstance(v, dict):
            leaves(v, names)
        else:
            names.append(k)
    return names


# What CSV tells of an interval, of CPUs and distributions alone, or not as JSON does
CSV_ALONE = ("per_cpu", "latency", "read_ios_per_second", "read_bytes_per_second", "write_ios_per_second",
             "write_bytes_per_second", "peer")
# What neither a cell nor a line could hold
JSON_ALONE = ("buckets", "path_details")
# The lists do not have what was made, or there is nothing to close
NO_ROWS = ("session add", "server port undrain")


# What is told with an option
WITH = {
    "stats": ("read_ios", "read_bytes", "write_ios", "write_bytes", "inflight", "failovers", "reconnects_ok", "reconnects_failed"),
    "details": ("id", "max_io_bytes", "max_segments", "requests", "read_ahead_bytes", "scheduler"),
}


def words_of(binary, name, schema, key):
    """The words that --filter takes are those that the schema tells; a state may be unknown besides."""
    out = []
    items = schema["properties"][key]["items"]
    keys = schema["$defs"][items.get("anyOf", [items])[0]["$ref"].rpartition("/")[2]]["properties"]
    for line in run(binary, *name.split(), "-F", "help").stdout.decode().splitlines():
        field, kind, text = line.split(None, 2)
        if kind == "word":
            have = set(re.split(r", | or ", text.removesuffix(" (option)").rpartition(": ")[2]))
            want = set(keys[field].get("enum", [])) | set(keys[field].get("examples", []))
            if have != want - {None, "unknown"}:
                out.append("%s: words of %s: help has %s, the schema %s" % (name, field, have, want))
    return out


def one_table(binary, rec, c):
    name, out = c["name"], []
    options = {o["long"] for o in c["options"]}
    words, state = ARGUMENTS.get(name, ([], None))[0], ANSWERED.get(name, "two-sessions")
    words = words + ["--" + o for o in sorted(options & set(WITH))]
    everything = ["-F", "all"] if "fields" in options else []
    said = [try_it(binary, rec, name, words + how, state).stdout.decode()
            for how in (["-j"], ["-o", "csv"] + everything, ["-o", "csv"])]
    doc, bad = check_document(said[0])
    if bad:
        return ["%s: %s" % (name, b) for b in bad]
    rows, plain = (list(csv.reader(io.StringIO(text))) for text in said[1:])
    lists = [k for k, v in doc.items() if isinstance(v, list) and v and isinstance(v[0], dict)]
    if not lists:
        return [] if name in NO_ROWS else [name + ": no rows"]
    keys = leaves(doc[lists[0]][0], [])
    for head in (rows[0], plain[0]):
        # why one of several failed is said on stderr
        missing = [n for n in keys if (n in head) == (n in JSON_ALONE) and n != "error"]
        extra = [n for n in head if n not in keys + [k for o in WITH if o not in options for k in WITH[o]] and n not in CSV_ALONE]
        if missing or extra:
            out.append("%s: JSON and -F all differ: %s %s" % (name, missing, extra))
    if len(rows) != len(doc[lists[0]]) + 1 or any(len(r) != len(rows[0]) for r in rows):
        out.append(name + ": CSV rows")
    if everything:
        out += words_of(binary, name, load(c["schema"].removeprefix("rnbdadm.").partition("/")[0]), lists[0])
    for n in keys if everything else ():
        one, bad = check_document(try_it(binary, rec, name, words + ["-j", "-F", n], state).stdout, c["schema"], True)
        if bad or leaves(one[lists[0]][0], []) != [n]:
            out.append("%s: -F %s gives %s %s" % (name, n, one[lists[0]][0], bad))
    return out


def fields(binary, rec):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        tables = [c for c in metadata(binary)["commands"] if c["csv"]]
        for bad in pool.map(lambda c: one_table(binary, rec, c), tables):
            problems.extend(bad)
    print(len(tables), "tables")
