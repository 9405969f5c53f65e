# SPDX-License-Identifier: GPL-2.0
# Helpers for .bats files about paths that are lost, in two guests with two links. Sourced by both guests: the functions whose
# names start with "server_" run on the server, by `server FUNCTION ARG..`.
#
#   map DEVICE [OPTION..]       maps it over both links in session $SESSION; sets DISK
#   set_to NAME=VALUE..         settings of the session, by the names of their files
#   path_of LINK                name of its path, as in sysfs
#   links_sound                 what Soft-RoCE has broken is whole; tells if it was not
#   links_in_use                those whose paths have requests in flight
#   path_is LINK STATE          the client has the path in this state; connected LINK: it will
#   cut KIND LINK, mend KIND LINK     drop-in, drop-out: what the client gets, or sends, is lost; drop: both; loss: 5 % of both;
#                               io: what the client gets but heartbeats;
#                               down: the server's interface has no carrier; set-down: it is set down; rdma: its RDMA device is
#                               deleted; set-down-here, rdma-here: ours is
#   load_start, load_end BACKING, one_cut KIND LINK, goes_on, stalls     see there
# shellcheck shell=bash disable=SC2034,SC2120

. "$ROOT/tests/vm/guest.bash"

CTL=/sys/class/rnbd-client/ctl
SESSION=s1
SDIR=/sys/class/rtrs-client/$SESSION
HOLD=/run/tmp/hold
TRACE=/sys/kernel/tracing
NET=([1]=10.1.0. [2]=fd02::) # link, address without the last digit: 1 is the server, 2 the client

# modules_of ours|in-tree client|server: what loads them
modules_of() { [[ $1 == ours ]] && echo "load_$2" || echo "load_peer_$2"; }

server() { on_server "declare -F server_lose >/dev/null || . $ROOT/tests/vm/lib/failover.bash && server_$*"; }

# server_lose LINK all|some|none: of what comes in here, 5 % being some. Where it is sent nothing must be dropped: Soft-RoCE takes
# that for an error of the queue pair, and the one of the connection manager's messages does not leave it (see rxe_sound). So
# it is never a new queue, be it for what comes in (see link_up). An interface that is set up has one for a moment; links_sound mends
# what was sent then.
server_lose() {
	local what="filter del dev $1 ingress" how=drop
	[[ $2 != some ]] || how="pass random netrand drop 20"
	[[ $2 == none ]] || what+=$'\n'"filter add dev $1 ingress matchall action $how"
	[[ -n ${LOSE-} ]] || modprobe -a cls_matchall act_gact && LOSE=ready && tc -batch - <<<"$what"
}

lose() { server_lose "$@"; }

server_silence() { server_lose link1 all && server_lose link2 all; }

# Of what comes in here all is lost that is for queue pairs of the path but the first, which has the heartbeats. They are named in
# the second word of the transport's header.
lose_for_io() {
	local qpn proto=(ip at 32)
	[[ $1 == 1 ]] || proto=(ipv6 at 52)
	lose "link$1" none && modprobe cls_u32 || return
	for qpn in $(rdma res show qp link "rxe$1/1" | sed -n 's/.* lqpn \([0-9]*\) .* type RC .*/\1/p' | sort -n | tail -n +2); do
		tc filter add dev "link$1" ingress protocol "${proto[0]}" u32 match u32 "$qpn" 0xffffff "${proto[@]:1}" action drop || return
	done
}

# The network of a guest of QEMU: no cable, as QEMU waits with what is for an interface that is down, and in the end both guests do
no_cable() { [[ -z $VIRTIO ]] || server_cable "$1" off; }

cut() {
	case $1 in
	drop-in) lose "link$2" all ;;
	drop-out) server lose "link$2" all ;;
	drop) server lose "link$2" all && lose "link$2" all ;; # nor does the server hear that the client hears nothing
	loss) lose "link$2" some && server lose "link$2" some ;;
	io) lose_for_io "$2" ;;
	down) server_cable "$2" off ;;
	set-down) no_cable "$2" && on_server "ip link set link$2 down" ;;
	set-down-here) no_cable "$2" && ip link set "link$2" down ;;
	rdma) on_server "rdma link delete rxe$2" ;;
	rdma-here) rdma link delete "rxe$2" ;;
	esac
}

# What is lost by what comes in over the link: packets, since it was cut
server_lost_packets() { tc -s filter show dev "$1" ingress | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'; }

lost_packets() { server_lost_packets "$@"; }

mend() {
	case $1 in
	drop-in | io) lose "link$2" none ;;
	drop-out) server lose "link$2" none ;;
	drop | loss) lose "link$2" none && server lose "link$2" none ;;
	down) server_cable "$2" on && links_sound ;;
	set-down) on_server "ip link set link$2 up" && server_cable "$2" on && links_sound ;;
	set-down-here) ip link set "link$2" up && server_cable "$2" on && links_sound ;;
	rdma) on_server "rxe_add rxe$2 link$2" ;;
	rdma-here) rxe_add "rxe$2" "link$2" ;;
	esac
}

server_mend_all() {
	local link
	for link in 1 2; do
		ip link set link$link up
		[[ -e /sys/class/infiniband/rxe$link ]] || rxe_add rxe$link link$link
		server_lose link$link none || :
	done
}

# After a test that failed, too
mend_all() {
	local link
	server_mend_all
	server mend_all
	for link in 1 2; do server_cable $link on; done
}

server_links_sound() { rxe_sound rxe1 link1 && rxe_sound rxe2 link2; }

links_sound() { server_links_sound >&3 && server links_sound >&3; }

# Until no path has a queue pair on the RDMA device, which has some of its own
server_await_no_queue_pairs() { await 20 eval "[[ \$(rdma res show qp link $1/1 | grep -c ' type RC ') == 0 ]]"; }

# For whom it may concern why a path cannot be had
server_look() {
	echo "$LAB_NAME:"
	dmesg | tail -n 5
	ip -s neigh
	rdma res show qp
	grep . /sys/class/infiniband/rxe*/ports/1/hw_counters/*err
}

look() {
	grep -H . "$SDIR"/paths/*/state
	server_look
	server look
}

map() {
	local path=$1
	shift
	links_sound || return
	echo "sessname=$SESSION path=ip:${NET[1]}1 path=ip:${NET[2]}1 device_path=$path $*" >$CTL/map_device || fail "$(look)" || return
	DISK=$(disk_of "$SESSION" "$path")
	await 20 test -b "/dev/$DISK"
}

set_to() {
	local setting
	for setting in "$@"; do
		echo "${setting#*=}" >"$SDIR/${setting%%=*}" || return
	done
}

path_of() { echo "ip:${NET[$1]}2@ip:${NET[$1]}1"; }

# Links with requests on their way. In-tree clients count under this policy alone: set_to mpath_policy=min-inflight.
links_in_use() {
	local link
	for link in 1 2; do
		(($(awk '{ print $5 }' "$SDIR/paths/$(path_of $link)/stats/rdma") == 0)) || echo $link
	done
}

connected() { await 60 path_is "$1" connected; }

path_is() { [[ $(<"$SDIR/paths/$(path_of "$1")/state") == "$2" ]]; }

# --- the server --------------------------------------------------------------------------------------------------------

# The server's guest as it is after a boot, with /dev/vda to export. Who wrote last outlives the boot, as on a real host
server_up() { server_disk && load_server "${SERVER_QUICK[@]}" record="$LAB_OUT/record" "$@"; }
server_up_in_tree() { server_disk && load_peer_server; }

# Its modules go and come, while nothing reaches it over link 2
server_again() { server_lose link2 all && rmmod rnbd-server rtrs-server && load_server "${SERVER_QUICK[@]}" record="$LAB_OUT/record"; }

# hold MIB: /dev/nbd0, which holds what it is told to (tests/vm/hold)
server_hold() {
	modprobe nbd nbds_max=1 && mkdir -p $HOLD && rm -f $HOLD/* || return
	"$ROOT/build/hold/hold" /dev/nbd0 "$1" $HOLD >$HOLD/output 2>&1 &
	echo $! >$HOLD/pid
	await 10 eval '[[ $(</sys/block/nbd0/size) -gt 0 ]]'
}

server_hold_end() {
	[[ ! -e $HOLD/pid ]] || kill "$(<$HOLD/pid)" || return
	rm -f $HOLD/pid
	await 10 eval '[[ ! -e /sys/block/nbd0/pid ]]' && rmmod nbd
}

server_command() {
	local n
	n=$(grep -c "command: $*" $HOLD/record)
	echo "$*" >$HOLD/control
	await 10 eval "((\$(grep -c 'command: $*' $HOLD/record) > $n))"
}

# From now on, by the clock of the record. In-tree modules have no such events.
server_trace() {
	local event
	echo mono >$TRACE/trace_clock && echo >$TRACE/trace || return
	for event in rtrs_server_path_state rtrs_server_slot_fenced; do
		[[ ! -e $TRACE/events/rtrs_server/$event ]] || echo 1 >$TRACE/events/rtrs_server/$event/enable || return
	done
}

# What the disk and the server have seen since, in one
server_record() {
	{
		cat $HOLD/record
		sed -nE 's/^.* ([0-9]+\.[0-9]{6}): (rtrs_server_[a-z_]+: .*)$/\1 \2/p' $TRACE/trace
	} | sort -n
}

# --- I/O while paths are lost ------------------------------------------------------------------------------------------

STALLS=/run/tmp/stalls CUTS=/run/tmp/cuts BACK=/run/tmp/path-back LOADED=/run/tmp/loaded

# Short times, so that a run is short. Waits for paths where both are lost. An attempt to connect that is under way when the link is
# back lasts on until its time-out: the first one begins so late that the link is mostly back before the second.
QUICK=(heartbeat_interval_ms=200 heartbeat_misses=2 reconnect_delay_ms=400 reconnect_delay_max_ms=1000 connect_timeout_ms=1500
	no_path_timeout_ms=-1)
# The server keeps a path that the client has lost, and the client from connecting it again, until its own heartbeats tell
SERVER_QUICK=(heartbeat_interval_ms=500 heartbeat_misses=2)

# In the background, of /dev/$DISK: tests/vm/tools/load.c
load_run() { exec "$ROOT/build/tools/load" "/dev/$DISK" $STALLS >$LOADED 2>&1 3>&-; }

# Until load_end
load_start() {
	rm -f $STALLS $CUTS $BACK
	touch $STALLS $CUTS $BACK
	load_run & LOAD=$!
	goes_on
}

# load_end BACKING: no error, all that was written was read again, and what can be read is what the server's disk has
load_end() {
	local here there
	goes_on || fail "$(<$LOADED)" || return
	kill "$LOAD" 2>/dev/null || : # it has ended if it met an error
	await 60 dead "$LOAD" || fail "requests are not done: $(<"/sys/block/$DISK/stat")" || return
	wait "$LOAD" || fail "$(<$LOADED)" || return
	awk '$9 != 0 { print $9 " in flight"; exit 1 }' "/sys/block/$DISK/stat" || return
	here=$(dd if="/dev/$DISK" bs=1M iflag=direct status=none | sha256sum) &&
		there=$(on_server "dd if=$1 bs=1M iflag=direct status=none | sha256sum") || return
	[[ $here == "$there" ]] || fail "$DISK is $here, $1 is $there"
}

# After a test that failed
load_kill() {
	[[ -z ${LOAD-} ]] || kill "$LOAD" 2>/dev/null || :
}

# A hundred requests are done from now on
goes_on() {
	await "${1:-30}" io_done "$DISK" $(($(ios "$DISK") + 100))
}

# Of a file of tests that lose paths: the server has /dev/ram0, of which load_end reads all; and what ends each of them, even if it
# failed
losses_begin() {
	on_server "ram_disk 16 && dd if=/dev/zero of=/dev/ram0 bs=1M oflag=direct count=16 status=none" &&
		on_server load_server "${SERVER_QUICK[@]}" && load_client && memory_before
}

loss_end() {
	load_kill
	mend_all
	unmap_all
	dmesg_clean
	on_server dmesg_clean
}

booted() { [[ -e $SHARED/server-up ]]; }

# lost LINK [RECONNECTS]: or it was, if its file of this name had said this before
lost() { ! path_is "$1" connected || [[ -n ${2-} && $(<"$SDIR/paths/$(path_of "$1")/stats/reconnects") != "$2" ]]; }

# one_cut KIND LINK: the path is lost, I/O goes on, the path comes back
one_cut() {
	local now reconnects
	reconnects=$(<"$SDIR/paths/$(path_of "$2")/stats/reconnects")
	read -r now _ </proc/uptime
	echo "$now $1" >>$CUTS
	cut "$@" || return
	await 40 lost "$2" "$reconnects" && goes_on || return
	mend "$@" && now=$EPOCHREALTIME || return
	connected "$2" || fail "$(look)" || return
	seconds_since "$now" >>$BACK
}

# stalls WHAT [MEDIAN WORST]: prints the longest waits for a request after each cut, in seconds. Fails where they are longer than
# this, on a host that is no slower than others, and tells of each: the median tells of the driver, the worst of the host's load as
# well, for which tests/run has the file once more if it is one of ten or more. And how long paths took to be back.
stalls() {
	[[ ! -s $BACK ]] || echo "# $1: paths were back $(spread $BACK) after the repair" >&3
	awk -v what="$1" -v median="${2:-1e9}" -v limit="${3:-1e9}" -v slow="${LAB_SLOW:-1}" '
		NR == FNR { at[++n] = $1; kind[n] = $2; next }
		{ for (i = n; i > 1 && at[i] > $1 + $2; i--); if ($2 > worst[i]) worst[i] = $2 }
		END {
			for (i = 1; i <= n; i++) {
				w = worst[i] + 0
				for (j = i; j > 1 && sorted[j - 1] > w; j--) sorted[j] = sorted[j - 1]
				sorted[j] = w
			}
			printf "# %s: %d cuts, requests waited %.2f s (median), %.2f s (worst)\n", what, n, sorted[int((n + 1) / 2)], sorted[n] | "cat >&3"
			if (sorted[int((n + 1) / 2)] <= slow * median && sorted[n] <= slow * limit) exit
			if (n >= 10 && sorted[int((n + 1) / 2)] <= slow * median && sorted[n - 1] <= slow * limit)
				print "one wait of " n " was too long"
			for (i = 1; i <= n; i++) printf "%s at %.2f: %.2f s\n", kind[i], at[i], worst[i]
			exit 1
		}' $CUTS $STALLS
}

server_mem_available() { mem_available; }

mem_available() { awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo; }

# The server's memory in MiB when nothing is mapped, to be the same later but for SLACK of them. A session of the default size
# takes 64, freed by workers of the server; those of a client that vanished are kept until the module goes, so that goes first. The
# pages of its disk must be there before.
memory_before() { server mem_available >/run/tmp/memory; }
memory_is_back() {
	on_server unload rnbd-server rtrs-server || return
	await 20 memory_is_near "${1:-48}" || fail "$(</run/tmp/memory) MiB before, $(server mem_available) now" || return
	echo "# the server's memory: $(</run/tmp/memory) MiB before, $(server mem_available) now" >&3
}
memory_is_near() { (($(</run/tmp/memory) - $(server mem_available) < $1)); }
