# SPDX-License-Identifier: GPL-2.0
# Completion of rnbdadm(8) for fish. What may come next is asked of the tool itself.

function __rnbdadm_complete
	set -lx PATH $PATH /usr/local/sbin /usr/sbin
	set -l words (commandline -opc) (commandline -ct | string replace -ra '[\\\\"\']' '')
	for line in (rnbdadm __complete (math (count $words) - 1) -- $words 2>/dev/null)
		if string match -q \t'*' -- $line
			__fish_complete_path (commandline -ct)
		else
			echo -- $line
		end
	end
end

complete -c rnbdadm -f -k -a '(__rnbdadm_complete)'
