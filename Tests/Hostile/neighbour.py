"""A viewer's app beside an attack, as a program of its own: it asks a hundred times a second whether its device is signed in. The gateway asks authentication each
time, so that no copy of an answer hides what the attack costs. Standard input: where and how, as JSON; its end: the measuring ends. Standard output: the times.

Attackers, neighbour and cluster share the processors. A bystander shows what that alone costs: after each call the neighbour sends a few octets through two
processes that have nothing to do with the cluster, as its call goes through two. The times of both are told.
"""

import http.client
import json
import os
import select
import socket
import sys
import time


def serve(listener, following):
    """A process: sends what comes on to the following one, where there is one, and its answer back."""
    if os.fork():
        return
    sys.stdin.close()
    peer = socket.create_connection(following) if following else None
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while octets := connection.recv(64):
        if peer:
            peer.sendall(octets)
            octets = peer.recv(64)
        connection.sendall(octets)
    os._exit(0)


def bystanders():
    following = None
    for _ in range(2):
        listener = socket.create_server(("127.0.0.1", 0))
        serve(listener, following)
        following = listener.getsockname()
        listener.close()
    connection = socket.create_connection(following)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def is_over():
    return bool(select.select([sys.stdin], [], [], 0.01)[0])


def main():
    told = json.loads(sys.stdin.readline())
    bystander, connection = bystanders(), None
    seen = {"times": [], "bystander": [], "failures": [], "refusals": 0}
    print("ready", flush=True)
    while not is_over():
        start = time.monotonic()
        try:
            if connection is None:
                connection = http.client.HTTPConnection(*told["address"], timeout=10)
            connection.request("GET", told["path"], headers=told["headers"])
            answer = connection.getresponse()
            answer.read()
            if answer.status == 503 and answer.getheader("Retry-After"):
                seen["refusals"] += 1
                start -= 60
            elif answer.status != 200:
                seen["failures"].append(answer.status)
        except OSError as error:
            seen["failures"].append(type(error).__name__)
            connection = None
        seen["times"].append(time.monotonic() - start)
        start = time.monotonic()
        bystander.sendall(b"x" * 32)
        bystander.recv(64)
        seen["bystander"].append(time.monotonic() - start)
    print(json.dumps(seen), flush=True)


main()
