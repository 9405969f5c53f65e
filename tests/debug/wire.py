#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wire.py DIR N: N network links between two guests of user-mode Linux, until stdin ends.

Link I has two ends, the sockets DIR/linkI.server and DIR/linkI.client. Each packet that a guest sends into its end comes out at
the other, and is lost if there is nobody. A guest that takes none lets the other wait. One that is started again connects anew.
"""
import os
import socket
import sys
import threading


class End:
    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen()
        self.guest = None

    def send(self, packet):
        guest = self.guest
        try:
            guest and guest.send(packet)
        except OSError:
            pass  # it has just ended

    def carry_to(self, other):
        while True:
            self.guest = self.listener.accept()[0]
            try:
                while packet := self.guest.recv(1 << 16):
                    other.send(packet)
            except OSError:
                pass
            self.guest = None


def main():
    os.chdir(sys.argv[1])  # the path of a socket has 107 bytes at most
    for i in range(1, int(sys.argv[2]) + 1):
        server, client = End(f"link{i}.server"), End(f"link{i}.client")
        for args in (server, client), (client, server):
            threading.Thread(target=args[0].carry_to, args=args[1:], daemon=True).start()
    open("ready", "w").close()
    sys.stdin.read()


main()
