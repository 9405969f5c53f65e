#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# For each kernel of the lab the modules build with W=1 and sparse (endian checks) without a word; names of global symbols tell
# their module, and its files call each other as docs/dev/architecture.md says. The lab has built them with W=1 for its guests, and
# has kept what was said: sparse alone is run here.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
. "$ROOT/tests/vm/lib/kernel.bash"

log=$(mktemp) || exit
trap 'rm -f "$log"' EXIT
export QUIET
QUIET=$CACHE/quiet/$(key "sparse $(sparse --version)" </dev/null) && mkdir -p "$QUIET" || exit

# build NAME: its tree is build/NAME-REL
build() {
	out=''
	dir=$(lab_modules "$1" C=2 CHECK="$ROOT"/tests/lint/sparse CF=-D__CHECK_ENDIAN__ 2>"$log") || out=$(echo "exit status $?" && tail -n 40 "$log")
	said=${dir%/kernel}/said
}

# Not those in the kernel's own headers
complaints() {
	grep -E '(warning|error):' "$said" | awk -v theirs="$(dirname "$(lab_headers)")/" '
		index($0, theirs) != 1 && !seen[$0]++ { sub(/.*\/(build|place)\/[^\/]*\//, ""); print }'
}

symbols() {
	local part=$1 prefix=$2
	find "$dir/$part" -name '*.o' ! -name '*.mod.o' ! -path '*/.tmp*' -print0 2>/dev/null | xargs -0 -r nm -A --defined-only --extern-only |
		sed 's,^.*/kernel/,kernel/,' |
		awk -v p="^(__[a-z]+_)*$prefix" '$NF !~ p && $NF !~ /^(init_module|cleanup_module|__this_module|____?versions|__mod_.*|__UNIQUE_ID.*|__(SCK|SCT|tracepoint|traceiter|probestub|bpf_trace.*|event|SCK__tp_func|crc)_.*)$/' | sort -u
}

# Calls of a module that docs/dev/architecture.md does not have: to a file that stands in front of the caller there, or of one that is
# not there. Calls by pointer and what is inline are not seen.
calls() {
	local objects=("kernel/$1"/*.c) # the tree may have those of files that are gone
	objects=("${objects[@]/#kernel/"$dir"}")
	nm -A "${objects[@]/%.c/.o}" | sed 's,^.*/,,; s,\.o: *, ,' |
		awk -v name="$1" '
			FILENAME != "-" && (!NF || /^`/) { on = 0 }
			FILENAME != "-" && on {
				for (i = 2; i <= NF; i++) {
					n++
					for (j = split($i, same, "="); j; j--) {
						if (same[j] in place) print same[j] " is twice in the list"
						place[same[j]] = n
					}
				}
			}
			FILENAME != "-" { if ($0 == name) on = 1; next }
			!($1 in place) { print $1 " is not in the list"; place[$1] = n }
			{ seen[$1] }
			$(NF - 1) ~ /^[Uwv]$/ { used[$1 " " $NF] }
			$(NF - 1) ~ /^[TDBRVWGC]$/ { at[$NF] = $1 }
			END {
				if (!n) print "no list"
				for (f in place) if (!(f in seen)) print f " is in the list, and no file"
				for (u in used) {
					split(u, a, " ")
					to = at[a[2]]
					if (to != "" && place[to] < place[a[1]]) print a[1] " calls " a[2] " of " to
				}
			}' docs/dev/architecture.md -
}

# A kernel without InfiniBand loads them
rds_needs() { modinfo -F depends "$dir/rds.ko" "$dir/rds_tcp.ko" | grep -vxE '(rds)?'; }

for KERNEL in $KERNELS; do
	build lab
	# Were the sources others when that was said? Guests may be using that tree: a new one tells.
	if [[ -n $dir && -n $(complaints) ]]; then
		older=$said
		rm -rf build/lint-*
		build lint
		[[ -z $dir || -n $(complaints) ]] || : >"$older"
	fi
	verdict "$KERNEL: the modules build" "$out"
	[[ -n $dir ]] || continue
	check "$KERNEL: W=1 and sparse say nothing" complaints
	check "$KERNEL: rds and rds_tcp need no module but rds" rds_needs
	# The generator names what belongs to the netlink family after the family, which is rnbd
	for m in 'rtrs/core:(rtrs_|rnbd_nl_|rnbd_[a-z_]*_nl_policy)' rtrs/client:rtrs_client_ rtrs/server:rtrs_server_ rnbd/client:rnbd_client_ rnbd/server:rnbd_server_ rds/core:rds_ rds/tcp:rds_tcp_; do
		check "$KERNEL: global symbols of ${m%:*} start with ${m#*:}" symbols "${m%:*}" "${m#*:}"
	done
	for m in rtrs/core rtrs/client rtrs/server rnbd/client rnbd/server rds/core rds/tcp; do
		check "$KERNEL: files of $m call those alone that stand behind them in docs/dev/architecture.md" calls "$m"
	done
done
finish
