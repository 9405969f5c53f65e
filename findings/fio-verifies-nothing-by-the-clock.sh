#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio 3.33 (Debian 12): a job that writes with --verify and --time_based reads nothing back: the phase that verifies begins when
# all of --size is written, which by the clock is never. It ends with status 0 and no error. What it says of that goes in front of
# the JSON, into the same file, which a reader of JSON then refuses.
# One would guess: what was written until then is verified, or the two options are refused together; JSON is JSON.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download fio=3.33-3 >/dev/null
dpkg -x fio_*.deb .

# ios OPTION..: status, writes and reads of a job, and whether its output can be read
ios() {
	local rc=0 json=readable
	usr/bin/fio --name=v --filename=disk --size=1m --bs=4k --rw=write --ioengine=psync --verify=crc32c --output-format=json \
		--output=out "$@" || rc=$?
	python3 -c 'import json; json.load(open("out"))' 2>/dev/null || json=unreadable
	sed -n '/^{/,$p' out | python3 -c '
import json, sys
job = json.load(sys.stdin)["jobs"][0]
print("%s: status '$rc', error %d, writes %s, reads %d, JSON '$json'" % (sys.argv[1] if len(sys.argv) > 1 else "by size",
      job["error"], "256" if job["write"]["total_ios"] == 256 else "more", job["read"]["total_ios"]))' ${1+"by the clock"}
}

{
	ios
	ios --time_based --runtime=2
} | tee seen
diff seen - <<'SEEN'
by size: status 0, error 0, writes 256, reads 256, JSON readable
by the clock: status 0, error 0, writes more, reads 0, JSON unreadable
SEEN
