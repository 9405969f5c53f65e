# SPDX-License-Identifier: GPL-2.0
# Whether a part that failed is to be run once more: what this machine did meanwhile, and what that says. Sourced by tests/run.
# shellcheck shell=bash

STOOD_STILL=400 # milliseconds: the quickest of tests lose a path after these

# no_time [MORE]: it is too late to begin anything, by UNTIL and so many seconds
no_time() { [[ -n ${UNTIL-} ]] && ((EPOCHSECONDS >= UNTIL + ${1:-0})); }

# Notes when this machine stands still, be it its host's doing: until when, and for how long nothing ran here or a file that grows, as
# the console of a guest does, took nothing more; in milliseconds. A guest that is frozen, or a peer of it, loses paths and answers
# late, whatever its modules do.
stand_still() {
	local file now last
	exec {file}>"$LOGS/tick"
	last=$(now_ms)
	while [[ -d /proc/$$ ]]; do
		nap 100000
		echo >&"$file"
		now=$((${EPOCHREALTIME//[!0-9]/} / 1000))
		((now - last < STOOD_STILL)) || echo "$now $((now - last))" >>"$LOGS/stood-still"
		last=$now
	done
}

now_ms() { echo $((${EPOCHREALTIME//[!0-9]/} / 1000)); }

# What a part says, with the time at which it is done with each test beside it
stamped() {
	local line
	: >"$1"
	while IFS= read -r line || [[ -n $line ]]; do
		printf '%s\n' "$line"
		[[ ! $line =~ ^(not )?ok\  ]] || echo "$(now_ms) $line" >>"$1"
	done
}

# again GROUP LOG STATUS BEGUN: why what the part has said says nothing of what is tested, if there is time to run it once more. QEMU
# crashed, or the kernel in it before our first step; or it took no packets of a guest for seconds; or the machine stood still in each of
# the tests that failed; or one wait of many was too long, be it the driver's or the host's. What a kernel or a sanitizer reports is none.
again() {
	! no_time 0 || return 0
	if [[ $1 == vm && $3 == 126 ]]; then
		sed -nE 's/^(# server: )?lab: //p' "$2" | grep . || echo "the emulator crashed"
	elif ((!$3)) || grep -qE 'BUG|Oops|panic|KASAN|UBSAN|WARNING|Sanitizer|possible .* detected' "$2"; then
		return 0
	elif grep -qrs --include=console.log 'virtio_net .*: TX timeout on queue' "${2%.tap}"; then
		echo "the emulator took no packets of a guest's network card for seconds"
	elif (($(grep -c '^not ok ' "$2") == 1)) && grep -qE '^# one wait of [0-9]+ was too long' "$2"; then
		grep -oE 'one wait of [0-9]+ was too long' "$2"
	else
		awk -v begun="$4" '
			NR == FNR { till[++n] = $1; ms[n] = $2; next }
			FNR == 1 { from = begun }
			$2 == "not" {
				bad++
				for (i = 1; i <= n && !(till[i] >= from && till[i] - ms[i] <= $1); i++);
				if (i > n) exit bad = 0
				if (ms[i] > worst) worst = ms[i]
			}
			{ from = $1 }
			END { if (bad) print "this machine stood still for " worst " ms while a test ran that failed" }
		' "$LOGS/stood-still" "$2.stamps"
	fi | head -n 1
}
