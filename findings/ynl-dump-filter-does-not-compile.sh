#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ynl-gen-c.py of Linux 6.12 (linux-source-6.12 of Debian 12): from a specification with "kernel-policy: per-op", which is for kernels before
# 6.2, a dump that has a request of its own becomes C that does not compile. There are two tables of attributes then, ..._do_nl_policy
# and ..._dump_nl_policy; the operation names a third, ..._nl_policy, which nobody makes, and the header declares the first alone.
# Exit status 0. Without the request the table is ..._nl_policy, and all is well.
# One would guess: the dump shares the table of the get, or has one of its own, as with "split".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download linux-source-6.12=6.12.117-1~deb12u1 \
	python3-attr=22.2.0-1 python3-jsonschema=4.10.3-1 python3-pyrsistent=0.18.1-1+b3 python3-yaml=6.0-3+b2 >/dev/null
for deb in *.deb; do dpkg -x "$deb" .; done
export PYTHONPATH=$PWD/usr/lib/python3/dist-packages
tar -xf usr/src/linux-source-6.12.tar.xz --strip-components=1 --wildcards \
	'*/MAINTAINERS' '*/tools/net/ynl/*' '*/Documentation/netlink/*.yaml'

# generated [REQUEST]: tables that the operation names, and those that there are
generated() {
	cat >Documentation/netlink/specs/toy.yaml <<SPEC
# SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
name: toy
protocol: genetlink-legacy
kernel-policy: per-op
doc: Things.
attribute-sets:
  -
    name: thing
    attributes:
      -
        name: id
        type: u32
      -
        name: name
        type: string
operations:
  list:
    -
      name: thing-get
      doc: One thing, or those of a name.
      attribute-set: thing
      do:
        request:
          attributes: [ id ]
        reply:
          attributes: [ id, name ]
      dump:
        ${1:-reply}:
          attributes: [ name ]
        ${1:+reply:
          attributes: [ name ]}
SPEC
	python3 tools/net/ynl/ynl-gen-c.py --mode kernel --source --spec Documentation/netlink/specs/toy.yaml -o toy.c
	sed -nE 's/^const struct nla_policy (\w+)\[.*/there is \1/p; s/.*\.policy\t*= (\w+),/named is \1/p' toy.c
}

{
	generated
	echo "with a filter:"
	generated request
} | tee seen
diff seen - <<'SEEN'
there is toy_thing_get_nl_policy
named is toy_thing_get_nl_policy
with a filter:
there is toy_thing_get_do_nl_policy
there is toy_thing_get_dump_nl_policy
named is toy_thing_get_nl_policy
SEEN
