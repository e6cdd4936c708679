"""The cluster under attack, the calls of an ordinary client, and a neighbour who wants to be served meanwhile."""

import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Cluster/OpenApi"))
import person  # noqa: E402

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


def signed_in(client=None):
    """A device of `client` that a person has signed in. Returns the client and the device's id."""
    client, own, end = client or Client(), device(), "https://acme.example/done"
    query = form({"reg_code": client.code(own), "requestor_id": "ACME1", "mso_id": "NorthCable", "domain_name": "acme.example", "redirect_url": end})
    person.sign_in(f"{file['gateway']}/api/v1/authenticate?{query.decode()}", end, "ada")
    return client, own


class Neighbour:
    """An app whose device is signed in, and a bystander (neighbour.py). A refusal of an overloaded gateway counts as a minute."""

    viewer = None

    def __enter__(self):
        if Neighbour.viewer is None:
            Neighbour.viewer = signed_in()
        client, own = Neighbour.viewer
        told = {"address": public, "path": f"/api/v1/checkauthn?requestor=ACME1&deviceId={own}", "headers": {**client.bearer, "Accept": "application/json"}}
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(pathlib.Path(__file__).with_name("neighbour.py"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the neighbour did not start")
        return self

    def __exit__(self, *ignored):
        seen = json.loads(self.process.communicate(timeout=30)[0])
        self.times, self.bystander, self.failures, self.refusals = (seen[name] for name in ("times", "bystander", "failures", "refusals"))

    @property
    def p99(self):
        """Of its calls, in milliseconds."""
        return p99(self.times)

    @property
    def delay(self):
        """Of the bystander at the 99th percentile, in milliseconds: what the machine alone costs."""
        return p99(self.bystander)


def p99(times):
    """In milliseconds."""
    return 1000 * statistics.quantiles(times, n=100)[98] if len(times) > 1 else 0.0


def quiet(seconds=2):
    """A neighbour without an attack. Where the machine pauses, it is tried again."""
    for _ in range(3):
        with Neighbour() as neighbour:
            time.sleep(seconds)
        if not neighbour.failures and neighbour.p99 < 1000:
            return neighbour
    raise SystemExit(f"the neighbour is refused without an attack: {neighbour.failures[:5]}, {neighbour.refusals} times as overloaded")
