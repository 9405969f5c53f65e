# SPDX-License-Identifier: GPL-2.0
"""The access list of a server: what it is, and answers to those who change it and ask."""

UP = {"family": True}
LOADED = 1795806002000000000       # 2026-11-27T19:00:02Z
OPEN = {"state": 0, "number": 1, "denied-total": 0, "last-seq": 0}
STATE = {"state": 2, "number": 14, "loaded-ns": LOADED, "uid": 0, "denied-total": 212, "last-seq": 340}
PEERS = [{"name": "hv", "auth": 1, "session": [{"pattern": "hv*"}], "from": [{"addr": "ip:10.0.0.0", "bits": 24}], "max-sessions": 9,
          "max-devices": 200, "max-memory-bytes": 1 << 30, "sessions": 3, "devices": 41, "pinned-bytes": 192 << 20, "denied": 2},
         {"name": "old1", "auth": 1, "session": [{"pattern": "old1@srv1"}, {"pattern": "old1"}],
          "from": [{"addr": "ip:10.0.0.7"}, {"addr": "gid:fe80::a01", "bits": 128}], "sessions": 1, "devices": 1,
          "pinned-bytes": 64 << 20, "denied": 210}]
EXPORTS = [{"name": "image", "path": "/srv/images/golden.img", "io-mode": 1, "allow": [{"peer": "*", "access-mode": 0}], "kind": 0,
            "openings": 2},
           {"name": "vms/", "path": "/dev/vg1/", "allow": [{"peer": "hv", "access-mode": 2}], "kind": 1, "openings": 41},
           {"name": "vol0", "path": "/dev/vg0/vol0", "allow": [{"peer": "hv"}, {"peer": "old1", "access-mode": 0}], "kind": 0,
            "openings": 1}]


def listed(state=STATE, peers=PEERS, exports=EXPORTS):
    return {"dump": "access-get", "objects": [state] + [{"peer": p} for p in peers] + [{"export": e} for e in exports]}


def opened():
    return {"dump": "access-get", "objects": [OPEN]}


def ends(exports=(), paths=(), number=14):
    """What a dry run answers."""
    return {"do": "access-set", "reply": {"number": number, "ended-paths": len(paths), "ended-exports": len(exports),
                                          "ended-path-id": list(paths), "ended-export-id": list(exports)}}


DONE = {"do": "access-set", "reply": {"number": 15, "ended-paths": 0, "ended-exports": 0}}
BUSY = {"do": "access-set", "error": "EBUSY", "extack": "openings and paths would end; a dry run tells which"}
MAY = {"do": "access-test", "reply": {"allowed": 1, "reason": 0, "error": 0, "peer-name": "old1", "export-name": "vol0",
                                      "path": "/dev/vg0/vol0", "granted-mode": 0, "number": 14}}


def may_not(reason, error, **more):
    return {"do": "access-test", "reply": {"allowed": 0, "reason": reason, "error": error, "number": 14, **more}}


# as tests/cli/access.conf has it
CONFIGURED = [{"name": "hv", "auth": 1, "session": [{"pattern": "hv*"}], "from": [{"addr": "ip:10.0.0.0", "bits": 24}]},
              {"name": "old1", "auth": 1, "session": [{"pattern": "old1@srv1"}], "from": [{"addr": "ip:10.0.0.7", "bits": 32}]}]
WANTED = [{"name": "vms/", "path": "/dev/vg1/", "allow": [{"peer": "hv", "access-mode": 2}]},
          {"name": "vol0", "path": "/dev/vg0/vol0", "allow": [{"peer": "hv", "access-mode": 1}, {"peer": "old1", "access-mode": 0}]}]


def event(kind, **more):
    return {"event": "access-ntf", "object": {"event": kind, "seq": 341 + kind, "time-ns": LOADED + 123456789, **more}}


CLIENT = {"peer-name": "hv", "session-name": "cl7@here", "client-addr": "ip:10.0.0.7#1234", "server-addr": "ip:10.0.0.1#1234"}
EVENTS = [
    event(3, number=14, **{"old-number": 13, "state": 2, "old-state": 1, "peers": 2, "exports": 3, "uid": 0, "loginuid": 1000}),
    event(0, step=0, reason=0, **CLIENT),
    event(0, step=1, reason=0, **{**CLIENT, "device-path": "vms/disk17", "export-name": "vms/", "path": "/dev/vg1/disk17",
                                  "access-mode": 2}),
    event(1, step=1, reason=10, error=-13, **{**CLIENT, "device-path": "image", "export-name": "image", "access-mode": 1}),
    event(1, step=0, reason=2, error=-126, suppressed=211, **{"client-addr": "ip:10.0.0.99#1"}),
    event(2, step=1, reason=0, number=15, **{**CLIENT, "device-path": "vms/disk17", "export-name": "vms/"}),
    event(1, step=1, reason=99, **{"session-name": {"hex": "1b5b41ff00"}, "client-addr": {"hex": "00"}}),
    {"event": "access-ntf", "object": {}},
]


def recordings(server, lists, clients, exports):
    """@server and @lists make the dumps of the other objects, which the list of peers and names belongs to."""
    of_list = server([dict(c, **{"peer-name": "hv"}) for c in clients],
                     exports=[dict(e, **{"peer-name": "hv", "export-name": "vol0"}) for e in exports])
    of_own = server([dict(c, **{"peer-name": "hv"}) for c in clients],
                    exports=[dict(e, **{"peer-name": "hv", "export-name": e["device-path"]}) for e in exports])
    of_vol0 = server([dict(c, **{"peer-name": "hv"}) for c in clients],
                     exports=[dict(e, **{"peer-name": "hv", "export-name": "vol0", "device-path": "vol0"}) for e in exports])
    return {
        "access": [UP] + [listed()] + of_list + 9 * [listed()] + lists(),
        "access-open": [UP] + 9 * [opened()] + [DONE] + server() + lists(),
        "access-closed": [UP] + 9 * [listed(dict(STATE, state=1), [], [])] + [ends(), DONE] + server() + lists(),
        "access-set": [UP] + 9 * [listed()] + [DONE] + of_list,
        "access-same": [UP] + 2 * [listed(peers=CONFIGURED, exports=WANTED)] + server() + lists(),
        "access-asked": [UP] + [listed(), dict(DONE, request={
            "state": 2, "expect": 14, "peer": CONFIGURED, "export": WANTED})],
        "access-asked-dry": [UP] + [listed(), dict(ends(), request={
            "state": 2, "expect": 14, "dry-run": 1, "peer": CONFIGURED, "export": WANTED})],
        "access-busy": [UP] + 3 * [listed()] + [BUSY, ends((32, 31), (23,)), DONE] + of_own,
        "access-busy-dry": [UP] + [listed(), ends((32, 31), (23,))] + of_own,
        "access-busy-again": [UP] + [listed(), BUSY, ends(), BUSY],
        "access-both": [UP] + [listed(), DONE] + lists(),
        "access-refused": [UP] + [listed(), BUSY, ends((32, 31), (23,))] + of_own + lists(),
        "access-moved": [UP] + [listed(), BUSY, ends((31,))] + of_vol0,
        "access-no-peer": [UP] + [listed(), {"do": "access-test", "error": "ENOENT", "extack": "the list has no peer 'vh'"},
                                  {"do": "access-set", "error": "EINVAL", "extack": "'vh' is allowed an export, but is no peer"}],
        "access-gone": [UP] + [listed(), BUSY, ends((99,), (98,)), DONE] + of_list,
        "access-late": [UP] + [listed(), {"do": "access-set", "error": "EAGAIN", "extack": "the list is number 15"}],
        "access-denied": [UP] + 9 * [listed()] + 3 * [{"do": c, "error": "EPERM"} for c in ("access-set", "access-test")],
        "access-invalid": [UP] + [listed(), {"do": "access-set", "any": True, "request": {"state": 2, "peer": [{"name": "x"}]},
                                             "error": "EINVAL", "extack": "it is odd", "attr": "peer.name"}],
        "access-unloaded": [UP] + 3 * [{"dump": "access-get", "error": "EOPNOTSUPP", "extack": "rnbd-server is not loaded"}] + server() + lists(),
        "access-odd": [UP] + [{"dump": "access-get", "objects": [
            STATE, {"peer": PEERS[0]}, {"export": EXPORTS[0]}, {"export": {}}, {"peer": {"from": [{}]}}]}],
        "access-yes": [UP, MAY, MAY],
        "access-web1": [UP, {"do": "access-test", "reply": {**MAY["reply"], "peer-name": "web1", "granted-mode": 1}}],
        "access-less": [UP] + 2 * [may_not(10, -13, **{"peer-name": "old1", "export-name": "vol0", "granted-mode": 0})],
        "access-nothing": [UP] + 2 * [may_not(9, -2, **{"peer-name": "old1", "export-name": "vms/"})],
        "access-nowhere": [UP] + 2 * [may_not(9, -2, **{"peer-name": "old1"})],
        "access-nobody": [UP] + 2 * [may_not(2, -126)],
        "access-shut": [UP] + 2 * [may_not(1, -13)],
        "access-web1-less": [UP, may_not(10, -13, **{"peer-name": "web1", "export-name": "vol0", "granted-mode": 1})],
        "access-refusals": [UP] + [
            event(1, step=1, reason=9, error=-2, **{"peer-name": "web1", "session-name": "web1@srv1", "device-path": "vol9", "access-mode": 1, "client-addr": "ip:10.0.0.7#1"}),
            event(1, step=0, reason=4, error=-13, **{"session-name": "nobody@srv1", "client-addr": "ip:10.0.0.7#1"})],
        "access-all": [UP] + 2 * [{"do": "access-test", "reply": {"allowed": 1, "reason": 0, "path": "/vol9"}}],
        "access-events": [UP] + EVENTS,
        "access-many": [UP] + [listed(peers=[dict(PEERS[1], name="peer%d" % i) for i in range(1000)], exports=[
            dict(EXPORTS[2], name="vol%05d" % i, allow=[{"peer": "peer%d" % (i % 1000)}]) for i in range(10000)])] + [DONE],
    }
