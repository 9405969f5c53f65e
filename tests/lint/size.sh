#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No .c beyond 800 lines, no file of tests beyond 500, no function beyond 100 lines or 6 parameters.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

long_files() {
	sources kernel rnbdadm include | longer_than 800
	{ tree tests | grep -E '\.(bats|bash|sh|py|[ch])$'; ls tests/run tests/mutants/* tests/vm/lab; } | longer_than 500
}

longer_than() { xargs -r -d '\n' awk -v most="$1" 'FNR == most + 1 { print FILENAME ": more than " most " lines"; nextfile }'; }

# A function of kernel style: its head starts in the first column and ends in a "{" alone in the first column, its end is a
# "}" alone in the first column.
long_functions() {
	handwritten kernel rnbdadm tests | grep '\.c$' | xargs -r -d '\n' awk '
		FNR == 1 { head = ""; body = 0 }
		function params(head,   i, c, depth, n, seen) {
			sub(/^[^(]*/, "", head)
			for (i = 1; i <= length(head); i++) {
				c = substr(head, i, 1)
				if (c == "(") depth++
				else if (c == ")" && --depth == 0) break
				else if (c == "," && depth == 1) n++
				else if (c !~ /[ \t]/) seen = 1
			}
			return seen ? n + 1 : 0
		}
		/^[A-Za-z_].*\(/ && !/;[ \t]*$/ && !/^#/ { head = $0; start = FNR; next }
		/^\{$/ && head != "" {
			body = FNR
			n = params(head)
			if (n > 6) print FILENAME ":" start ": " n " parameters"
			next
		}
		/^\}$/ && body {
			if (FNR - start + 1 > 100) print FILENAME ":" start ": function of " FNR - start + 1 " lines"
			body = 0; head = ""; next
		}
		/^[#\/]/ || /;[ \t]*$/ && !body { head = body ? head : "" ; next }
		head != "" && !body { head = head " " $0 }'
	return 0
}

check "files of at most 800 lines, of tests 500" long_files
check "functions of at most 100 lines and 6 parameters" long_functions
finish
