# SPDX-License-Identifier: GPL-2.0
# Helpers of guest.bash, for two guests: the other one.
#
#   on_server CMD...            CMD (a line of shell with these helpers) on the server; its output and status
#   server_disk                 on a server with "# lab: disk": waits for it, /dev/vda
#   server_power off|on         kills the server as a power failure does, boots it again
#   server_power freeze|thaw    the server stands still, and what is sent to it is lost; it goes on
#   server_cable N off|on       pulls the server's end of this link, which loses its carrier; puts it back
# shellcheck shell=bash

# Requests have a folder of their own, as the server looks into it again and again
SHARED=/run/lab/shared ASK=/run/lab/shared/ask ANSWER=/run/lab/shared/answer

# A port of virtio that leads to the other guest: rung when there is a request, as each look into the folder takes 15 ms
BELL=''
for each in /sys/class/virtio-ports/*; do
	[[ ! -e $each || $(<"$each/name") != lab.bell ]] || BELL=/dev/${each##*/}
done

server_disk() {
	[[ -z $VIRTIO ]] || modprobe virtio_blk || return
	await 5 test -b /dev/vda
}

on_server() {
	local id=${EPOCHREALTIME/./}-$BASHPID rc
	printf '%s\n# end\n' "$*" >"$ASK/$id" || return
	# A write would wait for a server that is switched off. The port can be opened once at a time: who finds it open does without.
	[[ -z $BELL || ! -e $SHARED/server-up ]] || { echo >"$BELL"; } 2>/dev/null || :
	await "${ON_SERVER_TIMEOUT:-60}" test -s "$ANSWER/$id.status" || return
	[[ ! -s $ANSWER/$id.output ]] || printf '%s\n' "$(<"$ANSWER/$id.output")"
	rc=$(<"$ANSWER/$id.status")
	return "$rc"
}

ask_host() { echo "$*" >"$SHARED/power.new" && mv "$SHARED/power.new" "$SHARED/power" && await 20 test ! -e "$SHARED/power"; }

# There is none but where cards are virtio's
server_cable() { [[ -z $VIRTIO && $2 == on ]] || ask_host "link$1 $2"; }

server_power() {
	ask_host "$1" || return
	[[ $1 != on ]] || await 60 test -e "$SHARED/server-up"
}
