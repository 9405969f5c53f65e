# SPDX-License-Identifier: GPL-2.0
# Starts guests, streams what they print, fetches their exit status. Sourced after kernel.bash.
# shellcheck shell=bash disable=SC2034,SC2153,SC1091

QEMU=${QEMU:-qemu-system-x86_64}

# An emulated "rep movsb", which kernels take for copies where there is ERMS, goes byte by byte. Emulated CPUs that take turns need
# two thirds of the time of the host that CPUs in threads of their own do, as those wait for locks whose holder does not run.
accel_args() {
	if [[ $1 == kvm ]]; then
		printf '%s\n' -accel kvm -cpu host
	else
		printf '%s\n' -accel "tcg,thread=${LAB_THREADS:-multi}" -cpu max,erms=off
	fi
}

# clock_args kvm|tcg: for the kernel's command line. What an emulated guest measures of its time stamp counter, which is the host's,
# is wrong on a busy host, and its clock too fast by a factor then.
clock_args() {
	local tool=$ROOT/build/tsc
	[[ $1 == tcg && $(uname -m) == x86_64 ]] || return 0
	[[ $tool -nt $ROOT/tests/vm/lib/tsc.c ]] || {
		mkdir -p "${tool%/*}" && cc -O2 -o "$tool.$$" "$ROOT/tests/vm/lib/tsc.c" && mv "$tool.$$" "$tool" || return
	}
	echo "tsc_early_khz=$("$tool")"
}

# /dev/kvm may exist and still not run a guest to its end: boot the initramfs under a short time-out and see.
probe_kvm() {
	local kernel=$1 initramfs=$2 answer=$3/answer args
	mapfile -t args < <(accel_args kvm)
	if timeout -k 1 12 "$QEMU" -M pc "${args[@]}" -m 512M -smp 2 -nodefaults -display none -no-reboot -serial stdio \
		-kernel "$kernel" -initrd "$initramfs" -append "console=ttyS0 quiet panic=-1 lab.probe" </dev/null |
		grep -q 'lab: probe ok'; then
		echo kvm >"$answer"
	else
		echo tcg >"$answer"
	fi
}

# Prints kvm or tcg. The answer of the trial is kept per host.
lab_accel() {
	local id dir
	case ${LAB_ACCEL-} in
	kvm | tcg) printf '%s\n' "$LAB_ACCEL"; return ;;
	'' | auto) ;;
	*) say "LAB_ACCEL is kvm, tcg or auto, not '$LAB_ACCEL'"; return 1 ;;
	esac
	[[ -r /dev/kvm && -w /dev/kvm ]] || { echo tcg; return; }
	id=$({ uname -r; "$QEMU" --version; grep -m1 'model name' /proc/cpuinfo; } | sha256sum | cut -c1-16)
	dir=$(cached "accel-$id" "does KVM work here? (a trial boot, at most 12 s)" probe_kvm "$LAB_IMAGE" "$LAB_INITRAMFS") || return
	cat "$dir/answer"
}

# Runs of a kind on this machine take turns, one per core at a time: more of them only slow each other down until their tests
# time out. The slot is free again when this process and its QEMU are gone. TURN is its number.
take_slot() {
	local i n t0=$SECONDS said=0
	n=${LAB_SLOTS:-$(nproc)}
	((n > 0)) || return 0
	while :; do
		for ((i = 0; i < n; i++)); do
			exec {LAB_SLOT}>"$CACHE/slot.$LAB_ACCEL.$i" || return
			flock -n "$LAB_SLOT" && TURN=$i && return
			exec {LAB_SLOT}>&-
		done
		if ((SECONDS - t0 >= said)); then
			say "  ... lab: waiting for other guests on this machine, $((SECONDS - t0)) s"
			said=$((said + 10))
		fi
		nap 300000
	done
}

# guest_cpu NAME: the CPU of this host for a guest so called; the two guests of a run have different ones, where there are two
guest_cpu() {
	local range cpus=() n=${TURN:-0}
	[[ $1 != *server ]] || ((++n))
	for range in $(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr , ' '); do
		mapfile -t -O ${#cpus[@]} cpus < <(seq "${range%-*}" "${range#*-}")
	done
	echo "${cpus[n % ${#cpus[@]}]}"
}

# An emulator translates the code of a program anew wherever that is mapped: norandmaps halves the time of each exec.
# cgroup_disable=memory takes a third off what is left: 16 ms for the smallest program instead of 23.
#
# QEMU leaves out the memory barriers of a guest that has one CPU, or whose CPUs take turns. Its devices run in another thread, so the
# guest may miss that a device waits to be notified, and a link stands still from then on. Such a QEMU has one CPU of the host, where
# each thread sees what the others wrote.
#
# guest_start NAME DIR PREFIX [QEMU-ARG...]: boots a guest in the background. DIR holds its files: settings and command (for
# the guest), console.log, and in the end status. What the command prints goes to our stdout, PREFIX before each line.
# Sets GUEST_PID and GUEST_READER, the process that ends when all of the output was passed on.
guest_start() {
	local name=$1 dir=$2 prefix=$3 pipe args clock cpu pin=()
	shift 3
	clock=$(clock_args "$LAB_ACCEL") || return
	if [[ $LAB_ACCEL == tcg && (${LAB_CPUS:-2} == 1 || ${LAB_THREADS:-multi} == single) ]]; then
		cpu=$(guest_cpu "$name") || return
		pin=(taskset -c "$cpu")
	fi
	# QEMU opens its output by name, which works for a pipe of our own whatever our stdout is
	exec {pipe}> >(exec sed -u "s/^/$prefix/")
	GUEST_READER=$!
	mapfile -t args < <(accel_args "$LAB_ACCEL")
	"${pin[@]}" "$QEMU" -name "$name" -M pc "${args[@]}" -m "${LAB_MEM:-2G}" -smp "${LAB_CPUS:-2}" -nodefaults -display none -no-reboot \
		-kernel "$LAB_IMAGE" -initrd "$LAB_INITRAMFS" \
		-append "console=ttyS0 quiet panic=-1 reboot=t tsc=reliable no_timer_check slab_nomerge mitigations=off cgroup_disable=memory norandmaps log_buf_len=4M net.ifnames=0 $clock lab.root=$ROOT ${LAB_APPEND-}" \
		-chardev file,id=console,path="$dir/console.log" -serial chardev:console \
		-device virtio-serial-pci -chardev file,id=out,path=/proc/self/fd/1 -device virtserialport,chardev=out,name=lab.out \
		-fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=host,mount_tag=host \
		-fsdev local,id=dir,path="$dir",security_model=none,multidevs=remap \
		-device virtio-9p-pci,fsdev=dir,mount_tag=out \
		"$@" </dev/null 1>&"$pipe" 2>"$dir/qemu.log" &
	GUEST_PID=$!
	exec {pipe}>&-
}

# link_args server|client: arguments of guest_start for what one of two guests has besides: one network card per link, the shared
# folder, the server's disk. The client's end of a link listens, for a server that comes back.
link_args() {
	local i end mac bell=server=on,wait=off
	[[ $1 == client ]] || bell=reconnect=1
	for ((i = 1; i <= LINKS; i++)); do
		if [[ $1 == server ]]; then end="server=off" mac=01; else end="server=on" mac=02; fi
		printf '%s\n' -netdev "stream,id=link$i,$end,addr.type=unix,addr.path=$RUN/link$i" \
			-device "virtio-net-pci,netdev=link$i,host_mtu=9000,romfile=,mac=52:54:00:00:0$i:$mac"
	done
	printf '%s\n' -fsdev "local,id=shared,path=$RUN/shared,security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=shared,mount_tag=shared \
		-chardev "socket,id=bell,path=$RUN/bell,$bell" -device virtserialport,chardev=bell,name=lab.bell
	[[ $1 == server ]] || return 0
	printf '%s\n' -chardev "pipe,id=monitor,path=$RUN/monitor" -mon chardev=monitor
	[[ -z $DISK ]] || printf '%s\n' -drive "if=virtio,format=raw,file=$RUN/disk"
}

# Before two guests start
links_ready() { mkfifo "$RUN"/monitor.{in,out}; }

# The client listens
link_listens() {
	local i
	for ((i = 0; i < 100; i++)); do
		[[ ! -S $RUN/link$LINKS ]] || return 0
		sleep 0.05
	done
}

# monitor COMMAND..: of the server. Does not wait for a QEMU that is not there.
monitor() { printf '%s\n' "$@" 1<>"$RUN/monitor.in"; }

# cable LINK on|off: at the server's end
cable() { monitor "set_link $*"; }

# First the links, so that what is sent is dropped: a QEMU that stands still takes nothing, and when a socket is full, the one that
# sends stands still as well
freeze() { monitor "$(seq -f 'set_link link%g off' "$LINKS")" stop; }
thaw() { monitor "$(seq -f 'set_link link%g on' "$LINKS")" cont; }

# guest_settings DIR NAME SHARED CMD...: what stage2 reads; SHARED is the folder of two guests
guest_settings() {
	local dir=$1 name=$2 shared=$3 v
	shift 3
	{
		echo "export LAB_OUT=/run/lab/out"
		printf 'export LAB_NAME=%q LAB_SHARED=%q LAB_CWD=%q LAB_LIMIT=%q\n' "$name" "$shared" "$PWD" $((TIMEOUT - 20))
		printf 'export KERNEL=%q LAB_KERNEL=%q MODS=%q PEER_MODS=%q ROOT=%q\n' "$KERNEL" "$LAB_KERNEL" "$LAB_MODS" "$LAB_PEER" "$ROOT"
		for v in ${LAB_ENV-}; do
			printf 'export %s=%q\n' "$v" "${!v-}"
		done
	} >"$dir/settings"
	printf '%q ' "$@" >"$dir/command"
	echo >>"$dir/command"
}

# guest_wait PID READER DIR SECONDS: returns the exit status of the guest's command, or says why there is none and returns 124
# for a guest that did not end in time, 125 for one that died or was given up, as GIVEN_UP tells, 126 for a QEMU that crashed, whose
# kernel never came to our first step, or whose CPU had flags that no CPU has. Runs WHILE_WAITING again and again until then.
guest_wait() {
	local pid=$1 reader=$2 dir=$3 limit=$4 t0=$SECONDS status why rc=0
	while kill -0 "$pid" 2>/dev/null; do
		if ((SECONDS - t0 > limit)); then
			kill -9 "$pid" 2>/dev/null
			wait "$pid" "$reader" 2>/dev/null
			guest_post_mortem "$dir" "the guest did not end within $limit s"
			[[ ! -s $dir/waiting ]] || sed 's/^/lab: it waits: /' "$dir/waiting"
			return 124
		fi
		${WHILE_WAITING:-:}
		nap 100000
	done
	wait "$pid" 2>/dev/null || rc=$?
	wait "$reader" 2>/dev/null
	if [[ -n ${GIVEN_UP-} ]]; then
		echo "# ended, as $GIVEN_UP"
		return 125
	fi
	if [[ $LAB_ACCEL == tcg && $rc -gt 128 ]]; then
		guest_post_mortem "$dir" "QEMU crashed: signal $((rc - 128))"
		return 126
	fi
	if [[ $LAB_ACCEL == tcg && ! -e $dir/begun ]]; then
		guest_post_mortem "$dir" "the kernel died before anything of ours was loaded or run"
		return 126
	fi
	if [[ ! -s $dir/status ]]; then
		if [[ $LAB_ACCEL == tcg ]] && impossible_flags "$dir/console.log"; then
			guest_post_mortem "$dir" "QEMU's CPU went wrong: EFLAGS have bits that are 0 on every CPU"
			return 126
		fi
		why="the guest died before its command ended"
		grep -aq 'Kernel panic' "$dir/console.log" 2>/dev/null && why="the guest's kernel panicked"
		guest_post_mortem "$dir" "$why"
		return 125
	fi
	status=$(<"$dir/status")
	return "$status"
}

# The kernel reported flags of which one of the bits 22 to 31, 15, 5 or 3 is set: software cannot do that
impossible_flags() {
	local flags
	while read -r flags; do
		((!(0x$flags & 0xffc08028))) || return 0
	done < <(sed -n 's/.*EFLAGS: \([0-9a-f]*\).*/\1/p' "$1")
	return 1
}

CONSOLE_BAD='BUG:|Oops|WARNING: CPU|KASAN|general protection|Kernel panic|INFO: task|rcu:.*stall|NULL pointer'

guest_post_mortem() {
	local dir=$1
	echo "lab: $2"
	if [[ -s $dir/qemu.log ]]; then
		echo "lab: QEMU said:"
		tail -n 5 "$dir/qemu.log" | sed 's/^/    /'
	fi
	if grep -aqE "$CONSOLE_BAD" "$dir/console.log" 2>/dev/null; then
		echo "lab: its console from the first report on:"
		tr -d '\r' <"$dir/console.log" | grep -aE -B 10 -A "${LAB_TAIL:-60}" -m 1 "$CONSOLE_BAD" | sed 's/^/    /'
	else
		echo "lab: last lines of its console:"
		tail -n "${LAB_TAIL:-40}" "$dir/console.log" 2>/dev/null | tr -d '\r' | sed 's/^/    /'
	fi
}
