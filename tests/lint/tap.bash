# SPDX-License-Identifier: GPL-2.0
# TAP for the lint scripts: `check NAME CMD...` is one test; CMD prints what is wrong and nothing else (status 1 without a
# word is that of a grep which found nothing). `finish` ends it.
# shellcheck shell=bash disable=SC1091,SC2034

. "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
cd "$ROOT" || exit

tap_n=0 tap_bad=0

verdict() {
	tap_n=$((tap_n + 1))
	if [[ -z $2 ]]; then
		echo "ok $tap_n $1"
	else
		echo "not ok $tap_n $1"
		head -n 60 <<<"$2" | sed 's/^/# /'
		tap_bad=$((tap_bad + 1))
	fi
}

check() {
	local name=$1 out rc=0
	shift
	out=$("$@" 2>&1) || rc=$?
	[[ $rc -le 1 || -n $out ]] || out="$1: exit status $rc"
	verdict "$name" "$out"
}

# quiet KEY CMD..: CMD with the files of stdin, each of which it judges by itself; KEY is what else its words depend on. A file of this
# name and these bytes that a whole quiet run had is not looked at again.
quiet() {
	local dir sum file
	local -A mark=()
	dir=$CACHE/quiet/$(key "$@" </dev/null) && mkdir -p "$dir" || return
	while read -r sum file; do
		[[ -e $dir/$sum-${file//\//-} ]] || mark[$file]=$dir/$sum-${file//\//-}
	done < <(xargs -r -d '\n' sha256sum)
	((${#mark[@]})) || return 0
	sum=$("${@:2}" "${!mark[@]}" 2>&1) && [[ -z $sum ]] && touch "${mark[@]}" || printf '%s\n' "${sum:-$2: exit status $?}"
}

skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n $1 # SKIP $2"
}

finish() {
	echo "1..$tap_n"
	exit $((tap_bad > 0))
}

# What is in the tree: in a clone what git knows or would add, else all but build products
tree() {
	if [[ -e .git ]] && command -v git >/dev/null; then
		git ls-files --cached --others --exclude-standard -- "$@" | sort -u
	else
		find "${@:-.}" -type f ! -path './build/*' ! -name '*.o' ! -name '*.ko' ! -name '*.mod*' ! -name '.*.cmd' | sed 's,^\./,,' | sort
	fi | while IFS= read -r f; do
		[[ -f $f ]] && printf '%s\n' "$f"
	done
}

sources() { tree "$@" | grep -E '\.[ch]$'; }

# Without those that a program wrote, so of its shape
handwritten() {
	sources "$@" | xargs -r -d '\n' awk '
		tolower($0) ~ /do not edit|auto-?generated/ { made[FILENAME] }
		FNR == 5 { nextfile }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in made)) print ARGV[i] }'
}
