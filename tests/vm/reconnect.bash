# SPDX-License-Identifier: GPL-2.0
# Helpers for .bats files about a session in one guest that loses its paths, beside those of disk.bash.
#
#   quick                       attempts to connect again are not far between
#   fio_start SECONDS, fio_end  I/O with verify on rnbd0, polled where IO says so
#   fio_again                   the same until there is /tmp/stop
#   said TEXT ERRNO             the kernel has said this in the test that runs
#   paths_up N                  so many are connected
#   reconnect_end               the teardown
# shellcheck shell=bash disable=SC2034

. "$ROOT/tests/vm/disk.bash"

SYS=/sys/class/rtrs-client/s1
dmesg_mark

reconnect_end() {
	touch /tmp/stop
	"$ADM" unmap --all --force -y || :
	"$ADM" session remove held 2>/dev/null || :
	[[ -e /sys/class/infiniband/rxe0 ]] || rxe_add rxe0 dummy0
}

quick() {
	echo 100 >$SYS/reconnect_delay_ms
	echo 500 >$SYS/reconnect_delay_max_ms
}

fio_start() {
	fio --name=v --filename=/dev/rnbd0 --direct=1 --ioengine=${IO:-libaio} --iodepth=16 --rw=randrw --bs=4k --size=16m \
		--verify=crc32c --verify_fatal=1 --time_based --runtime="$1" --output=/tmp/fio.out &
	FIO=$!
	await 30 io_done rnbd0 50
}

fio_end() {
	wait "$FIO" || { cat /tmp/fio.out; fail "fio"; }
}

fio_again() {
	until [[ -e /tmp/stop ]]; do
		fio_start 2 && fio_end || return
	done
}

# Some kernels know no names of errors
declare -gA ERRNO=([EPERM]=1 [ENOENT]=2 [ETIMEDOUT]=110 [ESTALE]=116)
said() { dmesg_new | grep -qE -e "$1: -($2|${ERRNO[$2]})"; }

paths_up() { [[ $(cat $SYS/paths/*/state | grep -c '^connected') == "$1" ]]; }
