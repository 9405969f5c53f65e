# SPDX-License-Identifier: GPL-2.0
# For the tests of check: a host with nothing wrong, of each test's own, and what makes it another.
# shellcheck shell=bash disable=SC2034,SC2154

check_host() {
	own_root check-root
	world check-good
	IB=/sys/class/infiniband/mlx5_0/ports/1
	NET=/sys/class/net/ens1f0np0
}

# put FILE TEXT
put() {
	mkdir -p "$ROOT/${1%/*}"
	printf '%s\n' "$2" >"$ROOT/$1"
}

gone() { rm -r "${ROOT:?}/$1"; }

# finds STATUS ID OBJECT WORDS: that result, with a cure unless it is ok or skipped; any failure is exit code 11
finds() { untraced finds_ "$@"; }

finds_() {
	ran_ any "$RNBDADM" "${R[@]}" check "$2" -j
	told
	valid rnbdadm.check/1
	printf '%s' "$output" | jq -e --arg status "$1" --arg id "$2" --arg object "$3" --arg words "$4" --argjson rc "$status" '
		$rc == (if .summary.fail > 0 then 11 else 0 end) and
		any(.results[]; .status == $status and .id == $id and (.object // "") == $object and (.message | contains($words)) and
			((.status == "pass" or .status == "skip") or (.hint | length > 0)))' ||
		return
	[[ $1 != warn ]] || adm 11 check "$2" --strict
}
