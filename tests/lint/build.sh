#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# For each kernel of the lab the modules build with W=1 and sparse (endian checks) without a word; names of global symbols tell
# their module. The lab builds them with W=1 for its guests, and keeps what was said, so sparse alone is run here.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
. "$ROOT/tests/vm/lib/kernel.bash"

# Not those in the kernel's own headers
complaints() {
	grep -E '(warning|error):' "$tree/said" | awk -v theirs="$(dirname "$(lab_headers)")/" '
		index($0, theirs) != 1 && !seen[$0]++ { sub(/.*\/build\/lab-[^\/]*\//, ""); print }'
}

symbols() {
	local part=$1 prefix=$2
	find "$dir/$part" -name '*.o' ! -name '*.mod.o' ! -path '*/.tmp*' -print0 2>/dev/null | xargs -0 -r nm -A --defined-only --extern-only |
		sed 's,^.*/kernel/,kernel/,' |
		awk -v p="^(__[a-z]+_)*$prefix" '$NF !~ p && $NF !~ /^(init_module|cleanup_module|__this_module|____?versions|__mod_.*|__UNIQUE_ID.*|__(SCK|SCT|tracepoint|traceiter|probestub|bpf_trace.*|event|SCK__tp_func|crc)_.*)$/' | sort -u
}

build() { dir=$(lab_modules lab C=2 CF=-D__CHECK_ENDIAN__ 2>/dev/null) || out=$(tail -n 40 "$tree/said"); }

for KERNEL in $KERNELS; do
	tree=build/lab-$(lab_release) out=''
	build
	# of sources that were others then?
	[[ -z $(complaints) ]] || { rm -rf "$tree" && build; }
	verdict "$KERNEL: the modules build" "$out"
	check "$KERNEL: W=1 and sparse say nothing" complaints
	[[ -n $dir ]] || continue
	# The generator names what belongs to the netlink family after the family, which is rnbd
	for m in 'rtrs/core:(rtrs_|rnbd_nl_|rnbd_[a-z_]*_nl_policy)' rtrs/client:rtrs_client_ rtrs/server:rtrs_server_ rnbd/client:rnbd_client_ rnbd/server:rnbd_server_; do
		check "$KERNEL: global symbols of ${m%:*} start with ${m#*:}" symbols "${m%:*}" "${m#*:}"
	done
done
finish
