#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The runner of the tests: what fails while the machine stands still is run again, once, and nothing else is; what there is no time for
# is skipped.
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

# reason GROUP STATUS LINE: why the runner would run a part again that ended so and said this
reason() {
	mkdir -p "$LOGS/vm-x/client"
	echo "$3" >"$LOGS/vm-x.tap"
	echo "[  168.2] virtio_net virtio3 link1: TX timeout on queue: 0, sq: output.0" >"$LOGS/vm-x/client/console.log"
	: >"$LOGS/stood-still"
	: >"$LOGS/vm-x.tap.stamps"
	(
		unset UNTIL
		. "${BATS_TEST_DIRNAME%/cli}/again.bash"
		again "$1" "$LOGS/vm-x.tap" "$2" 0
	)
}

@test "the emulator takes no packets of a guest: run again, but not what has a report" {
	LOGS=$BATS_TEST_TMPDIR/logs
	[ "$(reason vm 1 'not ok 1')" = "the emulator took no packets of a guest's network card for seconds" ]
	[ -z "$(reason vm 1 'BUG: KASAN: use-after-free')" ]
	[ -z "$(reason vm 0 'ok 1')" ]
}

# costs FACTOR [PART]: a run in which all parts cost so much of what is noted, and PART twice that
costs() {
	awk -v f="$1" -v part="${2-}" '$1 != "#" { print $1, $2, $3, $4 * f * ($2 == part ? 2 : 1), $5 }' "$BUDGET" >"$BATS_TEST_TMPDIR/table"
	run bash "${BATS_TEST_DIRNAME%/cli}/lint/budget.sh" "$BATS_TEST_TMPDIR/table"
	printf '%s\n' "${lines[@]}"
}

@test "one wait of many was too long: run again, but not where another test failed" {
	part 'echo "one wait of 12 was too long"; ((RUNS > 1))'
	runs 0 1 0
	[[ ${lines[0]} == *"1 passed, run again: one wait of 12 was too long "* ]]
	part 'echo "one wait of 12 was too long"; ((RUNS > 1))' '((RUNS > 1))'
	runs 1 0 2
	ran 1
}

@test "a part that costs a third more than is noted has failed; a slow machine is no part's fault" {
	export BUDGET=$BATS_TEST_TMPDIR/budget
	seq 20 | awk 'BEGIN { print "# at most 900 CPU seconds" } { print "cli", "p" $1 ".bats", 10, 20 + $1, 3 }' >"$BUDGET"
	costs 1
	[ "$status" = 0 ]
	costs 2.2
	[ "$status" = 0 ]
	costs 1 p7.bats
	[ "$status" = 1 ]
	[[ $output == *"cli p7.bats: 54 CPU seconds, noted are 27 "* && $output != *p8.bats* ]]
	costs 4.2
	[ "$status" = 1 ]
}

# script FILE LINE..: one of a tree of tests that has nothing else
script() {
	local file=$TREE/tests/$1
	mkdir -p "${file%/*}"
	printf '%s\n' '#!/bin/bash' "${@:2}" >"$file"
	chmod +x "$file"
}

@test "beside guests: idle until they are over; there is no time: skipped, and so is the budget" {
	local group tests=${BATS_TEST_DIRNAME%/cli}
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE/rnbdadm" "$TREE/tests/cli"
	cp "$tests"/{run,*.bash,budget} "$TREE/tests"
	echo all: >"$TREE/rnbdadm/Makefile"
	for group in unit model fuzz; do
		mkdir "$TREE/tests/$group"
		printf 'check:\n\t@echo "ok 1"\n' >"$TREE/tests/$group/Makefile"
	done
	echo '@test "one" { :; }' >"$TREE/tests/cli/one.bats"
	script vm/lab '[[ $1 != bats ]] || { until [[ -e $LOGS/idle ]]; do sleep 0.1; done; printf "%s\n" "ok 1" "# lab: complete"; }'
	echo '# lab: on 6.1: it is' >"$TREE/tests/vm/one.bats"
	script lint/a.sh '[[ $(chrt -p $$) != *IDLE* ]] || : >"$LOGS/idle"' 'until [[ $(chrt -p $$) == *OTHER* ]]; do sleep 0.1; done' 'echo "ok 1"'
	script lint/budget.sh '[[ -z $1 || -z $UNTIL ]] || { echo "# cli one.bats: too much"; exit 1; }' 'echo "ok 1"'
	export LOGS=$BATS_TEST_TMPDIR/logs
	run -0 timeout 100 env -u UNTIL "$TREE/tests/run"
	printf '%s\n' "${lines[@]}"
	[ "${lines[-1]}" = "8 passed, 0 failed, 0 skipped" ]
	run -0 timeout 100 env UNTIL=$((EPOCHSECONDS - 601)) "$TREE/tests/run"
	printf '%s\n' "${lines[@]}"
	[[ ${lines[-1]} == "0 passed, 0 failed, 8 skipped" && $output == *"fuzz  fuzz  "*"not begun"*"no part was looked at again"* ]]
}

# guest_cpus NAME [VARIABLE=VALUE]..: those of the host that the emulator of a guest so called may use
guest_cpus() (
	. "${BATS_TEST_DIRNAME%/cli}/lib.bash"
	. "${BATS_TEST_DIRNAME%/cli}/vm/lib/qemu.bash"
	unset LAB_CPUS LAB_THREADS
	QEMU=$BATS_TEST_TMPDIR/qemu LAB_ACCEL=tcg TURN=0
	printf '%s\n' '#!/bin/bash' "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status >${QEMU}.cpus" >"$QEMU"
	chmod +x "$QEMU"
	local "${@:2}"
	guest_start "$1" "$BATS_TEST_TMPDIR" ''
	wait "$GUEST_PID"
	cat "$QEMU.cpus"
)

@test "an emulator of one CPU, or of some that take turns, has one of the host; the guests of a run have different ones" {
	local all one
	all=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status)
	one=$(guest_cpus rnbd-client LAB_CPUS=1)
	[[ $one =~ ^[0-9]+$ ]]
	[ "$(guest_cpus rnbd-machine LAB_THREADS=single)" = "$one" ]
	[ "$(guest_cpus rnbd-client LAB_THREADS=multi LAB_CPUS=1)" = "$one" ]
	[ "$(guest_cpus rnbd-client LAB_THREADS=multi)" = "$all" ]
	[ "$(guest_cpus rnbd-client LAB_CPUS=1 LAB_ACCEL=kvm)" = "$all" ]
	[[ $(nproc) == 1 ]] || [ "$(guest_cpus rnbd-server LAB_CPUS=1)" != "$one" ]
}

@test "each part that CI runs is listed once, with the place where it runs" {
	run -0 --separate-stderr "${BATS_TEST_DIRNAME%/cli}/run" list
	[[ $output == *"cli run.bats"* && $output == *"lint budget.sh"* && $output == *"unit unit"* && $output == *"vm races-6.1"* ]]
	[ -z "$(printf '%s\n' "${lines[@]}" | sort | uniq -d)" ]
}
