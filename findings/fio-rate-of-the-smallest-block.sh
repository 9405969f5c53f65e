#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio 3.33 (Debian 12): with blocks of 4 to 64 KiB, --rate_iops=50 gives about 6 requests a second: the rate becomes bytes, 50 times the
# smallest block, of which an average request takes eight and a half.
# One would guess: 50 requests a second, as the option's name says. A load for a test of fail-over is then an eighth of the one meant.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download fio=3.33-3 >/dev/null
dpkg -x fio_*.deb .

# rate OPTION: requests of 10 s
rate() {
	usr/bin/fio --name=r --ioengine=null --size=1g --rw=read --rate_iops=50 --time_based --runtime=10 --output-format=json "$1" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][0]["read"]["total_ios"])'
}

same=$(rate --bs=4k) range=$(rate --bsrange=4k-64k)
echo "in 10 s: $same requests of 4 KiB, $range of 4 to 64 KiB"
((same >= 480 && same <= 520 && range >= 40 && range <= 80))
