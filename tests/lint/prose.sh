#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# User texts: README and docs, manual pages, and the tool's help, errors and hints. Free relative clauses are rare, links lead somewhere, the README is short.
# prose.py has the heuristic; "prose.py clauses --show FILE.." lists each one.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

PER=1500 # words for one free relative clause, at most

mapfile -t pages < <(tree | grep -E '^([A-Z]+|docs/.*)\.md$')
mapfile -t manuals < <(tree man | grep '\.in$')
mapfile -t code < <(sources rnbdadm)

# rare FILE..: at most one clause in $PER words of these files
rare() {
	local said words clauses
	said=$(python3 tests/lint/prose.py clauses --show "$@") || { echo "prose.py: exit status $?"; return; }
	read -r words clauses <<<"${said##*$'\n'}"
	((words > 0)) || echo "no words"
	((clauses * PER <= words)) || printf '%s\n' "$clauses free relative clauses in $words words, at most one in $PER may be:" "${said%$'\n'*}"
}

short() {
	local n
	n=$(wc -l <README.md)
	((n <= 80)) || echo "README.md: $n lines, at most 80 may be"
}

check "README and docs name their subjects" rare "${pages[@]}"
check "manual pages name their subjects" rare "${manuals[@]}"
check "help, errors and hints name their subjects" rare "${code[@]}"
check "links of documents lead somewhere" python3 tests/lint/prose.py links "${pages[@]}"
check "the README has at most 80 lines" short
finish
