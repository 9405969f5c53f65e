# SPDX-License-Identifier: GPL-2.0
# The debug kernel, user-mode Linux: built from Debian's source package with debug.config and um.patch; kept in the cache by content.
# The patch makes stack traces and processes cost less, boots on hosts whose CPU has AMX, locks the counters of its network cards as lockdep wants it, and gives
# connections of RDMA, which in-tree modules take as they come, 4.3 s for an acknowledgement instead of 0.5: Soft-RoCE breaks them
# after that, and a host that is busy may hold a guest up for as long. Soft-RoCE keeps a queue pair while it puts a packet into its queue, which may have
# had the last reference (slab-use-after-free in rxe_sched_task()). Sourced after lib.bash.
# shellcheck shell=bash disable=SC2034,SC2153

DEBUG_FRAGMENT=$ROOT/tests/debug/debug.config
DEBUG_PATCH=$ROOT/tests/debug/um.patch
# Of the tree, what an external module is built from; the rest is gone once the kernel is built.
DEBUG_KEEP=(include arch/um arch/x86 scripts Makefile Module.symvers .config)

# Each line of the fragment against the configuration that came out: CONFIG_X=n is there as a comment or not at all
debug_config_took() {
	awk 'function name(s) { return substr(s, 1, index(s, "=") - 1) }
		NR == FNR { if (/^CONFIG_/) got[name($0)] = substr($0, index($0, "=") + 1); next }
		/^# CONFIG_.* is not set$/ { want = $2 "=n" }
		/^CONFIG_/ { want = $0 }
		want != "" {
			option = name(want); value = substr(want, index(want, "=") + 1)
			has = option in got ? got[option] : "n"
			if (has != value) { print option " is " has ", not " value; bad = 1 }
			want = ""
		}
		END { exit bad }' "$1" "$DEBUG_FRAGMENT" >&2
}

build_debug_kernel() {
	local tarball=$1 tmp=$2 build=$2/build rel part
	mkdir -p "$build" "$tmp/boot" "$tmp/keep" || return
	tar -C "$build" --strip-components=1 -xf "$tarball" --exclude='*/Documentation/*.rst' || return
	patch -d "$build" -p1 -s <"$DEBUG_PATCH" || return
	make -s -C "$build" ARCH=um KCONFIG_ALLCONFIG="$DEBUG_FRAGMENT" allnoconfig >&2 && debug_config_took "$build/.config" || return
	make -s -C "$build" ARCH=um -j"$(nproc)" linux modules >&2 || return
	make -s -C "$build" ARCH=um INSTALL_MOD_PATH="$tmp" DEPMOD=true modules_install >&2 || return
	rel=$(<"$build/include/config/kernel.release")
	cp "$build/linux" "$tmp/boot/vmlinuz-$rel" && cp "$build/System.map" "$tmp/boot/System.map-$rel" || return
	/sbin/depmod -b "$tmp" -F "$tmp/boot/System.map-$rel" "$rel" || return
	rm -f "$tmp/lib/modules/$rel"/{build,source}
	for part in "${DEBUG_KEEP[@]}"; do
		[[ -e $build/$part ]] || continue
		mkdir -p "$tmp/keep/$(dirname "$part")" && mv "$build/$part" "$tmp/keep/$part" || return
	done
	rm -rf "$build" && mv "$tmp/keep" "$build" || return
	find "$build/arch" "$build/include" -name '*.[oa]' -delete
}

# Prints the directory: boot/vmlinuz-REL, lib/modules/REL, build (what modules are built against)
debug_kernel() {
	local tarball=/usr/src/linux-source-$KERNEL.tar.xz version id
	[[ -e $tarball ]] || { say "$tarball is missing: run tests/deps.sh debug"; return 1; }
	version=$(dpkg-query -W -f '${Version}' "linux-source-$KERNEL") || return
	id=$(key "$(gcc --version | head -n 1)" "$(grep -E '^(CONFIG_|# CONFIG_.* is not set$)' "$DEBUG_FRAGMENT")" \
		"$(<"$DEBUG_PATCH")" "$(declare -f build_debug_kernel)" </dev/null) || return
	cached "debug-$version-$id" "debug kernel: build it (6 to 15 minutes)" build_debug_kernel "$tarball"
}
