#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the recordings and the system trees of the tests: recordings.py DIRECTORY"""
import os
import sys

import access
import nlgen
from objects import *
from systems import make_roots

RECORDINGS = {
    "empty": [UP] + server([], [], [], [], []) + lists([], [], [], []),
    "two-sessions": [UP] + 9 * [listed()] + server() + lists() + 2 * [access.DONE],
    "absent": [{"family": False}],
    "denied": [UP] + refused("EPERM"),
    "no-client": [UP] + 2 * refused("EOPNOTSUPP", extack="module rnbd_client is not loaded", refusal="unloaded"),
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
    "map-web1": [UP] + lists([], [], []) + [{"do": "map", "reply": device(1, "rnbd0", 1, "web1@srv1", "vol0", 20 << 30)}],
    "map-all": [UP] + lists() + [{"do": "map", "request": MAP_ALL, "reply": NEW, "warning": "poll queues were cut to 1"}],
    "map-known": [UP] + lists() + [{"do": "map", "request": {"session-name": S1, "device-path": "vol9"}, "reply": NEW}],
    "map-nameless": [UP] + lists() + [{"do": "map", "reply": {"id": 9}}],
    "map-errno": [UP] + lists() + [{"do": "map", "errno": "ENOBUFS"}],
    "map-enoent": map_error("ENOENT", refusal="server"),
    "map-eexist": map_error("EEXIST", extack="already mapped as rnbd7", attr="device-path"),
    "map-writer": map_error("EPERM", extack="another client has it open for writing", attr="device-path", refusal="server"),
    "map-busy": map_error("EBUSY", extack="on the server 'vol9' is in use, its log says how", refusal="server"),
    "map-write": map_error("EACCES", extack="the server refuses 'vol9' to this client, its log says why", refusal="server"),
    "map-driver": map_error("ENODEV", extack="on the server 'vol9' has no driver", refusal="server"),
    "map-no-block": map_error("ENOTBLK", extack="on the server 'vol9' is no block device", refusal="server"),
    "map-many": map_error("EMFILE", extack="the server allows this client no more devices", refusal="server"),
    "map-other-session": map_error("EEXIST", extack="session cl1@srv3 is open already", refusal="session"),
    "map-hung-up": map_error("ECONNRESET", extack="ip:10.0.0.9: server hung up at login: name taken or denied, or no memory"),
    "map-access": map_error("ENOKEY", extack="ip:10.0.0.9: refused by the server's access list", attr="path", refusal="access-list"),
    "map-closed": map_error("EACCES", extack="ip:10.0.0.9: refused by the server's access list", attr="device-path", refusal="access-list"),
    "map-other-mode": map_error("EINVAL", extack="the server has not 'vol9' in this io_mode, or not at all", refusal="server"),
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
         "extack": "server has no device 'nosuch' in dev_search_path or exports", "attr": "device-path", "refusal": "server"}],
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
    "remap-gone": [UP] + lists() + [remap(3, error="ENOENT", extack="server has no device 'ram0' in dev_search_path or exports",
                                          refusal="server")],
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
    "set-rw": [UP] + lists(devices=MIGRATING) + [set_rw(), set_rw({"timeout-ms": 2500})],
    "set-rw-busy": [UP] + lists(devices=MIGRATING) + [set_rw(error="EBUSY", extack="another client has it open for writing")],
    "set-rw-cannot": [UP] + lists(devices=MIGRATING) + [
        set_rw(error="EOPNOTSUPP", extack="the server cannot do that: unmap it, and map it with rw", refusal="server")],
    "set-rw-lost": [UP] + lists(devices=MIGRATING) + [
        set_rw(error="ENOTCONN", extack="rnbd0 is not open on the server: remap it first")],
    "set-rw-ro": [UP] + lists(devices=[dict(d, **{"access-mode": 0}) for d in DEVICES]),
    "session-set": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "mp-policy": 1,
                                                                        "max-reconnect-attempts": 20},
                                      "reply": dict(SESSIONS[1], **{"mp-policy": 1, "max-reconnect-attempts": 20})}],
    "session-set-all": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "settings": NEW_SETTINGS},
                                          "reply": dict(SESSIONS[1], settings=dict(SETTINGS, **NEW_SETTINGS))}],
    "session-set-nest": [UP] + lists() + [{"do": "session-set", "request": {"id": 1, "role": 0, "settings": {
        "heartbeat-interval-ms": 1000}}, "error": "EINVAL", "extack": "too short", "attr": "settings.heartbeat-interval-ms"}],
    "map-settings": [UP] + lists() + [{"do": "map", "request": dict(MAP, settings={
        "max-reconnect-attempts": 3, "no-path-timeout-ms": 30000}), "reply": NEW}],
    "map-fua": [UP] + lists() + [{"do": "map", "request": dict(MAP, **{"always-fua": 1}), "reply": dict(NEW, **{"always-fua": 1})}],
    "map-fua-there": [UP] + lists(devices=[dict(d, **{"always-fua": 1}) for d in DEVICES]),
    "map-io-mode": [UP] + lists() + [{"do": "map", "request": dict(MAP, **{"io-mode": 1}),
                                      "reply": dict(NEW, **{"io-mode": 1, "write-cache": 0})}],
    "map-io-mode-there": [UP] + lists(devices=[dict(d, **{"io-mode": 1}) for d in DEVICES]),
    "map-io-mode-cannot": map_error("EOPNOTSUPP", extack="server knows no fileio: leave io_mode out", attr="io-mode", refusal="server",
                                    request=dict(MAP, **{"io-mode": 1})),
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
    "apply-optional": [UP] + lists() + [apply_map("vol8", error="ENOENT", extack="server has no device 'vol8'", refusal="server"),
                                        apply_map("vol9", reply=NEW)],
    "apply-required": [UP] + lists() + [apply_map("vol8", error="ENOENT", extack="server has no device 'vol8'", refusal="server"),
                                        apply_map("vol9", error="EBUSY", refusal="server",
                                                  extack="on the server 'vol9' is in use, its log says how")],
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
    "blamed": [UP] + server() + lists(devices=MIGRATING) + [
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
            (set_rw(), "access-mode"), (with_time(add_path(), 5000), "timeout-ms"), (told(33, 0, 0, 5000), "timeout-ms"))],
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
RECORDINGS["may-look"] = [UP] + 9 * [listed()] + 4 * (server() + lists(devices=MIGRATING)) + 2 * [{"do": c, "error": "EPERM"} for c in (
    "map", "unmap", "remap", "resize", "session-set", "session-disconnect", "session-add", "session-del", "path-add", "path-del",
    "path-reconnect", "path-disconnect", "stats-reset", "export-close", "export-revalidate", "port-drain", "port-undrain",
    "device-set", "access-set")]
# each change is done, as often as may be
RECORDINGS["changes"] = [UP] + 60 * [listed()] + 60 * (server() + lists(devices=MIGRATING)) + 8 * [
    {"do": "map", "reply": NEW}, {"do": "unmap"}, {"do": "remap", "reply": dict(DEVICES[0], state=1)},
    {"do": "resize", "reply": {"id": 1, "size-bytes": 21 << 30}}, {"do": "session-set", "reply": SESSIONS[1]},
    {"do": "session-disconnect"}, {"do": "session-add", "reply": ADDED}, {"do": "session-del"}, {"do": "path-add", "reply": NEW_PATH},
    {"do": "path-del"}, {"do": "path-reconnect", **now(2, 1)}, {"do": "path-disconnect", **now(2, 4)}, {"do": "stats-reset"},
    {"do": "export-close"}, {"do": "export-revalidate", "reply": {"id": 31, "size-bytes": 1 << 40, "told-bytes": 1 << 40, "reach": 0}},
    {"do": "port-drain"}, {"do": "port-undrain"}, {"do": "device-set", "reply": DEVICES[1]}, *60 * [access.DONE]]


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
    "check-good": [UP] + 2 * [listed(peers=access.CONFIGURED[:1], exports=[{"name": "srv/", "path": "/srv/", "allow": [{"peer": "hv"}]}])] +
                  GOOD_SERVER + GOOD,
    "check-bad": [UP] + server() + BAD,
    "check-grew": [UP] + server(exports=[dict(EXPORTS[2], **{"told-bytes": 1 << 40}), GREW[0], EXPORTS[1]]) + GOOD,
    "check-names": [UP] + server(exports=[dict(EXPORTS[1], **{"device-path": "/dev/vols/sdb1"}), EXPORTS[2]]) + GOOD,
    "check-stale": [UP] + GOOD_SERVER + lists([session(1, S1)], GOOD_PATHS, [
        device(1, "rnbd0", 1, S1, "vol0", 20 << 30, state=2, **{"last-error": -116})], []),
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
RDS = {"family": True, "of": "rds"}
# Of the connections of rdsgen.py: one with two paths, one that is refused, one of IPv6, one that no list has
RDS_PATH = {"index": 0, "state": 3, "since-ns": 1795000000000000000, "reconnects": 2, "last-error": -104, "unsent": 0, "unacked": 1,
            "next-tx": 2**40, "next-rx": 77, "local-port": 40000, "remote-port": 16385, "abilities": 1}
RDS_NAMES = [{"local-addr": "ip:%s" % a, "remote-addr": "ip:%s" % b, "tos": 0, "transport": "tcp"}
             for a, b in (("10.0.0.1", "10.0.0.2"), ("10.0.0.1", "10.0.0.9"), ("fd00::1", "fd00::2"), ("10.0.0.1", "10.0.0.77"))]
RDS_CONNECTIONS = {"dump": "connection-get", "objects": [
    dict(RDS_NAMES[0], paths=8, path=[RDS_PATH, dict(RDS_PATH, **{"index": 3, "state": 5, "since-ns": 1795000001000000000,
                                                                  "last-error": -110, "reconnects": 0, "local-port": 40003})]),
    dict(RDS_NAMES[1], paths=1, path=[{"index": 0, "state": 1, "since-ns": 1795000002000000000, "reconnects": 0, "last-error": -111,
                                       "unsent": 2, "unacked": 0}]),
    dict(RDS_NAMES[2], paths=1, tos=4, path=[dict(RDS_PATH, abilities=0, reconnects=0, **{"last-error": 0})]),
    dict(RDS_NAMES[3], paths=1, path=[RDS_PATH])]}


def rds_event(n, event, index=0, **more):
    return {"event": "path-ntf", "object": dict(RDS_NAMES[n], event=event, path=dict({"index": index}, **more))}


RECORDINGS.update({
    "rds": [RDS, RDS_CONNECTIONS],
    "rds-torn": [RDS, dict(RDS_CONNECTIONS, intr=True)],
    "rds-failed": [RDS, {"dump": "connection-get", "error": "ENOMEM"}],
    "rds-absent": [{"family": False, "of": "rds"}],
    "monitor-rds": [RDS, RDS_CONNECTIONS, rds_event(1, 0), rds_event(0, 1, 3, **{"last-error": -104}),
                    rds_event(2, 2, **{"last-error": -111}), rds_event(0, 7)],
    "monitor-rds-overrun": [RDS, RDS_CONNECTIONS, rds_event(0, 0), {"overrun": True}, RDS_CONNECTIONS, rds_event(1, 0), {"lost": True}],
})


RECORDINGS.update(access.recordings(server, lists, CLIENTS, EXPORTS))


# The same failures by a kernel that puts them in other words
RECORDINGS.update({"other-words-" + name: [dict(a, extack="?") if "extack" in a else a for a in RECORDINGS[name]] for name in (
    "map-writer", "map-busy", "map-write", "map-driver", "map-many", "map-other-session", "map-access", "map-closed",
    "map-other-mode", "map-capability", "no-client")})


if __name__ == "__main__":
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    for name, answers in RECORDINGS.items():
        nlgen.write(os.path.join(target, name + ".nl"), answers)
    make_roots(target)
