# SPDX-License-Identifier: GPL-2.0
# Helpers for scripts and .bats files that run inside the lab's guest. Everything fails loudly: a message on stderr and a
# status that is not 0. Works under set -e (bats). Here is what all of them need, and processes, the tool, netlink; by their
# subjects, each with a list like this one:
#
#   guest/network.bash          interfaces, addresses, RDMA links
#   guest/modules.bash          loads and unloads the modules
#   guest/checks.bash           what the kernel has said, what a run has left behind
#   guest/disks.bash            disks to export, disks that are mapped, what they are asked for
#   guest/peer.bash             two guests: the other one
#
#   await SECONDS CMD...        until CMD succeeds, looked at every 50 ms, less often where it takes long
#   nap [US]                    so long, 50 ms where it is not said, below a second; without a process
#   lasting SECONDS             how long a test goes on that just lasts: a third on kernels but the first, less where a second is
#                               dear (LAB_SLOW)
#   seconds_since T             since T, which was $EPOCHREALTIME then: "1.23"; spread FILE: what median and worst of such are
#   ends_badly PID              waits for this child, which must fail. Not by "run", whose shell has no such child.
#   dead PID                    this process is through, though nobody may have waited for it
#   asleep PID                  it waits in the kernel, and no signal but that of a kill ends it
#   waits_in PID PATTERN        it waits in a function whose name matches; worker_in PATTERN: so does any process, innermost first
#   adm STATUS ARGS..           $ADM ends with this status; $output, $stderr
#   refused STATUS CODE WORDS ARGS..   the same as text and as JSON, and the message holds the words
#   adm_is FILTER ARGS..        the JSON of this command of $ADM passes the filter of jq
#   jqe FILTER..                so does that in $output, by all of these: one process, which is what takes the time
#   record FILE ARGS..          "$ADM monitor ARGS.. -j" writes to FILE, of which it has written the begin; its process is $RECORDER.
#                               record_end FILE: it ends as it should
#   set_list JSON               the access list of the server, or its state, by ynl
#   ynl ARGS..                  a client of netlink that shares no code with ours: see there
#   document TEXT [ARGS..]      TEXT is what the tool printed for ARGS: JSON in it is held against
#                               the schemas when the guest is gone; "run", adm_is and record_end do it themselves
# shellcheck shell=bash

# Before each command bats notes where it is, which takes 10 ms here: only in the file of tests from now on, not in helpers
if declare -F "${BATS_TEST_NAME-}" >/dev/null; then
	set +T
	# shellcheck disable=SC2046
	declare -ft $(compgen -A function -X 'bats_*')
	# Not what the kernel said: dmesg_new and dmesg_clean leave it out
	echo "lab: test: ${BATS_TEST_DESCRIPTION-}" >/dev/kmsg
fi

fail() {
	echo "${FUNCNAME[1]}: $*" >&2
	return 1
}

# shellcheck source=tests/nap.bash
. "$ROOT/tests/nap.bash"

# The tool under test. What its sanitizers report is in files, as not everybody looks at its stderr; as in tests/cli without the
# stacks of allocations.
ADM=$ROOT/build/${LAB_TOOL:-rnbdadm}
export ASAN_OPTIONS=log_path=$LAB_OUT/sanitizers:malloc_context_size=0 UBSAN_OPTIONS=log_path=$LAB_OUT/sanitizers

jq() { gojq "$@"; }

# As printed() of tests/cli; what is on stderr may be between the lines
document() {
	local kind=any text='' line
	if [[ $1 == $'{\n  "schema": "rnbdadm.'* ]]; then
		text=$1
	elif [[ $1 == *'{"schema":"rnbdadm.'* ]]; then
		while IFS= read -r line; do
			[[ $line != '{"schema":"rnbdadm.'* ]] || text+=$line$'\n'
		done <<<"$1"
	fi
	[[ " ${*:2}" != *" -"?(j|p)F* && " ${*:2}" != *" --fields"* ]] || kind=fields
	[[ -z $text ]] || printf '%s\0' $kind "${BATS_TEST_DESCRIPTION-}" "$text" >>"$LAB_OUT/documents"
}

if declare -F run >/dev/null && ! declare -F bats_plain_run >/dev/null; then
	eval "bats_plain_$(declare -f run)"
	run() {
		local rc=0
		bats_plain_run "$@" || rc=$?
		# shellcheck disable=SC2154 # that sets it
		document "$output" "$@"
		return "$rc"
	}
fi

adm_is() {
	local filter=$1
	shift
	"$ADM" "$@" -j >/tmp/adm.json
	document "$(</tmp/adm.json)" "$@"
	jq -e "$filter" /tmp/adm.json >/dev/null || fail "not so: $filter: $(</tmp/adm.json)"
}

jqe() {
	local all
	printf -v all ' and (%s)' "$@"
	jq -e "true$all" <<<"$output" >/dev/null || { printf '%s\n' "not so: $*" "$output"; return 1; }
}

set_list() {
	run -0 ynl "do" access-set "$1"
	jqe '.error == null'
}

adm() {
	local want=$1
	shift
	run --separate-stderr "$ADM" "$@"
	# shellcheck disable=SC2154 # both are of "run"
	printf '%s\n' "\$ rnbdadm $*" "$output" "$stderr" "exit code $status"
	[[ $status == "$want" ]]
}

refused() {
	local want=$1 code=$2 words=$3
	shift 3
	adm "$want" "$@" -j &&
		jq -e --arg code "$code" --argjson want "$want" '.error.code == $code and .error.exit_status == $want' <<<"$output" &&
		adm "$want" "$@" && [[ -z $output && $stderr == "rnbdadm: "* && $stderr == *$words* ]]
}

record() {
	: >"$1" # what is awaited may be there from before
	"$ADM" monitor "${@:2}" -j >"$1" 3>&- & RECORDER=$!
	await 20 grep -q '"event":"sync"' "$1"
}

record_end() { kill "$RECORDER" && wait "$RECORDER" && document "$(<"$1")"; }

# ynl ARGS..: the document that tests/vm/ynl.py prints for them. One process does it for all tests of a file.
ynl() {
	local dir=/run/tmp/ynl answer said
	if [[ ! -p $dir/ask ]]; then
		mkdir $dir && { "$ROOT/tests/vm/ynl.py" --serve $dir >/dev/null 2>&1 3>&- & } && await 20 test -p $dir/ask || return
	fi
	read -rN 1 answer <$dir/free && { printf '%s\37' "$answer" "$@" && printf '\36'; } >$dir/ask && said=$(<"$dir/$answer") || return
	printf %s "$answer" >$dir/free
	printf '%s\n' "$said"
	[[ $said == "{"* ]]
}

await() {
	local limit=$(($1 * ${LAB_SLOW:-1})) until now rest
	shift
	now=${EPOCHREALTIME/./}
	until=$((now + limit * 1000000))
	until "$@"; do
		# twice as long as it took to look: where that is dear, what is awaited needs the CPU, too
		rest=$((${EPOCHREALTIME/./} - now << 1))
		((now + rest / 2 < until)) || { fail "not within $limit s: $*"; return 1; }
		nap $((rest < 50000 ? 50000 : rest < 400000 ? rest : 400000))
		now=${EPOCHREALTIME/./}
	done
}

lasting() {
	local share=${LAB_SLOW:-1}
	[[ $KERNEL == 6.1 || $share -gt 1 ]] || share=3
	echo $(($1 / share))
}

seconds_since() {
	local us=$((${EPOCHREALTIME/./} - ${1/./}))
	printf '%d.%02d\n' $((us / 1000000)) $((us % 1000000 / 10000))
}

spread() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.2f s (median), %.2f s (worst)\n", v[int((NR + 1) / 2)], v[NR] }'; }

ends_badly() { ! wait "$1" || fail "process $1 met no error"; }

dead() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ ${stat##*) } == Z* ]]
}

asleep() {
	local stat
	read -r stat <"/proc/$1/stat" && [[ ${stat##*) } == D* ]]
}

worker_in() { grep -lqzE "$1" /proc/[0-9]*/stack 2>/dev/null; }

waits_in() { [[ $(<"/proc/$1/stack") =~ $2 ]]; }

for each in network modules checks disks peer; do
	# shellcheck disable=SC1090
	. "$ROOT/tests/vm/guest/$each.bash"
done

sanitizers_silent() { ! cat "$LAB_OUT"/sanitizers.* 2>/dev/null; }

# What is looked for at the end of a run, besides
# shellcheck disable=SC2034 # bats-guest, server-loop
case $ADM in
*-san) END_CHECKS=(sanitizers_silent) ;;
*) END_CHECKS=() ;;
esac
# shellcheck disable=SC1090
[[ -z ${LAB_GUEST-} ]] || . "$LAB_GUEST"
