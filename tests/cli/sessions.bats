#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Settings of sessions; sessions and paths that come and go; path policies.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() { load helpers; }

# nothing_sent: of what --trace printed, no request of a change
nothing_sent() {
	if grep -E -- "-> .* (map|unmap|remap|session-(set|add|del)|path-(add|del|reconnect|disconnect)) " <<<"$stderr"; then
		return 1
	fi
}

@test "settings: shown as the kernel tells them, null where it does not" {
	replay two-sessions
	adm 0 session show cl1@srv1 -j
	valid rnbdadm.session/1
	[ "$(jqv '.sessions[0] | [.max_reconnect_attempts, .heartbeat_interval_ms, .heartbeat_misses, .reconnect_delay_ms,
		.reconnect_delay_max_ms, .connect_timeout_ms, .io_timeout_ms, .no_path_timeout_ms, .held] | @csv')" = \
		"-1,5000,5,1000,30000,30000,0,-1,true" ]
	adm 0 session show cl1@srv1
	[[ $output =~ heartbeat_interval_ms:?\ +5000 ]]
	[[ $output =~ held:?\ +yes ]]
	adm 0 session show cl1@srv2 -j
	valid rnbdadm.session/1
	[ "$(jqv '.sessions[0] | [.heartbeat_interval_ms, .io_timeout_ms, .no_path_timeout_ms, .held] | all(. == null)')" = true ]
	adm 0 session list -F name,no_path_timeout_ms,held
	[[ ${lines[1]} =~ ^cl1@srv1\ +-1\ +yes$ && ${lines[2]} =~ ^cl1@srv2\ +-\ +-$ ]]
}

@test "settings: session set writes what differs, with times as people write them" {
	replay session-set-all
	adm 0 session set cl1@srv1 --heartbeat-interval 200ms --heartbeat-misses 100 --reconnect-delay 10ms \
		--reconnect-delay-max 10m --connect-timeout 1.5s --io-timeout 1d --no-path-timeout 0 --max-reconnect-attempts -1 -j
	valid rnbdadm.session/1
	[ "$(jqv '[.changes[].key] | length')" = 7 ]
	[ "$(jqv '.changes[] | select(.key == "io_timeout_ms") | [.old, .new] | @csv')" = 0,86400000 ]
	[ "$(jqv '.sessions[0] | [.no_path_timeout_ms, .connect_timeout_ms] | @csv')" = 0,1500 ]
	adm 0 session set cl1@srv1 --heartbeat-interval 0.2 --heartbeat-misses 100 --reconnect-delay 0.01s \
		--reconnect-delay-max 600 --connect-timeout 1500ms --io-timeout 24h --no-path-timeout 0s
	[ -z "$output$stderr" ]
	replay two-sessions
	adm 0 session set cl1@srv1 --no-path-timeout forever --io-timeout 0 --heartbeat-interval 5s -j
	valid rnbdadm.session/1
	[ "$(jqv '.changed == false and .changes == []')" = true ]
	adm 0 session set cl1@srv1 --no-path-timeout 30 --reconnect-delay-max=5m --heartbeat-misses 3 -n --trace
	[ "$output" = "rnbdadm session set cl1@srv1 --heartbeat-misses=3 --reconnect-delay-max=300000ms --no-path-timeout=30000ms" ]
	nothing_sent
	read -ra words <<<"${output#rnbdadm }"
	adm 0 "${words[@]}" -n
	[[ $output == *--no-path-timeout=30000ms ]]
}

@test "settings: what is out of range sends nothing" {
	replay two-sessions
	for o in heartbeat-interval=199ms heartbeat-interval=61s heartbeat-interval=infinite heartbeat-misses=1 heartbeat-misses=101 \
		reconnect-delay=9ms reconnect-delay=11m reconnect-delay-max=0 connect-timeout=99ms connect-timeout=-1 io-timeout=999ms \
		io-timeout=25h io-timeout=-1 no-path-timeout=2d no-path-timeout=x no-path-timeout=; do
		fails 2 usage session set cl1@srv1 "--$o"
		[[ $stderr == *"--${o%%=*}"* ]]
		fails 2 usage map vol9 --session cl1@srv3 --path 10.0.0.9 "--$o"
	done
	fails 2 usage session set cl1@srv1
	[[ $stderr == *"nothing to set"* ]]
}

@test "settings: refused by the kernel, or unknown to it" {
	replay session-set-nest
	fails 1 failed session set cl1@srv1 --heartbeat-interval 1s
	[[ $stderr == *"kernel: too short (settings.heartbeat-interval-ms)"* ]]
	replay two-sessions
	fails 9 unsupported session set cl1@srv2 --heartbeat-interval 1s
	[[ $stderr == *"the loaded modules have no heartbeat_interval_ms"* ]]
	fails 4 not_found session set nosuch --io-timeout 5s
	replay old-modules
	fails 9 unsupported map vol9 --session cl1@srv3 --path 10.0.0.9 --io-timeout 5s
}

@test "settings: map gives them to a new session only" {
	replay map-settings
	NEW=(map vol9 --session cl1@srv3 --path ip:10.0.0.1@ip:10.0.0.9)
	adm 0 "${NEW[@]}" --max-reconnect-attempts 3 --no-path-timeout 30s
	[ "$output" = /dev/rnbd3 ]
	adm 0 "${NEW[@]}" --max-reconnect-attempts 3 --no-path-timeout 30s -n
	[ "$output" = "rnbdadm ${NEW[*]} --max-reconnect-attempts=3 --no-path-timeout=30000ms" ]
	fails 6 conflict map vol9 --session cl1@srv1 --no-path-timeout 30s
	[[ $stderr == *"exists and keeps its settings"*"rnbdadm session set cl1@srv1"* ]]
	replay map-settings-bad
	fails 1 failed "${NEW[@]}" --io-timeout 1s
	[[ $stderr == *"kernel: not so (--io-timeout)"* ]]
}

@test "the documents of these tests are valid" { all_valid; }
