#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# checkpatch and clang-format on the C files, shellcheck on the shell files.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
. "$ROOT/tests/vm/lib/kernel.bash"

# Not asked for: macros that use an argument twice (all of them take names, to paste and to print them)
IGNORE=MACRO_ARG_REUSE
# The layout of C code in trace events
IGNORE_TRACE=$IGNORE,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT
# BIT() and __packed where a header must compile in user space
IGNORE_PROTO=$IGNORE,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO

patch_check() {
	local source all
	source=$(lab_source 2>/dev/null) || { echo "no source package"; return; }
	all=$(handwritten kernel include)
	patch_run() {
		grep -E "$1" <<<"$all" | grep -vE "$2" | quiet "" perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse \
			--show-types --no-summary --max-line-length=100 --ignore "$3" -f
	}
	patch_run '/trace\.h$' '^$' "$IGNORE_TRACE"
	patch_run '/proto\.h$' '^$' "$IGNORE_PROTO"
	patch_run . '/(trace|proto)\.h$' "$IGNORE"
	return 0
}

style=$(mktemp) || exit
trap 'rm -f "$style"' EXIT

# One statement or brace per line, every run of white space one blank
normal() {
	tr -s ' \t\n' ' ' | sed -e 's/\* const\b/*const/g' -e 's/\\ //g' -e 's/ :/:/g' -e 's/\([),]\) {/\1{/g' -e 's/[;{}]/&\n/g'
}

# The kernel's own style, for what stands beside what. Where lines break and columns line up is left to the writer:
# clang-format knows no tables.
format_check() {
	local source
	source=$(lab_source 2>/dev/null) || { echo "no source package"; return; }
	sed 's/^ColumnLimit:.*/ColumnLimit: 0/' "$source/.clang-format" >"$style"
	handwritten kernel rnbdadm tests | grep '\.c$' | quiet "$(clang-format --version) $(<"$style") $(declare -f normal format_files)" format_files
}

format_files() {
	local f
	for f in "$@"; do
		diff <(normal <"$f") <(clang-format --style="file:$style" "$f" 2>&1 | normal) | grep '^[<>]' | sed "s,^,$f: ,"
	done
	return 0
}

shells() {
	tree | xargs -r -d '\n' awk '
		FILENAME ~ /\.bash$/ || /^#!\/bin\/(ba)?sh|^#!\/usr\/bin\/env (ba)?sh/ { print FILENAME }
		{ nextfile }' | sort -u
}

# Files of tests besides: words of bash among their arguments, the first of several, variables for what they load. Without -x, which
# reads again, with each of them, what it loads, and takes four times as long: that is looked at by itself.
shell_check() {
	local version
	version=$(shellcheck --version) || return
	shells | quiet "$version $(shells | key)" shellcheck -S warning -x -f gcc
	tree | grep '\.bats$' | quiet "$version" shellcheck -S warning -f gcc -e SC1090,SC1091,SC1010,SC2128,SC2178,SC2034,SC2046,SC2054,SC2010,SC2011,SC2043
}

check "checkpatch" patch_check
check "clang-format" format_check
check "shellcheck" shell_check
finish
