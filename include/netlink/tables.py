#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tables of names and types for rnbdadm, from specifications as the YNL generator reads them.

usage: tables.py YNL-TREE FAMILY"""
import os
import sys

TYPES = {"u8": "NL_U8", "u16": "NL_U16", "u32": "NL_U32", "s32": "NL_S32", "u64": "NL_U64", "string": "NL_STR",
         "binary": "NL_BIN", "flag": "NL_FLAG_T", "nest": "NL_NEST"}


def upper(*words):
    return "-".join(words).upper().replace("-", "_")


def lower(*words):
    return "-".join(words).replace("-", "_")


def print_set(family, name, done):
    """Those that it nests come before it."""
    if name in done:
        return
    done.add(name)
    spec = family.attr_sets[name]
    attrs = [a for a in spec.attrs.values() if a["type"] != "pad"]
    for a in attrs:
        if a["type"] == "nest":
            print_set(family, a["nested-attributes"], done)
    prefix = spec.yaml.get("name-prefix", "%s-a-%s-" % (family.name, name))
    table, bound = lower(family.name, name), upper(prefix + "max")
    print("static const struct nl_attr_desc %s_attrs[%s + 1] = {" % (table, bound))
    for a in attrs:
        more = ", .nest = &%s_set" % lower(family.name, a["nested-attributes"]) if a["type"] == "nest" else ""
        more += ", .list = true" if a.get("multi-attr") else ""
        print('\t[%s] = { .name = "%s", .type = %s%s },' % (upper(prefix + a.name), a.name, TYPES[a["type"]], more))
    print("};\n")
    print("static const struct nl_attr_set %s_set = { ARRAY_SIZE(%s_attrs), %s_attrs };\n" % (table, table, table))


def print_family(family):
    done, f = set(), lower(family.name)
    tops = list(dict.fromkeys(op["attribute-set"] for op in family.msgs.values()))
    for name in tops:
        print_set(family, name, done)
    for name in tops:
        print("_Static_assert(%s <= ATTR_MAX, \"tb[] holds each set\");" % upper(family.name, "a", name, "max"))
    print("_Static_assert(%s < OPS_MAX, \"each command has a bit in the ops of struct nl\");\n" % upper(family.name, "cmd", "max"))
    print("static const struct nl_cmd_desc %s_cmds[%s + 1] = {" % (f, upper(family.name, "cmd", "max")))
    for op in family.msgs.values():
        print('\t[%s] = { "%s", &%s_set },' % (upper(family.name, "cmd", op.name), op.name, lower(family.name, op["attribute-set"])))
    print("};\n")
    print("const struct nl_family netlink_family_%s = {" % f)
    print("\t%s_FAMILY_NAME, %s_FAMILY_VERSION, %s_cmds, ARRAY_SIZE(%s_cmds),\n};" % (upper(f), upper(f), f, f))


sys.path.insert(0, os.path.join(sys.argv[1], "tools/net/ynl"))
from lib import SpecFamily  # noqa: E402

print("/* SPDX-License-Identifier: GPL-2.0 */")
print("/* Do not edit directly, auto-generated from include/netlink/%s.yaml by regen.sh */" % sys.argv[2])
print()
print_family(SpecFamily(os.path.join(sys.argv[1], "Documentation/netlink/specs", sys.argv[2] + ".yaml"), exclude_ops=[]))
