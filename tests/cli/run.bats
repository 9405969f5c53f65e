#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The runner of the tests: what fails while the machine stands still is run again, once, and nothing else is.
# shellcheck shell=bats disable=SC2154,SC2016

bats_require_minimum_version 1.5.0

PART=$BATS_TEST_TMPDIR/part.bats

# part TEST..: a file of tests that do this. They know the runner as $RUNNER, whose first child watches whether the machine stands
# still, and how often they were run as $RUNS.
part() {
	local n=0 does
	for does in "$@"; do
		printf '%s\n' "@test \"test $((++n))\" {" "echo >>$PART.runs-$n; RUNS=\$(wc -l <$PART.runs-$n) RUNNER=\$(<$PART.runner)" "$does" '}'
	done >"$PART"
	rm -f "$PART".runs-*
}

# runs STATUS PASSED FAILED: the runner with it
runs() {
	run --separate-stderr "-$1" env -u UNTIL -u VERBOSE LOGS="$BATS_TEST_TMPDIR/logs" \
		bash -c "echo \$\$ >$PART.runner; exec ${BATS_TEST_DIRNAME%/cli}/run cli $PART"
	printf '%s\n' "${lines[@]}"
	[[ ${lines[-1]} == "$2 passed, $3 failed, 0 skipped" ]]
}

ran() { [[ $(wc -l <"$PART.runs-1") == "$1" ]]; }

STILL='watch=$(pgrep -o -P $RUNNER); kill -STOP $watch; sleep 0.6; kill -CONT $watch; until [[ -s $LOGS/stood-still ]]; do sleep 0.1; done'

@test "a failure while the machine stood still: run again, and told" {
	part "$STILL; ((RUNS > 1))"
	runs 0 1 0
	[[ ${lines[0]} =~ 1\ passed,\ run\ again:\ this\ machine\ stood\ still\ for\ [0-9]+\ ms\ while\ a\ test\ ran\ that\ failed ]]
	[[ ${lines[1]} == "    the first run: not ok 1 test 1" && ${lines[-2]} == "cli part.bats: run again: "* ]]
	ran 2
}

@test "it fails again: it has failed, after two runs" {
	part "$STILL; false"
	runs 1 0 1
	ran 2
}

@test "not run again: what fails on a machine that runs, or while another test does not, or has a report; what passes" {
	part '((RUNS > 1))'
	runs 1 0 1
	ran 1
	part "$STILL" '((RUNS > 1))'
	runs 1 1 1
	ran 1
	part "$STILL; echo 'BUG: KASAN: use-after-free'; ((RUNS > 1))"
	runs 1 0 1
	ran 1
	part "$STILL"
	runs 0 1 0
	ran 1
	[[ $output != *"run again"* ]]
}
