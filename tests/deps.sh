#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs what is missing on Debian 12: `tests/deps.sh demo` for make demo, `tests/deps.sh check` for make check,
# `tests/deps.sh list [LEVEL]` prints it. As root or through sudo.

# shellcheck source=tests/lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# level, package, what it is needed for
packages() {
	cat <<-'END'
		demo  gcc                  builds the modules and rnbdadm
		demo  make                 the same
		demo  libc6-dev            the same
		demo  linux-headers-amd64  the kernel that the lab runs, as a build tree for modules
		demo  pkg-config           finds the libraries of rnbdadm
		demo  libnl-3-dev          rnbdadm: netlink
		demo  libnl-genl-3-dev     rnbdadm: generic netlink
		demo  libjansson-dev       rnbdadm: JSON
		demo  qemu-system-x86      runs the lab's guests
		demo  busybox-static       first program of the guest
		demo  kmod                 loads modules in the guest, makes its module index
		demo  xz-utils             unpacks kernel modules and source
		demo  iproute2             guest: interfaces, Soft-RoCE links
		demo  e2fsprogs            guest: mkfs.ext4
		demo  procps               guest: free, ps
		check bats                 tests of the tool and of the modules
		check fio                  tests: I/O with verify
		check jq                   tests: reads JSON
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
		check python3-yaml         lint: the netlink specification
		check python3-jsonschema   tests: JSON against its schemas
		check mandoc               lint: manual pages
		check strace               tests: system calls of the tool
		check git                  lint: the list of files
	END
}

wanted() { packages | awk -v level="$1" '$1 == "demo" || level == "check" { print $2 }'; }

missing() {
	local installed
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 2>/dev/null | awk '$2 == "installed" { print $1 }')
	wanted "$1" | grep -vxF "$installed"
}

# The image must be of the version of the installed headers; when the archive has moved on, new headers are needed.
stale_headers() {
	local dir rel version
	dir=$(printf '%s\n' /usr/src/linux-headers-"$KERNEL".*-amd64 | sort -V | tail -n 1)
	rel=${dir#/usr/src/linux-headers-}
	[[ -d $dir ]] || return 1
	version=$(dpkg-query -W -f '${Version}' "linux-headers-$rel" 2>/dev/null) || return 1
	[[ ! -e $CACHE/kernel-$rel-$version ]] && ! apt-cache show "linux-image-$rel=$version" >/dev/null 2>&1
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
demo | check) ;;
list) packages; exit ;;
*) die "usage: tests/deps.sh demo|check|list" ;;
esac
command -v apt-get dpkg-query >/dev/null ||
	die "this installs Debian packages only; elsewhere install what \`tests/deps.sh list\` prints and Debian's kernel headers"

mapfile -t need < <(missing "$level")
stale_headers && need+=(linux-headers-amd64)
if ((${#need[@]} == 0)); then
	say "dependencies: all there"
	exit 0
fi
say "dependencies: to install: ${need[*]}"
if ((EUID != 0)); then
	command -v sudo >/dev/null || die "neither root nor sudo: run as root: apt-get install ${need[*]}"
	sudo -v || die "sudo refused: run as root: apt-get install ${need[*]}"
fi
apt=(apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 -o Dpkg::Use-Pty=0)
beat "apt-get update" as_root "${apt[@]}" update || die "apt-get update failed: is there a network?"
beat "apt-get install (${#need[@]} packages)" as_root "${apt[@]}" install --no-install-recommends "${need[@]}" ||
	die "installation failed"
