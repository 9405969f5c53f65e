# SPDX-License-Identifier: GPL-2.0
# Helpers of guest.bash: what the kernel has said, and what a run has left behind.
#
#   dmesg_mark, dmesg_clean     no kernel report since the last of the two; `dmesg_clean all`: since boot
#   dmesg_new                   what the kernel said since then
#   objects made|alive NOUN     how many of them our modules have made, or have now: their census. objects_are NOUN N: alive
#   census_even                 every object that was created was destroyed; census_clean: or it is in a few seconds
#   slab_clean                  none of our slab objects is left
# shellcheck shell=bash

DMESG_BAD='BUG|WARNING:|Oops|INFO: |rcu.*(stall|starved)|KASAN|KCSAN|UBSAN|hung_task|blocked for more than|refcount_t|Call Trace'
DMESG_BAD+='|general protection|NULL pointer|list_(add|del) corruption|Objects remaining|lockdep|deadlock|leaked|Kernel panic'
DMESG_BAD+='|: 0000000000000000$|still has|slab error|page allocation failure|scheduling while atomic|sleeping function|soft lockup|hard LOCKUP'
# Said by the stock kernel on any boot, no fault of anything here
DMESG_GOOD='module verification failed|loading out-of-tree module|clocksource|INFO: task .*/init'
DMESG_MARK='lab: mark'

# The mark is a line in the log itself: its clock is not that of user space
dmesg_mark() { echo "$DMESG_MARK" >/dev/kmsg; }

# What the kernel said since the mark
dmesg_new() { dmesg | awk -v mark="$DMESG_MARK" 'index($0, mark) { n = 0; next } !/ lab: test: / { line[n++] = $0 }
	END { for (i = 0; i < n; i++) print line[i] }'; }

# One pass, as each process costs some 50 ms here. Prints the log from the first complaint on.
dmesg_clean() {
	local report
	report=$(dmesg | awk -v mark="$DMESG_MARK" -v all="${1-}" -v bad="$DMESG_BAD" -v good="$DMESG_GOOD" '
		index($0, mark) { if (all == "") n = 0; next }
		/ lab: test: / { next }
		n && n < 60 { line[n++] = $0 }
		!n && $0 ~ bad && $0 !~ good { line[n++] = $0 }
		END { for (i = 0; i < n; i++) print line[i] }')
	dmesg_mark
	[[ -z $report ]] || {
		printf 'dmesg_clean: the kernel complained:\n%s\n' "$report" >&2
		return 1
	}
}

CENSUS=/sys/kernel/debug/rtrs/objects

# Lines of the census: <noun> <created> <destroyed>
objects() {
	local all noun made gone
	all=$(<$CENSUS) || return
	while read -r noun made gone; do
		[[ $noun != "$2" ]] || { [[ $1 == made ]] && echo "$made" || echo $((made - gone)); return; }
	done <<<"$all"
	fail "no $2 in the census"
}

objects_are() { [[ $(objects alive "$1") == "$2" ]]; }

# Sessions of the server side may take a moment to be gone
census_even() {
	local all noun made gone
	all=$(<$CENSUS) || return
	while read -r noun made gone; do
		[[ $made == "$gone" ]] || return
	done <<<"$all"
}

census_clean() {
	[[ -e $CENSUS ]] || return 0
	await 10 census_even 2>/dev/null && return
	awk '$2 != $3 { print "census: " $1 ": " $2 " created, " $3 " destroyed" }' $CENSUS >&2
	return 1
}

slab_clean() {
	local left
	left=$(awk '$1 ~ /^(rtrs|rnbd)[_-]/ && $2 > 0 { print "slab: " $1 ": " $2 " objects" }' /proc/slabinfo)
	[[ -z $left ]] || { echo "$left" >&2; return 1; }
}
