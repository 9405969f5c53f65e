# SPDX-License-Identifier: GPL-2.0
# For the tests of rnbdadm: no kernel, no root; the kernel's answers come from recordings.
# shellcheck shell=bash disable=SC2034,SC2120,SC2154

TOP=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
CLI=$TOP/tests/cli
REC=$TOP/build/cli
PY=$(command -v /usr/bin/python3 || command -v python3)
PLAIN=$TOP/build/rnbdadm
RNBDADM=${RNBDADM:-$TOP/build/rnbdadm-san}
TIME=2026-11-20T20:04:11.123456Z
export LC_ALL=C TZ=UTC TERM=xterm PYTHONDONTWRITEBYTECODE=1
# A report tells where memory was used, and not who allocated it: those stacks are a fifth of a start. ASAN_OPTIONS=exitcode=99 has both.
export ASAN_OPTIONS=${ASAN_OPTIONS-exitcode=99:malloc_context_size=0} UBSAN_OPTIONS=${UBSAN_OPTIONS-exitcode=99}
unset COLUMNS NO_COLOR RNBDADM_CONFIG RNBDADM_OUTPUT

# prepare [TARGET]..: the binaries, the recordings and what else is to be made, once for all files of tests
prepare() {
	mkdir -p "$TOP/build"
	(
		flock 9
		make -s -C "$TOP/rnbdadm" all "$@" || exit
		make -s -C "$TOP/rnbdadm" SAN=1 || exit
		[[ -e $REC/stamp && -z $(find "$CLI"/{recordings,objects,access,systems,nlgen,rdsgen}.py "$TOP/include/netlink/rnbd.yaml" -newer "$REC/stamp") ]] && exit
		rm -rf "$REC"
		"$PY" "$CLI/recordings.py" "$REC" && touch "$REC/stamp"
	) 9<"$TOP/build" >&2
}

# replay NAME [ROOT]: the next commands see this recording and this system
replay() { R=(--nl-replay "$REC/$1.nl" --test-time "$TIME" --test-root "$REC/${2:-root}"); }

# own_root [NAME]: a copy of this system is the test's own, $ROOT
own_root() { ROOT=$BATS_TEST_TMPDIR/root && cp -r "$REC/${1:-root}" "$ROOT"; }

# world NAME: the next commands see this recording and $ROOT
world() { R=(--nl-replay "$REC/$1.nl" --test-time "$TIME" --test-root "$ROOT"); }

# grown STAT OPTIONS..: the system with this in rnbd0's counters
grown() {
	own_root
	printf '%s\n' "$1" >"$ROOT/sys/block/rnbd0/stat"
	world two-sessions
}

# run_plan LINES [ARG]..: what a dry run printed, as a shell runs it, each with these arguments of the tool
run_plan() {
	local more=("${@:2}")
	rnbdadm() { "$RNBDADM" "${R[@]}" "${more[@]}" "$@"; }
	run --separate-stderr -0 eval "$1"
}

# untraced COMMAND..: bats looks at the stack before each command of a test, and of what it calls, which takes longer than most
# commands do. Here it does so up to this function: what fails below is told with the line of the test, and says itself what it saw.
untraced() {
	local -
	set +T
	"$@"
}

# ran STATUS COMMAND..: as `run --separate-stderr -STATUS` is, with no process but that of the command. STATUS may be any.
ran() { untraced ran_ "$@"; }

ran_() {
	local want=$1 said=$BATS_TEST_TMPDIR/.said IFS=$'\n' -
	set +e -f
	shift
	"$@" >"$said" 2>"$said.err"
	status=$?
	output=$(<"$said") stderr=$(<"$said.err")
	# shellcheck disable=SC2206
	lines=($output) stderr_lines=($stderr)
	[[ $want == any || $want == "$status" ]] && return
	told
	BATS_ERROR_SUFFIX=", expected exit code $want, got $status"
	return 1
}

# The words are what a failed test says
told() { printf '%s\n' "stdout: $output" "stderr: $stderr"; }

# adm STATUS ARGS..: runs the tool on the recording; $output, $stderr
adm() { untraced alone_ "$1" "${R[@]}" "${@:2}"; }

# alone STATUS ARGS..: the same without a recording
alone() { untraced alone_ "$@"; }

alone_() {
	local want=$1
	shift
	ran_ "$want" "$RNBDADM" "$@" || return
	printed "$@"
}

# printed ARGS..: every JSON that is printed is looked at by all_valid
printed() {
	local kind=any
	# those of the table, or a signal
	((status <= 12 || status > 128)) || return
	[[ " $*" != *" -"?(j|p)F* && " $*" != *" --fields"* ]] || kind=fields
	[[ $output != \{* ]] || printf '%s\0' $kind "$BATS_TEST_DESCRIPTION" "$output" >>"$BATS_FILE_TMPDIR/documents"
	told
}

# instructions ARGS..: what the tool executes, which is the same each time, whatever else this machine does
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$PLAIN" "${R[@]}" "$@" 2>&1 >/dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}

# fails STATUS CODE ARGS..: the same status as text and as JSON, nothing on stdout in text, one document in JSON with this code;
# both say the same on stderr. The text comes last; the document is in $JSON.
fails() { untraced fails_ "$@"; }

fails_() {
	local want=$1 code=$2
	shift 2
	adm "$want" "$@" -j || return
	JSON=$output JSON_STDERR=$stderr
	[[ $output =~ ^\{\"schema\":\"([^\"]+)\" ]] || return
	valid "${BASH_REMATCH[1]}"
	[[ $output == *"\"error\":{\"code\":\"$code\",\"exit_status\":$want,"* ]] || return
	adm "$want" "$@" || return
	[[ -z $output && $stderr == "$JSON_STDERR" && $stderr == "rnbdadm: "* ]]
}

jq() { gojq "$@"; }

jqv() { printf '%s' "$output" | jq -er "$1"; }

jqc() { printf '%s' "$output" | jq -c "$1"; }

# nothing_sent: of what --trace printed, no request of a change
nothing_sent() {
	if grep -E -- "-> .* (map|unmap|remap|session-(set|add|del)|path-(add|del|reconnect|disconnect)) " <<<"$stderr"; then
		return 1
	fi
}

# prom: $output is Prometheus text, as our own checker sees it and, if it is there, theirs
prom() {
	"$PY" "$CLI/prom.py" <<<"$output" || return
	! command -v promtool >/dev/null || promtool check metrics <<<"$output" >&2
}

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
golden() { untraced golden_ "$@"; }

golden_() {
	local f=$CLI/golden/$1
	[[ -z ${UPDATE-} ]] || printf '%s\n' "$output" >"$f"
	[[ -e $f && $output == "$(<"$f")" ]] || diff -u "$f" <(printf '%s\n' "$output")
}

# shown NAME ARGS..: text, JSON and CSV are as in the golden files, but for what is of this host. FORMS may be fewer, WANT is 0.
shown() { untraced shown_ "$@"; }

shown_() {
	local name=$1 form
	shift
	for form in ${FORMS:-txt json csv}; do
		adm "${WANT:-0}" "$@" -o "${form/txt/text}" || return
		[[ $form != txt || ${WANT:-0} -ne 0 || -z $stderr ]] || return
		[[ $form != json ]] ||
			output=$(sed -E 's/"(monotonic_ns|waited_ms)":[0-9]+/"\1":0/; s/"(libnl|jansson)":"[^"]*"/"\1":"1"/g' <<<"$output")
		golden "$name.$form" || return
	done
}
