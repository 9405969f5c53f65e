# SPDX-License-Identifier: GPL-2.0
# Helpers for .bats files with a peer in user space, tests/fuzz/hostile, beside those of guest.bash. The server is at 10.0.0.1, and
# has /dev/slow, of setup_slow.
#
#   setup_slow                  a disk that takes a second for a request, and ends it in a hard interrupt
#   [DISK=DEVICE] hostile NAME..   these tests, with DISK (/dev/ram0)
#   invalidating Y|N            the server in this mode of always_invalidate
#   only Y|N NAME..             these tests, in this mode; both NAME..: in each of them
#   nobody_there                sessions of peers are gone, with all that they had open
# shellcheck shell=bash

. "$ROOT/tests/vm/guest.bash"

HOSTILE=$ROOT/build/hostile/hostile
ALWAYS_INVALIDATE=/sys/module/rtrs_server/parameters/always_invalidate

setup_slow() { null_disk slow size=64 irqmode=2 completion_nsec=1000000000; }

hostile() { timeout -k 5 180 "$HOSTILE" 10.0.0.1 1234 "${DISK:-/dev/ram0}" /dev/slow "$@"; }

invalidating() {
	[[ $(cat $ALWAYS_INVALIDATE 2>/dev/null) != "$1" ]] || return 0
	unload rnbd-server rtrs-server && load_server sess_queue_depth=64 always_invalidate="$1"
}

nobody_there() { no_exports && census_even; }

only() {
	local rc=0
	invalidating "$1" || return
	hostile "${@:2}" || { rc=$?; echo "always_invalidate=$1: status $rc"; }
	await 30 nobody_there && return "$rc"
}

# The one that it is in first
both() {
	local first second=N
	first=$(<$ALWAYS_INVALIDATE)
	[[ $first == Y ]] || second=Y
	only "$first" "$@" && only "$second" "$@"
}
