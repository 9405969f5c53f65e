#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What every file of the tree must have, and what none may.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

licence() {
	tree | grep -E '\.([chS]|sh|bash|bats|ya?ml|py)$|(^|/)(Makefile|Kbuild)$' | xargs -r -d '\n' awk '
		/SPDX-License-Identifier: .*GPL-2.0/ { has[FILENAME] }
		FNR == 3 { nextfile }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] ": no SPDX-License-Identifier: GPL-2.0" }'
}

whitespace() { tree | grep -vE '\.(md|nl|bin|json)$' | xargs -d '\n' grep -nIE '[[:blank:]]+$' | head -n 20; return 0; }

left_over() {
	sources kernel include rnbdadm | xargs -r grep -nE '\b(TODO|FIXME|XXX|HACK)\b|not (yet )?implemented'
	return 0
}

# Kernels are told apart in kernel/compat alone, and there by what kernel/Kbuild has found in their headers
version_tests() {
	sources kernel include | grep -v '^kernel/compat/' | xargs -r grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION\(|RNBD_(HAVE|NEED)_'
	return 0
}

# Directories that exist on every machine are all that a file may name by an absolute path
absolute_paths() {
	tree | grep -vE '^(LICENSE|\.clang-format)$|\.(nl|bin)$' | xargs -d '\n' grep -noIE "(^|[[:space:]\"'=(\`])/(home|root|work|mnt/[a-z]|opt|Users)/[A-Za-z0-9_.-]+" | head -n 20
	return 0
}

generated() {
	local out
	out=$(include/netlink/regen.sh --check 2>&1) || echo "include/netlink/regen.sh --check: $out"
}

# What programs are generated from the specification can tell a create from a destroy, and filter a dump (G18)
user_side() {
	local out noun said # progress is no fault
	out=$(mktemp) || return
	said=$(include/netlink/regen.sh --user rds "$out" 2>&1) || printf '%s\n' "$said" "include/netlink/regen.sh --user rds"
	sed -n "/^struct rds_path_ntf_rsp {/,/^}/p" "$out" | grep -q "enum rds_event event;" || echo "rds_path_ntf: no event"
	said=$(include/netlink/regen.sh --user rnbd "$out" 2>&1) || printf '%s\n' "$said" "include/netlink/regen.sh --user rnbd"
	for noun in session path device export; do
		sed -n "/^struct rnbd_${noun}_ntf_rsp {/,/^}/p" "$out" | grep -q "enum rnbd_event event;" || echo "rnbd_${noun}_ntf: no event"
	done
	for noun in session path device export stats port; do
		grep -q "^struct rnbd_${noun}_get_req_dump {" "$out" || echo "rnbd_${noun}_get_dump: no filter"
	done
	rm "$out"
}

large() { tree | xargs -r -d '\n' stat -c '%s %n' | awk '$1 > 262144 { sub(" ", " bytes: "); print }'; }

warns() { sources kernel | xargs -r grep -nE '\b(WARN(_ON)?(_ONCE)?|BUG(_ON)?|panic)[[:space:]]*\(' | grep -E '\bBUG|panic'; return 0; }

# What a module lets go of must not be itself: its text would run on unpinned (G19). THIS_MODULE is what others pin: an .owner or .module.
own_module() { sources kernel | xargs -r grep -nE '\bTHIS_MODULE\b' | grep -vE '\.(owner|module)[[:space:]]*= THIS_MODULE,$'; return 0; }

# A test that probes a function which has another name now would see nothing happen in it
probed() {
	local module function
	grep -rhoE "\b[pr]:[a-z_/]+ (rtrs|rnbd)_(core|client|server):[a-z_0-9]+" tests/vm tests/debug | sed 's/.* //' | sort -u | while IFS=: read -r module function; do
		grep -rqE "\b$function\(" "kernel/${module%%_*}/${module#*_}" || echo "$module has no function $function"
	done
}

# make bench measures what the statistics cost by what this takes out
bench_patch() { patch -p1 --dry-run -s <tests/bench/uncounted.patch; }

check "every file names its licence" licence
check "no white space at the end of a line" whitespace
check "nothing left undone" left_over
check "kernel versions are told apart in compat only" version_tests
check "no absolute path of one machine" absolute_paths
check "programs can be generated that understand events, and filter" user_side
check "generated files are up to date" generated
check "tests/bench/uncounted.patch follows the statistics" bench_patch
check "no file above 256 KiB" large
check "no BUG() or panic()" warns
check "no module drops a reference on itself" own_module
check "functions that tests probe are there" probed
finish
