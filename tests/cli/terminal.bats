#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Terminals: colours, widths, locales.
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

# tty COLUMNS ARGS..: on a terminal of that width
tty() {
	local cols=$1
	shift
	run -0 script -qec "stty cols $cols; $(printf '%q ' "$PLAIN" "${R[@]}" "$@")" /dev/null </dev/null
	output=${output//$'\r'/}
	mapfile -t lines <<<"$output"
	printf '%s\n' "${lines[@]}"
}

@test "colour: on a terminal, states only" {
	tty 120 device list
	[[ $output == *$'\e[32mmapped\e[0m'* && $output == *$'\e[31mdisconnected\e[0m'* ]]
	# the words are all there without it
	plain=$(sed 's/\x1b\[[0-9;]*m//g' <<<"$output")
	tty 120 device list --color=never
	[ "$output" = "$plain" ]
}

@test "no colour: pipe, NO_COLOR, TERM=dumb, JSON; --color=always overrides" {
	adm 0 device list
	[[ $output != *$'\e'* ]]
	NO_COLOR=1 tty 120 device list
	[[ $output != *$'\e'* ]]
	NO_COLOR='' tty 120 device list
	[[ $output == *$'\e'* ]]
	TERM=dumb tty 120 device list
	[[ $output != *$'\e'* ]]
	tty 120 device list -j
	valid rnbdadm.device/1
	[[ $output != *$'\e'* ]]
	NO_COLOR=1 adm 0 device list --color=always
	[[ $output == *$'\e[32m'* ]]
	adm 0 device list --color=always -j
	[[ $output != *$'\e'* ]]
	adm 0 path list --color
	[[ $output == *$'\e[33mreconnecting'* ]]
}

@test "csv: no control character on a terminal, all bytes in a pipe" {
	replay hostile
	tty 120 session list -o csv -F name
	[[ $output != *$'\e'* && $output != *$'\x7f'* && $output == *'\x1b[31m'* ]]
	adm 0 session list -o csv -F name
	[[ $output == *$'\e[31m'* && $output == *$'\x7f'* ]]
}

# squeezed: the words of $output, a blank between two of them
squeezed() { tr -s ' \n' ' ' <<<"$output" | sed 's/^ //'; }

@test "widths: the same columns at 40, 80, 200 and in a pipe; texts are cut, numbers and columns are not" {
	local o w head sizes
	for o in "device list" "path list" "session list" "stats" "stats --by device" "server export list"; do
		# shellcheck disable=SC2086
		adm 0 $o
		sizes=$(grep -oE '[0-9.]+ ([GMK]i)?B\b' <<<"$output" | tr '\n' ' ')
		[[ $o != stats* ]] || lines[0]+=" ${lines[1]}"
		head=$(tr -s ' ' <<<"${lines[0]# }")
		for w in 40 80 200; do
			# shellcheck disable=SC2086
			tty $w $o --color=never
			[[ $(squeezed) == "${head# }"* ]]
			[ "$(grep -oE '[0-9.]+ ([GMK]i)?B\b' <<<"$output" | tr '\n' ' ')" = "$sizes" ]
		done
	done
	tty 60 device list --wide
	[[ $output == *"/data,/mnt/a b"* ]]
	tty 60 device list --color=never
	[[ $output == *"~"* && $output != *"/data,/mnt/a b"* ]]
	replay extreme
	tty 40 stats --latency --color=never
	[[ $output == *" 9223372036854775807  9223372036854775807"* ]]
}

# All that is text in lines of columns, one command in each line; tables with many numbers are not here
VIEWS="status
session show NAME
path show NAME PATH
device show DEVICE
show DEVICE
server client show NAME
server export show EXPORT
stats latency
stats latency --log"
TABLES="session list
path list
device list
server client list
server path list
server export list
server port list
stats --latency
stats --by device
stats latency -F session,read_ios"

# views COLUMNS COMMANDS: each on a terminal of that width, after a line "== COMMAND"; where COLUMNS is "pipe", in none
views() {
	local script=$BATS_TEST_TMPDIR/script
	{
		[[ $1 == pipe ]] || echo "stty cols $1"
		while read -r line; do
			printf 'echo %q\n%s' "== $line" "$(printf '%q ' "$PLAIN" "${R[@]}")"
			echo "$line"
		done <<<"$2"
	} >"$script"
	if [[ $1 == pipe ]]; then
		run -0 bash -e "$script"
	else
		run -0 script -qec "bash -e $script" /dev/null </dev/null
	fi
	output=${output//$'\r'/}
}

# fits COLUMNS N: no line of $output is wider, and none of the N views is missing
fits() {
	"$PY" - "$1" "$2" <<-'END' "$output"
		import os, re, sys, unicodedata
		# a C locale knows nothing beyond ASCII
		ascii = os.environ["LC_ALL"] == "C"
		def width(c):
		    return 1 if ascii else 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
		most, views, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
		text = re.sub("\x1b\\[[0-9;]*m", "", text.encode("utf-8", "surrogateescape").decode("utf-8"))
		parts = text.split("== ")[1:]
		assert len(parts) == views and not [p for p in parts if p.count("\n") < 2], [len(parts), parts]
		bad = [(p.split("\n")[0], l) for p in parts for l in p.split("\n")[1:] if sum(map(width, l)) > most]
		sys.exit(str(bad[:9]) if bad else 0)
	END
}

@test "widths: no view has a line wider than the terminal, whatever the names; --wide and pipes cut nothing" {
	local rec w l all narrow piped
	for rec in two-sessions hostile; do
		replay $rec
		case $rec in
		two-sessions)
			all=$(sed 's/NAME/cl1@srv1/; s/PATH/10.0.0.2/; s/DEVICE/rnbd0/; s/EXPORT/sdb/
				s/client show cl1@srv1/client show cl7@here/' <<<"$VIEWS"$'\n'"$TABLES")
			;;
		hostile) all=$(sed "s/NAME/$(printf '%254s' '' | tr ' ' n)/; s/PATH/10.2.0.8/; s/DEVICE/rnbd8/
			s/EXPORT/$(printf '%254s' '' | tr ' ' n)/" <<<"$VIEWS"$'\n'"$TABLES") ;;
		esac
		for l in C.UTF-8 C; do
			narrow=$(head -n "$(wc -l <<<"$VIEWS")" <<<"$all")
			LC_ALL=$l views 40 "$narrow"
			LC_ALL=$l fits 40 "$(wc -l <<<"$narrow")"
			for w in 80 200; do
				LC_ALL=$l views $w "$all"
				LC_ALL=$l fits $w "$(wc -l <<<"$all")"
			done
		done
		LC_ALL=C.UTF-8 views pipe "$all"
		[[ $output != *…* ]]
		[[ $rec != hostile || $(wc -L <<<"$output") -gt 500 ]]
		piped=$(grep -v '^==' <<<"$output" | grep -o 'n\{250,\}' | wc -l)
		LC_ALL=C.UTF-8 views 40 "$(sed 's/$/ --wide/' <<<"$all")"
		[[ $output != *…* ]]
		# as many long names as in a pipe, and those of the lines below rows
		(($(grep -v '^==' <<<"$output" | grep -o 'n\{250,\}' | wc -l) >= piped))
	done
}

@test "80 and 200 columns: status, stats, monitor, check" {
	local w
	for w in 80 200; do
		for what in "status" "stats" "stats --per-cpu" "stats --by device" "monitor --once" "check" \
			"server export list" "session list" "server port list"; do
			# shellcheck disable=SC2086
			case $what in
			check) run -11 script -qec "stty cols $w; $(printf '%q ' "$PLAIN" "${R[@]}" check --color=never)" /dev/null </dev/null ;;
			*) tty "$w" $what --color=never ;;
			esac
			output=${output//$'\r'/}
			printf '%s\n' "== $what" "$output" >>"$BATS_TEST_TMPDIR/all"
			# messages are not cut, columns are
			[[ $what == check || $what == monitor* || ($w == 80 && ($what == stats || $what == *cpu)) || $(wc -L <<<"$output") -le $w ]]
		done
		output=$(<"$BATS_TEST_TMPDIR/all")
		rm "$BATS_TEST_TMPDIR/all"
		golden terminal-$w.txt
	done
}

@test "stats, once and again and again: as wide as a wide terminal, with and without UTF-8, on a dumb one" {
	local w plain what
	replay series
	for w in 120 200; do
		for what in "stats -i 10ms -c 2" "stats -i 10ms -c 2 --rate" "stats --per-cpu"; do
			# shellcheck disable=SC2086
			LC_ALL=C.UTF-8 tty $w $what
			plain=$(sed 's/\x1b\[[0-9;]*m//g' <<<"$output")
			[[ $(LC_ALL=C.UTF-8 wc -L <<<"$plain") -le $w && -n $plain ]]
			# shellcheck disable=SC2086
			TERM=dumb tty $w $what
			[[ $output != *$'\e'* && $(wc -L <<<"$output") -le $w ]]
			# bytes beyond ASCII are only for those who can see them
			[[ $output != *[$'\x80'-$'\xff']* ]]
			[ "$(grep -c . <<<"$output")" = "$(grep -c . <<<"$plain")" ]
		done
	done
}

@test "no colour by NO_COLOR and TERM=dumb: five screens, the same text as with it" {
	local what want colored code
	# screen ARGS..: what a terminal of 100 columns gets, without what differs from time to time
	screen() {
		run "-$code" script -qec "stty cols 100; $(printf '%q ' "$PLAIN" "${R[@]}" "$@")" /dev/null </dev/null
		output=${output//$'\r'/}
	}
	export LC_ALL=C.UTF-8
	for what in status "stats -i 10ms -c 2" "stats latency" "monitor --once" check; do
		code=0
		[[ $what != check ]] || code=11
		case $what in
		stats\ -i*) replay series ;;
		*) replay two-sessions check-root ;;
		esac
		# shellcheck disable=SC2086
		{
			screen $what
			colored=$output
			echo "COLORED $colored"
			want=$(sed 's/\x1b\[[0-9;]*m//g' <<<"$colored")
			[[ $want && $want != *$'\e'* ]]
			# tables and plots of numbers have none, nor have lines to be searched
			[[ $what == stats* || $what == monitor* || $colored == *$'\e['* ]]
			NO_COLOR=1 screen $what
			[ "$output" = "$want" ]
			TERM=dumb screen $what
			[ "$output" = "$want" ]
			NO_COLOR=1 screen $what --color=always
			[ "$output" = "$colored" ]
		}
	done
}

@test "wide and combining characters keep the columns" {
	replay hostile
	LC_ALL=C.UTF-8 adm 0 device list -F device_path,name --no-headers
	# every name of a disk starts in the same column
	LC_ALL=C.UTF-8 "$PY" - <<-EOF2 "$output"
		import sys, unicodedata
		def width(s):
		    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)
		at = {width(l[:l.rindex("rnbd")]) for l in sys.argv[1].encode("utf-8", "surrogateescape").decode("utf-8", "replace").splitlines()}
		sys.exit(len(at) != 1 and str(at))
	EOF2
}

@test "locales change nothing in JSON, CSV, Prometheus text and numbers" {
	local l
	export LOCPATH=$BATS_TEST_TMPDIR
	for l in de_DE fr_FR; do
		localedef -i $l -f UTF-8 "$LOCPATH/$l.UTF-8"
		[ "$(LC_ALL=$l.UTF-8 locale decimal_point)" = , ]
	done
	for args in "stats -j" "stats -o csv" "stats -o prom" "device list" "session list -j" "stats --totals" \
		"session list -o csv" "path list -j" "path list -o csv" "device list -j" "device list -o csv" "status -j" "show cl1@srv1 -j" \
		"server export list -j" "server client list -o csv" "server port list -j" "config show -j"; do
		# shellcheck disable=SC2086
		adm 0 $args
		want=$output
		for l in de_DE.UTF-8 fr_FR.UTF-8 C.UTF-8; do
			# shellcheck disable=SC2086
			LC_ALL=$l adm 0 $args
			[ "$output" = "$want" ]
		done
	done
}

@test "the documents of these tests are valid" { all_valid; }
