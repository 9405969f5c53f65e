#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/DEFECTS.md: each item has a line, each test that a line names is there.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

DOC=tests/DEFECTS.md

items() {
	printf 'A%s\n' {3..9} {11..16} {18..21}
	printf 'B%s\n' {1..22}
	printf 'C%s\n' {1..21} 23
	printf 'D%s\n' {1..11}
}

every_item() {
	local item
	for item in $(items); do
		[[ $(grep -c "^| $item |" $DOC) -eq 1 ]] || echo "$item: no line, or more than one"
	done
}

# A line without a test says why it cannot occur; of what costs something, why it stays
every_line() { grep -nE '^\| [A-D][0-9]+ \|' $DOC | grep -vE '`tests/[^`]+: "[^`]+"`|By construction: |^[0-9]+:\| D.*, because '; }

# bats writes @test "name", the unit tests RUN(function, "name")
every_test() {
	local ref file name
	grep -oE '`tests/[^`]+: "[^`]+"`' $DOC | tr -d '`' | while IFS= read -r ref; do
		file=${ref%%: *} name=${ref#*: }
		grep -qF -e "@test $name" -e ", $name)" "$file" || echo "$file has no test $name"
	done
}

check "every item has a line" every_item
check "every line names a test or says why there is none" every_line
check "every test that is named is there" every_test
finish
