# SPDX-License-Identifier: GPL-2.0
# Sourced by both, what runs on the host (lib.bash) and what runs in guests (vm/guest.bash).
# shellcheck shell=bash

# nap [US]: so long, 50 ms where it is not said, below a second; without a process
nap() {
	local seconds
	printf -v seconds 0.%06d "${1:-50000}"
	[[ -n ${NAP-} ]] || exec {NAP}<> <(:)
	read -rt "$seconds" -u "$NAP" || :
}
