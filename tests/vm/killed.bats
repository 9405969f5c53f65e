#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The process that maps, or adds a path, is killed at any moment: what it began is done or undone, nothing is left half.
# lab: on 6.1: the moment of the kill falls between CPUs that run at once
# lab: two guests
# lab: links 2
# lab: parallel
# lab: no sanitizers: the moments at which it dies would be those of its start
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	on_server "ram_disk 16 && dd if=/dev/zero of=/dev/ram0 bs=1M oflag=direct count=16 status=none && load_server"
	load_client
	memory_before
	probes
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	. "$ROOT/tests/vm/lib/killed.bash"
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
	[[ ! -e $TRACE/events/killed ]] || { echo 0 >$TRACE/events/killed/enable && echo >$TRACE/kprobe_events; }
}

teardown() {
	load_kill
	[[ -n $BATS_TEST_COMPLETED ]] || mend_all
	"$ADM" unmap --all --force
	"$ADM" session remove s1 --force 2>/dev/null || :
	adm_is '.sessions == []' session list
	census_even
	on_server await 10 census_even
}

# Tell where a command is interrupted, on kernels that can be asked: rtrs-client says at which step of connecting, RNBD comes then
probes() {
	{
		echo 'p:killed/step rtrs_client:explain_error step=%si:u32 err=%dx:s32
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

# sweep, and where that was: while it was connecting, too
traced() {
	if [[ ! -e $TRACE/events/killed ]]; then
		[[ -z $VIRTIO ]] || fail "nothing tells where it was interrupted"
		sweep "$@"
		return
	fi
	enough() { [[ $(interrupted_at) != *" 0 connecting"* ]]; }
	echo >$TRACE/trace
	sweep "$@"
	echo "# ${*:2:2}: interrupted $(interrupted_at)" >&3
	enough || fail "never while it was connecting"
}

@test "map" {
	local args=(map /dev/ram0 --session s1 --path ip:10.1.0.1 --path ip:10.2.0.1)
	check() {
		"$ADM" unmap --all --force
		adm_is '.client == {sessions: [], devices: []}' status
	}
	traced 30 "${args[@]}"
	"$ADM" "${args[@]}"
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none
}

@test "path add" {
	local args=(path add s1 ip:10.2.0.2@ip:10.2.0.1) DISK=rnbd0
	"$ADM" map /dev/ram0 --session s1 --path ip:10.1.0.1
	load_start
	check() {
		"$ADM" path remove s1 ip:10.2.0.2@ip:10.2.0.1 --idempotent
		adm_is '.sessions[0] | .paths_configured == 1 and .paths_connected == 1' session list
		dd if=/dev/rnbd0 of=/dev/null bs=64k count=1 iflag=direct status=none
	}
	traced 30 "${args[@]}"
	load_end /dev/ram0
	"$ADM" "${args[@]}"
}

# looks_for ADDRESS: the connection manager asks for its hardware address
looks_for() { ip neigh show to "$1" | grep -q INCOMPLETE; }

killed_looking() {
	local address=$1 pid
	shift
	"$ADM" "$@" >/dev/null 2>&1 3>&- & pid=$!
	await 10 looks_for "$address"
	killed_while "nobody answers for $address" $pid 1000
}

@test "map, path add: while nobody answers for the address" {
	[[ ! -e $TRACE/events/killed ]] || echo >$TRACE/trace
	killed_looking 10.1.0.77 map /dev/ram0 --session s1 --path ip:10.1.0.77
	adm_is '.client == {sessions: [], devices: []}' status
	"$ADM" map /dev/ram0 --session s1 --path ip:10.1.0.1
	killed_looking 10.2.0.77 path add s1 ip:10.2.0.77
	# what was killed has left a path that goes by itself
	await 10 adm_is '.sessions[0] | .paths_configured == 1 and .paths_connected == 1' session list
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=1 iflag=direct status=none
	[[ ! -e $TRACE/events/killed ]] || echo "# interrupted $(interrupted_at)" >&3
}

# A suspend that comes as far as to freeze all processes, and goes back
froze() {
	echo freezer >/sys/power/pm_test && echo 1 >/sys/module/suspend/parameters/pm_test_delay &&
		echo freeze >/sys/power/state && echo none >/sys/power/pm_test
}

@test "F4: a suspend freezes who maps or adds a path while nobody answers, by netlink and in files; they wait on, and can be killed" {
	local pid pids=()
	"$ADM" map /dev/ram0 --session s1 --path ip:10.1.0.1
	"$ADM" map /dev/ram0 --session s2 --path ip:10.1.0.77 >/dev/null 2>&1 3>&- & pids+=($!)
	await 10 looks_for 10.1.0.77
	bash -c "echo ip:10.2.0.77 >/sys/class/rtrs-client/s1/add_path" 2>/dev/null 3>&- & pids+=($!)
	await 10 looks_for 10.2.0.77
	# The second one waits for the first, which has its lock
	bash -c "echo ip:10.2.0.78 >/sys/class/rtrs-client/s1/add_path" 2>/dev/null 3>&- & pids+=($!)
	await 10 worker_in '^\[<0>\] rtrs_client_session_add_path'
	froze
	for pid in "${pids[@]}"; do
		killed_while "it maps or adds a path, and was frozen" "$pid" 1000
	done
	await 10 adm_is '.sessions | map(.name) == ["s1"]' session list
	await 10 adm_is '.sessions[0] | .paths_configured == 1 and .paths_connected == 1' session list
}

# killed_behind WHAT LINK FUNCTION FIRST SECOND: the first command looks for the server over this link, where nobody answers, the
# second one waits for it in a function that matches: killed, it is gone, and the first one goes on when there is an answer. The tool
# would wait for itself before that.
killed_behind() {
	local what=$1 link=$2 pid behind t0
	cut drop "$link"
	ip neigh flush dev "link$link"
	bash -c "exec $4" >/run/tmp/first 2>&1 3>&- & pid=$!
	await 10 looks_for "10.$link.0.1"
	bash -c "exec $5" >/run/tmp/second 2>&1 3>&- & behind=$!
	await 10 worker_in "$3" || fail "$(cat /run/tmp/second /proc/$behind/stack)"
	killed_while "another $what" $behind 1000
	kill -0 $pid
	mend drop "$link"
	t0=$EPOCHREALTIME
	wait $pid || fail "$(</run/tmp/first)"
	echo "# the first $what was done $(seconds_since "$t0") s after its server came into reach" >&3
}

@test "map, path add: while another one is at the session" {
	killed_behind map 1 '^\[<0>\] (rnbd_client_session_join|session_find_or_create)' "$ADM map /dev/ram0 --session s1 --path ip:10.1.0.1" \
		"echo 'sessname=s1 path=ip:10.1.0.1 device_path=/dev/ram0 access_mode=ro' >$CTL/map_device"
	adm_is '.client | (.sessions | length == 1) and ([.devices[] | .name, .access] == ["rnbd0", "rw"])' status
	killed_behind "path add" 2 '^\[<0>\] rtrs_client_session_add_path' "$ADM path add s1 ip:10.2.0.1" \
		"echo ip:fd01::1 >/sys/class/rtrs-client/s1/add_path"
	adm_is '[.paths[] | .name, .state] == ["ip:10.1.0.2@ip:10.1.0.1", "connected", "ip:10.2.0.2@ip:10.2.0.1", "connected"]' path list
	on_server '[[ $(ls /sys/class/rtrs-server/s1/paths | wc -l) == 2 ]]'
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=1 iflag=direct status=none
}
