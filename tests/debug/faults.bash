# SPDX-License-Identifier: GPL-2.0
# Which allocations are failed by build/debug/nth. Sourced in the guest, after guest.bash.
# shellcheck shell=bash disable=SC2034

NTH=$ROOT/build/debug/nth

# functions PATTERN: where the functions begin and end whose line of kallsyms matches, as one range. Addresses are compared as text: to
# awk some are numbers, "60e1" among them.
functions() { awk -v what="$1" '$2 !~ /[tT]/ { next }
	{ at = "0x" $1 }
	NR == FNR { if ($0 ~ what) { if (!n++ || at < lo) lo = at; if (at > hi) hi = at } next }
	at > hi && (end == "" || at < end) { end = at }
	END { if (!n) exit 1; if (end == "") end = "0xffffffffffffffff"; print lo, end }' /proc/kallsyms /proc/kallsyms; }

# faults_below PATTERN: only those that such a function is waiting for. What kmemleak allocates for itself does not count, nor does
# what others do for a module that is loaded, before its own code runs: the events of traces warn of it.
faults_below() {
	local range others attr cache
	range=$(functions "$1") || { fail "no function matches $1"; return 1; }
	others=$(functions ' blocking_notifier_call_chain_robust$') || { fail "no function that tells of modules"; return 1; }
	for attr in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		echo "${range% *}" >"$attr/require-start" && echo "${range#* }" >"$attr/require-end" &&
			echo "${others% *}" >"$attr/reject-start" && echo "${others#* }" >"$attr/reject-end" && echo 0 >"$attr/probability" &&
			echo 1 >"$attr/interval" && echo 0 >"$attr/verbose" && echo N >"$attr/ignore-gfp-wait" && echo -1 >"$attr/times" || return
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order && echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem || return
	for cache in /sys/kernel/slab/*; do
		[[ $cache == */kmemleak_* ]] || echo 1 >"$cache/failslab" || return
	done
	echo Y >/sys/kernel/debug/failslab/cache-filter
}

# What the kernel says of a failed allocation, with a trace or without, is no report here. The end of the run need not see it.
only_failed_allocations() {
	local DMESG_BAD=${DMESG_BAD/|Call Trace/}
	DMESG_BAD=${DMESG_BAD/|page allocation failure/}
	dmesg_clean && dmesg -c >/dev/null
}
