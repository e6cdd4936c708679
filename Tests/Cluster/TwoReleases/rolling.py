"""Two copies of each service, whose programs are replaced one after the other while people use them: the release before, this one, and the former one again."""

import collections
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from balancer import Balancer
from releases import FORMER, STORES, THIS, Cluster, clusters

PORT = int(os.environ.get("BOXOFFICE_PORT_BASE", "21000")) + 720
# Who may watch the channel's news. One person gets 120 media tokens of a channel within two minutes, so plays are seldom, and everybody plays.
PEOPLE = ["ada", "ben", "dan"]
WORKERS = 4


class Copy:
    """One process of a service, of whichever release."""

    def __init__(self, cluster, service, name, settings):
        self.cluster, self.service, self.name, self.settings, self.process = cluster, service, name, settings, None
        # With the variables that `up` gives it.
        variables = pathlib.Path(f"/proc/{cluster.pid(service)}/environ").read_bytes().split(b"\0")
        self.environment = dict(each.split(b"=", 1) for each in variables if b"=" in each)
        content = json.loads(settings.read_text())
        self.debug = f"{content['debug']['address']}:{content['debug']['port']}"

    def start(self, release):
        if self.service == "gateway":
            # Pages belong to a release.
            content = json.loads(self.settings.read_text())
            content["gateway"]["pages"] = str(release.checkout / "Services/Gateway/Pages")
            self.settings.write_text(json.dumps(content))
        with open(self.cluster.home / f"logs/{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [str(release.programs / self.service), "--config", str(self.settings)], env=self.environment | {b"BOXOFFICE_CHECKOUT": os.fsencode(release.checkout)},
                cwd=self.cluster.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        clusters.until(f"{self.name} of {release.name} to be ready", self.is_ready, 40)

    def connections(self):
        """How many of its callers' connections it has."""
        with urllib.request.urlopen(f"http://{self.debug}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(("boxoffice_rpc_server_connections ", "boxoffice_rpc_server_connections{")))

    def replace(self, release):
        """By the guide: it is ready, and its callers have found it again."""
        former = self.connections()
        self.stop()
        self.start(release)
        clusters.until(f"the callers of {self.name} to be connected again", lambda: self.connections() >= former, 10)

    def is_ready(self):
        assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}"
        try:
            with urllib.request.urlopen(f"http://{self.debug}/readyz", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            assert self.process.wait(40) == 0, f"{self.name} did not stop well: {self.process.returncode}"


class Load:
    """People who sign in, are signed in, play and sign out, one call after the other in a few threads. Each answer has to be the one that they want."""

    def __init__(self, cluster):
        self.cluster, self.phase, self.ended = cluster, "", False
        self.calls, self.failures = collections.Counter(), []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.use, args=(number,)) for number in range(WORKERS)]
        for thread in self.threads:
            thread.start()

    def count(self, what, good, said):
        with self.lock:
            self.calls[self.phase] += 1
            if not good:
                self.failures.append(f"{time.strftime('%H:%M:%S', time.gmtime())} {self.phase}: {what}: {said}")

    def story(self, viewer, chance):
        """One call, or a person's sign-in, which is some ten."""
        if chance < 0.05:
            new = clusters.Viewer(self.cluster)
            try:
                new.sign_in(random.choice(PEOPLE))
                if chance < 0.01:
                    new.play()
                status, body = new.call("DELETE", "/api/v1/logout")
                self.count("sign-in, play and logout", status < 300, (status, body[:200]))
            except (AssertionError, OSError, RuntimeError) as problem:
                self.count("sign-in", False, problem)
        elif chance < 0.15:
            try:
                clusters.Viewer(self.cluster).register()
                self.count("registration", True, "")
            except AssertionError as problem:
                self.count("registration", False, problem)
        elif chance < 0.3:
            status, body = self.cluster.call("GET", "/api/v1/config/ACME1.json")
            self.count("list of MVPDs", status == 200, (status, body[:200]))
        elif chance < 0.6:
            status = viewer.check()
            self.count("checkauthn", status == 200, status)
        elif chance < 0.98:
            status = viewer.authorize("ACME1-NEWS")
            self.count("authorize", status == 200, status)
        else:
            try:
                viewer.play()
                self.count("play", True, "")
            except AssertionError as problem:
                self.count("play", False, problem)

    def use(self, number):
        chance = random.Random(number)
        viewer = clusters.Viewer(self.cluster)
        try:
            viewer.sign_in(PEOPLE[number % len(PEOPLE)])
        except (AssertionError, OSError, RuntimeError) as problem:
            self.count("the first sign-in", False, problem)
            return
        while not self.ended:
            try:
                self.story(viewer, chance.random())
            except (OSError, ValueError) as problem:
                self.count("a call", False, repr(problem))
            time.sleep(0.02)

    def stop(self):
        self.ended = True
        for thread in self.threads:
            thread.join(60)


class Rolling:
    def __init__(self, folder):
        self.folder, self.cluster, self.copies, self.steps, self.balancer, self.load = folder, Cluster(folder, PORT), [], [], None, None
        self.postgres = bool(glob.glob("/usr/lib/postgresql/*/bin/postgres"))

    def set_up(self):
        """The release before, with two copies of each service and two gateways behind a balancer."""
        cluster = self.cluster
        cluster.take(FORMER)
        cluster.up()
        # Where OAuth MVPDs are, all copies of config are upgraded together, and the way back is a backup: stores.py does that.
        catalogue = json.loads((cluster.home / "catalogue.json").read_text())
        oauth = {mvpd["id"] for mvpd in catalogue["mvpds"] if "oauth" in mvpd}
        catalogue["mvpds"] = [mvpd for mvpd in catalogue["mvpds"] if mvpd["id"] not in oauth]
        catalogue["integrations"] = [each for each in catalogue["integrations"] if each["mvpd"] not in oauth]
        (self.folder / "catalogue.json").write_text(json.dumps(catalogue))
        # Beside one in a file there is no second copy of config.
        engine = "postgres" if self.postgres else "sqlite"
        cluster.down()
        cluster.up("--catalogue", str(self.folder / "catalogue.json"), "--copies", "2", "--store", engine)
        self.levels = cluster.levels(engine)
        self.engine = engine
        self.take_over()

    def take_over(self):
        """The processes are this test's from here on, by the settings that `up` has written."""
        cluster, settings = self.cluster, self.cluster.home / "settings"
        for service in STORES:
            for name in (service, f"{service}-2"):
                if (settings / f"{name}.json").exists():
                    self.copies.append(Copy(cluster, service, name, settings / f"{name}.json"))
        public = json.loads((settings / "gateway.json").read_text())["gateway"]["listen"].rpartition(":")
        gateways = {}
        for number, name in enumerate(("gateway-a", "gateway-b")):
            content = json.loads((settings / "gateway.json").read_text())
            content.setdefault("limits", {})["stopDelaySeconds"] = 1
            content["debug"]["port"] = PORT + 60 + number
            content["gateway"]["listen"] = f"127.0.0.1:{PORT + 62 + number}"
            content["gateway"]["tls"]["listen"] = f"127.0.0.1:{PORT + 64 + number}"
            if number:
                content["gateway"]["admin"]["listen"] = f"127.0.0.1:{PORT + 66}"
            content["data"] = f"{content['data']}-{number}"
            (settings / f"{name}.json").write_text(json.dumps(content))
            self.copies.append(Copy(cluster, "gateway", name, settings / f"{name}.json"))
            gateways["127.0.0.1", PORT + 62 + number] = None
        processes = cluster.file["services"]
        for service in [*STORES, "gateway"]:
            for entry in [processes[service], *(processes[service].get("copies") or [])]:
                os.kill(entry["pid"], signal.SIGTERM)
                clusters.until(f"the end of {service}", lambda pid=entry["pid"]: clusters.ended(pid), 40)
        for copy in self.copies:
            copy.start(FORMER)
        self.balancer = Balancer((public[0], int(public[2])), gateways)
        clusters.until("both gateways behind the balancer", lambda: len(self.balancer.ready) == 2)

    def roll(self, release):
        """By the guide: callees first, the gateway last; of a service one copy after the other."""
        self.load.phase = f"to {release.name}"
        for copy in self.copies:
            begun = time.strftime("%H:%M:%S", time.gmtime())
            copy.replace(release)
            self.steps.append(f"{begun} to {time.strftime('%H:%M:%S', time.gmtime())} {copy.name} of {release.name}")
        self.quiet(2)

    def quiet(self, seconds):
        """Nothing is replaced while people go on."""
        time.sleep(seconds)

    def run(self):
        self.set_up()
        self.load = Load(self.cluster)
        self.load.phase = f"{FORMER.name}"
        self.quiet(4)
        self.roll(THIS)
        later = self.cluster.levels(self.engine)
        raised = [service for service in STORES if later[service][1] > self.levels[service][0]]
        if raised:
            print(f"the guide promises no way back: a program must know {', '.join(f'{service} {later[service]}' for service in raised)}; the former ones know less")
        else:
            self.roll(FORMER)
        self.load.stop()
        calls = sum(self.load.calls.values())
        told = ", ".join(f"{count} {phase}" for phase, count in self.load.calls.items())
        if self.load.failures:
            self.explain()
        print(f"{'FAIL' if self.load.failures else 'ok'}    two copies of each service on {self.engine}: {calls} stories ({told}), {len(self.load.failures)} failed")
        assert calls > 200, "so few say nothing"
        return 1 if self.load.failures else 0

    def explain(self):
        """What failed, what was replaced meanwhile, and what the gateways say."""
        for line in [*self.load.failures[:20], *self.steps]:
            print(f"      {line}")
        for log in sorted((self.cluster.home / "logs").glob("gateway-*.log")):
            for line in log.read_text(errors="replace").splitlines():
                if '"event":"request-refused"' in line and '"code":"unavailable"' in line:
                    told = json.loads(line)
                    print(f"      {told['time'][11:23]} {log.stem}: {told['cause'][:200]}")

    def tear_down(self):
        if self.load:
            self.load.stop()
        for copy in self.copies:
            if copy.process and copy.process.poll() is None:
                copy.process.kill()
                copy.process.wait()
        if self.balancer:
            self.balancer.stop()
        self.cluster.down()


def main():
    # Whoever ends this ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boxoffice-rolling-", dir="/tmp"))
    folder.chmod(0o711)
    rolling = Rolling(folder)
    try:
        return rolling.run()
    except (AssertionError, OSError, subprocess.SubprocessError) as problem:
        print(f"FAIL  a rolling upgrade: {problem}")
        for log in sorted((folder / "home/logs").glob("*.log")):
            print(f"      log of {log.stem}:", *log.read_text(errors="replace").splitlines()[-4:], sep="\n      ")
        return 1
    finally:
        rolling.tear_down()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
