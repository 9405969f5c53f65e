# SPDX-License-Identifier: GPL-2.0
# Helpers for .bats files about a session in one guest that loses its paths, beside those of disk.bash.
#
#   quick                       attempts to connect again are not far between
#   fio_start [ARG..]           I/O on rnbd0, over and over, verified each time
#   fio_end [N]                 it goes on for N (100) requests, then it ends, without an error
#   said TEXT ERRNO             the kernel has said this in the test that runs
#   paths_up N                  so many are connected
#   cut_off DEVICE [ARG..]      mapped as s1, whose path is gone; a write waits, which is $pid. write_waits: this alone
#   disconnected                the path of s1, and so its first disk; back: it comes back
#   other_writes DEVICE         another client, which goes again; what it wrote is in /tmp/other
#   server_again [PARAM=VALUE..]   the server's modules anew
#   is_stale DEVICE             s1 is back, and what waited has failed; stays_away DEVICE: only a remap goes on, which finds /tmp/mine
#   goes_on                     the write that waited is there
#   reconnect_end               the teardown
# shellcheck shell=bash disable=SC2034

. "$ROOT/tests/vm/disk.bash"

SYS=/sys/class/rtrs-client/s1
dmesg_mark

reconnect_end() {
	[[ -z ${FIO-} ]] || kill "$FIO" 2>/dev/null || :
	"$ADM" unmap --all --force || :
	"$ADM" session remove held 2>/dev/null || :
	[[ -e /sys/class/infiniband/rxe0 ]] || rxe_add rxe0 dummy0
}

quick() {
	echo 100 >$SYS/reconnect_delay_ms
	echo 500 >$SYS/reconnect_delay_max_ms
}

# A run with --time_based verifies nothing: it ends before
fio_start() {
	local before
	before=$(ios rnbd0)
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=libaio --iodepth=16 --rw=randrw --bs=4k --size=2m --loops=1000000 \
		--verify=crc32c --verify_fatal=1 --output=/tmp/fio.out "$@" 3>&- & FIO=$!
	await 30 io_done rnbd0 $((before + 50))
}

fio_end() {
	local rc=0
	await 30 io_done rnbd0 $(($(ios rnbd0) + ${1:-100}))
	kill $FIO
	wait $FIO || rc=$?
	# Terminated, and no error before
	((rc == 128)) || { cat /tmp/fio.out; fail "fio: status $rc"; }
}

# Some kernels know no names of errors
declare -gA ERRNO=([EPERM]=1 [ENOENT]=2 [ETIMEDOUT]=110 [ESTALE]=116)
said() { dmesg_new | grep -qE -e "$1: -($2|${ERRNO[$2]})"; }

paths_up() {
	local path state n=0
	for path in $SYS/paths/*; do
		{ read -r state <"$path/state" && [[ $state == connected ]] && n=$((n + 1)); } 2>/dev/null
	done
	((n == $1))
}

cut_off() {
	"$ADM" map "$1" --session s1 --path ip:10.0.0.1 --no-path-timeout -1 "${@:2}"
	disconnected
	write_waits
}

disconnected() {
	echo 1 >"$SYS/paths/ip:10.0.0.1@ip:10.0.0.1/disconnect"
	await 20 adm_is '.devices[0].state == "disconnected"' device list
}

write_waits() {
	tr '\0' w </dev/zero | dd of=/dev/rnbd0 bs=64k count=1 iflag=fullblock oflag=direct status=none & pid=$!
	await 20 asleep $pid
}

# It is refused while an attempt of the path itself is under way
back() { await 20 asked_back; }
asked_back() { { echo 1 >"$SYS/paths/ip:10.0.0.1@ip:10.0.0.1/reconnect"; } 2>/dev/null; }

other_writes() {
	"$ADM" map "$1" --session s2 --path ip:10.0.1.1 "${@:2}"
	dd if=/dev/urandom of=/dev/rnbd1 bs=64k count=1 oflag=direct status=none
	dd if=/dev/rnbd1 of=/tmp/other bs=64k count=1 iflag=direct status=none
	"$ADM" unmap rnbd1
}

server_again() {
	rmmod rnbd-server rtrs-server
	load_server "$@"
}

is_stale() {
	await 20 said "session s1 is back, but not $1" ESTALE
	ends_badly $pid
	adm_is '.devices[0] | .state == "disconnected" and .last_error == "ESTALE"' device show rnbd0
}

stays_away() {
	is_stale "$1"
	"$ADM" remap rnbd0
	dd if=/dev/rnbd0 of=/tmp/mine bs=64k count=1 iflag=direct status=none
}

goes_on() {
	wait $pid
	[[ $(dd if=/dev/rnbd0 bs=64k count=1 iflag=direct status=none | tr -d w | wc -c) == 0 ]]
}
