# SPDX-License-Identifier: GPL-2.0
# Shared by the host-side scripts under tests/: messages, the heartbeat, the cache.
# shellcheck shell=bash disable=SC2034,SC2153,SC1091

set -o pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${RNBD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rnbd}
KERNELS='6.1 6.12' # the first is the one for which the host has headers installed
KERNEL=${KERNEL:-${KERNELS%% *}}

# shellcheck source=tests/nap.bash
. "$ROOT/tests/nap.bash"

# What a run has compiled of the same bytes by the same command no later one compiles: ccache stands behind the names of the compilers,
# for all that makes, be it dpkg-buildpackage or DKMS. It repeats the warnings, too. It keys by dependencies, as kbuild has them written.
export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=2G CCACHE_DEPEND=1
[[ $PATH == /usr/lib/ccache:* ]] || PATH=/usr/lib/ccache:$PATH

# places FILE: where CI runs a .bats file of guests, by its lines "# lab: on PLACE [for REGEX]: WHY": 6.1, 6.12, debug; REGEX picks
# tests by their names, where others can do better: tests_at FILE PLACE
places() { sed -nE 's/^# lab: on ([^ :]+)( for [^:]+)?: .+/\1/p' "$1"; }
tests_at() { sed -nE "s/^# lab: on $2 for ([^:]+): .+/\\1/p" "$1"; }

say() { printf '%s\n' "$*" >&2; }

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# beat WHAT CMD...: run CMD; say what goes on now, and again every 8 s while it lasts. On failure show the end of what CMD
# printed. beat_out keeps CMD's stdout as its own.
beat() { beat_to "" "$@"; }
beat_out() { beat_to stdout "$@"; }

beat_to() {
	local to=$1 what=$2 log pulse rc=0 t0=$SECONDS
	shift 2
	log=$(mktemp "${TMPDIR:-/tmp}/rnbd-log.XXXXXX") || return
	say "  ... $what"
	(
		exec >/dev/null
		trap 'kill "$nap" 2>/dev/null; exit 0' TERM
		while kill -0 $$ 2>/dev/null; do
			sleep 8 & nap=$!
			wait "$nap"
			say "  ... $what, $((SECONDS - t0)) s"
		done
	) &
	pulse=$!
	if [[ -n $to ]]; then
		"$@" 2>"$log" || rc=$?
	else
		"$@" >"$log" 2>&1 || rc=$?
	fi
	kill "$pulse" 2>/dev/null
	wait "$pulse" 2>/dev/null
	if ((rc)); then
		say "$what: failed (exit status $rc):"
		tail -n 25 "$log" | sed 's/^/    /' >&2
	fi
	rm -f "$log"
	return "$rc"
}

# key WORD...: a short name for the contents of the files named on stdin and the words given
key() { { printf '%s\n' "$@"; xargs -r -d '\n' cat; } | sha256sum | cut -c1-16; }

# cached NAME WHAT BUILD...: print $CACHE/NAME, made by `BUILD... TMPDIR` when it is not there. Made aside and renamed
# under a lock, so that neither an interrupted nor a parallel run leaves or sees half of it.
cached() {
	local dir=$CACHE/$1 what=$2 tmp lock
	shift 2
	if [[ ! -e $dir ]]; then
		mkdir -p "$(dirname "$dir")" || return
		exec {lock}>"$dir.lock" || return
		flock -n "$lock" || beat "$what: another run is at it" flock -w 900 "$lock" || return
		if [[ ! -e $dir ]]; then
			rm -rf "$dir".tmp.*
			tmp=$(mktemp -d "$dir.tmp.XXXXXX") && chmod 755 "$tmp" || return
			if ! beat "$what" "$@" "$tmp" {lock}>&-; then
				rm -rf "$tmp"
				return 1
			fi
			mv -T "$tmp" "$dir" || return
		fi
		exec {lock}>&-
	fi
	printf '%s\n' "$dir"
}
