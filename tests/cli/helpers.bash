# SPDX-License-Identifier: GPL-2.0
# For the tests of rnbdadm: no kernel, no root; the kernel's answers come from recordings.
# shellcheck shell=bash disable=SC2034,SC2154

TOP=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
CLI=$TOP/tests/cli
REC=$TOP/build/cli
PY=$(command -v /usr/bin/python3 || command -v python3)
PLAIN=$TOP/build/rnbdadm
RNBDADM=${RNBDADM:-$TOP/build/rnbdadm-san}
TIME=2026-11-20T20:04:11.123456Z
export LC_ALL=C TZ=UTC TERM=xterm PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS=${ASAN_OPTIONS-exitcode=99} UBSAN_OPTIONS=${UBSAN_OPTIONS-exitcode=99}
unset COLUMNS NO_COLOR RNBDADM_CONFIG RNBDADM_OUTPUT

# prepare [TARGET]..: the binaries, the recordings and what else is to be made, once for all files of tests
prepare() {
	mkdir -p "$TOP/build"
	(
		flock 9
		make -s -C "$TOP/rnbdadm" all "$@" || exit
		make -s -C "$TOP/rnbdadm" SAN=1 || exit
		[[ $REC/stamp -nt $CLI/recordings.py && $REC/stamp -nt $CLI/nlgen.py &&
			$REC/stamp -nt $TOP/include/netlink/rnbd.yaml ]] && exit
		rm -rf "$REC"
		"$PY" "$CLI/recordings.py" "$REC" && touch "$REC/stamp"
	) 9<"$TOP/build" >&2
}

# replay NAME [ROOT]: the next commands see this recording and this system
replay() { R=(--nl-replay "$REC/$1.nl" --test-time "$TIME" --test-root "$REC/${2:-root}"); }

# adm STATUS ARGS..: runs the tool on the recording; $output, $stderr
adm() {
	local want=$1
	shift
	run --separate-stderr "-$want" "$RNBDADM" "${R[@]}" "$@"
	printed "$@"
}

# printed ARGS..: every JSON that is printed is looked at by all_valid; the words are what a failed test says
printed() {
	local kind=any
	# those of the table, or a signal
	((status <= 12 || status > 128)) || return
	[[ " $*" != *" -"?(j|p)F* && " $*" != *" --fields"* ]] || kind=fields
	[[ $output != \{* ]] || printf '%s\0' $kind "$BATS_TEST_DESCRIPTION" "$output" >>"$BATS_FILE_TMPDIR/documents"
	printf '%s\n' "stdout: $output" "stderr: $stderr"
}

# alone STATUS ARGS..: the same without a recording
alone() {
	local want=$1
	shift
	run --separate-stderr "-$want" "$RNBDADM" "$@"
	printed "$@"
}

# instructions ARGS..: what the tool executes, which is the same each time, whatever else this machine does
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$PLAIN" "${R[@]}" "$@" 2>&1 >/dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}

# fails STATUS CODE ARGS..: the same status as text and as JSON, nothing on stdout in text, one document in JSON with this code;
# both say the same on stderr. The text comes last; the document is in $JSON.
fails() {
	local want=$1 code=$2 err
	shift 2
	adm "$want" "$@" -j
	[[ $output =~ ^\{\"schema\":\"([^\"]+)\" ]] || return
	valid "${BASH_REMATCH[1]}"
	[[ $output == *"\"error\":{\"code\":\"$code\",\"exit_status\":$want,"* ]] || return
	JSON=$output err=$stderr
	adm "$want" "$@"
	[ -z "$output" ] && [ "$stderr" = "$err" ] && [[ $stderr == "rnbdadm: "* ]]
}

jq() { gojq "$@"; }

jqv() { printf '%s' "$output" | jq -er "$1"; }

# valid SCHEMA: $output is one document that the closed schema takes. All of a file are looked at together, by its last test.
valid() { printf '%s\0' "$1" "$BATS_TEST_DESCRIPTION" "$output" >>"$BATS_FILE_TMPDIR/documents"; }

# the same with the schema that it names; "valid any" is of lines, each of which is one
valid_any() {
	[[ $output =~ \"schema\":\ ?\"([^\"]+)\" ]] || return
	valid "${BASH_REMATCH[1]}"
}

all_valid() {
	[ -s "$BATS_FILE_TMPDIR/documents" ]
	"$PY" "$CLI/contract.py" documents "$BATS_FILE_TMPDIR/documents"
}

# golden NAME: $output is as in golden/NAME; UPDATE=1 writes it
golden() {
	local f=$CLI/golden/$1
	[[ -z ${UPDATE-} ]] || printf '%s\n' "$output" >"$f"
	diff -u "$f" <(printf '%s\n' "$output")
}

# shown NAME ARGS..: text, JSON and CSV are as in the golden files, but for what is of this host. FORMS may be fewer, WANT is 0.
shown() {
	local name=$1 form
	shift
	for form in ${FORMS:-txt json csv}; do
		adm "${WANT:-0}" "$@" -o "${form/txt/text}"
		[[ $form != txt || ${WANT:-0} -ne 0 || -z $stderr ]]
		[[ $form != json ]] ||
			output=$(sed -E 's/"(monotonic_ns|waited_ms)":[0-9]+/"\1":0/; s/"(libnl|jansson)":"[^"]*"/"\1":"1"/g' <<<"$output")
		golden "$name.$form"
	done
}
