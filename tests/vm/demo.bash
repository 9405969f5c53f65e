# SPDX-License-Identifier: GPL-2.0
# What the demos have in common: each step with the command lines it runs and what they print. The first that fails ends it.
# shellcheck shell=bash

title=''
step() {
	title=$1
	printf '\n== %s\n' "$title"
}

stop() {
	printf 'demo: failed: %s: %s\n' "$title" "$1"
	dmesg | tail -n 15 | sed 's/^/  kernel: /'
	trap - EXIT
	exit 1
}
trap 'stop "ended unexpectedly"' EXIT

# run CMD...: shows the line as typed, then runs it
run() {
	local shown=${*@Q}
	printf '# %s\n' "${shown//\'/}"
	"$@"
	local rc=$?
	((rc == 0)) || stop "\`${shown//\'/}\` ended with status $rc"
}

modfile() { find -L "$MODS" -name "$1.ko" -print -quit; }
