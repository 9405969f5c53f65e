# SPDX-License-Identifier: GPL-2.0
# Writes a manual page: its prose comes from PAGE.in, what a line `.\"@ WORD` of it stands for from the command table.
#
#	rnbdadm metadata >TABLE
#	awk -v page=rnbdadm-session -f expand.awk TABLE rnbdadm-session.8.in
#
# SYNOPSIS, COMMAND NAME (heading of the prose after it), OPTIONS (of the page's commands), GLOBAL, JSON, EXIT, CHECKS

# A JSON string without its quotes
function text(s) {
	sub(/^ *("[a-z_]+": )?/, "", s)
	sub(/,$/, "", s)
	if (s == "null") return ""
	gsub(/^"|"$/, "", s)
	gsub(/\\"/, "\"", s)
	gsub(/\\\\/, "\\", s)
	return s
}

function key(s) {
	if (!match(s, /"[a-z_]+": /)) return ""
	return substr(s, RSTART + 1, RLENGTH - 4)
}

# For a line of text
function roff(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s
}

# For an argument of a macro
function word(s) {
	gsub(/"/, "\"\"", s)
	return s ~ /^[][()|,.:;?!]+$/ ? "\\&" s : s ~ / / ? "\"" s "\"" : s
}

function upper(s) { return toupper(substr(s, 1, 1)) substr(s, 2) }

# Lines of at most 78 columns
function wrap(s,   n, i, w, line, out) {
	n = split(s, w, / +/)
	for (i = 1; i <= n; i++) {
		# a sentence begins a line
		if (line != "" && (length(line) + length(w[i]) > 77 || line ~ /[.!?]$/)) {
			out = out line "\n"
			line = ""
		}
		# no line of text begins like a request
		if (line == "" && w[i] ~ /^[.']/) w[i] = "\\&" w[i]
		line = line (line == "" ? "" : " ") w[i]
	}
	return out line
}

# An option of the table as the item of a list
function item(o) {
	printf ".It %s", short[o] ? "Fl " short[o] " , " : ""
	if (argument[o] == "none") printf "Fl \\-%s\n", long[o]
	else if (argument[o] == "required") printf "Fl \\-%s Ns = Ns Ar %s\n", long[o], metavar[o]
	else printf "Fl \\-%s Ns Op = Ns Ar %s\n", long[o], metavar[o]
	print wrap(roff(help[o]) ".")
}


function synopsis(   c, i) {
	for (c = 1; c <= ncmds; c++) {
		if (manual[c] != page) continue
		print ".Nm rnbdadm"
		print ".Cm " name[c]
		for (i = 1; i <= nargs[c]; i++)
			printf ".%sAr %s%s\n", needed[c, i] ? "" : "Op ", word(arg[c, i]), many[c, i] ? " ..." : ""
		print ".Op Ar OPTIONS"
	}
}

function command(n,   c, i, o) {
	for (c = 1; c <= ncmds && (name[c] != n || manual[c] != page); c++);
	if (c > ncmds) {
		print FILENAME ": no command '" n "' in the table for this page" >"/dev/stderr"
		exit failed = 1
	}
	told[c] = 1
	print ".Ss " n
	print wrap(roff(upper(summary[c])) ".")
	if (nopts[c]) {
		print ".br"
		print "Options:"
		for (i = 1; i <= nopts[c]; i++)
			printf ".Fl \\-%s%s\n", long[opts[c, i]], i < nopts[c] ? " ," : " ."
	}
	if (naliases[c]) print ".br\nAlso:"
	for (i = 1; i <= naliases[c]; i++)
		printf ".Cm %s%s\n", alias[c, i], i < naliases[c] ? " ," : " ."
	print ".Pp"
}

# Each option once, with its commands where not all have it
function options(   c, i, k, n, all, seen, list, users, id) {
	for (c = 1; c <= ncmds; c++) {
		if (manual[c] != page) continue
		all++
		for (i = 1; i <= nopts[c]; i++) {
			id = long[opts[c, i]] SUBSEP help[opts[c, i]]
			if (!(id in users)) list[++n] = opts[c, i]
			seen[id]++
			users[id] = users[id] (users[id] ? ", " : "") name[c]
		}
	}
	if (!n) {
		print "None but the global ones."
		return
	}
	print ".Bl -tag -width Ds"
	for (k = 1; k <= n; k++) {
		item(list[k])
		id = long[list[k]] SUBSEP help[list[k]]
		if (seen[id] < all) print ".br\n" wrap("Of: " roff(users[id]) ".")
	}
	print ".El"
}

function globals(   o) {
	print ".Bl -tag -width Ds"
	for (o = 1; o <= no; o++)
		if (global[o] == "true" && hidden[o] != "true") item(o)
	print ".El"
}

# The documents of the page's commands; the page about documents has all
function json(   c, k, n, list, users) {
	for (c = 1; c <= ncmds; c++) {
		if (manual[c] != page && page != "rnbdadm-json") continue
		if (!(schema[c] in users)) list[++n] = schema[c]
		users[schema[c]] = users[schema[c]] (users[schema[c]] ? ", " : "") name[c]
	}
	print ".Bl -tag -width Ds"
	for (k = 1; k <= n; k++) printf ".It Li %s\n%s\n", list[k], wrap(roff(users[list[k]]) ".")
	print ".El"
}

function codes(   i) {
	print ".Bl -tag -width 99"
	for (i = 1; i <= ncodes; i++) printf ".It %s\n.Li %s :\n%s\n", code[i], codename[i], wrap(roff(meaning[i]) ".")
	print ".It 128+n"
	print "Killed by signal n."
	print ".El"
}

function checks(   i) {
	for (i = 1; i <= nchecks; i++) {
		print ".It Cm " checkid[i]
		print wrap(roff(upper(checkwhat[i])) ".")
		print ".br\n" wrap("Cause: " roff(checkcause[i]) ".")
		print ".br\n" wrap("Cure: " roff(checkcure[i]) ".")
	}
}

FNR == 1 { file++ }

file == 1 {
	match($0, /^ */)
	depth = RLENGTH
	k = key($0)
	if (depth == 2) top = k
	else if (depth == 4 && /\{$/) {
		if (top == "commands") ncmds++
		else if (top == "options") { no++; global[no] = "true" }
		else if (top == "exit_codes") ncodes++
		else if (top == "checks") nchecks++
	} else if (depth == 6) {
		sub6 = k
		if (top == "commands") {
			if (k == "name") name[ncmds] = text($0)
			else if (k == "summary") summary[ncmds] = text($0)
			else if (k == "manual") manual[ncmds] = text($0)
			else if (k == "schema") schema[ncmds] = text($0)
		} else if (top == "exit_codes") {
			if (k == "code") code[ncodes] = text($0)
			else if (k == "name") codename[ncodes] = text($0)
			else if (k == "meaning") meaning[ncodes] = text($0)
		} else if (top == "checks") {
			if (k == "id") checkid[nchecks] = text($0)
			else if (k == "description") checkwhat[nchecks] = text($0)
			else if (k == "cause") checkcause[nchecks] = text($0)
			else if (k == "cure") checkcure[nchecks] = text($0)
		}
	} else if (depth == 8 && top == "commands") {
		if (sub6 == "aliases") alias[ncmds, ++naliases[ncmds]] = text($0)
		else if (sub6 == "arguments" && /\{$/) nargs[ncmds]++
		else if (sub6 == "options" && /\{$/) opts[ncmds, ++nopts[ncmds]] = ++no
	} else if (depth == 10 && sub6 == "arguments") {
		if (k == "name") arg[ncmds, nargs[ncmds]] = text($0)
		else if (k == "required") needed[ncmds, nargs[ncmds]] = text($0) == "true"
		else if (k == "repeat") many[ncmds, nargs[ncmds]] = text($0) == "true"
	}
	if ((depth == 10 && top == "commands" && sub6 == "options") || (depth == 6 && top == "options")) {
		if (k == "long") long[no] = text($0)
		else if (k == "short") short[no] = text($0)
		else if (k == "argument") argument[no] = text($0)
		else if (k == "metavar") metavar[no] = text($0)
		else if (k == "hidden") hidden[no] = text($0)
		else if (k == "description") help[no] = text($0)
	}
	next
}

# A heading needs prose
bare && /^\.(\\"@|Sh) / {
	print FILENAME ": no prose for '" bare "'" >"/dev/stderr"
	exit failed = 1
}

{ bare = "" }

/^\.\\"@ / {
	sub(/^\.\\"@ /, "")
	if ($1 == "SYNOPSIS") synopsis()
	else if ($1 == "COMMAND") { sub(/^COMMAND /, ""); command(bare = $0) }
	else if ($1 == "OPTIONS") options()
	else if ($1 == "GLOBAL") globals()
	else if ($1 == "JSON") json()
	else if ($1 == "EXIT") codes()
	else if ($1 == "CHECKS") checks()
	else print ".\\\"@ " $0
	next
}

{ print }

END {
	if (failed) exit 1
	for (c = 1; c <= ncmds; c++) {
		if (manual[c] != page || told[c]) continue
		print FILENAME ": no prose for '" name[c] "'" >"/dev/stderr"
		failed = 1
	}
	exit failed
}
