#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ip of iproute2 6.1.0 (Debian 12), with -j: a link that a filter leaves out is still an element of the list. `ip link show type vrf`
# prints nothing, `ip -j link show type vrf` a {} for each link that there is; for a label it is {"addr_info":[]}, and for a prefix
# the list is empty. The exit status is 0 each time.
# One would guess: what the text does not list is no element of the JSON, so a script counts with `jq length` or asks for .[0].
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download iproute2=6.1.0-3 >/dev/null
dpkg -x iproute2_6.1.0-3_*.deb .

# In a network of its own, of its link lo alone, which is down: a kernel may add others
cat >ask <<'ASK'
set -f
for what in "link show type vrf" "link show up" "link show group 7" "addr show up" "addr show label x*" "addr show to 10.0.0.0/8"; do
	text=$(./bin/ip $what dev lo) && json=$(./bin/ip -j $what dev lo) && echo "$what: text '$text', JSON $json"
done
ASK
unshare -rn sh ask | tee seen
diff seen - <<'SEEN'
link show type vrf: text '', JSON [{}]
link show up: text '', JSON [{}]
link show group 7: text '', JSON [{}]
addr show up: text '', JSON [{}]
addr show label x*: text '', JSON [{"addr_info":[]}]
addr show to 10.0.0.0/8: text '', JSON []
SEEN
