# SPDX-License-Identifier: GPL-2.0
# Helpers for scripts and .bats files that run inside the lab's guest. Everything fails loudly: a message on stderr and a
# status that is not 0. Works under set -e (bats).
#
#   net_up [N]                  N (1) dummy interfaces dummyI, MTU 4200, 10.0.I.1/24 and fd00:I::1/64, each with link rxeI
#   link_up                     two guests: linkI, 10.I.0.1 / 10.I.0.2 and fd0I::1 / fd0I::2, MTU 4200, each with link rxeI
#   load_server [PARAM=VALUE..] rtrs-core, rtrs-server, rnbd-server; each parameter goes to the module that has it
#   load_client [PARAM=VALUE..] rtrs-core, rtrs-client, rnbd-client
#   both_ends MIB               what most files begin with: net_up 2, ram_disk MIB, load_server, load_client
#   load_peer_server, load_peer_client          the same from the in-tree modules
#   unload_all                  all five in order, after census_clean
#   dmesg_mark, dmesg_clean     no kernel report since the last of the two; `dmesg_clean all`: since boot
#   dmesg_new                   what the kernel said since then
#   census_clean                every object that was created was destroyed; none of our slab objects is left
#   await SECONDS CMD...        until CMD succeeds, looked at every 50 ms, less often where it takes long
#   seconds_since T             since T, which was $EPOCHREALTIME then: "1.23"; spread FILE: what median and worst of such are
#   io_done DISK N              more than N requests were done by this disk; await 30 io_done rnbd0 100
#   lasting SECONDS             how long a test goes on that just lasts: a third on kernels but the first, less where a second is
#                               dear (LAB_SLOW)
#   under_way DISK [N]          has N (1) requests that are not done
#   ends_badly PID              waits for this child, which must fail. Not by "run", whose shell has no such child.
#   adm_is FILTER ARGS..        the JSON of this command of $ADM passes the filter of jq
#   ynl ARGS..                  a client of netlink that shares no code with ours: see there
#   document TEXT [ARGS..]      TEXT is what the tool printed for ARGS: JSON in it is held against
#                               the schemas when the guest is gone; "run" and adm_is do it themselves
#   ram_disk MIB [N], loop_disk MIB             print the device they made
#   null_disk NAME ATTRIBUTE=VALUE..            /dev/NAME, of null_blk, or what it is from now on; null_disk_gone NAME. A slow one:
#                               irqmode=2 completion_nsec=N
#   uevents FILE                writes "ready", then the action and RESIZE=1 of each uevent of a disk rnbdN to FILE, until it is
#                                 killed or a minute is over. Runs in the background: uevents FILE 3>&- &
#   requests_to DEVICE CMD..    runs CMD; what block requests the device got meanwhile is in /run/tmp/requests, as the kernel traces it
#   prios_of FUNCTION CMD..     runs CMD; the bios that this function of the kernel (submit_bio; brd_submit_bio is that of RAM disks) got
#                               meanwhile had the priorities in /run/tmp/prios, class << 13 | level
#   rxe_sound RXE NETDEV        if nothing connects over this link any more, though it is up, it is made anew, and that is printed
#   rxe_pkts RXE                packets sent and received by this link, added up
#   on_server CMD...            two guests: CMD (a line of shell with these helpers) on the server; its output and status
#   server_disk                 on a server with "# lab: disk": waits for it, /dev/vda
#   server_power off|on         two guests: kills the server as a power failure does, boots it again
#   server_power freeze|thaw    two guests: the server stands still, and what is sent to it is lost; it goes on
#   server_cable N off|on       two guests: pulls the server's end of this link, which loses its carrier; puts it back
# shellcheck shell=bash disable=SC2119,SC2120

# Before each command bats notes where it is, which takes 10 ms here: only in the file of tests from now on, not in helpers
if declare -F "${BATS_TEST_NAME-}" >/dev/null; then
	set +T
	# shellcheck disable=SC2046
	declare -ft $(compgen -A function -X 'bats_*')
	# Not what the kernel said: dmesg_new and dmesg_clean leave it out
	echo "lab: test: ${BATS_TEST_DESCRIPTION-}" >/dev/kmsg
fi

fail() {
	echo "${FUNCNAME[1]}: $*" >&2
	return 1
}

# The tool under test. What its sanitizers report is in files, as not everybody looks at its stderr.
ADM=$ROOT/build/${LAB_TOOL:-rnbdadm}
export ASAN_OPTIONS=log_path=$LAB_OUT/sanitizers UBSAN_OPTIONS=log_path=$LAB_OUT/sanitizers

jq() { gojq "$@"; }

# As printed() of tests/cli; what is on stderr may be between the lines
document() {
	local kind=any text='' line
	if [[ $1 == $'{\n  "schema": "rnbdadm.'* ]]; then
		text=$1
	elif [[ $1 == *'{"schema":"rnbdadm.'* ]]; then
		while IFS= read -r line; do
			[[ $line != '{"schema":"rnbdadm.'* ]] || text+=$line$'\n'
		done <<<"$1"
	fi
	[[ " ${*:2}" != *" -"?(j|p)F* && " ${*:2}" != *" --fields"* ]] || kind=fields
	[[ -z $text ]] || printf '%s\0' $kind "${BATS_TEST_DESCRIPTION-}" "$text" >>"$LAB_OUT/documents"
}

if declare -F run >/dev/null && ! declare -F bats_plain_run >/dev/null; then
	eval "bats_plain_$(declare -f run)"
	run() {
		local rc=0
		bats_plain_run "$@" || rc=$?
		# shellcheck disable=SC2154 # that sets it
		document "$output" "$@"
		return "$rc"
	}
fi

adm_is() {
	local filter=$1
	shift
	"$ADM" "$@" -j >/tmp/adm.json
	document "$(</tmp/adm.json)" "$@"
	jq -e "$filter" /tmp/adm.json >/dev/null || fail "not so: $filter: $(</tmp/adm.json)"
}

# ynl ARGS..: the document that tests/vm/ynl.py prints for them. One process does it for all tests of a file.
ynl() {
	local dir=/run/tmp/ynl answer=/run/tmp/ynl/$BASHPID said
	if [[ ! -p $dir/ask ]]; then
		mkdir $dir && { "$ROOT/tests/vm/ynl.py" --serve $dir >/dev/null 2>&1 3>&- & } && await 20 test -p $dir/ask || return
	fi
	mkfifo "$answer" && { printf '%s\37' "$answer" "$@" && printf '\36'; } >$dir/ask && said=$(<"$answer") && rm "$answer" || return
	printf '%s\n' "$said"
	[[ $said == "{"* ]]
}

# --- network -----------------------------------------------------------------------------------------------------------

rxe_add() {
	modprobe -a crc32_generic rdma_rxe rdma_cm rdma_ucm ib_uverbs || return # rxe of 6.1 fails without crc32_generic
	rdma link add "$1" type rxe netdev "$2"
}

# Linux 6.12: a message of the connection manager that finds no way out of the host leaves the queue pair of all of them in error
rxe_sound() {
	rdma res show qp link "$1/1" 2>/dev/null | grep -q 'type GSI state ERR' || return 0
	echo "# $LAB_NAME: $1: its management queue pair is in error; made anew"
	rdma link delete "$1" && rxe_add "$@"
}

net_up() {
	local n=${1:-1} i
	modprobe dummy numdummies=0 || return
	for ((i = 0; i < n; i++)); do
		ip link add "dummy$i" type dummy || return
		ip link set "dummy$i" mtu 4200 up || return # gives an RDMA MTU of 4096
		ip addr add "10.0.$i.1/24" dev "dummy$i" || return
		ip addr add "fd00:$i::1/64" dev "dummy$i" nodad || return
		rxe_add "rxe$i" "dummy$i" || return
	done
}

net_down() {
	local link
	for link in /sys/class/infiniband/rxe*; do
		[[ -e $link ]] || continue
		rdma link delete "${link##*/}" || return
	done
	for link in /sys/class/net/dummy*; do
		[[ -e $link ]] || continue
		ip link delete "${link##*/}" || return
	done
}

# Network cards, as the kernel names them; cards, which can lose their carrier, and disk are virtio's
CARDS=eth VIRTIO=y

# No queue that drops on purpose, as fq_codel does in a burst: Soft-RoCE does not send again what it has registered
# (rxe_reg_fast_mr: not free). What tests drop of what comes in has its place before there is traffic: while it is made, the device
# is deactivated, and what is sent then is lost.
link_up() {
	local dev mac i end=1
	modprobe sch_ingress && echo pfifo_fast >/proc/sys/net/core/default_qdisc || return
	[[ $LAB_NAME == server ]] || end=2
	[[ -z $VIRTIO ]] || modprobe virtio_net || return
	await 5 eval "compgen -G '/sys/class/net/$CARDS*' >/dev/null" || return
	for dev in /sys/class/net/$CARDS*; do
		mac=$(<"$dev/address")
		i=$((16#${mac:12:2}))
		dev=${dev##*/}
		ip link set "$dev" name "link$i" || return
		# Addresses stay where it is set down
		echo 1 >"/proc/sys/net/ipv6/conf/link$i/keep_addr_on_down" && ip link set "link$i" mtu 4200 up || return
		tc qdisc add dev "link$i" clsact || return
		ip addr add "10.$i.0.$end/24" dev "link$i" || return
		ip addr add "fd0$i::$end/64" dev "link$i" nodad || return
		rxe_add "rxe$i" "link$i" || return
	done
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

rxe_pkts() {
	local dir=/sys/class/infiniband/$1/ports/1/hw_counters
	echo $(($(<"$dir/sent_pkts") + $(<"$dir/rcvd_pkts")))
}

# --- modules -----------------------------------------------------------------------------------------------------------

module_loaded() { [[ -d /sys/module/${1//-/_} ]]; }

# module_says FIELD FILE: what modinfo says, asked once
module_says() {
	local kept=/run/tmp/modinfo${2//\//.}.$1 new=/run/tmp/modinfo.$BASHPID
	if [[ ! -e $kept ]]; then
		modinfo -F "$1" "$2" >"$new" && mv "$new" "$kept" || return
	fi
	echo "$(<"$kept")"
}

# module_load DIR NAME [PARAM=VALUE..]: with what it depends on, ours from DIR, the kernel's by modprobe
module_load() {
	local ko=$1/$2.ko dep needs others=()
	IFS=, read -ra needs < <(module_says depends "$ko") || { fail "no module $ko"; return 1; }
	for dep in "${needs[@]}"; do
		module_loaded "$dep" && continue
		case $dep in
		rtr?[_-]* | rnb?[_-]*) module_load "$1" "${dep//_/-}" || return ;;
		*) others+=("$dep") ;;
		esac
	done
	((${#others[@]} == 0)) || modprobe -a "${others[@]}" || return
	insmod "$ko" "${@:3}" || fail "insmod ${*:2}: status $?"
}

# module_set DIR "NAME.." [PARAM=VALUE..]: load each with those of the parameters that it has
module_set() {
	local dir=$1 names=$2 name p has taken='' own
	shift 2
	for name in $names; do
		own=() has=''
		(($# == 0)) || has=$'\n'$(module_says parm "$dir/$name.ko")
		for p in "$@"; do
			[[ $has == *$'\n'"${p%%=*}:"* ]] || continue
			own+=("$p")
			taken+=" ${p%%=*} "
		done
		module_loaded "$name" || module_load "$dir" "$name" "${own[@]}" || return
	done
	for p in "$@"; do
		[[ $taken == *" ${p%%=*} "* ]] || { fail "no module of '$names' has a parameter ${p%%=*}"; return 1; }
	done
}

load_server() { module_set "$MODS" "rtrs-core rtrs-server rnbd-server" "$@"; }
load_client() { module_set "$MODS" "rtrs-core rtrs-client rnbd-client" "$@"; }
both_ends() { net_up 2 && ram_disk "$1" && load_server && load_client; }
load_peer_server() { module_set "$PEER_MODS" "rtrs-core rtrs-server rnbd-server" "$@"; }
load_peer_client() { meet_neighbours && module_set "$PEER_MODS" "rtrs-core rtrs-client rnbd-client" "$@"; }

# rdma_cm may miss the answer of a neighbour that is quick on a slow host; in-tree clients then wait for half a minute, and give up
meet_neighbours() {
	local dev i end=1
	[[ $LAB_NAME != server ]] || end=2
	for dev in /sys/class/net/link*; do
		[[ -e $dev ]] || continue
		i=${dev##*/link}
		busybox ping -c 1 -W 10 "10.$i.0.$end" >/dev/null && busybox ping -c 1 -W 10 "fd0$i::$end" >/dev/null ||
			fail "link$i: no answer" || return
	done
}

unload() {
	local name present=()
	for name in "$@"; do
		! module_loaded "$name" || present+=("$name")
	done
	((${#present[@]} == 0)) || rmmod "${present[@]}" || fail "$(lsmod | grep -E '^(rtr|rnb)._')"
}

unload_all() {
	unload rnbd-client rnbd-server rtrs-client rtrs-server || return
	census_clean || return
	unload rtrs-core || return
	slab_clean
}

# --- what a run leaves behind --------------------------------------------------------------------------------------------

DMESG_BAD='BUG|WARNING:|Oops|INFO: |rcu.*(stall|starved)|KASAN|KCSAN|UBSAN|hung_task|blocked for more than|refcount_t|Call Trace'
DMESG_BAD+='|general protection|NULL pointer|list_(add|del) corruption|Objects remaining|lockdep|deadlock|leaked|Kernel panic'
DMESG_BAD+='|: 0000000000000000$|still has|slab error|page allocation failure|scheduling while atomic|sleeping function|soft lockup|hard LOCKUP'
# Said by the stock kernel on any boot, no fault of anything here
DMESG_GOOD='module verification failed|loading out-of-tree module|clocksource|INFO: task .*/init'
DMESG_MARK='lab: mark'

# The mark is a line in the log itself: its clock is not that of user space
dmesg_mark() { echo "$DMESG_MARK" >/dev/kmsg; }

# What the kernel said since the mark
dmesg_new() { dmesg | awk -v mark="$DMESG_MARK" 'index($0, mark) { n = 0; next } !/ lab: test: / { line[n++] = $0 }
	END { for (i = 0; i < n; i++) print line[i] }'; }

# One pass, as each process costs some 50 ms here. Prints the log from the first complaint on.
dmesg_clean() {
	local report
	report=$(dmesg | awk -v mark="$DMESG_MARK" -v all="${1-}" -v bad="$DMESG_BAD" -v good="$DMESG_GOOD" '
		index($0, mark) { if (all == "") n = 0; next }
		/ lab: test: / { next }
		n && n < 60 { line[n++] = $0 }
		!n && $0 ~ bad && $0 !~ good { line[n++] = $0 }
		END { for (i = 0; i < n; i++) print line[i] }')
	dmesg_mark
	[[ -z $report ]] || {
		printf 'dmesg_clean: the kernel complained:\n%s\n' "$report" >&2
		return 1
	}
}

# Lines of the census: <noun> <created> <destroyed>. Sessions of the server side may take a moment to be gone.
census_even() { ! awk '$2 != $3 { bad = 1 } END { exit !bad }' /sys/kernel/debug/rtrs/objects; }

census_clean() {
	[[ -e /sys/kernel/debug/rtrs/objects ]] || return 0
	await 10 census_even 2>/dev/null && return
	awk '$2 != $3 { print "census: " $1 ": " $2 " created, " $3 " destroyed" }' /sys/kernel/debug/rtrs/objects >&2
	return 1
}

slab_clean() {
	local left
	left=$(awk '$1 ~ /^(rtrs|rnbd)[_-]/ && $2 > 0 { print "slab: " $1 ": " $2 " objects" }' /proc/slabinfo)
	[[ -z $left ]] || { echo "$left" >&2; return 1; }
}

await() {
	local limit=$(($1 * ${LAB_SLOW:-1})) until now rest
	shift
	now=${EPOCHREALTIME/./}
	until=$((now + limit * 1000000))
	until "$@"; do
		# twice as long as it took to look: where that is dear, what is awaited needs the CPU, too
		rest=$((${EPOCHREALTIME/./} - now << 1))
		((now + rest / 2 < until)) || { fail "not within $limit s: $*"; return 1; }
		nap $((rest < 50000 ? 50000 : rest < 400000 ? rest : 400000))
		now=${EPOCHREALTIME/./}
	done
}

lasting() {
	local share=${LAB_SLOW:-1}
	[[ $KERNEL == 6.1 || $share -gt 1 ]] || share=3
	echo $(($1 / share))
}

# nap [US]: so long, 50 ms where it is not said, below a second; without a process
nap() {
	local seconds
	printf -v seconds 0.%06d "${1:-50000}"
	[[ -n ${NAP-} ]] || exec {NAP}<> <(:)
	read -rt "$seconds" -u "$NAP" || :
}

# map_line TEXT: to map_device; an in-tree client, which may give up on a busy host, is asked once more
map_line() {
	local file=/sys/class/rnbd-client/ctl/map_device
	echo "$1" >$file || { [[ ! -e /sys/kernel/debug/rtrs ]] && echo "# in-tree client: mapped at the second attempt" >&3 && echo "$1" >$file; }
}

seconds_since() {
	local us=$((${EPOCHREALTIME/./} - ${1/./}))
	printf '%d.%02d\n' $((us / 1000000)) $((us % 1000000 / 10000))
}

spread() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.2f s (median), %.2f s (worst)\n", v[int((NR + 1) / 2)], v[NR] }'; }

io_done() {
	local nums
	read -ra nums <"/sys/block/$1/stat" && ((nums[0] + nums[4] > $2))
}

under_way() {
	local nums
	read -ra nums <"/sys/block/$1/inflight" && ((nums[0] + nums[1] >= ${2:-1}))
}

ends_badly() { ! wait "$1" || fail "process $1 met no error"; }

uevents() {
	exec python3 -u - >"$1" <<-'END'
		import re, signal, socket
		signal.alarm(60)
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)
		s.bind((0, 1))
		print("ready")
		while True:
		    m = s.recv(65536)
		    a = re.match(rb"(\w+)@/devices/virtual/block/rnbd\d+\0", m)
		    if a:
		        print(a.group(1).decode() + (" RESIZE=1" if b"\0RESIZE=1\0" in m else ""))
	END
}

# --- backing devices -----------------------------------------------------------------------------------------------------

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

# --- two guests ----------------------------------------------------------------------------------------------------------

SHARED=/run/lab/shared

server_disk() {
	[[ -z $VIRTIO ]] || modprobe virtio_blk || return
	await 5 test -b /dev/vda
}

on_server() {
	local id=${EPOCHREALTIME/./}-$BASHPID rc
	printf '%s\n# end\n' "$*" >"$SHARED/$id.request" || return
	await "${ON_SERVER_TIMEOUT:-60}" test -s "$SHARED/$id.status" || return
	[[ ! -s $SHARED/$id.output ]] || printf '%s\n' "$(<"$SHARED/$id.output")"
	rc=$(<"$SHARED/$id.status")
	return "$rc"
}

ask_host() { echo "$*" >"$SHARED/power.new" && mv "$SHARED/power.new" "$SHARED/power" && await 20 test ! -e "$SHARED/power"; }

server_cable() { ask_host "link$1 $2"; }

server_power() {
	ask_host "$1" || return
	[[ $1 != on ]] || await 60 test -e "$SHARED/server-up"
}

sanitizers_silent() { ! cat "$LAB_OUT"/sanitizers.* 2>/dev/null; }

# What is looked for at the end of a run, besides
# shellcheck disable=SC2034 # bats-guest, server-loop
case $ADM in
*-san) END_CHECKS=(sanitizers_silent) ;;
*) END_CHECKS=() ;;
esac
# shellcheck disable=SC1090
[[ -z ${LAB_GUEST-} ]] || . "$LAB_GUEST"
