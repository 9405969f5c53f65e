#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs what is missing on Debian 12: `tests/deps.sh demo` for make demo, `tests/deps.sh check` for make check,
# `tests/deps.sh debug` for make check-debug, `tests/deps.sh list [LEVEL]` prints it. As root or through sudo. The kernels of
# the lab are not installed: their images, and the headers of those but the first, are fetched from the archive and unpacked
# in the cache.

# shellcheck source=tests/lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=tests/vm/lib/kernel.bash
. "$ROOT/tests/vm/lib/kernel.bash"

# level, package, what it is needed for
packages() {
	cat <<-'END'
		demo  gcc                  builds the modules and rnbdadm
		demo  make                 the same
		demo  libc6-dev            the same
		demo  linux-headers-amd64  the first kernel that the lab runs, as a build tree for modules
		demo  pkg-config           finds the libraries of rnbdadm
		demo  libnl-3-dev          rnbdadm: netlink
		demo  libnl-genl-3-dev     rnbdadm: generic netlink
		demo  libjansson-dev       rnbdadm: JSON
		demo  qemu-system-x86      runs the lab's guests
		demo  busybox-static       first program of the guest
		demo  bash-static          shell of the guest
		demo  kmod                 loads modules in the guest, makes its module index
		demo  xz-utils             unpacks kernel modules and source
		demo  iproute2             guest: interfaces, Soft-RoCE links
		demo  e2fsprogs            guest: mkfs.ext4
		demo  procps               guest: free, ps
		check zstd                 unpacks the second kernel
		check bats                 tests of the tool and of the modules
		check fio                  tests: I/O with verify
		check ccache               what an earlier run has compiled
		check patch                bench: modules without statistics, to compare; the debug kernel
		check xfsprogs             tests: a second file system
		check dmsetup              tests: logs and faults below the server
		check jq                   tests: examples of the manual
		check gojq                 tests: reads JSON, starts 20 times as fast as jq
		check clang                fuzzing of the parsers
		check libclang-rt-14-dev   libFuzzer
		check libasan8             unit tests under the address sanitizer
		check libubsan1            unit tests under the undefined-behaviour sanitizer
		check sparse               lint: endian and address space checks
		check clang-format         lint: coding style
		check shellcheck           lint: shell scripts
		check perl                 lint: checkpatch
		check linux-source-6.1     the in-tree drivers as a peer; checkpatch
		check linux-source-6.12    lint: the generator of the netlink code
		check linux-source-6.12    the YNL tools: generator of the netlink code, second client in the tests
		check rdma-core            tests: user-space verbs
		check librdmacm-dev        tests: a hostile peer in user space
		check libibverbs-dev       the same
		check ibverbs-providers    the same: Soft-RoCE provider
		check locales              tests: numbers in other languages
		check python3-yaml         lint: the netlink specification
		check python3-jsonschema   tests: JSON against its schemas
		check bash-completion      tests: completion as bash loads it
		check zsh                  tests: completion in zsh
		check fish                 tests: completion in fish
		check mandoc               tests: manual pages
		check man-db               tests: the same as man shows them
		check strace               tests: system calls of the tool
		check valgrind             tests: memory of the tool
		check debhelper            make deb: builds packages
		check dh-dkms              the same, of the modules
		check lintian              lint: the packages
		check dkms                 tests: the packages, installed on a machine
		check systemd              tests: that machine boots
		check udev                 tests: links to disks
		check git                  lint: the list of files
		debug flex                 builds the debug kernel
		debug bison                the same
		debug bc                   the same
		debug libelf-dev           the same
		debug libssl-dev           the same
		debug lz4                  the same
	END
}

wanted() { packages | awk -v level="$1" '$1 == "demo" || level != "demo" && $1 == "check" || $1 == level { print $2 }'; }

missing() {
	local installed
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 2>/dev/null | awk '$2 == "installed" { print $1 }')
	wanted "$1" | grep -vxF "$installed"
}

as_root() {
	if ((EUID == 0)); then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		sudo env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

level=${1-}
case $level in
demo | check | debug) ;;
list) packages; exit ;;
*) die "usage: tests/deps.sh demo|check|debug|list" ;;
esac
command -v apt-get dpkg-query >/dev/null ||
	die "this installs Debian packages only; elsewhere install what \`tests/deps.sh list\` prints and Debian's kernel headers"

# Kernels whose headers are to be unpacked: not there yet, or without an image in the archive
kernels_wanted() (
	[[ $level == check ]] || return 0
	for KERNEL in ${KERNELS#* }; do
		if [[ -z $(headers_here) ]] || stale_headers; then echo "$KERNEL"; fi
	done
)

# The archive drops packages, such as the source of a kernel series: say so by name, rather than what apt says of them all
gone() {
	local package
	for package in "$@"; do
		apt-cache show "$package" >/dev/null 2>&1 || echo "$package"
	done
}

mapfile -t need < <(missing "$level")
(KERNEL=${KERNELS%% *}; stale_headers) && need+=(linux-headers-amd64)
mapfile -t kernels < <(kernels_wanted)
if ((${#need[@]} + ${#kernels[@]} == 0)); then
	say "dependencies: all there"
	exit 0
fi
apt=(apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 -o Dpkg::Use-Pty=0)
say "dependencies: to install: ${need[*]-}${kernels[*]:+ (and to unpack: kernel ${kernels[*]})}"
if ((EUID != 0)); then
	command -v sudo >/dev/null || die "neither root nor sudo: run as root: apt-get update && apt-get install ${need[*]}"
	sudo -v || die "sudo refused: run as root: apt-get update && apt-get install ${need[*]}"
fi
beat "apt-get update" as_root "${apt[@]}" update || die "apt-get update failed: is there a network?"
mapfile -t dropped < <(gone "${need[@]}")
((${#dropped[@]} == 0)) || die "not in the archive: ${dropped[*]}. On Debian 12 all of them are in bookworm and bookworm-security:
are both in the sources of apt? (see what each is for: tests/deps.sh list)"
if ((${#need[@]})); then
	beat "apt-get install (${#need[@]} packages)" as_root "${apt[@]}" install --no-install-recommends "${need[@]}" ||
		die "installation failed"
fi
for KERNEL in "${kernels[@]}"; do
	if ! fetch_newest_headers || ! lab_kernel >/dev/null; then die "there is no kernel $KERNEL for the lab"; fi
done
