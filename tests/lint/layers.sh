#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who may include what.
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# includes FILE...: "file:header" of each #include, "./" and "../" resolved against the file's directory
includes() {
	local f line h
	while IFS=: read -r f line; do
		h=${line#*[\"<]}
		h=${h%%[\">]*}
		if [[ $line == *\"* && -e ${f%/*}/$h ]]; then
			h=${f%/*}/$h h=${h//\/.\//\/}
			while [[ $h =~ ^(.*/)?[^/.][^/]*/\.\./(.*)$ ]]; do
				h=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
			done
		fi
		printf '%s:%s\n' "$f" "$h"
	done < <(grep -HE '^[[:space:]]*#[[:space:]]*include' "$@")
}

# only FILES... -- REGEX: every include of these files must match
only() {
	local files=()
	while [[ $1 != -- ]]; do files+=("$1"); shift; done
	((${#files[@]})) || return 0
	includes "${files[@]}" | grep -vE ":($2)$"
	return 0
}

# never FILES... -- REGEX: none may match
never() {
	local files=()
	while [[ $1 != -- ]]; do files+=("$1"); shift; done
	((${#files[@]})) || return 0
	includes "${files[@]}" | grep -E ":($2)$"
	return 0
}

# Of the tool: a source and its header are one file here. What is printed is a circle, one name a line.
circles() {
	# shellcheck disable=SC2046,SC2069
	includes $(sources rnbdadm) | sed -nE 's,^rnbdadm/(.*)\.[ch]:(.*)\.h$,\1 \2,p' | awk '$1 != $2' | tsort 2>&1 >/dev/null
}

drivers() { sources kernel | grep -v '^kernel/rtrs/core/rxe\.c$' | xargs -r grep -nE 'RDMA_DRIVER_|\bdriver_id\b'; return 0; }

mapfile -t proto < <(tree include | grep '/proto\.h$')
mapfile -t api < <(tree include | grep -E '^include/rtrs/(client|server)\.h$')
mapfile -t core < <(sources kernel/rtrs/core)
mapfile -t client < <(sources kernel/rtrs/client)
mapfile -t server < <(sources kernel/rtrs/server)
mapfile -t rnbd < <(sources kernel/rnbd)
mapfile -t rnbd_client < <(sources kernel/rnbd/client)
mapfile -t rnbd_server < <(sources kernel/rnbd/server)
mapfile -t rds < <(sources kernel/rds include/rds)
# By the lists of docs/dev/architecture.md
mapfile -t hot < <(awk '/^[a-z]+\/[a-z]+$/ { module = $0 } !NF { module = "" } module != "" && $1 == "I/O" { for (i = 2; i <= NF; i++) print "kernel/" module "/" $i ".c" }' docs/dev/architecture.md)
((${#hot[@]})) || hot=("the I/O rows of docs/dev/architecture.md")
mapfile -t model < <(sources rnbdadm | grep -E '^rnbdadm/model/objects\.[ch]$')
mapfile -t cmds < <(sources rnbdadm/cmd rnbdadm/check)
mapfile -t netlink < <(sources rnbdadm/kernel/netlink)
mapfile -t sysfs < <(sources rnbdadm/kernel/sysfs)
# The folders of the tool, from the bottom up
layers=(base model host kernel output grammar app task stats config check rds cmd)
mapfile -t records < <(sources rnbdadm/rds | grep -E '/(records|info)\.[ch]$')
mapfile -t tool < <(sources rnbdadm | grep -v '^rnbdadm/rds/')

# errno.h is there on the host as well
check "wire formats need only <linux/types.h> and each other" only "${proto[@]}" -- '(linux/(types|errno)\.h|(include/)?(rtrs|rnbd|rds)/proto\.h|rtrs/types\.h)'
check "the transport's API has no verbs and no wire format" never "${api[@]}" -- '(rdma/.*|.*proto\.h|.*(core|priv|private)\.h|kernel/.*)'
check "rtrs-core knows no module above it" never "${core[@]}" -- '(.*/)?(kernel/rtrs/)?(client|server)/.*|(include/)?rtrs/(client|server)\.h|(.*/)?rnbd/.*\.h'
check "rtrs-client knows neither rtrs-server nor rnbd" never "${client[@]}" -- '(.*/)?server/.*|kernel/rtrs/server/.*|(include/)?rtrs/server\.h|(.*/)?rnbd/.*\.h'
check "rtrs-server knows neither rtrs-client nor rnbd" never "${server[@]}" -- '(.*/)?client/.*|kernel/rtrs/client/.*|(include/)?rtrs/client\.h|(.*/)?rnbd/.*\.h'
check "rnbd knows neither verbs nor the transport's inside" never "${rnbd[@]}" -- '(rdma/.*|kernel/rtrs/.*|.*/core/.*|(include/)?rtrs/proto\.h)'
check "rnbd-client and rnbd-server do not know each other" \
	never "${rnbd_client[@]}" -- '(kernel/rnbd/server/.*|.*\.\./server/.*|(include/)?rtrs/server\.h)'
check "rnbd-server does not know rnbd-client" \
	never "${rnbd_server[@]}" -- '(kernel/rnbd/client/.*|.*\.\./client/.*|(include/)?rtrs/client\.h)'
check "rds knows neither verbs nor RTRS nor RNBD" never "${rds[@]}" -- '(rdma/.*|(.*/)?(rtrs|rnbd)/.*)'
check "the I/O path knows neither netlink nor sysfs" never "${hot[@]}" -- '(net/genetlink\.h|net/netlink\.h|.*nl(-[a-z]*)?\.h|.*sysfs\.h)'
check "the tool's model knows no netlink, no stdio, no JSON" never "${model[@]}" -- '(.*netlink.*|stdio\.h|jansson\.h|kernel/.*)'
check "the tool's commands and checks leave netlink to kernel/netlink and host/routes.c" never "${cmds[@]}" -- '(linux/(gen|rt)?netlink\.h|netlink/.*)'
for ((i = 0; i < ${#layers[@]}; i++)); do
	mapfile -t files < <(sources "rnbdadm/${layers[i]}")
	check "${layers[i]} of the tool includes no folder above it" \
		never "${files[@]}" -- "($(IFS='|' && echo "${layers[*]:i + 1}|rnbdadm"))/.*"
done
check "the tool's netlink does not know its sysfs" never "${netlink[@]}" -- 'kernel/sysfs/.*'
check "the tool's sysfs does not know its netlink" never "${sysfs[@]}" -- 'kernel/netlink/.*'
check "the includes of the tool make no circle" circles
check "what decodes records of RDS knows addresses and text alone" \
	never "${records[@]}" -- '(app|output|kernel|host)/.*|jansson\.h|sys/socket\.h|stdio\.h'
check "of the tool the command table alone knows RDS" \
	never "${tool[@]}" -- 'rds/([abd-z][^/]*|c[a-np-z][^/]*)\.h'
# What one driver needs is in one place (G20)
check "only core/rxe.c asks for the driver of an RDMA device" drivers
finish
