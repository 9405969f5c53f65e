#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the recordings and the system trees of the tests: recordings.py DIRECTORY"""
import os
import sys

import nlgen

UP = {"family": True}
S1, S2 = "cl1@srv1", "cl1@srv2"
SINCE = 1795248002000000000       # 2026-11-21T08:00:02Z
U64 = 2**64 - 1


def session(sid, name, state=0, policy=0, up=1, paths=1, devices=1, **more):
    return {"id": sid, "name": name, "role": 0, "state": state, "mp-policy": policy,
            "max-reconnect-attempts": -1, "queue-depth": 512, "max-io-bytes": 131072,
            "paths-connected": up, "paths-configured": paths, "devices": devices, "pinned-bytes": 3 << 20,
            "generation": 7, **more}


def path(pid, sid, sname, src, dst, hca, state=1, **more):
    return {"id": pid, "session-id": sid, "session-name": sname, "name": "%s@%s" % (src, dst), "role": 0,
            "client-addr": src, "server-addr": dst + "#1234", "state": state, "hca-name": hca, "hca-port": 1,
            "connections": 17, "reconnect-attempts": 0, "last-error": 0, "heartbeat-latency-ns": 42110,
            "since-ns": SINCE, "generation": 7, **more}


def device(did, name, sid, sname, dpath, size, access=1, state=1, **more):
    return {"id": did, "name": name, "major": 252, "minor": did - 1, "session-id": sid, "session-name": sname,
            "device-path": dpath, "access-mode": access, "state": state, "size-bytes": size,
            "logical-block-bytes": 512, "physical-block-bytes": 4096, "read-only": int(access == 0),
            "write-cache": 1, "fua": 1, "poll-queues": 0, "hw-queues": 16, "open-count": 0, "last-error": 0,
            "generation": 7, **more}


def cpu(n, rios, rbytes, wios, wbytes, frm=0, to=0, **more):
    return {"cpu": n, "read-ios": rios, "read-bytes": rbytes, "write-ios": wios, "write-bytes": wbytes,
            "failovers": 0, "migrations-from": frm, "migrations-to": to, **more}


def distributions(latency, sg, longest, polling):
    """{le: (reads, writes)} and {entries: requests}, None without end; the longest read and write; completions, polls, most"""
    return {"latency": [{**({"le-ns": le} if le else {}), "read-ios": r, "write-ios": w} for le, (r, w) in latency.items()],
            "sg": [{**({} if n is None else {"entries": n}), "ios": ios} for n, ios in sg.items()],
            "read-latency-max-ns": longest[0], "write-latency-max-ns": longest[1],
            "completions": polling[0], "polls": polling[1], "completions-max": polling[2]}


def stats(pid, name, sid, sname, hca, counts, inflight=0, role=0, **more):
    rios, rbytes, wios, wbytes = counts
    return {"path-id": pid, "path-name": name, "session-id": sid, "session-name": sname, "role": role,
            "hca-name": hca, "hca-port": 1, "read-ios": rios, "read-bytes": rbytes, "write-ios": wios,
            "write-bytes": wbytes, "inflight": inflight, "failovers": 0, "reconnects-ok": 0,
            "reconnects-failed": 0, "heartbeat-latency-ns": 42110, "generation": 7, **more}


P1, P2, P3 = "ip:10.0.0.1@ip:10.0.0.2", "ip:10.0.1.1@ip:10.0.1.2", "ip:10.0.0.1@ip:10.0.0.3"
SETTINGS = {"max-reconnect-attempts": -1, "heartbeat-interval-ms": 5000, "heartbeat-misses": 5, "reconnect-delay-ms": 1000,
            "reconnect-delay-max-ms": 30000, "connect-timeout-ms": 30000, "io-timeout-ms": 0, "no-path-timeout-ms": -1}
# one of modules that tell settings, one of those that do not
SESSIONS = [session(2, S2), session(1, S1, 1, 2, 1, 2, 2, settings=SETTINGS, held=1, **{"poll-queues": 0})]
PATHS = [
    path(1, 1, S1, "ip:10.0.0.1", "ip:10.0.0.2", "mlx5_0"),
    path(2, 1, S1, "ip:10.0.1.1", "ip:10.0.1.2", "mlx5_1", 2, **{"reconnect-attempts": 3, "last-error": -110}),
    path(3, 2, S2, "ip:10.0.0.1", "ip:10.0.0.3", "mlx5_0"),
]
del PATHS[1]["heartbeat-latency-ns"]
DEVICES = [
    device(3, "rnbd2", 2, S2, "ram0", 64 << 20, 0, 2),
    device(1, "rnbd0", 1, S1, "vol0", 20 << 30, **{"open-count": 1}),
    device(2, "rnbd1", 1, S1, "vol1", 1 << 40, **{"open-count": 1}),
]
LATENCY = {1 << 14: (12034, 8112), 1 << 15: (402311, 98113), 1 << 16: (990120, 301554), 1 << 17: (80233, 120010),
           1 << 18: (3021, 9333), 1 << 22: (17, 0), 1 << 23: (0, 40)}
# one that carries much, one that has had nothing to do since its counters were reset, one of modules that count less
STATS = [
    stats(1, P1, 1, S1, "mlx5_0", (123456789, 505678901234, 60001234, 245765054464), 31,
          cpu=[cpu(0, 7716049, 31604931327, 3750077, 15360315904, 12, 9, inflight=1, **distributions(
                   {1 << 15: (402311, 8112)}, {0: 3, 1: 410420}, (32000, 17000), (820846, 400000, 4))),
               cpu(3, 115740740, 474073969907, 56251157, 230404738560, 9, 12, inflight=30, **distributions(
                   {1 << 16: (990120, 301554), None: (0, 1)}, {8: 1291674, None: 1}, (3104112, 5220198), (3000000, 1000000, 16)))],
          **distributions(LATENCY, {0: 3, 1: 410420, 8: 1614474, None: 1}, (3104112, 5220198), (3820846, 1400000, 16))),
    stats(2, P2, 1, S1, "mlx5_1", (81204, 332611993, 40120, 164331520),
          **{"failovers": 3, "reconnects-ok": 1, "reconnects-failed": 7}, **distributions({}, {}, (0, 0), (0, 0, 0))),
    stats(3, P3, 2, S2, "mlx5_0", (10, 40960, 0, 0), cpu=[cpu(1, 10, 40960, 0, 0)]),
]
del STATS[1]["heartbeat-latency-ns"]


C1, C2 = "cl7@here", "cl8@here"
CLIENTS = [session(12, C2, paths=1, up=1, role=1, **{"pinned-bytes": 68 << 20}),
           session(11, C1, paths=2, up=2, devices=2, role=1, **{"pinned-bytes": 136 << 20})]
for c in CLIENTS:
    del c["mp-policy"], c["max-reconnect-attempts"]
CLIENT_PATHS = [path(21, 11, C1, "ip:10.0.0.7", "ip:10.0.0.1", "mlx5_0", role=1),
                path(22, 11, C1, "ip:10.0.1.7", "ip:10.0.1.1", "mlx5_1", role=1),
                path(23, 12, C2, "ip:10.0.0.8", "ip:10.0.0.1", "mlx5_0", role=1)]
for c in CLIENT_PATHS:
    del c["heartbeat-latency-ns"]
CLIENT_STATS = [stats(p["id"], p["name"], p["session-id"], p["session-name"], p["hca-name"], (5, 20480, 7, 28672), role=1)
                for p in CLIENT_PATHS]


def export(eid, name, minor, sid, sname, dpath, size, access=1, **more):
    return {"id": eid, "name": name, "major": 8, "minor": minor, "session-id": sid, "session-name": sname,
            "device-path": dpath, "access-mode": access, "size-bytes": size, "logical-block-bytes": 512,
            "read-only": int(access == 0), "since-ns": SINCE, "generation": 7, **more}


EXPORTS = [export(33, "sdb", 16, 12, C2, "vol1", 1 << 40, 2), export(31, "ram0", 0, 11, C1, "ram0", 64 << 20, 0),
           export(32, "sdb", 16, 11, C1, "vol1", 1 << 40)]


PORTS = [{"hca-name": "mlx5_1", "hca-port": 1, "listening-port": 1234, "drained": 1, "generation": 7},
         {"hca-name": "mlx5_0", "hca-port": 1, "gid": {"hex": "fe80" + 12 * "00" + "0a01"}, "listening-port": 1234, "drained": 0,
          "generation": 7}]


def server(clients=CLIENTS, paths=CLIENT_PATHS, exports=EXPORTS, counters=CLIENT_STATS, ports=PORTS):
    """Before the lists of the client, whose requests are not looked at."""
    return [{"dump": "session-get", "request": {"role": 1}, "objects": clients},
            {"dump": "path-get", "request": {"role": 1}, "objects": paths},
            {"dump": "stats-get", "request": {"role": 1}, "objects": counters},
            {"dump": "export-get", "objects": exports},
            {"dump": "port-get", "objects": ports}]


def lists(sessions=SESSIONS, paths=PATHS, devices=DEVICES, counters=STATS):
    return [{"dump": "session-get", "objects": sessions}, {"dump": "path-get", "objects": paths},
            {"dump": "device-get", "objects": devices}, {"dump": "stats-get", "objects": counters}]


# The second path is down already, and not gone yet
LEAVING = lists(paths=[PATHS[0], dict(PATHS[1], state=4, removing=1)] + PATHS[2:])


def refused(error, **more):
    return [{"dump": c, "error": error, **more}
            for c in ("session-get", "path-get", "device-get", "stats-get", "export-get", "port-get")]


def grown(counters, **add):
    out = []
    for st in counters:
        st = dict(st)
        for k, v in add.items():
            st[k.replace("_", "-")] += v
        out.append(st)
    return out


def hostile():
    names = [b'quo"te', b"back\\slash", b"com,ma", b"new\nline", b"tab\tesc\x1b[31m", b"\x01\x7f", b"bad\xff\xfe",
             b"n" * 254, "e\u0301\u0300combining".encode(), "\u5e45\u5bbd".encode(), b"\xc2\x9b31m", b"", b"=1+1", b" pad "]
    ses, pat, dev, cnt = [], [], [], []
    cli, cpa, exp, por = [], [], [], []
    for i, n in enumerate(names, 1):
        ses.append(session(i, n))
        pat.append(path(i, i, n, "ip:10.1.0.%d" % i, "ip:10.2.0.%d" % i, "mlx5_0"))
        dev.append(device(i, "rnbd%d" % i, i, n, n, 4096))
        cnt.append(stats(i, "ip:10.1.0.%d@ip:10.2.0.%d" % (i, i), i, n, "mlx5_0", (1, 2, 3, 4),
                         **distributions({1 << 16: (1, 3)}, {1: 4}, (5, 6), (7, 8, 9)),
                         cpu=[cpu(0, 1, 2, 3, 4, **distributions({1 << 16: (1, 3)}, {1: 4}, (5, 6), (7, 8, 9)))]))
        cli.append(session(100 + i, n, role=1))
        cpa.append(path(100 + i, 100 + i, n, "ip:10.2.0.%d" % i, "ip:10.1.0.%d" % i, n, role=1))
        exp.append(export(100 + i, n, i, 100 + i, n, n, 4096))
        por.append(dict(PORTS[0], **{"hca-name": n}))
    exp.append(export(99, b"../../../etc", 99, 101, names[0], b"../../../etc", 4096))
    return [UP] + 2 * (server(cli, cpa, exp, [], por) + lists(ses, pat, dev, cnt))


def extreme():
    values = [0, 2**53 + 1, 2**63 - 1, 2**63, U64]
    cnt = [stats(i, "ip:10.1.0.%d@ip:10.2.0.%d" % (i, i), 1, S1, "mlx5_0", (v, v, v, v), 2**32 - 1,
                 **{"failovers": v, "reconnects-ok": U64, "reconnects-failed": v, "heartbeat-latency-ns": v},
                 **distributions({1 << 20: (v, 0), None: (v, v)}, {4: v, None: v}, (v, v), (v, v, v)),
                 cpu=[cpu(0, v, v, v, v, v, v, inflight=2**32 - 1, **distributions({2: (v, v)}, {1: v}, (v, v), (v, v, v)))])
           for i, v in enumerate(values, 1)]
    ses = [session(1, S1, 99, 98, 2**32 - 1, 2**32 - 1, 2**32 - 1, **{"queue-depth": 2**32 - 1, "max-io-bytes": 2**32 - 1})]
    pat = [path(1, 1, S1, "ip:fe80::1", "gid:fe80::2", "../etc", 77, **{"last-error": -2**31, "since-ns": U64,
                                                                        "heartbeat-latency-ns": U64})]
    dev = [device(1, "rnbd0", 1, S1, "vol0", v, 55, 66) for v in values]
    all_ = list(enumerate(values, 1))
    cli = [session(100 + i, "c%d" % i, role=1, paths=2**32 - 1, up=2**32 - 1, devices=2**32 - 1, **{"pinned-bytes": v}) for i, v in all_]
    for c in cli:
        del c["mp-policy"], c["max-reconnect-attempts"]
    cpa = [path(100 + i, 100 + i, "c%d" % i, "ip:10.2.0.%d" % i, "ip:10.1.0.%d" % i, "mlx5_0", role=1, **{"since-ns": v}) for i, v in all_]
    ccn = [stats(100 + i, p["name"], 100 + i, "c%d" % i, "mlx5_0", (v, v, v, v), 2**32 - 1, role=1, **{"failovers": v})
           for (i, v), p in zip(all_, cpa)]
    exp = [export(100 + i, "sd%d" % i, i, 100 + i, "c%d" % i, "vol", v, **{"told-bytes": v, "since-ns": v}) for i, v in all_]
    por = [dict(PORTS[0], **{"listening-port": 2**32 - 1})]
    return [UP] + server(cli, cpa, exp, ccn, por) + lists(ses, pat, dev, cnt)


def odd():
    """Attributes that are short, unknown, or not there."""
    ses = [{"id": 1, "name": "s1", "state": {"hex": "00"}, "role": {"hex": "0000"}, "@200": "0102"}, {}]
    pat = [{"id": 1, "session-id": 1, "session-name": "s1", "client-addr": {"hex": "02"}, "server-addr": {"hex": "ff" * 16}}, {}]
    dev = [{"name": "rnbd0", "size-bytes": {"hex": "01"}, "read-only": {"hex": ""}}, {}]
    cnt = [{"path-id": 1, "cpu": [{}, {"cpu": {"hex": ""}}]}, {}]
    return [UP] + lists(ses, pat, dev, cnt)


def alike():
    """Paths of a server that have not said yet whose they are; names that differ where they are no text."""
    new = [stats(i, "ip:10.0.0.7@ip:10.0.0.1", i, "", "mlx5_0", (i, 0, 0, 0), role=1) for i in (31, 32)]
    named = list(enumerate((b"bad\xfe", b"bad\xff"), 1))
    return [UP] + server(counters=CLIENT_STATS + new) + lists(
        [session(i, n) for i, n in named], [], [], [stats(i, P1, i, n, "mlx5_0", (1, 2, 3, 4)) for i, n in named])


def many(n, each=1):
    """@n sessions of four paths and @each devices; as many clients with one."""
    ses = [session(i, "s%d" % i, paths=4, up=4, devices=each) for i in range(1, n + 1)]
    pat = [path(4 * i + k, i, "s%d" % i, "ip:10.%d.%d.1" % (k, i % 250), "ip:10.%d.%d.2" % (k, i % 250), "mlx5_0")
           for i in range(1, n + 1) for k in range(4)]
    dev = [device(i + 1, "rnbd%d" % i, i // each + 1, "s%d" % (i // each + 1), "vol%d" % (i + 1), 1 << 30)
           for i in range(n * each)]
    cnt = [stats(p["id"], p["name"], p["session-id"], p["session-name"], "mlx5_0", (1, 2, 3, 4)) for p in pat]
    exp = [export(i, "sd%d" % i, i, n + i, "c%d" % i, "vol%d" % i, 1 << 30) for i in range(1, n + 1)]
    cli = [session(n + i, "c%d" % i, role=1) for i in range(1, n + 1)]
    return [UP] + server(cli, [], exp, []) + lists(ses, pat, dev, cnt)


NEW = device(4, "rnbd3", 3, "cl1@srv3", "vol9", 1 << 30)
MAP = {"session-name": "cl1@srv3", "device-path": "vol9",
       "path": [{"client-addr": "ip:10.0.0.1", "server-addr": "ip:10.0.0.9"}]}
MAP_ALL = {"session-name": "cl1@srv3", "device-path": "vol9", "access-mode": 0,
           "path": [{"client-addr": "ip:10.0.0.1", "server-addr": "ip:10.0.0.9#999"},
                    {"server-addr": "ip:fd00::9#999"},
                    {"client-addr": "gid:fe80::1", "server-addr": "gid:fe80::9#999"}],
           "poll-queues": 2, "connections": 4, "mp-policy": 1, "timeout-ms": 2500}
# the client's port is left to the kernel, but the structure has one
MAP_ALL["path"][2]["client-addr"] = "gid:fe80::1#1234"


def map_error(error, **more):
    return [UP] + lists() + [{"do": "map", "request": MAP, "any": True, "error": error, **more}]


def unmap(did, force=False, **more):
    return {"do": "unmap", "request": {"id": did, **({"force": True} if force else {})}, **more}


def remap(did, more=None, **answer):
    return {"do": "remap", "request": {"id": did, **(more or {})}, **answer}


def resize(did, size, **answer):
    return {"do": "resize", "request": {"id": did, "size-bytes": size}, **(answer or {"reply": {"id": did, "size-bytes": size}})}


def sized(minor, size):
    """The next list of devices: one of them has another size."""
    return [{"dump": "device-get", "objects": [dict(d, **({"size-bytes": size} if d["minor"] == minor else {}))
                                               for d in DEVICES]}]


def told(eid, reach, size, timeout=None, **answer):
    return {"do": "export-revalidate", "request": {"id": eid, **({"timeout-ms": timeout} if timeout else {})},
            **(answer or {"reply": {"id": eid, "size-bytes": 2 << 40, "told-bytes": size, "reach": reach}})}


# the disk is larger now, and nobody knows
GREW = [dict(e, **{"told-bytes": 1 << 40, "size-bytes": 2 << 40}) for e in EXPORTS]
SHRANK = [dict(e, **{"told-bytes": 4 << 40, "size-bytes": 2 << 40}) for e in EXPORTS]


def on_port(what, hca, force=False, **answer):
    return {"do": "port-" + what, "request": {"hca-name": hca, "hca-port": 1, **({"force": True} if force else {})}, **answer}


def over_port(paths):
    return [{"dump": "path-get", "request": {"role": 1}, "objects": paths}]


# one client has no path but the one over mlx5_0
DRAINED = [PORTS[1], dict(PORTS[0], drained=0)]


def close(eid, **answer):
    return {"do": "export-close", "request": {"id": eid}, **answer}


# what --recreate asks for: as it was, by the paths of the session
RECREATE = {"session-name": S2, "device-path": "ram0", "access-mode": 0,
            "path": [{"client-addr": "ip:10.0.0.1", "server-addr": "ip:10.0.0.3#1234"}],
            "poll-queues": 0, "mp-policy": 0}

NEW_SETTINGS = {"heartbeat-interval-ms": 200, "heartbeat-misses": 100, "reconnect-delay-ms": 10,
                "reconnect-delay-max-ms": 600000, "connect-timeout-ms": 1500, "io-timeout-ms": 86400000,
                "no-path-timeout-ms": 0}

SHELL_NAMES = ["d$(touch pwned)", "e'q", 'f"q', "g h", "i\\j", "k;l", "m*", "n`touch pwned`", "o=p@q:r", "s!t", "ué", "new\nline"]

RECORDINGS = {
    "empty": [UP] + server([], [], [], [], []) + lists([], [], [], []),
    "two-sessions": [UP] + server() + lists(),
    "absent": [{"family": False}],
    "denied": [UP] + refused("EPERM"),
    "no-client": [UP] + 2 * refused("EOPNOTSUPP", extack="rnbd-client is not loaded"),
    "no-operation": [{"family": True, "ops": ["session-get"]}] + lists(),
    "old-kernel": [UP] + refused("EOPNOTSUPP"),
    "torn": [UP] + [dict(a, intr=True) for a in lists()],
    "generations": [UP] + lists(paths=[dict(p, generation=8) for p in PATHS]),
    "cut": [UP, {"dump": "session-get", "objects": SESSIONS, "cut": True}],
    "overrun": [UP, {"do": "map", "errno": "ENOBUFS"}] + lists(),
    "hostile": hostile(),
    "alike": alike(),
    "torn-name": [UP] + server(paths=[dict(p, **{"session-name": "other"}) for p in CLIENT_PATHS]),
    "extreme": extreme(),
    "odd": odd(),
    "many": many(1000),
    "quarter": many(250),
    "many-devices": many(1000, 4),
    "shell": [UP] + lists(devices=[device(i + 1, "rnbd%d" % i, 1, S1, n, 1 << 30) for i, n in enumerate(SHELL_NAMES)]),
    "devices": [UP] + lists(devices=[device(i + 1, "rnbd%d" % i, 1, S1, "vol%d" % i, 1 << 30) for i in range(4096)]),
    "server": [UP, {"dump": "stats-get", "request": {"role": 1}, "objects": [
        stats(9, "ip:10.0.0.1@ip:10.0.0.2", 5, "cl1@srv1", "mlx5_0", (5, 20480, 7, 28672), role=1)]}],
    "distributions": [UP] + lists(counters=STATS[:1]) + [{"dump": "stats-get", "objects": [
        {**STATS[0], **distributions({**LATENCY, 1 << 15: (402316, 98113), 1 << 22: (18, 0)}, {0: 3, 1: 410426, 8: 1614474, None: 1},
                                     (4000000, 5220198), (3820858, 1400006, 16))}]}],
    "parts": [UP] + lists(counters=[
        {**STATS[0], "cpu": STATS[0]["cpu"][:1]}, {"path-id": 1, "cpu": STATS[0]["cpu"][1:]}] + STATS[1:]),
    "old-stats": [UP] + lists(counters=STATS[2:]),
    "series": [UP] + lists() + [
        {"dump": "stats-get", "objects": grown(STATS, read_ios=100, read_bytes=409600, write_ios=50, write_bytes=204800)},
        {"dump": "stats-get", "objects": [dict(st, **{"read-ios": 0}) for st in STATS]}],
    "map": [UP] + lists() + [{"do": "map", "request": MAP, "reply": NEW}],
    "map-all": [UP] + lists() + [{"do": "map", "request": MAP_ALL, "reply": NEW, "warning": "poll queues were cut to 1"}],
    "map-known": [UP] + lists() + [{"do": "map", "request": {"session-name": S1, "device-path": "vol9"}, "reply": NEW}],
    "map-nameless": [UP] + lists() + [{"do": "map", "reply": {"id": 9}}],
    "map-errno": [UP] + lists() + [{"do": "map", "errno": "ENOBUFS"}],
    "map-enoent": map_error("ENOENT"),
    "map-eexist": map_error("EEXIST", extack="already mapped as rnbd7", attr="device-path"),
    "map-writer": map_error("EPERM", extack="another client has it open for writing", attr="device-path"),
    "map-busy": map_error("EBUSY", extack="on the server 'vol9' is in use"),
    "map-write": map_error("EACCES", extack="the server may not write to 'vol9'"),
    "map-driver": map_error("ENODEV", extack="on the server 'vol9' has no driver"),
    "map-no-block": map_error("ENOTBLK", extack="on the server 'vol9' is no block device"),
    "map-other-session": map_error("EEXIST", extack="session cl1@srv3 is open already"),
    "map-hung-up": map_error("ECONNRESET", extack="ip:10.0.0.9: server hung up at login; session name in use?"),
    "map-privilege": map_error("EPERM"),
    "map-capability": map_error("EPERM", extack="CAP_SYS_ADMIN is needed"),
    "map-refused": map_error("ECONNREFUSED", extack="connection rejected"),
    "map-unreachable": map_error("EHOSTUNREACH", extack="rdma_resolve_addr: no device for source address",
                                 attr="path.server-addr"),
    "map-nodev": map_error("ENODEV", extack="no RDMA device"),
    "map-timeout": map_error("ETIMEDOUT"),
    "map-invalid": map_error("EINVAL", extack="session name is not valid", attr="session-name"),
    "map-missing": map_error("EINVAL", miss="path"),
    "map-missing-nested": map_error("EINVAL", miss="path.server-addr"),
    "map-no-memory": map_error("ENOMEM"),
    "map-port": map_error("ECONNREFUSED", extack="ip:10.0.0.1: nobody listens on port 999", attr="path", request={
        "session-name": "s2", "device-path": "/dev/ram0", "path": [{"server-addr": "ip:10.0.0.1#999"}]}),
    "map-nosuch": [UP] + lists([session(1, "demo")], [], []) + [
        {"do": "map", "request": {"session-name": "demo", "device-path": "nosuch"}, "any": True, "error": "ENOENT",
         "extack": "server has no device 'nosuch' below its dev_search_path", "attr": "device-path"}],
    "unmap": [UP] + lists() + [unmap(3), unmap(1), unmap(2)],
    "unmap-force": [UP] + lists() + [unmap(1, True), unmap(2, True), unmap(3, True)],
    "unmap-idle": [UP] + lists(devices=[dict(d, **{"open-count": 0}) for d in DEVICES]) + [unmap(1), unmap(2), unmap(3)],
    "unmap-busy": [UP] + lists() + [unmap(3, error="EBUSY", extack="rnbd2 is open")],
    "unmap-gone": [UP] + lists() + [unmap(3, error="ENOENT")],
    "unmap-partial": [UP] + lists() + [unmap(1, True), unmap(2, True, error="EIO"), unmap(3, True)],
    "lazy": [UP] + lists() + [{"dump": "device-get", "objects": [dict(d, **{"open-count": 0}) for d in DEVICES]},
                              unmap(1)],
    "lazy-long": [UP] + lists() + 20 * [{"dump": "device-get", "objects": DEVICES}],
    "twins": [UP] + lists(devices=[device(1, "rnbd0", 1, S1, "vol0", 1 << 30), device(2, "rnbd1", 2, S2, "vol0", 1 << 30)]),
    "wait": [UP] + [{"dump": "device-get", "objects": []}, {"event": "device-ntf", "object": DEVICES[1]},
                    {"dump": "device-get", "objects": [dict(DEVICES[1], state=2)]},
                    {"event": "device-ntf", "object": DEVICES[1]}, {"dump": "device-get", "objects": DEVICES}],
    "remap": [UP] + lists() + [remap(3, reply=dict(DEVICES[0], state=1)), remap(1, error="EALREADY"),
                               remap(2, error="EALREADY")],
    "remap-time": [UP] + lists() + [remap(3, {"timeout-ms": 2500}, reply=dict(DEVICES[0], state=1))],
    "remap-gone": [UP] + lists() + [remap(3, error="ENOENT", extack="on the server 'ram0' does not exist")],
    "remap-lost": [UP] + lists() + [remap(3, error="ENOTCONN", extack="no path of cl1@srv2 is connected")],
    "remap-partial": [UP] + lists() + [remap(3, error="ETIMEDOUT"), remap(1, error="EALREADY"), remap(2, error="EALREADY")],
    "recreate": [UP] + lists() + [unmap(3), {"do": "map", "request": RECREATE, "reply": device(
        7, "rnbd3", 9, S2, "ram0", 64 << 20, 0)}],
    "recreate-set": [UP] + lists([dict(SESSIONS[0], **{"max-reconnect-attempts": 5}), SESSIONS[1]]) + [
        unmap(3), {"do": "map", "request": RECREATE, "reply": device(7, "rnbd3", 9, S2, "ram0", 64 << 20, 0)},
        {"do": "session-set", "request": {"id": 9, "role": 0, "max-reconnect-attempts": 5}, "reply": SESSIONS[0]}],
    "recreate-connections": [UP] + lists() + [unmap(1, True), {"do": "map", "request": {
        "session-name": S1, "device-path": "vol0", "access-mode": 1,
        "path": [{"client-addr": p["client-addr"], "server-addr": p["server-addr"]} for p in PATHS[:2]],
        "poll-queues": 0, "connections": 16, "mp-policy": 2}, "reply": device(7, "rnbd0", 1, S1, "vol0", 20 << 30)}],
    "recreate-fails": [UP] + lists() + [unmap(3), {"do": "map", "request": RECREATE, "error": "ECONNREFUSED"}],
    "recreate-force": [UP] + lists() + [unmap(1, True), {"do": "map", "reply": device(7, "rnbd0", 1, S1, "vol0", 20 << 30)}],
    "resize": [UP] + lists() + [resize(1, 30 << 30)] + sized(0, 30 << 30),
    "resize-small": [UP] + lists() + [resize(1, 10 << 30)] + sized(0, 10 << 30),
    "resize-other": [UP] + lists() + [resize(1, 30 << 30)] + sized(0, 25 << 30),
    "resize-late": [UP] + lists() + [resize(1, 30 << 30)] + sized(0, 25 << 30) + [
        {"event": "device-ntf"}] + sized(0, 30 << 30),
    "resize-refused": [UP] + lists() + [resize(1, 30 << 30, error="EINVAL", extack="not so", attr="size-bytes")],
    "resize-4k": [UP] + lists(devices=[dict(DEVICES[1], **{"logical-block-bytes": 4096})]),
    "session-set": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 1,
                                                                        "max-reconnect-attempts": 20},
                                      "reply": dict(SESSIONS[1], **{"mp-policy": 1, "max-reconnect-attempts": 20})}],
    "session-set-all": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "settings": NEW_SETTINGS},
                                          "reply": dict(SESSIONS[1], settings=dict(SETTINGS, **NEW_SETTINGS))}],
    "session-set-nest": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "settings": {
        "heartbeat-interval-ms": 1000}}, "error": "EINVAL", "extack": "too short", "attr": "settings.heartbeat-interval-ms"}],
    "map-settings": [UP] + lists() + [{"do": "map", "request": dict(MAP, settings={
        "max-reconnect-attempts": 3, "no-path-timeout-ms": 30000}), "reply": NEW}],
    "map-settings-bad": map_error("EINVAL", extack="not so", attr="settings.io-timeout-ms", request=dict(MAP, settings={
        "io-timeout-ms": 1000})),
    "session-set-one": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 0},
                                          "reply": dict(SESSIONS[1], **{"mp-policy": 0})}],
    "session-set-refused": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 0},
                                              "error": "EBUSY", "extack": "no", "attr": "mp-policy"}],
    "revalidate": [UP] + server(exports=GREW) + [told(32, 0, 2 << 40), told(33, 2, 1 << 40)],
    "revalidate-all": [UP] + server(exports=GREW) + [told(32, 0, 2 << 40, 1500), told(33, 0, 1 << 40, 1500)],
    "revalidate-late": [UP] + server(exports=GREW) + [told(33, 1, 1 << 40)],
    "revalidate-wait": [UP] + server(exports=GREW) + [told(33, 1, 1 << 40, 10000), told(33, 0, 2 << 40, 600000),
                                                      told(32, 0, 2 << 40, 100)],
    "revalidate-deaf": [UP] + server(exports=GREW) + [told(33, 2, 1 << 40)],
    "revalidate-gone": [UP] + server(exports=GREW) + [told(33, 0, 0, error="ENOENT", extack="no opened export has id 33")],
    "revalidate-shrank": [UP] + server(exports=SHRANK) + [told(32, 0, 2 << 40), told(33, 0, 2 << 40)],
    "revalidate-old": [{"family": True, "ops": ["session-get", "path-get", "export-get", "export-close"]}] + server(exports=GREW),
    "drain": [UP] + server(ports=DRAINED) + [on_port("drain", "mlx5_1"), on_port("undrain", "mlx5_1")],
    "drain-force": [UP] + server(ports=DRAINED) + [on_port("drain", "mlx5_0", True)],
    "drain-slow": [UP] + server(ports=DRAINED) + [on_port("drain", "mlx5_1")] + over_port(CLIENT_PATHS) + [
        {"event": "path-ntf"}] + over_port(CLIENT_PATHS[:1] + CLIENT_PATHS[2:]),
    "drain-never": [UP] + server() + [on_port("drain", "mlx5_0", True)] + over_port(CLIENT_PATHS),
    "drained": [UP] + server(paths=[CLIENT_PATHS[0], CLIENT_PATHS[2]]),
    "drain-raced": [UP] + server(ports=DRAINED) + [on_port("drain", "mlx5_1", error="EBUSY",
                                                           extack="session 'cl9@here' has no path over another port")],
    "drain-old": [{"family": True, "ops": ["session-get", "path-get", "export-get"]}] + server(),
    "undrain": [UP] + server() + [on_port("undrain", "mlx5_1")],
    "two-ports": [UP] + server(ports=PORTS + [dict(PORTS[1], **{"hca-port": 2})]),
    "close": [UP] + server() + [close(31), close(32), close(33)],
    "close-slow": [UP] + server() + [close(31)] + [{"dump": "export-get", "objects": EXPORTS}, {"event": "export-ntf"},
                                                   {"dump": "export-get", "objects": EXPORTS[:1]}],
    "close-gone": [UP] + server() + [close(31, error="ENOENT")],
    "close-partial": [UP] + server() + [close(32), close(33, error="EIO")],
    "disconnect": [UP] + server() + [{"do": "session-disconnect", "request": {"id": 11, "role": 1}}],
    "disconnect-slow": [UP] + server() + [
        {"do": "session-disconnect", "request": {"id": 11, "role": 1}},
        {"dump": "session-get", "request": {"role": 1}, "objects": CLIENTS}, {"event": "session-ntf"},
        {"dump": "session-get", "request": {"role": 1}, "objects": CLIENTS[:1]}],
    "disconnect-gone": [UP] + server() + [{"do": "session-disconnect", "error": "ENOENT"}],
    "no-server": [UP] + [{"dump": c, "request": {"role": 1}, "error": "EOPNOTSUPP", "extack": "module rtrs_server is not loaded"}
                         for c in ("session-get", "path-get")] + lists() + [
        {"dump": "export-get", "error": "EOPNOTSUPP", "extack": "module rnbd_server is not loaded"}],
    "only-server": [UP] + server() + [{"dump": c, "error": "EOPNOTSUPP", "extack": "module rtrs_client is not loaded"}
                                      for c in ("session-get", "path-get", "device-get", "stats-get")],
    "all-up": [UP] + server() + lists([SESSIONS[0]], [PATHS[2]], [dict(DEVICES[0], state=1)]),
    "new-denied": [UP] + server() + lists() + [
        {"do": c, "error": "EPERM"} for c in ("remap", "resize", "session-set", "export-close", "session-disconnect",
                                              "export-revalidate")],
    "old-modules": [{"family": True, "ops": ["session-get", "path-get", "device-get", "export-get", "map", "unmap",
                                             "stats-get", "stats-reset"]}] + server() + lists(),
    "reset-only": [UP] + lists() + [{"do": "stats-reset", "request": {"session-id": 1, "role": 0, "groups": 2 | 4 | 32}}],
    "reset-all": [UP] + lists() + [{"do": "stats-reset", "request": {"role": 0}}],
    "reset-session": [UP] + lists() + [{"do": "stats-reset", "request": {"session-id": 1, "role": 0}}],
    "reset-path": [UP] + lists() + [{"do": "stats-reset", "request": {"path-id": 2, "role": 0}}],
    "reset-denied": [UP] + lists() + [{"do": "stats-reset", "error": "EPERM"}],
}


S3 = "cl1@srv3"
ADDED = session(3, S3, devices=0, settings=SETTINGS, held=1)
ADDED_PATH = path(4, 3, S3, "ip:10.0.0.1", "ip:10.0.0.9", "mlx5_0")
ADD = {"name": S3, "path": [{"client-addr": "ip:10.0.0.1", "server-addr": "ip:10.0.0.9"}]}
ADD_ALL = {"name": S3, "path": [{"client-addr": "ip:10.0.0.1", "server-addr": "ip:10.0.0.9#999"}, {"server-addr": "ip:fd00::9#999"}],
           "connections": 4, "poll-queues": 2**32 - 1, "timeout-ms": 2500, "mp-policy": 1,
           "settings": {"max-reconnect-attempts": 7, "no-path-timeout-ms": -1}}
WITH_ADDED = ([ADDED] + SESSIONS, PATHS + [ADDED_PATH])
BOTH_UP = [PATHS[0], dict(PATHS[1], state=1, **{"last-error": 0}), PATHS[2]]
NEW_PATH = path(5, 1, S1, "ip:10.0.2.1", "ip:10.0.2.2", "mlx5_0")


def add_session(request=ADD, **answer):
    return {"do": "session-add", "request": request, **(answer or {"reply": ADDED})}


def add_path(**answer):
    return {"do": "path-add", "request": {"session-id": 1, "client-addr": "ip:10.0.2.1", "server-addr": "ip:10.0.2.2"},
            **(answer or {"reply": NEW_PATH})}


def with_time(answer, ms=30000):
    return dict(answer, request={**answer["request"], "timeout-ms": ms})


def apply_map(dpath, **answer):
    """What 'config apply' asks for."""
    return with_time({"do": "map", "request": {"session-name": S2, "device-path": dpath}, **answer})


def on_path(cmd, pid, more=None, **answer):
    return {"do": "path-" + cmd, "request": {"id": pid, **(more or {})}, **answer}


def now(pid, state):
    return {"reply": dict(PATHS[pid - 1], state=state)}


def ntf(cmd, obj, edge, old=None, **more):
    return {"event": cmd + "-ntf", "object": dict(obj, generation=8, **more, event=edge, **({} if old is None else {"old-state": old}))}


def closing(state):
    return {"dump": "path-get", "objects": [PATHS[0], dict(PATHS[1], state=state)]}


LOST_PATH = dict(PATHS[0], state=2, **{"last-error": -110})
EVENTS = [
    # what came before the snapshot, or to what is not there
    ntf("path", PATHS[2], 1, 2), ntf("path", NEW_PATH, 1, 0), ntf("device", DEVICES[0], 2, id=99), ntf("session", SESSIONS[1], 0),
    ntf("path", LOST_PATH, 1, 1), ntf("session", SESSIONS[1], 1, 1, state=2, **{"paths-connected": 0}),
    ntf("path", LOST_PATH, 1, 2, state=1, **{"reconnect-attempts": 1}), ntf("session", SESSIONS[1], 1, 2),
    ntf("path", NEW_PATH, 0, state=0), ntf("path", NEW_PATH, 1, 0), ntf("path", PATHS[1], 2),
    ntf("device", DEVICES[1], 1, 1, state=2, **{"last-error": -107}), ntf("device", DEVICES[1], 1, 2),
    ntf("session", SESSIONS[1], 1, **{"mp-policy": 0}),
    ntf("export", EXPORTS[1], 2), ntf("export", dict(EXPORTS[1], id=34), 0), ntf("session", CLIENTS[0], 1, 0, state=3),
    ntf("session", CLIENTS[0], 2)]
NEW_OPS = ("session-add", "session-del", "path-add", "path-del", "path-reconnect", "path-disconnect")
RECORDINGS.update({
    "server-path-down": [UP] + server(paths=[CLIENT_PATHS[0], dict(CLIENT_PATHS[1], state=3), CLIENT_PATHS[2]]),
    "server-path": [UP] + server() + [on_path("disconnect", 22, reply=dict(CLIENT_PATHS[1], state=4)),
                                      on_path("disconnect", 23, reply=dict(CLIENT_PATHS[2], state=4))],
    "server-path-slow": [UP] + server() + [on_path("disconnect", 22, reply=dict(CLIENT_PATHS[1], state=3))] + over_port(
        [CLIENT_PATHS[0], dict(CLIENT_PATHS[1], state=3)]) + [{"event": "path-ntf"}] + over_port(CLIENT_PATHS[:1]),
    "server-path-never": [UP] + server() + [on_path("disconnect", 22, reply=dict(CLIENT_PATHS[1], state=3))] + over_port(
        [CLIENT_PATHS[0], dict(CLIENT_PATHS[1], state=3)]),
    "server-path-gone": [UP] + server() + [on_path("disconnect", 22, error="ENOENT", extack="no server path with id 22")],
    "session-add": [UP] + lists() + [add_session()] + lists(*WITH_ADDED),
    "session-add-all": [UP] + lists() + [add_session(ADD_ALL)] + lists(*WITH_ADDED),
    "session-add-slow": [UP] + lists() + [add_session(), {"dump": "session-get", "objects": [dict(ADDED, state=2)]},
                                          {"event": "session-ntf"}] + 2 * lists(*WITH_ADDED),
    "session-add-never": [UP] + lists() + [add_session(), {"dump": "session-get", "objects": [dict(ADDED, state=2)]}],
    "session-added": [UP] + lists(*WITH_ADDED),
    "session-add-refused": [UP] + lists() + [add_session(error="ECONNREFUSED")],
    "session-add-late": [UP] + lists() + [add_session(error="ETIMEDOUT")],
    "apply-refused": [UP] + lists() + [add_session({"name": S3, "path": [{"server-addr": "ip:10.0.0.9#999"}], "timeout-ms": 30000},
                                                   error="ECONNREFUSED")],
    "apply-optional": [UP] + lists() + [apply_map("vol8", error="ENOENT", extack="server has no device 'vol8'"),
                                        apply_map("vol9", reply=NEW)],
    "apply-required": [UP] + lists() + [apply_map("vol8", error="ENOENT", extack="server has no device 'vol8'"),
                                        apply_map("vol9", error="EBUSY", extack="on the server 'vol9' is in use")],
    "session-add-exists": [UP] + lists() + [add_session(error="EEXIST", extack="it is there")],
    "session-add-invalid": [UP] + lists() + [add_session(error="EINVAL", extack="not so", attr="path.server-addr")],
    "session-del": [UP] + lists(*WITH_ADDED) + [{"do": "session-del", "request": {"id": 3}}],
    "session-del-slow": [UP] + lists(*WITH_ADDED) + [{"do": "session-del", "request": {"id": 3}},
                                                     {"dump": "session-get", "objects": WITH_ADDED[0]},
                                                     {"event": "session-ntf"}, {"dump": "session-get", "objects": SESSIONS}],
    "session-del-gone": [UP] + lists(*WITH_ADDED) + [{"do": "session-del", "request": {"id": 3}, "error": "ENOENT"}],
    "session-del-force": [UP] + lists() + [unmap(1, True), unmap(2, True), {"do": "session-del", "request": {"id": 1}}],
    "session-del-last": [UP] + lists() + [unmap(3, True), {"do": "session-del", "request": {"id": 2}, "error": "ENOENT"}],
    "session-del-busy": [UP] + lists(*WITH_ADDED) + [{"do": "session-del", "request": {"id": 3}, "error": "EBUSY",
                                                      "extack": "devices are mapped over it"}],
    "path-add": [UP] + lists() + [add_path()],
    "path-add-two": [UP] + lists() + [add_path(), {"do": "path-add", "request": {
        "session-id": 1, "server-addr": "ip:10.0.9.9#999", "timeout-ms": 5000}, "error": "ECONNREFUSED"}],
    "path-add-port": [UP] + lists() + [{"do": "path-add", "request": {
        "session-id": 1, "server-addr": "ip:10.0.9.9#999", "timeout-ms": 5000}, "reply": NEW_PATH}],
    "path-add-slow": [UP] + lists() + [add_path(reply=dict(NEW_PATH, state=0)), {"dump": "path-get", "objects": [dict(NEW_PATH, state=0)]},
                                       {"event": "path-ntf"}, {"dump": "path-get", "objects": [NEW_PATH]}],
    "path-add-never": [UP] + lists() + [add_path(reply=dict(NEW_PATH, state=0)), {"dump": "path-get", "objects": []}],
    "path-add-exists": [UP] + lists() + [{"do": "path-add", "error": "EEXIST"}],
    "path-add-late": [UP] + lists() + [add_path(error="ETIMEDOUT")],
    "path-add-nowhere": [UP] + lists() + [add_path(error="EHOSTUNREACH", extack="no device for source address",
                                                   attr="client-addr")],
    "both-up": [UP] + lists(paths=BOTH_UP),
    "path-del": [UP] + lists(paths=BOTH_UP) + [on_path("del", 2), on_path("del", 1)],
    "path-del-down": [UP] + lists() + [on_path("del", 2)],
    "path-del-last": [UP] + lists() + [on_path("del", 3)],
    "path-del-slow": [UP] + lists(paths=BOTH_UP) + [on_path("del", 2), {"dump": "path-get", "objects": BOTH_UP},
                                                    {"event": "path-ntf"}, {"dump": "path-get", "objects": PATHS[:1]}],
    "path-del-gone": [UP] + lists(paths=BOTH_UP) + [on_path("del", 2, error="ENOENT")],
    "same-hca": [UP] + lists(paths=[dict(p, **{"hca-name": "mlx5_0"}) for p in PATHS]),
    "path-off": [UP] + lists(paths=BOTH_UP) + [on_path("disconnect", 1, **now(1, 4)), on_path("disconnect", 2, **now(2, 4))],
    "path-off-all": [UP] + lists(paths=BOTH_UP) + [on_path("disconnect", i, **now(i, 4)) for i in (1, 2, 3)],
    "path-off-unused": [UP] + lists(paths=BOTH_UP, devices=[]) + [on_path("disconnect", i, **now(i, 4)) for i in (1, 2, 3)],
    "path-off-slow": [UP] + lists(paths=BOTH_UP) + [on_path("disconnect", 2, **now(2, 3)), closing(3), {"event": "path-ntf"}, closing(4)],
    "path-off-never": [UP] + lists(paths=BOTH_UP) + [on_path("disconnect", 2, **now(2, 3)), closing(3)],
    "path-off-already": [UP] + lists(paths=[PATHS[0], dict(PATHS[1], state=4), PATHS[2]]),
    "path-on": [UP] + lists() + [on_path("reconnect", 2, **now(2, 1)), on_path("reconnect", 1, **now(1, 1))],
    "path-on-time": [UP] + lists() + [on_path("reconnect", 2, {"timeout-ms": 1500}, **now(2, 1))],
    "path-on-fails": [UP] + lists() + [on_path("reconnect", 2, error="ETIMEDOUT"), on_path("reconnect", 1, **now(1, 1)),
                                       on_path("reconnect", 3, **now(3, 1))],
    "path-on-later": [UP] + lists() + [on_path("reconnect", 2, error="ENOTCONN", extack="-ECONNRESET; see the session"),
                                       {"dump": "path-get", "objects": PATHS}],
    "path-on-slow": [UP] + lists() + [on_path("reconnect", 2, error="ENOTCONN"), {"dump": "path-get", "objects": PATHS},
                                      {"event": "path-ntf"}, {"dump": "path-get", "objects": BOTH_UP},
                                      remap(3, reply=dict(DEVICES[0], state=1))],
    "path-on-never": [UP] + lists() + [on_path("reconnect", 2, **now(2, 2)), {"dump": "path-get", "objects": PATHS}],
    "path-on-lost": [UP] + lists(paths=BOTH_UP) + [on_path("reconnect", 1, error="ECONNREFUSED"),
                                                   on_path("reconnect", 2, **now(2, 1))],
    "path-on-all": [UP] + lists() + [on_path("reconnect", i, **now(i, 1)) for i in (2, 1, 3)],
    "recover": [UP] + lists() + [on_path("reconnect", 2, **now(2, 1)), remap(3, reply=dict(DEVICES[0], state=1))],
    "recover-fails": [UP] + lists() + [on_path("reconnect", 2, error="ETIMEDOUT"), remap(3, reply=dict(DEVICES[0], state=1))],
    "recover-back": [UP] + lists() + [on_path("reconnect", 2, **now(2, 1)), remap(3, error="EALREADY")],
    "monitor": [UP] + server() + lists() + EVENTS,
    "monitor-overrun": [UP] + server() + lists() + [ntf("path", LOST_PATH, 1, 1), {"overrun": True}] + server() + lists(
        paths=BOTH_UP) + [ntf("path", LOST_PATH, 1, 1)],
    "monitor-lost": [UP] + server() + lists() + [{"lost": True}],
    "monitor-client": [UP] + [{"dump": c, "request": {"role": 1}, "error": "EOPNOTSUPP", "extack": "rtrs_server is not loaded"}
                              for c in ("session-get", "path-get")] + lists(),
    "removing": [UP] + 2 * LEAVING + [{"event": "path-ntf"}] + lists(paths=PATHS[:1] + PATHS[2:]),
    "removing-session": [UP] + lists(sessions=[dict(SESSIONS[0], removing=1), SESSIONS[1]], paths=PATHS[:2]) +
                        [{"event": "session-ntf"}] + lists(sessions=SESSIONS[1:], paths=PATHS[:2], devices=DEVICES[1:]),
    "removing-long": [UP] + 2 * LEAVING + [{"event": "path-ntf"}] + LEAVING,
    "removing-fails": [UP] + 2 * LEAVING + [{"event": "path-ntf"}, {"dump": "session-get", "error": "ETIMEDOUT"}],
    "monitor-odd": [UP] + server() + lists() + [{"event": "path-ntf"}, {"event": "path-ntf", "object": {"id": 1, "event": 7}},
                                                {"event": "session-ntf", "object": {"id": {"hex": "01"}, "event": 1}},
                                                {"event": "device-ntf", "object": {"id": 1, "event": 1}},
                                                {"event": "map", "object": {"id": 1}}],
    "wait-path": [UP] + lists() + [ntf("path", PATHS[1], 1, 2)] + lists(paths=BOTH_UP, sessions=[
        SESSIONS[0], dict(SESSIONS[1], state=0, **{"paths-connected": 2})]),
    "wait-gone": [UP] + lists() + [ntf("device", DEVICES[0], 2)] + lists(devices=DEVICES[1:]),
    "policy": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 0},
                                 "reply": dict(SESSIONS[1], **{"mp-policy": 0})}],
    "policies-fewer": [{"family": True, "policies": 2}],
    "policies-untold": [{"family": True, "policies": 0}],
    "policy-fails": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 1}, "error": "EIO"},
                                      {"do": "session-set", "request": {"id": 2, "role": 0, "mp-policy": 1},
                                       "reply": dict(SESSIONS[0], **{"mp-policy": 1})}],
    "paths-denied": [UP] + lists() + [{"do": c, "error": "EPERM"} for c in NEW_OPS + ("session-set", "remap", "unmap")],
    # each request, with what the kernel finds wrong in it
    "blamed": [UP] + server() + lists() + [
        dict(request, error="EINVAL", extack="not so", attr=attr) for request, attr in (
            (unmap(3), "id"), (remap(3), "id"), (resize(1, 30 << 30), "size-bytes"), (add_path(), "client-addr"),
            (with_time(add_path()), "server-addr"),
            ({"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 0}}, "mp-policy"),
            ({"do": "session-set", "request": {"id": 1, "role": 0, "settings": {"io-timeout-ms": 5000}}}, "settings.io-timeout-ms"),
            ({"do": "session-set", "request": {"id": 1, "role": 0, "max-reconnect-attempts": 7}}, "max-reconnect-attempts"),
            ({"do": "session-set", "request": {"id": 1, "role": 0, "settings": {"heartbeat-misses": 9}}}, "settings"),
            (add_session(), "path.server-addr"),
            (add_session(dict(ADD, **{"poll-queues": 9})), "poll-queues"), (add_session(dict(ADD, connections=9)), "connections"),
            (on_path("del", 2), "id"), (on_path("reconnect", 2, {"timeout-ms": 5000}), "timeout-ms"), (on_path("disconnect", 2), "id"),
            (on_path("disconnect", 22), "id"), ({"do": "map", "request": MAP}, "session-name"),
            ({"do": "map", "request": {"session-name": S2, "device-path": "vol9", "timeout-ms": 30000}}, "device-path"),
            ({"do": "stats-reset", "request": {"session-id": 1, "role": 0, "groups": 2}}, "groups"),
            ({"do": "stats-reset", "request": {"session-id": 1, "role": 0}}, "session-id"), (close(31), "id"),
            ({"do": "session-disconnect", "request": {"id": 12, "role": 1}}, "id"), (on_port("undrain", "mlx5_1"), "hca-name"),
            (with_time(add_path(), 5000), "timeout-ms"), (told(33, 0, 0, 5000), "timeout-ms"))],
    "session-del-denied": [UP] + lists(*WITH_ADDED) + [{"do": "session-del", "error": "EPERM"}],
    "session-del-old": [dict(UP, ops=["session-get", "path-get", "device-get", "unmap"])] + lists(*WITH_ADDED),
    "paths-unsupported": [UP] + lists(*WITH_ADDED) + [{"do": c, "error": "EOPNOTSUPP"} for c in NEW_OPS],
})


# a session that was told other settings, and one whose paths go to another port
TOLD = dict(SESSIONS[1], settings=dict(NEW_SETTINGS, **{"max-reconnect-attempts": 7, "no-path-timeout-ms": -1}),
            **{"max-reconnect-attempts": 7})
BY_ITSELF = {k: 0 if k == "no-path-timeout-ms" else v for k, v in SETTINGS.items() if k != "max-reconnect-attempts"}
MOVED = [dict(p, state=1, **{"server-addr": p["server-addr"].replace("#1234", "#999")}) for p in PATHS[:2]]


def moved(p):
    """It is taken out, then added at the usual port."""
    return lists(paths=MOVED) + [
        on_path("del", p["id"]), {"do": "path-add", "reply": dict(p, state=1), "request": {
            "session-id": 1, "client-addr": p["client-addr"], "server-addr": p["server-addr"].replace("#1234", ""), "timeout-ms": 30000}}]


RECORDINGS.update({
    "told": [UP] + lists([SESSIONS[0], TOLD]) + [{"do": "session-set", "request": {
        "id": 1, "role": 0, "mp-policy": 0, "max-reconnect-attempts": -1, "settings": BY_ITSELF}, "reply": SESSIONS[1]}],
    "moved": [UP] + lists(paths=MOVED + PATHS[2:]) + moved(PATHS[0]) + moved(PATHS[1]),
    "moved-last": [UP] + 2 * lists(paths=MOVED[:1] + PATHS[2:]) + [
        {"do": "path-add", "error": "EEXIST", "extack": "10.0.0.2: the session would have this path twice"}],
})


# map --save, --add-paths and recover --add-missing
RECORDINGS.update({
    "map-save": [UP] + lists() + [{"do": "map", "reply": NEW}] + lists(*WITH_ADDED, devices=DEVICES + [NEW]),
    "map-saved": [UP] + lists(*WITH_ADDED, devices=DEVICES + [NEW]),
    "map-add-paths": [UP] + lists() + [
        {"do": "path-add", "request": {"session-id": 1, "server-addr": "ip:10.0.9.9", "timeout-ms": 5000}, "reply": NEW_PATH},
        {"do": "map", "reply": NEW}],
    "map-add-paths-fails": [UP] + lists() + [{"do": "path-add", "error": "ECONNREFUSED"}],
    "warned-dump": [UP] + [dict(a, warning="this list is old") for a in lists()],
    "warned-add-paths": [UP] + lists() + [{"do": "path-add", "reply": NEW_PATH, "warning": "w1"}, {"do": "map", "reply": NEW}],
    "warned-missing": [UP] + lists(paths=BOTH_UP, devices=DEVICES[1:]) + [add_path(reply=NEW_PATH, warning="w1")],
    "warned-recreate": [UP] + lists() + [unmap(3, warning="w1"), {"do": "map", "warning": "w2", "reply": device(
        7, "rnbd3", 9, S2, "ram0", 64 << 20, 0)}],
    "warned-remove": [UP] + lists() + [unmap(1, True, warning="w1"), unmap(2, True, warning="w2"), {"do": "session-del"}],
    "add-missing": [UP] + lists(paths=BOTH_UP, devices=DEVICES[1:]) + [add_path()],
    "add-missing-slow": [UP] + lists(paths=BOTH_UP, devices=DEVICES[1:]) + [
        add_path(reply=dict(NEW_PATH, state=0)), {"dump": "path-get", "objects": [dict(NEW_PATH, state=0)]}, {"event": "path-ntf"},
        {"dump": "path-get", "objects": [NEW_PATH]}],
    "add-missing-never": [UP] + lists(paths=BOTH_UP, devices=DEVICES[1:]) + [
        add_path(reply=dict(NEW_PATH, state=0)), {"dump": "path-get", "objects": [dict(NEW_PATH, state=0)]}],
    "add-missing-fails": [UP] + lists(paths=BOTH_UP, devices=DEVICES[1:]) + [
        {"do": "path-add", "error": "ETIMEDOUT"}, add_path()],
    "add-missing-all": [UP] + lists() + [on_path("reconnect", 2, **now(2, 1)), add_path(),
                                         remap(3, reply=dict(DEVICES[0], state=1))],
})


# names that look like options
DASHED = (session(1, "-s"), session(2, "--all"))
RECORDINGS["dashed"] = [UP] + 2 * lists(
    DASHED, [path(s["id"], s["id"], s["name"], "ip:10.0.0.1", "ip:10.0.0.%d" % s["id"], "mlx5_0") for s in DASHED],
    [device(s["id"], "rnbd%d" % s["id"], s["id"], s["name"], "-v", 1 << 30) for s in DASHED])


# two paths of the same addresses, over two RDMA devices
RECORDINGS["same-path"] = [UP] + 2 * lists(paths=[dict(PATHS[0]), dict(PATHS[0], id=4, state=2, **{"hca-name": "mlx5_1"}), PATHS[2]])


RECORDINGS["reads"] = [UP] + 40 * (server() + lists())
# who may look, and change nothing
RECORDINGS["may-look"] = [UP] + 4 * (server() + lists()) + 2 * [{"do": c, "error": "EPERM"} for c in (
    "map", "unmap", "remap", "resize", "session-set", "session-disconnect", "session-add", "session-del", "path-add", "path-del",
    "path-reconnect", "path-disconnect", "stats-reset", "export-close", "export-revalidate", "port-drain", "port-undrain")]
# each change is done, as often as may be
RECORDINGS["changes"] = [UP] + 60 * (server() + lists()) + 8 * [
    {"do": "map", "reply": NEW}, {"do": "unmap"}, {"do": "remap", "reply": dict(DEVICES[0], state=1)},
    {"do": "resize", "reply": {"id": 1, "size-bytes": 21 << 30}}, {"do": "session-set", "reply": SESSIONS[1]},
    {"do": "session-disconnect"}, {"do": "session-add", "reply": ADDED}, {"do": "session-del"}, {"do": "path-add", "reply": NEW_PATH},
    {"do": "path-del"}, {"do": "path-reconnect", **now(2, 1)}, {"do": "path-disconnect", **now(2, 4)}, {"do": "stats-reset"},
    {"do": "export-close"}, {"do": "export-revalidate", "reply": {"id": 31, "size-bytes": 1 << 40, "told-bytes": 1 << 40, "reach": 0}},
    {"do": "port-drain"}, {"do": "port-undrain"}]


# what check finds nothing wrong with, and all that the kernel can tell of what is wrong
GOOD_PATHS = [PATHS[0], path(2, 1, S1, "ip:10.0.1.1", "ip:10.0.1.2", "mlx5_1")]
GOOD_STATS = [stats(1, P1, 1, S1, "mlx5_0", (1000, 4096000, 0, 0), cpu=[cpu(0, 1000, 4096000, 0, 0, 3, 3)]),
              stats(2, P2, 1, S1, "mlx5_1", (10, 40960, 0, 0))]
GOOD = lists([session(1, S1, 0, 0, 2, 2, 2)], GOOD_PATHS, DEVICES[1:], GOOD_STATS)
GOOD_EXPORTS = [dict(e, **{"told-bytes": e["size-bytes"]}) for e in (EXPORTS[1], EXPORTS[2])]
LISTENING = [dict(p, drained=0) for p in PORTS]
GOOD_SERVER = server(exports=GOOD_EXPORTS, ports=LISTENING)
BAD = lists([session(1, S1, 3, 0, 0, 2, 2), session(2, S2, 0, 0), session(3, "cl1@srv3", 3, 0, 0, 1, 0,
                                                                         **{"max-reconnect-attempts": 3})],
            [path(1, 1, S1, "ip:10.0.0.1", "ip:10.0.0.2", "mlx5_0", 2, **{"last-error": -111}),
             path(2, 1, S1, "ip:10.0.0.1", "ip:10.0.1.2", "mlx5_0", 2, **{"last-error": -110}), PATHS[2],
             path(4, 3, "cl1@srv3", "ip:10.0.0.1", "ip:10.0.0.9", "mlx5_0", 4, **{"reconnect-attempts": 3})],
            [device(1, "rnbd0", 1, S1, "vol0", 20 << 30, state=2, **{"last-error": -107}),
             device(2, "rnbd1", 1, S1, "vol1", 1 << 40, access=2)],
            [stats(1, P1, 1, S1, "mlx5_0", (1000, 4096000, 0, 0), cpu=[cpu(0, 1000, 4096000, 0, 0, 900, 900)],
                   **{"reconnects-failed": 7})])
RECORDINGS.update({
    "batch": [UP] + lists()[:3] + lists()[:3] + lists() + [unmap(3)] + lists(devices=DEVICES[1:]),
    "batch-fails": [UP] + lists() + [unmap(3, error="EBUSY")] + lists(),
    "check-good": [UP] + GOOD_SERVER + GOOD,
    "check-bad": [UP] + server() + BAD,
    "check-grew": [UP] + server(exports=[dict(EXPORTS[2], **{"told-bytes": 1 << 40}), GREW[0], EXPORTS[1]]) + GOOD,
    "check-shrank": [UP] + server(exports=[GREW[2], SHRANK[0]]) + GOOD,
    "check-dark": [UP] + GOOD_SERVER + lists([session(1, S1, 3, 0, 0, 2, 2), session(2, S2, 3, 0, 0, 0, 0)], [
        path(1, 1, S1, "ip:10.0.0.1", "ip:10.0.0.2", "", 4), path(2, 1, S1, "ip:10.0.1.1", "ip:10.0.1.2", "", 4)], DEVICES[1:], []),
    "check-drained": [UP] + server(ports=[dict(p, drained=1) for p in PORTS]) + GOOD,
    "check-deaf": [UP] + server(ports=[]) + GOOD,
    # two looks at the counters: more reconnects failed in between
    "check-flaps": [UP] + GOOD_SERVER + GOOD[:3] + [
        {"dump": "stats-get", "objects": [dict(st, **{"reconnects-failed": n}) for st in GOOD_STATS]} for n in (7, 8)],
    # all paths in a network of IPv4, of IPv6, in that which each link has
    "check-subnets": [UP] + GOOD_SERVER + lists([session(i, "s%d" % i, 0, 0, 2, 2, 0) for i in (1, 2, 3)], [
        path(10 * i + k, i, "s%d" % i, "ip:%s%d" % (net, k), "ip:%s%d" % (net, k + 1), "mlx5_%d" % (k > 1))
        for i, net in enumerate(("10.0.0.", "fd00::", "fe80::"), 1) for k in (1, 5)], [], []),
    "check-old": [{"family": True, "version": 2, "ops": ["session-get", "path-get", "device-get", "export-get"],
                   "groups": ["session"]}] + GOOD_SERVER + GOOD,
})


def put(root, name, text):
    file = os.path.join(root, name.lstrip("/"))
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as f:
        f.write(text + "\n")


def link(root, name, target):
    file = os.path.join(root, name.lstrip("/"))
    os.makedirs(os.path.dirname(file), exist_ok=True)
    os.symlink(target, file)


def make_root(root):
    """Two RDMA devices; rnbd0 mounted on /data, rnbd1 under a logical volume, rnbd2 free."""
    os.makedirs(os.path.join(root, "run"))
    for hca, dev, addr in (("mlx5_0", "ens1f0np0", "0a00:0001"), ("mlx5_1", "ens1f1np1", "0a00:0101")):
        port = "/sys/class/infiniband/%s/ports/1/" % hca
        put(root, port + "link_layer", "Ethernet")
        for i, (gid, kind) in enumerate((("fe80:0000:0000:0000:0000:00ff:fe00:0001", "RoCE v2"),
                                         ("0000:0000:0000:0000:0000:ffff:" + addr, "IB/RoCE v1"),
                                         ("0000:0000:0000:0000:0000:0000:0000:0000", ""),
                                         ("0000:0000:0000:0000:0000:ffff:" + addr, "RoCE v2"))):
            put(root, port + "gids/%d" % i, gid)
            put(root, port + "gid_attrs/types/%d" % i, kind)
            put(root, port + "gid_attrs/ndevs/%d" % i, dev)
    for i, sectors in enumerate((41943040, 2147483648, 131072, 2097152)):
        disk = "/sys/block/rnbd%d/" % i
        put(root, disk + "size", str(sectors))
        put(root, disk + "stat", "  10 0 80 1 20 0 160 2 3 4 5 6 7 8 9 10 11")
        put(root, disk + "queue/max_sectors_kb", "120")
        put(root, disk + "queue/max_segments", "29")
        put(root, disk + "queue/nr_requests", "128")
        put(root, disk + "queue/read_ahead_kb", "128")
        put(root, disk + "queue/scheduler", "[none] mq-deadline")
        os.makedirs(os.path.join(root, disk.lstrip("/"), "holders"))
        put(root, "/dev/rnbd%d" % i, "")
    put(root, "/sys/block/rnbd1/holders/dm-3", "")
    put(root, "/sys/block/dm-3/dm/name", "vg0-lv1")
    put(root, "/sys/module/rnbd_client/version", "0.1")
    # as many as a path has connections by itself
    put(root, "/sys/devices/system/cpu/online", "0-11,14-17")
    put(root, "/sys/class/block/sdb/ro", "0")
    put(root, "/sys/class/block/ram0/ro", "1")
    os.makedirs(os.path.join(root, "sys/module/rtrs_core"))
    put(root, "/proc/self/mountinfo",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "36 22 252:0 / /data rw,relatime shared:1 - ext4 /dev/rnbd0 rw\n"
        "37 22 252:0 /sub /mnt/a\\040b rw - ext4 /dev/rnbd0 rw")
    put(root, "/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2")
    for sess, dev, disk in ((S1, "vol0", "rnbd0"), (S1, "vol1", "rnbd1"), (S2, "ram0", "rnbd2")):
        link(root, "/dev/rnbd/by-session/%s/%s" % (sess, dev), "../../../" + disk)


def make_check_root(root):
    """A host that check finds nothing wrong with."""
    make_root(root)
    for i, (hca, dev) in enumerate((("mlx5_0", "ens1f0np0"), ("mlx5_1", "ens1f1np1"))):
        port = "/sys/class/infiniband/%s/ports/1/" % hca
        put(root, "/sys/class/infiniband/%s/device/vendor" % hca, "0x15b3")
        put(root, port + "state", "4: ACTIVE")
        put(root, port + "phys_state", "5: LinkUp")
        put(root, port + "rate", "100 Gb/sec (4X EDR)")
        put(root, port + "counters/symbol_error", "12")
        put(root, "/sys/class/net/%s/mtu" % dev, "4200")
        put(root, "/sys/class/net/%s/operstate" % dev, "up")
        put(root, "/sys/class/net/%s/speed" % dev, "100000")
        put(root, "/sys/class/net/%s/ecn/roce_np/enable/3" % dev, "1")
    for name in ("rtrs_core", "rtrs_client", "rtrs_server", "rnbd_client", "rnbd_server", "rdma_cm"):
        put(root, "/sys/module/%s/refcnt" % name, "1")
    put(root, "/sys/module/ib_core/parameters/netns_mode", "Y")
    put(root, "/sys/module/rnbd_server/parameters/port_nr", "1234")
    put(root, "/sys/module/rnbd_server/parameters/dev_search_path", "/srv/%SESSNAME%")
    put(root, "/sys/module/rtrs_server/parameters/sess_queue_depth", "512")
    put(root, "/sys/module/rtrs_server/parameters/max_chunk_size", "131072")
    os.makedirs(os.path.join(root, "srv"))
    put(root, "/proc/sys/kernel/osrelease", "6.1.0-test")
    modules = "/lib/modules/6.1.0-test/"
    put(root, modules + "modules.dep", "".join("updates/%s.ko:\n" % m for m in (
        "rtrs-core", "rtrs-client", "rtrs-server", "rnbd-client", "rnbd-server")))
    put(root, modules + "updates/rnbd-client.ko", "\0vermagic=6.1.0-test SMP preempt\0")
    put(root, "/proc/self/status", "Name:\trnbdadm\nCapEff:\t000001ffffffffff")
    put(root, "/proc/self/limits", "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  unlimited  unlimited  bytes")
    put(root, "/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB")
    put(root, "/proc/net/fib_trie", "Local:\n  +-- 10.0.0.0/8 2 0 2\n" + "".join(
        "     |-- %s\n        /32 host LOCAL\n" % a for a in ("10.0.0.1", "10.0.1.1")) +
        "     |-- 10.0.0.255\n        /32 link BROADCAST")
    put(root, "/proc/net/route", "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
        "eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0\n"
        "ens1f0np0 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\n"
        "ens1f1np1 0001000A 00000000 0001 0 0 0 00FFFFFF 0 0 0")
    put(root, "/proc/net/arp", "IP address HW type Flags HW address Mask Device\n"
        "10.0.0.2 0x1 0x2 00:00:00:00:00:02 * ens1f0np0\n10.0.1.2 0x1 0x2 00:00:00:00:01:02 * ens1f1np1")
    put(root, "/run/udev/control", "")
    put(root, "/usr/lib/udev/rules.d/60-rnbd.rules", "")
    put(root, "/etc/rnbd/conf.d/10-srv1.conf", "")
    put(root, "/usr/lib/systemd/system/rnbd-restore.service", "")
    put(root, "/etc/systemd/system/multi-user.target.wants/rnbd-restore.service", "")
    os.makedirs(os.path.join(root, "run/systemd/system"))
    os.makedirs(os.path.join(root, "run/rnbd-restore"))


def make_many(root, n):
    """@n disks with all that is looked up for each of them: a mount, a link, a holder of every second."""
    mounts = []
    for i in range(n):
        os.makedirs(os.path.join(root, "sys/block/rnbd%d/holders" % i))
        mounts.append("%d 1 252:%d / /m/%d rw - xfs /dev/rnbd%d rw" % (i + 40, i, i, i))
        link(root, "/dev/rnbd/by-session/s%d/vol%d" % (i + 1, i + 1), "../../../rnbd%d" % i)
        if i % 2:
            os.makedirs(os.path.join(root, "sys/block/rnbd%d/holders/dm-%d" % (i, i)))
    put(root, "/proc/self/mountinfo", "\n".join(mounts))


def make_roots(top):
    make_many(os.path.join(top, "many-root"), 1000)
    make_many(os.path.join(top, "many4-root"), 4000)
    make_many(os.path.join(top, "quarter-root"), 250)
    make_root(os.path.join(top, "root"))
    make_check_root(os.path.join(top, "check-root"))
    bare = os.path.join(top, "bare")       # no RDMA device, no disks
    os.makedirs(os.path.join(bare, "run"))
    swap = os.path.join(top, "swap")       # rnbd2 is swap, rnbd0 is the system, a partition of rnbd1 is mounted
    make_root(swap)
    put(swap, "/proc/swaps", "Filename Type Size Used Priority\n/dev/rnbd2 partition 1 0 -2")
    put(swap, "/proc/self/mountinfo", "22 1 252:0 / / rw - ext4 /dev/rnbd0 rw\n23 22 252:17 / /part rw - xfs /dev/rnbd1p1 rw")
    put(swap, "/sys/block/rnbd1/rnbd1p1/dev", "252:17")
    os.unlink(os.path.join(swap, "sys/block/rnbd1/holders/dm-3"))


if __name__ == "__main__":
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    for name, answers in RECORDINGS.items():
        nlgen.write(os.path.join(target, name + ".nl"), answers)
    make_roots(target)
