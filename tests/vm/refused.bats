#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# A server in user space (tests/vm/refuse) refuses a connection of a path, each in turn, or accepts all of them and says nothing.
# The path is not there then, and what goes by the others goes on.
# lab: make tests/vm/refuse
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 2
	ram_disk 32
	load_server
	load_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
	ADM=$ROOT/build/rnbdadm
	OUT=/run/tmp/refuse.out
	CONS=$(($(nproc) + 1))
}

teardown() {
	[[ -z ${REFUSE-} ]] || kill "$REFUSE" || :
	"$ADM" unmap --all --force -y || :
	dmesg_clean
}

# refuse PORT CID
refuse() {
	"$ROOT/build/refuse/refuse" "$@" >"$OUT" &
	REFUSE=$!
	await 10 grep -q listens "$OUT"
}

refuse_end() {
	kill "$REFUSE"
	wait "$REFUSE" || :
	REFUSE=''
}

counted() { [[ $(grep -c "$1" "$OUT") -eq $2 ]]; }

gone() { counted gone "$1"; }

io_goes_on() { dd if=/dev/rnbd0 of=/dev/null bs=4k count=4 iflag=direct status=none; }

nothing_new() { adm_is '[.sessions[].paths | length] == [1]' session list && io_goes_on; }

@test "a path of which each connection is refused in turn is not added, its others are closed" {
	local cid
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	for ((cid = 0; cid < CONS; cid++)); do
		refuse $((4000 + cid)) $cid
		run --separate-stderr -1 "$ADM" session add-path s1 ip:10.0.1.1 --dest-port $((4000 + cid))
		[[ $stderr == *"server refused"*ENOSPC* || $stderr == *"server refused"*-28* ]]
		counted "refused $cid of $CONS" 1
		counted accepted $cid
		await 10 gone $cid
		nothing_new
		refuse_end
	done
}

@test "a session of which each connection is refused in turn is not made" {
	local cid
	for ((cid = 0; cid < CONS; cid++)); do
		refuse $((4100 + cid)) $cid
		run --separate-stderr -1 "$ADM" map /dev/ram0 --session s1 --path ip:10.0.1.1 --dest-port $((4100 + cid))
		[[ $stderr == *"server refused"* ]]
		adm_is '.sessions == []' session list
		refuse_end
	done
}

@test "a server that accepts and says nothing: a time-out, or a signal, and the other path carries on" {
	local pid
	"$ADM" map /dev/ram0 --session s1 --path ip:10.0.0.1
	refuse 4200 "$CONS"
	run --separate-stderr -10 "$ADM" session add-path s1 ip:10.0.1.1 --dest-port 4200 --timeout 2s
	[[ $stderr == *"no answer to "* ]]
	await 10 gone "$CONS"
	nothing_new
	"$ADM" session add-path s1 ip:10.0.1.1 --dest-port 4200 & pid=$!
	await 10 counted accepted $((2 * CONS))
	kill -9 $pid
	! wait $pid || fail "it was not killed"
	await 10 gone $((2 * CONS))
	nothing_new
}
