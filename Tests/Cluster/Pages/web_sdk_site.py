"""The sites of programmers whose pages load the gateway's script of the web SDK, and a browser that visits them; for web_sdk.py.

Every name below `.example` leads to one HTTPS server of this machine. All pages have a content policy as strict as can be. Beside the samples of `Shared/Client/Web`
there is the page `/bench`: it notes each callback in `log` and each call in `calls`, and answers calls in the server's place where `answers` says so."""

import base64
import contextlib
import hashlib
import http.server
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from browser import By, Browser
from television import cluster, gateway

# As the vendor signs them: whose key nobody here has.
VENDORS_STATEMENT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (b'{"alg":"RS256","typ":"JWT"}', b'{"sub":"a page of the vendor","iss":"auth.adobe.com"}', hashlib.sha512(b"a key of the vendor").digest()))
SAMPLES = pathlib.Path("Shared/Client/Web")
SCRIPT = f"{gateway}/entitlement/v4/AccessEnabler.js"
PORT = urllib.parse.urlsplit(gateway).port
# The second name of the gateway is another origin.
SECOND = f"http://localhost:{PORT}"
SECURE = cluster["gatewayTLS"]
ACME, BRAVO, FOREIGN, PORTAL = "www.acme.example", "www.bravo.example", "www.acme.example.evil.example", "portal.example"
POLICY = (
    f"default-src 'none'; script-src 'self' {gateway}; connect-src {gateway} {SECOND} {SECURE} https://127.0.0.1:1; style-src 'self'; img-src *; "
    f"frame-src 'self' https://{ACME} {gateway} {cluster['sandbox']['mvpd']}")

BENCH = """
"use strict";
window.log = [];
window.calls = [];
window.answers = window.answers || [];
for (const name of ["entitlementLoaded", "setConfig", "createIFrame", "destroyIFrame", "setAuthenticationStatus", "sendTrackingData", "setToken", "tokenRequestFailed",
    "preauthorizedResources", "setMetadataStatus", "selectedProvider", "displayProviderDialog", "onProblem"]) {
    window[name] = (...values) => { window.log.push([name, ...values]); };
}
window.own = { problems: (...values) => { window.log.push(["own.problems", ...values]); } };
window.fails = () => { throw new Error("of the page"); };
window.onerror = text => { window.log.push(["onerror", String(text)]); };
const ask = window.fetch.bind(window);
window.fetch = async (address, options = {}) => {
    const { pathname, searchParams } = new URL(address), method = options.method || "GET";
    window.calls.push({ method, path: pathname, query: Object.fromEntries(searchParams), headers: options.headers || {}, body: String(options.body || ""), at: performance.now(),
        credentials: options.credentials, origin: new URL(address).origin });
    const answer = window.answers.find(found => found.times > 0 && `${method} ${pathname}`.includes(found.call) && (!found.origin || address.startsWith(found.origin)));
    if (!answer || options.mode === "no-cors") return ask(address, options);
    answer.times -= 1;
    if (!answer.status) throw new TypeError("Failed to fetch");
    return new Response(answer.body || "", { status: answer.status, headers: answer.headers || {} });
};
window.begin = (statement, requestor, endpoints, options) => {
    window.ae = new window.AccessEnabler.AccessEnabler(statement);
    window.ae.bind("errorEvent", "onProblem");
    window.ae.setRequestor(requestor, endpoints, options);
};
"""
# Instances made before and in `entitlementLoaded`, as pages do it.
EARLY = "begin(STATEMENT, 'ACME1'); ae.checkAuthentication(); ae.getSelectedProvider();"
INSIDE = "entitlementLoaded = () => { log.push(['entitlementLoaded']); begin(STATEMENT, 'ACME1'); ae.checkAuthentication(); };"


def document(*scripts):
    elements = "".join(f"<script src={address}{more}></script>" for address, more in scripts)
    return f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Bench</title><h1>Bench</h1>{elements}</html>"


class Site(http.server.BaseHTTPRequestHandler):
    """The sample pages with the gateway's address and a statement in them, and the benches."""

    protocol_version = "HTTP/1.1"
    statement = cluster["softwareStatements"]["acme-tv"]
    # The attributes of the script's element at `/pinned`, and its address.
    pinned = (SCRIPT, "")

    def content(self):
        path = urllib.parse.urlsplit(self.path).path
        bench, script = ("/bench.js", ""), (SCRIPT, "")
        pages = {
            "/bench": lambda: document(bench, script), "/unframed": lambda: document(bench, script), "/early": lambda: document(bench, script, ("/early.js", "")),
            "/inside": lambda: document(bench, ("/inside.js", ""), script), "/pinned": lambda: document(bench, self.pinned),
            "/frame": lambda: f"<!DOCTYPE html><title>Portal</title><iframe src='https://{ACME}/bench' width=800 height=600></iframe>",
            "/blank": lambda: "<!DOCTYPE html><title>Blank</title>", "/bench.js": lambda: BENCH,
            "/early.js": lambda: EARLY.replace("STATEMENT", json.dumps(self.statement)),
            "/inside.js": lambda: INSIDE.replace("STATEMENT", json.dumps(self.statement)),
        }
        if path in pages:
            return pages[path]()
        sample = SAMPLES / path.removeprefix("/")
        if "/" in path.removeprefix("/") or sample.suffix not in (".html", ".js", ".css") or not sample.is_file():
            return None
        return sample.read_text().replace("https://tv.example", gateway).replace("SOFTWARE-STATEMENT", self.statement)

    def do_GET(self):
        text = self.content()
        body = (text or "").encode()
        suffix = pathlib.PurePath(urllib.parse.urlsplit(self.path).path).suffix
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", {".js": "text/javascript", ".css": "text/css"}.get(suffix, "text/html") + "; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY.split("; frame-src")[0] if self.path.startswith("/unframed") else POLICY)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored):
        pass


@contextlib.contextmanager
def sites():
    """The server, and a browser for which all names below `.example` lead to it."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = pathlib.Path(folder) / "key.pem", pathlib.Path(folder) / "certificate.pem"
        subprocess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", f"/CN={ACME}",
            "-addext", f"subjectAltName=DNS:{ACME}", "-keyout", key, "-out", certificate,
        ], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(1280, 800, hosts={"*.example": f"127.0.0.1:{server.server_port}"})
    try:
        yield Visitor(browser)
    finally:
        browser.driver.quit()
        server.shutdown()
        server.server_close()


class Visitor:
    """A person at the browser, and what the page that is open has heard."""

    def __init__(self, browser):
        self.browser, self.driver = browser, browser.driver
        self.main = self.driver.current_window_handle

    def forget(self):
        """A browser that has never been anywhere."""
        for handle in self.driver.window_handles:
            if handle != self.main:
                self.driver.switch_to.window(handle)
                self.driver.close()
        self.driver.switch_to.window(self.main)
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        for name in (ACME, BRAVO):
            self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": f"https://{name}", "storageTypes": "all"})
        self.open("/blank")
        self.run("sessionStorage.clear()")

    def part(self, name):
        return self.driver.find_element(By.ID, name)

    def open(self, path="/bench", name=ACME):
        self.driver.get(f"https://{name}{path}")

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def begin(self, requestor="ACME1", endpoints=None, options=None, statement=None, more=""):
        self.run(f"begin(...arguments); {more}", statement or Site.statement, requestor, endpoints, options)

    def start(self, path="/bench", name=ACME, **setting):
        """Opens the bench and has its configuration."""
        self.open(path, name)
        self.begin(**setting)
        self.heard("setConfig")

    def log(self, *names):
        return [entry for entry in self.run("return window.log || []") if not names or entry[0] in names]

    def names(self):
        return [entry[0] for entry in self.log()]

    def problems(self):
        return [entry[1]["errorId"] for entry in self.log("onProblem")]

    def heard(self, name, count=1):
        """Waits for a callback; gives the values of the last one."""
        self.browser.wait(f"{count} × {name} in {self.names()}", lambda: len(self.log(name)) >= count)
        return self.log(name)[-1][1:]

    def clear(self):
        self.run("log.length = 0; calls.length = 0")

    def calls(self, part=""):
        return [call for call in self.run("return calls") if part in f"{call['method']} {call['path']}"]

    def check(self):
        """Whether somebody is signed in, as the page is told now."""
        count = len(self.log("setAuthenticationStatus"))
        self.run("ae.checkAuthentication()")
        return self.heard("setAuthenticationStatus", count + 1)[0]

    def choose(self, provider="NorthCable", call="getAuthentication()"):
        count = len(self.log("displayProviderDialog"))
        self.run(f"ae.{call}")
        self.heard("displayProviderDialog", count + 1)
        self.run("ae.setSelectedProvider(arguments[0])", provider)

    def sign_in(self, person="ada"):
        """At the MVPD, in the window that is open."""
        self.browser.sign_in_at_sandbox(person)

    def window(self):
        """Goes to the window of the sign-in."""
        self.browser.wait("a window", lambda: len(self.driver.window_handles) > 1)
        self.driver.switch_to.window(next(handle for handle in self.driver.window_handles if handle != self.main))
        return self

    def back(self):
        """Waits until that window is gone, and is at the page again."""
        self.browser.wait("the window's end", lambda: len(self.driver.window_handles) == 1)
        self.driver.switch_to.window(self.main)

    def returned(self, path="/bench"):
        self.browser.wait("the page again", lambda: self.driver.current_url.startswith(f"https://{ACME}{path}"))

    def signed_in(self, person="ada", **setting):
        """Somebody new who has signed in on the bench without leaving it, with an empty log."""
        self.forget()
        setting["options"] = {"backgroundLogin": True, **setting.get("options", {})}
        self.start(**setting)
        self.choose()
        self.window().sign_in(person)
        self.back()
        assert self.heard("setAuthenticationStatus") == [1, ""], self.log()
        self.clear()

    def play(self, resource="ACME1-NEWS"):
        """The token, or the values of the refusal."""
        count = len(self.log("setToken", "tokenRequestFailed"))
        self.run("ae.checkAuthorization(arguments[0])", resource)
        self.browser.wait("a decision", lambda: len(self.log("setToken", "tokenRequestFailed")) > count)
        entry = self.log("setToken", "tokenRequestFailed")[-1]
        return entry[2] if entry[0] == "setToken" else entry[1:]

    def kept(self, name):
        return json.loads(self.run("return localStorage.getItem(arguments[0])", f"boxoffice.{name}") or "null")

    @contextlib.contextmanager
    def before_each_page(self, script):
        """Runs a script before those of each page of ours."""
        guarded = f"if (location.hostname.endsWith('.example')) {{ {script} }}"
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": guarded})
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


def verified(token, resource="ACME1-NEWS"):
    """The token is one that a programmer's backend accepts."""
    checked = subprocess.run(
        ["Services/boxoffice", "verify", "--requestor", "ACME1", "--resource", resource, "-"], input=token, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0 and checked.stdout.startswith("VALID_TOKEN"), (checked.stdout, checked.stderr, token[:200])


def administer(method, path, document=None, headers=None):
    fields = {"Authorization": "Bearer " + cluster["adminToken"], "Content-Type": "application/json", **(headers or {})}
    body = None if document is None else json.dumps(document).encode()
    with urllib.request.urlopen(urllib.request.Request(cluster["admin"] + "/admin/v1/" + path, body, fields, method=method), timeout=10) as answer:
        return json.loads(answer.read() or b"{}")


@contextlib.contextmanager
def catalogue(changes):
    """Entries with other members, by their path; pushed, and put back."""
    before = {path: administer("GET", path)["entity"] for path in changes}

    def put(found):
        for path, entity in found.items():
            administer("PUT", path, entity, {"If-Match": "*"})
        administer("POST", "draft/push", {"description": "web SDK"})

    put({path: {**before[path], **change} for path, change in changes.items()})
    try:
        yield
    finally:
        put(before)


def until(what, condition):
    end = time.monotonic() + 10
    while not (result := condition()):
        assert time.monotonic() < end, f"{what}: not within 10 s"
        time.sleep(0.05)
    return result


def is_registered(statement):
    request = urllib.request.Request(
        gateway + "/o/client/register", json.dumps({"software_statement": statement}).encode(), {"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status == 201
    except urllib.error.HTTPError:
        return False


def mvpd_calls(endpoint):
    with urllib.request.urlopen(cluster["sandbox"]["mvpd"] + "/control/log", timeout=10) as answer:
        counters = json.loads(answer.read())["counters"]
    return sum(count for name, count in counters.items() if name.split("/")[0] == endpoint)


def disturb(path, content):
    request = urllib.request.Request(
        f"{cluster['sandbox']['mvpd']}/control/{path}", json.dumps(content).encode(), {"Content-Type": "application/json"}, method="POST")
    urllib.request.urlopen(request, timeout=10).close()
