#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# User-mode Linux 6.1 (Debian 12's package user-mode-linux 6.1um4): each guest makes itself the leader of a session of its own (setsid).
# Where the host's scheduler groups by session (kernel.sched_autogroup_enabled, 1 by default), nice and SCHED_IDLE then say nothing
# between two guests, nor between a guest and what else runs on the host: of one CPU, a guest at nice 19 has as much as one at nice 0.
# One would guess: nice 19 leaves it a seventieth. What ranks guests is the group's own value, in /proc/PID/autogroup.
set -eu
dir=$(mktemp -d)
guests=()
cleanup() {
	local guest
	exec 2>/dev/null # bash tells of each that it was killed
	for guest in "${guests[@]}"; do
		pkill -9 -s "$guest" || :
	done
	wait || :
	rm -rf "$dir"
}
trap cleanup EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download user-mode-linux=6.1um4+b13 busybox-static=1:1.35.0-4+deb12u1+b1 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done

# All that runs in a guest: a loop
mkdir -p root
cp bin/busybox root/
printf '#!/busybox sh\nwhile :; do :; done\n' >root/init
chmod +x root/init
(cd root && printf '%s\n' . init busybox | ./busybox cpio -o -H newc 2>/dev/null) >initrd
cpu=$(sed -nE 's/^Cpus_allowed_list:\s*([0-9]+).*/\1/p' /proc/self/status)

for nice in 0 19; do
	TMPDIR=$dir nice -n $nice taskset -c "$cpu" usr/bin/linux.uml mem=128M initrd="$dir/initrd" uml_dir="$dir" con=null con0=null,fd:1 \
		console=tty0 quiet </dev/null >"console.$nice" 2>&1 &
	guests+=($!)
done
sleep 20
for i in 0 1; do
	read -r pid sid nice < <(ps -o pid=,sid=,ni= -p "${guests[i]}")
	seconds[i]=$(ps -o times= -s "$sid" | awk '{ s += $1 } END { print s }')
	echo "guest at nice $nice: process $pid, session $sid, ${seconds[i]} CPU seconds"
	[[ $pid == "$sid" ]]
done
if [[ $(cat /proc/sys/kernel/sched_autogroup_enabled) == 1 ]]; then
	((seconds[1] * 2 > seconds[0] && seconds[1] > 0))
else
	echo "sessions are no groups of the scheduler here: only the sessions were looked at"
fi
