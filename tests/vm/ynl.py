#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The YNL Python client of the kernel sources as a second client of the families, written by nobody of this project.

usage: ynl.py [--family NAME] [--room BYTES] [--listen GROUP]... [--shell COMMAND] [do|dump OPERATION JSON]
       ynl.py --serve DIR

Subscribes to the groups, runs the operation or the shell command, and prints one JSON document: "reply", or "error" with
errno, text and attribute of the extended ack, and the "events" that came up to then, in their order. --room: bytes for one
block of messages. --serve: for ynl of guest.bash, as an emulated guest takes a second to start Python; reads a pipe, DIR/ask,
for each run the name of the pipe that wants the answer and the arguments, a byte 31 behind each, and then a byte 30. There are pipes
for answers, with a letter for a name; those that nobody uses are in the pipe DIR/free.
Environment: YNL (the unpacked generator), ROOT (this tree).
"""
import argparse
import json
import os
import pickle
import signal
import subprocess
import sys
import traceback

import yaml


NLMSGERR_ATTR_COOKIE = 3


def load(stream):
    """Each call of this program reads the same specification, which takes long in an emulated guest: once is enough, and the
    parser in C."""
    age = os.fstat(stream.fileno()).st_mtime_ns
    parsed = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"ynl-spec-{age}.pickle")
    try:
        with open(parsed, "rb") as f:
            return pickle.load(f)
    except FileNotFoundError:
        spec = yaml.load(stream, Loader=yaml.CSafeLoader)
        with open(f"{parsed}.{os.getpid()}", "wb") as f:
            pickle.dump(spec, f)
        os.rename(f.name, parsed)
        return spec


yaml.safe_load = load
sys.path.insert(0, os.path.join(os.environ["YNL"], "tools/net/ynl"))
from lib import NlError, YnlFamily  # noqa: E402


class Family(YnlFamily):
    """Knows padding, which kernels send where 64 bits must be aligned"""
    def _decode(self, attrs, space, *rest):
        types = self.attr_sets[space].attrs_by_val
        return super()._decode([a for a in attrs if a.type not in types or types[a.type].type != "pad"], space, *rest)


def plain(value):
    """Bytes as hex, recursively."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def listener(spec, groups):
    """A socket of its own: the client takes an event that comes before the reply for the reply. Its ntf_subscribe()
    binds the socket, and so works once."""
    ynl = Family(spec, schema="")
    ynl.sock.bind((0, 0))
    for group in groups:
        ynl.sock.setsockopt(270, 1, ynl.nlproto.get_mcast_id(group, ynl.mcast_groups))
    return ynl


def serve(directory):
    os.closerange(3, 256)  # who starts this may have a disk open
    ask = os.path.join(directory, "ask")
    free = os.path.join(directory, "free")
    os.mkfifo(free)
    unused = os.open(free, os.O_RDWR)  # nobody waits for the other end
    for name in "abcdefghijklmnop":
        os.mkfifo(os.path.join(directory, name))
        os.write(unused, name.encode())
    os.mkfifo(ask)
    while True:
        with open(ask, encoding="utf-8") as asked:
            runs = asked.read().split("\x1e")[:-1]
        for answer, *args in (words.split("\x1f")[:-1] for words in runs):
            if os.fork():
                continue
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with open(os.path.join(directory, answer), "w", encoding="utf-8") as sys.stdout:
                try:
                    run(args)
                except BaseException:
                    traceback.print_exc(file=sys.stdout)
            os._exit(0)


def run(args):
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", default="rnbd")
    parser.add_argument("--listen", action="append", default=[])
    parser.add_argument("--shell")
    parser.add_argument("--room", type=int, default=0)
    parser.add_argument("what", nargs="?", choices=["do", "dump"])
    parser.add_argument("operation", nargs="?")
    parser.add_argument("json", nargs="?", default="{}")
    args = parser.parse_args(args)

    spec = os.path.join(os.environ["ROOT"], f"include/netlink/{args.family}.yaml")
    events = listener(spec, args.listen) if args.listen else None
    ynl = Family(spec, schema="", recv_size=args.room)
    out = {}
    if args.shell:
        out["status"] = subprocess.run(args.shell, shell=True, check=False, stdout=sys.stderr).returncode
    if args.what:
        call = ynl.do if args.what == "do" else ynl.dump
        try:
            out["reply"] = plain(call(args.operation, json.loads(args.json)))
        except NlError as e:
            extack = e.nl_msg.extack or {}
            cookies = [a.as_scalar("u32") for a in extack.get("unknown", ()) if a.type == NLMSGERR_ATTR_COOKIE]
            out["error"] = {"errno": -e.nl_msg.error, "text": extack.get("msg"),
                            "attribute": extack.get("bad-attr"), "missing": extack.get("miss-type"),
                            "refusal": cookies[0] if cookies else None}
    if events:
        events.check_ntf()
        out["events"] = plain(events.async_msg_queue)
    json.dump(out, sys.stdout, default=str)
    print()


if sys.argv[1] == "--serve":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    serve(sys.argv[2])
run(sys.argv[1:])
