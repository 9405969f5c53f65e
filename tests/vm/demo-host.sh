#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make demo` on the host: install what is missing, build, boot the guest that runs demo.sh.

# shellcheck source=tests/lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
cd "$ROOT" || exit
t0=$SECONDS

say "RNBD demo: a disk of one host used by another over RDMA, in a virtual machine with Soft-RoCE"
tests/deps.sh demo || exit
modules=$(beat_out "build the modules for the guest's kernel" tests/vm/lab modules) || exit
beat "build rnbdadm" make -s rnbdadm || exit
tests/vm/lab kernel >/dev/null || exit
say "  ... boot the guest ($(tests/vm/lab accel))"

# Passes lines on; says so when there was none for a while
pass_on() {
	local line rc t0=$SECONDS
	while :; do
		IFS= read -r -t 8 line
		rc=$?
		if ((rc == 0)); then
			printf '%s\n' "$line"
		elif ((rc > 128)); then
			printf '%s' "$line"
			say "  ... still at it, $((SECONDS - t0)) s"
		else
			printf '%s' "$line"
			return
		fi
	done
}

tests/vm/lab run --mods "$modules" --timeout "${DEMO_TIMEOUT:-300}" tests/vm/demo.sh | pass_on
rc=${PIPESTATUS[0]}
if ((rc)); then
	say "demo: failed with status $rc after $((SECONDS - t0)) s"
	exit "$rc"
fi
