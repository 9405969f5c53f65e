#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Command lines that are wrong: no kernel is asked, whatever is wrong in them.
# shellcheck shell=bats disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	R=(--nl-replay /nonexistent --test-root "$REC/bare")
}

# refuses MESSAGE ARG..: nothing is asked of a kernel
refuses() {
	adm 2 "${@:2}" -j
	[[ $output == *'"error":{"code":"usage",'* && $stderr == "rnbdadm: "*"$1"* ]]
}

@test "a path that is wrong" {
	refuses "'10.0.0' is not an address" path add cl1@srv1 10.0.0
	refuses "PATH: '10.0.0.9' is given twice" path add cl1@srv1 10.0.0.9 host:localhost 10.0.0.9
	refuses "'10.0.0' is not an address" path add cl1@srv1 host:localhost@10.0.0
	refuses "--timeout of path add is" path add cl1@srv1 10.0.0.9 --timeout 20m
	refuses "'x' is not an address" path remove cl1@srv1 x
	refuses 'PATH is missing, or --hca' path remove cl1@srv1
	refuses "'id:x' is not an address" path reconnect cl1@srv1 id:x
	refuses '--timeout of path reconnect is' path reconnect cl1@srv1 --timeout 1ms
	refuses 'name a session, or --all' path disconnect
	refuses '--all goes without SESSION' path disconnect --all cl1@srv1
	refuses '--all goes without --hca' path reconnect --all --hca rxe0
	refuses "'x' is not an address" recover cl1@srv1 x
	refuses '--all goes without --hca' recover --all --hca rxe0
	refuses 'name a session, or --all' recover
	refuses '--timeout of recover is' recover cl1@srv1 --timeout 1ms
	refuses 'PATH is missing, or --hca' server path disconnect cl9@here
	refuses "'x' is not an address" server path disconnect cl9@here x
	refuses 'name the path' path show cl1@srv1
	refuses 'mixes ipv4 and ib' server path show cl9@here 10.0.0.1@gid:fe80::1
}

@test "a session or a setting that is wrong" {
	refuses 'is not a value of --mp-policy' session set cl1@srv1 --mp-policy bogus
	refuses 'nothing to set' session set cl1@srv1
	refuses "--heartbeat-interval: '1ms' is not from 200ms" session set cl1@srv1 --heartbeat-interval 1ms
	refuses '--path is missing' session add x@y
	refuses 'must not hold' session add a/b --path 10.0.0.1
	refuses "--path: '10.0.0' is not" session add x@y --path 10.0.0
	refuses '--poll-queues: at most' session add x@y --path 10.0.0.1 --poll-queues 5000
}

@test "a device that is wrong" {
	refuses '--session or --server is missing' map v
	refuses 'must not hold' map v --session a/b --path 10.0.0.1
	refuses "--path: '10.0.0' is not" map v --session x@y --path 10.0.0
	refuses '--io-timeout: ' map v --session x@y --path 10.0.0.1 --io-timeout 1ms
	refuses '--timeout of map is' map v --server host:localhost --timeout 1ms
	refuses '--owner: ' map v --session x@y --owner 'a b'
	refuses 'name a device, --session or --all' unmap
	refuses 'a bare number selects nothing' unmap rnbd0 2
	refuses '--all goes with neither' unmap --all rnbd2
	refuses '--all goes with neither' remap --all --session cl1@srv1
	refuses 'a bare number selects nothing' remap 2
	refuses '--timeout of remap is' remap rnbd2 --timeout 1ms
	refuses 'a bare number selects nothing' device show 2
	refuses 'a bare number selects nothing' device wait 2
	refuses "'0x10' is not a size" resize rnbd2 0x10
	refuses 'SIZE is missing' resize rnbd2
	refuses 'a bare number selects nothing' resize 2 1G
	refuses "'8388608T' is more than a disk can have" resize rnbd2 8388608T
	refuses 'exclude each other' server export close ram0 --session a --all
	refuses '--timeout of server export revalidate is' server export revalidate ram0 --timeout 1ms
}

@test "a condition, a check or another word that is wrong" {
	refuses '--for' wait rnbd0 --for foo
	refuses '--for is missing' wait rnbd0
	refuses "'x' is not an address" wait cl1@srv1 x --for present
	refuses "'bogus' is no check" check bogus
	refuses "--path: 'x' is not" check --path x
	refuses "'x' is neither session:NAME nor" config apply --only x
	refuses "'x' is neither session:NAME nor" config diff --only x
	refuses "'x' is neither session:NAME nor" config apply --only x
	refuses '--counters: ' stats reset --all --counters bogus
	refuses 'name a session or a device, or --all' stats reset
	refuses '--all goes without a selector' stats reset --all cl1@srv1
	refuses "'x' is not an address" stats reset cl1@srv1 x
	refuses '--hca names a path of a session' stats --hca rxe0
	refuses '--by device is of this client' stats --by device --role server
	refuses 'a device is not of one path' stats rnbd0 10.0.0.2 --by device
	refuses 'need -i' stats --count 2
	refuses "'mapp'" help mapp
}

@test "the documents of these tests are valid" { all_valid; }
