#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Prose of user texts: free relative clauses, and links of documents.

    prose.py clauses FILE...    counts words and free relative clauses of .md and .in (mdoc) files, and of strings of .c and .h files;
                                prints each clause with --show; the last line is "WORDS CLAUSES"
    prose.py links FILE...      prints each relative link of an .md file that leads to no file or no heading

A free relative clause stands for a thing without naming it: "what is mapped stays", "who comes late waits". A reader has to solve it.
The heuristic counts

- what, whatever, whoever, whomever, whichever;
- who and whom where no noun stands before them: first word of a sentence or of a part of it, or behind a verb, a preposition or a
  conjunction of the list below;
- that, those, this, these, all, one, ones, anything, everything, something, nothing, anybody, everybody, nobody directly before which
  or who, and "those that", "that that".

Sentences that end in a question mark are questions and do not count. Nor do code, literal blocks and the names between back quotes.
"""
import os
import re
import sys

BEFORE_WHO = """and or but nor of by to for from with without on in at as than if when while is are was be not only also that then
    tells tell told says say said shows show shown names name named knows know known sees see seen decides decide explains explain
    notes note keeps keep asks ask lists list because whether behind before after between beside towards against""".split()
PRONOUNS = """that those this these all one ones anything everything something nothing anybody everybody nobody anyone everyone
    someone somebody he she they""".split()


def markdown(text):
    """Paragraphs without code; a name between back quotes is one word."""
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    text = re.sub(r"(?m)^(    |\t).*$", "", text)
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    text = re.sub(r"`[^`]*`", "NAME", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"(?m)^#+ (.*)$", r"\n\1\n", text)
    text = re.sub(r"(?m)^(\||- |\d+\. )", r"\n\n\1", text)
    return re.split(r"\n\s*\n|\|", text)


def mdoc(text):
    """Paragraphs without literal blocks; a macro with its arguments is one word."""
    text = re.sub(r"(?ms)^\.Bd -literal.*?^\.Ed$", "\n", text)
    text = re.sub(r'(?m)^\.\\".*$', "\n", text)
    text = re.sub(r"(?m)^\.(Nd|Ss|It|Em|Dq) (.*)$", r"\n\2\n", text)
    text = re.sub(r"(?m)^\.(Pp|Sh|Bl|El|Dl|Sx|Dd|Dt|Os|Bd|Ed|br).*$", "\n", text)
    text = re.sub(r"(?m)^\.\S+ .*?( [.,:;)])?$", r"NAME\1", text)
    return re.split(r"\n\s*\n", text)


def strings(text):
    """Strings of C that have several words: help, errors, hints. Neighbours are one."""
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    found = re.findall(r'(?s)"(?:[^"\\]|\\.)*"(?:[\s\\]*"(?:[^"\\]|\\.)*")*', text)
    joined = (re.sub(r'"[\s\\]*"', "", f)[1:-1].replace("\\n", " ").replace('\\"', '"') for f in found)
    return list(dict.fromkeys(j for j in joined if " " in j))


def sentences(paragraph):
    return re.split(r"(?<=[.!?])[\s)\"]+", " ".join(paragraph.split()))


def clauses(sentence):
    if sentence.rstrip(' )"*').endswith("?"):
        return []
    found = []
    words = [(m.group().lower(), m.start()) for m in re.finditer(r"[A-Za-z][A-Za-z'-]*", sentence)]
    for i, (word, at) in enumerate(words):
        before = words[i - 1][0] if i else ""
        between = sentence[words[i - 1][1] + len(before):at].strip(' *"') if i else ""
        if word in ("what", "whatever", "whoever", "whomever", "whichever"):
            found.append(word)
        elif word in ("who", "whom") and (not i or between or before in BEFORE_WHO):
            found.append(before + " " + word)
        elif not between and (word in ("which", "who") and before in PRONOUNS or word == "that" and before in ("those", "that")):
            found.append(before + " " + word)
    return found


def count(show, files):
    total, bad = 0, 0
    for file in files:
        with open(file, encoding="utf-8") as f:
            text = f.read()
        parts = (markdown if file.endswith(".md") else mdoc if file.endswith(".in") else strings)(text)
        for sentence in (s for p in parts for s in sentences(p)):
            total += len(re.findall(r"[A-Za-z][A-Za-z'-]*", sentence))
            for clause in clauses(sentence):
                bad += 1
                if show:
                    print("%s: %s: %s" % (os.path.relpath(file), clause.strip(), sentence[:200]))
    print(total, bad)


def anchors(text):
    """Headings as links name them."""
    names = set()
    for head in re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?m)^    .*$", "", text)):
        names.add(re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()).replace(" ", "-"))
    return names


def links(files):
    for file in files:
        with open(file, encoding="utf-8") as f:
            text = f.read()
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?m)^    .*$", "", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
            if not os.path.exists(path):
                print("%s: %s leads nowhere" % (file, target))
            elif anchor:
                with open(path, encoding="utf-8") as f:
                    if anchor not in anchors(f.read()):
                        print("%s: there is no heading %s" % (file, target))


def main():
    if sys.argv[1] == "links":
        links(sys.argv[2:])
    else:
        show = "--show" in sys.argv
        count(show, [a for a in sys.argv[2:] if a != "--show"])


main()
