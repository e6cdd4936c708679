"""The cluster under attack, the calls of an ordinary client, and a neighbour who wants to be served meanwhile."""

import http.client
import json
import os
import pathlib
import statistics
import threading
import time
import urllib.parse
import uuid

home = pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice"))
if not (home / "cluster.json").is_file():
    raise SystemExit(f"no cluster runs in {home}: start one with ./Services/up --release, or set BOXOFFICE_HOME")
file = json.loads((home / "cluster.json").read_text())


def address(url):
    parts = urllib.parse.urlsplit(url)
    return parts.hostname, parts.port


public, admin = address(file["gateway"]), address(file["admin"])
secure_port = address(file["gatewayTLS"])[1]
sandbox = address(file["sandbox"]["mvpd"])
authority = file["pki"]["ca"]
INFORMATION = "eyJtb2RlbCI6IlRWIiwib3NOYW1lIjoidHZPUyIsInByaW1hcnlIYXJkd2FyZVR5cGUiOiJTZXRUb3BCb3gifQ=="


class Answer:
    def __init__(self, answer):
        self.status, self.body = answer.status, answer.read()
        self.headers = {name.lower(): value for name, value in answer.getheaders()}

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


def ask(method, path, headers=None, body=None, at=public, source="127.0.0.1"):
    """One request over a connection of its own; the path goes as it is."""
    connection = http.client.HTTPConnection(*at, timeout=10, source_address=(source, 0))
    try:
        fields = {"Accept": "application/json", **(headers or {})}
        connection.putrequest(method, path, skip_host="Host" in fields, skip_accept_encoding=True)
        for name, value in fields.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def form(fields):
    return urllib.parse.urlencode(fields).encode()


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Client:
    """An installation of `acme-tv`, or of another application."""

    def __init__(self, application="acme-tv"):
        statement = json.dumps({"software_statement": file["softwareStatements"][application]}).encode()
        self.registered = ask("POST", "/o/client/register", {"Content-Type": "application/json"}, statement).json
        answer = ask("POST", "/o/client/token", FORM, form({**{k: self.registered[k] for k in ("client_id", "client_secret")}, "grant_type": "client_credentials"}))
        self.bearer = {"Authorization": "Bearer " + answer.json["access_token"], "X-Device-Info": INFORMATION}

    def code(self, device):
        return ask("POST", "/reggie/v1/ACME1/regcode", {**self.bearer, **FORM}, form({"deviceId": device})).json["code"]


def device():
    return f"hostile-{uuid.uuid4()}"


def from_address(number):
    """The gateway trusts a proxy on loopback: a request comes from wherever it says, and is neither exempt nor anybody else's."""
    return {"X-Forwarded-For": f"203.0.113.{number}"}


def memory(service):
    """In KiB."""
    pid = file["services"][service]["pid"]
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError(f"{service} is gone")


def metric(service, name):
    """The sum of a metric of one of the programs, over all its labels; 0 before its first event."""
    connection = http.client.HTTPConnection(*address("http://" + file["services"][service]["debug"]), timeout=10)
    try:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
    finally:
        connection.close()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((name + " ", name + "{")))


class Neighbour:
    """Asks for an MVPD list a hundred times a second, one request after the other, and notes how long each answer took. A refusal of an overloaded gateway counts
    as a minute."""

    def __init__(self):
        self.times, self.failures, self.refusals, self.stopped = [], [], 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        connection = None
        while not self.stopped.is_set():
            start = time.monotonic()
            try:
                if connection is None:
                    connection = http.client.HTTPConnection(*public, timeout=10)
                connection.request("GET", "/api/v1/config/ACME1.json")
                answer = connection.getresponse()
                answer.read()
                if answer.status == 503 and answer.getheader("Retry-After"):
                    self.refusals += 1
                    start -= 60
                elif answer.status != 200:
                    self.failures.append(answer.status)
            except OSError as error:
                self.failures.append(type(error).__name__)
                connection = None
            self.times.append(time.monotonic() - start)
            self.stopped.wait(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *ignored):
        self.stopped.set()
        self.thread.join()

    @property
    def p99(self):
        """In milliseconds."""
        return 1000 * statistics.quantiles(self.times, n=100)[98] if len(self.times) > 1 else 0.0


def quiet(seconds=2):
    with Neighbour() as neighbour:
        time.sleep(seconds)
    return neighbour.p99
