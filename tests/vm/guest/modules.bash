# SPDX-License-Identifier: GPL-2.0
# Helpers of guest.bash: loads and unloads the modules.
#
#   load_server [PARAM=VALUE..] rtrs-core, rtrs-server, rnbd-server; each parameter goes to the module that has it
#   load_client [PARAM=VALUE..] rtrs-core, rtrs-client, rnbd-client
#   both_ends MIB               what most files begin with: net_up 2, ram_disk MIB, load_server, load_client
#   load_peer_server, load_peer_client          the same from the in-tree modules
#   module_loaded NAME, unload NAME..           those that are loaded
#   unload_all                  all of them in order, after census_clean
# shellcheck shell=bash disable=SC2119,SC2120

module_loaded() { [[ -d /sys/module/${1//-/_} ]]; }

# module_says FIELD FILE: what modinfo says, asked once
module_says() {
	local kept=/run/tmp/modinfo${2//\//.}.$1 new=/run/tmp/modinfo.$BASHPID
	if [[ ! -e $kept ]]; then
		modinfo -F "$1" "$2" >"$new" && mv "$new" "$kept" || return
	fi
	echo "$(<"$kept")"
}

# module_load DIR NAME [PARAM=VALUE..]: with what it depends on, ours from DIR, the kernel's by modprobe
module_load() {
	local ko=$1/$2.ko dep needs others=()
	IFS=, read -ra needs < <(module_says depends "$ko") || { fail "no module $ko"; return 1; }
	for dep in "${needs[@]}"; do
		module_loaded "$dep" && continue
		case $dep in
		rtr?[_-]* | rnb?[_-]*) module_load "$1" "${dep//_/-}" || return ;;
		*) others+=("$dep") ;;
		esac
	done
	((${#others[@]} == 0)) || modprobe -a "${others[@]}" || return
	insmod "$ko" "${@:3}" || fail "insmod ${*:2}: status $?"
}

# module_set DIR "NAME.." [PARAM=VALUE..]: load each with those of the parameters that it has
module_set() {
	local dir=$1 names=$2 name p has taken='' own
	shift 2
	for name in $names; do
		own=() has=''
		(($# == 0)) || has=$'\n'$(module_says parm "$dir/$name.ko")
		for p in "$@"; do
			[[ $has == *$'\n'"${p%%=*}:"* ]] || continue
			own+=("$p")
			taken+=" ${p%%=*} "
		done
		module_loaded "$name" || module_load "$dir" "$name" "${own[@]}" || return
	done
	for p in "$@"; do
		[[ $taken == *" ${p%%=*} "* ]] || { fail "no module of '$names' has a parameter ${p%%=*}"; return 1; }
	done
}

load_server() { module_set "$MODS" "rtrs-core rtrs-server rnbd-server" "$@"; }
load_client() { module_set "$MODS" "rtrs-core rtrs-client rnbd-client" "$@"; }
both_ends() { net_up 2 && ram_disk "$1" && load_server && load_client; }
load_peer_server() { module_set "$PEER_MODS" "rtrs-core rtrs-server rnbd-server" "$@"; }
load_peer_client() { meet_neighbours && module_set "$PEER_MODS" "rtrs-core rtrs-client rnbd-client" "$@"; }

# rdma_cm may miss the answer of a neighbour that is quick on a slow host; in-tree clients then wait for half a minute, and give up
meet_neighbours() {
	local dev i end=1
	[[ $LAB_NAME != server ]] || end=2
	for dev in /sys/class/net/link*; do
		[[ -e $dev ]] || continue
		i=${dev##*/link}
		busybox ping -c 1 -W 10 "10.$i.0.$end" >/dev/null && busybox ping -c 1 -W 10 "fd0$i::$end" >/dev/null ||
			fail "link$i: no answer" || return
	done
}

unload() {
	local name present=()
	for name in "$@"; do
		! module_loaded "$name" || present+=("$name")
	done
	((${#present[@]} == 0)) || rmmod "${present[@]}" || fail "$(lsmod | grep -E '^(rtr|rnb)._')"
}

unload_all() {
	unload rds-peer rds_tcp rds || return
	unload rnbd-client rnbd-server rtrs-client rtrs-server || return
	census_clean || return
	unload rtrs-core || return
	slab_clean
}
