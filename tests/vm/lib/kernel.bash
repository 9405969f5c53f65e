# SPDX-License-Identifier: GPL-2.0
# The lab's kernel, its initramfs, the in-tree drivers as a peer, and our own modules built for it.
# shellcheck shell=bash disable=SC2034,SC2153,SC1091

# The wanted series decides, and within it the newest headers that are here: image, headers and version belong together.
# Headers are either installed or, as those of 6.12 would install a kernel with them, unpacked in the cache.
headers_here() {
	printf '%s\n' /usr/src/linux-headers-"$KERNEL".*-amd64 "$CACHE"/headers-"$KERNEL".*/usr/src/linux-headers-"$KERNEL".*-amd64 |
		grep -Ev -- '\*|-(rt|cloud)-amd64$' | awk -F / '{ print $NF, $0 }' | sort -V | sed -n '$s/^[^ ]* //p'
}

# Prints "RELEASE VERSION" of the newest kernel of the series that the archive has with headers and image
archive_kernel() {
	local package rel version
	while read -r package; do
		rel=${package#linux-headers-}
		version=$(apt-cache show --no-all-versions "$package" 2>/dev/null | sed -n 's/^Version: //p')
		[[ -n $version ]] && apt-cache show "linux-image-$rel=$version" >/dev/null 2>&1 || continue
		echo "$rel $version"
		return
	done < <(apt-cache pkgnames "linux-headers-$KERNEL." | grep -Ev -- '-(rt|cloud)-amd64$' | grep -- '-amd64$' | sort -rV)
	return 1
}

fetch_headers() {
	local rel=$1 version=$2 final=$3 tmp=$4 package packages
	cd "$tmp" || return
	mapfile -t packages < <(apt-cache show "linux-headers-$rel=$version" | sed -n 's/^Depends: //p' | tr ',' '\n' |
		sed -nE 's/^ *(linux-(headers-[^ ]*-common|kbuild-[^ ]*)).*/\1/p')
	apt-get download "linux-headers-$rel=$version" "${packages[@]}" || return
	for package in ./*.deb; do
		dpkg-deb -x "$package" . && rm -f "$package" || return
	done
	sed -i "s,^include /usr/src,include $final/usr/src," "usr/src/linux-headers-$rel/Makefile"
}

fetch_newest_headers() {
	local rel version
	read -r rel version < <(archive_kernel) || {
		say "There are no kernel headers for $KERNEL, and the package lists know no linux-headers-$KERNEL.*-amd64 with an"
		say "image of the same version. On Debian 12 both come from bookworm and bookworm-security: are the lists up to"
		say "date (apt-get update)? A series that the archive has dropped cannot be tested."
		return 1
	}
	cached "headers-$rel-$version" "kernel $rel: download its headers and unpack them" fetch_headers "$rel" "$version" \
		"$CACHE/headers-$rel-$version" >/dev/null
}

lab_headers() {
	local dir
	dir=$(headers_here)
	[[ -n $dir ]] || { fetch_newest_headers && dir=$(headers_here); } || return
	printf '%s\n' "$dir"
}

lab_release() {
	local dir
	dir=$(lab_headers) || return
	printf '%s\n' "${dir##*/linux-headers-}"
}

# The version of the package that the headers come from
lab_version() {
	local dir rel
	dir=$(lab_headers) || return
	rel=${dir##*/linux-headers-}
	case $dir in
	"$CACHE"/*) dir=${dir#"$CACHE/headers-$rel-"} && printf '%s\n' "${dir%%/*}" ;;
	*) dpkg-query -W -f '${Version}\n' "linux-headers-$rel" ;;
	esac
}

# Nothing can be run with headers whose image is gone from the archive
stale_headers() {
	local rel version
	[[ -n $(headers_here) ]] || return 1
	rel=$(lab_release) && version=$(lab_version) || return 1
	[[ ! -e $CACHE/kernel-$rel-$version ]] && ! apt-cache show "linux-image-$rel=$version" >/dev/null 2>&1
}

fetch_image() {
	local rel=$1 version=$2 tmp=$3
	cd "$tmp" || return
	if ! apt-get download "linux-image-$rel=$version"; then
		echo "linux-image-$rel=$version cannot be downloaded. Without a network nothing can be done; else bring"
		echo "headers and package lists up to date: tests/deps.sh check"
		return 1
	fi
	dpkg-deb -x ./*.deb . && rm -f ./*.deb || return
	rm -rf usr/share usr/lib/debug
	mkdir -p boot lib
	/sbin/depmod -b . -F "boot/System.map-$rel" "$rel"
}

# Prints the directory that holds boot/vmlinuz-REL and lib/modules/REL
lab_kernel() {
	local rel version
	rel=$(lab_release) && version=$(lab_version) || return
	cached "kernel-$rel-$version" "kernel $rel: download the image and unpack it" fetch_image "$rel" "$version"
}

# image_number IMAGE OFFSET BYTES: of its header, see Documentation/arch/x86/boot.rst of Linux
image_number() { od -An -j "$2" -N "$3" -t "u$3" "$1" | tr -d ' '; }

unpack_image() {
	local image=$1 tmp=$2 at length pack
	at=$((($(image_number "$image" 0x1f1 1) + 1) * 512 + $(image_number "$image" 0x248 4)))
	length=$(($(image_number "$image" 0x24c 4) - 4)) || return
	tail -c +$((at + 1)) "$image" | head -c $length >"$tmp/packed"
	case $(od -An -N 4 -t x4 "$tmp/packed") in
	*587a37fd) pack=xz ;;
	*fd2fb528) pack=zstd ;;
	*) say "the kernel in $image is packed in a way that is not known here"; return 1 ;;
	esac
	"$pack" -dc <"$tmp/packed" >"$tmp/vmlinux" && rm "$tmp/packed"
}

# Prints the kernel to boot, unpacked: an emulated guest takes as long to do that as for the rest of its boot
lab_image() {
	local rel image
	rel=$(lab_release) && image=$(lab_kernel)/boot/vmlinuz-$rel || return
	if grep -qs '^CONFIG_PVH=y' "${image/vmlinuz/config}"; then
		image=$(cached "vmlinux-$rel-$(lab_version)" "kernel $rel: unpack it" unpack_image "$image")/vmlinux || return
	fi
	echo "$image"
}

# Modules without which the guest cannot reach the host's file system
BOOT_MODULES=(virtio_pci 9p 9pnet_virtio overlay virtio_console)

# What tests start again and again, and busybox does as well, and the shell: to start a program that is linked dynamically takes an
# emulated guest five times as long
FAST=(basename cat cut dirname dmesg env grep ln ls mkdir mv readlink rm rmdir sleep touch tr uname uniq wc)

make_initramfs() {
	local rel=$1 kernel=$2 tmp=$3 root=$3/root line ko
	mkdir -p "$root"/{bin,fast,proc,sys,dev,lib,host,new,rw} || return
	cp "$(command -v busybox)" "$root/bin/busybox" && cp "$ROOT/tests/vm/lib/init" "$root/init" || return
	ln -s busybox "$root/bin/sh"
	cp "$root/bin/busybox" "$root/fast" && cp "$(command -v bash-static)" "$root/fast/bash" || return
	for line in "${FAST[@]}"; do
		ln -s busybox "$root/fast/$line" || return
	done
	chmod 755 "$root/init"
	for line in "${BOOT_MODULES[@]}"; do
		/sbin/modprobe -d "$kernel" -S "$rel" --show-depends "$line" || return
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r ko; do
		case $ko in
		*.xz) xz -dc "$ko" >"$root/lib/$(basename "$ko" .xz)" ;;
		*) cp "$ko" "$root/lib/" ;;
		esac || return
		basename "$ko" .xz
	done >"$root/lib/order" || return
	[[ -s $root/lib/order || ${#BOOT_MODULES[@]} -eq 0 ]] || return
	(cd "$root" && find . | sort | busybox cpio -H newc -o | gzip -1) >"$tmp/initramfs.gz" || return
	rm -rf "$root"
}

lab_initramfs() {
	local rel kernel id
	rel=$(lab_release) && kernel=$(lab_kernel) || return
	id=$(echo "$ROOT/tests/vm/lib/init" | key "$kernel" "${BOOT_MODULES[*]} ${FAST[*]}" "$(declare -f make_initramfs)") || return
	cached "initramfs-$rel-$id" "initramfs" make_initramfs "$rel" "$kernel"
}

# Only the parts named here are ever unpacked: the drivers to build them as a peer, checkpatch for the lint.
PEER_PARTS=(drivers/infiniband/ulp/rtrs drivers/block/rnbd)
LINT_PARTS=(scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch .clang-format)

unpack_source() {
	local tarball=$1 top=$2 tmp=$3
	tar -C "$tmp" --strip-components=1 -xf "$tarball" "${PEER_PARTS[@]/#/$top/}" "${LINT_PARTS[@]/#/$top/}"
}

# Prints the directory of the unpacked parts
lab_source() {
	local tarball=/usr/src/linux-source-$KERNEL.tar.xz version
	[[ -e $tarball ]] || { say "$tarball is missing: run tests/deps.sh check"; return 1; }
	version=$(dpkg-query -W -f '${Version}' "linux-source-$KERNEL") || return
	cached "source-$KERNEL-$version" "in-tree peer: unpack its source" unpack_source "$tarball" "linux-source-$KERNEL"
}

build_peer() {
	local source=$1 headers=$2 tmp=$3
	cp -r "$source/drivers/infiniband/ulp/rtrs" "$source/drivers/block/rnbd" "$tmp/" || return
	echo 'obj-m += rtrs/ rnbd/' >"$tmp/Kbuild"
	# rnbd includes the transport's headers by their place in the kernel tree
	mkdir -p "$tmp/drivers/infiniband/ulp" && ln -s ../../../rtrs "$tmp/drivers/infiniband/ulp/rtrs" || return
	make -C "$headers" M="$tmp" KCFLAGS="-I$tmp/drivers/infiniband/ulp/rtrs -I$tmp" \
		CONFIG_INFINIBAND_RTRS=m CONFIG_INFINIBAND_RTRS_CLIENT=m CONFIG_INFINIBAND_RTRS_SERVER=m \
		CONFIG_BLK_DEV_RNBD=y CONFIG_BLK_DEV_RNBD_CLIENT=m CONFIG_BLK_DEV_RNBD_SERVER=m CONFIG_DEBUG_INFO_BTF_MODULES= modules ||
		return
	mkdir "$tmp/ko" && mv "$tmp"/*/*.ko "$tmp/ko/" || return
	find "$tmp" -mindepth 1 -maxdepth 1 ! -name ko -exec rm -rf {} +
}

# Prints the directory that holds the five in-tree modules
lab_peer() {
	local rel headers source id
	headers=$(lab_headers) && rel=$(lab_release) && source=$(lab_source) || return
	id=$(find "$source/drivers" -type f | sort | key "$rel $(lab_version)" "$(declare -f build_peer)") || return
	cached "peer-$rel-$id" "in-tree peer: build it" build_peer "$source" "$headers" || return
}

# More arguments for make where our modules are built: the warnings that tests/lint/build.sh looks for
LAB_MAKE=(W=1)

# make_modules DIR MAKE-ARG..: kbuild of DIR/kernel, under a name that is the same in each clone: ccache keeps what came of commands with
# the names in them. Not where nothing can be mounted, nor for gcov, which finds its files by their names.
make_modules() {
	local dir=$1 place=$CACHE/place/${1##*/}
	shift
	if [[ -z ${LAB_HOOK-} ]] && mkdir -p "$place" && unshare -m mount --bind "$dir" "$place" 2>/dev/null; then
		unshare -m sh -c 'mount --bind "$0" "$1" && cd / && M=$1/kernel && shift && exec make M="$M" "$@"' "$dir" "$place" "$@"
	else
		make M="$dir/kernel" "$@"
	fi
}

# Our modules are built for the lab's kernel in a tree of links, so that a build for the host is left alone:
# lab_modules NAME [MAKE-ARG]... builds in build/NAME-REL, prints the directory that holds the modules. What make says goes to
# stderr, and is added to build/NAME-REL/said.
lab_modules() {
	local name=$1 rel headers dir lock rc=0
	shift
	headers=$(lab_headers) && rel=$(lab_release) || return
	[[ -e $ROOT/kernel/Kbuild ]] || { say "kernel/Kbuild is missing"; return 1; }
	dir=$ROOT/build/$name-$rel
	mkdir -p "$dir" && exec {lock}>"$dir/.lock" && flock -w 600 "$lock" || return
	link_sources "$dir" || return
	# BTF of modules, here and above, takes pahole and is of no use
	make_modules "$dir" -s -j"$(nproc)" -C "$headers" CONFIG_DEBUG_INFO_BTF_MODULES= "${LAB_MAKE[@]}" "$@" modules 2>&1 {lock}>&- |
		tee -a "$dir/said" >&2 || rc=$?
	exec {lock}>&-
	((rc == 0)) && printf '%s\n' "$dir/kernel"
}

link_sources() {
	local dir=$1 f
	cd "$ROOT" || return
	find kernel include \( -name '*.[chS]' -o -name Kbuild -o -name 'Makefile*' \) ! -name '*.mod.c' -print | while IFS= read -r f; do
		[[ $f -ef $dir/$f ]] && continue
		mkdir -p "$dir/${f%/*}" && ln -sf "$ROOT/$f" "$dir/$f" || return
	done
	find "$dir" -xtype l -delete
}

# The generator takes the directory with a file MAINTAINERS for the root
unpack_ynl() {
	tar -C "$2" --strip-components=1 -xf "$1" --wildcards \
		'*/tools/net/ynl/lib' '*/tools/net/ynl/*.py' '*/Documentation/netlink/*.yaml' && touch "$2/MAINTAINERS"
}

# Prints the directory of the YNL tools: generator of the netlink code, client in Python
lab_ynl() {
	local tarball=/usr/src/linux-source-6.12.tar.xz version
	[[ -e $tarball ]] || { say "$tarball is missing: run tests/deps.sh check"; return 1; }
	version=$(dpkg-query -W -f '${Version}' linux-source-6.12) || return
	cached "ynl-$version" "netlink: unpack the YNL tools" unpack_ynl "$tarball"
}
