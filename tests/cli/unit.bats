#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The unit tests of the tool, with ASan and UBSan: `make -C tests/cli/unit check` shows each of their checks.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
	(
		flock 9
		make -s -C "$CLI/unit" all
	) 9<"$TOP/build" >&2
}

setup() { load helpers; }

# unit NAME: all its checks pass, and there are some
unit() {
	run -0 "$TOP/build/cli-unit/$1"
	grep '^not ok' -A1 <<<"$output" || :
	[[ ${lines[-1]} == 1..* && ${lines[-1]} != 1..0 ]]
}

@test "sizes and durations" { unit size; }

@test "addresses" { unit addr; }

@test "natural order, distances, suggestions, quoting" { unit text; }

@test "JSON wrappers, widths, exit codes, counters" { unit json; }

@test "command lines, times, names, the table" { unit args; }

@test "configurations" { unit conf; }

@test "plans: their steps and the order of them" { unit plan; }

@test "words that name a session, a device, a path" { unit select; }

@test "buckets, quantiles, sums and differences of counters" { unit counters; }

@test "flow control: what the kernel answers, and what is told of it" { unit check; }

@test "RDS: answers that grow, are cut or of another release; records of both families" { unit rds; }
