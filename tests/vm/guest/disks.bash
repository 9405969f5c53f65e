# SPDX-License-Identifier: GPL-2.0
# Helpers of guest.bash: disks to export, disks that are mapped, and what disks are asked for.
#
#   ram_disk MIB [N], loop_disk MIB             print the device they made
#   null_disk NAME ATTRIBUTE=VALUE..            /dev/NAME, of null_blk, or what it is from now on; null_disk_gone NAME. A slow one:
#                               irqmode=2 completion_nsec=N
#   dm_disk NAME TABLE [NODE]   a disk of the device mapper: /dev/NODE (dm-0), which must be the next one
#   partitions DISK START:SECTORS..             up to four, in a table for PCs
#   map_line TEXT               to map_device
#   disk_of SESSION DEVICE      what this device of the server is called here
#   unmap DISK [force]          unmap_all [normal]: all there are, by force if it is not said
#   no_exports                  the server has no disk open; all_closed: unmap_all, and then
#   state_is DISK STATE         as its file says: open, closed
#   ios DISK                    reads and writes that were done; io_done DISK N: more than N; await 30 io_done rnbd0 100
#   under_way DISK [N]          has N (1) requests that are not done
#   uevents FILE                the action and RESIZE=1 of each uevent of a disk rnbdN goes to FILE, behind "ready", until uevents_end, or
#                               until a minute is over; uevents FILE classes: see tests/vm/tools/uevents.c
#   requests_to DEVICE CMD..    runs CMD; what block requests the device got meanwhile is in /run/tmp/requests, as the kernel traces it
#   prios_of FUNCTION CMD..     runs CMD; the bios that this function of the kernel (submit_bio; brd_submit_bio is that of RAM disks) got
#                               meanwhile had the priorities in /run/tmp/prios, class << 13 | level
# shellcheck shell=bash disable=SC2119,SC2120

ram_disk() {
	local mib=$1 n=${2:-1}
	[[ -b /dev/ram0 ]] && { rmmod brd || return; }
	modprobe brd rd_nr="$n" rd_size=$((mib * 1024)) || return
	await 5 test -b /dev/ram$((n - 1)) || return
	echo /dev/ram0
}

null_disk() {
	local dir=/sys/kernel/config/nullb/$1 opt
	[[ -d $dir ]] || { modprobe null_blk nr_devices=0 && mkdir "$dir"; } || return
	for opt in power=0 memory_backed=1 "${@:2}" power=1; do
		echo "${opt#*=}" >"$dir/${opt%%=*}" || return
	done
	await 5 test -b "/dev/$1"
}

null_disk_gone() { echo 0 >"/sys/kernel/config/nullb/$1/power" && rmdir "/sys/kernel/config/nullb/$1"; }

loop_disk() {
	local file
	modprobe loop || return
	file=$(mktemp /run/tmp/loop.XXXXXX) && truncate -s "$1M" "$file" || return
	losetup --show -f "$file"
}

requests_to() {
	local trace=/sys/kernel/tracing event=/sys/kernel/tracing/events/block/block_rq_issue rc=0
	echo >$trace/trace && echo "dev == $(($(stat -c '0x%t << 20 | 0x%T' "$1")))" >$event/filter && echo 1 >$event/enable || return
	"${@:2}" || rc=$?
	echo 0 >$event/enable
	tee /run/tmp/requests <$trace/trace
	return "$rc"
}

prios_of() {
	local trace=/sys/kernel/tracing rc=0
	# Of struct bio: bi_next, bi_bdev, 32 bits of bi_opf, 16 of bi_flags
	echo >$trace/trace && echo "p:prio $1 prio=+22(\$arg1):x16" >$trace/kprobe_events &&
		echo 1 >$trace/events/kprobes/prio/enable || return
	"${@:2}" || rc=$?
	echo 0 >$trace/events/kprobes/prio/enable
	sed -n 's/.*prio=0x//p' $trace/trace | tee /run/tmp/prios
	echo >$trace/kprobe_events
	return "$rc"
}

# map_line TEXT: to map_device; an in-tree client, which may give up on a busy host, is asked once more
map_line() {
	local file=/sys/class/rnbd-client/ctl/map_device
	echo "$1" >$file || { [[ ! -e /sys/kernel/debug/rtrs ]] && echo "# in-tree client: mapped at the second attempt" >&3 && echo "$1" >$file; }
}

ios() {
	local nums
	read -ra nums <"/sys/block/$1/stat" && echo $((nums[0] + nums[4]))
}

io_done() {
	local nums
	read -ra nums <"/sys/block/$1/stat" && ((nums[0] + nums[4] > $2))
}

under_way() {
	local nums
	read -ra nums <"/sys/block/$1/inflight" && ((nums[0] + nums[1] >= ${2:-1}))
}

disk_of() {
	local key value
	while IFS='=' read -r key value; do
		[[ $key != DEVNAME ]] || { echo "$value"; return; }
	done <"/sys/class/rnbd-client/ctl/devices/${2//\//!}@$1/uevent"
	fail "it has no name"
}

unmap() { echo "${2:-normal}" >"/sys/block/$1/rnbd/unmap_device"; }

unmap_all() {
	local disk
	for disk in /sys/block/rnbd*; do
		[[ ! -e $disk ]] || unmap "${disk##*/}" "${1:-force}"
	done
}

all_closed() { unmap_all && await 15 no_exports; }

no_exports() { [[ ! -d /sys/class/rnbd-server/ctl/devices || -z $(ls /sys/class/rnbd-server/ctl/devices) ]]; }

state_is() { [[ $(<"/sys/block/$1/rnbd/state") == "$2" ]]; }

uevents() {
	: >"$1" # "ready" may be there from before
	"$ROOT/build/tools/uevents" "${2:-disks}" >"$1" 3>&- & UEVENTS=$!
	await 10 grep -q ready "$1"
}

uevents_end() { kill "$UEVENTS"; }

dm_disk() {
	dmsetup create --noudevsync "$1" --table "$2" && await 10 test -b "/dev/${3:-dm-0}"
}

# little_endian N: four bytes, for printf
little_endian() { printf '\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24)); }

partitions() {
	local part table='' disk=$1
	shift
	for part in "$@"; do
		table+="\\0\\0\\0\\0\\x83\\0\\0\\0$(little_endian "${part%:*}")$(little_endian "${part#*:}")"
	done
	{
		head -c 440 /dev/zero
		# shellcheck disable=SC2059 # what is in the table is meant for it
		printf "\\x78\\x56\\x34\\x12\\0\\0$table"
		head -c $((64 - 16 * $#)) /dev/zero
		printf '\x55\xaa'
	} | dd of="$disk" conv=fsync,notrunc status=none
}
