#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio 3.33 (Debian 12): with a synchronous engine and --iodepth above 1, --output-format=json writes a line "note: ..." to stdout, in
# front of the document. Exit code 0. With --output=FILE the document is alone in its file, and the note is nowhere.
# One would guess: notes go to stderr where stdout is a document. A parser fails on the first byte, for a job that ran well.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download fio=3.33-3 >/dev/null
dpkg -x fio_*.deb .

report() {
	usr/bin/fio --name=r --ioengine=psync --iodepth=4 --size=1m --rw=read --filename=data --output-format=json "$@" 2>errors
}
is_json() { python3 -m json.tool "$1" >/dev/null 2>&1; }

report >printed
report --output=file >note
echo "first line: $(head -n 1 printed); stderr: $(wc -c <errors) bytes"
[[ $(head -n 1 printed) == note:* && ! -s errors && ! -s note ]]
if is_json printed; then exit 1; fi
is_json file
