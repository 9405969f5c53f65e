# SPDX-License-Identifier: GPL-2.0
# What the guest's helpers do besides on the debug kernel: LAB_GUEST of tests/vm/guest.bash.
# shellcheck shell=bash disable=SC2034

# KASAN, UBSAN, lockdep and the debug objects say BUG, WARNING or their own name, which is looked for anyway
DMESG_BAD+='|corrupted stack|kmemleak: .*(disabled|[Cc]annot)'
# Said at boot by the detectors themselves
DMESG_GOOD+='|RCU lockdep checking is enabled|ODEBUG: [0-9]+ of'

END_CHECKS+=(coverage_kept detectors_alive nothing_leaked)

# Files of gcov's have no size: each is read to its end. What modules counted that are gone is in them.
coverage_kept() {
	[[ -d /sys/kernel/debug/gcov$ROOT ]] || return 0
	python3 - "/sys/kernel/debug/gcov$ROOT" "$LAB_OUT/gcov" <<-'END'
		import os, sys
		top, out = sys.argv[1:]
		for where, _, names in os.walk(top):
		    for name in names:
		        if name.endswith(".gcda"):
		            to = out + where[len(top):]
		            os.makedirs(to, exist_ok=True)
		            with open(where + "/" + name, "rb") as f, open(to + "/" + name, "wb") as g:
		                g.write(f.read())
	END
}

# lockdep and kmemleak switch themselves off at a report, or for want of memory: what comes after goes unseen. Not where they
# were set off on purpose.
detectors_alive() {
	[[ ! -e /run/lab/fired ]] || return 0
	grep -q '^ *debug_locks: *1$' /proc/lockdep_stats || { fail "lockdep is off"; return 1; }
	echo scan >/sys/kernel/debug/kmemleak || fail "kmemleak is off"
}

# Young objects, and those whose contents changed since the last scan, are not reported: the second scan counts
nothing_leaked() {
	sleep 5
	echo scan >/sys/kernel/debug/kmemleak || return
	! grep -m1 -A 40 '^unreferenced object' /sys/kernel/debug/kmemleak >&2
}
