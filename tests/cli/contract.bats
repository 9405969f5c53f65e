#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What every command owes, taken from the command table.
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

@test "every command in every state: one valid document, the right exit code" {
	"$PY" "$CLI/contract.py" states "$RNBDADM" "$REC"
}

@test "the same as CSV, where there is any" {
	"$PY" "$CLI/contract.py" csv "$PLAIN" "$REC"
}

@test "no command starts a process" {
	local line n=0
	own_root
	while read -r line; do
		printf '%q ' "$PLAIN" --test-time "$TIME" --test-root "$ROOT"
		# where it fails it may not have come to what starts one
		printf '%s </dev/null >/dev/null 2>&1 || echo $? %q >>%q\n' "$line" "${line#*.nl }" "$BATS_TEST_TMPDIR/failed"
		n=$((n + 1))
	done < <("$PY" "$CLI/contract.py" lines "$PLAIN" "$REC") >"$BATS_TEST_TMPDIR/all"
	((n > 60))
	# what the shell runs, and nothing beside it
	strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=execve,execveat bash "$BATS_TEST_TMPDIR/all" || :
	[ "$(grep -cF "execve(\"$PLAIN\"" "$BATS_TEST_TMPDIR/trace")" = "$n" ]
	[ "$(grep -c exec "$BATS_TEST_TMPDIR/trace")" = $((n + 1)) ]
	diff "$BATS_TEST_TMPDIR/failed" - <<-END
		11 server access diff $CLI/access.conf
		11 check
	END
}

@test "no command starts a process by sysfs" {
	local line n=0 dir=$BATS_TEST_TMPDIR
	load sysfs-tree
	sysfs_tree "$dir/tree"
	tree_session cl1@srv2 "round-robin (RR: 0)" -1
	tree_path cl1@srv2 ip:10.0.0.1@ip:10.0.0.3 connected rxe0 42110 "10 40960 20 81920 0 1" "0 0" "1 2" "3 4"
	tree_server cl7@here ip:10.0.0.7@ip:10.0.0.1 "7 70 8 80"
	tree_server cl7@here ip:10.0.1.7@ip:10.0.1.1 "7 70 8 80"
	tree_open sdb cl7@here vol1 rw 0
	while read -r line; do
		# what a change leaves behind the next does not find
		cp -r "$dir/tree" "$dir/root$n"
		printf '%q ' "$PLAIN" --test-time "$TIME" --test-root "$dir/root$n" --backend sysfs
		printf '%s </dev/null >/dev/null 2>&1 || echo $? "%s" >>%q\n' "$line" "$line" "$dir/failed"
		n=$((n + 1))
	# the path would be waited for
	done < <("$PY" "$CLI/contract.py" lines "$PLAIN" | sed '/path add/s/$/ --no-wait/') >"$dir/all"
	((n > 60))
	strace -f -qq -o "$dir/trace" -e trace=execve,execveat bash "$dir/all" || :
	# all were run to their ends; what is only written to a file changes nothing here
	diff "$dir/failed" - <<-END
		9 session add cl1@srv9 --path 10.0.0.9
		9 session remove cl1@srv2 --force
		1 map vol9 --session cl1@srv1
		1 resize rnbd0 +10G
		7 server export close sdb --all --force
		9 server export revalidate ram0
		9 server port list
		9 server port drain mlx5_0:1 --force
		9 server port undrain mlx5_1:1
		9 server access show
		9 server access apply $CLI/access.conf
		9 server access diff $CLI/access.conf
		9 server access test vol0 --peer old1 --access ro
		9 server access close --force
		9 server access open --force
		9 server export add /dev/sdb --allow hv
		9 server export remove vol0
		9 server peer add web1 --auth none --session web1 --from 10.0.0.9
		9 server peer remove old1
		9 stats latency
		8 rds status
		8 rds socket
		8 rds connection
		8 rds stats
		8 rds ping 10.0.0.2 -c 1
		11 rds check
		11 check
	END
	[ "$(grep -cF "execve(\"$PLAIN\"" "$dir/trace")" = "$n" ]
	[ "$(grep -c exec "$dir/trace")" = $((n + 1)) ]
}

@test "valgrind: no command makes a mistake that the sanitizers do not see, as text and as JSON" {
	local all=$BATS_TEST_TMPDIR/all conf=$BATS_TEST_TMPDIR/conf check form
	check=(valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=42)
	printf '%s\n' '[session cl1@srv9]' 'path = 10.0.0.9' 'mp-policy = rr' '[device d]' 'session = cl1@srv9' 'device-path = vol9' >"$conf"
	"$PY" "$CLI/contract.py" lines "$PLAIN" | grep -vE '^(monitor|completion|metadata|schema|help|version)( |$)' >"$all"
	(($(wc -l <"$all") >= 52))
	printf '%s\n' "config apply $conf" "remap rnbd2 --recreate" >>"$all"
	sed -i 's/^stats$/stats --per-cpu --latency/' "$all"
	make -s -C "$CLI/unit" ../../../build/cli-unit/each
	# resize, as the list tells no other size then; what there is not; check
	printf '%s\n' "1 resize" "11 server" "11 check" >"$all.want"
	own_root
	world changes
	for form in text json; do
		"${check[@]}" "$TOP/build/cli-unit/each" "$all" "$all.codes" "${R[@]}" -o $form >"$all.$form" 2>&1 || { cat "$all.$form"; return 1; }
		cat "$all.codes"
		grep -v ^0 "$all.codes" | cut -d ' ' -f 1,2 | diff - "$all.want"
	done
	replay monitor-overrun
	run --separate-stderr -0 "${check[@]}" "$PLAIN" "${R[@]}" monitor --diff --full -j
	valid any
}

@test "every change: --force where something can be in use, --dry-run, --idempotent, --wait, the lock" {
	"$PY" "$CLI/contract.py" changes "$PLAIN" "$REC"
}

@test "what takes I/O away: refused without --force, done with it, on a terminal as elsewhere, and nothing asks" {
	local n=0 line conf=$BATS_TEST_TMPDIR/conf
	printf '%s\n' '[session cl1@srv9]' 'path = 10.0.0.9' >"$conf"
	# lose STATUS HOW ARGS..: on a system of its own
	lose() {
		local root=$BATS_TEST_TMPDIR/root.$((n += 1)) command
		cp -r "$REC/root" "$root"
		case "$*" in
		*revalidate*) replay revalidate-shrank ;;
		*"server access open"*) replay access-closed ;;
		*"server access"* | *"export remove"* | *"peer remove"*) replay access-busy ;;
		*) replay changes ;;
		esac
		command=("$PLAIN" "${R[@]}" --test-root "$root" "${@:3}")
		case $2 in
		alone) run "-$1" setsid "${command[@]}" </dev/null ;;
		terminal) run "-$1" script -qec "$(printf '%q ' "${command[@]}")" /dev/null </dev/null ;;
		esac
		echo "$output"
	}
	while read -r line; do
		for how in alone terminal; do
			# shellcheck disable=SC2086
			{
				lose 7 $how $line
				lose 0 $how $line --force
			}
		done
	done <<-END
		path disconnect cl1@srv1
		path disconnect --all
		path disconnect cl1@srv1 10.0.0.2
		session remove cl1@srv1
		path remove cl1@srv1 10.0.0.2
		path reconnect cl1@srv1 10.0.0.2
		server client disconnect cl7@here
		server path disconnect cl8@here 10.0.0.1
		server export close sdb --all
		server export revalidate sdb
		server port drain mlx5_0:1
		server access apply $CLI/access.conf
		server access close
		server access open
		server export remove vol0
		server peer remove old1
		remap rnbd0 --recreate
		unmap rnbd0
		config apply --prune=all $conf
	END
}

@test "every help: 80 columns, every option, two examples, the same by -h, --help and help" {
	"$PY" "$CLI/contract.py" help "$PLAIN" "$REC"
}

@test "every key of JSON is a field of -F all, and the other way round" {
	"$PY" "$CLI/contract.py" fields "$PLAIN" "$REC"
}

@test "schemas: valid, alike in what they share, and they refuse what is wrong" {
	"$PY" "$CLI/contract.py" schemas "$PLAIN" "$REC"
}

@test "schemas: what earlier releases printed is still valid" {
	"$PY" "$CLI/contract.py" frozen "$CLI"/golden/[0-9]*
}

@test "schemas: those in the binary are those in the tree" {
	[ "$("$PLAIN" schema)" = "$(cd "$TOP/rnbdadm/schema" && ls ./*.json | sed 's/^..//; s/.json$//' | grep -v '^common$' | sort)" ]
	for t in $("$PLAIN" schema --list); do
		"$PLAIN" schema "$t" | cmp - "$TOP/build/schema/$t.json"
	done
	adm 0 schema -j
	valid rnbdadm.schema/1
	fails 4 not_found schema sesion
	[[ $stderr == *session* ]]
}

@test "help on topics" {
	adm 0 help exit-codes
	golden help-exit-codes.txt
	adm 0 help selectors
	[[ $output == *gid:GID* ]]
	adm 0 help fields device
	[[ $output == *size_bytes* ]]
	adm 0 help map -j
	valid rnbdadm.help/1
	adm 0 map --help --json
	valid rnbdadm.help/1
	fails 2 usage help fields
	fails 2 usage help fields bird
	fails 2 usage help mapp
	[[ $stderr == *"did you mean map"* ]]
}

@test "-- before the verb" {
	for w in list nosuch; do
		alone 2 session -- $w
		[[ $stderr == "rnbdadm: session: '--' comes after the verb of 'session'"* && $stderr != *"did you mean"* ]]
	done
	alone 2 -- session list
	[[ $stderr == *"'--' comes after the command"* && $stderr != *"did you mean"* ]]
}

@test "help and version need neither /sys nor netlink" {
	R=(--nl-replay /nonexistent --test-root /nonexistent)
	adm 0 map -h
	adm 0 version
	[[ $output == "rnbdadm "* ]]
	adm 0 -V
	[[ $output == "rnbdadm "* ]]
	adm 0 version -j
	valid rnbdadm.version/1
	[ "$(jqv '.family_version == null')" = true ]
	adm 0 -Vj
	valid rnbdadm.version/1
}

@test "version -v" {
	adm 0 version -v
	[[ $output == *"libnl 3."*"jansson 2."*"family rnbd 1"*"rtrs_core loaded"*"rnbd_client 0.1"*"rnbd_server not loaded"* ]]
	adm 0 version -j
	valid rnbdadm.version/1
	[ "$(jqv .family_version)" = 1 ]
	[ "$(jqv '.modules[] | select(.name == "rnbd_client").version')" = 0.1 ]
}

@test "metadata: JSON with and without -j" {
	adm 0 metadata
	valid rnbdadm.metadata/1
	((${#lines[@]} > 100))
	adm 0 metadata -j
	valid rnbdadm.metadata/1
	[ "${#lines[@]}" = 1 ]
}

@test "every file of tests looks at the documents that it got" {
	for f in $(grep -lE '^[[:space:]]*(adm|alone|fails) ' "$CLI"/*.bats); do
		[[ $(tail -n 1 "$f") == *all_valid* ]] || { echo "${f##*/} does not end with all_valid"; return 1; }
	done
}

@test "in guests, too: JSON that neither run nor adm_is gets is written to a file, which document gets" {
	local file line to n=0
	while IFS=: read -r file line; do
		to=$(grep -oE ' >[^ >]+' <<<"$line" | head -n 1)
		grep -qF "document \"\$(<${to# >})\"" "$file" || { echo "${file##*/}: $line"; return 1; }
		n=$((n + 1))
	done < <(grep -E '"\$ADM".* (-[a-z]*[jp][a-z]*|--json|--pretty|-o jsonl?|--output=jsonl?)( |$|"|\))' "$TOP"/tests/vm/*.ba{ts,sh} |
		grep -vE '\b(run|adm_is) ')
	((n > 5))
}

@test "no exit code but those of the table" {
	"$PY" "$CLI/contract.py" codes
}

@test "the documents of these tests are valid" { all_valid; }
