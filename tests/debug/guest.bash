# SPDX-License-Identifier: GPL-2.0
# What the guest's helpers do besides on the debug kernel: LAB_GUEST of tests/vm/guest.bash.
# shellcheck shell=bash disable=SC2034

# KASAN, UBSAN, lockdep and the debug objects say BUG, WARNING or their own name, which is looked for anyway
DMESG_BAD+='|corrupted stack|kmemleak: .*(disabled|[Cc]annot)'
# Said at boot by the detectors themselves; a line of a trace, whose head is looked for
DMESG_GOOD+='|RCU lockdep checking is enabled|ODEBUG: [0-9]+ of|[[]<[0-9a-f]+>[]] [?]? ?[a-z_]'

CARDS=vec VIRTIO=''
[[ ! -b /dev/ubda || -e /dev/vda ]] || ln -s ubda /dev/vda

END_CHECKS+=(coverage_kept detectors_alive nothing_leaked)

# What modules counted that are gone is in gcov's files
coverage_kept() {
	[[ ! -d /sys/kernel/debug/gcov$ROOT ]] || "$ROOT/build/tools/copy-tree" "/sys/kernel/debug/gcov$ROOT" "$LAB_OUT/gcov" .gcda
}

# lockdep and kmemleak switch themselves off at a report, or for want of memory: what comes after goes unseen. Not where they
# were set off on purpose.
detectors_alive() {
	[[ ! -e /run/lab/fired ]] || return 0
	grep -q '^ *debug_locks: *1$' /proc/lockdep_stats || { fail "lockdep is off"; return 1; }
	echo scan >/sys/kernel/debug/kmemleak || fail "kmemleak is off"
}

# Young objects, and those whose contents changed since the last scan, are not reported: the second scan counts. The kernel itself
# loses the name of a cache that it could not create (sysfs_slab_add).
nothing_leaked() {
	local report
	sleep 5
	echo scan >/sys/kernel/debug/kmemleak || return
	report=$(awk 'function out() { if (text != "" && text !~ /sysfs_slab_add/) printf "%s", text; text = "" }
		/^unreferenced object/ { out() } { text = text $0 "\n" } END { out() }' /sys/kernel/debug/kmemleak)
	[[ -z $report ]] || { head -n 60 <<<"$report" >&2; return 1; }
}
