#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make demo` on the host: install what is missing, build, boot the guest that runs demo.sh; "demo-host.sh rds" is `make demo-rds`, with
# two guests, demo-rds.sh.

# shellcheck source=tests/lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
cd "$ROOT" || exit
t0=$SECONDS

case ${1-} in
rds)
	say "RDS demo: two virtual machines talk over TCP, one with our modules, the other with the kernel's"
	guests=(run2) script=(- tests/vm/demo-rds.sh)
	;;
*)
	say "RNBD demo: a disk of one host used by another over RDMA, in a virtual machine with Soft-RoCE"
	guests=(run) script=(tests/vm/demo.sh)
	;;
esac
tests/deps.sh demo || exit
modules=$(beat_out "build the modules for the guest's kernel" tests/vm/lab modules) || exit
beat "build rnbdadm" make -s rnbdadm || exit
[[ ${1-} != rds ]] || beat "build what talks" make -s -C tests/vm/tools || exit
tests/vm/lab kernel >/dev/null || exit
say "  ... boot ($(tests/vm/lab accel))"

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

# The other guest repeats what it is asked for, which demo-rds.sh has shown.
tests/vm/lab "${guests[@]}" --mods "$modules" --timeout "${DEMO_TIMEOUT:-300}" "${script[@]}" | grep --line-buffered -v '^# server: ' | pass_on
rc=${PIPESTATUS[0]}
if ((rc)); then
	say "demo: failed with status $rc after $((SECONDS - t0)) s"
	exit "$rc"
fi
