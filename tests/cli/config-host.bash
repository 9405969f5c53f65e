# SPDX-License-Identifier: GPL-2.0
# For the tests of the configuration: a system and a file of each test's own.
# shellcheck shell=bash disable=SC2034,SC2154

# config_host: an empty system
config_host() {
	ROOT=$BATS_TEST_TMPDIR/root CONF=$BATS_TEST_TMPDIR/a.conf
	mkdir -p "$ROOT"/{run,dev,etc/rnbd/conf.d,sys/class/infiniband/mlx5_0}
}

# On a system of its own: what an apply leaves there, if only for a while, no other test finds
replay() { cp -r "$REC/root/." "$ROOT" && world "$1"; }

# conf [FILE]: stdin becomes the configuration
conf() { cat >"${1:-$CONF}"; }
