# SPDX-License-Identifier: GPL-2.0
# Reads the lists of mutants: for tests/mutants/run and tests/lint/defects.sh. Sourced after tests/lib.bash, in the top directory.
#
# An entry is a title in the first column and the lines indented below it. Lines that begin with "#" and empty ones are for the reader.
#
#   FILE [-zE] EXPRESSION   FILE below kernel/ or include/: sed changes it, with these options
#   tests/unit/NAME.c       this unit test program must fail
#   tests/vm/NAME.bats REGEX, or of tests/debug
#                           one of the tests of this file whose names match must fail; they are run by themselves, in this order
# shellcheck shell=bash disable=SC2034

MUTANT_LISTS=(tests/mutants/unit tests/mutants/defects tests/mutants/data tests/mutants/disks tests/mutants/use tests/mutants/fixes tests/mutants/rds)

# Of mutant I: MUTANT_TITLE[I]; MUTANT_EDITS[I] and MUTANT_TESTS[I], lines of "FILE<TAB>REST"
MUTANT_TITLE=() MUTANT_EDITS=() MUTANT_TESTS=()

# mutants_read [REGEX]: those whose title matches
mutants_read() {
	local line file rest list n=-1
	for list in "${MUTANT_LISTS[@]}"; do
		[[ -r $list ]] || { say "$list is missing"; return 1; }
		while IFS= read -r line; do
			case $line in
			'' | '#'*) ;;
			[!$'\t ']*)
				n=$((n + 1))
				MUTANT_TITLE[n]=$line MUTANT_EDITS[n]='' MUTANT_TESTS[n]=''
				;;
			*)
				read -r file rest <<<"$line"
				case $file in
				kernel/* | include/*) MUTANT_EDITS[n]+=$file$'\t'$rest$'\n' ;;
				tests/*) MUTANT_TESTS[n]+=$file$'\t'$rest$'\n' ;;
				*) say "$list: neither an edit nor a test: $line"; return 1 ;;
				esac
				;;
			esac
		done <"$list"
	done
	for n in "${!MUTANT_TITLE[@]}"; do
		[[ ${MUTANT_TITLE[n]} =~ ${1:-.} ]] || unset "MUTANT_TITLE[n]" "MUTANT_EDITS[n]" "MUTANT_TESTS[n]"
	done
}

# mutant_edit FILE REST <SOURCE: what the edit makes of it
mutant_edit() {
	local options=() expression=$2
	if [[ $expression == -* ]]; then
		options=("${expression%% *}") expression=${expression#* }
	fi
	sed "${options[@]}" -e "$expression"
}

# mutant_apply I DIR: fails with a reason where an edit of the mutant changes nothing
mutant_apply() {
	local file rest tmp
	while IFS=$'\t' read -r file rest; do
		[[ -n $file ]] || continue
		[[ -e $2/$file ]] || { echo "there is no $file"; return 1; }
		tmp=$(mktemp "$2/mutant.XXXXXX") || return
		mutant_edit "$file" "$rest" <"$2/$file" >"$tmp" 2>"$tmp.said" || { echo "$file: $(<"$tmp.said")"; return 1; }
		if cmp -s "$tmp" "$2/$file"; then
			rm "$tmp" "$tmp.said"
			echo "$file has nothing for $rest"
			return 1
		fi
		cat "$tmp" >"$2/$file" && rm "$tmp" "$tmp.said" || return
	done <<<"${MUTANT_EDITS[$1]}"
}

# mutant_tests FILE REGEX: the tests of a .bats file whose names match
mutant_tests() { sed -nE 's/^@test "(([^"\\]|\\.)*)" \{.*/\1/p' "$1" | sed 's/\\\(.\)/\1/g' | grep -E -- "$2"; }
