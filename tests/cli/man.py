#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The manual against the command table, and its examples as they run.

    man.py table BINARY PAGES                   options, arguments, commands: what the table has, the pages have, and no more
    man.py sections PAGES                       each page there should be has each section, with something in it
    man.py examples BINARY RECORDINGS PAGES     each line "$ ..." of a literal block is run; what follows it is all that it prints
    man.py documents BINARY RECORDINGS TOP      the same of README.md, docs and the other pages of the tree (screens.py); other command lines
                                                are legal, configurations valid
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import contract
from screens import OF_PAGE, SCREENS, SHOWN

problems = []


def pages(directory):
    for f in sorted(glob.glob(os.path.join(directory, "*.[578]"))):
        with open(f) as page:
            yield os.path.basename(f).rsplit(".", 1)[0], f, page.read()


def table(binary, directory):
    meta = json.loads(subprocess.run([binary, "metadata", "-j"], capture_output=True, check=True).stdout)
    seen = {name: text for name, _, text in pages(directory)}
    for page, text in seen.items():
        commands = [c for c in meta["commands"] if c["manual"] == page]
        options = {"--" + o["long"] for c in commands for o in c["options"]}
        if page == "rnbdadm":
            options |= {"--" + o["long"] for o in meta["options"] if not o["hidden"]}
        listed = {m.replace("\\", "-") for m in re.findall(r"^\.It .*?Fl (\\-[a-z-]+)", text, re.M)}
        for o in sorted(listed ^ options):
            problems.append("%s: %s is in the %s alone" % (page, o, "page" if o in listed else "table"))
        known = options | {"--" + o["long"] for o in meta["options"]} | {"--" + o["long"] for c in meta["commands"] for o in c["options"]}
        for o in set(re.findall(r"Fl \\-([a-z\\-]+)", text)):
            if "--" + o.replace("\\-", "-") not in known:
                problems.append("%s: there is no --%s" % (page, o))
        for c in commands:
            part = re.search(r"^\.Ss %s\n(.*?)(?=^\.S[hs] )" % re.escape(c["name"]), text, re.M | re.S)
            if not part:
                problems.append("%s: no command %s" % (page, c["name"]))
                continue
            list_ = re.search(r"^Options:\n((?:\.Fl .*\n)+)", part[1], re.M)
            named = set(re.findall(r"^\.Fl \\-([a-z-]+) [,.]$", list_[1], re.M)) if list_ else set()
            for o in sorted({o["long"] for o in c["options"]} ^ named):
                problems.append("%s: %s: --%s" % (page, c["name"], o))
        for e in meta["exit_codes"] if page in PAGES else ():
            if not re.search(r"^\.It %d\n\.Li %s :" % (e["code"], e["name"]), text, re.M):
                problems.append("%s: no exit code %s" % (page, e["name"]))
        for ref in re.findall(r"^\.Xr (rnbd\S*) ", text, re.M):
            if ref not in seen:
                problems.append("%s: there is no page %s" % (page, ref))
    topics = subprocess.run([binary, "schema", "--list"], capture_output=True, check=True, text=True).stdout.split()
    listed = set(re.findall(r"^\.(?:It )?Li rnbdadm\.([a-z-]+)/1", seen["rnbdadm-json"], re.M))
    for t in sorted(set(topics) ^ listed):
        problems.append("rnbdadm-json: %s is in the %s alone" % (t, "page" if t in listed else "schemas"))
    for c in meta["commands"]:
        if c["manual"] not in seen:
            problems.append("%s: there is no page %s" % (c["name"], c["manual"]))
    print(len(seen), "pages,", len(meta["commands"]), "commands")


PAGES = ["rnbdadm", "rnbdadm-access", "rnbdadm-check", "rnbdadm-config", "rnbdadm-device", "rnbdadm-json", "rnbdadm-monitor",
         "rnbdadm-path", "rnbdadm-rds", "rnbdadm-server", "rnbdadm-session", "rnbdadm-stats", "rnbdadm.conf"]
# In the order that mdoc(7) has
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "JSON OUTPUT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
# Of the modules, not of the tool
OTHERS = {"rnbd-sysfs": ["NAME", "DESCRIPTION", "SESSIONS OF A CLIENT", "PATHS OF A CLIENT", "COUNTERS", "SESSIONS OF A SERVER",
                         "MAPPING", "DISKS", "EXPORTS", "UEVENTS", "MODULE PARAMETERS", "EXAMPLES", "DIAGNOSTICS", "SEE ALSO",
                         "HISTORY"]}
MORE = {"rnbdadm": ["ENVIRONMENT", "REPORTING BUGS"], "rnbdadm-config": ["BOOT AND SHUTDOWN"]}


def sections(directory):
    names = []
    for page, _, text in pages(directory):
        names.append(page)
        parts = re.split(r"^\.Sh (.*)\n", text, flags=re.M)[1:]
        heads = [h.replace('"', "") for h in parts[::2]]
        if [h for h in heads if h not in MORE.get(page, ())] != OTHERS.get(page, SECTIONS) or set(MORE.get(page, ())) - set(heads):
            problems.append("%s: the sections are %s" % (page, heads))
        for h, body in zip(heads, parts[1::2]):
            if not re.search(r"\w", re.sub(r'^\.(\\"|Bl|El|Bd|Ed|Pp).*', "", body, flags=re.M)):
                problems.append("%s: nothing in %s" % (page, h))
    if sorted(names) != sorted(PAGES + list(OTHERS)):
        problems.append("the pages are %s" % names)


def examples(binary, rec, directory):
    ran, showing = 0, 0
    for page, _, text in pages(directory):
        recording, status, measures = "two-sessions", 0, False
        for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S):
            command, shown = None, []
            if block.startswith("["):
                configuration(binary, page, block.replace("\\-", "-"))
            for line in block.splitlines() + ["$ "]:
                m = re.match(r'\.\\"@ (RECORDING|STATUS|MEASURED) (\S+)', line)
                if line.startswith("$ ") or m:
                    if command:
                        run(binary, rec, page, recording, status, command, shown, "measured" if measures else "")
                        ran += 1
                        showing += bool(shown)
                    command, shown = None, []
                if m and m[1] == "RECORDING":
                    recording = m[2]
                elif m and m[1] == "MEASURED":
                    measures = m[2] == "1"
                elif m:
                    status = int(m[2])
                elif line.startswith("$ "):
                    command = line[2:].replace("\\e", "\\").replace("\\-", "-")
                else:
                    shown.append(line.replace("\\e", "\\").replace("\\&", "").replace("\\-", "-"))
    print(ran, "examples,", showing, "show what they print")
    if ran < 40 or showing < 35:
        problems.append("only %d examples, %d show what they print" % (ran, showing))


def configuration(binary, page, text):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(text)
        f.flush()
        p = subprocess.run([binary, "config", "validate", f.name], capture_output=True, text=True)
    if p.returncode:
        problems.append("%s: %s\n%s" % (page, text, p.stderr))


def documents(binary, rec, top):
    ran, shows, lines = 0, set(), set()
    names = {c["name"] for c in contract.metadata(binary)["commands"]}
    for file in sorted(glob.glob(os.path.join(top, "*.md")) + glob.glob(os.path.join(top, "docs/**/*.md"), recursive=True)):
        page = os.path.relpath(file, top)
        with open(file, encoding="utf-8") as f:
            text = f.read()
        blocks = [re.sub("^    ", "", b, flags=re.M).lstrip("\n") for b in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)]
        sections = [b for b in blocks if b.startswith("[")]
        for block in sections:
            configuration(binary, page, block)
        for screen in re.split(r"^[$#] rnbdadm ", "\n".join(b for b in blocks if b not in sections), flags=re.M)[1:]:
            command, _, shown = screen.partition("\n")
            # up to the next command, of any kind
            shown = re.split(r"^(?:[$#] |== |\n)", shown, maxsplit=1, flags=re.M)[0]
            known = {**SCREENS, **OF_PAGE.get(page, {})}
            where = known.get(command, ("two-sessions", 0))
            if not where:
                continue
            recording, status, *how = where
            # silent: of a step of a list, or of a change that succeeds
            if not shown.strip() and (command not in known or status or how) or how == ["columns"] and shown.startswith("rnbdadm: "):
                continue
            shows |= {s for s in SHOWN if (command + " ").startswith(s + " ") and shown.strip()}
            run(binary, rec, page, recording, status, "rnbdadm %s 2>&1" % command, shown.splitlines(), "".join(how), "C.UTF-8",
                sections[0] if "configured" in how else None)
            ran += 1
        lines.update((page, line) for line in re.findall(r"^    (?:[$#] )?(rnbdadm [a-z].*)", text, re.M))
        lines.update((page, m) for m in re.findall(r"`(rnbdadm [a-z][^`]*)`", text) if m.removeprefix("rnbdadm ") not in names)
    for line, page in sorted({line: page for page, line in lines}.items()):
        contract.legal(binary, rec, page, line)
    problems.extend(contract.problems)
    print(ran, "screens,", len(lines), "command lines")
    for s in sorted(set(SHOWN) - shows):
        problems.append("no screen of %s" % s)
    if ran < 30 or len(lines) < 80:
        problems.append("only %d screens, %d command lines" % (ran, len(lines)))


def rough(lines, how):
    """Without numbers, where these are measured; of a real host the names of the columns, or else the first word of each line."""
    if how == "columns":
        lines = lines[:1] if lines and lines[0].isupper() else [line.split(" ")[0] for line in lines]
    return [re.sub(r"[ .0-9]+", " ", line) for line in lines] if how in ("measured", "columns") else lines


def run(binary, rec, page, recording, status, command, shown, how, locale="C", sections=None):
    with tempfile.TemporaryDirectory() as tmp:
        root = os.path.join(rec, "root")
        if sections:
            root = shutil.copytree(root, os.path.join(tmp, "root"), symlinks=True)
            os.makedirs(os.path.join(root, "etc/rnbd"))
            with open(os.path.join(root, "etc/rnbd/rnbdadm.conf"), "w") as f:
                f.write(sections)
        script = os.path.join(tmp, "rnbdadm")
        with open(script, "w") as f:
            f.write('#!/bin/sh\nexec %s --nl-replay %s/%s.nl --test-root %s '
                    '--test-time 2026-11-20T20:04:11.123456Z "$@"\n' % (binary, rec, recording, root))
        os.chmod(script, 0o755)
        env = dict(os.environ, PATH=tmp + ":" + os.environ["PATH"], LC_ALL=locale, TZ="UTC")
        p = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, env=env, cwd=tmp,
                           timeout=60, text=True, errors="replace")
    want, got = rough(shown, how), rough(p.stdout.splitlines(), how)
    if want[-1:] == ["…"]:
        want, got = want[:-1], got[:len(want) - 1]
    if p.returncode != status or (p.stderr and not status) or want != got:
        problems.append("%s: $ %s\n  exit %d, not %d\n%s%s" % (page, command, p.returncode, status, p.stdout, p.stderr))
    for _, bad in contract.check_printed(p.stdout, " -F" in command) if p.stdout.startswith("{") else ():
        problems.extend("%s: $ %s: %s" % (page, command, b) for b in bad)


def main():
    {"table": table, "sections": sections, "examples": examples, "documents": documents}[sys.argv[1]](*sys.argv[2:])
    for p in problems:
        print(p)
    sys.exit(bool(problems))


main()
