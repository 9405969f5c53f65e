#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The family "rnbd" as a client sees it that shares no code with ours.
# lab: on debug: messages of strangers meet KASAN
# lab: ynl
# lab: cpus 1
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

ADDR=020004d20a0000010000000000000000 # sockaddr_in 10.0.0.1 port 1234
MAP='{"session-name":"s1","device-path":"/dev/ram0","path":[{"server-addr":"'$ADDR'"}]}'

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 1
	ram_disk 64
	load_server
	load_client
}

setup() { . "$ROOT/tests/vm/guest.bash"; }

@test "every dump is empty when there is nothing" {
	local noun
	for noun in session path device export stats; do
		run -0 ynl dump $noun-get
		jqe '.reply == []'
	done
}

@test "map replies with name, device number and size" {
	run -0 ynl do map "$MAP"
	jqe '.reply.name == "rnbd0" and .reply."size-bytes" == 67108864 and .reply.state == "mapped"'
	[ "$(jq -r '"\(.reply.major):\(.reply.minor)"' <<<"$output")" = "$(cat /sys/block/rnbd0/dev)" ]
	test -b /dev/rnbd0
}

@test "objects of both ends are in the dumps, with the same sizes" {
	run -0 ynl dump session-get
	jqe '[.reply[].role] == ["client","server"] and all(.reply[]; .name == "s1" and .state == "connected")' \
		'.reply[0]."queue-depth" == .reply[1]."queue-depth" and (.reply[1]."pinned-bytes" > 0)'
	run -0 ynl dump path-get
	jqe '(.reply | length) == 2 and all(.reply[]; .state == "connected" and ."hca-name" == "rxe0" and ."hca-port" == 1)' \
		'.reply[0].name == "ip:10.0.0.1@ip:10.0.0.1"' \
		".reply[0].\"server-addr\" == \"$ADDR\""
	run -0 ynl dump device-get
	jqe '(.reply | length) == 1 and .reply[0]."device-path" == "/dev/ram0" and .reply[0]."access-mode" == "rw"'
	run -0 ynl dump export-get
	jqe '(.reply | length) == 1 and .reply[0].name == "ram0" and .reply[0]."session-name" == "s1"'
}

# raw RESERVED FLAGS: errno of the get of a session that is not there, with these in its headers
raw() {
	python3 - "$@" <<-'END'
		import socket, struct, sys
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
		def ask(family, command, reserved, flags, attributes=b""):
		    s.send(struct.pack("=IHHIIBBH", 20 + len(attributes), family, flags, 1, 0, command, 1, reserved) + attributes)
		    return s.recv(65536)
		answer, at = ask(16, 3, 0, 1, struct.pack("=HH8s", 9, 2, b"rnbd")), 20
		while struct.unpack_from("=HH", answer, at)[1] != 1:
		    at += (struct.unpack_from("=H", answer, at)[0] + 3) & ~3
		answer = ask(struct.unpack_from("=H", answer, at + 4)[0], 1, int(sys.argv[1]), int(sys.argv[2]) | 1, struct.pack("=HHI", 8, 1, 1 << 30))
		print(-struct.unpack_from("=i", answer, 16)[0])
	END
}

@test "G18: what is reserved in the headers of a request is refused" {
	[ "$(raw 0 4)" = 2 ]
	[ "$(raw 1 4)" = 22 ]
	[ "$(raw 0 516)" = 22 ] # NLM_F_EXCL
}

@test "get by name and by id give the object of the dump" {
	local id
	run -0 ynl dump device-get
	id=$(jq '.reply[0].id' <<<"$output")
	run -0 ynl do device-get "{\"id\":$id}"
	jqe '.reply.name == "rnbd0"'
	run -0 ynl do device-get '{"name":"rnbd0"}'
	jqe ".reply.id == $id"
	run -0 ynl do session-get '{"name":"s1","role":"server"}'
	jqe '.reply.role == "server"'
	id=$(jq '.reply.id' <<<"$output")
	run -0 ynl do session-get "{\"id\":$id}"
	jqe '.reply.role == "server"'
}

@test "an object that is not there is ENOENT, with a text" {
	local req
	for req in 'session-get {"name":"nosuch"}' 'path-get {"id":4000000}' 'device-get {"name":"rnbd77"}' \
		'export-get {"id":4000000}' 'stats-get {"path-id":4000000}' 'unmap {"name":"rnbd77"}'; do
		run -0 ynl do "${req%% *}" "${req#* }"
		jqe '.error.errno == 2 and (.error.text | length) > 5' || { echo "$req"; return 1; }
	done
}

@test "bad values are refused with the attribute that is wrong" {
	run -0 ynl do map '{"device-path":"/dev/ram0"}'
	jqe '.error.errno == 22 and (.error.text != null or .error.missing != null)'
	run -0 ynl do map '{"session-name":"a/b","device-path":"/dev/ram0","path":[{"server-addr":"'$ADDR'"}]}'
	jqe '.error.errno == 22 and (.error.text | length) > 5'
	run -0 ynl do map '{"session-name":"s2","device-path":"/dev/ram0","path":[{"server-addr":"ff0004d20a0000010000000000000000"}]}'
	jqe '.error.errno == 22 and (.error.text | test("sockaddr")) and (.error.attribute | test("server-addr"))'
	run -0 ynl do map '{"session-name":"s2","device-path":"/dev/ram0"}'
	jqe '.error.errno == 6 and (.error.text | test("path"))'
	run -0 ynl do session-get '{"name":"s1","id":0}'
	jqe '(.error.errno == 34 or .error.errno == 22) and (.error.attribute | test("id"))'
}

@test "more paths than a request may have are ENOMEM, as in map_device" {
	local many
	many=$(jq -c '.path = [range(33) as $i | .path[0]] | ."session-name" = "s9"' <<<"$MAP")
	run -0 ynl do map "$many"
	jqe '.error.errno == 12 and (.error.text | test("more than 32 paths"))'
}

@test "a disk that is open is EBUSY, unless it is forced" {
	exec 7<>/dev/rnbd0
	run -0 ynl do unmap '{"name":"rnbd0"}'
	jqe '.error.errno == 16 and (.error.text | test("in use"))'
	test -b /dev/rnbd0
	run -0 ynl do unmap '{"name":"rnbd0","force":true}'
	jqe 'has("error") | not'
	test ! -e /sys/block/rnbd0
	exec 7>&-
	run -0 ynl do map "$MAP"
	jqe '.reply.name == "rnbd0"'
}

@test "the same device twice is EEXIST and says where it is" {
	run -0 ynl do map "$MAP"
	jqe '.error.errno == 17 and (.error.text | test("rnbd0")) and .error.refusal == null'
	run -0 ynl do map '{"session-name":"s1","device-path":"nosuch"}'
	jqe '.error.errno == 2 and .error.refusal == 5'
}

@test "reading needs no privilege, changing does" {
	run -0 setpriv --bounding-set=-all --inh-caps=-all "$ROOT/tests/vm/ynl.py" dump device-get
	jqe '(.reply | length) == 1'
	run -0 setpriv --bounding-set=-all --inh-caps=-all "$ROOT/tests/vm/ynl.py" do unmap '{"name":"rnbd0"}'
	jqe '.error.errno == 1'
	# CAP_NET_ADMIN alone is not enough
	run -0 setpriv --bounding-set=-sys_admin "$ROOT/tests/vm/ynl.py" do unmap '{"name":"rnbd0"}'
	jqe '.error.errno == 1 and (.error.text | test("CAP_SYS_ADMIN"))'
	test -b /dev/rnbd0
}

@test "another network namespace is told that it is the wrong one" {
	local cmd
	run -0 unshare -n "$ROOT/tests/vm/ynl.py" dump device-get
	jqe '.error.errno == 1 and (.error.text | test("initial network namespace"))'
	run -0 unshare -n "$ROOT/tests/vm/ynl.py" do unmap '{"name":"rnbd0"}'
	jqe '.error.errno == 1 and (.error.text | test("initial network namespace")) and .error.refusal == 2'
	for cmd in "session list" "status" "unmap rnbd0" "map /dev/ram1 --session s1" "monitor --once" "stats"; do
		# shellcheck disable=SC2086
		run -5 --separate-stderr unshare -n "$ADM" $cmd
		[[ $stderr == *"initial network namespace"*"hint: "*nsenter* && $stderr != *"needs root"* ]] || fail "$cmd: $stderr"
	done
	run -11 unshare -n "$ADM" check netlink
	[[ $output == *"FAIL  netlink.permission"*"initial network namespace"* ]] || fail "$output"
	test -b /dev/rnbd0
}

@test "statistics count, and a reset sets them to zero" {
	dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none
	dd if=/dev/zero of=/dev/rnbd0 bs=64k count=8 oflag=direct status=none
	run -0 ynl dump stats-get '{"role":"client"}'
	jqe '.reply[0]."read-ios" >= 16 and .reply[0]."read-bytes" >= 1048576 and .reply[0]."write-ios" >= 8' \
		'(.reply[0].cpu | map(."read-ios") | add) == .reply[0]."read-ios"' \
		'.reply[0].inflight == 0'
	run -0 ynl do stats-reset '{"session-name":"s1"}'
	[ "$(jq '.error' <<<"$output")" = null ]
	run -0 ynl dump stats-get '{"role":"client"}'
	jqe '.reply[0]."read-ios" == 0 and .reply[0]."write-bytes" == 0'
}

@test "unmap and map tell every edge, in order" {
	run -0 ynl --listen device --listen path --listen session --listen export do unmap '{"name":"rnbd0"}'
	jqe '.error == null' \
		'[.events[] | select(.name == "device-ntf") | .msg.event] == ["change","destroy"]' \
		'[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.event] | .[-1] == "destroy"' \
		'[.events[] | select(.name == "session-ntf" and .msg.role == "client") | .msg.event] | .[-1] == "destroy"' \
		'[.events[] | select(.name == "export-ntf") | .msg.event] == ["destroy"]'

	run -0 ynl --listen device --listen path --listen session --listen export do map "$MAP"
	jqe '.error == null' \
		'[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.state] == ["connecting","connected"]' \
		'[.events[] | select(.name == "session-ntf" and .msg.role == "client") | .msg.event] | .[0] == "create"' \
		'[.events[] | select(.name == "device-ntf") | .msg.state] == ["init","mapped"]' \
		'[.events[].msg.generation] | . == (. | sort)'
	unmap_all normal
}

@test "a command of a module that is not loaded says which" {
	rmmod rnbd_client
	run -0 ynl do map "$MAP"
	jqe '.error.errno == 95 and (.error.text | test("rnbd-client")) and .error.refusal == 1'
	run -0 ynl dump device-get
	jqe '.error.errno == 95 and (.error.text | test("rnbd-client"))'
	insmod "$MODS/rnbd-client.ko"
}

ADDR6=0a0004d200000000fd00000000000000000000000000000100000000 # sockaddr_in6 fd00::1 port 1234
NOBODY=020004d3c0000201000000000000000000 # of no length that an address has

# id_of DUMP FILTER: of the one object that passes
id_of() {
	run -0 ynl dump "$1"
	ID=$(jq -e "[.reply[] | select($2)] | if length == 1 then .[0].id else error(\"not one\") end" <<<"$output")
}

@test "a session without a device: made, seen, refused twice, removed" {
	unmap_all normal
	run -0 ynl --listen session --listen path do session-add '{"name":"p1","path":[{"server-addr":"'$ADDR'"}],"settings":{"heartbeat-misses":3}}'
	jqe '.error == null and .reply.name == "p1" and .reply.held == 1 and .reply.devices == 0' \
		'.reply.settings | ."heartbeat-misses" == 3 and ."heartbeat-interval-ms" == 5000 and ."no-path-timeout-ms" == 0' \
		'[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.state] == ["connecting","connected"]'
	run -0 ynl do session-add '{"name":"p1","path":[{"server-addr":"'$ADDR'"}]}'
	jqe '.error.errno == 17 and (.error.text | test("p1")) and .error.refusal == 3'
	run -0 ynl do session-add '{"name":"p2"}'
	jqe '.error.errno == 22 and (.error.text | test("path"))'
	run -0 ynl do map '{"session-name":"p1","device-path":"/dev/ram0","settings":{"io-timeout-ms":1000}}'
	jqe '.error.errno == 17 and (.error.text | test("settings"))'
	run -0 ynl do map '{"session-name":"p1","device-path":"/dev/ram0"}'
	jqe '.error == null'
	run -0 ynl do session-del '{"name":"p1"}'
	jqe '.error.errno == 16 and (.error.text | test("mapped"))'
	unmap_all normal
	run -0 ynl do session-del '{"name":"p1"}'
	jqe '.error == null'
	run -0 ynl do session-del '{"name":"p1"}'
	jqe '.error.errno == 2'
	run -0 ynl dump session-get
	jqe '.reply == []'
}

@test "paths are added, disconnected, reconnected and removed: each edge is told, in order" {
	run -0 ynl do session-add '{"name":"p1","path":[{"server-addr":"'$ADDR'"}]}'
	jqe '.error == null'
	run -0 ynl --listen path --listen session do path-add '{"session-name":"p1","server-addr":"'$ADDR6'"}'
	jqe '.error == null and .reply.name == "ip:fd00::1@ip:fd00::1" and .reply.state == "connected"' \
		'[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.state] == ["connecting","connected"]' \
		'[.events[] | select(.name == "session-ntf" and .msg.role == "client") | .msg.state] == ["degraded","connected"]'
	run -0 ynl do path-add '{"session-name":"p1","server-addr":"'$ADDR6'"}'
	jqe '.error.errno == 17'
	id_of path-get '.role == "client" and .name == "ip:fd00::1@ip:fd00::1"'
	run -0 ynl --listen path do path-disconnect "{\"id\":$ID}"
	jqe '.error == null and .reply.state == "disconnected"' \
		'[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.state] == ["closing","disconnected"]'
	run -0 ynl --listen path do path-reconnect "{\"id\":$ID}"
	jqe '.error == null and .reply.state == "connected"'
	jqe '[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.state] ==
		["reconnecting","connecting","connected"]'
	jqe '[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg."old-state"] ==
		["disconnected","reconnecting","connecting"]'
	run -0 ynl --listen path do path-del "{\"id\":$ID}"
	jqe '.error == null' \
		'[.events[] | select(.name == "path-ntf" and .msg.role == "client") | .msg.event] | .[-1] == "destroy"'
	run -0 ynl do path-reconnect "{\"id\":$ID}"
	jqe '.error.errno == 2'
	run -0 ynl do session-del '{"name":"p1"}'
	jqe '.error == null'
}

P1=/sys/class/rtrs-client/p1 SECOND=paths/ip:fd00::1@ip:fd00::1

# lives LEFT CMD..: the second path of p1, until this command
lives() {
	echo ip:fd00::1 >$P1/add_path && "${@:2}" && await 10 objects_are rtrs_server_path "$1" || return
	[[ ! -e $P1/$SECOND ]] || write $P1/$SECOND/remove_path
}

write() { echo 1 >"$1"; }

# Removed, disconnected by the server's administrator, lost with its RDMA device
three_lives() {
	echo 0 >$P1/max_reconnect_attempts
	lives 1 write $P1/$SECOND/remove_path && lives 1 write /sys/class/rtrs-server/p1/$SECOND/disconnect &&
		lives 0 rdma link delete rxe0 && rxe_add rxe0 dummy0
}

@test "the life of a path, as the server tells it: each edge, in order, with the state before and the reason" {
	run -0 ynl do session-add '{"name":"p1","path":[{"server-addr":"'$ADDR'"}]}'
	{ declare -p P1 SECOND CENSUS && declare -f await nap fail rxe_add objects objects_are lives write three_lives; } >/run/tmp/lives
	run -0 ynl --listen path --shell "bash -c '. /run/tmp/lives && three_lives'"
	jqe '.status == 0'
	jqe '[.events[] | select(.name == "path-ntf").msg | select(.role == "server" and .name == "ip:fd00::1@ip:fd00::1") |
		[.event, ."old-state", .state, ."last-error"]] == [(-104, -103, -19) as $reason |
			["create", null, "connecting", 0], ["change", "connecting", "connected", 0],
			["change", "connected", "closing", $reason], ["destroy", null, "disconnected", $reason]]'
	run -0 ynl do session-del '{"name":"p1"}'
}

@test "bad values for paths and settings are refused with the attribute that is wrong" {
	local req
	run -0 ynl do session-add '{"name":"p1","path":[{"server-addr":"'$ADDR'"}]}'
	for req in '{"session-name":"p1"}' '{"session-name":"p1","server-addr":"'$NOBODY'"}' \
		'{"session-name":"p1","server-addr":"'$ADDR'","client-addr":"'$ADDR6'"}'; do
		run -0 ynl do path-add "$req"
		jqe '.error.errno == 22 and ((.error.text | length) > 5)'
	done
	run -0 ynl do path-add '{"session-name":"nosuch","server-addr":"'$ADDR'"}'
	jqe '.error.errno == 2 and (.error.attribute | test("session-name"))'
	for req in '"heartbeat-interval-ms":100' '"heartbeat-interval-ms":60001' '"heartbeat-misses":1' '"reconnect-delay-ms":9' \
		'"reconnect-delay-max-ms":600001' '"connect-timeout-ms":99' '"io-timeout-ms":999' '"no-path-timeout-ms":-2' \
		'"max-reconnect-attempts":10000' '"lost-writes":2'; do
		run -0 ynl do session-set "{\"name\":\"p1\",\"settings\":{$req}}"
		jqe '.error.errno == 22 or .error.errno == 34' || { echo "$req"; return 1; }
	done
	run -0 ynl do session-get '{"name":"p1","role":"client"}'
	jqe '.reply.settings == {"max-reconnect-attempts":-1,"heartbeat-interval-ms":5000,"heartbeat-misses":5,"reconnect-delay-ms":1000,
		"reconnect-delay-max-ms":30000,"connect-timeout-ms":30000,"io-timeout-ms":0,"no-path-timeout-ms":0,"lost-writes":"fail-flush"}'
	run -0 ynl --listen session do session-set '{"name":"p1","settings":{"no-path-timeout-ms":-1}}'
	jqe '.error == null and .reply.settings."no-path-timeout-ms" == -1 and (.events | length) == 1'
	run -0 ynl do session-del '{"name":"p1"}'
}
