#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# checkpatch and clang-format on the C files, shellcheck on the shell files, mandoc on the manual.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
. "$ROOT/tests/vm/lib/kernel.bash"

# Not asked for: macros that use an argument twice (all of them take names, to paste and to print them)
IGNORE=MACRO_ARG_REUSE

patch_check() {
	local source
	source=$(lab_source 2>/dev/null) || { echo "no source package"; return; }
	handwritten kernel include | xargs -r perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse --show-types --no-summary \
		--max-line-length=100 --ignore "$IGNORE" -f
	return 0
}

format_check() {
	handwritten kernel include rnbdadm | xargs -r clang-format --dry-run --style=file 2>&1 | grep -E 'warning:' | sed 's/ \[-W.*//'
	return 0
}

shells() { tree | while IFS= read -r f; do
	head -n 1 "$f" | grep -qE '^#!/bin/(ba)?sh|^#!/usr/bin/env (ba)?sh' && echo "$f"
	[[ $f == *.bash ]] && echo "$f"
done; }

shell_check() { shells | xargs -r shellcheck -S warning -x -f gcc; }

man_check() { tree man | grep -E '\.[1-9]$' | xargs -r mandoc -T lint -W warning; }

check "checkpatch" patch_check
if [[ -e .clang-format ]]; then check "clang-format" format_check; fi
check "shellcheck" shell_check
[[ -d man ]] && check "manual pages" man_check
finish
