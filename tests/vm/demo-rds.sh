#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo of RDS, in the first of two guests, which has our modules; the other one, with those of the kernel, is asked by on_server.
# shellcheck disable=SC1091
. "$ROOT/tests/vm/guest.bash"
PATH=$ROOT/build:$ROOT/build/tools:$PATH
. "$ROOT/tests/vm/demo.bash"

HERE=10.1.0.2 THERE=10.1.0.1
CALL="4 250 8192 8192 8" # tasks, messages of each, bytes there, bytes back, under way

# there CMD..: the same on the other machine
there() {
	printf 'other# %s\n' "$*"
	ON_SERVER_TIMEOUT=120 on_server "PATH=$ROOT/build:$ROOT/build/tools:\$PATH; $*" || stop "on the other machine: \`$*\` ended with status $?"
}

# answered WHO TEXT: all of them came back once, and every byte was the same
answered() {
	local n
	[[ $2 =~ messages\ ([0-9]+)\ .*lost\ 0\ again\ 0\ wrong\ 0 ]] || stop "not all came back once and whole: $2"
	n=${BASH_REMATCH[1]}
	((n > 0)) || stop "nothing came back"
	bytes=$((bytes + n * 16384))
	echo "$1: $n messages of 8 KiB there and back, each once and in order, every byte compared"
}

bytes=0
step "Two machines with a link between them"
link_up || stop "no link"
await 60 test -e "$SHARED/server-up" || stop "the other machine does not come up"
run ip -br addr show link1
there ip -br addr show link1

step "The other machine: the kernel's own modules"
there modprobe -a rds rds_tcp
there modinfo -F filename rds_tcp

step "This machine: ours"
for m in rds rds_tcp; do
	run insmod "$(modfile $m)"
done
run rnbdadm rds status

step "Ping, in both directions"
run rnbdadm rds ping $THERE -c 3
there rnbdadm rds ping $HERE -c 3

step "This machine calls, the other one answers"
on_server "$ROOT/build/tools/rds-load serve $THERE 4 >/run/tmp/served 2>&1 & echo \$! >/run/tmp/server" &&
	await 20 on_server grep -q ready /run/tmp/served || stop "nobody serves there"
said=$(rds-load call $HERE $THERE $CALL) || stop "$said"
answered "ours to the kernel's" "${said##*$'\n'}"

step "The other way round"
rds-load serve $HERE 4 >/run/tmp/served &
server=$!
await 20 grep -q ready /run/tmp/served || stop "nobody serves here"
said=$(ON_SERVER_TIMEOUT=120 on_server "$ROOT/build/tools/rds-load call $THERE $HERE $CALL") || stop "$said"
answered "the kernel's to ours" "${said##*$'\n'}"

step "What the tool shows"
run rnbdadm rds socket
run rnbdadm rds connection
there rnbdadm rds connection
printf '# rnbdadm rds stats\n'
rnbdadm rds stats | awk 'NR == 1 || $NF > 0'
run rnbdadm rds check

step "The link is cut for three seconds while they talk"
rds-load call $HERE $THERE 4 0 8192 8192 8 >/run/tmp/called &
caller=$!
await 20 grep -q begun /run/tmp/called || stop "no call"
run tc filter add dev link1 ingress matchall action drop
run tc filter add dev link1 egress matchall action drop
run sleep 3
run tc filter del dev link1 egress
run tc filter del dev link1 ingress
# When it talks again is what is looked at: of what it has sent all comes back.
kill $caller
wait $caller || stop "the call failed: $(</run/tmp/called)"
said=$(tail -n 1 /run/tmp/called)
answered "across the cut" "$said"
[[ $said =~ longest\ ([0-9]+) ]] && ((BASH_REMATCH[1] > 2900000000)) || stop "there was no silence: $said"
printf 'longest silence %d.%02d s\n' $((BASH_REMATCH[1] / 1000000000)) $((BASH_REMATCH[1] / 10000000 % 100))
run rnbdadm rds connection

step "Clean up"
kill $server
wait $server
on_server "kill \$(</run/tmp/server)" || stop "nobody serves there any more"
await 20 eval "! on_server pgrep -x rds-load" >/dev/null || stop "they do not end there"
run rmmod rds_tcp rds
there rmmod rds_tcp rds
dmesg_clean || stop "see above"
on_server dmesg_clean || stop "the other kernel complained"

printf '\ndemo: %d MiB over RDS between our modules and the kernel'\''s, both ways and across a cut: all once, all equal\n' $((bytes >> 20))
trap - EXIT
