#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Writes netlink recordings for `rnbdadm --nl-replay` from a compact description.

    nlgen.py DESCRIPTION.json OUTPUT

A description is a list of answers, in the order in which requests are expected:

    {"family": true}                        nlctrl knows the family; false: it does not; "policies": how many it takes
                                            "of": "rds" is another one, and so is what follows
    {"dump": "session-get", "objects": [{"name": "s1", "state": 0}, ...]}
    {"do": "map", "request": {"device-path": "vol0", ...}, "reply": {...}}
    {"do": "unmap", "error": "EBUSY", "extack": "text", "attr": "force"}
    {"event": "device-ntf", "object": {...}}
    {"overrun": true}                      events were dropped
    {"lost": true}                         the family is gone

With "request" the request must be equal to it; without, only command and dump flag count. "attr" names
the attribute at fault ("path.server-addr"), "miss" one that is missing; both need "request", which "any":
true keeps from being compared. "intr": true marks a torn dump. "warning" is the extack text of a success, "refusal" says
who refuses what is done; the end of a dump does not say it, as in Linux 6.1.
Names and numbers come from the specification and from its header.
"""
import errno
import json
import os
import re
import socket
import struct
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FAMILY, CTRL = 0x1C, 0x10
REFUSALS = ("other", "unloaded", "namespace", "session", "access-list", "server")
NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK, NLM_F_DUMP = 1, 2, 4, 0x300
NLM_F_DUMP_INTR, NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x10, 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE, NLA_F_NESTED = 2, 3, 0x8000


PREFIX = {}


def load_spec(name):
    """{set: {attribute: (type, nested set)}}; the file is regular enough for indentation."""
    sets, cur, attr = {}, None, None
    part = None
    with open(os.path.join(TOP, "include/netlink/%s.yaml" % name)) as f:
        for line in f:
            if re.match(r"\S", line):
                part = line.strip()
            if part != "attribute-sets:":
                continue
            m = re.match(r"( +)(name|type|nested-attributes|name-prefix): (\S+)", line)
            if not m:
                continue
            depth, key, value = len(m[1]), m[2], m[3]
            if depth == 4 and key == "name":
                cur, in_set = sets.setdefault(value, {}), value
            elif depth == 4 and key == "name-prefix":
                PREFIX[in_set] = value.removeprefix("rnbd-a-")
            elif depth == 8 and key == "name":
                attr = cur[value] = [None, None]
            elif depth == 8 and key == "type":
                attr[0] = value
            elif depth == 8:
                attr[1] = value
    return sets


def load_numbers(header):
    """Numbers of the enumerators of the header."""
    with open(os.path.join(TOP, "include/uapi/linux", header)) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    numbers = {}
    for body in re.findall(r"enum[^{]*\{(.*?)\}", text, flags=re.S):
        n = 0
        for item in body.split(","):
            m = re.match(r"\s*(\w+)(?:\s*=\s*(\d+))?\s*$", item)
            if not m:
                continue
            n = int(m[2]) if m[2] else n
            numbers[m[1]] = n
            n += 1
    return numbers


FAMILIES = {"rnbd": (load_spec("rnbd"), load_numbers("rnbd.h")), "rds": (load_spec("rds"), load_numbers("rds_netlink.h"))}
OF = "rnbd"
SPEC, NUMBERS = FAMILIES[OF]


def use(name):
    global OF, SPEC, NUMBERS
    OF, (SPEC, NUMBERS) = name, FAMILIES[name]


def upper(s):
    return s.upper().replace("-", "_")


def attr_number(attr_set, name):
    return NUMBERS["%s_A_%s%s" % (OF.upper(), upper(PREFIX.get(attr_set, attr_set + "-")), upper(name))]


def cmd_number(cmd):
    return NUMBERS["%s_CMD_%s" % (OF.upper(), upper(cmd))]


def cmd_set(cmd):
    if OF == "rds":
        return "connection"
    return cmd.split("-")[0] if "-" in cmd else "device"


def pad(b):
    return b + b"\0" * (-len(b) % 4)


def nla(number, payload):
    return pad(struct.pack("<HH", 4 + len(payload), number) + payload)


def sockaddr(text, port=0):
    """ip:ADDR or gid:ADDR as the kernel's struct, host byte order for the family."""
    kind, addr = text.split(":", 1)
    if kind == "gid":
        raw = socket.inet_pton(socket.AF_INET6, addr)
        sid = struct.pack(">QQ", 0x13F0000 | (port or 1234), 2**64 - 1)
        return struct.pack("=H", 27) + struct.pack(">HI", 0xFFFF, 0) + raw + sid + bytes(8)
    if ":" in addr:
        raw = socket.inet_pton(socket.AF_INET6, addr)
        return struct.pack("=H", 10) + struct.pack(">HI", port, 0) + raw + bytes(4)
    return struct.pack("=H", 2) + struct.pack(">H", port) + socket.inet_pton(socket.AF_INET, addr) + bytes(8)


def value(kind, v):
    if isinstance(v, dict) and "hex" in v:
        return bytes.fromhex(v["hex"])
    if kind == "string":
        return (v if isinstance(v, bytes) else v.encode()) + b"\0"
    if kind == "binary":
        addr, _, port = v.partition("#")
        return sockaddr(addr, int(port or 0))
    if kind == "flag":
        return b""
    return {"u8": struct.Struct("<B"), "u16": struct.Struct("<H"), "u32": struct.Struct("<I"), "s32": struct.Struct("<i"),
            "u64": struct.Struct("<Q")}[kind].pack(v)


def attrs(attr_set, obj):
    """Encodes an object; lists are attributes that come more than once. "@N" is attribute N as it is."""
    out = b""
    for name, v in obj.items():
        if name.startswith("@"):
            out += nla(int(name[1:]), bytes.fromhex(v))
            continue
        kind, nested = SPEC[attr_set][name]
        for one in v if isinstance(v, list) else [v]:
            if kind == "nest":
                out += nla(attr_number(attr_set, name) | NLA_F_NESTED, attrs(nested, one))
            else:
                out += nla(attr_number(attr_set, name), value(kind, one))
    return out


def find(attr_set, data, base, names):
    """Offset of an attribute in an encoded set that starts at @base."""
    number = attr_number(attr_set, names[0])
    off = 0
    while off < len(data):
        size, kind = struct.unpack_from("<HH", data, off)
        if kind & 0x3FFF == number:
            if len(names) == 1:
                return base + off
            return find(SPEC[attr_set][names[0]][1], data[off + 4:off + size], base + off + 4, names[1:])
        off += size + (-size % 4)
    raise KeyError(".".join(names))


def nlmsg(kind, flags, payload):
    return pad(struct.pack("<IHHII", 16 + len(payload), kind, flags, 1, 1) + payload)


def genl(family, cmd, flags, payload):
    return nlmsg(family, flags, struct.pack("<BBH", cmd, 1, 0) + payload)


def tlvs(answer, data, attr_set):
    out = b""
    text = answer.get("extack") or answer.get("warning")
    if text:
        out += nla(1, text.encode() + b"\0")
    if "attr" in answer:
        out += nla(2, struct.pack("<I", find(attr_set, data, 20, answer["attr"].split("."))))
    if "refusal" in answer and "do" in answer:
        out += nla(3, struct.pack("<I", REFUSALS.index(answer["refusal"])))
    if "miss" in answer:
        *nest, last = answer["miss"].split(".")
        inner = attr_set
        for n in nest:
            inner = SPEC[inner][n][1]
        out += nla(5, struct.pack("<I", attr_number(inner, last)))
        if nest:
            out += nla(6, struct.pack("<I", find(attr_set, data, 20, nest)))
    return out


def ack(code, extra, request):
    flags = NLM_F_CAPPED | (NLM_F_ACK_TLVS if extra else 0)
    return nlmsg(NLMSG_ERROR, flags, struct.pack("<i", -code) + request[:16] + extra)


def number_of(error):
    return getattr(errno, error) if isinstance(error, str) else error


OPS = ("session-get", "path-get", "device-get", "export-get", "map", "unmap", "stats-get", "stats-reset", "remap", "resize",
       "export-close", "session-set", "session-disconnect", "session-add", "session-del", "path-add", "path-del", "path-reconnect",
       "path-disconnect", "export-revalidate", "port-get", "port-drain", "port-undrain", "device-set", "access-get", "access-set",
       "access-test")


def family(answer):
    use(answer.get("of", "rnbd"))
    request = genl(CTRL, 3, NLM_F_REQUEST | NLM_F_ACK, nla(2, OF.encode() + b"\0"))
    yield b"s", request
    if not answer["family"]:
        yield b"R", ack(errno.ENOENT, b"", request)
        return
    if OF == "rds":
        ops, groups = ("connection-get",), ("monitor",)
    else:
        ops, groups = OPS, ("session", "path", "device", "export", "access")
    ops, groups = answer.get("ops", ops), answer.get("groups", groups)
    body = nla(2, OF.encode() + b"\0") + nla(1, struct.pack("<H", FAMILY)) + nla(3, struct.pack("<I", answer.get("version", 1)))
    body += nla(6 | NLA_F_NESTED, b"".join(
        nla(i + 1 | NLA_F_NESTED, nla(1, struct.pack("<I", cmd_number(c)))) for i, c in enumerate(ops)))
    body += nla(7 | NLA_F_NESTED, b"".join(
        nla(i | NLA_F_NESTED, nla(2, struct.pack("<I", 16 + i)) + nla(1, g.encode() + b"\0"))
        for i, g in enumerate(groups, 1)))
    yield b"R", genl(CTRL, 1, 0, body)
    yield b"R", ack(0, b"", request)
    if OF == "rnbd":
        yield from policy(answer.get("policies", 3))


def policy(policies):
    """What attributes a command takes: of session-set, after those of a nest, a policy below that number."""
    op = cmd_number("session-set")
    yield b"s", genl(CTRL, 10, NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP, nla(2, b"rnbd\0") + nla(10, struct.pack("<I", op)))
    if not policies:
        yield b"R", nlmsg(NLMSG_DONE, NLM_F_MULTI, struct.pack("<i", -errno.EOPNOTSUPP))
        return
    number = attr_number("session", "mp-policy")
    block = genl(CTRL, 10, NLM_F_MULTI, nla(9 | NLA_F_NESTED, nla(op | NLA_F_NESTED, nla(1, struct.pack("<I", 1)))))
    for n, most in ((0, 77), (1, policies - 1)):
        limits = nla(1, struct.pack("<I", 3)) + nla(4, struct.pack("<Q", 0)) + nla(5, struct.pack("<Q", most))
        block += genl(CTRL, 10, NLM_F_MULTI, nla(8 | NLA_F_NESTED, nla(n | NLA_F_NESTED, nla(number | NLA_F_NESTED, limits))))
    yield b"R", block + nlmsg(NLMSG_DONE, NLM_F_MULTI, struct.pack("<i", 0))


def dump(answer):
    cmd, attr_set = answer["dump"], cmd_set(answer["dump"])
    data = attrs(attr_set, answer.get("request", {}))
    request = genl(FAMILY, cmd_number(cmd), NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP, data)
    yield (b"S" if "request" in answer and not answer.get("any") else b"s"), request
    intr = NLM_F_DUMP_INTR if answer.get("intr") else 0
    block = b""
    for obj in answer.get("objects", []):
        msg = genl(FAMILY, cmd_number(cmd), NLM_F_MULTI | intr, attrs(attr_set, obj))
        if block and len(block) + len(msg) > 16384:
            yield b"R", block
            block = b""
        block += msg
    if block:
        yield b"R", block
    if answer.get("cut"):
        return
    code, extra = number_of(answer.get("error", 0)), tlvs(answer, data, attr_set)
    flags = NLM_F_MULTI | intr | (NLM_F_ACK_TLVS if extra else 0)
    yield b"R", nlmsg(NLMSG_DONE, flags, struct.pack("<i", -code) + extra)


def do(answer):
    cmd, attr_set = answer["do"], cmd_set(answer["do"])
    data = attrs(attr_set, answer.get("request", {}))
    request = genl(FAMILY, cmd_number(cmd), NLM_F_REQUEST | NLM_F_ACK, data)
    yield (b"S" if "request" in answer and not answer.get("any") else b"s"), request
    if "errno" in answer:
        yield b"E", struct.pack("<I", number_of(answer["errno"]))
        return
    if "reply" in answer:
        yield b"R", genl(FAMILY, cmd_number(cmd), 0, attrs(attr_set, answer["reply"]))
    yield b"R", ack(number_of(answer.get("error", 0)), tlvs(answer, data, attr_set), request)


def event(answer):
    cmd = answer["event"]
    yield b"M", genl(FAMILY, cmd_number(cmd), 0, attrs(cmd_set(cmd), answer.get("object", {})))


def overrun(_):
    yield b"O", b""


def lost(_):
    yield b"M", genl(CTRL, 2, 0, nla(1, struct.pack("<H", FAMILY)))


def write(path, answers):
    use("rnbd")
    with open(path, "wb") as f:
        f.write(b"rnbdnl1\n")
        for answer in answers:
            kinds = {"family": family, "dump": dump, "do": do, "event": event, "overrun": overrun, "lost": lost}
            kind = kinds[next(k for k in answer if k in kinds)]
            for record, data in kind(answer):
                f.write(record + struct.pack("<I", len(data)) + data)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as description:
        write(sys.argv[2], json.load(description))
