#!/usr/bin/env python3
"""Boxoffice beside its peers, in turns on this machine; README.md in this folder says how each is set up.

    Tests/Benchmarks/run peers [--seconds 2] [--rounds 3] [--only NAME ...] [--no-build]

Builds what is missing, prints a table of median ratios, and ends with 0 when every goal holds, 1 when one does not or a peer could not be measured.
"""

import argparse
import datetime
import os
import pathlib
import platform
import shutil
import signal
import sys
import tempfile

from builds import TOOLS, Builder, configuration
from comparison import Table
from http_pairs import Http
from identities import Identities
from processes import Failure
from store_pair import Store
from wire_pairs import Wire

NAMES = {
    "echo": "echo beside C", "configuration": "GetConfiguration beside C", "grpc-cpp": "echo beside gRPC C++", "grpc-swift": "echo beside grpc-swift-2",
    "go-gateway": "HTTP → service beside Go grpc-gateway", "hummingbird": "HTTP → service beside Hummingbird + grpc-swift-2",
    "codes": "registration code beside glewlwyd", "polls": "poll for a session beside glewlwyd",
    "media-reference": "media token beside openssl speed rsa2048", "media-es256": "media token beside openssl speed ecdsap256",
    "store": "10 million sessions beside 10 thousand"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison; the median ratio counts")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"only these, from: {', '.join(NAMES)}")
    parser.add_argument("--no-build", action="store_true", help="build nothing with Swift: take the programs that are there")
    parser.add_argument("--devices", type=int, default=1024, help="signed-in devices at the gateway")
    parser.add_argument("--sessions", type=int, default=10_000_000, help="in the large store")
    parser.add_argument("--port-base", type=int, default=21_800, help="first port of the cluster; the other programs choose free ones")
    given = parser.parse_args()
    unknown = set(given.only or []) - set(NAMES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    return given


def machine(given, folder):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    print(f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} cores ({model}), Linux {platform.release()}, load average {os.getloadavg()[0]:.1f}; "
          f"{configuration()} build; {given.rounds} rounds of {given.seconds:g} s in turns; medians; state in {folder}")
    if configuration() != "release":
        print("A DEBUG BUILD OF OURS: these figures say nothing about speed.")
    print("Loads, servers and peers share the cores. TLS 1.3, AES-128-GCM, P-256 everywhere.\n", flush=True)


def main():
    given = arguments()
    # A stop by a signal still stops the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    builder = Builder(given.no_build)
    # Not the system's folder for temporary files, which may be memory: durable writes must reach the disk.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="peers-", dir=TOOLS))
    os.environ["TMPDIR"] = str(folder)
    http = None
    try:
        identities = Identities(folder / "identities")
        wire = Wire(builder, identities, given.seconds, given.rounds, folder)
        http = Http(builder, identities, given.seconds, given.rounds, folder, given.port_base, given.devices)
        store = Store(builder, given.seconds, given.rounds, given.sessions)
        steps = dict(zip(NAMES, (
            wire.echo, wire.configuration, wire.grpc_cpp, wire.grpc_swift, http.go_gateway, http.hummingbird, http.codes, http.polls,
            http.media_reference, http.media_es256, store.compare)))
        machine(given, folder)
        table = Table()
        table.begin()
        for name, step in steps.items():
            if given.only and name not in given.only:
                continue
            try:
                step(table)
            except (Failure, OSError, ValueError) as failure:
                table.lack(NAMES[name], failure)
        return 0 if table.end() else 1
    finally:
        if http is not None:
            http.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
