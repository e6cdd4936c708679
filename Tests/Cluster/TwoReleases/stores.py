"""A folder that is kept, with stores of the release before: made by that release, started and used by this one, and started by the former one again.

    stores.py sqlite|postgres
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from releases import FORMER, THIS, Cluster

PORT = int(os.environ.get("BOXOFFICE_PORT_BASE", "21000")) + 640


class Life:
    def __init__(self, engine, folder):
        self.engine, self.folder, self.cluster = engine, folder, Cluster(folder, PORT)
        self.people = []

    def step(self, text):
        print(f"ok    {self.engine}: {text}", flush=True)

    def device(self, name, *arguments, fails=False):
        return self.cluster.run("device", *arguments, "--state", str(self.folder / name), "--device-id", name, fails=fails)

    def sign_in(self, name, mvpd="NorthCable"):
        self.device(name, "signin", "--as", "ada", "--mvpd", mvpd)
        self.people.append(name)

    def all_play(self):
        """Whoever signed in, at whatever release, is signed in and plays."""
        for name in self.people:
            said = self.device(name, "play", "ACME1-NEWS")
            assert "ACME1-NEWS" in said, f"{name} does not play: {said}"

    def start(self, release):
        self.cluster.take(release)
        self.cluster.up("--store", self.engine)

    def is_sound(self):
        self.cluster.run("store", "check", "--deep")
        status, body = self.cluster.administer("GET", "/history/verification")
        assert status == 200, f"the history of the catalogue: {status} {body}"

    def fixture(self):
        """The folder as the release before leaves it."""
        self.start(FORMER)
        for name, mvpd in (("before-saml", "NorthCable"), ("before-encrypted", "LakeTel"), ("before-openid", "OpenFiber")):
            self.sign_in(name, mvpd)
        self.all_play()
        self.cluster.rename("Named before")
        self.cluster.run("secret", "set", "kept-secret", text="sealed before")
        self.is_sound()
        self.levels, self.was_marked = self.cluster.levels(self.engine), self.cluster.marked()
        self.backup = self.folder / "backup"
        self.cluster.run("store", "backup", "--to", str(self.backup))
        self.cluster.down()
        self.step(f"the release before has made stores of {self.levels}")

    def upgrade(self):
        self.start(THIS)
        self.all_play()
        assert self.cluster.name() == "Named before", f"a push of the release before is lost: {self.cluster.name()}"
        self.sign_in("after-saml")
        self.sign_in("after-openid", "OpenFiber")
        self.all_play()
        self.cluster.rename("Named after")
        self.is_sound()
        self.later, self.is_marked = self.cluster.levels(self.engine), self.cluster.marked()
        self.cluster.down()
        self.step("this release goes on with them: who was signed in is, and what was pushed is there")

    def raised(self):
        """Stores that the former programs do not know any more."""
        return [service for service in self.levels if self.later[service][1] > self.levels[service][0]]

    def way_back(self):
        self.cluster.take(FORMER)
        raised, marked = self.raised(), self.is_marked and not self.was_marked
        if marked or raised:
            started, said = self.cluster.try_up("--store", self.engine)
            assert not started, f"the guide says that the former programs do not start on these stores ({raised}, marked: {marked}); they do"
            reasons = said + "".join(log.read_text(errors="replace")[-4000:] for log in (self.cluster.home / "logs").glob("*.log"))
            # Older releases name field and reason as members of a record.
            for text in [r'oauth\.callback(", message: "| )is not known here'] * marked + ["was written by a newer version"] * bool(raised):
                assert re.search(text, reasons), f"the former programs do not say '{text}': {said[-1500:]}"
            self.cluster.down()
            self.start_server()
            for service in [*raised, *(["config"] if marked and "config" not in raised else [])]:
                self.cluster.run("store", "restore", "--from", str(self.backup), "--service", service, "--force")
            if "authentication" in raised:
                # Everything since the backup is lost, the guide says.
                self.people = [name for name in self.people if name.startswith("before")]
            self.step(f"the former programs do not start on {', '.join(raised) or 'the catalogue'}, and say why; its backup is restored")
        self.cluster.up("--store", self.engine)
        self.all_play()
        name = self.cluster.name()
        expected = "Named before" if marked or "config" in raised else "Named after"
        if name != expected:
            # The other services keep the newer version that they have until the next push.
            assert expected == "Named before" and name == "Named after", f"after the way back the channel is '{name}', not '{expected}'"
        self.cluster.rename("Named again")
        self.sign_in("again-saml")
        self.sign_in("again-openid", "OpenFiber")
        self.all_play()
        self.is_sound()
        self.cluster.down()
        self.step("the release before goes on with them: who signed in at either release plays")

    def start_server(self):
        """The cluster's own server stops with the cluster, and a restore needs it. Where a start has failed, an older release leaves it running."""
        if self.engine != "postgres":
            return
        tool = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[4]))[-1]
        owner = {} if os.getuid() else {"user": "postgres", "group": "postgres", "extra_groups": []}
        quiet = {"cwd": "/", "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **owner}
        if subprocess.run([tool, "-D", self.cluster.home / "postgres/data", "status"], **quiet).returncode != 0:
            subprocess.run([tool, "-D", self.cluster.home / "postgres/data", "-w", "start"], check=True, **quiet)

    def once_more(self):
        self.start(THIS)
        self.all_play()
        assert self.cluster.name() == "Named again", f"after another upgrade the channel is '{self.cluster.name()}'"
        self.is_sound()
        self.cluster.down()
        self.step("this release goes on once more")


def main(arguments):
    if arguments not in (["sqlite"], ["postgres"]):
        sys.exit("stores.py: give an engine, sqlite or postgres")
    # Whoever ends this ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boxoffice-two-releases-", dir="/tmp"))
    folder.chmod(0o711)
    life = Life(arguments[0], folder)
    try:
        life.fixture()
        life.upgrade()
        life.way_back()
        life.once_more()
        return 0
    except (AssertionError, OSError, subprocess.SubprocessError, json.JSONDecodeError) as problem:
        print(f"FAIL  {arguments[0]}: {problem}")
        for log in sorted((folder / "home/logs").glob("*.log")):
            print(f"      log of {log.stem}:", *log.read_text(errors="replace").splitlines()[-5:], sep="\n      ")
        return 1
    finally:
        life.cluster.down()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
