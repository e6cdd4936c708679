"""A cluster of the real programs, and people who use it."""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Year"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "OpenApi"))
import person  # noqa: E402
import year  # noqa: E402

SERVICES = ["gateway", "config", "authentication", "authorization", "autosignin"]


def until(what, condition, seconds=20):
    """Waits for a condition, and returns what it gives."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"after {seconds} s: not yet {what}"
        time.sleep(0.1)
    return found


class Cluster:
    def __init__(self, folder, port):
        self.home, self.port = folder / "home", port
        self.environment = os.environ | {"BOXOFFICE_HOME": str(self.home), "BOXOFFICE_PORT_BASE": str(port)}
        self.use(os.environ.get("BOXOFFICE_BINARIES", ""))

    def use(self, programs, checkout=None):
        """From now on the commands are those of this folder, with the documented settings of a checkout."""
        self.program = str(pathlib.Path(programs, "boxoffice").resolve())
        if checkout:
            self.environment["BOXOFFICE_CHECKOUT"] = str(checkout)

    def run(self, *arguments, text=None, fails=False):
        done = subprocess.run([self.program, *arguments], env=self.environment, input=text, capture_output=True, text=True, timeout=120)
        assert fails or not done.returncode, f"boxoffice {' '.join(arguments[:2])}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def up(self, *arguments):
        self.run("up", "--detach", "--no-demo", *arguments)

    @property
    def file(self):
        return json.loads((self.home / "cluster.json").read_text())

    def debug(self):
        """{address of the debug listener: service}."""
        return {self.file["services"][service]["debug"]: service for service in SERVICES}

    def metric(self, service, name):
        """The sum of a metric's series at a service."""
        with urllib.request.urlopen(f"http://{self.file['services'][service]['debug']}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith((name + "{", name + " ")))

    def pid(self, name):
        return (self.file if name == "sandbox" else self.file["services"])[name]["pid"]

    def kill(self, name, number=signal.SIGKILL):
        """Ends a program, and waits for its end."""
        pid = self.pid(name)
        os.kill(pid, number)
        until(f"the end of {name}", lambda: ended(pid), 40)

    def settings(self, service, change):
        """Changes the settings of a service, which reads them when it starts."""
        file = self.home / f"settings/{service}.json"
        content = json.loads(file.read_text())
        change(content)
        replace(file, content)

    def catalogue(self, change):
        """Changes the catalogue's file, and has config read it."""
        file = self.home / "catalogue.json"
        content = json.loads(file.read_text())
        change(content)
        replace(file, content)
        os.kill(self.pid("config"), signal.SIGHUP)

    def versions(self):
        return {service: self.metric(service, "boxoffice_catalogue_version") for service in SERVICES if service != "config"}

    # As year.Device wants it.
    def call(self, method, path, headers=None, form=None, document=None, timeout=20):
        data = None if form is None else urllib.parse.urlencode(form).encode()
        if document is not None:
            headers, data = {**(headers or {}), "Content-Type": "application/json"}, json.dumps(document).encode()
        request = urllib.request.Request(self.file["gateway"] + path, data=data, method=method, headers={"Accept": "application/json", **(headers or {})})
        return answer_of(request, timeout)

    def sandbox(self, path, document, vendor=False, method="POST"):
        """Tells the stand-ins what to do."""
        base = self.file["sandbox"]["upstream" if vendor else "mvpd"]
        data = None if document is None else json.dumps(document).encode()
        status, body = answer_of(urllib.request.Request(base + path, data=data, method=method, headers={"Content-Type": "application/json"}), 20)
        assert status < 300, (path, status, body)
        return body

    def administer(self, method, path, document=None):
        data = None if document is None else json.dumps(document).encode()
        headers = {"Authorization": f"Bearer {self.file['adminToken']}", "Content-Type": "application/json", "If-Match": "*"}
        return answer_of(urllib.request.Request(self.file["admin"] + "/admin/v1" + path, data=data, method=method, headers=headers), 20)

    def down(self):
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            self.run("down")


class Viewer(year.Device):
    """A device of the channel ACME1, and the person in front of it."""

    END = "https://acme.example/signed-in"

    def begin(self, mvpd="NorthCable"):
        """Asks for a code, and gives the address that leads to the MVPD."""
        status, body = self.call("POST", "/reggie/v1/ACME1/regcode", form={"deviceId": self.id})
        assert status == 201, (status, body)
        query = urllib.parse.urlencode({
            "reg_code": json.loads(body)["code"], "requestor_id": "ACME1", "mso_id": mvpd, "domain_name": "acme.example", "noflash": "true",
            "no_iframe": "true", "redirect_url": self.END})
        return f"{self.cluster.file['gateway']}/api/v1/authenticate?{query}"

    def sign_in_at(self, mvpd, name="ada"):
        """True where that made a session."""
        with contextlib.suppress(OSError, RuntimeError, UnicodeDecodeError):
            person.sign_in(self.begin(mvpd), self.END, name)
        return self.check() == 200

    def leave_for(self, mvpd):
        """Goes to the MVPD, and never comes back. The status of our own answer."""
        request = urllib.request.Request(self.begin(mvpd))
        with contextlib.suppress(OSError):
            return urllib.request.build_opener(person.Stop).open(request, timeout=20).status
        return None

    def authorize(self, resource):
        return self.call("GET", "/api/v1/authorize", {"resource": resource})[0]


def answer_of(request, timeout):
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as problem:
        return 0, str(problem).encode()


def ended(pid):
    """A process that has ended is there until its parent has collected it."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def replace(file, content):
    new = file.with_name(file.name + ".new")
    new.write_text(json.dumps(content, indent=2))
    shutil.copymode(file, new)
    os.replace(new, file)


def faketime():
    """The library that shows a program another time; None where it is not installed."""
    return next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
