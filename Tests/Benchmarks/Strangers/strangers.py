"""What the most expensive legal request costs that a stranger can send to each route, in processor time of all services.

Routes that demand a bearer get one that is wrong at its last character, with heads, queries and bodies as long as they may be: none may cost more than three times
the cheapest of the same protocol. Routes without a bearer are listed with their cost and what bounds it. The cluster of $BOXOFFICE_HOME must run, release programs.
"""

import http.client
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "Hostile"))
import cluster  # noqa: E402
import http2  # noqa: E402

GOAL = 3.0
ROUNDS, REQUESTS = 3, 100
description = json.loads(cluster.ask("GET", "/openapi.json").body)


def processor():
    """Nanoseconds that all services have computed."""
    total = 0
    for service in cluster.file["services"].values():
        for task in pathlib.Path(f"/proc/{service['pid']}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                pass
    return total


client = cluster.Client()
good = client.bearer["Authorization"].split()[1]
WRONG = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
# As many parts as a signed header may have, and a signature that is none of the pair's.
SIGNED = (
    "GET requestor_id=ACME1, nonce=n, signature_method=HMAC-SHA1, request_time=1764100000123, request_uri=/a" + ", " * 3800
    + ", public_key=AcmeLegacyDemoPairOf2016, signature=" + "A" * 27 + "=")
AGENT = "Mozilla/5.0 (" + "x" * 1000
DEVICE = "eyJtb2RlbCI6I" + "A" * 4080


def demands(operation):
    schemes = {name for entry in operation.get("security", description["security"]) for name in entry}
    return "adminToken" if "adminToken" in schemes else "bearer" if schemes & {"bearer", "accessToken"} else None


def expensive(path, method, operation):
    """Path with query, fields and body, each as long as it may be."""
    segments = [f"{'ACME1' if 'requestor' in part else 'QK7M2XD' if 'code' in part else 'x' * 100}" if part.startswith("{") else part for part in path.split("/")]
    query = "&".join(f"{name}={'y' * size}" for name, size in [("requestor", 60), ("deviceId", 200), ("resource", 6000), ("appId", 500)])
    fields = {"User-Agent": AGENT, "X-Device-Info": DEVICE, "Accept": "application/json", "AP-Device-Identifier": "fingerprint " + "A" * 200}
    body = None
    content = operation.get("requestBody", {}).get("content", {})
    if "application/x-www-form-urlencoded" in content:
        fields["Content-Type"], body = "application/x-www-form-urlencoded", b"&".join(b"field%d=%s" % (index, b"%41" * 200) for index in range(100))
    elif content:
        fields["Content-Type"], body = "application/json", b'{"a":[' + b"[[1]]," * 10_000 + b"1]}"
    return "/".join(segments) + "?" + query, fields, body


class Http1:
    name = "HTTP/1.1"

    def __init__(self, at):
        self.at, self.connection = at, None

    def send(self, method, path, fields, body):
        for attempt in range(3):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(*self.at, timeout=10)
                self.connection.request(method, path, body=body, headers=fields)
                answer = self.connection.getresponse()
                answer.read()
                if answer.getheader("connection") == "close":
                    self.close()
                return answer.status
            except (OSError, http.client.HTTPException):
                self.close()
        return 0

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Http2:
    name = "HTTP/2"

    def __init__(self, at):
        self.connection, self.stream = None, 1

    def send(self, method, path, fields, body):
        if self.connection is None or self.stream > 400:
            self.close()
            self.connection, self.stream = http2.Connection(cluster.secure_port, cluster.authority), 1
        stream, self.stream = self.stream, self.stream + 2
        block = http2.block(method, path, [(name.lower(), value) for name, value in fields.items()])
        octets = http2.headers(stream, block, ends=body is None)
        if body is not None:
            chunks = [body[start : start + 16_000] for start in range(0, min(len(body), 60_000), 16_000)]
            octets += b"".join(
                http2.frame(http2.DATA, http2.END_STREAM if index == len(chunks) - 1 else 0, stream, chunk) for index, chunk in enumerate(chunks))
        try:
            self.connection.send(octets)
            seen = self.connection.frames(lambda kind, flags, number, _: number == stream and (flags & http2.END_STREAM or kind == http2.RST_STREAM))
        except OSError:
            self.close()
            return 0
        if not any(number == stream for _, _, number, _ in seen):
            self.close()
        return 401 if seen else 0

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def cost(caller, method, path, fields, body):
    """Microseconds of processor time, the median of some rounds, and the status."""
    status = caller.send(method, path, fields, body)
    for _ in range(10):
        caller.send(method, path, fields, body)
    rounds = []
    for _ in range(ROUNDS):
        time.sleep(0.02)
        start = processor()
        for _ in range(REQUESTS):
            caller.send(method, path, fields, body)
        time.sleep(0.02)
        rounds.append((processor() - start) / REQUESTS / 1000)
    caller.close()
    return statistics.median(rounds), status


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def with_bearer():
    worst = 0.0
    for kind in [Http1, Http2]:
        found = []
        for path, item in description["paths"].items():
            for method, operation in item.items():
                need = demands(operation) if method in ("get", "post", "put", "delete") else None
                # Administration has no HTTPS here.
                # Nor does a wrong bearer end this one: it is among those without.
                if path == "/api/v1/authenticate" or need is None or (need == "adminToken" or path.startswith("/reset-tempass")) and kind is Http2:
                    continue
                at = cluster.admin if need == "adminToken" or path.startswith("/reset-tempass") else cluster.public
                target, fields, body = expensive(path, method, operation)
                fields["Authorization"] = "Bearer " + (WRONG if need == "bearer" else "x" * 200)
                spent, status = cost(kind(at), method.upper(), target, fields, body)
                found.append((spent, method.upper(), path, status, len(body or b"")))
        for path, method in [("/api/v1/authorize", "get"), ("/reggie/v1/{requestor}/regcode", "post")]:
            target, fields, body = expensive(path, method, description["paths"][path][method])
            # The line and these fields share the 16 KiB of a head.
            fields = {name: fields[name] for name in fields if name in ("Accept", "Content-Type")} | {"Authorization": SIGNED}
            spent, status = cost(kind(cluster.public), method.upper(), target, fields, body)
            found.append((spent, method.upper(), path + ", signed", status, len(body or b"")))
        cheapest = min(found)[0]
        print(f"\n{kind.name}: the cheapest costs {cheapest:.0f} µs\n")
        row("request with a bad bearer", "status", "octets of body", "µs of CPU", "ratio")
        row("---", "---", "---", "---", "---")
        for spent, method, path, status, size in sorted(found, reverse=True):
            row(f"{method} {path}", status, size, f"{spent:.0f}", f"{spent / cheapest:.2f}")
        worst = max(worst, max(found)[0] / cheapest)
    return worst


def without_bearer():
    form = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": AGENT, "X-Device-Info": DEVICE, "Accept": "text/html"}
    saml = b"RelayState=relay-1234567890abcdef&SAMLResponse=" + b"PHg%2BPC94Pg" * 30_000
    statement = json.dumps({"software_statement": good.split(".")[0] + "." + "A" * 40_000 + "." + "B" * 86}).encode()
    requests = [
        ("POST", "/sp/saml/SAMLAssertionConsumer", form, saml, "512 KiB; the relay state is looked up first"),
        ("POST", "/o/client/register", {"Content-Type": "application/json"}, statement, "64 KiB; one signature check"),
        ("POST", "/o/client/token", form, b"grant_type=client_credentials&client_id=" + b"x" * 100 + b"&client_secret=" + b"y" * 60_000, "64 KiB; one look-up"),
        ("GET", "/api/v1/authenticate?reg_code=QK7M2XD&requestor_id=ACME1&mso_id=NorthCable&domain_name=acme.example&redirect_url=https://acme.example/" + "x" * 1900, form, None, "the code guard"),
        ("GET", "/api/v1/config/ACME1", form, None, "the throttle; the list is ready"),
        ("GET", "/sp/metadata?requestor=ACME1", form, None, "signed once in five minutes"),
        ("GET", "/activate?code=" + "x" * 2000, form, None, "a page"),
        ("GET", "/activate/providers?code=QK7M2XD", form, None, "the code guard"),
        ("GET", "/activate/done?code=QK7M2XD&requestor=ACME1", form, None, "the code guard"),
        ("GET", "/openapi.json", form, None, "a file, shared by all answers"),
        ("GET", "/healthz", form, None, "nothing"),
        ("POST", "/adobe-services/oauth2?state=relay-1234567890abcdef&code=" + "x" * 2000, form, None, "one look-up"),
        ("GET", "/nowhere/" + "x/" * 14, form, None, "a page"),
    ]
    print("\nWithout a bearer, HTTP/1.1\n")
    row("request", "status", "octets of body", "µs of CPU", "bound")
    row("---", "---", "---", "---", "---")
    for method, path, fields, body, bound in requests:
        spent, status = cost(Http1(cluster.public), method, path, fields, body)
        row(f"{method} {path.split('?')[0][:60]}", status, len(body or b""), f"{spent:.0f}", bound)


commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
print(f"{time.strftime('%d %B %Y')}, {platform.machine()}, {len(cluster.file['services'])} services, commit {commit}; medians of {ROUNDS} rounds of {REQUESTS} requests")
worst = with_bearer()
without_bearer()
print(f"\nthe dearest request with a bad bearer costs {worst:.2f} times the cheapest; the goal is {GOAL}: {'met' if worst <= GOAL else 'missed'}")
sys.exit(worst > GOAL)
