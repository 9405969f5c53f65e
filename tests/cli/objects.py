# SPDX-License-Identifier: GPL-2.0
"""What a kernel has, and what it says: sessions, paths, devices, statistics, and the answers to requests."""

from access import MAY, UP, listed, opened

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
            "always-fua": 0, "write-losses": 0, "generation": 7, **more}


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
            "reconnect-delay-max-ms": 30000, "connect-timeout-ms": 30000, "io-timeout-ms": 0, "no-path-timeout-ms": -1,
            "lost-writes": 0}
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
CLIENTS = [session(12, C2, paths=1, up=1, role=1, **{"pinned-bytes": 5 << 20, "pinned-max-bytes": 69 << 20}),
           session(11, C1, paths=2, up=2, devices=2, role=1, **{"pinned-bytes": 136 << 20, "pinned-max-bytes": 138 << 20})]
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
            {"dump": "port-get", "objects": ports}, opened(), MAY]


def lists(sessions=SESSIONS, paths=PATHS, devices=DEVICES, counters=STATS):
    return [{"dump": "session-get", "objects": sessions}, {"dump": "path-get", "objects": paths},
            {"dump": "device-get", "objects": devices}, {"dump": "stats-get", "objects": counters}, opened()]


# The second path is down already, and not gone yet
LEAVING = lists(paths=[PATHS[0], dict(PATHS[1], state=4, removing=1)] + PATHS[2:])


def refused(error, **more):
    return [{"dump": c, "error": error, **more}
            for c in ("session-get", "path-get", "device-get", "stats-get", "export-get", "port-get", "access-get")] + [
                {"do": "access-test", "error": error, **more}]


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


# rnbd0 was mapped for a migration
MIGRATING = [dict(d, **({"access-mode": 2} if d["id"] == 1 else {})) for d in DEVICES]


def set_rw(more=None, **answer):
    return {"do": "device-set", "request": {"id": 1, "access-mode": 1, **(more or {})}, **(answer or {"reply": DEVICES[1]})}


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
                "no-path-timeout-ms": 0, "lost-writes": 1}

SHELL_NAMES = ["d$(touch pwned)", "e'q", 'f"q', "g h", "i\\j", "k;l", "m*", "n`touch pwned`", "o=p@q:r", "s!t", "ué", "new\nline"]


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
