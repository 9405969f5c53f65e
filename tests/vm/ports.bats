#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The server takes paths of clients away: one by one, or all over a port, which then takes no new ones.
# lab: on debug: one-CPU logic, for KASAN, lockdep and kmemleak
# lab: ynl
# lab: cpus 1
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	. "$ROOT/tests/vm/guest.bash"
	net_up 2
	ram_disk 32 2
	load_server sess_queue_depth=64 dev_search_path=/dev
	load_client
}

setup() {
	. "$ROOT/tests/vm/guest.bash"
}

teardown() {
	"$ADM" server port undrain rxe0:1
	"$ADM" server port undrain rxe1:1
	"$ADM" unmap --all --force || :
	dmesg_clean
}

map_two() {
	"$ADM" map ram0 --session s1 --path 10.0.0.1 --path 10.0.1.1 --reconnect-delay 100ms --reconnect-delay-max 1s
}

reads() { dd if=/dev/rnbd0 of=/dev/null bs=64k count=16 iflag=direct status=none; }

is_connected() { adm_is "(.sessions[0].paths_connected // 0) == $1" session list; }

@test "port list: what is listened on, and who is there" {
	map_two
	"$ADM" map ram1 --session s2 --path 10.0.0.1
	adm_is '[.ports[] | [.hca, .hca_port, .listening_port, .state, .drained, .clients, .paths]] ==
		[["rxe0", 1, 1234, "listening", false, 2, 2], ["rxe1", 1, 1234, "listening", false, 1, 1]]' server port list
	adm_is '[.ports[].gid | test("^fe80:[0-9a-f:]+$")] == [true, true]' server port list
}

@test "a drained port: paths go, new ones are refused; undrained, they are back" {
	map_two
	"$ADM" server port drain rxe1:1
	adm_is '[.ports[] | [.state, .paths]] == [["listening", 1], ["drained", 0]]' server port list
	is_connected 1
	reads
	refused_there() { adm_is '.paths[] | select(.hca == "rxe1") | .state == "reconnecting" and .last_error == "EHOSTDOWN"' path list; }
	await 20 refused_there
	run -1 "$ADM" map ram1 --session s2 --path 10.0.1.1
	[[ $output == *"server refused: it drains that port"* ]]
	"$ADM" map ram1 --session s2 --path 10.0.0.1
	"$ADM" server port drain rxe1:1 # it is already
	adm_is '.changed == false' server port drain rxe1
	run -7 "$ADM" server port drain rxe0:1
	[[ $output == *"refused, 2 paths are the last of a client"*"s1 has no other path than"*"s2 has no other path than"* ]]
	adm_is '.ports[0].drained == false' server port list
	adm_is '.changed' server port undrain rxe1:1
	await 20 is_connected 2
	reads
}

@test "a client's last path: the kernel refuses it, too; --force takes it" {
	"$ADM" map ram0 --session s1 --path 10.0.0.1 --reconnect-delay 100ms --reconnect-delay-max 1s
	run -7 --separate-stderr "$ADM" server port drain rxe0:1 -j
	[ "$(jq -c '[.changed, .paths_closed, .refused[0].session]' <<<"$output")" = '[false,[],"s1"]' ]
	run -0 --separate-stderr "$ADM" server port drain rxe0:1 --force -j
	[ "$(jq -c '[.changed, .paths_closed[0].session, .refused]' <<<"$output")" = '[true,"s1",[]]' ]
	await 10 is_connected 0
	run ! reads
	"$ADM" server port undrain rxe0:1
	await 20 is_connected 1
	await 20 reads
}

@test "server path: list, show, disconnect" {
	map_two
	adm_is '[.paths[] | [.role, .session, .hca, .state]] ==
		[["server", "s1", "rxe0", "connected"], ["server", "s1", "rxe1", "connected"]]' server path list
	adm_is '.paths[0].hca == "rxe1"' server path show s1 --hca rxe1
	run -0 --separate-stderr "$ADM" server path disconnect s1 10.0.1.1 -j
	[ "$(jq -c '[.changed, .paths[0].result]' <<<"$output")" = '[true,"disconnected"]' ]
	await 20 is_connected 2 # it comes back
	reads
	"$ADM" server port drain rxe1:1
	run -7 "$ADM" server path disconnect s1 10.0.0.1
	[[ $output == *"the last connected path"*"s1 has ram0 open as 'ram0'"* ]]
	"$ADM" server path disconnect s1 10.0.0.1 --force
	await 20 is_connected 1
}

@test "what is not there" {
	run -4 "$ADM" server port drain rxe7:1
	run -4 "$ADM" server port drain rxe0:2
	run -4 "$ADM" server path disconnect nobody 10.0.0.1
}

@test "netlink: a port by its name, what is missing, what is not there, who may" {
	local op
	run -0 ynl do port-get '{"hca-name":"rxe1","hca-port":1}'
	jqe '.error == null and (.reply | [."hca-name", ."hca-port", ."listening-port", .drained] == ["rxe1", 1, 1234, 0])'
	run -0 ynl dump port-get
	jqe '[.reply[]."hca-name"] == ["rxe0", "rxe1"]'
	for op in get drain undrain; do
		run -0 ynl do port-$op '{"hca-name":"rxe7","hca-port":1}'
		jqe '.error.errno == 2 and (.error.text | test("rxe7"))'
		run -0 ynl do port-$op '{"hca-name":"rxe0","hca-port":2}'
		jqe '.error.errno == 2'
		run -0 ynl do port-$op '{"hca-name":"rxe0"}'
		jqe '.error.errno == 22 and (.error.text | length) > 5'
		run -0 ynl do port-$op '{"hca-port":1}'
		jqe '.error.errno == 22'
	done
	for op in port-drain port-undrain; do
		run -0 setpriv --bounding-set=-sys_admin "$ROOT/tests/vm/ynl.py" do $op '{"hca-name":"rxe0","hca-port":1}'
		jqe '.error.errno == 1'
	done
	run -0 ynl do export-revalidate '{}'
	jqe '.error.errno == 22'
	run -0 ynl do export-revalidate '{"id":4000000}'
	jqe '.error.errno == 2 and (.error.text | test("4000000"))'
	run -0 ynl do export-revalidate '{"id":1,"timeout-ms":600001}'
	jqe '.error.errno == 22'
	run -0 setpriv --bounding-set=-sys_admin "$ROOT/tests/vm/ynl.py" do export-revalidate '{"id":1}'
	jqe '.error.errno == 1'
	run -0 ynl do path-disconnect '{"id":4000000,"role":"server"}'
	jqe '.error.errno == 2'
}

@test "everything can be unloaded" {
	"$ADM" server port drain rxe0:1
	unload_all
	load_server
	adm_is '[.ports[].drained] == [false, false]' server port list
	load_client
}

# The last test: teardown's ports are there again
@test "E19: listen= names devices and addresses: elsewhere nobody listens; another text is refused" {
	local bad
	unload rnbd-server rtrs-server
	for bad in rxe0,,rxe1 ip:10.0.0 10.0.0.1 gid:x 'rxe 0'; do
		dmesg_mark
		! insmod "$MODS/rtrs-server.ko" "listen=\"$bad\"" || fail "'$bad' is taken"
		dmesg_new | grep "listen: '.*' is neither the name of an RDMA device nor an address"
	done
	load_server sess_queue_depth=64 dev_search_path=/dev listen=rxe0,ip:10.0.9.1
	adm_is '[.ports[].hca] == ["rxe0"]' server port list
	run ! "$ADM" map ram0 --session s1 --path 10.0.1.1
	[[ $output == *"nobody listens on port 1234"* ]]
	"$ADM" map ram0 --session s1 --path 10.0.0.1
	# An address may come later
	run ! "$ADM" path add s1 10.0.9.1
	ip addr add 10.0.9.1/24 dev dummy1
	await 10 "$ADM" path add s1 10.0.9.1
	adm_is '[.ports[].hca] == ["rxe0", "rxe1"]' server port list
	reads
	"$ADM" unmap --all
	unload rnbd-server rtrs-server
	load_server sess_queue_depth=64 dev_search_path=/dev
}
