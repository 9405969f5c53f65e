#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/budget notes what each part of the tests costs: group, part, seconds, CPU seconds, tests. It is the table of a run
# (LOGS/table), behind one line with the most that all of it may cost.
#
#   budget.sh          every file of guests says where it runs; every part that CI runs is noted, nothing else is, and the sum is within the most
#   budget.sh TABLE    no part of this run took a third more CPU seconds than is noted
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

BUDGET=${BUDGET:-tests/budget}

not_noted() { comm -23 <(tests/run list | sort) <(awk '$1 != "#" { print $1, $2 }' $BUDGET | sort) | sed "s,$,: no line in $BUDGET,"; }

gone() { comm -13 <(tests/run list | sort) <(awk '$1 != "#" { print $1, $2 }' $BUDGET | sort) | sed 's,$,: CI runs no such part,'; }

# A file without such a line would run nowhere
no_place() {
	local f place
	for f in tests/vm/*.bats tests/debug/*.bats; do
		[[ -n $(places "$f") ]] || echo "$f: no line # lab: on PLACE: WHY"
		for place in $(places "$f"); do
			[[ " $KERNELS debug " == *" $place "* ]] || echo "$f: no place $place; there are $KERNELS debug"
		done
	done
}

too_much() {
	awk '/^# at most [0-9]+ CPU seconds/ { most = $4 } $1 != "#" { sum += $4 }
		END { if (!most) print "no line: # at most N CPU seconds"; else if (sum > most) print sum " CPU seconds, at most " most " may be" }' $BUDGET
}

# The clock of the machine counts as well: where most parts take up to half as much again as is noted, that much is no part's fault. Two
# seconds are within what rounding and a busy machine make.
exceeded() {
	awk 'NR == FNR { if ($1 != "#") noted[$1 " " $2] = $4; next }
		{ part = $1 " " $2; took[part] = $4; if (noted[part] >= 5) print $4 / noted[part] | "sort -n >'"$ratios"'" }
		END {
			close("sort -n >'"$ratios"'")
			while ((getline r <"'"$ratios"'") > 0) ratio[++n] = r
			slow = n < 10 ? 1.5 : ratio[int((n + 1) / 2)]
			slow = slow < 1 ? 1 : slow > 1.5 ? 1.5 : slow
			for (part in took)
				if (part in noted && took[part] > noted[part] * slow * 4 / 3 + 2)
					printf "%s: %d CPU seconds, noted are %d (this machine: times %.2f)\n", part, took[part], noted[part], slow
		}' $BUDGET "$1" | sort
}

if (($#)); then
	ratios=$(mktemp) || exit
	trap 'rm -f "$ratios"' EXIT
	check "no part costs a third more than is noted in $BUDGET" exceeded "$1"
else
	check "every file of guests says where it runs, and why" no_place
	check "every part that CI runs is noted in $BUDGET" not_noted
	check "every part that is noted is run" gone
	check "the sum of CPU seconds is within the most" too_much
fi
finish
