# SPDX-License-Identifier: GPL-2.0
# What the lab does otherwise with the debug kernel: LAB_HOOK of tests/vm/lab.
# shellcheck shell=bash disable=SC2034,SC2153

# shellcheck source=tests/debug/kernel.bash
. "$ROOT/tests/debug/kernel.bash"

DEBUG_KERNEL=$(debug_kernel) || exit 1

lab_kernel() { printf '%s\n' "$DEBUG_KERNEL"; }
lab_headers() { printf '%s\n' "$DEBUG_KERNEL/build"; }
lab_release() { cat "$DEBUG_KERNEL/build/include/config/kernel.release"; }
lab_version() { printf '%s\n' "${DEBUG_KERNEL##*/}"; }

# All that the first steps of a guest need is built in
BOOT_MODULES=()
LAB_MAKE=(KCFLAGS=-g GCOV_PROFILE=y)

# Without ACPI one CPU per socket is found. The first KASAN report must not be the only one. A host that is busy must not look
# like a kernel that hangs.
LAB_CPUS=${LAB_CPUS:-2},sockets=${LAB_CPUS:-2}
LAB_APPEND="nokaslr kasan_multi_shot watchdog_thresh=30 workqueue.watchdog_thresh=120 ${LAB_APPEND-}"
LAB_SLOW=${LAB_SLOW:-6}
LAB_GUEST=$ROOT/tests/debug/guest.bash
LAB_ENV="${LAB_ENV-} LAB_SLOW LAB_GUEST"

# Built once for a run of many files, whatever happens to the sources meanwhile: coverage is of one build
if [[ -n ${DEBUG_MODS-} ]]; then
	lab_modules() { printf '%s\n' "$DEBUG_MODS"; }
fi
