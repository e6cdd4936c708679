"""A programme's own page in a real browser: which provider, whose code, signed in or not, at a running cluster (clients #33).

After the vendor's second-screen sample of 2019. Its scripts call these, without any header of their own and without a bearer:

| call | sends | reads |
|---|---|---|
| GET /reggie/v1/{requestor}/regcode/{code}.json | nothing | the record |
| GET /adobe-services/config/{requestor}.json | nothing | XML: `id` and `displayName` of each `mvpd` |
| GET /api/v1/checkauthn/{code}.json | `requestor`, `deviceId=dummy` | status 200 or 403 |
| GET /api/v1/authenticate, by leaving the page | `reg_code`, `requestor_id`, `domain_name=adobe.com`, `noflash`, `no_iframe`, `mso_id`, `redirect_url` | nothing |

And after apps that run in a page: they register, sign a person in, play and log out by `fetch` alone, over v1 and v2 (rest-v1 §2.1).
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
import uuid

from browser import By, Browser, run
from television import Device, cluster, device_information, gateway

REGISTERED, OTHER, FOREIGN = "www.acme.example", "www.bravo.example", "www.acme.example.evil.example"

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


# What an app in a page does; `keep` lasts while the person is away at the provider. A call that the page may not read throws.
APP = """
const gateway = GATEWAY, statement = STATEMENT, information = INFORMATION;
const keep = JSON.parse(sessionStorage.getItem("app") || "{}");
const save = () => sessionStorage.setItem("app", JSON.stringify(keep));
const form = fields => new URLSearchParams(fields);
const json = { "Content-Type": "application/json" };
const bearer = () => ({ Authorization: `Bearer ${keep.token}`, Accept: "application/json", "X-Device-Info": information });
async function ask(method, path, headers = {}, body = undefined) {
    const answer = await fetch(gateway + path, { method, headers, body });
    const text = await answer.text();
    let read = null;
    try { read = JSON.parse(text); } catch { read = text; }
    return { status: answer.status, read, header: name => answer.headers.get(name) };
}
async function begin() {
    const client = await ask("POST", "/o/client/register", json, JSON.stringify({ software_statement: statement }));
    const fields = { client_id: client.read.client_id, client_secret: client.read.client_secret, grant_type: "client_credentials" };
    const token = await ask("POST", "/o/client/token", {}, form(fields));
    const basic = btoa(fields.client_id + ":" + encodeURIComponent(fields.client_secret));
    const again = await ask("POST", "/o/client/token", { Authorization: `Basic ${basic}` }, form({ grant_type: fields.grant_type }));
    const wrong = await ask("POST", "/o/client/token", { Authorization: `Basic ${btoa("nobody:x")}` }, form({ grant_type: fields.grant_type }));
    keep.token = token.read.access_token;
    const device = await ask("POST", "/indiv/devices", { ...bearer(), ...json }, JSON.stringify({ fingerprint: FINGERPRINT }));
    keep.device = device.read.deviceId;
    save();
    return { client: client.status, token: token.status, basic: again.status, wrong: wrong.status, why: wrong.read.error,
        challenge: wrong.header("WWW-Authenticate"), device: device.status, seal: Boolean(device.header("pass_sfp")) };
}
const checked = () => ask("GET", `/api/v1/checkauthn?deviceId=${keep.device}`, bearer());
const v1 = {
    async begin() {
        const made = await begin();
        const code = await ask("POST", "/reggie/v1/ACME1/regcode", bearer(), form({ deviceId: keep.device }));
        keep.code = code.read.code;
        save();
        const login = form({ reg_code: keep.code, requestor_id: "ACME1", domain_name: "adobe.com", mso_id: "NorthCable", redirect_url: location.href });
        return { ...made, code: code.status, before: (await checked()).status, login: `${gateway}/api/v1/authenticate?${login}` };
    },
    async play() {
        const device = `deviceId=${keep.device}`, resource = `requestor=ACME1&${device}&resource=ACME1-NEWS`;
        const results = { code: (await ask("GET", `/api/v1/checkauthn/${keep.code}?requestor=ACME1`, bearer())).status, signedIn: (await checked()).status };
        results.permit = (await ask("GET", `/api/v1/authorize?${resource}`, bearer())).status;
        results.media = (await ask("GET", `/api/v1/mediatoken?${resource}`, bearer())).read.serializedToken;
        // The application has more than one requestor: a call that names none is refused, which the page may read.
        results.unnamed = (await ask("GET", `/api/v1/tokens/usermetadata?${device}`, bearer())).status;
        results.person = (await ask("GET", `/api/v1/tokens/usermetadata?requestor=ACME1&${device}`, bearer())).status;
        results.out = (await ask("DELETE", `/api/v1/logout?${device}`, bearer())).status;
        results.after = (await checked()).status;
        return results;
    },
};
const identified = () => ({ ...bearer(), "AP-Device-Identifier": "fingerprint " + btoa(keep.device) });
const v2 = {
    async begin() {
        const made = await begin();
        const fields = form({ mvpd: "NorthCable", domainName: "acme.example", redirectUrl: location.href });
        const session = await ask("POST", "/api/v2/ACME1/sessions", identified(), fields);
        keep.code = session.read.code;
        save();
        return { ...made, session: session.status, action: session.read.actionName, login: gateway + session.read.url };
    },
    async play() {
        const results = { code: Object.keys((await ask("GET", `/api/v2/ACME1/profiles/code/${keep.code}`, identified())).read.profiles) };
        results.profiles = Object.keys((await ask("GET", "/api/v2/ACME1/profiles", identified())).read.profiles);
        const wanted = JSON.stringify({ resources: ["ACME1-NEWS"] });
        const decided = await ask("POST", "/api/v2/ACME1/decisions/authorize/NorthCable", { ...identified(), ...json }, wanted);
        results.permit = decided.read.decisions[0].authorized;
        results.media = decided.read.decisions[0].token.serializedToken;
        results.out = (await ask("GET", `/api/v2/ACME1/logout/NorthCable?redirectUrl=${encodeURIComponent(location.href)}`, identified())).status;
        results.after = Object.keys((await ask("GET", "/api/v2/ACME1/profiles", identified())).read.profiles);
        return results;
    },
};
const done = arguments[arguments.length - 1];
(async () => await (STEP))().then(result => done({ result }), error => done({ error: String(error) }));
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


def app(browser, step):
    """A step of the app that runs in the page; gives what it gives, or the text of its error."""
    script = APP
    for name, value in (("GATEWAY", gateway), ("STATEMENT", cluster["softwareStatements"]["acme-tv"]), ("INFORMATION", device_information),
                        ("FINGERPRINT", uuid.uuid4().hex)):
        script = script.replace(name, json.dumps(value))
    answer = browser.driver.execute_async_script(script.replace("STEP", step))
    return answer.get("error") or answer["result"]


def signs_in(browser, name, begun):
    browser.driver.get(begun["login"])
    browser.sign_in_at_sandbox("ada")
    browser.wait("the page again", lambda: browser.driver.current_url.startswith(f"https://{name}/"))


REGISTRATION = {"client": 201, "token": 201, "basic": 201, "wrong": 401, "why": "invalid_client", "device": 200, "seal": True}


def an_app_in_a_page_of_a_registered_domain_registers_signs_in_plays_and_logs_out_over_v1():
    with site(REGISTERED) as browser:
        browser.driver.get(f"https://{REGISTERED}/app")
        begun = app(browser, "v1.begin()")
        assert isinstance(begun, dict), f"the page reads every answer: {begun}"
        assert begun["challenge"].startswith("Basic "), f"how to authenticate is read: {begun['challenge']}"
        assert {name: begun[name] for name in REGISTRATION} == REGISTRATION and (begun["code"], begun["before"]) == (201, 403), begun
        signs_in(browser, REGISTERED, begun)
        played = app(browser, "v1.play()")
        assert isinstance(played, dict) and played.pop("media"), f"the page reads every answer: {played}"
        assert played == {"code": 200, "signedIn": 200, "permit": 200, "unnamed": 400, "person": 200, "out": 204, "after": 403}, played


def an_app_in_a_page_of_a_registered_domain_registers_signs_in_plays_and_logs_out_over_v2():
    with site(REGISTERED) as browser:
        browser.driver.get(f"https://{REGISTERED}/app")
        begun = app(browser, "v2.begin()")
        assert isinstance(begun, dict), f"the page reads every answer: {begun}"
        assert {name: begun[name] for name in REGISTRATION} == REGISTRATION, begun
        assert (begun["session"], begun["action"]) == (200, "authenticate"), begun
        signs_in(browser, REGISTERED, begun)
        played = app(browser, "v2.play()")
        assert isinstance(played, dict) and played.pop("media"), f"the page reads every answer: {played}"
        assert played == {"code": ["NorthCable"], "profiles": ["NorthCable"], "permit": True, "out": 200, "after": []}, played


def a_page_of_another_requestors_domain_reads_no_success_but_why_it_is_refused():
    device = Device()
    with site(OTHER) as browser:
        browser.driver.get(f"https://{OTHER}/app")
        for step in ("begin()", 'ask("POST", "/o/client/register?requestor=BRAVO", json, JSON.stringify({ software_statement: statement }))'):
            assert "Failed to fetch" in app(browser, step), f"{step} is no other programme's to read"
        token, step = json.dumps(device.bearer["Authorization"]), 'ask("POST", "/indiv/devices", { Authorization: TOKEN, ...json }, JSON.stringify({}))'
        assert app(browser, step.replace("TOKEN", token))["status"] == 400, "a refusal is read"
        step = 'ask("POST", "/indiv/devices", { Authorization: TOKEN, ...json }, JSON.stringify({ fingerprint: FINGERPRINT }))'
        assert "Failed to fetch" in app(browser, step.replace("TOKEN", token).replace("FINGERPRINT", json.dumps(uuid.uuid4().hex)))
        assert app(browser, 'ask("POST", "/o/client/register", json, "{")')["status"] == 400, "a refusal is read"


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
    an_app_in_a_page_of_a_registered_domain_registers_signs_in_plays_and_logs_out_over_v1,
    an_app_in_a_page_of_a_registered_domain_registers_signs_in_plays_and_logs_out_over_v2,
    a_page_of_another_requestors_domain_reads_no_success_but_why_it_is_refused,
])
