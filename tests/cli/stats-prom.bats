#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Statistics as Prometheus reads them: on stdout, and in a file.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	replay two-sessions
}

@test "Prometheus: of clients and servers, with hostile names, without modules" {
	adm 0 stats -o prom
	golden stats.prom
	prom
	adm 0 stats cl1@srv2 -o prom
	prom
	[[ $output == *cl1@srv2* && $output != *cl1@srv1* ]]
	replay hostile
	adm 0 stats -o prom
	prom
	replay alike
	adm 0 stats -o prom
	prom
	[[ $output == *'session="bad\\xfe"'*'session="bad\\xff"'* ]]
	adm 0 stats --role server -o prom
	prom
	[[ $output == *'_read_ios_total{session="",client="ip:10.0.0.7",server="ip:10.0.0.1",hca="mlx5_0",port="1"} 63'* ]]
	replay two-sessions
	adm 0 stats --role server -o prom
	prom
	[[ $output == *rnbd_server_up\ 1* && $output == *'rnbd_server_path_read_ios_total{session="cl7@here"'* ]]
	replay empty
	adm 0 stats -o prom
	[ "$(prom)" = "2 series" ]
	replay absent
	adm 8 stats -o prom
	[[ $output == *$'\nrnbd_up 0\n'* ]]
	prom
	alone 2 session list -o prom
	[[ $stderr == *"no prom output"* ]]
	# what it would leave out is refused
	for how in --interval=1 --rate --per-cpu --latency --by=hca --fields=name --sort=name --filter=session=cl1@srv1 --unit=K \
		--totals --no-headers --wide --brief; do
		adm 2 stats -o prom "$how"
		[[ $stderr == *"prom has all counters of paths, and takes no ${how%%=*}" ]]
		adm 2 stats "$how" --textfile "$BATS_TEST_TMPDIR/f"
		[ ! -e "$BATS_TEST_TMPDIR/f" ]
	done
}

@test "the checker of Prometheus text refuses" {
	local text what
	adm 0 stats -o prom
	text=$output
	for what in '/^# TYPE rnbd_path_up/d' 's/^# HELP rnbd_up.*/&\n&/' '/le="+Inf"/d' 's/rnbd_path_up{/rnbd_path_up{port="1",/' 's/_total / /' \
		's/le="6.5536e-05"} 1404465/le="6.5536e-05"} 14/' 's/session="cl1@/&"/' 's/_count\(.*\) .*/_count\1 7/' '/^rnbd_path_up/p' 's/^rnbd_up 1/rnbd_up one/'; do
		run ! "$PY" "$CLI/prom.py" <<<"$(sed "$what" <<<"$text")"
		[[ $text != "$(sed "$what" <<<"$text")" ]] || fail "$what changes nothing"
	done
}

@test "--textfile is replaced at once, or stays as it was" {
	local dir=$BATS_TEST_TMPDIR/collector
	mkdir "$dir"
	echo old >"$dir/rnbd.prom"
	ln "$dir/rnbd.prom" "$dir/kept"
	adm 0 stats --textfile "$dir/rnbd.prom"
	[ -z "$output$stderr" ]
	diff "$CLI/golden/stats.prom" "$dir/rnbd.prom"
	# another file under the same name, not written over
	[ "$(<"$dir/kept")" = old ]
	[ "$(stat -c %a "$dir/rnbd.prom")" = 644 ]
	[ "$(ls "$dir")" = "kept
rnbd.prom" ]
	replay absent
	adm 8 stats --textfile "$dir/rnbd.prom"
	grep -q '^rnbd_up 0' "$dir/rnbd.prom"
	replay denied
	adm 5 stats --textfile "$dir/rnbd.prom"
	grep -q '^rnbd_up 0' "$dir/rnbd.prom"
	replay two-sessions
	adm 4 stats --textfile "$dir/nosuch/rnbd.prom"
	[[ $stderr == *ENOENT* ]]
	mkdir "$dir/dir.prom"
	adm 1 stats --textfile "$dir/dir.prom"
	# what is no file is not taken away
	ln -s /dev/null "$dir/null.prom"
	adm 6 stats --textfile "$dir/null.prom"
	[ "$(readlink "$dir/null.prom")" = /dev/null ]
	[ "$(ls "$dir")" = "dir.prom
kept
null.prom
rnbd.prom" ]
	# nothing was written, which is more than that there are no modules
	replay absent
	adm 4 stats --textfile "$dir/nosuch/rnbd.prom"
}

@test "--textfile in JSON: one document, whatever becomes of the file" {
	local file=$BATS_TEST_TMPDIR/x.prom
	adm 0 stats --textfile "$file" -j
	valid rnbdadm.stats/1
	[ "$(jqv '.stats == [] and (has("error") | not)')" = true ]
	diff "$CLI/golden/stats.prom" "$file"
	adm 0 stats --textfile "$file" -o jsonl
	valid rnbdadm.stats/1
	adm 0 stats --textfile "$file" -o csv
	[ -z "$output" ]
	fails 4 not_found stats --textfile "$BATS_TEST_TMPDIR/nosuch/x.prom"
	fails 2 usage stats --textfile "$file" -i 1
	replay absent
	fails 8 unavailable stats --textfile "$file"
	grep -q '^rnbd_up 0' "$file"
}

@test "the documents of these tests are valid" { all_valid; }
