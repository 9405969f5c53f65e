#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A server in user space (tests/vm/refuse) refuses a connection of a path, each in turn, or accepts all of them and says nothing:
# the path is not there then, and what goes by the others goes on. Or it stops answering once the path is up: heartbeats tell, and
# what it had goes by the others.
# lab: on debug: errors half-way are judged by KASAN and kmemleak
# lab: make tests/vm/refuse
# lab: two guests
# lab: links 2
# lab: no sanitizers: its times are of the modules
# lab: make tests/vm/tools
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	# As the other one: a path that offers less is not added
	# And the memory of its disk is there, whatever is written to it
	on_server "ram_disk 16 && dd if=/dev/zero of=/dev/ram0 bs=1M count=16 oflag=direct status=none && load_server sess_queue_depth=16 max_chunk_size=65536"
	load_client
	memory_before
}

teardown_file() {
	. "$ROOT/tests/vm/lib/failover.bash"
	memory_is_back
}

setup() {
	. "$ROOT/tests/vm/lib/failover.bash"
	. "$ROOT/tests/vm/lib/killed.bash"
	OUT=$SHARED/refuse.out
	CONS=$(($(nproc) + 1))
	STALLED=ip:10.2.0.2@ip:10.2.0.1
	EVENTS=/run/tmp/events
	REFUSE='' RECORDER='' DISK=rnbd0
}

teardown() {
	load_kill
	[[ -z $RECORDER ]] || kill "$RECORDER" || :
	[[ -z $REFUSE ]] || on_server kill "$REFUSE" || :
	# Why a test failed
	[[ -n ${BATS_TEST_COMPLETED-} ]] || tail -n 20 "$OUT"
	"$ADM" unmap --all --force || :
	"$ADM" session remove s1 --idempotent || :
	dmesg_clean
}

# refuse PORT CID [login|ERRNO]
refuse() {
	rm -f "$OUT" # "listens" may be there from before
	REFUSE=$(on_server "$ROOT/build/refuse/refuse $* >$OUT 2>&1 & echo \$!")
	await 10 grep -qs listens "$OUT"
}

refuse_end() {
	on_server "kill $REFUSE; wait $REFUSE || :"
	REFUSE=''
}

counted() { [[ $(grep -c "$1" "$OUT") -eq $2 ]]; }

gone() { counted gone "$1"; }

# None of those that it has accepted is left
all_gone() { gone "$(grep -c accepted "$OUT")"; }

io_goes_on() { dd if=/dev/rnbd0 of=/dev/null bs=4k count=4 iflag=direct status=none; }

nothing_new() { adm_is '[.sessions[].paths | length] == [1]' session list && io_goes_on; }

@test "a path of which each connection is refused in turn is not added, its others are closed; the other path carries on, verified at depth 32" {
	local cid since
	"$ADM" map /dev/ram0 --session s1 --path ip:10.1.0.1
	load_start
	rm -f /run/tmp/took
	for ((cid = 0; cid < CONS; cid++)); do
		refuse $((4000 + cid)) $cid
		since=$EPOCHREALTIME
		run --separate-stderr -1 "$ADM" path add s1 ip:10.2.0.1 --dest-port $((4000 + cid))
		seconds_since "$since" >>/run/tmp/took
		[[ $stderr == *"server refused"*ENOSPC* || $stderr == *"server refused"*-28* ]]
		counted "refused $cid of $CONS" 1
		counted accepted $cid
		await 10 gone $cid
		nothing_new
		goes_on
		refuse_end
	done
	load_end /dev/ram0
	echo "# refused: said after $(spread /run/tmp/took)" >&3
}

@test "a session of which each connection is refused in turn is not made" {
	local cid
	for ((cid = 0; cid < CONS; cid++)); do
		refuse $((4100 + cid)) $cid
		run --separate-stderr -1 "$ADM" map /dev/ram0 --session s1 --path ip:10.2.0.1 --dest-port $((4100 + cid))
		[[ $stderr == *"server refused"* ]]
		adm_is '.sessions == []' session list
		refuse_end
	done
}

@test "a server refuses with an errno that would mean something here: who asked has an answer" {
	local errno n=0
	for errno in 4 512 4095; do
		refuse $((4150 + n)) 0 $errno
		run --separate-stderr -1 timeout 30 "$ADM" map /dev/ram0 --session s1 --path ip:10.2.0.1 --dest-port $((4150 + n))
		[[ $stderr == *"10.2.0.1"* ]]
		adm_is '.sessions == []' session list
		refuse_end
		n=$((n + 1))
	done
}

@test "a server that accepts and says nothing: a time-out, or a signal, and the other path carries on" {
	local pid since ms
	"$ADM" map /dev/ram0 --session s1 --path ip:10.1.0.1
	refuse 4200 "$CONS"
	"$ADM" session set s1 --connect-timeout 2s
	since=${EPOCHREALTIME/./}
	run --separate-stderr -10 "$ADM" path add s1 ip:10.2.0.1 --dest-port 4200
	ms=$(((${EPOCHREALTIME/./} - since) / 1000))
	echo "# nothing said for 2 s, the time-out: told after $ms ms" >&3
	[[ $stderr == *"no answer to the login within 2000 ms"* ]]
	((ms >= 2000 && ms < 2000 + 4000 * ${LAB_SLOW:-1}))
	await 10 gone "$CONS"
	nothing_new
	"$ADM" path add s1 ip:10.2.0.1 --dest-port 4200 --timeout 30s & pid=$!
	await 10 counted accepted $((2 * CONS))
	killed_while "the server says nothing" $pid 2500
	await 10 gone $((2 * CONS))
	await 10 nothing_new
}

@test "a new session has its own time-out for that, by either way" {
	local since ms way args='sessname=s1 path=ip:10.2.0.1 dest_port=4300 device_path=/dev/ram0 connect_timeout_ms=1000'
	refuse 4300 "$CONS"
	for way in "$ADM map /dev/ram0 --session s1 --path ip:10.2.0.1 --dest-port 4300 --connect-timeout 1s" "echo $args >$CTL/map_device"; do
		since=${EPOCHREALTIME/./}
		run ! bash -c "$way"
		ms=$(((${EPOCHREALTIME/./} - since) / 1000))
		echo "$way: $ms ms: $output"
		((ms >= 1000 && ms < 1000 + 4000 * ${LAB_SLOW:-1}))
		await 10 all_gone
	done
	adm_is '.sessions == []' session list
}

# How long the path was up each time before it was found to be silent, in ms
found_after() {
	jq -rs --arg path $STALLED '[.[] | select(.name == $path)] | [., .[1:]] | transpose | .[] |
		select(.[0].state == "connected" and .[1].old_state == "connected" and .[1].reason == "ETIMEDOUT") |
		(.[1].monotonic_ns - .[0].monotonic_ns) / 1000000 | floor' $EVENTS
}

found() { (($(found_after | wc -l) >= $1)); }

# ended SECONDS ARGS..: the command is done within this time
ended() {
	local limit=$(($1 * ${LAB_SLOW:-1})) t0=${EPOCHREALTIME/./}
	shift
	timeout "$limit" "$ADM" "$@" || return
	echo "# ${*:1:2} with a peer that does not answer: $(((${EPOCHREALTIME/./} - t0) / 1000)) ms" >&3
}

stands() { (($(awk '{ print $5 }' "/sys/class/rtrs-client/s1/paths/$STALLED/stats/rdma") > 0)); }

@test "a server that stops answering: heartbeats find it, again and again, what goes by the other goes on; all ends" {
	local pid worst
	"$ADM" session add s1 --path ip:10.1.0.1 --heartbeat-interval 200ms --heartbeat-misses 2 --reconnect-delay 100ms \
		--reconnect-delay-max 200ms --no-path-timeout forever
	"$ADM" map /dev/ram0 --session s1
	load_start
	record $EVENTS path
	refuse 4300 "$CONS" login
	"$ADM" path add s1 ip:10.2.0.1 --dest-port 4300
	await 20 found 3
	worst=$(found_after | sort -n | tail -n 1)
	echo "# a stalled server is found after $worst ms (worst of 3), heartbeat 200 ms x 2" >&3
	((worst < 1500 * ${LAB_SLOW:-1}))
	record_end $EVENTS
	RECORDER=''
	goes_on
	ended 5 path remove s1 $STALLED
	nothing_new
	load_end /dev/ram0

	# Nobody looks for it: an administrator does
	"$ADM" session set s1 --heartbeat-interval 60s
	"$ADM" path add s1 ip:10.2.0.1 --dest-port 4300
	io_goes_on & pid=$!
	await 10 stands
	ended 5 path remove s1 $STALLED
	wait $pid
	nothing_new

	# No other is left
	"$ADM" path add s1 ip:10.2.0.1 --dest-port 4300
	"$ADM" path disconnect s1 ip:10.1.0.2@ip:10.1.0.1
	io_goes_on & pid=$!
	await 10 stands
	"$ADM" session set s1 --heartbeat-interval 200ms
	ended 10 unmap rnbd0 --force
	ends_badly $pid
	ended 5 session remove s1
	refuse_end
}

@test "a server that stops answering while a device is mapped: heartbeats end it, or a signal" {
	local pid try map=(map /dev/ram0 --session s1 --path ip:10.2.0.1 --dest-port 4400)
	refuse 4400 "$CONS" login
	# The client may have given up before it is let in
	for try in 1 2 3; do
		run --separate-stderr timeout $((5 * ${LAB_SLOW:-1})) "$ADM" "${map[@]}" --heartbeat-interval 200ms --heartbeat-misses 2
		((status != 0 && status != 124))
		await 10 all_gone || fail "status $status: $stderr"
		counted 'let in' 0 || break
		echo "# not let in: $stderr" >&3
	done
	counted 'let in' 1
	"$ADM" "${map[@]}" & pid=$!
	await 10 counted 'let in' 2
	killed_while "a device is mapped" $pid 2500
	await 10 all_gone
	adm_is '.sessions == []' session list
	refuse_end
}

@test "a port that somebody else listens on is told as that, once, and is free afterwards" {
	local pid
	"$ROOT/build/refuse/refuse" 4600 9 >/run/tmp/busy 2>&1 & pid=$!
	await 10 grep -qs listens /run/tmp/busy
	mkdir -p /etc/modprobe.d
	printf '%s\n' "options rtrs_server listen=rxe0" "options rnbd-server record= port_nr=4600" >/etc/modprobe.d/port.conf
	adm 0 check server.listen
	[[ $output == "skip  server.listen "*" not loaded; process $pid (refuse) has port 4600"* ]]
	run load_server port_nr=4600
	echo "$output"
	[[ $status != 0 && $output == *"Address already in use"* ]]
	run -0 grep 'listen on port 4600' <(dmesg)
	echo "$output"
	[[ ${#lines[@]} == 1 && $output == *": cannot listen on port 4600: -"*"; 'rdma resource show cm_id' tells who does" ]]
	# rtrs_server, which is still loaded, listens nowhere
	adm 11 check server.listen
	[[ $output == "FAIL  server.listen "*" process $pid (refuse) has port 4600: rnbd_server is refused"*"another port_nr"* ]]
	kill $pid
	ends_badly $pid
	adm 0 check server.listen
	[[ $output == "skip  server.listen "*" server module not loaded"[[:space:]]* ]]
	await 10 load_server port_nr=4600
	unload rnbd-server rtrs-server
	rm /etc/modprobe.d/port.conf
}

@test "a server that dies while a device is mapped: who waits for it can be killed" {
	local pid
	refuse 4500 "$CONS"
	"$ADM" map /dev/ram0 --session s1 --path ip:10.2.0.1 --dest-port 4500 & pid=$!
	await 10 counted accepted "$CONS"
	# Nobody there answers a disconnect any more
	on_server kill -STOP "$REFUSE"
	killed_while "the server is dead" $pid 2500
	adm_is '.sessions == []' session list
	timeout 20 rmmod rnbd-client rtrs-client
	load_client
	on_server kill -CONT "$REFUSE"
	await 10 gone "$CONS"
	refuse_end
}
