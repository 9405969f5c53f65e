#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/DEFECTS.md and DEFECTS-RDS.md: each item has a line, each test that a line names is there. The lists of tests/mutants: each item with a test has a
# mutant, each edit has something to change, each test is there.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
. tests/mutants/list.bash

DOC=tests/DEFECTS.md

items() {
	printf 'A%s\n' {3..9} {11..16} {18..21}
	printf 'B%s\n' {1..22}
	printf 'C%s\n' {1..21} 23
	printf 'D%s\n' {1..11}
	grep -oE '^\| [EFG][0-9]+[a-z]? ' $DOC | tr -d '| ' | sort -u
}

every_item() { items | one_line_each; }

# Each item of stdin
one_line_each() {
	awk 'NR == FNR { lines[$2] += $1 == "|" && $3 == "|"; next } lines[$1] != 1 { print $1 ": no line, or more than one" }' $DOC -
}

# A line without a test says why it cannot occur; of what costs something, why it stays
every_line() { grep -nE '^\| [A-G][0-9]+[a-z]? \|' $DOC | grep -vE '`tests/[^`]+: "[^`]+"`|By construction: |^[0-9]+:\| D.*, because '; }

# bats writes @test "name", the unit tests RUN(function, "name")
every_test() {
	local ref file name
	local -A text=()
	while IFS= read -r ref; do
		file=${ref%%: *} name=${ref#*: }
		[[ -n ${text[$file]-} ]] || text[$file]=$(<"$file")
		[[ ${text[$file]} == *"@test $name"* || ${text[$file]} == *", $name)"* ]] || echo "$file has no test $name"
	done < <(grep -oE '`tests/[^`]+: "[^`]+"`' $DOC | tr -d '`')
}

# "The test of D1" is one, too
every_item_mutant() {
	local item titles
	titles=$(printf '%s\n' "${MUTANT_TITLE[@]}")
	grep -E '^\| [A-G][0-9]+[a-z]? \|.*(`tests/|the test of )' $DOC | awk '{ print $2 }' | while IFS= read -r item; do
		[[ $'\n'$titles == *$'\n'"$item: "* ]] || echo "$item: no mutant"
	done
}

every_title() {
	local n
	printf '%s\n' "${MUTANT_TITLE[@]}" | sort | uniq -d | sed 's/$/: twice/'
	for n in "${!MUTANT_TITLE[@]}"; do
		[[ -n ${MUTANT_EDITS[n]} && -n ${MUTANT_TESTS[n]} ]] || echo "${MUTANT_TITLE[n]}: no edit, or no test"
	done
}

every_edit() {
	local file rest
	local -A text=()
	while IFS=$'\t' read -r file rest; do
		[[ -r $file ]] || { echo "there is no $file"; continue; }
		[[ -n ${text[$file]-} ]] || text[$file]=$(<"$file")
		[[ $(mutant_edit "$file" "$rest" <"$file") != "${text[$file]}" ]] || echo "$file has nothing for $rest"
	done < <(printf '%s' "${MUTANT_EDITS[@]}")
}

every_mutant_test() {
	local file rest
	local -A names=()
	while IFS=$'\t' read -r file rest; do
		[[ -r $file ]] || { echo "there is no $file"; continue; }
		[[ $file == *.bats ]] || continue
		[[ -n ${names[$file]-} ]] || names[$file]=$(mutant_tests "$file" .)
		grep -qE -- "$rest" <<<"${names[$file]}" || echo "$file has no test $rest"
	done < <(printf '%s' "${MUTANT_TESTS[@]}" | sort -u)
}

# Of RDS, lines may be open until their transport comes
RDS=tests/DEFECTS-RDS.md

every_rds_line() {
	printf '%s\n' {1..39} 39{a..i} {40..52} {54..66} | DOC=$RDS one_line_each
	grep -nE '^[|] [0-9]+[a-z]? [|]' $RDS | grep -vE '`tests/[^`]+: "[^`]+"`|By construction: |open: '
}

every_rds_test() { DOC=$RDS every_test; }

check "every item has a line" every_item
check "RDS: every item has a line, which names a test or says why there is none" every_rds_line
check "RDS: every test that is named is there" every_rds_test
check "every line names a test or says why there is none" every_line
check "every test that is named is there" every_test
check "the lists of mutants can be read" mutants_read
mutants_read || exit
check "every item that names a test has a mutant" every_item_mutant
check "every mutant has a title of its own, an edit and a test" every_title
check "every edit of a mutant has something to change" every_edit
check "every test that is to find a mutant is there" every_mutant_test
finish
