# SPDX-License-Identifier: GPL-2.0
# What the lab does otherwise with the debug kernel: LAB_HOOK of tests/vm/lab.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154

# shellcheck source=tests/debug/kernel.bash
. "$ROOT/tests/debug/kernel.bash"

DEBUG_KERNEL=$(debug_kernel) || exit 1

lab_kernel() { printf '%s\n' "$DEBUG_KERNEL"; }
lab_headers() { printf '%s\n' "$DEBUG_KERNEL/build"; }
lab_release() { cat "$DEBUG_KERNEL/build/include/config/kernel.release"; }
lab_version() { printf '%s\n' "${DEBUG_KERNEL##*/}"; }

# All that the first steps of a guest need is built in
BOOT_MODULES=()
export ARCH=um # for the modules of tests, too
# Without -fprofile-update, of which ccache knows nothing: on one CPU a count may be too low, but is not 0
LAB_MAKE=(GCOV_PROFILE=y "CFLAGS_GCOV=-fprofile-arcs -ftest-coverage -fno-tree-loop-im")

# The first KASAN report must not be the only one. A host that is busy must not look like a kernel that hangs.
LAB_APPEND="kasan_multi_shot rcupdate.rcu_expedited=1 watchdog_thresh=30 workqueue.watchdog_thresh=120 ${LAB_APPEND-}"
LAB_SLOW=${LAB_SLOW:-3}
LAB_GUEST=$ROOT/tests/debug/guest.bash
LAB_ENV="${LAB_ENV-} LAB_SLOW LAB_GUEST"

lab_accel() { echo um; }

lab_skips() {
	sed -n 's/^# lab: debug kernel no: //p' "$1" | grep .
}

links_ready() {
	local wire
	mkdir -p "$RUN/wire" && rm -f "$RUN"/wire/* || return
	# It ends with us
	exec {wire}> >(exec "$ROOT/tests/debug/wire.py" "$RUN/wire" "$LINKS" {LAB_SLOT}>&-)
	PIDS[wire]=$!
	until [[ -e $RUN/wire/ready ]]; do
		kill -0 "${PIDS[wire]}" && sleep 0.05 || return
	done
}

link_args() {
	local i mac=01
	[[ $1 == server ]] || mac=02
	for ((i = 1; i <= LINKS; i++)); do
		echo "vec$i:transport=bess,dst=$RUN/wire/link$i.$1,mac=52:54:00:00:0$i:$mac,mtu=4200"
	done
	[[ $1 == client || -z $DISK ]] || echo "ubd0=$RUN/disk"
}

link_listens() { :; }

cable() { [[ $2 == on ]] || die "user-mode Linux has no carrier that could go"; }
freeze() { die "user-mode Linux has no monitor that stops it"; }
thaw() { :; }

# User-mode Linux is a process of the host, and so is each process in it: what its memory is, is in a file. They run in turns: on
# one CPU, as none has to wake another one up, it takes half of the time.
guest_start() {
	local dir=$2 prefix=$3 pipe cpu
	cpu=$(guest_cpu "$1") || return
	shift 3
	exec {pipe}> >(exec sed -u "s/^/$prefix/")
	GUEST_READER=$!
	TMPDIR=/dev/shm taskset -c "$cpu" "$LAB_IMAGE" "mem=${LAB_MEM:-1536M}" "initrd=$LAB_INITRAMFS" uml_dir="$dir" umid=uml con=null \
		con0=null,fd:1 con1=null,fd:"$pipe" console=tty0 quiet panic=-1 log_buf_len=4M net.ifnames=0 slab_nomerge lab.root="$ROOT" lab.out="$dir" \
		"$@" $LAB_APPEND </dev/null >"$dir/console.log" 2>&1 &
	GUEST_PID=$!
	exec {pipe}>&-
}

# Built once for a run of many files, whatever happens to the sources meanwhile: coverage is of one build
if [[ -n ${DEBUG_MODS-} ]]; then
	lab_modules() { printf '%s\n' "$DEBUG_MODS"; }
fi
