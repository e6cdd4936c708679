"""What a call costs where one, two and four copies of each service share a PostgreSQL server, at one rate (scale-out §5).

This machine's processors are too few to show throughput: the measure is the processor time of all programs for a call. Rounds go through the numbers of copies in
turn; a number's cost is the median of its rounds. The goals: two and four copies cost at most 1.1 times what one costs, and PostgreSQL's share stays within a tenth.

A copy also costs something where nobody calls: heartbeats, leases, what it asks its peers. That is a cost by the second, not by the call; it is measured while nobody calls,
and told beside the whole.

    copies.py --boxoffice PROGRAM [--rounds 3] [--seconds 20] [--rate 100]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

COPIES = (1, 2, 4)
# Seconds without a call.
REST = 8
GOAL, SHARE = 1.1, 0.1


def processor(pid):
    """Seconds that a process and its threads have computed."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Cluster:
    def __init__(self, program, folder):
        self.home, self.program = folder / "home", program
        self.environment = {**os.environ, "BOXOFFICE_HOME": str(self.home), "BOXOFFICE_PORT_BASE": os.environ.get("BOXOFFICE_PORT_BASE", "21900")}

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            sys.exit(f"boxoffice {' '.join(arguments)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def up(self, copies):
        self.run("up", "--detach", "--no-demo", "--store", "postgres", "--copies", str(copies))

    @property
    def file(self):
        return json.loads((self.home / "cluster.json").read_text())

    def services(self):
        """Seconds of all copies of all services."""
        entries = [entry for service in self.file["services"].values() for entry in [service, *service.get("copies", [])]]
        return sum(processor(entry["pid"]) for entry in entries)

    def database(self):
        """Seconds of the server and of its processes, which live as long as their connections."""
        server = (self.home / "postgres/data/postmaster.pid").read_text().split()[0]
        return processor(server) + sum(processor(pid) for pid in pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split())

    def requests(self):
        """Requests that the gateway has answered."""
        text = urllib.request.urlopen(f"http://{self.file['services']['gateway']['debug']}/metrics", timeout=10).read().decode()
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith("boxoffice_gateway_requests_total"))

    def load(self, rate, seconds):
        self.run("load", "gateway", "--scenario", "mixed", "--rate", str(rate), "--duration", f"{seconds}s", "--warm-up", "1s", "--assert", "errors<1%", "--quiet")


def measure(cluster, copies, options):
    """Microseconds of the services and of the server for a request; those that both cost in the same time while nobody calls, for a request and for a second."""
    cluster.up(copies)
    # Connections are made and caches warm.
    cluster.load(options.rate, 5)
    time.sleep(1)
    services, database, requests, began = cluster.services(), cluster.database(), cluster.requests(), time.monotonic()
    cluster.load(options.rate, options.seconds)
    time.sleep(1)
    count, lasted = cluster.requests() - requests, time.monotonic() - began
    cost = 1e6 * (cluster.services() - services) / count, 1e6 * (cluster.database() - database) / count
    time.sleep(1)
    before, began = cluster.services() + cluster.database(), time.monotonic()
    time.sleep(REST)
    resting = 1e6 * (cluster.services() + cluster.database() - before) / (time.monotonic() - began)
    return *cost, resting * lasted / count, resting


def main():
    parser = argparse.ArgumentParser(description="What a call costs with one, two and four copies of each service.")
    parser.add_argument("--boxoffice", required=True)
    for name, value in [("--rounds", 3), ("--seconds", 20), ("--rate", 100)]:
        parser.add_argument(name, type=int, default=value)
    options = parser.parse_args()
    costs = {copies: [] for copies in COPIES}
    with tempfile.TemporaryDirectory(prefix="boxoffice-copies-") as folder:
        pathlib.Path(folder).chmod(0o711)
        cluster = Cluster(options.boxoffice, pathlib.Path(folder))
        try:
            for number in range(options.rounds):
                for copies in COPIES:
                    costs[copies].append(measure(cluster, copies, options))
                    services, database, _, resting = costs[copies][-1]
                    print(
                        f"round {number + 1}: {copies} of each: {services:.0f} µs of the services and {database:.0f} of PostgreSQL for a request;"
                        f" {resting / 1000:.1f} ms a second without one", flush=True)
        finally:
            subprocess.run([options.boxoffice, "down"], env=cluster.environment, capture_output=True, timeout=60)
    whole = {copies: statistics.median(cost[0] + cost[1] for cost in costs[copies]) for copies in COPIES}
    resting = {copies: statistics.median(cost[2] for cost in costs[copies]) for copies in COPIES}
    database = {copies: statistics.median(cost[1] for cost in costs[copies]) for copies in COPIES}
    good = True
    for copies in COPIES[1:]:
        ratio, share = whole[copies] / whole[1], database[copies] / database[1]
        met = ratio <= GOAL and abs(share - 1) <= SHARE
        good = good and met
        print(
            f"{copies} copies: {whole[copies]:.0f} µs beside {whole[1]:.0f}, {ratio:.2f} times (goal {GOAL});"
            f" PostgreSQL {share:.2f} times (0.9 to 1.1){'' if met else '  MISSED'}")
        calls, one = whole[copies] - resting[copies], whole[1] - resting[1]
        print(f"{copies} copies, without what they cost while nobody calls: {calls:.0f} µs beside {one:.0f}, {calls / one:.2f} times")
    sys.exit(not good)


main()
