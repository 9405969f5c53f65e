#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wire.py DIR N: N network links between two guests of user-mode Linux, until stdin ends.

Link I has two ends, the sockets DIR/linkI.server and DIR/linkI.client. Each packet that a guest sends into its end comes out at
the other, and is lost if there is nobody, or if too many wait there. No guest ever waits for the other: user-mode Linux tries to send
again and again in an interrupt, in which its clock stands still, and two guests would wait for each other for ever, each on
another link. One that is started again connects anew.
"""
import os
import socket
import sys
import threading

SO_SNDBUFFORCE = 32  # asm-generic/socket.h
ROOM = 64 << 20  # bytes that may wait at an end; for others than root it is what the host allows


class End:
    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen()
        self.guest = None

    def send(self, packet):
        guest = self.guest
        try:
            guest and guest.send(packet, socket.MSG_DONTWAIT)
        except OSError:
            pass  # it has just ended, or has too many

    def carry_to(self, other):
        while True:
            guest = self.listener.accept()[0]
            try:
                guest.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
            except PermissionError:
                guest.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
            self.guest = guest
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
