# SPDX-License-Identifier: GPL-2.0
"""The commands of the tool, each with a command line; how they are run, and what they exit with."""
import json
import os
import shutil
import subprocess
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCHEMAS = os.path.join(TOP, "build", "schema")
problems = []


def problem(*words):
    problems.append(" ".join(str(w) for w in words))


def run(binary, *args, **more):
    return subprocess.run([binary, *args], stdin=subprocess.DEVNULL, capture_output=True, **{"timeout": 60, **more})


def metadata(binary):
    return json.loads(run(binary, "metadata", "-j").stdout)


ACCESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "access.conf")
# One legal command line for each command that needs arguments: words that exist, and words that do not
ARGUMENTS = {
    "show": (["cl1@srv1"], ["nosuch"]),
    "session show": (["cl1@srv1"], ["nosuch"]),
    "path show": (["cl1@srv1", "10.0.0.2"], ["cl1@srv1", "10.9.9.9"]),
    "device show": (["rnbd0"], ["rnbd99"]),
    "map": (["vol9", "--session", "cl1@srv1"], ["vol9", "--session", "nosuch"]),
    "unmap": (["rnbd2"], ["rnbd99"]),
    "remap": (["rnbd2"], ["rnbd99"]),
    "resize": (["rnbd0", "+10G"], ["rnbd99", "+10G"]),
    "device wait": (["rnbd0"], ["rnbd99"]),
    "device set": (["rnbd0", "--access", "rw"], ["rnbd99", "--access", "rw"]),
    "session set": (["cl1@srv1", "--mp-policy", "rr"], ["nosuch", "--mp-policy", "rr"]),
    "server export show": (["sdb"], ["nosuch"]),
    "server export close": (["sdb", "--all", "--force"], ["nosuch", "--force"]),
    "server export revalidate": (["ram0"], ["nosuch"]),
    "server export add": (["/dev/sdb", "--allow", "hv"], None),
    "server export remove": (["vol0"], ["nosuch"]),
    "server peer add": (["web1", "--auth", "none", "--session", "web1", "--from", "10.0.0.9"], None),
    "server peer remove": (["old1"], ["nosuch"]),
    "server access show": ([], ["nosuch"]),
    "server access apply": ([ACCESS], ["/nonexistent"]),
    "server access diff": ([ACCESS], ["/nonexistent"]),
    "server access test": (["vol0", "--peer", "old1", "--access", "ro"], None),
    "server access close": (["--force"], None),
    "server access open": (["--force"], None),
    "server path show": (["cl7@here", "10.0.1.1"], ["cl7@here", "10.9.9.9"]),
    "server path disconnect": (["cl7@here", "10.0.1.1"], ["nosuch", "10.9.9.9"]),
    "server port drain": (["mlx5_0:1", "--force"], ["mlx9_0:1"]),
    "server port undrain": (["mlx5_1:1"], ["mlx9_0:1"]),
    "server client show": (["cl7@here"], ["nosuch"]),
    "server client disconnect": (["cl7@here", "--force"], ["nosuch", "--force"]),
    "status": ([], ["nosuch"]),
    "stats": ([], ["nosuch"]),
    "stats latency": ([], ["nosuch"]),
    "stats reset": (["cl1@srv1"], ["nosuch"]),
    "session add": (["cl1@srv9", "--path", "10.0.0.9"], None),
    "session remove": (["cl1@srv2", "--force"], ["nosuch"]),
    "path add": (["cl1@srv1", "10.9.9.9"], ["nosuch", "10.9.9.9"]),
    "path remove": (["cl1@srv1", "10.0.1.2"], ["cl1@srv1", "10.9.9.9"]),
    "path reconnect": (["cl1@srv1", "10.0.1.2"], ["nosuch"]),
    "path disconnect": (["cl1@srv1", "10.0.1.2"], ["cl1@srv1", "10.9.9.9"]),
    "recover": (["cl1@srv1"], ["nosuch"]),
    "monitor": (["--once"], ["nosuch"]),
    "wait": (["cl1@srv1", "--for", "state=degraded"], ["nosuch", "--for", "present"]),
    "config diff": ([], ["/nonexistent"]),
    "config apply": ([], ["/nonexistent"]),
    "config show": ([], ["/nonexistent"]),
    "config validate": ([], ["/nonexistent"]),
    "config save": ([], ["--session", "nosuch"]),
    "save": ([], ["--session", "nosuch"]),
    "rds ping": (["10.0.0.2", "-c", "1"], None),
    "udev": (["rnbd0"], None),
    "check": ([], ["nosuch"]),
    "help": (["map"], ["nosuch"]),
    "schema": ([], ["nosuch"]),
    "completion": (["bash"], ["nosuch"]),
}
# Where an option names what is not there
BY_OPTION = {
    "path list": ["--session", "nosuch"],
    "device list": ["--session", "nosuch"],
    "device show": ["rnbd0", "--session", "nosuch"],
    "unmap": ["--session", "nosuch"],
    "remap": ["rnbd2", "--session", "nosuch"],
    "resize": ["rnbd0", "+10G", "--session", "nosuch"],
    "device set": ["rnbd0", "--access", "rw", "--session", "nosuch"],
    "server export list": ["--session", "nosuch"],
    "server export close": ["sdb", "--session", "nosuch", "--force"],
    "server export revalidate": ["ram0", "--session", "nosuch"],
    "server path list": ["--session", "nosuch"],
}
# These say nothing when they succeed
CHANGES = ("unmap", "stats reset", "remap", "resize", "device set", "session set", "server export close", "server client disconnect",
           "server export revalidate", "server path disconnect", "server port drain", "server port undrain",
           "session add", "session remove", "path add", "path remove", "path reconnect",
           "path disconnect", "recover",
           "server access apply", "server access close", "server access open", "server export add", "server export remove",
           "server peer add", "server peer remove")
SILENT = CHANGES + ("device wait", "wait", "config diff", "config apply", "config validate", "udev")
# Where each change is answered with success; a new size is to be seen in the next list
ANSWERED = {"resize": "resize", **{n: "changes" for n in ("map", "config apply") + CHANGES if n != "resize"}}
LOCAL = ("version", "help", "completion", "metadata", "schema", "config show", "config validate", "config edit-hints", "udev")


def expect(name, state, known, changes=False):
    """Exit codes that are right."""
    if name in LOCAL:
        return {0} if known else {2} if name in ("help", "completion") else {4}
    # RDS has no recording: the module is there or is not
    if name.startswith("rds "):
        return {0} if state != "absent" else {11} if name == "rds check" else {8}
    # what is wrong is what it tells
    if name == "check":
        return {11} if known else {2}
    if state == "absent":
        return {8}
    if state == "denied" or (state == "may-look" and changes):
        return {5}
    if (name, state) == ("session add", "empty"):
        return {1}
    if name == "monitor":
        return {0} if known else {2}
    # an open server has no list
    if state == "empty" and name in ("server export add", "server export remove", "server peer add", "server peer remove"):
        return {6}
    if name == "server access diff" and known:
        return {11}
    if name.startswith("server access ") and state == "empty":
        return {0} if name in ("server access show", "server access test", "server access open") else {1}
    if name in ("device wait", "wait") and (not known or state == "empty"):
        return {10}
    if not known or (state == "empty" and name in ARGUMENTS and ARGUMENTS[name][0]):
        return {4}
    return {0}


def try_it(binary, rec, name, words, state):
    """Runs it in a state; what a change leaves behind, if only for a while, no other finds."""
    with tempfile.TemporaryDirectory() as own:
        root = os.path.join(rec, "bare" if name.startswith("rds ") and state == "absent" else "root")
        if name in ANSWERED:
            root = shutil.copytree(root, os.path.join(own, "root"), symlinks=True)
        return run(binary, "--nl-replay", os.path.join(rec, state + ".nl"), "--test-root", root, *name.split(), *words)
