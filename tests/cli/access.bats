#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# The access list of a server: its sections, what is loaded, changes of it, questions, decisions.
# shellcheck shell=bats disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	load helpers
	prepare
}

setup() {
	load helpers
	load config-host
	config_host
	# documents have its name as it was given
	cd "$CLI" && LIST=access.conf
	SAVED=$ROOT/etc/rnbd/conf.d/90-saved.conf
	replay access
}

# wrong PLACE TEXT: the configuration of stdin has this mistake
wrong() {
	conf
	fails 2 usage config validate "$CONF"
	[[ $stderr == *"$CONF:$1: $2"* ]] || { echo "$stderr"; return 1; }
}

# warned TEXT: the configuration of stdin is right, but
warned() {
	conf
	adm 0 config validate "$CONF"
	[[ $stderr == *"warning: $CONF:"*"$1"* ]]
}

PEER=$'[peer a]\nauth = none\nsession = a\nfrom = ip:10.0.0.1\n'

@test "validate: what is wrong with a peer" {
	world empty
	wrong 1:7 "the name of a peer holds letters, digits and . _ - alone" <<<"[peer a@b]"
	wrong 1:7 "the name of a peer has 1 to 63 bytes" <<<"[peer $(printf 'a%.0s' {1..64})]"
	wrong 1:7 "peer 'a' needs 'auth = none'" <<<"[peer a]"
	wrong 2:7 "authentication is not there yet: peers come with 'auth = none'" <<<$'[peer a]\nkey = a'
	wrong 2:8 "'key' is not a value of auth" <<<$'[peer a]\nauth = key'
	wrong 1:7 "peer 'a' has auth = none, so it needs session, too" <<<$'[peer a]\nauth = none\nfrom = 10.0.0.1'
	wrong 1:7 "peer 'a' has auth = none, so it needs from, too" <<<$'[peer a]\nauth = none\nsession = a'
	wrong 5:11 "session: the name of a session holds neither '/' nor '.'" <<<"${PEER}session = a.b"
	wrong 5:8 "from: '10.0.0.1/8' has bits set behind the first 8" <<<"${PEER}from = 10.0.0.1/8"
	wrong 5:8 "from: '33' is not a number of bits from 0 to 32" <<<"${PEER}from = 10.0.0.0/33"
	wrong 5:8 "from: 'host:x' is not ip:ADDR[/BITS] or gid:GID[/BITS]" <<<"${PEER}from = host:x"
	wrong 5:8 "from: 'nowhere' is not an address" <<<"${PEER}from = nowhere"
	wrong 5:16 "max-sessions: 0 is not between" <<<"${PEER}max-sessions = 0"
	wrong 5:14 "max-memory: '1X' is not a size" <<<"${PEER}max-memory = 1X"
	wrong 6:1 "max-devices is given twice, first in line 5" <<<"${PEER}max-devices = 1"$'\n'"max-devices = 2"
	wrong 5:1 "[peer] has no key 'form'; did you mean from" <<<"${PEER}form = 1"
	wrong 5:7 "peer 'a' is defined twice, first at $CONF:1" <<<"$PEER$PEER"
}

@test "validate: what is wrong with an export" {
	world empty
	wrong 5:9 "the name of an export neither begins with '/' nor holds '//'" <<<"${PEER}[export /a]"
	wrong 5:9 "the name of an export has no part '..'" <<<"${PEER}[export a/../b]"
	wrong 5:9 "export 'v' has no path" <<<"${PEER}[export v]"
	wrong 6:8 "path: 'dev' does not begin with '/'" <<<"$PEER"$'[export v]\npath = dev'
	wrong 6:8 "path: '/vv" <<<"$PEER"$'[export v]\npath = /'"$(printf 'v%.0s' {1..2047})"
	wrong 6:8 "path: no part of it is '..'" <<<"$PEER"$'[export v]\npath = /dev/../etc/shadow'
	wrong 6:8 "path: /dev/ is a directory; the name of such an export ends with '/', too" <<<"$PEER"$'[export v]\npath = /dev/'
	wrong 6:9 "allow: 'rx' is not ro, rw or migration" <<<"$PEER"$'[export v]\nallow = a:rx\npath = /v'
	wrong 6:9 "there is no [peer b]" <<<"$PEER"$'[export v]\nallow = a, b:ro\npath = /v'
	wrong 6:9 "there is no [peer web]; did you mean web1?" <<<"${PEER/peer a/peer web1}"$'[export v]\nallow = web\npath = /v'
	wrong 6:11 "'mmap' is not a value of io-mode" <<<"$PEER"$'[export v]\nio-mode = mmap\npath = /v'
	wrong 6:7 "path: a value is needed" <<<"$PEER"$'[export v]\npath ='
	wrong 6:1 "[export] has no key 'max-iops'" <<<"$PEER"$'[export v]\nmax-iops = 7\npath = /v'
	warned "export 'v' allows nobody" <<<"$PEER"$'[export v]\npath = /v'
}

@test "validate: peers whom one client could be" {
	world empty
	two() { printf '[peer a]\nauth=none\nsession=%s\nfrom=%s\n[peer b]\nauth=none\nsession=%s\nfrom=%s\n' "$@" | conf; }
	for same in "a* 10.0.0.0/8 *b 10.1.0.0/16" "a?c 10.0.0.1 ab* 10.0.0.1" "* fd00::/8 x fd00::1" "a*b*c 0.0.0.0/0 *abc* 10.0.0.1"; do
		# shellcheck disable=SC2086
		set -f && two $same
		adm 0 config validate "$CONF"
		[[ $stderr == *"peer 'b' overlaps with 'a': a client that fits both is 'a', which comes first"* ]] || { echo "$same"; return 1; }
	done
	for other in "a* 10.0.0.0/8 b* 10.0.0.0/8" "a* 10.0.0.0/8 a* 11.0.0.0/8" "* fd00::1 * 10.0.0.1" "a?c 10.0.0.1 ac 10.0.0.1"; do
		# shellcheck disable=SC2086
		two $other
		adm 0 config validate "$CONF"
		[ -z "$stderr" ] || { echo "$other: $stderr"; return 1; }
	done
	set +f
	# as long as they may be
	two "$(printf '*a%.0s' {1..127})" 10.0.0.1 "$(printf 'a*%.0s' {1..127})" 10.0.0.1
	adm 0 config validate "$CONF"
	[[ $stderr == *overlaps* ]]
}

@test "config show and save: the sections, as text and as JSON; the text, and back" {
	cp "$LIST" "$ROOT/etc/rnbd/conf.d/10-access.conf"
	world access
	adm 0 config show
	golden access-config.txt
	adm 0 config show -j
	golden access-config.json
	adm 0 config save
	golden access-save.txt
	printf '%s\n' "$output" >"$CONF"
	adm 0 config save -j
	golden access-save.json
	# what was saved is what runs
	adm 0 server access diff "$CONF"
	[ -z "$output$stderr" ]
	adm 0 config save --session cl1@srv1
	[[ $output != *"[peer"* ]]
	# neither an open server nor one that is not there has a list
	for w in access-open access-unloaded; do
		world $w
		adm 0 config save
		[[ $output == *"[session cl1@srv1]"* && $output != *"[peer"* ]]
	done
}

@test "show" {
	FORMS="txt json" shown access-show server access show
	adm 0 server access show hv
	[[ ${#lines[@]} = 3 && ${lines[2]} == "hv "* ]]
	adm 0 server access show vms/ -j
	[ "$(jqv '[.peers, [.exports[].name]] | tojson')" = '[[],["vms/"]]' ]
	fails 4 not_found server access show vol9
	[[ $stderr == *"neither a peer nor an export 'vol9'"*"did you mean vol0"* ]]
	replay access-open
	adm 0 server access show
	[ "$output" = "state open  number 1  denied 0" ]
	replay access-closed
	adm 0 server access show
	[[ $output == "state closed  number 14"* && ${#lines[@]} = 1 ]]
	# what has no name and no address
	replay access-odd
	adm 0 server access show -j
	[ "$(jqv '[(.peers, .exports) | length] | tojson')" = '[2,2]' ]
	replay access-unloaded
	fails 8 unavailable server access show
	replay no-operation
	fails 9 unsupported server access show
}

@test "server client list, server export list: peers, and names of the list" {
	adm 0 server client list
	[[ ${lines[0]} == "NAME "*" PEER "* && ${lines[1]} == "cl7@here  hv "* ]]
	adm 0 server client list -j
	[ "$(jqv '[.clients[].peer] | tojson')" = '["hv","hv"]' ]
	adm 0 server export list
	[[ ${lines[0]} == "DEVICE  NAME "* && ${lines[1]} == "ram0    vol0 "* ]]
	adm 0 server export list -j
	[ "$(jqv '[.exports[].clients[] | .peer, .export] | unique | tojson')" = '["hv","vol0"]' ]
	adm 0 server export show sdb -j
	valid rnbdadm.export/1
}

@test "diff: what differs, and where it stands" {
	WANT=11 FORMS="txt json" shown access-diff server access diff "$LIST"
	[[ $stderr == *": 6 changes"* ]]
	replay access-same
	adm 0 server access diff "$LIST"
	[ -z "$output$stderr" ]
	sed 's/10.0.0.7/10.0.0.8/' "$LIST" >"$BATS_TEST_TMPDIR/c"
	adm 11 server access diff "$BATS_TEST_TMPDIR/c"
	[ "$output" = "~ peer old1  from  ip:10.0.0.7 -> ip:10.0.0.8" ]
	# which peer comes first counts
	awk -v RS= '/old1\]/ { first = $0 "\n"; next } { rest = rest $0 "\n\n" } END { print first; print rest }' "$LIST" >"$BATS_TEST_TMPDIR/c"
	adm 11 server access diff "$BATS_TEST_TMPDIR/c"
	[ "$output" = "~ list  order  hv, old1 -> old1, hv" ]
	replay access-open
	adm 11 server access diff "$LIST" -j
	[ "$(jqv '[.changes[0] | .object, .key, .old, .new] | tojson')" = '["list","state","open","listed"]' ]
	[ "$(jqv '[.changes[1:][] | [.action, .object, .name]] | tojson')" = \
		'[["add","peer","hv"],["add","peer","old1"],["add","export","vms/"],["add","export","vol0"]]' ]
	echo '[session s]
path = 10.0.0.1' >"$BATS_TEST_TMPDIR/c"
	for c in diff apply; do
		fails 4 not_found server access $c "$BATS_TEST_TMPDIR/c"
		[[ $stderr == *"has neither [peer] nor [export]"* ]]
	done
}

@test "apply: what is sent, what comes back" {
	replay access-asked
	adm 0 server access apply "$LIST" -j
	[ "$(jqv '[.changed, .state, .number, (.changes | length), .ended] | tojson')" = '[true,"listed",15,6,[]]' ]
	adm 0 server access apply "$LIST"
	[ -z "$output$stderr" ]
	# in a dry run the kernel is asked what would end, and no more
	replay access-asked-dry
	adm 0 server access apply "$LIST" -n
	[ "$output" = "rnbdadm server access apply $LIST" ]
	adm 0 server access apply "$LIST" -nj
	[ "$(jqv '[.changed, .dry_run, (.plan[0][:3] | join(" "))] | tojson')" = '[false,true,"server access apply"]' ]
	# nothing is sent where nothing differs
	replay access-same
	adm 0 server access apply "$LIST" -vj --trace
	[ "$(jqv .changed)" = false ]
	[[ $stderr == *"nothing to change"* && $stderr != *access-set* ]]
	# another one was quicker
	replay access-late
	fails 6 conflict server access apply "$LIST"
	[[ $stderr == *"another one has changed the list meanwhile"*"kernel: the list is number 15"*"hint: try again"* ]]
	replay access-invalid
	fails 1 failed server access apply "$LIST"
	[[ $stderr == *"kernel: it is odd"* ]]
	replay access-denied
	fails 5 permission server access apply "$LIST"
	adm 0 server access apply "$LIST" -n
	[[ $stderr == *"the openings that this would end are not known"* ]]
}

@test "apply, close: refused with what would end, done with --force" {
	replay access-busy
	fails 7 busy server access apply "$LIST"
	[[ $stderr == *": refused, 2 openings and 1 path would end"* ]]
	[[ $stderr == *"cl7@here has vol1 open (rw): there is no export vol1"* ]]
	[[ $stderr == *"cl8@here ip:10.0.0.8@ip:10.0.0.1: no peer of the list takes it"*"hint: --force ends them"* ]]
	FORMS=json shown access-busy server access apply "$LIST" --force
	# what was ended is told without being asked for
	adm 0 server access apply "$LIST" --force
	[ "${stderr_lines[0]}" = "rnbdadm: server access apply $LIST: 2 openings and 1 path ended" ]
	[[ ${stderr_lines[1]} == "  cl7@here has vol1 open (rw): there is no export vol1" && ${#stderr_lines[@]} = 4 ]]
	adm 0 server access apply "$LIST" --force -q
	[ -z "$stderr" ]
	fails 7 busy server access close
	[[ $stderr == *"the server is to be closed"* ]]
	adm 0 server access close --force -j
	[ "$(jqv '[.state, .changed, (.changes | length), (.ended | length)] | tojson')" = '["closed",true,6,3]' ]
	replay access-busy-dry
	adm 0 server access apply "$LIST" --force -n
	[ "$output$stderr" = "rnbdadm server access apply $LIST --force" ]
	# what came meanwhile is not ended without a word
	replay access-busy-again
	fails 7 busy server access apply "$LIST"
	[[ $stderr == *"kernel: openings and paths would end"* ]]
	# it ended by itself before it had a name
	replay access-gone
	adm 0 server access close --force -j
	[ "$(jqv '[.ended[].name] | tojson')" = '["id:99","id:98"]' ]
	replay access-closed
	adm 0 server access close -v
	[[ $stderr == *"nothing to change"* ]]
}

# ends_for WHY SED..: the list with this change ends an opening of vol0, for this reason
ends_for() {
	sed "${@:2}" "$LIST" >"$BATS_TEST_TMPDIR/new"
	fails 7 busy server access apply "$BATS_TEST_TMPDIR/new"
	[[ $stderr == *"has vol0 open (ro): $1"* ]] || { echo "$stderr"; return 1; }
	[[ $stderr == *"hint: --force ends them; 'rnbdadm server access diff $BATS_TEST_TMPDIR/new' shows the whole change"* ]]
}

@test "apply: why an opening would end" {
	replay access-moved
	ends_for "the export has another path" s,/vol0,/vol7,
	ends_for "the export has another io-mode" '/vol0$/a io-mode = fileio'
	ends_for "the export no longer allows hv that" '/export vol0/,$s/hv[^,]*,//'
	ends_for "there is no export vol0" 's/export vol0/export vol1/'
	ends_for "peer hv no longer takes this session" s,10.0.0.0/24,10.1.0.0/24,
	# the changes are not those of a file
	fails 7 busy server access close
	[[ $stderr == *"hint: --force ends them" ]] || { echo "$stderr"; return 1; }
}

@test "a peer that the list does not have: who, and whom it has" {
	replay access-no-peer
	fails 4 not_found server access test vol0 --peer vh
	[[ $stderr == *": the list has no peer 'vh'"*"hint: did you mean hv?"* ]]
	fails 4 not_found server export add /dev/sdb --allow '*:ro,vh'
	[[ $stderr == *": the list has no peer 'vh'"*"hint: did you mean hv?"* ]]
	fails 4 not_found server access test vol0 --peer database
	[[ $stderr == *": the list has no peer 'database'"*"hint: 'rnbdadm server access show' shows them, 'rnbdadm server peer add' adds one" ]]
}

@test "open: with --force alone" {
	replay access-closed
	fails 7 busy server access open
	[[ $stderr == *"refused, every client could map every device below dev_search_path"* ]]
	adm 0 server access open --force -j
	[ "$(jqv '[.state, .changed] | tojson')" = '["open",true]' ]
	replay access-open
	adm 0 server access open
}

@test "test: the kernel answers, the configuration says where" {
	cp "$LIST" "$ROOT/etc/rnbd/conf.d/10-access.conf"
	world access-yes
	adm 0 server access test vol0 --peer old1 --access ro
	[ "$output" = "yes: old1 has ro (/etc/rnbd/conf.d/10-access.conf:13)" ]
	adm 0 server access test vol0 --session old1@srv1 --from 10.0.0.7 --access ro -j
	[ "$(jqv '[.allowed, .peer, .path, .granted, .reason, .source[-2:]] | tojson')" = \
		'[true,"old1","/dev/vg0/vol0","ro",null,"13"]' ]
	world access-less
	adm 11 server access test vol0 --peer old1
	[ "$output" = "no: old1 has ro (/etc/rnbd/conf.d/10-access.conf:13), asked for is rw" ]
	[[ $stderr == *"vol0: denied: access-mode"* ]]
	world access-nothing
	adm 11 server access test vms/disk17 --peer old1
	[ "$output" = "no: vms/ allows old1 nothing (/etc/rnbd/conf.d/10-access.conf:15)" ]
	world access-nowhere
	adm 11 server access test vol9 --peer old1
	[ "$output" = "no: there is no export vol9" ]
	world access-nobody
	adm 11 server access test vol0 --session x --from 10.0.0.7 -j
	[ "$(jqv '[.allowed, .reason, .peer, .error.code] | tojson')" = '[false,"no-key",null,"differs"]' ]
	world access-shut
	adm 11 server access test vol0 --peer old1
	[ "$output" = "no: the server is closed" ]
	world access-all
	adm 0 server access test vol0 --peer old1
	[ "$output" = "yes: the server is open" ]
	for w in "" "--peer a --session s" "--session s" "--from 10.0.0.1" "--session s --from x" "--session s --from host:a"; do
		# shellcheck disable=SC2086
		fails 2 usage server access test vol0 $w
	done
	# the message has no room for it
	fails 2 usage server access test "$(printf %065000d 7)" --peer old1
	[[ $stderr == *"the device-path is too long"* ]]
}

@test "export add, export remove" {
	world access-set
	adm 0 server export add /dev/sdb --allow hv:ro -j
	[ "$(jqv '[.changed, .number, (.changes[0] | .action, .object, .name, .new)] | tojson')" = \
		'[true,15,"add","export","sdb","path=/dev/sdb io-mode=blockio allow=hv:ro"]' ]
	adm 0 server export add /srv/iso/ --name iso/ --allow '*:ro' --io-mode fileio -n
	[ "$output" = "rnbdadm server export add /srv/iso/ --name=iso/ '--allow=*:ro' --io-mode=fileio" ]
	fails 2 usage server export add /srv/iso/ --allow hv
	fails 2 usage server export add /srv/iso/ --name iso --allow hv
	fails 2 usage server export add /dev/sdb
	fails 2 usage server export add /dev/sdb --allow hv:rx
	fails 2 usage server export add dev --allow hv
	fails 6 conflict server export add /dev/vg0/vol0 --allow hv
	[[ $stderr == *"the list has it already, and otherwise"* ]]
	adm 0 server export add /dev/vg0/vol0 --allow hv,old1:ro --idempotent
	fails 6 conflict server export add /dev/vg0/vol0 --allow hv --idempotent
	adm 0 server export remove vol0 -j
	[ "$(jqv '[.changes[] | .action, .name] | tojson')" = '["remove","vol0"]' ]
	fails 4 not_found server export remove vol1
	[[ $stderr == *"did you mean vol0"* ]]
	adm 0 server export remove vol1 --idempotent
	# it may come later, and a device of characters is none
	adm 0 server export add /dev/sdz --allow hv
	[ "$stderr" = "rnbdadm: warning: /dev/sdz is not there (ENOENT): nobody can open export 'sdz' until it is" ]
	mkdir "$ROOT/etc/d"
	adm 0 server export add /etc/d --allow hv
	[ "$stderr" = "rnbdadm: warning: /etc/d is neither a block device nor a file: nobody can open export 'd'" ]
	truncate -s 1M "$ROOT/etc/f"
	for there in /etc/f "/etc/d/%SESSNAME%/f"; do
		adm 0 server export add "$there" --allow hv
		[ -z "$stderr" ]
	done
	world access-open
	fails 6 conflict server export add /dev/sdb --allow hv
	[[ $stderr == *"the server is open and has no list"* ]]
	world access-busy
	fails 7 busy server export remove vol0
	adm 0 server export remove vol0 --force
}

@test "peer add, peer remove; --save" {
	world access-set
	WEB=(server peer add web1 --auth none --session 'web*' --from 10.0.0.9 --max-memory 256M)
	adm 0 "${WEB[@]}" -j
	[ "$(jqv '.changes[0].new')" = "session=web* from=ip:10.0.0.9 max-memory=268435456" ]
	fails 2 usage server peer add web1 --auth none --session w
	fails 2 usage server peer add web1 --session w --from 10.0.0.9
	# who is saved must be known there
	fails 6 conflict server export add /dev/sdb --allow web1 --save
	[[ $stderr == *"--save: the configuration has no [peer web1]"* ]]
	adm 0 "${WEB[@]}" --save -n
	[ ! -e "$SAVED" ]
	adm 0 "${WEB[@]}" --save
	adm 0 server export add /dev/sdb --allow web1:ro --save
	output=$(<"$SAVED")
	golden access-saved.ini
	adm 0 config validate
	fails 6 conflict "${WEB[@]}" --save
	[[ $stderr == *"the configuration has it already (/etc/rnbd/conf.d/90-saved.conf:"* ]]
	fails 2 usage "${WEB[@]}" --save --config "$LIST"
	# it leaves what it may open, too
	adm 0 server peer remove old1 -j
	[ "$(jqv '[.changes[] | [.action, .name, .key, .new]] | tojson')" = \
		'[["remove","old1",null,null],["change","vol0","allow","hv:rw"]]' ]
	fails 4 not_found server peer remove old2
	cp "$LIST" "$ROOT/etc/rnbd/conf.d/10-access.conf"
	adm 0 server peer remove old1
	[[ $stderr == *"warning: /etc/rnbd/conf.d/10-access.conf:6 has it still: 'server access apply' brings it back"* ]]
}

@test "config diff, config apply: the list comes first" {
	{ cat "$LIST" && printf '\n[session cl1@srv1]\npath = 10.0.0.1@10.0.0.2\n[session cl1@srv2]\npath = 10.0.0.1@10.0.0.3\n'; } >"$CONF"
	world access
	adm 11 config diff "$CONF"
	[[ ${lines[0]} == "~ peer hv  max-sessions"* && $output == *" to add"* ]]
	adm 11 config diff "$CONF" -j
	[ "$(jqv '[(.access.changes | length), .access.number, .access.error] | tojson')" = '[6,14,null]' ]
	adm 11 config diff "$CONF" --only session:cl1@srv1 -j
	[ "$(jqv 'has("access") | not')" = true ]
	# a server without a list is no failure
	world access-unloaded
	adm 0 config apply "$LIST"
	[[ $stderr == *"warning: [peer] and [export] are left out"*"modprobe rnbd_server"* ]]
	world access-both
	adm 0 config apply "$LIST" -n
	[ "$output" = "rnbdadm server access apply $LIST" ]
	adm 0 config apply "$LIST" -j
	[ "$(jqv '[.access.changed, .access.number] | tojson')" = '[true,15]' ]
	# what it refuses does not keep back the rest
	world access-refused
	adm 3 config apply "$LIST" -j
	[ "$(jqv '[.access.changed, .access.error.code, .error.code, .mode] | tojson')" = '[false,"busy","partial","sync"]' ]
	[[ $stderr == *"refused, 2 openings and 1 path would end"*"the access list was not loaded"* ]]
	adm 7 config apply "$LIST" --stop-on-error
}

@test "monitor access: granted, denied, revoked, loaded" {
	replay access-events
	adm 0 monitor access
	golden access-events.txt
	adm 0 monitor access -j
	output=$(sed -E 's/"monotonic_ns":[0-9]+/"monotonic_ns":0/' <<<"$output")
	valid any
	golden access-events.json
	adm 0 monitor access --filter reason=no-key,event=denied
	[[ ${#lines[@]} = 2 && ${lines[1]} == *"denied access  path  peer=- session=- from=ip:10.0.0.99 reason=no-key (ENOKEY) suppressed=211" ]]
	adm 0 monitor access --count 2
	[ "${#lines[@]}" = 3 ]
	adm 0 monitor access --full -j
	valid any
}

@test "completion: peers, exports, modes" {
	# offers WORDS.. OFFERS: these may come at the last of the words
	offers() {
		adm 0 __complete $(($# - 1)) -- rnbdadm "${@:1:$#-1}"
		[ "$(cut -f 1 <<<"$output" | tr '\n' ' ')" = "${!#}" ]
	}
	offers server access show '' "hv old1 image vms/ vol0 "
	offers server export remove '' "image vms/ vol0 "
	offers server peer remove '' "hv old1 "
	offers server access test '' "image vms/ vol0 "
	offers server access test vol0 --peer '' "hv old1 "
	offers server export add /dev/sdb --allow '' "hv old1 * "
	offers server export add /dev/sdb --allow 'hv:' "hv:ro hv:rw hv:migration "
	offers server export add /dev/sdb --allow 'hv:ro,ol' "hv:ro,old1 "
}

@test "10,000 exports and 1,000 peers: read, compared and sent within a second" {
	local i
	for ((i = 0; i < 1000; i++)); do
		echo "[peer p$i]"$'\n'"auth = none"$'\n'"session = p$i"$'\n'"from = 10.0.0.$((i % 250))"
	done >"$BATS_TEST_TMPDIR/many"
	for ((i = 0; i < 10000; i++)); do
		echo "[export vol$i]"$'\n'"path = /dev/vg0/vol$i"$'\n'"allow = p$((i % 1000)), p1:ro"
	done >>"$BATS_TEST_TMPDIR/many"
	replay access-many
	run -0 bash -c 'TIMEFORMAT=%U; time "$@" >/dev/null' _ "$PLAIN" "${R[@]}" server access apply "$BATS_TEST_TMPDIR/many"
	# the kernel's part is measured in a guest
	awk -v s="${lines[-1]}" 'BEGIN { exit !(s < 1.0) }'
}

@test "the documents of these tests are valid" { all_valid; }
