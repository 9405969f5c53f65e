# SPDX-License-Identifier: GPL-2.0
# For tests that kill the tool at any moment of what it does. They set ADM, and check() says what must hold after each time.
# shellcheck shell=bash disable=SC2034,SC2154

# killed_after MS ARGS..: the command, killed then. Its end is not waited for by "run", which would hide how it ended.
killed_after() {
	local pid ms=$1
	shift
	"$ADM" "$@" >/dev/null 2>&1 3>&- &
	pid=$!
	read -rt "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))" -u "$NAP" || :
	kill -9 $pid 2>/dev/null || :
	if wait $pid; then DONE=$((DONE + 1)); else CUT=$((CUT + 1)); fi
}

# sweep MOMENTS ARGS..: killed at so many moments, and later ones until it is too late once: no stage of the command was left out.
# After each, check says what must hold and brings back what was. How long it takes is not asked of the first, for which hosts
# have to meet.
sweep() {
	local i last moments=$1
	shift
	took "$@" >/dev/null
	check
	last=$(took "$@")
	check
	nap
	CUT=0 DONE=0
	for ((i = 0; i < moments || (DONE == 0 && i < 3 * moments); i++)); do
		killed_after $((last * i / moments)) "$@"
		check
	done
	echo "# ${*:1:2}: killed $CUT times, done $DONE times" >&3
	((CUT >= moments / 3 && DONE >= 1))
}

took() {
	local t0=${EPOCHREALTIME/./}
	"$ADM" "$@" >/dev/null
	echo $(((${EPOCHREALTIME/./} - t0) / 1000))
}
