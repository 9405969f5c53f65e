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
say "  ... boot the guest ($(tests/vm/lab accel))" || exit
tests/vm/lab run --mods "$modules" --timeout "${DEMO_TIMEOUT:-300}" tests/vm/demo.sh
rc=$?
if ((rc)); then
	say "demo: failed with status $rc after $((SECONDS - t0)) s"
	exit "$rc"
fi
