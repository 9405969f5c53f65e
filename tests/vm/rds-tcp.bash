# SPDX-License-Identifier: GPL-2.0
# Helpers of the tests of RDS over TCP.
#
#   rds_load, rds_unload        the modules under test: ours, or the kernel's own where RDS=stock says so (--env RDS); stock: it does
#   wire NAMESPACE N            this namespace, and a wire to it: 10.N.0.1 and fd0N::1 on wN here, 10.N.0.2 and fd0N::2 on vN there;
#                               fe80::1 and fe80::2
#   there [NAMESPACE] -- CMD..  runs CMD in it (peer)
#   ends NAME OPTION..          starts rds-traffic at both ends, $HERE and $THERE (10.1.0.1, 10.1.0.2) in $SPACE (peer); what they
#                               print goes to /run/tmp/NAME.here and .there
#   ends_over NAME..            waits for them; fails if an end does
#   ends_enough NAME..          tells them that they have sent enough, then the same
#   moving NAME                 they send
#   none_twice NAME..           they end, and nothing came twice, out of order, or not as it was sent. What was lost is told.
#   figure FILE WORD            this number of the line
#   cut, mend                   from now on what is sent over the wire is lost, at both ends; or no more, but LOSS percent of it
#   lasts MS                    that time goes by
#   tcp_set NAME VALUE          sysctl of net.rds.tcp, here
#   counter NAME                of RDS_INFO_COUNTERS
# shellcheck shell=bash

TOOLS=$ROOT/build/tools
HERE=10.1.0.1 THERE=10.1.0.2 SPACE=peer

stock() { [[ ${RDS-} == stock ]]; }

rds_load() {
	module_loaded rds_tcp && return
	if stock; then
		modprobe rds_tcp
	else
		insmod "$MODS/rds.ko" && insmod "$MODS/rds_tcp.ko"
	fi
}

# A socket that was closed may take a moment
rds_unload() {
	! module_loaded rds_tcp || await 10 rmmod rds_tcp || return
	! module_loaded rds || rmmod rds
}

wire() {
	local n=$2
	ip netns add "$1" && ip -b - <<-END && ip -n "$1" -b - <<-END2 || return
		link add w$n type veth peer name v$n netns $1
		link set w$n up
		addr add 10.$n.0.1/24 dev w$n
		addr add fd0$n::1/64 dev w$n nodad
		addr add fe80::1/64 dev w$n nodad
	END
		link set lo up
		link set v$n up
		addr add 10.$n.0.2/24 dev v$n
		addr add fd0$n::2/64 dev v$n nodad
		addr add fe80::2/64 dev v$n nodad
	END2
	# The address of a wire of this name that has just gone may take this one with it
	await 5 address_is_own "10.$n.0.1"
}

address_is_own() {
	ip route get "$1" 2>/dev/null | grep -q ^local && return
	ip addr replace "$1/24" dev "w${1:3:1}"
	false
}

there() {
	local space=$SPACE
	[[ $1 == -- ]] || { space=$1; shift; }
	shift
	ip netns exec "$space" "$@"
}

declare -gA END_HERE=() END_THERE=()

ends() {
	local name=$1 here=$HERE there=$THERE on=''
	shift
	rm -f "/run/tmp/$name".{here,there} # of those before: "moving" is awaited there
	[[ $HERE != fe80* ]] || on=%v1
	ip netns exec $SPACE "$TOOLS/rds-traffic" "$@" "$there$on" "$here$on" >"/run/tmp/$name.there" 2>&1 3>&- &
	END_THERE[$name]=$!
	on=${on/v/w}
	"$TOOLS/rds-traffic" "$@" "$here$on" "$there$on" >"/run/tmp/$name.here" 2>&1 3>&- &
	END_HERE[$name]=$!
}

ends_over() {
	local name rc=0
	for name in "$@"; do
		wait "${END_HERE[$name]}" || rc=1
		wait "${END_THERE[$name]}" || rc=1
		echo "$name: $(<"/run/tmp/$name.here")"
		echo "$name: $(<"/run/tmp/$name.there")"
	done
	return "$rc"
}

ends_enough() {
	local name
	for name in "$@"; do
		kill "${END_HERE[$name]}" "${END_THERE[$name]}"
	done
	ends_over "$@"
}

moving() { await 20 grep -q moving "/run/tmp/$1.here" && await 20 grep -q moving "/run/tmp/$1.there"; }

none_twice() {
	local name end
	ends_over "$@" || :
	for name in "$@"; do
		for end in here there; do
			[[ $(<"/run/tmp/$name.$end") == *" lost=0 "* ]] || echo "# $name.$end: $(figure "/run/tmp/$name.$end" lost) lost" >&3
			[[ $(<"/run/tmp/$name.$end") == *" twice=0 disorder=0 wrong=0 "* ]] || fail "$name.$end" || return
		done
	done
}

figure() {
	local text
	text=$(<"$1")
	[[ $text =~ (^|[[:space:]])$2=([0-9]+) ]] || fail "no $2 in $text" || return
	echo "${BASH_REMATCH[2]}"
}

cut() { tc qdisc replace dev w1 root netem loss 100% && there -- tc qdisc replace dev v1 root netem loss 100%; }
mend() {
	[[ -z ${LOSS-} ]] || { tc qdisc replace dev w1 root netem loss "$LOSS%" && there -- tc qdisc replace dev v1 root netem loss "$LOSS%"; return; }
	tc qdisc del dev w1 root && there -- tc qdisc del dev v1 root
}

lasts() {
	local ms=$1
	for (( ; ms > 0; ms -= 500)); do
		nap $((ms < 500 ? ms * 1000 : 500000))
	done
}

tcp_set() { echo "$2" >"/proc/sys/net/rds/tcp/$1"; }

counter() { "$ADM" rds stats | awk -v name="$1" '$1 == name { print $2 }'; }
