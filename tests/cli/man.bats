#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The manual: its form, what it says against what the tool knows, its examples.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare man
}

setup() { load helpers; }

@test "every page is clean" {
	# that pages refer to pages that are there is looked at below
	run --separate-stderr mandoc -T lint -W all "$TOP"/build/man/*.[578]
	[ "$(grep -vE 'referenced manual not found|outdated mandoc.db' <<<"$output"$'\n'"$stderr" | grep .)" = "" ]
	for page in "$TOP"/build/man/*.[578]; do
		run --separate-stderr -0 man --warnings -E UTF-8 -l -Tutf8 -Z "$page"
		[ -z "$stderr" ]
	done
}

@test "every page has each section, in the same order, with something in it" {
	"$PY" "$CLI/man.py" sections "$TOP/build/man"
}

@test "every command has prose, every option is on its page, and nothing else" {
	"$PY" "$CLI/man.py" table "$PLAIN" "$TOP/build/man"
}

@test "recordings for a fault report are told as they are made" {
	grep -q 'Fl .-nl.-record' "$TOP/build/man/rnbdadm.8"
	[ "$(sed -n 's/^\.Dl rnbdadm \(.*nl.*\)/\1/p' "$TOP/build/man/rnbdadm.8" | tr -d '\\')" = "session list --nl-record=bug.nl
session list --nl-replay=bug.nl" ]
}

@test "a command without prose does not build" {
	cd "$TOP/man"
	local args=(-v page=rnbdadm-path -f expand.awk "$TOP/build/man/table")
	awk "${args[@]}" rnbdadm-path.8.in >/dev/null
	run --separate-stderr ! awk "${args[@]}" <(grep -v '^\.\\"@ COMMAND path show' rnbdadm-path.8.in)
	[[ $stderr == *"no prose for 'path show'"* ]]
	run --separate-stderr ! awk "${args[@]}" <(sed '/^\.\\"@ COMMAND path show/q' rnbdadm-path.8.in; echo .Sh OPTIONS)
	[[ $stderr == *"no prose for 'path show'"* ]]
	run --separate-stderr ! awk "${args[@]}" <(cat rnbdadm-path.8.in; printf '.\\"@ COMMAND path fly\nflies\n')
	[[ $stderr == *"no command 'path fly'"* ]]
}

@test "every example runs, and prints what the page shows" {
	"$PY" "$CLI/man.py" examples "$PLAIN" "$REC" "$TOP/build/man"
}

@test "screens of the documents are the output of the tool, their command lines are legal, their configurations valid" {
	"$PY" "$CLI/man.py" documents "$PLAIN" "$REC" "$TOP"
}

@test "installed and removed: tool, pages, completions, schemas" {
	make -s -C "$TOP/rnbdadm" install DESTDIR="$BATS_TEST_TMPDIR" PREFIX=/usr >&2
	cd "$BATS_TEST_TMPDIR/usr"
	[ "$(cd share/man && ls man*/* | sed 's|.*/||' | sort)" = "$(cd "$TOP/man" && ls ./*.in | sed 's|.*/||; s|\.in$||' | sort)" ]
	for f in sbin/rnbdadm share/bash-completion/completions/rnbdadm share/zsh/vendor-completions/_rnbdadm \
		share/fish/vendor_completions.d/rnbdadm.fish share/rnbdadm/schema/session.json; do
		[ -s "$f" ]
	done
	[ "$(ls share/rnbdadm/schema)" = "$("$PLAIN" schema --list | sed 's/$/.json/' | sort)" ]
	make -s -C "$TOP/rnbdadm" uninstall DESTDIR="$BATS_TEST_TMPDIR" PREFIX=/usr >&2
	[ -z "$(find . -type f)" ]
}
