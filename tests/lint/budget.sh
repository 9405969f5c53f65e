#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/budget notes what each part of the tests costs: group, part, seconds, CPU seconds, tests. It is the table of a run
# (LOGS/table), behind one line with the most that all of it may cost.
#
#   budget.sh          every file of guests says where it runs; every part that CI runs is noted, nothing else is; the sum is within
#                      the most
#   budget.sh TABLE    no part of this run took a third more CPU seconds than is noted, by the pace of this machine
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

# exceeded TABLE: a part that took a third more than is noted, on a machine as fast as this one was in this run: what its parts took, of
# what is noted, by the median of its kind, between 1 and 3. A busy host slows emulated guests more than it does programs of its
# own. What is noted of a short part is rounding and luck: it has 10 seconds. Of a part that ran twice, the cheaper run counts.
exceeded() {
	awk 'function kind(part) { return part !~ /^vm / ? "host" : part ~ /-debug$/ ? "debug kernel" : "emulated" }
		function median(k,   n, i, j, r, v) {
			for (i in took)
				if (noted[i] >= 5 && (k == "" || kind(i) == k)) {
					r = took[i] / noted[i]
					for (j = n++; j && v[j] > r; j--) v[j + 1] = v[j]
					v[j + 1] = r
				}
			return n < 7 ? k == "" ? 1 : median("") : v[int((n + 1) / 2)]
		}
		NR == FNR { noted[$1 " " $2] = $4; next }
		{ part = $1 " " $2 }
		part in noted && (!(part in took) || $4 < took[part]) { took[part] = $4 }
		END {
			for (part in took) {
				k = kind(part)
				if (!(k in slow)) { slow[k] = median(k); slow[k] = slow[k] < 1 ? 1 : slow[k] > 3 ? 3 : slow[k] }
				margin = noted[part] / 3 < 10 ? 10 : noted[part] / 3
				if (took[part] > (noted[part] + margin) * slow[k])
					printf "%s: %d CPU seconds, noted are %d (this machine, %s: times %.2f)\n", part, took[part], noted[part], k, slow[k]
			}
		}' $BUDGET "$1"
}

# run_of FACTOR [PART TIMES]: what is told of a run in which all guests took FACTOR times what is noted, and PART that TIMES
run_of() {
	exceeded <(awk -v factor="$1" -v part="${2-}" -v times="${3-1}" '$1 != "#" {
		print $1, $2, $3, int($4 * ($1 == "vm" ? factor : 1) * ($2 == part ? times : 1)), $5 }' $BUDGET)
}

run_tells() {
	local got
	got=$(run_of "${@:2}" | sed 's/:.*//')
	[[ $got == "$1" ]] || echo "run_of ${*:2}: '$got', not '$1'"
}

# The dearest part of guests, and the dearest of all that are short
judges() {
	local dear short
	read -r dear short < <(awk '$1 == "vm" && $4 > most { most = $4; dear = $2 } $1 == "cli" && $4 <= 12 && $4 > top { top = $4; short = $2 }
		END { print dear, short }' $BUDGET)
	run_tells "" 1
	run_tells "" 0.5
	run_tells "" 2.2
	run_tells "" 1 "$dear" 1.3
	run_tells "vm $dear" 1 "$dear" 1.4
	run_tells "vm $dear" 2.2 "$dear" 1.4
	run_tells "" 1 "$short" 1.7
	run_tells "cli $short" 2.2 "$short" 2.5
}

if (($#)); then
	check "no part costs a third more than is noted in $BUDGET" exceeded "$1"
else
	check "every file of guests says where it runs, and why" no_place
	check "every part that CI runs is noted in $BUDGET" not_noted
	check "every part that is noted is run" gone
	check "the sum of CPU seconds is within the most" too_much
	check "a part that grows is told, a slow machine is not" judges
fi
finish
