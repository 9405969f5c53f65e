# SPDX-License-Identifier: GPL-2.0
# A machine: the host's file system with our packages installed on it, which boots with systemd, again and again, and keeps on its
# disk what was written.
# shellcheck shell=bash disable=SC2154,SC2034,SC2153,SC1091

MACHINE_MODULES=(virtio_pci 9p 9pnet_virtio overlay virtio_console virtio_blk ext4 autofs4 configfs dummy crc32_generic rdma_rxe
	rdma_cm rdma_ucm ib_uverbs rds_tcp)
# What systemd does and how it went is on the console
MACHINE_APPEND="systemd.unit=multi-user.target systemd.show_status=false systemd.log_target=kmsg systemd.status_unit_format=name"
MACHINE_APPEND+=" printk.devkmsg=on"

# What the packages are made of
machine_sources() {
	cd "$ROOT" && find debian kernel include rnbdadm man completions systemd udev Makefile -type f \
		! -name '*.o' ! -name '*.ko' ! -name '*.cmd' ! -name '*.mod*' ! -name modules.order ! -name Module.symvers "$@"
}

# Prints those that are to be installed, built anew where the sources are newer
machine_packages() {
	local deb=$ROOT/build/deb built lock
	# tests/lint/deb.sh builds them, too
	mkdir -p "$ROOT/build" && exec {lock}>"$ROOT/build/.deb.lock" && flock $lock || return
	built=$(echo "$deb"/*.changes)
	if [[ ! -e $built || -n $(machine_sources -newer "$built" -print -quit) ]]; then
		make -s -C "$ROOT" deb >&2 || return
	fi
	printf '%s\n' "$deb"/rnbdadm_*.deb "$deb"/rnbd-dkms_*.deb
}

# For the lab's kernel, of which the machine has only the modules that it needs, so that depmod is quick there
make_machine() {
	local kernel=$1 headers=$2 rel=$3 tmp=$4 packages peer ours
	packages=$(machine_packages) && peer=$(lab_peer) && ours=$(lab_modules lab) || return
	mapfile -t packages <<<"$packages"
	unshare -m "$ROOT/tests/vm/lib/machine-install" "$kernel" "$headers" "$rel" "$tmp" "$peer/ko" "$ours" "${MACHINE_MODULES[*]}" "${packages[@]}"
}

# Why there can be none here; fails where it can
machine_lacks() {
	local need dir
	((EUID == 0)) || { echo "only root can install packages on a copy of the host"; return; }
	for need in dkms dpkg-buildpackage dh_dkms mkfs.ext4 unshare; do
		type -P $need >/dev/null || { echo "no $need; run tests/deps.sh check"; return; }
	done
	for dir in /usr /var /etc; do
		! mountpoint -q $dir || { echo "$dir is a file system of its own"; return; }
	done
	unshare -m sh -c 'mount -t tmpfs tmp /mnt && mkdir /mnt/up /mnt/work &&
		mount -t overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work try /mnt' >/dev/null 2>&1 ||
		{ echo "no file systems can be mounted here"; return; }
	return 1
}

# Prints the directory with its disk, as it is before its first boot
lab_machine() {
	local rel kernel headers id
	rel=$(lab_release) && kernel=$(lab_kernel) && headers=$(lab_headers) || return
	id=$({
		machine_sources -printf "$ROOT/%p\n" | sort
		printf '%s\n' /var/lib/dpkg/status "$ROOT/tests/vm/lib/machine-install"
	} | key "$kernel" "${MACHINE_MODULES[*]}") || return
	# each change of the sources makes one
	find "$CACHE" -maxdepth 1 -name 'machine-*' -mtime +1 -exec rm -rf {} +
	cached "machine-$rel-$id" "a machine: build the packages and install them" make_machine "$kernel" "$headers" "$rel"
}

# run_machine BOOTS COMMAND..: the same command in each of them, with LAB_BOOT; the first that fails is the last
run_machine() {
	local boots=$1 boot rc machine t0
	TIMEOUT=${TIMEOUT:-300}
	shift
	machine=$(lab_machine) && take_slot || return
	t0=$SECONDS
	cp --sparse=always "$machine/disk" "$RUN/disk" && truncate -s 64M "$RUN/server-disk" || return
	rm -f "$RUN"/console*.log
	for ((boot = 1; boot <= boots; boot++)); do
		rm -f "$RUN"/{status,begun}
		guest_settings "$RUN" machine '' "$@"
		echo "export LAB_BOOT=$boot LAB_BOOTS=$boots" >>"$RUN/settings"
		LAB_APPEND="lab.disk=/dev/vda $MACHINE_APPEND ${LAB_APPEND-}" guest_start rnbd-machine "$RUN" "" \
			-drive "if=virtio,format=raw,file=$RUN/disk" -drive "if=virtio,format=raw,file=$RUN/server-disk"
		PIDS[guest]=$GUEST_PID
		rc=0
		guest_wait "$GUEST_PID" "$GUEST_READER" "$RUN" $((TIMEOUT - SECONDS + t0)) || rc=$?
		show_console "$RUN"
		((rc == 0)) || break
		cp "$RUN/console.log" "$RUN/console-$boot.log"
	done
	rm -f "$RUN"/{disk,server-disk}
	return "$rc"
}
