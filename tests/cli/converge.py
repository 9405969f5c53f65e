#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Random worlds, random configurations: config apply makes one of the other.

    converge.py BINARY DIRECTORY [ROUNDS [SEED]]

A world is what a kernel could have. For each run the changes that 'config diff' plans are carried out here, with servers
that refuse now and then and with the program dying between any two requests; from that comes the recording of just the
requests that must be sent, in their order. No step may take the last connected path of a session with devices, and
where nothing refuses any more the next run must end with nothing left to do. Every second configuration is JSON.
"""
import json
import os
import random
import subprocess
import sys

import documents
import nlgen
import objects
import recordings as rec

SESSIONS, PATHS, DEVICES = 3, 4, 3
POLICIES = ("round-robin", "min-inflight", "min-latency")


def name(s):
    return "cl@srv%d" % s


def ends(s, p):
    return "ip:10.%d.%d.1" % (s, p), "ip:10.%d.%d.2" % (s, p)


def pick(rng, n, least=0):
    return rng.sample(range(n), rng.randint(least, n))


class World:
    """Sessions: {s: {"id", "policy", "paths": {p: [id, up]}, "devices": {d: id}}}"""

    def __init__(self, rng):
        self.next = 100
        self.sessions = {}
        for s in pick(rng, SESSIONS):
            paths = {p: [self.new(), rng.random() < 0.7] for p in pick(rng, PATHS, 1)}
            devices = {d: self.new() for d in pick(rng, DEVICES)}
            self.sessions[s] = {"id": self.new(), "policy": rng.randrange(3), "paths": paths, "devices": devices}

    def new(self):
        self.next += 1
        return self.next

    def lists(self):
        ses, pat, dev = [], [], []
        for s, w in self.sessions.items():
            up = sum(u for _, u in w["paths"].values())
            ses.append(rec.session(w["id"], name(s), 0, w["policy"], up, len(w["paths"]), len(w["devices"]), held=1))
            pat += [rec.path(i, w["id"], name(s), *ends(s, p), "mlx5_0", 1 if u else 2)
                    for p, (i, u) in w["paths"].items()]
            dev += [rec.device(i, "rnbd%d" % i, w["id"], name(s), "vol%d" % d, 1 << 30)
                    for d, i in w["devices"].items()]
        return [{"dump": "session-get", "objects": ses}, {"dump": "path-get", "objects": pat},
                {"dump": "device-get", "objects": dev}]

    def lost(self):
        """Sessions with devices and no connected path."""
        return {s for s, w in self.sessions.items()
                if w["devices"] and w["paths"] and not any(u for _, u in w["paths"].values())}


def config(rng):
    """What is wanted, and the file that says so."""
    want = {}
    for s in pick(rng, SESSIONS):
        want[s] = {"policy": rng.choice((None, 0, 1, 2)), "paths": sorted(pick(rng, PATHS, 1)), "devices": pick(rng, DEVICES)}
    text = ""
    for s, c in want.items():
        text += "[session %s]\n" % name(s)
        text += "".join("path = %s@%s\n" % ends(s, p) for p in c["paths"])
        if c["policy"] is not None:
            text += "mp-policy = %s\n" % POLICIES[c["policy"]]
        for d in c["devices"]:
            text += "[device s%dd%d]\nsession = %s\ndevice-path = vol%d\n" % (s, d, name(s), d)
    return want, text


def number(session):
    return int(session[len("cl@srv"):])


def path_number(text):
    return int(text.split("@")[0].split(".")[2])


class Sim:
    """Carries out the steps of a plan in the world; answers are what the recording says to each request."""

    def __init__(self, world, rng, refuse, die_after):
        self.w, self.rng, self.refuse, self.left = world, rng, refuse, die_after
        self.answers, self.before = [], world.lost()

    def ask(self, cmd, request, may_refuse=True, **reply):
        """True if the kernel does it; None when the program is dead by then."""
        if self.left == 0:
            return None
        self.left -= 1
        no = may_refuse and self.rng.random() < self.refuse
        answer = {"error": "ECONNREFUSED"} if no else reply
        self.answers.append({"do": cmd, "request": request, **answer})
        return not no

    def look(self):
        if self.left:
            self.answers += self.w.lists()

    def add_session(self, s, p, policy):
        src, dst = ends(s, p)
        request = {"name": name(s), "path": [{"client-addr": src, "server-addr": dst}], "timeout-ms": 30000}
        if policy is not None:
            request["mp-policy"] = policy
        sid = self.w.new()
        done = self.ask("session-add", request, reply={"id": sid})
        if done:
            self.w.sessions[s] = {"id": sid, "policy": policy or 0, "paths": {p: [self.w.new(), True]}, "devices": {}}
        return done

    def session(self, step, later, want):
        s = number(step["session"])
        first = path_number(step["command"][step["command"].index("--path") + 1])
        done = self.add_session(s, first, want[s]["policy"])
        result = "added" if done else "failed"
        for other in later:
            if done is not False or other["object"] != "path" or other["session"] != step["session"]:
                continue
            done = self.add_session(s, path_number(other["name"]), want[s]["policy"])
            if done:
                other["expect"], result = "added", "added"
        return result

    def step(self, step, later, want):
        s, kind = number(step["session"]), (step["action"], step["object"])
        w = self.w.sessions.get(s)
        if kind == ("add", "session"):
            return self.session(step, later, want)
        if kind == ("add", "path"):
            p = path_number(step["name"])
            if not w:
                return "skipped"
            src, dst = ends(s, p)
            done = self.ask("path-add", {"session-id": w["id"], "client-addr": src, "server-addr": dst, "timeout-ms": 30000},
                            reply=rec.path(self.w.new(), w["id"], name(s), src, dst, "mlx5_0"))
            if done:
                w["paths"][p] = [self.w.next, True]
            return "added" if done else "failed"
        if kind == ("change", "session"):
            done = self.ask("session-set", {"id": w["id"], "role": 0, "mp-policy": want[s]["policy"]}, reply={"id": w["id"]})
            if done:
                w["policy"] = want[s]["policy"]
            return "changed" if done else "failed"
        if kind == ("add", "device"):
            d = int(step["device_path"][3:])
            if not w:
                return "skipped"
            did = self.w.new()
            done = self.ask("map", {"session-name": name(s), "device-path": "vol%d" % d, "timeout-ms": 30000},
                            reply={"id": did, "name": "rnbd0", "state": 1, "size-bytes": 1 << 30})
            if done:
                w["devices"][d] = did
            return "added" if done else "failed"
        if kind == ("remove", "path"):
            p = path_number(step["name"])
            self.look()
            if not any(up for q, (_, up) in w["paths"].items() if q != p):
                return "deferred"
            done = self.ask("path-del", {"id": w["paths"][p][0]})
            if done:
                del w["paths"][p]
            return "removed" if done else "failed"
        if kind == ("remove", "device"):
            d = next(d for d, i in w["devices"].items() if "rnbd%d" % i == step["name"])
            self.look()
            done = self.ask("unmap", {"id": w["devices"][d]})
            if done:
                del w["devices"][d]
            return "removed" if done else "failed"
        # a session cannot go before its devices
        if w["devices"]:
            if self.left:
                self.left -= 1
                self.answers.append({"do": "session-del", "request": {"id": w["id"]}, "error": "EBUSY"})
            return "failed"
        done = self.ask("session-del", {"id": w["id"]})
        if done:
            del self.w.sessions[s]
        return "removed" if done else "failed"


class Round:
    def __init__(self, binary, top, seed):
        self.rng, self.binary, self.seed = random.Random(seed), binary, seed
        self.dir = os.path.join(top, "round%d" % seed)
        os.makedirs(os.path.join(self.dir, "root/run"))
        os.makedirs(os.path.join(self.dir, "root/dev"))
        os.makedirs(os.path.join(self.dir, "root/sys/class/infiniband/mlx5_0"))
        # the node of whatever is mapped
        os.makedirs(os.path.join(self.dir, "root/sys/block/rnbd0"))
        self.put("root/sys/block/rnbd0/size", "2048")
        self.put("root/dev/rnbd0", "")

    def put(self, file, text):
        with open(os.path.join(self.dir, file), "w", encoding="utf-8") as f:
            f.write(text)

    def fail(self, *what):
        sys.exit("seed %d: %s" % (self.seed, " ".join(map(str, what))))

    def tool(self, answers, *words):
        nlgen.write(os.path.join(self.dir, "rec.nl"), [rec.UP] + answers)
        return subprocess.run([self.binary, "--nl-replay", os.path.join(self.dir, "rec.nl"), "--test-root",
                               os.path.join(self.dir, "root"), "config", *words, os.path.join(self.dir, "conf"), "-j"],
                              capture_output=True, text=True, timeout=60)

    def document(self, p, codes):
        if p.returncode not in codes:
            self.fail("exit", p.returncode, "not", codes, p.stdout, p.stderr)
        doc, bad = documents.check_document(p.stdout)
        if bad:
            self.fail(bad)
        return doc

    def one(self, world, want, more, refuse, die_after):
        """One run; True if there was nothing to do."""
        plan = self.document(self.tool(world.lists(), "diff", *more), (0, 11))["changes"]
        stages = [c["step"] for c in plan]
        if stages != sorted(stages):
            self.fail("out of order:", stages)
        lists = world.lists()
        sim = Sim(world, self.rng, refuse, die_after)
        for i, step in enumerate(plan):
            step.setdefault("expect", None)
            step["expect"] = step["expect"] or sim.step(step, plan[i + 1:], want)
            if sim.w.lost() - sim.before:
                self.fail("a session lost its last connected path by", step)
        p = self.tool(lists + sim.answers, "apply", *more)
        got = self.document(p, (0, 1, 3))["changes"]
        # one that died has told nobody
        if sim.left:
            if [c["result"] for c in got] != [c["expect"] for c in plan]:
                self.fail("results", [(c["command"], c["result"], e["expect"]) for c, e in zip(got, plan)], p.stderr)
            if (p.returncode == 0) != all(c["expect"] in ("added", "changed", "removed") and not c["error"] for c in got_with(got, plan)):
                self.fail("exit", p.returncode)
        return not plan

    def run(self):
        world = World(self.rng)
        want, text = config(self.rng)
        self.put("conf", text)
        more = self.rng.choice(((), ("--prune",), ("--mode=replace",)))
        for _ in range(3):
            self.one(world, want, more, 0.3, self.rng.choice((-1, -1, 0, 1, 2, 3)))
        # what was down comes back, nobody refuses; once for what waited for that, once more to see it
        for w in world.sessions.values():
            for state in w["paths"].values():
                state[1] = True
        self.one(world, want, more, 0, -1)
        if not self.one(world, want, more, 0, -1):
            self.fail("does not converge:", text, world.sessions)
        for s, c in want.items():
            w = world.sessions[s]
            if set(w["paths"]) != set(c["paths"]) or not set(c["devices"]) <= set(w["devices"]):
                self.fail("converged to something else:", text, world.sessions)
        # what was saved is what runs
        nlgen.write(os.path.join(self.dir, "rec.nl"), [rec.UP] + world.lists() + [objects.opened()])
        saved = subprocess.run([self.binary, "--nl-replay", os.path.join(self.dir, "rec.nl"), "--test-root",
                                os.path.join(self.dir, "root"), "config", "save"], capture_output=True, text=True, timeout=60)
        self.put("conf", saved.stdout)
        diff = self.document(self.tool(world.lists(), "diff"), (0,))
        if diff["changes"] or diff["unlisted"]:
            self.fail("what was saved differs:", saved.stdout, diff)


def got_with(got, plan):
    """Each change with what was expected of it."""
    for c, e in zip(got, plan):
        yield {**c, "expect": e["expect"]}


def main(binary, top, rounds="60", seed="1"):
    for i in range(int(seed), int(seed) + int(rounds)):
        Round(binary, top, i).run()
    print(rounds, "rounds")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
