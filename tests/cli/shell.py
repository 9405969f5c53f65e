#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Presses keys in real shells on a terminal of their own.

    shell.py BINARY RECORDINGS lines|lists|names|silent|times bash|zsh|fish
    shell.py BINARY RECORDINGS table
    shell.py BINARY RECORDINGS installed DIRECTORY
    shell.py BINARY RECORDINGS state                           bash alone

The shell finds a program rnbdadm that answers from a recording, loads the completion that the binary prints, and runs what
the keys made of the line; the program then prints its words, so that quoting counts as well.
"""
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

from pace import pace

TAB, RETURN, KILL = "\t", "\r", "\x15"
LIMIT = 20


class Shell:
    def __init__(self, name, binary, rec, recording="two-sessions", root="root", setup=None, columns=200, hurry=False):
        self.name, self.prompt = name, r"[\r\n]*% " if name == "bash" else ""
        self.home = tempfile.mkdtemp(prefix="rnbdadm-shell-")
        tool = os.path.join(self.home, "bin", "rnbdadm")
        os.mkdir(os.path.dirname(tool))
        with open(tool, "w") as f:
            # a busy machine is not what most tests are about
            f.write("""#!/bin/sh
%s
case $1 in
completion) exec %s "$@" ;;
__complete) exec %s --nl-replay %s/%s.nl --test-root %s/%s "$@" ;;
esac
printf 'RAN'
printf '<%%s>' "$@"
echo DONE
""" % ("" if hurry else "trap '' ALRM", binary, binary, rec, recording, rec, root))
        os.chmod(tool, 0o755)
        env = {"PATH": os.path.dirname(tool) + ":/usr/bin:/bin", "HOME": self.home, "TERM": "xterm", "LC_ALL": "C.UTF-8",
               "ZDOTDIR": self.home, "XDG_CONFIG_HOME": self.home, "XDG_DATA_HOME": self.home, "XDG_CACHE_HOME": self.home}
        argv = {"bash": ["bash", "--norc", "--noprofile"], "zsh": ["zsh", "-f"], "fish": ["fish", "--no-config"]}[name]
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(self.home)
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 300, columns, 0, 0))
        self.text = ""
        for line in setup or self.setup():
            self.send(line + RETURN)
        self.run("rnbdadm ready", ["ready"])

    def setup(self):
        return {
            "bash": ["PS1='% '", "bind 'set show-all-if-ambiguous on'", "bind 'set page-completions off'",
                     "bind 'set completion-query-items 0'", "bind 'set enable-bracketed-paste off'", "bind 'set bell-style none'", "bind 'set completion-display-width 0'",
                     "source <(rnbdadm completion bash)"],
            "zsh": ["PS1='> '", "autoload -Uz compinit", "compinit -u -D", "LISTMAX=0", "unsetopt beep prompt_sp list_ambiguous",
                    "source <(rnbdadm completion zsh)"],
            "fish": ["function fish_prompt; echo -n '> '; end", "set -g fish_greeting", "set -g fish_autosuggestion_enabled 0",
                     "rnbdadm completion fish | source"],
        }[self.name]

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def clean(self):
        return re.sub(r"\x1b\[[0-9;?>=]*[a-zA-Z]|\x1b[=>()][0-9B]?|\x1b\][^\a]*\a|\x0f|\x1b\[?[0-9;?>=]*$", "", self.text)

    def read(self, until, more=0):
        """Reads the terminal until the text that it has shown since the last call fits, then until nothing comes for so many seconds."""
        end = time.monotonic() + LIMIT
        while True:
            if until(self.clean()):
                while more and select.select([self.fd], [], [], more)[0]:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                # as a whole: a read may end within a sequence of the terminal
                clean, self.text = self.clean(), ""
                return clean
            if time.monotonic() > end or not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("%s says %r" % (self.name, self.text))
            got = os.read(self.fd, 65536)
            self.text += got.decode(errors="replace")

    def run(self, keys, words):
        """Types the line; it must run with these words."""
        self.send(keys + RETURN)
        want = "RAN" + "".join("<%s>" % w for w in words) + "DONE"
        seen = self.read(lambda t: re.search(r"RAN.*?DONE" + self.prompt, t))
        ran = re.search(r"RAN.*?DONE", seen).group()
        assert ran == want, "%s: %r ran %s, not %s" % (self.name, keys, ran, want)

    def offers(self, keys, enough, more=0):
        """What the terminal shows after TAB, until it has shown enough; see read()."""
        self.text = ""
        self.send(keys)
        self.read(lambda t: t.endswith(keys) or self.name != "bash" and t.rstrip().endswith(keys.split()[-1]))
        self.send(TAB)
        seen = self.read(enough, more)
        # fish takes its list away first
        self.send(("\x1b" if self.name == "fish" else "") + KILL)
        self.run("rnbdadm next", ["next"])
        return seen

    def lists(self, keys, words, without=()):
        """The line has several ends: these are shown, in this order."""
        def where(word, text):
            # descriptions do not count
            return re.search(r"(^|\s)%s(\s|$)" % re.escape(word), re.sub(r" -- [^\r\n]*|\([^)]*\)", "", text))

        seen = self.offers(keys, lambda t: all(where(w, t) for w in words))
        at = [where(w, seen).start() for w in words]
        assert at == sorted(at), "%s: %r shows %r in another order: %r" % (self.name, keys, words, seen)
        for w in without:
            assert w in keys or not where(w, seen), "%s: %r shows %s: %r" % (self.name, keys, w, seen)

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        shutil.rmtree(self.home)


# Keys, and the words that the shell then runs; what is in the middle is not what a shell takes for a word
LINES = (
    ("sess\tsho\tcl1@srv2\t", ["session", "show", "cl1@srv2"]),
    ("server exp\tsho\tsd\t", ["server", "export", "show", "sdb"]),
    ("serv\tclient show cl7@\t", ["server", "client", "show", "cl7@here"]),
    ("path show cl1@srv1 ip:10.0.1.1@\t", ["path", "show", "cl1@srv1", "ip:10.0.1.1@ip:10.0.1.2"]),
    ("path show cl1@srv1 ip:10.0.1.1@i\t", ["path", "show", "cl1@srv1", "ip:10.0.1.1@ip:10.0.1.2"]),
    ("path show cl1@srv1 ip:10.0.1.1@ip:\t", ["path", "show", "cl1@srv1", "ip:10.0.1.1@ip:10.0.1.2"]),
    ("path show cl1@srv1 ip:10.0.1.1@ip:10.\t", ["path", "show", "cl1@srv1", "ip:10.0.1.1@ip:10.0.1.2"]),
    ("path show cl1@srv1 ip:10.0.1.\t", ["path", "show", "cl1@srv1", "ip:10.0.1.1@ip:10.0.1.2"]),
    ("path show cl1@srv1 10.0.1.1\t", ["path", "show", "cl1@srv1", "10.0.1.1@10.0.1.2"]),
    ("path show cl1@srv1 --hca mlx5_1:\t", ["path", "show", "cl1@srv1", "--hca", "mlx5_1:1"]),
    ("map x --path ip:10.0.0.1@ip:10.0.1\t", ["map", "x", "--path", "ip:10.0.0.1@ip:10.0.1.2"]),
    ("map x --path=ip:10.0.0.1@ip:10.0.1\t", ["map", "x", "--path=ip:10.0.0.1@ip:10.0.1.2"]),
    ("map x --path ip:10.0.0.1\tip:10.0.0.3\t", ["map", "x", "--path", "ip:10.0.0.1@ip:10.0.0.3"]),
    ("map x --acc\tmig\t", ["map", "x", "--access", "migration"]),
    ("session show 'cl1@srv2\t", ["session", "show", "cl1@srv2"]),
    ('session show "cl1@srv2\t', ["session", "show", "cl1@srv2"]),
    ("session show cl1\\@srv2\t", ["session", "show", "cl1@srv2"]),
    ("unmap --session=cl1@srv2\trn\t", ["unmap", "--session=cl1@srv2", "rnbd2"]),
    ("unmap --sess\tcl1@srv2\trn\t", ["unmap", "--session", "cl1@srv2", "rnbd2"]),
    ("session set cl1@srv1 --mp-policy=min-l\t", ["session", "set", "cl1@srv1", "--mp-policy=min-latency"]),
    ("session set cl1@srv1 --heartbeat-int\t\t", ["session", "set", "cl1@srv1", "--heartbeat-interval", "5000ms"]),
    ("session list -F state,nam\t", ["session", "list", "-F", "state,name"]),
    ("session list --filter stat\tdegraded", ["session", "list", "--filter", "state=degraded"]),
    # a word in the middle of the line
    ("session show cl1@srv2 x\x1b[D\x1b[D\t", ["session", "show", "cl1@srv2", "x"]),
    # nothing fits: the line stays as it is
    ("session show nosuch\t", ["session", "show", "nosuch"]),
    ("session list --nosuch\t", ["session", "list", "--nosuch"]),
    ("session nosuch cl\t", ["session", "nosuch", "cl"]),
    # a node is a file
    ("unmap /usr/bin/base64\t", ["unmap", "/usr/bin/base64"]),
    ("unmap /usr/bin/base6\t", ["unmap", "/usr/bin/base64"]),
)

# Keys, what is offered in this order, what is not
LISTS = (
    ("path reconnect cl1@srv1 ", ["ip:10.0.1.1@ip:10.0.1.2", "ip:10.0.0.1@ip:10.0.0.2"], ["ip:10.0.0.1@ip:10.0.0.3"]),
    ("path disconnect cl1@srv1 ", ["ip:10.0.0.1@ip:10.0.0.2", "ip:10.0.1.1@ip:10.0.1.2"], []),
    ("remap ", ["rnbd2", "rnbd0", "rnbd1", "ram0", "vol0"], []),
    ("unmap rnbd1 ", ["rnbd0", "rnbd2", "vol0"], ["rnbd1", "vol1"]),
    ("stats ", ["reset", "cl1@srv1", "cl1@srv2", "rnbd0"], []),
    ("map x --access ", ["rw", "ro", "migration"], []),
    ("path ", ["list", "show", "add"], ["ls", "client"]),
    ("help server ", ["export", "client"], []),
)

# Names that a shell would take for something else
NAMES = ("d$(touch pwned)", "e'q", 'f"q', "g h", "i\\j", "k;l", "m*", "n`touch pwned`", "o=p@q:r", "s!t", "ué")


def lines(binary, rec, name):
    shell = Shell(name, binary, rec)
    for keys, words in LINES:
        shell.run("rnbdadm " + keys, words)
    shell.close()
    print(len(LINES), "lines")


def lists(binary, rec, name):
    # fish fills columns where there is room
    shell = Shell(name, binary, rec, columns=75 if name == "fish" else 200)
    for keys, words, without in LISTS:
        shell.lists("rnbdadm " + keys, words, without)
    shell.close()


def names(binary, rec, name):
    shell = Shell(name, binary, rec, "shell")
    for n in NAMES:
        shell.run("rnbdadm unmap " + n[0] + TAB, ["unmap", n])
    if name == "bash":
        # in quotes what cannot be quoted is left alone
        shell.run('rnbdadm unmap "g' + TAB, ["unmap", "g h"])
        shell.run('rnbdadm unmap "d' + TAB + '"', ["unmap", "d"])
    assert not os.path.exists(os.path.join(shell.home, "pwned")), "a name was run"
    shell.close()


def silent(binary, rec, name):
    """No module, no permission, no tool: no words, and nothing on the terminal but what was typed."""
    for recording, root, tool in (("absent", "bare", binary), ("denied", "root", binary), ("two-sessions", "root", "/nonexistent")):
        shell = Shell(name, binary, rec, recording, root)
        if tool != binary:
            with open(os.path.join(shell.home, "bin", "rnbdadm"), "r+") as f:
                text = f.read().replace(binary, tool)
                f.seek(0)
                f.truncate()
                f.write(text)
        shell.send("rnbdadm session show " + TAB + RETURN)
        seen = shell.read(lambda t: "DONE" in t)
        assert "RAN<session><show>DONE" in seen, seen
        for bad in ("rror", "denied", "not found", "loaded", "such file", "larm"):
            assert bad not in seen.replace("\r", ""), "%s says %r" % (name, seen)
        shell.close()


def state(binary, rec):
    """bash is as it was before."""
    shell = Shell("bash", binary, rec)
    dump = "{ printf '%q ' \"$COMP_WORDBREAKS\" \"$IFS\"; shopt; set -o; bind -v; compgen -A function; } >state"
    shell.send(dump + RETURN)
    shell.run("rnbdadm path show cl1@srv1 ip:10.0.1.1@ip:10." + TAB, ["path", "show", "cl1@srv1", "ip:10.0.1.1@ip:10.0.1.2"])
    with open(os.path.join(shell.home, "state")) as f:
        before = f.read()
    shell.send(dump + RETURN)
    shell.run("rnbdadm x", ["x"])
    with open(os.path.join(shell.home, "state")) as f:
        assert f.read() == before, "the shell has changed"
    # and where it breaks words elsewhere
    for setup in ("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}", "shopt -u hostcomplete", "COMP_WORDBREAKS=$' \\t\\n'"):
        shell.send(setup + RETURN)
        for keys, words in LINES:
            shell.run("rnbdadm " + keys, words)
    shell.close()


def table(binary, rec):
    """The tool offers what the table holds, at every position; each shell shows it, of the same words after the same option once."""
    meta = json.loads(subprocess.run([binary, "metadata", "-j"], capture_output=True, check=True).stdout)
    shells = [Shell(name, binary, rec, columns=500) for name in ("bash", "zsh", "fish")]
    globals_ = ["--" + o["long"] for o in meta["options"] if not o["hidden"]]
    verbs = {"": set()}
    for c in meta["commands"]:
        at = ""
        for w in c["name"].split():
            verbs.setdefault(at, set()).add(w)
            at = (at + " " + w).strip()
    tried, shown = 0, set()

    def asked(keys):
        words = ["rnbdadm"] + keys.split(" ")
        said = subprocess.run([binary, "--nl-replay", rec + "/two-sessions.nl", "--test-root", rec + "/root",
                               "__complete", str(len(words) - 1), "--"] + words, capture_output=True, check=True, text=True)
        return [l.partition("\t")[0].rpartition("=")[2] for l in said.stdout.splitlines()]

    def offered(shell, keys, want):
        if shell.name == "bash":
            # the list ends where the line is shown again
            line = "% rnbdadm " + keys
            return shell.offers("rnbdadm " + keys, lambda t: line in t).partition("% ")[0].split()
        if shell.name == "zsh":
            seen = shell.offers("rnbdadm " + keys, lambda t: set(want) <= words_of(t), 0.005)
            return words_of(seen.partition("\n")[2])
        # its pager holds back what is long
        shell.send("echo FROM''HERE; complete -C %s; echo TO''HERE%s" % (shlex.quote("rnbdadm " + keys), RETURN))
        seen = shell.read(lambda t: "TOHERE" in t).partition("FROMHERE")[2].partition("TOHERE")[0]
        return [l.partition("\t")[0].rpartition("=")[2] for l in seen.splitlines() if l.strip()]

    # of one description there may be several in a line; the command line, or its start, comes once more
    def words_of(text):
        return {w.rpartition("=")[2] for l in text.splitlines() if l[:7] != "rnbdadm"[:len(l)]
                for w in l.partition(" -- ")[0].split()}

    def same(keys, want):
        nonlocal tried
        tried += 1
        said = {"rnbdadm": asked(keys)}
        kind = (keys.rpartition(" --")[2], *sorted(want))
        if kind not in shown:
            shown.add(kind)
            said.update((s.name, offered(s, keys, want)) for s in shells)
        for who, got in said.items():
            assert sorted(got) == sorted(want), "%s: %r offers %s, not %s" % (who, keys, sorted(got), sorted(want))

    for at, words in verbs.items():
        args = next((c["arguments"] for c in meta["commands"] if c["name"] == at), [])
        if len(words) > 1 and not args:
            same(at + " " if at else "", words)
    for c in meta["commands"]:
        same(c["name"] + " --", globals_ + ["--" + o["long"] for o in c["options"]])
        for o in c["options"] + meta["options"]:
            if len(o["values"]) > 1 and not o["hidden"]:
                same("%s --%s%s" % (c["name"], o["long"], "=" if o["argument"] == "optional" else " "), o["values"])
        if c["arguments"] and len(c["arguments"][0]["values"]) > 1:
            same(c["name"] + " ", c["arguments"][0]["values"])
    for s in shells:
        s.close()
    print(tried, "positions,", len(shown), "in the shells")


def times(binary, rec, name):
    """Milliseconds from the key to the word, the median of some. What else the host has to do is not measured."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pass
    for recording, keys, ends, limit in (("two-sessions", "rnbdadm unmap --session cl1@srv2 rn", "bd2", 50),
                                         ("devices", "rnbdadm unmap rnbd409", "rnbd4095", 200)):
        shell = Shell(name, binary, rec, recording, hurry=True)
        took = []
        for _ in range(7):
            shell.send(keys)
            shell.read(lambda t: t.rstrip().endswith(keys.split()[-1]))
            start = time.monotonic()
            shell.send(TAB)
            shell.read(lambda t: ends in t)
            took.append(1000 * (time.monotonic() - start))
            shell.send(("\x1b" if name == "fish" else "") + KILL)
            shell.run("rnbdadm x", ["x"])
        shell.close()
        limit *= pace()
        print("%s: %s: %.1f of %.1f ms" % (name, keys, statistics.median(took), limit))
        assert statistics.median(took) < limit, took


def installed(binary, rec, share):
    """No script is loaded by hand."""
    for name, setup in (("bash", ["PS1='% '", "XDG_DATA_DIRS=" + share, ". /usr/share/bash-completion/bash_completion"]),
                        ("zsh", ["PS1='> '", "fpath=(%s/zsh/vendor-completions $fpath)" % share, "autoload -Uz compinit",
                                 "compinit -u -D"]),
                        ("fish", ["set -p fish_complete_path %s/fish/vendor_completions.d" % share])):
        shell = Shell(name, binary, rec, setup=setup)
        shell.run("rnbdadm path show cl1@srv2 ip:10.0.0.1@ip:" + TAB,
                  ["path", "show", "cl1@srv2", "ip:10.0.0.1@ip:10.0.0.3"])
        shell.close()


def main():
    binary, rec, what = sys.argv[1:4]
    {"lines": lines, "lists": lists, "names": names, "silent": silent, "state": state, "table": table,
     "times": times, "installed": installed}[what](binary, rec, *sys.argv[4:])


if __name__ == "__main__":
    main()
