# SPDX-License-Identifier: GPL-2.0
# Completion of rnbdadm(8) for bash. What may come next is asked of the tool itself.
# shellcheck shell=bash

_rnbdadm() {
	local IFS=$'\n' rest=${COMP_LINE:0:COMP_POINT} words=() offers=() i at piece word stays

	# bash splits at @, : and =, too: what no blank separates is one word
	for ((i = 0; i <= COMP_CWORD; i++)); do
		at=${rest#"${rest%%[![:blank:]]*}"}
		piece=${at:0:${#COMP_WORDS[i]}}
		if ((i == 0)) || [[ $at != "$rest" || ! $rest ]]; then
			words+=("$piece")
		else
			words[-1]+=$piece
		fi
		rest=${at:${#piece}}
	done
	# the part of the word that bash will not replace
	[[ $piece == *[!"$COMP_WORDBREAKS"]* ]] || piece=''
	stays=${words[-1]%"$piece"} stays=${stays//[\\\"\']/}
	# but an @ it does
	stays=${stays%@}
	words=("${words[@]//[\\\"\']/}")

	mapfile -t offers < <(PATH=$PATH:/usr/local/sbin:/usr/sbin rnbdadm __complete $((${#words[@]} - 1)) -- "${words[@]}" 2>/dev/null)
	COMPREPLY=()
	if [[ ${offers[0]-} == $'\t'* ]]; then
		compopt -o default
		return
	fi
	offers=("${offers[@]%%$'\t'*}")
	offers=("${offers[@]#"$stays"}")
	if [[ ${offers[*]} != *[!A-Za-z0-9_@%+=:,./$IFS-]* ]]; then
		COMPREPLY=("${offers[@]}")
	elif [[ $piece == [\"\']* ]]; then
		# within quotes nothing can be quoted
		for word in "${offers[@]}"; do
			[[ $word == *[\"\'\\\`\$!]* ]] || COMPREPLY+=("$word")
		done
	else
		for word in "${offers[@]}"; do
			[[ $word != *[!A-Za-z0-9_@%+=:,./-]* ]] || printf -v word %q "$word"
			COMPREPLY+=("$word")
		done
	fi
	# more of the same word may follow
	if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=@:] ]]; then
		compopt -o nospace
	fi
}

complete -o nosort -F _rnbdadm rnbdadm 2>/dev/null || complete -F _rnbdadm rnbdadm
