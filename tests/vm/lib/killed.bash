# SPDX-License-Identifier: GPL-2.0
# For tests that kill the tool. Where they do so at any moment, check() of theirs says what must hold after each time.
# shellcheck shell=bash disable=SC2034,SC2154

# killed_after MS ARGS..: the command, killed then, or done: status 1. Its end is not waited for by "run", which would hide how it ended.
killed_after() {
	local pid ms=$1
	shift
	"$ADM" "$@" >/dev/null 2>&1 3>&- &
	pid=$!
	read -rt "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))" -u "$NAP" || :
	kill -9 $pid 2>/dev/null || :
	if ! wait $pid; then
		CUT=$((CUT + 1))
	else
		DONE=$((DONE + 1))
		return 1
	fi
}

# killed_while WHAT PID MS: it is killed, and gone within this time on a host that is no slower than others
killed_while() {
	local ms=${EPOCHREALTIME/./}
	kill -9 "$2"
	! wait "$2" || fail "it was not killed"
	ms=$(((${EPOCHREALTIME/./} - ms) / 1000))
	echo "# killed while $1: gone after $ms ms" >&3
	((ms < $3 * ${LAB_SLOW:-1}))
}

# sweep MOMENTS ARGS..: killed at so many moments, each later than the one before, and from the first again when it was too late:
# no stage of the command is left out, and a command that gets faster meanwhile is killed all the same. After each, check says
# what must hold and brings back what was. How long it takes is not asked of the first, for which hosts have to meet. Begins anew
# while enough() fails, as moments of which nothing was seen may have been passed over.
enough() { :; }

sweep() {
	local i ms=0 all step moments=$1
	shift
	took "$@" >/dev/null
	check
	all=$(took "$@")
	step=$((all / moments))
	check
	nap
	CUT=0 DONE=0
	for ((i = 0; i < 6 * moments; i++)); do
		((i < moments || (i < 3 * moments && (DONE == 0 || CUT < moments / 3)))) || ! enough || break
		if killed_after $ms "$@"; then
			((ms += step))
		else
			step=$((ms / moments)) ms=0
		fi
		check
	done
	echo "# ${*:1:2}: killed $CUT times, done $DONE times, takes $all ms" >&3
	((CUT >= moments / 3 && DONE >= 1))
}

took() {
	local t0=${EPOCHREALTIME/./}
	"$ADM" "$@" >/dev/null || fail "cannot $*" || return
	echo $(((${EPOCHREALTIME/./} - t0) / 1000))
}
