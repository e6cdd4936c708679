"""Clusters whose programs are of either release."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[3]
sys.path.insert(0, str(HERE.parents[1] / "Alerts"))
import cluster as clusters  # noqa: E402

STORES = ["config", "authentication", "authorization", "autosignin"]


class Release:
    """The programs of a release, and the checkout with its documented settings and pages."""

    def __init__(self, name, programs, checkout):
        self.name, self.programs, self.checkout = name, pathlib.Path(programs).resolve(), pathlib.Path(checkout).resolve()


FORMER = Release("the release before", os.environ.get("BOXOFFICE_FORMER", ""), os.environ.get("BOXOFFICE_FORMER_CHECKOUT", ""))
THIS = Release("this release", os.environ.get("BOXOFFICE_BINARIES", ""), ROOT)


class Cluster(clusters.Cluster):
    def take(self, release):
        """The next `up` starts the programs of this release."""
        self.use(release.programs, release.checkout)

    def try_up(self, *arguments):
        """Whether the cluster starts, and what is said."""
        done = subprocess.run(
            [self.program, "up", "--detach", "--no-demo", *arguments], env=self.environment, capture_output=True, text=True, timeout=180, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    def marked(self):
        """Whether an MVPD's record says what only a later release reads (Upgrade.md)."""
        status, body = self.administer("GET", "/mvpds?size=200")
        assert status == 200, (status, body)
        return any("callback" in (item["entity"].get("oauth") or {}) for item in json.loads(body)["items"])

    def levels(self, engine):
        """{service: (steps that its store has had, steps that a program must know)}; none before releases that tell."""
        found = {}
        for service in STORES:
            if engine == "sqlite":
                file = next((self.home / f"data/{service}").glob("*.sqlite"))
                command = ["sqlite3", f"file:{file}?mode=ro", "SELECT current || ' ' || least FROM schema_level"]
            else:
                psql = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"), key=lambda path: int(path.parts[4]))[-1]
                command = [psql, "-h", self.home / "postgres", "-p", str(self.port + 7), "-U", "postgres", "-d", service, "-XAtc", "SELECT current || ' ' || least FROM schema_level"]
            said = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.split()
            found[service] = tuple(map(int, said))
        return found

    def rename(self, name):
        """An administrator pushes another name of the first channel."""
        status, body = self.administer("GET", "/requestors/ACME1")
        assert status == 200, (status, body)
        entity = json.loads(body)["entity"] | {"name": name}
        status, body = self.administer("PUT", "/requestors/ACME1", entity)
        assert status == 200, (status, body)
        status, body = self.administer("POST", "/draft/push", {"description": name})
        assert status in (200, 202) and json.loads(body)["status"] == "success", (status, body)
        clusters.until(f"the name {name}", lambda: self.name() == name)

    def name(self):
        """The channel's name, as apps see it."""
        status, body = self.call("GET", "/api/v1/config/ACME1.json")
        return json.loads(body)["requestor"]["name"] if status == 200 else None
