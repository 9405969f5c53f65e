#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The access list: who comes in, what he may open, what a change ends, what is told of it.
# lab: on debug: refusals and changes are logic that KASAN, lockdep and kmemleak judge
# lab: ynl
# lab: make tests/fuzz/hostile
# lab: make tests/debug/modules
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

FROM='"from":[{"addr":"020000000a0000000000000000000000","bits":8}]'
# peer NAME PATTERN [MORE]
peer() { printf '{"name":"%s","auth":"none","session":[{"pattern":"%s"}],%s%s}' "$1" "$2" "$FROM" "${3+,$3}"; }
# export NAME PATH PEER=MODE..
export_of() {
	local name=$1 path=$2 allow='' of
	shift 2
	for of; do allow+=",{\"peer\":\"${of%=*}\",\"access-mode\":\"${of#*=}\"}"; done
	printf '{"name":"%s","path":"%s","allow":[%s]}' "$name" "$path" "${allow#,}"
}
# list [MORE,] PEERS EXPORTS
list() { printf '{"state":"listed",%s"peer":[%s],"export":[%s]}' "$3" "$1" "$2"; }

PEERS=$(peer web1 's1*'),$(peer old 's2')
EXPORTS=$(export_of vol0 /dev/ram0 web1=rw old=ro),$(export_of vms/ /run/vg web1=migration)
LIST=$(list "$PEERS" "$EXPORTS")

setup_file() {
	. "$ROOT/tests/vm/access.bash"
	net_up 2
	ram_disk 64 2
	mkdir /run/vg
	ln -s /dev/ram1 /run/vg/disk
	load_server sess_queue_depth=64
	load_client
}

setup() { . "$ROOT/tests/vm/access.bash"; }

teardown() {
	unload rnbd-forge
	all_closed
	set_list '{"state":"open","force":true}'
	dmesg_clean
}

# map_fails WORDS ARGS..
map_fails() {
	local words=$1
	shift
	run map "$@"
	[[ $status -ne 0 && $output == *"$words"* ]] || fail "map $*: $status, $output"
}

@test "a list names exports, and whose they are; what is another's is not there" {
	set_list "$LIST"
	map s1 vol0
	map s1 //vms//disk migration
	map s2 vol0 ro
	run -0 ynl dump export-get
	jqe '[.reply[] | ."export-name"] | sort == ["vms/", "vol0", "vol0"]' \
		'[.reply[] | ."peer-name"] | sort == ["old", "web1", "web1"]' '[.reply[] | .name] | sort == ["ram0", "ram0", "ram1"]'
	run -0 ynl dump session-get
	jqe '[.reply[] | select(.role == "server") | ."peer-name"] | sort == ["old", "web1"]'
	run -0 ynl dump path-get
	jqe '[.reply[] | select(.role == "server") | ."peer-name"] | sort == ["old", "web1"]'
	run -0 reads /dev/rnbd2
	# Less than is asked for, and what is not there: no other's name is to be learned
	map_fails "Permission denied" s2 /vol0 rw
	map_fails "Permission denied" s1 /vol0 migration
	local name
	for name in vms vms/ vms/disk vms//disk /vms/disk vol1 /dev/ram0 / vol0/ vms/../disk; do
		map_fails "No such file" s2 $name ro
	done
	map_fails "Invalid argument" s1 vms/../disk
	map_fails "No such file" s1 vms/none
	# Names of sessions: none of a peer, and that of another one
	map_fails "" s3 vol0
	run -0 ynl dump access-get
	jqe '.reply[0] | .state == "listed" and .peers == 2 and .exports == 2 and ."denied-total" >= 15 and .uid == 0' \
		'[.reply[] | .peer // [] | .[]] | [.[] | [.name, .sessions, .devices]] == [["web1", 1, 2], ["old", 1, 1]]' \
		'[.reply[] | .peer // [] | .[]] | [.[].denied] == [3, 11] and .[0].from[0].bits == 8 and .[0].session[0].pattern == "s1*"' \
		'[.reply[] | .export // [] | .[]] | [.[] | [.name, .kind, .openings]] == [["vms/", "directory", 1], ["vol0", "device", 2]]' \
		'[.reply[] | .export // [] | .[]] | .[1].allow == [{"peer": "web1", "access-mode": "rw"}, {"peer": "old", "access-mode": "ro"}]'
}

@test "a link leads out of a directory that is root's alone" {
	set_list "$LIST"
	map s1 vms/disk migration
	all_closed
	chmod 0777 /run/vg
	run map s1 vms/disk migration
	chmod 0755 /run/vg
	[[ $status -ne 0 && $output == *"Permission denied"* ]]
	run -0 ynl do access-test '{"peer-name":"web1","device-path":"vms/disk","access-mode":"migration"}'
	jqe '.reply.allowed == 1 and .reply.path == "/run/vg/disk" and ."reply"."export-name" == "vms/"'
}

@test "a change ends what it does not let in, if it is told to" {
	local number id
	set_list "$LIST"
	map s1 vol0 rw 10.0.0.1 10.0.1.1
	map s1 vms/disk migration
	map s2 vol0 ro
	run -0 ynl do access-get '{}'
	number=$(jq .reply.number <<<"$output")
	id=$(ynl dump export-get | jq '.reply[] | select(."device-path" == "vms/disk") | .id')
	local less
	less=$(export_of vol0 /dev/ram0 web1=rw old=ro)
	run -0 ynl do access-set "$(list "$PEERS" "$less" '"dry-run":true,')"
	jqe '.reply."ended-exports" == 1 and .reply."ended-paths" == 0' ".reply.\"ended-export-id\" == [$id]"
	run -0 ynl do access-set "$(list "$PEERS" "$less")"
	jqe '.error.errno == 16 and (.error.text | test("1 openings and 0 paths"))'
	run -0 ynl do access-set "$(list "$PEERS" "$less" '"expect":'$((number - 1)),)"
	jqe '.error.errno == 11'
	run -0 reads /dev/rnbd1
	run -0 ynl --listen access do access-set "$(list "$PEERS" "$less" "\"force\":true,\"expect\":$number,")"
	jqe ".reply.number == $((number + 1))" '[.events[].msg.event] == ["loaded", "revoked"]' \
		'.events[1].msg | ."device-path" == "vms/disk" and .reason == "no-export" and .step == "open" and ."peer-name" == "web1" and
			([."client-addr", ."server-addr"] | map(.[8:16]) == ["0a000101", "0a000101"])' \
		'.events[1].msg.seq == .events[0].msg.seq + 1'
	run ! reads /dev/rnbd1
	run -0 reads /dev/rnbd0
	# The same name, another device
	run -0 ynl do access-set "$(list "$PEERS" "$(export_of vol0 /dev/ram1 web1=rw old=ro)" '"dry-run":true,')"
	jqe '.reply."ended-exports" == 2'
	# Another name of the peer keeps all, one peer less ends its session, with all paths of it
	set_list "$(list "$(peer hv 's1'),$(peer old 's2')" "$(export_of vol0 /dev/ram0 hv=rw old=ro)")"
	run -0 ynl dump export-get
	jqe '[.reply[] | ."peer-name"] | sort == ["hv", "old"]'
	run -0 ynl do access-set "$(list "$(peer old 's2')" "$(export_of vol0 /dev/ram0 old=ro)" '"dry-run":true,')"
	jqe '.reply."ended-exports" == 1 and .reply."ended-paths" == 2'
	echo 0 >/sys/class/rtrs-client/s1/max_reconnect_attempts
	set_list "$(list "$(peer old 's2')" "$(export_of vol0 /dev/ram0 old=ro)" '"force":true,')"
	await 10 test ! -e /sys/class/rtrs-server/s1
	run -0 reads /dev/rnbd2
}

@test "what came while the server was open is judged as if it came now" {
	map s1 /dev/ram0
	map s2 /dev/ram1 ro
	set_list "$(list "$PEERS" "$(export_of / /dev web1=rw),$(export_of dev/ram1 /dev/ram1 old=ro),$(export_of dev/ /dev web1=rw)")"
	run -0 ynl dump export-get
	jqe '[.reply[] | ."export-name"] | sort == ["dev/", "dev/ram1"]'
	run -0 ynl do access-set '{"state":"closed"}'
	jqe '.error.errno == 16'
	set_list '{"state":"open"}'
	run -0 ynl dump export-get
	jqe 'all(.reply[]; ."export-name" == null and ."peer-name" == null)'
	run -0 reads /dev/rnbd0
}

@test "a closed server takes nobody, from its begin" {
	local made
	unload rnbd-server rtrs-server
	load_server access=closed sess_queue_depth=64
	[ "$(cat /sys/module/rnbd_server/parameters/access)" = closed ]
	run -0 ynl do access-get '{}'
	jqe '.reply.state == "closed" and .reply.number == 1 and .reply."loaded-ns" == null'
	made=$(objects made rtrs_server_session)
	map_fails "Permission denied" s1 /dev/ram0
	[ "$(objects made rtrs_server_session)" -eq "$made" ]
	set_list "$LIST"
	map s1 vol0
}

# claimed ADDRESS: a connect request says that it comes from there; $output: the events. How the request ended is in the log.
claimed() {
	dmesg_mark
	run -0 ynl --listen access --shell "echo $1 >/sys/module/rnbd_forge/parameters/claim"
}

@test "a forged source address is refused where a list is loaded, though the list admits it, and nothing is made for it" {
	local before denied FROM=${FROM%]} to=/sys/module/rnbd_forge/parameters/to
	FROM+=',{"addr":"0a00000000000000fd00000000000000000000000000000000000000","bits":16}]'
	insmod "$ROOT/build/debug-modules-$(uname -r)/rnbd-forge.ko"
	set_list "$(list "$(peer web1 's1*')" "$(export_of vol0 /dev/ram0 web1=rw)")"
	denied=$(ynl do access-get '{}' | jq '.reply."denied-total"')
	before=$(<"$CENSUS")
	claimed 10.0.0.77
	jqe '[.events[].msg | [.event, .step, .reason, .error, ."client-addr", ."peer-name"]] ==
		[["denied", "path", "address-forged", -13, "020000000a00004d0000000000000000", null]]'
	dmesg_new | grep 'rnbd_forge: 10.0.0.77 at 10.0.0.1: refused, rejected, -13'
	printf fd00::1 >$to
	claimed fd00::77
	jqe '[.events[].msg | [.event, .reason]] == [["denied", "address-forged"]]'
	dmesg_new | grep 'rnbd_forge: fd00::77 at fd00::1: refused, rejected, -13'
	[ "$(<"$CENSUS")" = "$before" ]
	run -0 ynl dump access-get
	jqe ".reply[0].\"denied-total\" == $((denied + 2))" '[.reply[] | .peer // [] | .[]] | all(.sessions == 0 and ."pinned-bytes" == 0)'
	# The address is all that was wrong
	claimed fd00::1
	jqe '.status == 0 and .events == []'
	dmesg_new | grep 'rnbd_forge: fd00::1 at fd00::1: accepted'
	map s1 vol0
	run -0 reads /dev/rnbd0
	all_closed
	# An open server takes what it always took
	set_list '{"state":"open","force":true}'
	printf 10.0.0.1 >$to
	claimed 10.0.0.77
	jqe '.status == 0 and .events == []'
	dmesg_new | grep 'rnbd_forge: 10.0.0.77 at 10.0.0.1: accepted'
}

@test "limits of a peer: at each, and one above" {
	local all
	all=$(export_of vol0 /dev/ram0 web1=ro),$(export_of vol1 /dev/ram1 web1=ro)
	set_list "$(list "$(peer web1 's*' '"max-devices":1')" "$all")"
	map s1 vol0 ro
	map_fails "Too many open files" s1 vol1 ro
	map_fails "Too many open files" s2 vol0 ro
	set_list "$(list "$(peer web1 's*' '"max-devices":2')" "$all")"
	map s1 vol1 ro
	all_closed
	set_list "$(list "$(peer web1 's*' '"max-sessions":1')" "$all")"
	map s1 vol0 ro 10.0.0.1 10.0.1.1
	map_fails "" s2 vol0 ro
	all_closed
	map s2 vol0 ro
	all_closed
	set_list "$(list "$(peer web1 's*' '"max-memory-bytes":4096')" "$all")"
	map_fails "" s1 vol0 ro
	run -0 ynl dump access-get
	jqe '[.reply[] | .peer // [] | .[]][0] | .sessions == 0 and ."pinned-bytes" == 0 and .denied >= 1'
	# A session that grows stays below it, and its requests wait
	set_list "$(list "$(peer web1 's*' '"max-memory-bytes":8388608')" "$all")"
	map s1 vol0 ro
	fio --name=load --filename=/dev/rnbd0 --readonly --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=400 --time_based --runtime=2 --minimal
	run -0 ynl dump access-get
	jqe '[.reply[] | .peer // [] | .[]][0] | ."pinned-bytes" | . > 4194304 and . <= 8388608'
	all_closed
}

@test "what is no list changes nothing" {
	local bad number
	set_list "$LIST"
	number=$(ynl do access-get '{}' | jq .reply.number)
	while IFS=$'\t' read -r errno words bad; do
		run -0 ynl do access-set "$bad"
		jqe ".error.errno == $errno and (.error.text | test(\"$words\"))"
	done <<-END
		22	empty	$(list '' '')
		22	twice	$(list "$PEERS,$(peer web1 x)" "$EXPORTS")
		22	twice	$(list "$PEERS" "$EXPORTS,$(export_of vol0 /dev/ram1)")
		22	no peer	$(list "$PEERS" "$(export_of vol0 /dev/ram1 nobody=ro)")
		22	name or path	$(list "$PEERS" "$(export_of ../x /dev/ram1)")
		22	name or path	$(list "$PEERS" "$(export_of x dev/ram1)")
		22	no path	$(list "$PEERS" '{"name":"x"}')
		22	not a name	$(list "$(peer 'a b' x)" "$EXPORTS")
		22	session and from	$(list '{"name":"a","auth":"none"}' '')
		95	keys	$(list '{"name":"a"}' '')
		22	state	{"peer":[$PEERS]}
		22	listed only	{"state":"open","peer":[$PEERS]}
	END
	run -0 setpriv --bounding-set=-sys_admin "$ROOT/tests/vm/ynl.py" do access-set '{"state":"open"}'
	jqe '.error.errno == 1'
	run -0 setpriv --bounding-set=-net_admin "$ROOT/tests/vm/ynl.py" do access-set '{"state":"open"}'
	jqe '.error.errno == 1'
	run -0 ynl dump access-get
	jqe ".reply[0].number == $number" '(.reply | length) == 5'
}

@test "the list can be asked" {
	local q want
	set_list "$LIST"
	while IFS=$'\t' read -r want q; do
		run -0 ynl do access-test "{$q}"
		jqe ".reply | $want"
	done <<-'END'
		.allowed == 1 and .path == "/dev/ram0" and ."granted-mode" == "rw" and .reason == "none"	"peer-name":"web1","device-path":"/vol0"
		.allowed == 0 and .error == -13 and .reason == "access-mode" and ."granted-mode" == "ro"	"peer-name":"old","device-path":"vol0"
		.allowed == 0 and .error == -2 and .reason == "no-export" and ."export-name" == "vms/"	"peer-name":"old","device-path":"vms/x"
		.allowed == 1 and ."peer-name" == "old"	"session-name":"s2","client-addr":"020000000a0000070000000000000000","device-path":"vol0","access-mode":"ro"
		.allowed == 0 and .error == -13 and .reason == "session-name"	"session-name":"x","client-addr":"020000000a0000070000000000000000","device-path":"vol0"
		.allowed == 0 and .error == -126 and .reason == "no-key"	"session-name":"s1","client-addr":"020000000b0000070000000000000000","device-path":"vol0"
	END
	run -0 ynl do access-test '{"peer-name":"x","device-path":"vol0"}'
	jqe '.error.errno == 2'
	run -0 ynl do access-test '{"device-path":"vol0"}'
	jqe '.error.errno == 22'
}

@test "decisions are told, in their order, and a flood says how large it was" {
	local all began took told logged
	dmesg_mark
	all=$(list "$(peer any '*')" "$(export_of vol0 /dev/ram0 any=rw)")
	set_list "$all"
	map s1 vol0 ro
	began=$SECONDS
	run -0 ynl --listen access --shell "$ROOT/build/hostile/hostile 10.0.0.1 1234 vol0 vol0 access-flood" \
		do access-set "$all"
	took=$((SECONDS - began + 1))
	jqe '.status == 0' '[.events[].msg.event] | .[0] == "granted" and .[1] == "denied" and .[-1] == "loaded"' \
		'[.events[].msg.seq] | . == ([range(.[0]; .[0] + length)])' \
		'all(.events[].msg | select(.event == "denied"); ."peer-name" == "any" and .reason == "no-export" and .error == -2 and
			(."client-addr" | .[8:16] == "0a000001"))' \
		'([.events[].msg | .suppressed // 0] | add) + ([.events[].msg | select(.event == "denied")] | length) == 150' \
		"[.events[].msg | select(.event == \"denied\")] | length | . >= 10 and . <= 10 + 20 * $took and . < 150"
	# as many lines in the log of the kernel
	told=$(jq '[.events[].msg | select(.event == "denied")] | length' <<<"$output")
	logged=$(dmesg_new | grep -c 'rnbd_server: session .* denied: no-export')
	[[ $logged == "$told" ]] || fail "$logged in the log, $told events"
	run -0 ynl do access-get '{}'
	jqe '.reply."last-seq" > 3 and .reply."denied-total" >= 150'
}

@test "nothing is open after a change that forbids it: 1,000 changes" {
	"$ROOT/build/hostile/hostile" 10.0.0.1 1234 v v storm-of-changes
}
