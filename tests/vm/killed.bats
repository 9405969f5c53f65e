#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The process that maps, or adds a path, is killed at any moment: what it began is done or undone, nothing is left half.
# lab: make rnbdadm
# lab: two guests
# lab: links 2
# lab: parallel
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	on_server "ram_disk 32 && dd if=/dev/zero of=/dev/ram0 bs=1M oflag=direct count=32 status=none && load_server"
	load_client
	memory_before
	probes
}

setup() { . "$ROOT/tests/vm/lib/failover.bash"; }

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
	[[ ! -e $TRACE/events/killed ]] || { echo 0 >$TRACE/events/killed/enable && echo >$TRACE/kprobe_events; }
}

teardown() {
	"$ADM" unmap --all --force -y
	"$ADM" session remove s1 --force 2>/dev/null || :
	adm_is '.sessions == []' session list
	census_even
	on_server await 10 census_even
}

# Tell where a command is interrupted, on kernels that can be asked: rtrs-client says at which step of connecting, RNBD comes then
probes() {
	{
		echo 'p:killed/step rtrs_client:explain step=%si:u32 err=%dx:s32
			r:killed/greet rnbd_client:rnbd_client_msg_sess_info err=$retval:s32
			r:killed/open rnbd_client:rnbd_client_msg_open err=$retval:s32' >$TRACE/kprobe_events &&
			echo 1 >$TRACE/events/killed/enable
	} 2>/dev/null || :
}

interrupted_at() {
	awk '/err=-4$/ { for (i = 1; i <= NF; i++) if ($i ~ /^step=/) n[$i]++; else if ($i ~ /^(greet|open):$/) n[$i]++ }
		END { printf "%d at an address, %d at a route, %d connecting, %d at the login, %d greeting, %d opening",
			n["step=0"], n["step=1"], n["step=2"], n["step=3"], n["greet:"], n["open:"] }' $TRACE/trace
}

# killed_after MS ARGS..: the command, killed then. Its end is not waited for by "run", which would hide how it ended.
killed_after() {
	local pid ms=$1
	shift
	"$ADM" "$@" >/dev/null 2>&1 3>&- &
	pid=$!
	read -rt "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))" -u "$NAP" || :
	kill -9 $pid 2>/dev/null || :
	if wait $pid; then DONE=$((DONE + 1)); else CUT=$((CUT + 1)); fi
}

# sweep ARGS..: killed at 30 moments, and later ones until it is too late once: no stage of the command was left out. After each,
# check says what must hold and brings back what was. How long it takes is not asked of the first, for which hosts have to meet.
sweep() {
	local i last
	took "$@" >/dev/null
	check
	last=$(took "$@")
	check
	nap
	CUT=0 DONE=0
	echo >$TRACE/trace
	for ((i = 0; i < 30 || (DONE == 0 && i < 90); i++)); do
		killed_after $((last * i / 30)) "$@"
		check
	done
	echo "# ${*:1:2}: killed $CUT times, done $DONE times" >&3
	[[ ! -e $TRACE/events/killed ]] || echo "# ${*:1:2}: interrupted $(interrupted_at)" >&3
	((CUT >= 10 && DONE >= 1))
}

took() {
	local t0=${EPOCHREALTIME/./}
	"$ADM" "$@" >/dev/null
	echo $(((${EPOCHREALTIME/./} - t0) / 1000))
}

@test "map" {
	local args=(map /dev/ram0 --session s1 --path ip:10.1.0.1 --path ip:10.2.0.1)
	check() {
		"$ADM" unmap --all --force -y
		adm_is '.client == {sessions: [], devices: []}' status
	}
	sweep "${args[@]}"
	"$ADM" "${args[@]}"
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none
}

@test "session add-path" {
	local args=(session add-path s1 ip:10.2.0.2@ip:10.2.0.1)
	"$ADM" map /dev/ram0 --session s1 --path ip:10.1.0.1
	check() {
		"$ADM" session remove-path s1 ip:10.2.0.2@ip:10.2.0.1 --idempotent
		adm_is '.sessions[0] | .paths_configured == 1 and .paths_connected == 1' session list
		dd if=/dev/rnbd0 of=/dev/null bs=64k count=1 iflag=direct status=none
	}
	sweep "${args[@]}"
	"$ADM" "${args[@]}"
}
