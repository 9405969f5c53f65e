# SPDX-License-Identifier: GPL-2.0
# awk -f common.awk common.json TOPIC.json: that schema with the definitions of common.json in their places.
FNR == NR {
	if (match($0, /^    "[a-z_]+": /)) {
		name = substr($0, 6, RLENGTH - 8)
		text[name] = $0
	} else if (name != "") {
		text[name] = text[name] "\n" $0
	}
	if ($0 ~ /^    }/)
		name = ""
	next
}
match($0, /"common\.json#\/\$defs\/[a-z_]+"/) {
	name = substr($0, RSTART + 20, RLENGTH - 21)
	if (!(name in text)) {
		print FILENAME ": no definition of " name >"/dev/stderr"
		exit 1
	}
	sub(/,$/, "", text[name])
	print text[name] (/,$/ ? "," : "")
	next
}
{ print }
