#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What every command owes, checked over the command table that the tool itself prints.

    contract.py documents FILE [plain]         what the tests collected: each valid against its closed schema; without
                                               "plain" the schemas refuse what is made of them
    contract.py states BINARY RECORDINGS       every command in every state of the system
    contract.py csv BINARY RECORDINGS          the same with CSV, of commands that have it
    contract.py lines BINARY [RECORDINGS]      their command lines, with which each succeeds where it can, on a recording
    contract.py changes BINARY RECORDINGS      what every change has: --force, --dry-run, --idempotent, --wait
    contract.py help BINARY RECORDINGS         help texts against the table
    contract.py fields BINARY RECORDINGS       JSON keys against the fields of -F all
    contract.py freeze BINARY RECORDINGS DIR   a document of each topic, as a release prints them
    contract.py frozen DIR..                   such documents are what the schemas of the same major take today
    contract.py codes                          the numbers that the sources of the tool return and exit with
    contract.py schemas                        the schemas themselves, and that they refuse
"""
import concurrent.futures
import csv
import datetime
import fcntl
import functools
import glob
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import jsonschema

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCHEMAS = os.path.join(TOP, "rnbdadm", "schema")
problems = []


def problem(*words):
    problems.append(" ".join(str(w) for w in words))


# Objects whose keys are names of something, by topic: the schema says what their values are
NAMES = (("event", "changes"), ("config", "sources"))
# In "data" keys that the schema does not list are parameters of modules
PARAMETERS = ("check", "data")
# Of what the schema does not say a word, and why
ANYTHING = {("batch", "output"): "has the schema of its command"}


def kinds(schema):
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []


def is_object(schema):
    return "object" in kinds(schema)


def closed(schema, topic, name=""):
    """The schema with no key beyond those it lists."""
    if isinstance(schema, dict):
        out = {k: closed(v, topic, k) for k, v in schema.items()}
        if is_object(out) and "properties" in out:
            out.setdefault("additionalProperties", {"type": ["string", "null"]} if (topic, name) == PARAMETERS else False)
            # the bytes of a text that is listed
            hexed = out.get("patternProperties", {}).pop("_hex$", None)
            texts = [k for k, v in out["properties"].items() if "string" in kinds(v)]
            if hexed and texts:
                out["patternProperties"]["^(%s)_hex$" % "|".join(texts)] = hexed
        return out
    return [closed(s, topic) for s in schema] if isinstance(schema, list) else schema


def load(topic):
    with open(os.path.join(SCHEMAS, topic + ".json")) as f:
        return json.load(f)


def pick(schema):
    """No key need be there."""
    for v in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        pick(v)
    if isinstance(schema, dict):
        schema.pop("required", None)


validators = {}
formats = jsonschema.FormatChecker(())


@formats.checks("date-time", ValueError)
def is_time(v):
    return not isinstance(v, str) or datetime.datetime.strptime(v, "%Y-%m-%dT%H:%M:%S.%fZ" if "." in v else "%Y-%m-%dT%H:%M:%SZ")


# What a line of a batch has of its own, or with the others
ENVELOPE = ("schema", "tool", "time", "backend", "changed", "warnings", "error")


def validator(topic, fields=False, part=False):
    """Of the closed schema; where -F picked @fields of the objects, they need not have all. A @part is of a line of a batch."""
    if (topic, fields, part) not in validators:
        schema = closed(load(topic), topic)
        for key in ENVELOPE if part else ():
            schema["properties"].pop(key, None)
        if part:
            schema["required"] = []
        for name, body in schema["$defs"].items() if fields else ():
            if name != "error":
                pick(body)
        validators[topic, fields, part] = jsonschema.Draft202012Validator(schema, format_checker=formats)
    return validators[topic, fields, part]


def no_twice(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key comes twice")
    return out


def check_document(text, schema=None, fields=False):
    """Problems of one document, as a list of words."""
    try:
        doc = json.loads(text, object_pairs_hook=no_twice)
    except ValueError as e:
        return None, ["not one JSON document: %s: %.200r" % (e, text)]
    name = doc.get("schema", "")
    if schema and name != schema:
        return doc, ["the schema is %r, not %r" % (name, schema)]
    topic, _, major = name.removeprefix("rnbdadm.").partition("/")
    if major != "1" or not os.path.exists(os.path.join(SCHEMAS, topic + ".json")):
        return doc, ["no schema %r" % name]
    return doc, list(complaints(doc, validator(topic, fields))) + list(parts(doc, topic))


def complaints(doc, schema):
    for e in schema.iter_errors(doc):
        yield "%s: %s" % ("/".join(map(str, e.absolute_path)), e.message)


def parts(doc, topic):
    """What is wrong in a part that has another schema, or none."""
    for r in doc.get("results", ()) if topic == "batch" else ():
        if r["output"] is not None:
            named = topic_of(r["command"])
            for bad in complaints(r["output"], validator(named, "-F" in r["command"], True)) if named else ("no command",):
                yield "%s: %s" % (r["command"], bad)
    for r in doc.get("results", ()) if topic == "check" else ():
        more = set(r["data"]) - set(load("check")["$defs"]["result"]["properties"]["data"]["properties"])
        if more and not r["id"].startswith("modules."):
            yield "%s: data: %s" % (r["id"], more)


@functools.lru_cache(None)
def topics():
    """The topic of each command, by its names."""
    commands = metadata(os.path.join(TOP, "build", "rnbdadm"))["commands"]
    return {name: c["schema"].removeprefix("rnbdadm.").removesuffix("/1") for c in commands for name in [c["name"], *c["aliases"]]}


def topic_of(line):
    words = [w for w in shlex.split(line) if not w.startswith("-")]
    return next((topics()[name] for name in (" ".join(words[:n]) for n in (3, 2, 1)) if name in topics()), None)


def each(text):
    """One document, or one in each line."""
    try:
        json.loads(text)
        return [text]
    except ValueError:
        return text.splitlines()


def check_printed(text, fields=False):
    """Each document in what was printed, and its problems. A schema is one of another kind."""
    for one in each(text):
        if '"$schema"' not in one or "$schema" not in json.loads(one):
            yield check_document(one, None, fields)


def documents(file, plain=None):
    """Records of three: schema, "any" or "fields", test, what was printed."""
    with open(file, "rb") as f:
        parts = f.read().decode().split("\0")[:-1]
    count, mutations, done, seen = 0, 0, set(), set()
    for schema, test, text in zip(parts[::3], parts[1::3], parts[2::3]):
        fields = schema == "fields"
        # some wait for a state, and see another often
        same = schema, re.sub('"time":"[^"]*"', "", text)
        if same in seen:
            continue
        seen.add(same)
        for doc, bad in check_printed(text, fields) if fields or schema == "any" else [check_document(text, schema)]:
            count += 1
            for b in bad:
                problem(test + ":", b)
            keys = doc and (doc["schema"], "error" in doc, "data" in doc, str(doc.get("object")))
            if not bad and keys not in done and not fields and not plain:
                done.add(keys)
                mutations += refuses(doc)
    print(count, "documents" if plain else "documents, %d mutations" % mutations)


def run(binary, *args, **more):
    return subprocess.run([binary, *args], stdin=subprocess.DEVNULL, capture_output=True, **{"timeout": 60, **more})


def metadata(binary):
    return json.loads(run(binary, "metadata", "-j").stdout)


# One legal command line for each command that needs arguments: words that exist, and words that do not
ARGUMENTS = {
    "show": (["cl1@srv1"], ["nosuch"]),
    "session show": (["cl1@srv1"], ["nosuch"]),
    "path show": (["cl1@srv1", "10.0.0.2"], ["cl1@srv1", "10.9.9.9"]),
    "device show": (["rnbd0"], ["rnbd99"]),
    "map": (["vol9", "--session", "cl1@srv1"], ["vol9", "--session", "nosuch"]),
    "unmap": (["rnbd2"], ["rnbd99"]),
    "remap": (["rnbd2"], ["rnbd99"]),
    "resize": (["rnbd0", "+10G"], ["rnbd99", "+10G"]),
    "device wait": (["rnbd0"], ["rnbd99"]),
    "session set": (["cl1@srv1", "--mp-policy", "rr"], ["nosuch", "--mp-policy", "rr"]),
    "server export show": (["sdb"], ["nosuch"]),
    "server export close": (["sdb", "--all-clients", "--force"], ["nosuch", "--force"]),
    "server export revalidate": (["ram0"], ["nosuch"]),
    "server export add": (["sdb"], None),
    "server export remove": (["sdb"], None),
    "server path show": (["cl7@here", "10.0.1.1"], ["cl7@here", "10.9.9.9"]),
    "server path disconnect": (["cl7@here", "10.0.1.1"], ["nosuch", "10.9.9.9"]),
    "server port drain": (["mlx5_0:1", "--force"], ["mlx9_0:1"]),
    "server port undrain": (["mlx5_1:1"], ["mlx9_0:1"]),
    "server client show": (["cl7@here"], ["nosuch"]),
    "server client disconnect": (["cl7@here", "--force"], ["nosuch", "--force"]),
    "status": ([], ["nosuch"]),
    "stats": ([], ["nosuch"]),
    "stats latency": ([], ["nosuch"]),
    "stats reset": (["cl1@srv1"], ["nosuch"]),
    "session add": (["cl1@srv9", "--path", "10.0.0.9"], None),
    "session remove": (["cl1@srv2", "--force"], ["nosuch"]),
    "session add-path": (["cl1@srv1", "10.9.9.9"], ["nosuch", "10.9.9.9"]),
    "session remove-path": (["cl1@srv1", "10.0.1.2"], ["cl1@srv1", "10.9.9.9"]),
    "session reconnect": (["cl1@srv1", "10.0.1.2"], ["nosuch"]),
    "session disconnect": (["cl1@srv1", "10.0.1.2"], ["cl1@srv1", "10.9.9.9"]),
    "session recover": (["cl1@srv1"], ["nosuch"]),
    "recover": (["--all"], None),
    "recover session": (["cl1@srv1"], ["nosuch"]),
    "recover device": (["rnbd2"], ["rnbd99"]),
    "mp-policy show": (["cl1@srv1"], ["nosuch"]),
    "mp-policy set": (["cl1@srv1", "rr"], ["nosuch", "rr"]),
    "monitor": (["--once"], ["nosuch"]),
    "wait": (["cl1@srv1", "--for", "state=degraded"], ["nosuch", "--for", "present"]),
    "config diff": ([], ["/nonexistent"]),
    "config apply": ([], ["/nonexistent"]),
    "config show": ([], ["/nonexistent"]),
    "config validate": ([], ["/nonexistent"]),
    "config save": ([], ["--session", "nosuch"]),
    "save": ([], ["--session", "nosuch"]),
    "restore": ([], ["/nonexistent"]),
    "udev": (["rnbd0"], None),
    "batch": (["/dev/null"], ["/nonexistent"]),
    "check": ([], ["nosuch"]),
    "help": (["map"], ["nosuch"]),
    "schema": ([], ["nosuch"]),
    "completion": (["bash"], ["nosuch"]),
}
# Where an option names what is not there
BY_OPTION = {
    "path list": ["--session", "nosuch"],
    "device list": ["--session", "nosuch"],
    "device show": ["rnbd0", "--session", "nosuch"],
    "unmap": ["--session", "nosuch"],
    "remap": ["rnbd2", "--session", "nosuch"],
    "resize": ["rnbd0", "+10G", "--session", "nosuch"],
    "recover device": ["rnbd2", "--session", "nosuch"],
    "server export list": ["--client", "nosuch"],
    "server export close": ["sdb", "--client", "nosuch", "--force"],
    "server export revalidate": ["ram0", "--client", "nosuch"],
    "server path list": ["--client", "nosuch"],
}
# These say nothing when they succeed
CHANGES = ("unmap", "stats reset", "remap", "resize", "session set", "server export close", "server client disconnect",
           "server export revalidate", "server path disconnect", "server port drain", "server port undrain",
           "session add", "session remove", "session add-path", "session remove-path", "session reconnect",
           "session disconnect", "session recover", "recover", "recover session", "recover device", "mp-policy set")
SILENT = CHANGES + ("device wait", "wait", "batch", "config diff", "config apply", "config validate", "restore", "udev")
# Where each change is answered with success; a new size is to be seen in the next list
ANSWERED = {"resize": "resize", **{n: "changes" for n in ("map", "config apply", "restore") + CHANGES if n != "resize"}}
LOCAL = ("version", "help", "completion", "metadata", "schema", "config show", "config validate", "config edit-hints", "udev",
         "batch")


def expect(name, state, known, changes=False):
    """Exit codes that are right."""
    if name in LOCAL:
        return {0} if known else {2} if name in ("help", "completion") else {4}
    # what is wrong is what it tells
    if name == "check":
        return {11} if known else {2}
    if state == "absent":
        return {8}
    if name == "mp-policy list":
        return {0}
    if name in ("server export add", "server export remove"):
        return {9}
    if state == "denied" or (state == "may-look" and changes):
        return {5}
    if (name, state) in (("session add", "empty"), ("recover", "empty")):
        return {1} if name == "session add" else {0}
    if name == "monitor":
        return {0} if known else {2}
    if name in ("device wait", "wait") and (not known or state == "empty"):
        return {10}
    if not known or (state == "empty" and name in ARGUMENTS and ARGUMENTS[name][0]):
        return {4}
    return {0}


def try_it(binary, rec, name, words, state):
    """Runs it in a state; what a change leaves behind, if only for a while, no other finds."""
    with tempfile.TemporaryDirectory() as own:
        root = os.path.join(rec, "root")
        if name in ANSWERED:
            root = shutil.copytree(root, os.path.join(own, "root"), symlinks=True)
        return run(binary, "--nl-replay", os.path.join(rec, state + ".nl"), "--test-root", root, *name.split(), *words)


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
                words = [conf.name] if state in ("may-look", "changes") and name in ("config apply", "restore") else good
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


def legal(binary, rec, what, line):
    """What a document tells to type is a command line. It is tried without effect; whether its objects exist does not matter."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    command = []
    for word in [*words, "|"]:
        if not set(word) <= set("();<>|&"):
            command.append(word)
            continue
        if command[:1] == ["rnbdadm"]:
            try:
                p = run(binary, "--nl-replay", os.path.join(rec, "reads.nl"), "--test-root", os.path.join(rec, "root"), "-n",
                        *command[1:], timeout=1)
                if p.returncode == 2:
                    problem("%s: $ %s: %s" % (what, line, p.stderr.decode()))
            except subprocess.TimeoutExpired:
                pass    # it goes on and on
        command = []


def help_texts(binary, rec):
    meta = metadata(binary)
    objects = {c["name"].split()[0] for c in meta["commands"]}
    names = [c["name"] for c in meta["commands"]]
    visible = [o for o in meta["options"] if not o["hidden"]]
    env = {"LC_ALL": "C", "PATH": os.environ["PATH"], "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}

    # no /sys, no netlink, no configuration
    nothing = ["--nl-replay", "/nonexistent", "--test-root", "/nonexistent"]

    def look(words, options):
        runs = [run(binary, *nothing, *words, flag, env=env) for flag in ("-h", "--help")]
        runs.append(run(binary, *nothing, "help", *words, env=env))
        p = run(binary, *words, "-h", env=env)
        texts = {r.stdout for r in [*runs, p]}
        what = " ".join(words) or "(top)"
        for r in [*runs, p]:
            if r.returncode or r.stderr:
                problem(what, "help: exit", r.returncode, r.stderr)
        if len(texts) != 1:
            problem(what, "help: %d texts" % len(texts))
        text = p.stdout.decode()
        for line in text.split("\n"):
            if len(line) > 80 or "\033" in line or line != line.rstrip():
                problem(what, "help line:", repr(line))
        for o in options:
            if "--" + o["long"] not in text or (o["short"] and "-" + o["short"] not in text):
                problem(what, "help does not mention --" + o["long"])
        if "Examples:\n" not in text or not text.rstrip().split("\n")[-1].startswith("See rnbdadm"):
            problem(what, "help has no examples or no manual page")
        return text

    top = look([], visible)
    for n in names:
        if n not in top:
            problem("the overview lacks", n)
    for o in objects:
        look([o], visible)
    for c in meta["commands"]:
        text = look(c["name"].split(), visible + c["options"])
        for a in c["arguments"]:
            if a["name"] not in text:
                problem(c["name"], "help lacks", a["name"])
        if len(c["examples"]) != 2:
            problem(c["name"], "has no two examples")
        for line in c["examples"]:
            legal(binary, rec, c["name"], line)
        for alias in c["aliases"]:
            if run(binary, *alias.split(), "-h").stdout.decode() != text:
                problem("alias", alias, "is not", c["name"])
        if not os.path.exists(os.path.join(SCHEMAS, c["schema"].removeprefix("rnbdadm.").removesuffix("/1") + ".json")):
            problem(c["name"], "has no schema", c["schema"])
    longs = {}
    letters = {}
    for o in meta["options"] + [o for c in meta["commands"] for o in c["options"]]:
        if o["short"] and letters.setdefault(o["short"], o["long"]) != o["long"]:
            problem("-%s has two meanings" % o["short"])
        longs.setdefault(o["long"], set()).add(o["argument"])
    for o, kinds in longs.items():
        if "optional" in kinds and o not in ("color", "wait", "add-missing", "stats", "prune", "per-cpu"):
            problem("--" + o, "takes an optional argument")
    codes = run(binary, "help", "exit-codes").stdout.decode()
    for e in meta["exit_codes"]:
        if "%2d  %s " % (e["code"], e["name"]) not in codes:
            problem("help exit-codes lacks", e)
    if [e["code"] for e in meta["exit_codes"]] != list(range(13)):
        problem("exit codes are not 0 to 12")


# What has no use of --force: by these nothing that is in use goes away
NEVER_IN_USE = {
    "map": "makes a disk",
    "session add": "makes a session",
    "session add-path": "the others stay",
    "session set": "holds for what comes",
    "mp-policy set": "holds for what comes",
    "session recover": "what is up is left alone",
    "recover": "what is up is left alone",
    "recover session": "what is up is left alone",
    "recover device": "what is up is left alone",
    "stats reset": "I/O goes on",
    "server port undrain": "paths come back",
    "server export add": "exit code 9",
    "server export remove": "exit code 9",
}


def one_locked(binary, rec, name, words):
    """Another one holds the lock: nothing is asked, nothing is sent, nothing is written. --no-lock does not care."""
    with tempfile.TemporaryDirectory() as own:
        root = shutil.copytree(os.path.join(rec, "root"), os.path.join(own, "root"), symlinks=True)
        conf = os.path.join(own, "conf")
        with open(conf, "w") as f:
            f.write("[session cl1@srv9]\npath = 10.0.0.9\n")
        if name in ("config apply", "restore"):
            words = [conf]
        command = ["--nl-replay", os.path.join(rec, ANSWERED.get(name, "two-sessions") + ".nl"), "--test-root", root, "--trace", "-y",
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
        good = {9} if name in ("server export add", "server export remove") else {0}
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


# Not exit codes: a digit, "mapped already", which the caller knows
NUMBERS = {"hex": {"10"}, "check_mapped": {"-1"}}


def codes():
    """Exit codes have names, but for what runs out of memory."""
    count = 0
    for file in sorted(glob.glob(os.path.join(TOP, "rnbdadm", "*.c"))):
        with open(file) as f:
            text = re.sub(r'/\*.*?\*/|"(\\.|[^"\\\n])*"', '""', f.read(), flags=re.S)
        name = os.path.basename(file)
        for what, arg in re.findall(r"\b(_?_?[eE]xit|quick_exit)\s*\(([^;]*)\);", text):
            count += 1
            if not re.fullmatch(r"1|XC_[A-Z_]+", arg):
                problem(name, "%s(%s)" % (what, arg))
        # an int function that has the context or speaks of the table can end the program with what it returns
        for head, body in re.findall(r"^((?:static )?(?:int|enum exit_code) \w+\([^{;]*\))\n\{\n(.*?)^\}", text,
                                     flags=re.S | re.M):
            called = head.split("(")[0].split()[-1]
            coded = "ctx" in head or "XC_" in body or called == "main"
            for value in re.findall(r"\b(?:return|rc =(?!=)|code =(?!=))\s*([^;]+);", body) + \
                    re.findall(r"\bfail_set\([^,]*,([^,]*)[,)]", body) + re.findall(r"\(enum exit_code\)([^;]*);", body):
                count += 1
                # what is handed to a function, or compared, is not returned
                while value != (value := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|[<>=!]= ?-?\d+|[<>] ?-?\d+", "", value)):
                    pass
                for number in re.findall(r"(?<!\w)-?(?:0x)?\d+", value):
                    if number not in NUMBERS.get(called, ()) and (coded or number not in ("0", "1", "-1")):
                        problem(name, called + ":", value.strip())
    if count < 700:
        problem("only", count, "values")
    print(count, "values")


def freeze(binary, rec, directory):
    """What tells most of each topic, by its command and in the golden files, with one element in each list."""
    commands = [(c["name"], ARGUMENTS.get(c["name"], ([], None))[0]) for c in metadata(binary)["commands"]] + [("", [])]
    texts = [try_it(binary, rec, name, words + ["-j", "--test-time", "2026-11-20T20:04:11.123456Z"],
                    ANSWERED.get(name, "two-sessions")).stdout.decode() for name, words in commands]
    for file in glob.glob(os.path.join(os.path.dirname(directory), "*.json")):
        with open(file) as f:
            texts.append(f.read())
    longest = {}
    for doc in (json.loads(one) for text in texts for one in each(text)):
        longest[doc["schema"]] = max(longest.get(doc["schema"], ""), json.dumps(short(doc), separators=(",", ":")), key=len)
    os.makedirs(directory)
    for schema, text in longest.items():
        with open(os.path.join(directory, schema.removeprefix("rnbdadm.").replace("/", "-") + ".json"), "w") as f:
            f.write(text + "\n")


def frozen(*directories):
    count = 0
    for file in sorted(f for d in directories for f in glob.glob(os.path.join(d, "*.json"))):
        with open(file) as f:
            doc = json.load(f)
        topic = doc["schema"].removeprefix("rnbdadm.").partition("/")[0]
        if not os.path.exists(os.path.join(SCHEMAS, topic + ".json")):
            problem(file, "has a schema that is gone")
        elif load(topic)["properties"]["schema"]["const"] == doc["schema"]:
            count += 1
            for bad in complaints(doc, jsonschema.Draft202012Validator(load(topic))):
                problem(file, bad)
    print(count, "documents")
    if not count:
        problem("no document")


def leaves(obj, names):
    for k, v in obj.items():
        if isinstance(v, dict):
            leaves(v, names)
        else:
            names.append(k)
    return names


# What CSV tells of an interval, of CPUs and distributions alone, or not as JSON does
CSV_ALONE = ("per_cpu", "latency", "sg_entries", "read_ios_per_second", "read_bytes_per_second", "write_ios_per_second",
             "write_bytes_per_second")
# What neither a cell nor a line could hold
JSON_ALONE = ("buckets",)
# The lists do not have what was made, or there is nothing to close
NO_ROWS = ("session add", "server port undrain")


# What is told with an option
WITH = {
    "stats": ("read_ios", "read_bytes", "write_ios", "write_bytes", "inflight", "failovers", "reconnects_ok", "reconnects_failed"),
    "details": ("id", "max_io_bytes", "max_segments", "requests", "read_ahead_bytes", "scheduler"),
}


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


# Keys that are there with an option, or where there is something to say
OPTIONAL = ("warnings", "error", "details", "id", "per_cpu", "rates", "latency", "sg_entries", "sample", "dry_run", "plan", "changes")
OPTIONAL_OF = {"session": ("changed", "counters"), "export": ("told_size_bytes",), "event": ("data",), "client": ("changed", "counters"), "path": ("changed", "role", "counters"),
               "device": ("counters", "queue"), "stats-latency": ("devices",), "plan": ("unmet",)}
# What is not configured has no key
CONFIGURED = ("name", "paths", "session", "device_path")


def short(doc):
    """The document with one element in each list."""
    if isinstance(doc, dict):
        return {k: short(v) for k, v in doc.items()}
    return [short(v) for v in doc[:1]] if isinstance(doc, list) else doc


# Strings of which the schemas list all
CLOSED = ("schema", "time", "backend", "code", "family", "link_layer", "status", "since")
# Numbers that may be less than nothing; a setting is a string or a number
NEGATIVE = ("max_reconnect_attempts", "no_path_timeout_ms", "errno")
EITHER = ("old", "new")


def odd(key, v, listed):
    """What cannot be in the place of this scalar."""
    if isinstance(v, bool):
        yield from (1, "true")
    elif isinstance(v, str):
        if key not in EITHER:
            yield 7
        yield from (True, ["x"])
        if key in CLOSED or str(key).endswith("_hex"):
            yield "nobody knows"
    elif isinstance(v, int):
        if key not in EITHER:
            yield "7"
        yield from (True, 0.5)
        if key not in NEGATIVE:
            yield -1
    # what is not known is not in a list
    if listed or key in ("schema", "tool", "time", "backend", "changed", "dry_run", "message", "code"):
        yield None


def mutants(doc, topic, at=()):
    """Copies of the document, what was done to them, and where."""
    if isinstance(doc, dict):
        named = at and (topic, at[-1]) in NAMES
        if not named:
            yield dict(doc, nobody_knows=1), "more", at
            yield dict(doc, nobody_knows_hex="00"), "more", at
        for k in doc:
            if not named:
                yield {n: v for n, v in doc.items() if n != k}, "less", at + (k,)
            yield dict(doc, **{k: {"of": "another type"}}), "type", at + (k,)
    elif isinstance(doc, list) and doc:
        yield [{"of": "another type"}] if not isinstance(doc[0], dict) else ["no object"], "type", at + (0,)
    elif not isinstance(doc, list):
        edge = topic == "event" and len(at) == 3 and at[0] == "changes"
        for v in (0.5, [7]) if edge else odd(([k for k in at if isinstance(k, str)] or [""])[-1], doc, isinstance(at[-1], int)):
            yield v, "odd", at + (v,)
    for k, v in doc.items() if isinstance(doc, dict) else enumerate(doc) if isinstance(doc, list) else ():
        for m, how, where in mutants(v, topic, at + (k,)):
            copy_ = dict(doc) if isinstance(doc, dict) else list(doc)
            copy_[k] = m
            yield copy_, how, where


def variants(doc, topic):
    """The document with one element in each list; for each kind of result one of them."""
    seen = set()
    for r in doc.get("results", ()) if topic in ("check", "batch") else ():
        kind = str(sorted(r["data"])) if topic == "check" and not r["id"].startswith("modules.") else r.get("command", "modules")
        if kind not in seen:
            seen.add(kind)
            yield short(dict(doc, results=[r]))
    if not seen:
        yield short(doc)


def may_lack(topic, where):
    """These keys are there with an option, or where there is something to say."""
    name = where[-1]
    if topic == "config" and len(where) > 1 and name not in CONFIGURED or (topic, *where[2:-1]) == PARAMETERS:
        return True
    return name in OPTIONAL + OPTIONAL_OF.get(topic, ()) or str(name).endswith("_hex")


def excused(doc, topic, how, where):
    """What may be so: a key that need not be there, or any text as a place or a parameter."""
    if topic == "batch" and where[2:3] == ("output",) and len(where) > 3:
        result = doc["results"][0]
        # it is without its document, and without what -F left out
        if how == "less" and (len(where) == 4 or "-F" in result["command"]):
            return True
        return topic_of(result["command"]) == "check" or excused(result["output"], topic_of(result["command"]), how, where[3:])
    if (topic, *where[2:3]) == PARAMETERS and doc["results"][0]["id"].startswith("modules."):
        return how != "odd"
    return how == "less" and may_lack(topic, where) or how == "type" and (topic, where[-1]) == NAMES[1] or \
        (topic, *where[2:3]) == NAMES[1] and where[-1] is None


def refuses(whole):
    """One key more, one less, a value that cannot be, at each place of the document: the schemas notice."""
    topic = whole["schema"].removeprefix("rnbdadm.").removesuffix("/1")
    loose = jsonschema.Draft202012Validator(load(topic))
    count = 0
    for doc in variants(whole, topic):
        for m, how, where in mutants(doc, topic):
            place = "/".join(map(str, where)) or "the document"
            count += 1
            if not excused(doc, topic, how, where) and validator(topic).is_valid(m) and not list(parts(m, topic)):
                problem(topic, "the schemas take", how, place)
            if how == "more" and not loose.is_valid(m):
                problem(topic, "the schema does not take another key in", place)
    return count


def unsaid(schema):
    """Whether the schema takes anything, or does not say what is in a list or an object."""
    if isinstance(schema, bool) or not schema.keys() & {"type", "enum", "const", "$ref", "oneOf", "anyOf", "allOf"}:
        return schema is not False
    return "array" in kinds(schema) and "items" not in schema or \
        is_object(schema) and not schema.keys() & {"properties", "additionalProperties"}


def parts_of(schema, name):
    """The schemas in a schema, by the name of the place."""
    for key in ("properties", "patternProperties", "$defs"):
        yield from schema.get(key, {}).items()
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield name, schema[key]
    for key in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(key, ()):
            yield name, one


def open_places(schema, topic, name="the document"):
    if unsaid(schema):
        yield topic, name
    for n, part in parts_of(schema, name) if isinstance(schema, dict) else ():
        yield from open_places(part, topic, n)


def schemas():
    defs = {}
    for file in sorted(glob.glob(os.path.join(SCHEMAS, "*.json"))):
        topic = os.path.basename(file)[:-5]
        schema = load(topic)
        jsonschema.Draft202012Validator.check_schema(schema)
        if schema["$id"] != "urn:rnbdadm:%s:1" % topic or \
                schema["properties"]["schema"]["const"] != "rnbdadm.%s/1" % topic:
            problem(file, "names itself", schema["$id"])
        for name, body in schema["$defs"].items():
            if defs.setdefault(name, body) != body:
                problem(file, "defines", name, "in another way")
        unsaid_here = set(open_places(schema, topic))
        for where in unsaid_here ^ {w for w in ANYTHING if w[0] == topic}:
            problem(file, "does not say what is in" if where in unsaid_here else "says what is in", where[1])
        for name in schema["$defs"]:
            if '"#/$defs/%s"' % name not in json.dumps(schema):
                problem(file, "does not use", name)
    binary, rec = sys.argv[2:4]
    common = ["--nl-replay", os.path.join(rec, "two-sessions.nl"), "--test-root", os.path.join(rec, "root")]
    tried = 0
    for cmd in ("session list", "path list", "device list", "stats --per-cpu", "stats --latency --sg",
                "stats latency", "unmap rnbd0", "metadata", "version",
                "status", "server export list", "server client list", "remap rnbd0 rnbd2 --recreate -n", "resize rnbd0 +1G -n",
                "session set cl1@srv1 --mp-policy rr -n", "server export close sdb --all-clients --force -n",
                "server client disconnect cl7@here --force -n", "session add-path cl1@srv1 10.9.9.9 -n",
                "session recover cl1@srv1 -n", "mp-policy set cl1@srv1 rr -n", "mp-policy list",
                "wait cl1@srv1 --for present", "check"):
        text = run(binary, *common, *cmd.split(), "-j").stdout
        doc = json.loads(text)
        tried += refuses(doc)
    print(tried, "mutations")


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "documents":
        documents(*args)
    elif what in ("schemas", "codes"):
        globals()[what]()
    else:
        {"states": states, "csv": lambda *a: states(*a, one_csv, lambda c: c["csv"]), "lines": lines, "help": help_texts, "changes": changes,
         "fields": fields, "freeze": freeze, "frozen": frozen}[what](*args)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
