#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The runner of the tests: what fails while the machine stands still is run again, once, and nothing else is.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

# runs EXPECTED LINE..: the runner with a file of one test, which does this. It knows the runner as $RUNNER, whose first child
# watches whether the machine stands still, and how often it ran before as $RUNS.
runs() {
	local file=$BATS_TEST_TMPDIR/part.bats
	printf '%s\n' '@test "one" {' "echo >>$file.runs; RUNS=\$(wc -l <$file.runs) RUNNER=\$(<$file.runner)" "${@:2}" '}' >"$file"
	run --separate-stderr "-$1" env -u UNTIL -u VERBOSE LOGS="$BATS_TEST_TMPDIR/logs" \
		bash -c "echo \$\$ >$file.runner; exec ${BATS_TEST_DIRNAME%/cli}/run cli $file"
	printf '%s\n' "${lines[@]}"
}

STILL='watch=$(pgrep -o -P $RUNNER); kill -STOP $watch; sleep 0.6; kill -CONT $watch; until [[ -s $LOGS/stood-still ]]; do sleep 0.1; done'

@test "a failure while the machine stood still: run again, and told" {
	runs 0 "$STILL" '((RUNS > 1))'
	[[ ${lines[0]} =~ 1\ passed,\ run\ again:\ it\ failed,\ and\ this\ machine\ stood\ still\ for\ [0-9]+\ ms\ meanwhile ]]
	[[ ${lines[1]} == "    the first run: not ok 1 one" && ${lines[-1]} == "1 passed, 0 failed, 0 skipped" ]]
}

@test "it fails again: it has failed, after two runs" {
	runs 1 "$STILL" 'false'
	[[ ${lines[-1]} == "0 passed, 1 failed, 0 skipped" && $(wc -l <"$BATS_TEST_TMPDIR/part.bats.runs") == 2 ]]
}

@test "a failure of a machine that ran, and a success while it stood still: not run again" {
	runs 1 '((RUNS > 1))'
	[[ ${lines[-1]} == "0 passed, 1 failed, 0 skipped" && $output != *"run again"* ]]
	rm "$BATS_TEST_TMPDIR"/part.bats.runs
	runs 0 "$STILL"
	[[ ${lines[-1]} == "1 passed, 0 failed, 0 skipped" && $output != *"run again"* ]]
	[[ $(wc -l <"$BATS_TEST_TMPDIR/part.bats.runs") == 1 ]]
}
