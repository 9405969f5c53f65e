#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/budget notes what each part of the tests costs: group, part, seconds, CPU seconds, tests. It is the table of a run
# (LOGS/table), behind one line with the most that all of it may cost.
#
#   budget.sh          every file of guests says where it runs; every part that CI runs is noted, nothing else is; the sum is within
#                      the most
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

# slowness TABLE: how much more CPU time the parts take on this machine than is noted, by their median: between 1 and 1.5
slowness() {
	awk 'NR == FNR { noted[$1 " " $2] = $4; next } noted[$1 " " $2] >= 5 { print $4 / noted[$1 " " $2] }' $BUDGET "$1" |
		sort -n | awk '{ ratio[NR] = $1 }
			END { m = NR < 10 ? 1.5 : ratio[int((NR + 1) / 2)]; print (m < 1 ? 1 : m > 1.5 ? 1.5 : m) }'
}

# A slow machine is no part's fault. Two seconds are within what rounding makes. Of a part that ran twice, the cheaper run counts.
exceeded() {
	awk -v slow="$(slowness "$1")" 'NR == FNR { noted[$1 " " $2] = $4; next }
		{ part = $1 " " $2 }
		!(part in took) || $4 < took[part] { took[part] = $4 }
		END {
			for (part in took)
				if (part in noted && took[part] > noted[part] * slow * 4 / 3 + 2)
					printf "%s: %d CPU seconds, noted are %d (this machine: times %.2f)\n", part, took[part], noted[part], slow
		}' $BUDGET "$1"
}

if (($#)); then
	check "no part costs a third more than is noted in $BUDGET" exceeded "$1"
else
	check "every file of guests says where it runs, and why" no_place
	check "every part that CI runs is noted in $BUDGET" not_noted
	check "every part that is noted is run" gone
	check "the sum of CPU seconds is within the most" too_much
fi
finish
