#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Both paths of a session are silent, under I/O: whatever an administrator does then ends in a few seconds, or when it is killed,
# on either side.
# lab: on debug: objects on their way out are judged by KASAN and lockdep
# lab: two guests
# lab: links 2
# lab: cpus 1
# lab: no sanitizers: its times are of the modules
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	losses_begin
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
}

MIN_FREE=$(</proc/sys/vm/min_free_kbytes)

teardown() {
	echo "$MIN_FREE" >/proc/sys/vm/min_free_kbytes
	loss_end
	"$ADM" session remove $SESSION --idempotent --force
	"$ADM" session remove s2 --idempotent
	"$ADM" session remove s3 --idempotent
	on_server load_server "${SERVER_QUICK[@]}"
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

# The peer is dead, and nothing tells so: not even the server, which has short times, and is cut off last
silence() { lose link1 all && lose link2 all && server silence; }

write() { echo "$1" >"$2"; }

# ends LIMIT WHAT CMD..: within so many seconds
ends() {
	local limit=$1 what=$2 t0=${EPOCHREALTIME/./} ms
	shift 2
	"$@" || return
	ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "# $what with a dead peer: $ms ms" >&3
	((ms < limit * 1000))
}

file_of() { echo "$SDIR/paths/$(path_of "$1")/$2"; }

only_path_is() { adm_is "[.paths[].state] == [\"$1\"]" path list; }

# waits_in_vain CMD..: it would bring the one path back, and waits for the peer; killed, it is gone at once
waits_in_vain() {
	local pid t0 ms
	"$@" & pid=$!
	await 5 only_path_is connecting
	t0=${EPOCHREALTIME/./}
	kill -9 $pid || return
	ends_badly $pid
	ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "# ${*:1:3} with a dead peer, killed: gone after $ms ms" >&3
	((ms < 500 * ${LAB_SLOW:-1})) && only_path_is connecting && write 1 "$(file_of 1 disconnect)" && only_path_is disconnected
}

# Disconnects wait 5 s for the peer, unless heartbeats have told of it before
@test "a path is disconnected, another removed, one reconnected; killed, they go on by themselves; I/O waits, and goes on" {
	local one two
	map /dev/ram0
	set_to "${QUICK[@]}" heartbeat_interval_ms=60000
	load_start
	silence
	ends 10 disconnect write 1 "$(file_of 1 disconnect)" & one=$!
	ends 10 remove_path write 1 "$(file_of 2 remove_path)" & two=$!
	wait $one
	wait $two
	adm_is '[.paths[].state] == ["disconnected"]' path list
	set_to connect_timeout_ms=30000
	waits_in_vain write 1 "$(file_of 1 reconnect)"
	waits_in_vain "$ADM" path reconnect $SESSION "$(path_of 1)"
	waits_in_vain "$ADM" recover $SESSION
	set_to connect_timeout_ms=1500
	mend drop 1
	mend drop 2
	"$ADM" path reconnect $SESSION "$(path_of 1)"
	"$ADM" path add $SESSION "ip:${NET[2]}1"
	goes_on

	silence
	write 1 "$(file_of 1 disconnect)" & one=$!
	write 1 "$(file_of 2 remove_path)" & two=$!
	await 5 adm_is '[.paths[].state] == ["closing", "closing"]' path list
	kill -9 $one $two
	ends_badly $one
	ends_badly $two
	adm_is '[.paths[].state] == ["closing", "closing"]' path list
	await 8 adm_is '[.paths[].state] == ["disconnected"]' path list
	mend drop 1
	mend drop 2
	write 1 "$(file_of 1 reconnect)"
	load_end /dev/ram0
}

# grow MIB: the server's disk, of which it tells its clients
grow() {
	on_server "truncate -s $1M \$(losetup -nO BACK-FILE /dev/loop0) && losetup -c /dev/loop0 &&
		echo 1 >/sys/class/rnbd-server/ctl/devices/loop0/revalidate"
}

mapped_with() { adm_is ".devices[0] | .state == \"mapped\" and .size_bytes == $(($1 << 20))" device show rnbd0; }

# By number where the kernel knows no names
asked_in_vain() { dmesg_new | grep -qE "rnbd0: session $SESSION: the size of /dev/loop0: -(ETIMEDOUT|110)"; }

# It is sent again over the other path when the silent one is lost, and its answer is heard by nobody who asked
@test "a disk's new size is asked for over a silent path: the disk stays, and has it in the end" {
	local mib=16
	[ "$(on_server loop_disk 16)" = /dev/loop0 ]
	map /dev/loop0
	# The path that is silent must be asked before it is lost
	set_to heartbeat_interval_ms=$((2000 * ${LAB_SLOW:-1})) connect_timeout_ms=500
	cut drop 2
	until asked_in_vain; do
		((mib += 1, mib < 40))
		grow $mib
		await 5 eval "asked_in_vain || mapped_with $mib"
	done
	await $((30 * ${LAB_SLOW:-1})) eval '! path_is 2 connected'
	await 10 mapped_with $mib
	dd if=/dev/rnbd0 of=/dev/null bs=1M skip=$((mib - 1)) iflag=direct status=none
	mend drop 2
	connected 2
	unmap_all
	on_server "losetup -D"
}

# mend_all makes them again
@test "an RDMA device is deleted, on either end: its path is closed, and nothing waits for the peer" {
	local one two
	map /dev/ram0
	set_to "${QUICK[@]}" heartbeat_interval_ms=60000
	load_start
	silence
	ends 10 "rdma link delete" rdma link delete rxe1 & one=$!
	ends 10 "rdma link delete on the server" on_server rdma link delete rxe2 & two=$!
	wait $one
	wait $two
	lost 1
	[ ! -e /sys/class/infiniband/rxe1 ]
	on_server '[[ ! -e /sys/class/infiniband/rxe2 && -z $(grep -l rxe2 /sys/class/rtrs-server/*/paths/*/hca_name) ]]'
	set_to "${QUICK[@]}"
	await 40 lost 2
	mend_all
	connected 1
	connected 2
	goes_on
	load_end /dev/ram0
}

@test "unmap by force, and the modules of the server go, each without the other" {
	local unload
	map /dev/ram0
	set_to "${QUICK[@]}"
	load_start
	silence
	ends 10 "rmmod rnbd-server rtrs-server" on_server rmmod rnbd-server rtrs-server & unload=$!
	ends 10 "unmap by force" write force "/sys/block/$DISK/rnbd/unmap_device"
	wait $unload
	ends_badly "$LOAD"
	[ -z "$(ls /sys/class/rtrs-client)" ]
}

# With nothing else under way, whose messages would tell as well
@test "a server that comes into reach while its address is asked for; one that does not" {
	local add t0
	cut drop 2
	ip neigh flush dev link2
	timeout 20 ip monitor neigh dev link2 >/run/tmp/neigh 3>&- &
	"$ADM" session add $SESSION --path "ip:${NET[2]}1" & add=$!
	await 10 grep -q FAILED /run/tmp/neigh
	mend drop 2
	t0=$EPOCHREALTIME
	wait $add
	echo "# a session was there $(seconds_since "$t0") s after its server came into reach" >&3
	((${EPOCHREALTIME%.*} - ${t0%.*} <= 5))
	"$ADM" session remove $SESSION

	cut drop 2
	ip neigh flush dev link2
	run -1 "$ADM" session add $SESSION --path "ip:${NET[2]}1" --timeout 2s
	[[ $output == *"no answer to address resolution within 2000 ms"* ]]
}

# rdma_cm repeats the request of the second one, which was alone when it began, until it comes through
@test "both paths are lost, the first one is back; what the other has asked for meanwhile comes late, and ends nothing" {
	local reconnects
	map /dev/ram0
	set_to "${QUICK[@]}" connect_timeout_ms=30000
	load_start
	cut drop 1
	await 20 lost 1
	cut drop 2
	await 20 lost 2
	await 10 adm_is "[.paths[] | select(.name == \"$(path_of 2)\").state] == [\"connecting\"]" path list
	mend drop 1
	connected 1
	goes_on
	reconnects=$(<"$(file_of 1 stats/reconnects)")
	mend drop 2
	connected 2
	goes_on
	[ "$(<"$(file_of 1 stats/reconnects)")" = "$reconnects" ]
	load_end /dev/ram0
}

# What the client sends takes so long; a path has two connections here
client_slow() { modprobe sch_netem && tc qdisc replace dev link1 root netem delay "$1" && tc qdisc replace dev link2 root netem delay "$1"; }

# By the server, since it was loaded
paths_made() { on_server objects made rtrs_server_path; }

# The other one would end it, and be ended in its turn, over and over
@test "both paths are slow to connect: the one that has answers goes on, the other waits for it" {
	local link before
	on_server "unload rnbd-server rtrs-server && load_server sess_queue_depth=64"
	map /dev/ram0
	set_to connect_timeout_ms=30000 reconnect_delay_ms=100 reconnect_delay_max_ms=300
	for link in 1 2; do write 1 "$(file_of $link disconnect)"; done
	client_slow 1000ms
	before=$(paths_made)
	for link in 1 2; do (write 1 "$(file_of $link reconnect)" || :) 3>&- & done
	connected 1
	connected 2
	client_slow 0
	[ "$(paths_made)" = $((before + 2)) ]
	unmap_all
	on_server "unload rnbd-server rtrs-server"
}

# told EVENTS FAILED: each edge of path 1 and of the session, with its reason: it is lost, FAILED attempts are in vain, or come
# while the server still has the old one, which counts as none; it is back. And nothing else.
told() {
	jq -cs '[.[] | select(.event != "sync") | [.event, .object, .name, .old_state, .state, .reason]]' "$1" >/run/tmp/told
	jq -e --arg path "$(path_of 1)" --arg session $SESSION --argjson failed "$2" '
		def edge($old; $new; $why): ["change", "path", $path, $old, $new, $why];
		def session($old; $new; $why): ["change", "session", $session, $old, $new, $why];
		[.[] | select(.[4] == "closing")[5]] as $why |
		([$why[] | select(. != "EBUSY")] | length == $failed and all(IN("ETIMEDOUT", "EHOSTUNREACH"))) and
		. == [edge("connected"; "reconnecting"; "ETIMEDOUT"), session("connected"; "degraded"; "ETIMEDOUT")] +
			[range($why | length) | edge("reconnecting"; "connecting"; (["ETIMEDOUT"] + $why)[.]),
				edge("connecting"; "closing"; $why[.]), edge("closing"; "reconnecting"; $why[.])] +
			[edge("reconnecting"; "connecting"; $why[-1]), edge("connecting"; "connected"; null),
				session("degraded"; "connected"; null)]' /run/tmp/told >/dev/null || fail "$2 attempts failed: $(</run/tmp/told)"
}

@test "a path goes silently and comes back: monitor tells each edge of it and of its session in turn, with its reason, and nothing else" {
	local events=/run/tmp/edges counts
	map /dev/ram0
	set_to "${QUICK[@]}" reconnect_delay_ms=1000
	record $events --no-snapshot
	cut drop 1
	await 20 grep -q '^0 [1-9]' "$(file_of 1 stats/reconnects)"
	mend drop 1
	await 30 grep -q '"object":"session".*"state":"connected"' $events
	record_end $events
	counts=$(<"$(file_of 1 stats/reconnects)")
	[[ $counts == "1 "* ]]
	told $events "${counts#* }"
}

# closing SESSION [ADDRESS]: its one path, or that one to this address, is closing
closing() {
	adm_is "[.paths[] | select(.session == \"$1\" and (.server_addr | endswith(\"${2-}\"))).state] == [\"closing\"]" path list
}

@test "a path, then a session, of which the removal was killed: who adds what is not there waits until it is gone" {
	local pid add conf=/run/tmp/s2.conf
	printf '[session s2]\npath = ip:%s1\npath = ip:%s1\n' "${NET[1]}" "${NET[2]}" >$conf
	"$ADM" config apply $conf
	# its connections are gone, and it cannot go before another one that is being added
	write "ip:${NET[1]}99" /sys/class/rtrs-client/s2/add_path & add=$!
	await 5 adm_is '[.paths[] | select(.session == "s2")] | length == 3' path list
	"$ADM" path remove s2 "ip:${NET[2]}1" & pid=$!
	await 10 on_server '[[ $(ls /sys/class/rtrs-server/s2/paths | wc -l) = 1 ]]'
	kill -9 $pid
	ends_badly $pid
	closing s2 "${NET[2]}1"
	# for ten seconds, or for less
	run --separate-stderr -0 timeout 5 "$ADM" config save --session s2 --timeout 100ms
	[[ $stderr == *"still being removed"* ]]
	kill -9 $add
	ends_badly $add
	run -11 "$ADM" config diff $conf
	[[ $output == *"+   path ip:${NET[2]}1"*"1 to add, 0 to change"* ]]
	"$ADM" config apply $conf
	"$ADM" config diff $conf
	silence
	"$ADM" path remove s2 "ip:${NET[2]}1" & pid=$!
	await 5 closing s2 "${NET[2]}1"
	kill -9 $pid
	ends_badly $pid
	closing s2 "${NET[2]}1"
	run -11 "$ADM" config diff $conf
	[[ $output == *"+   path ip:${NET[2]}1"*"1 to add, 0 to change"* ]]
	"$ADM" session remove s2 & pid=$!
	await 5 closing s2 "${NET[1]}1"
	kill -9 $pid
	ends_badly $pid
	closing s2 "${NET[1]}1"
	run -11 "$ADM" config diff $conf
	[[ $output == *"+ session s2"* ]]
}

@test "rnbdadm session remove --force; killed, it goes on by itself, and the modules go" {
	local pid
	"$ADM" session add $SESSION --path "ip:${NET[1]}1" --path "ip:${NET[2]}1"
	"$ADM" session add s2 --path "ip:${NET[1]}1"
	"$ADM" session add s3 --path "ip:${NET[1]}1"
	"$ADM" map /dev/ram0 --session $SESSION
	DISK=rnbd0
	set_to "${QUICK[@]}"
	load_start
	silence
	"$ADM" session remove s2 & pid=$!
	await 5 closing s2
	kill -9 $pid
	ends_badly $pid
	closing s2
	ends 10 "session remove --force" "$ADM" session remove $SESSION --force
	ends_badly "$LOAD"
	await 8 adm_is '[.sessions[].name] == ["s3"]' session list
	"$ADM" session remove s3 & pid=$!
	await 5 closing s3
	kill -9 $pid
	ends_badly $pid
	ends 10 "rmmod rnbd-client rtrs-client" await 8 unload rnbd-client rtrs-client 2>/dev/null
	load_client
}

# The kernel's reserve counts as not available, and is free
@test "G9: less memory is available than a path takes: one that was up comes back, a new one is refused" {
	map /dev/ram0
	write 1 "$(file_of 2 remove_path)"
	write 1 "$(file_of 1 disconnect)"
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print int($2 * 3 / 4) }' /proc/meminfo >/proc/sys/vm/min_free_kbytes
	grep -E '^Mem(Free|Available)' /proc/meminfo
	(($(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo) < 1024))
	run -1 "$ADM" path add $SESSION "ip:${NET[2]}1"
	[[ $output == *" KiB, "*" are available"* ]] || fail "$output"
	write 1 "$(file_of 1 reconnect)"
	path_is 1 connected
	unmap_all
}
