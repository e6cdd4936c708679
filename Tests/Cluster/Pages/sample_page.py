"""A programme's own page in a real browser: which provider, whose code, signed in or not, at a running cluster (clients #33).

After the vendor's second-screen sample of 2019. Its scripts call these, without any header of their own and without a bearer:

| call | sends | reads |
|---|---|---|
| GET /reggie/v1/{requestor}/regcode/{code}.json | nothing | the record |
| GET /adobe-services/config/{requestor}.json | nothing | XML: `id` and `displayName` of each `mvpd` |
| GET /api/v1/checkauthn/{code}.json | `requestor`, `deviceId=dummy` | status 200 or 403 |
| GET /api/v1/authenticate, by leaving the page | `reg_code`, `requestor_id`, `domain_name=adobe.com`, `noflash`, `no_iframe`, `mso_id`, `redirect_url` | nothing |
"""

import base64
import contextlib
import http.server
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

from browser import By, Browser, run
from television import Device, gateway

REGISTERED, FOREIGN = "www.acme.example", "www.acme.example.evil.example"

PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Acme One</title>
<h1>Acme One</h1><ul id="providers"></ul><pre id="record"></pre><p id="status"></p><p id="end"></p>
<script>
const gateway = GATEWAY, requestor = "ACME1", code = new URLSearchParams(location.search).get("code");
const places = {
    record: `${gateway}/reggie/v1/${requestor}/regcode/${code}.json`,
    providers: `${gateway}/adobe-services/config/${requestor}.json`,
    status: `${gateway}/api/v1/checkauthn/${code}.json?requestor=${requestor}&deviceId=dummy`,
};
const show = (name, text) => { document.getElementById(name).textContent = text; };
async function read(name, use) {
    try {
        await use(await fetch(places[name]));
    } catch (error) {
        // Whether the answer came at all: one that no script may read still comes.
        const answer = await fetch(places[name], { mode: "no-cors" });
        show(name, `${error.name}: an answer that is ${answer.type}`);
    }
}
async function list(answer) {
    const catalogue = new DOMParser().parseFromString(await answer.text(), "application/xml");
    for (const mvpd of catalogue.querySelectorAll("mvpd")) {
        const link = document.createElement("a");
        link.textContent = mvpd.querySelector("displayName").textContent;
        link.href = `${gateway}/api/v1/authenticate?` + new URLSearchParams({
            reg_code: code, requestor_id: requestor, domain_name: "adobe.com", noflash: "true", no_iframe: "true",
            mso_id: mvpd.querySelector("id").textContent, redirect_url: location.href });
        document.getElementById("providers").appendChild(document.createElement("li")).append(link);
    }
}
Promise.all([
    read("record", async answer => show("record", await answer.text())),
    read("providers", list),
    read("status", async answer => show("status", answer.status)),
]).finally(() => show("end", "All is read."));
</script></html>
"""


class Site(http.server.BaseHTTPRequestHandler):
    """The page, whatever is asked for."""

    def do_GET(self):
        content = PAGE.replace("GATEWAY", json.dumps(gateway)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *ignored):
        pass


@contextlib.contextmanager
def site(name):
    """Serves the page over HTTPS at a port of loopback; gives a browser for which it stands at the usual port of the name."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = pathlib.Path(folder) / "key.pem", pathlib.Path(folder) / "certificate.pem"
        subprocess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", f"/CN={name}",
            "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out", certificate,
        ], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(1280, 800, hosts={name: f"127.0.0.1:{server.server_port}"})
    try:
        yield browser
    finally:
        browser.driver.quit()
        server.shutdown()
        server.server_close()


def shown(browser, name):
    return browser.driver.find_element(By.ID, name).text


def open_page(browser, name, code):
    browser.driver.get(f"https://{name}/connect?code={code}")
    browser.wait("all that the page reads", lambda: shown(browser, "end"))


def a_page_of_a_registered_domain_reads_list_record_and_sign_in_and_signs_the_tv_in():
    device = Device()
    code = device.code()
    with site(REGISTERED) as browser:
        open_page(browser, REGISTERED, code)
        browser.screenshot("sample-page")
        names = {link.text for link in browser.driver.find_elements(By.CSS_SELECTOR, "#providers a")}
        assert {"North Cable", "Lake Tel", "Open Fiber"} <= names and "Parked TV" not in names, f"the requestor's providers: {names}"
        record = json.loads(shown(browser, "record"))
        assert record["code"] == code and record["requestor"] == "ACME1", f"the code's record: {record}"
        assert not record["info"].get("deviceId") and "deviceInfo" not in record["info"], f"no device: {record['info']}"
        for text in (device.id, base64.b64encode(device.id.encode()).decode()):
            assert text not in browser.driver.page_source, "the device's id is nowhere"
        assert shown(browser, "status") == "403", "nobody has signed in"
        browser.driver.find_element(By.LINK_TEXT, "North Cable").click()
        browser.sign_in_at_sandbox("ada")
        browser.wait("the page again", lambda: browser.driver.current_url.startswith(f"https://{REGISTERED}/connect") and shown(browser, "end"))
        browser.screenshot("sample-page-signed-in")
        assert shown(browser, "status") == "200", f"somebody has signed in: {shown(browser, 'status')}"
        assert json.loads(shown(browser, "record"))["status"] == 404, "a used code's record is its maker's"
        assert device.is_signed_in(), "the TV is signed in"


def the_same_page_of_a_foreign_domain_reads_nothing():
    device = Device()
    code = device.code()
    with site(FOREIGN) as browser:
        open_page(browser, FOREIGN, code)
        browser.screenshot("sample-page-foreign")
        for name in ("record", "providers", "status"):
            assert shown(browser, name) == "TypeError: an answer that is opaque", f"{name}: {shown(browser, name)}"
    for path in (f"/reggie/v1/ACME1/regcode/{code}.json", "/adobe-services/config/ACME1.json", f"/api/v1/checkauthn/{code}.json?requestor=ACME1"):
        assert allowed(path, REGISTERED) == f"https://{REGISTERED}", f"the registered domain may read {path}"
        for name in (FOREIGN, "evil.example", "wwwacme.example"):
            assert allowed(path, name) is None, f"{name} may not read {path}"


def allowed(path, name):
    """The origin that may read the answer."""
    request = urllib.request.Request(gateway + path, headers={"Origin": f"https://{name}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.headers["Access-Control-Allow-Origin"]
    except urllib.error.HTTPError as error:
        return error.headers["Access-Control-Allow-Origin"]


run([
    a_page_of_a_registered_domain_reads_list_record_and_sign_in_and_signs_the_tv_in, the_same_page_of_a_foreign_domain_reads_nothing,
])
