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
import glob
import json
import os
import re
import shlex
import subprocess
import sys

import jsonschema

from commands import ANSWERED, ARGUMENTS, SCHEMAS, TOP, metadata, problem, problems, run, try_it
from documents import check_document, check_printed, complaints, each, load
from mutations import refuses, schemas, short
from states import changes, fields, lines, one_csv, states


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

    def told(what, text, options):
        for o in options:
            if "--" + o["long"] not in text or (o["short"] and "-" + o["short"] not in text):
                problem(what, "help does not mention --" + o["long"])

    def look(words, options=()):
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
        told(what, text, options)
        if "Examples:\n" not in text or not text.rstrip().split("\n")[-1].startswith("See rnbdadm"):
            problem(what, "help has no examples or no manual page")
        return text

    told("options", run(binary, *nothing, "help", "options", env=env).stdout.decode(), visible)
    # an entry for each object, with its verbs in brackets
    entries = re.sub(r"\n {4,}", " ", look([])).split("\n")
    for n in names:
        o, _, verb = n.rpartition(" ")
        line = [e for e in entries if re.match("  %s   " % re.escape(o or n), e)]
        if len(line) != 1 or (o and not re.search(r"[(,] ?%s[,)]" % re.escape(verb), line[0])):
            problem("the overview lacks", n)
    for o in objects:
        look([o])
    for c in meta["commands"]:
        text = look(c["name"].split(), c["options"])
        for a in c["arguments"]:
            if a["name"] not in text:
                problem(c["name"], "help lacks", a["name"])
        if len(c["examples"]) != 2:
            problem(c["name"], "has no two examples")
        for line in c["examples"]:
            legal(binary, rec, c["name"], line)
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
    if [e["code"] for e in meta["exit_codes"]] != list(range(12)):
        problem("exit codes are not 0 to 11")


# Not exit codes: a digit, "mapped already", which the caller knows
NUMBERS = {"hex": {"10"}, "check_mapped": {"-1"}}


def codes():
    """Exit codes have names, but for what runs out of memory."""
    count = 0
    for file in sorted(glob.glob(os.path.join(TOP, "rnbdadm", "**", "*.c"), recursive=True)):
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


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "documents":
        documents(*args)
    elif what == "codes":
        codes()
    else:
        {"states": states, "csv": lambda *a: states(*a, one_csv, lambda c: c["csv"]), "lines": lines, "help": help_texts, "changes": changes,
         "fields": fields, "schemas": schemas, "freeze": freeze, "frozen": frozen}[what](*args)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
