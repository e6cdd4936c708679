"""What the console and the administration API take for a catalogue of 500 MVPDs and 50 requestors, 25,000 integrations.

    Tests/Benchmarks/run console [--rounds 7] [--mvpds 500] [--requestors 50]

Starts a cluster of its own (release build) in a temporary folder, measures, and stops it. Prints a table for Shared/Documents/Benchmarks/RESULTS.md. Ends with 1 if a
goal does not hold: an edit 300 ms, a page 100 ms and 200 kB."""

import argparse
import http.cookiejar
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

EDIT, PAGE, SIZE = 0.3, 0.1, 200_000


def catalogue(mvpds, requestors):
    channels = [{"id": f"CH{i}", "name": f"Channel {i}", "programmer": f"prog{i % 10}", "domains": [f"ch{i}.example"]} for i in range(requestors)]
    providers = [{
        "id": f"MVPD{i}", "displayName": f"Provider {i}", "authzTtl": 86400, "authnTtl": 2592000,
        "oauth": {
            "issuer": f"https://m{i}.example", "authorizeUrl": f"https://m{i}.example/a", "tokenUrl": f"https://m{i}.example/t",
            "profileUrl": f"https://m{i}.example/p", "clientId": "boxoffice", "clientSecretReference": "openfiber"},
        "authorization": {"protocol": "none"}} for i in range(mvpds)]
    return {
        "programmers": [{"id": f"prog{i}", "name": f"Programmer {i}"} for i in range(10)], "requestors": channels, "mvpds": providers,
        "integrations": [
            {"requestor": channel["id"], "mvpd": provider["id"], "metadataKeys": ["userID", "householdID", "channelID"], "authnTtl": 604800}
            for channel in channels for provider in providers],
        "applications": []}


class Cluster:
    def __init__(self, boxoffice, home, document):
        self.boxoffice, self.environment = boxoffice, {**os.environ, "BOXOFFICE_HOME": str(home)}
        path = home.parent / "catalogue.json"
        path.write_text(json.dumps(document))
        self.run("up", "--detach", "--no-demo", "--catalogue", str(path))
        facts = json.loads((home / "cluster.json").read_text())
        self.admin, self.bearer = facts["admin"], facts["adminToken"]
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.page("/console/sign-in", {"bearer": self.bearer})

    def run(self, *arguments):
        subprocess.run([self.boxoffice, *arguments], env=self.environment, check=True, stdout=subprocess.DEVNULL, timeout=600)

    def page(self, path, form=None):
        data = None if form is None else urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(self.admin + path, data=data, headers={"Origin": self.admin} if data else {})
        with self.browser.open(request, timeout=60) as answer:
            return answer.read()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.admin + "/admin/v1" + path, data=data, method=method, headers={
            "Authorization": "Bearer " + self.bearer, "Content-Type": "application/json", "If-Match": "*"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()


def timed(rounds, work):
    """The median in seconds, and the size of the last answer."""
    times, size = [], 0
    for number in range(rounds):
        begin = time.monotonic()
        size = len(work(number))
        times.append(time.monotonic() - begin)
    return statistics.median(times), size


PAGES = [
    "", "/integrations", "/integrations?page=300", "/integrations?q=mvpd49", "/integrations?requestor=CH7", "/mvpds", "/mvpds?q=provider+49",
    "/channels", "/integrations/CH7/MVPD25", "/integrations/CH7/MVPD25/edit", "/mvpds/MVPD25", "/mvpds/MVPD25/edit", "/draft", "/history", "/usage",
    "/reports/authn-ttl?chosen=1&requestor=CH7", "/degradation/new"]


def measure(cluster, rounds):
    rows = []

    def take(what, goal, work, times=rounds):
        seconds, size = timed(times, work)
        rows.append((what, seconds, size, seconds <= goal and size <= SIZE))

    def pages(note):
        for path in PAGES:
            take(f"`/console{path}`{note}", PAGE, lambda _: cluster.page("/console" + path))

    for path in ["/integrations?requestor=CH7", "/integrations?q=mvpd49", "/mvpds"]:
        take(f"`GET /admin/v1{path}`", PAGE, lambda _: cluster.call("GET", path))
    pages("")
    integration = {"requestor": "CH7", "mvpd": "MVPD25", "metadataKeys": ["userID"]}
    take("edit of an integration", EDIT, lambda n: cluster.call("PUT", "/integrations/CH7/MVPD25", {**integration, "authnTtl": 604801 + n}))
    mvpd = json.loads(cluster.call("GET", "/mvpds/MVPD25"))["entity"]
    take("edit of an MVPD", EDIT, lambda n: cluster.call("PUT", "/mvpds/MVPD25", {**mvpd, "displayName": f"Another {n}"}))
    channel = json.loads(cluster.call("GET", "/requestors/CH7"))["entity"]
    take("edit of a requestor", EDIT, lambda n: cluster.call("PUT", "/requestors/CH7", {**channel, "name": f"Another {n}"}))
    pages(", with a draft")
    seconds, size = timed(1, lambda _: cluster.call("POST", "/draft/push", {"description": "benchmark"}))
    rows.append(("push (no goal)", seconds, size, True))
    return rows


def main():
    options = argparse.ArgumentParser()
    for name, value in [("--rounds", 7), ("--mvpds", 500), ("--requestors", 50)]:
        options.add_argument(name, type=int, default=value)
    options.add_argument("--boxoffice", required=True, help="the command line of a release build")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder) / "home"
        cluster = Cluster(chosen.boxoffice, home, catalogue(chosen.mvpds, chosen.requestors))
        try:
            rows = measure(cluster, chosen.rounds)
        finally:
            cluster.run("down")
    print("| What | Median | Size | |\n|---|---|---|---|")
    for what, seconds, size, holds in rows:
        print(f"| {what} | {seconds * 1000:.0f} ms | {size / 1000:.1f} kB | {'holds' if holds else 'misses its goal'} |")
    return 0 if all(row[3] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
