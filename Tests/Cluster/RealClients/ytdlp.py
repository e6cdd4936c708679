"""yt-dlp's own extractor for the vendor's calls, against the cluster of $BOXOFFICE_HOME (clients #34 to #36).

Where that is a bridge, $BOXOFFICE_UPSTREAM_HOME is the folder of the cluster that it asks (bridge B112)."""

import base64
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import yt_dlp
from yt_dlp.extractor import adobepass
from yt_dlp.networking._urllib import RedirectHandler, UrllibRH
from yt_dlp.utils import ExtractorError

home = pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice"))
if not (home / "cluster.json").is_file():
    raise SystemExit(f"no cluster runs in {home}: start one with ./Services/up, or set BOXOFFICE_HOME")
file = json.loads((home / "cluster.json").read_text())
secure, plain = urllib.parse.urlsplit(file["gatewayTLS"]), urllib.parse.urlsplit(file["gateway"])
# Plain addresses of gateways, and where each serves HTTPS.
places = {"sp.auth.adobe.com": secure.netloc, plain.netloc: secure.netloc}
upstream = os.environ.get("BOXOFFICE_UPSTREAM_HOME")
if upstream:
    behind = json.loads((pathlib.Path(upstream) / "cluster.json").read_text())
    places[urllib.parse.urlsplit(behind["gateway"]).netloc] = urllib.parse.urlsplit(behind["gatewayTLS"]).netloc
# The page of a video, which stands under a registered domain; here this machine serves it.
PAGE = "https://www.acme.example/watch/1"
STATEMENT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (b'{"alg":"RS256","typ":"JWT"}', b'{"sub":"a-client-of-the-vendor","iss":"auth.adobe.com"}', hashlib.sha512(b"a key of the vendor").digest())
)


class Pages(http.server.BaseHTTPRequestHandler):
    """What the extractor is sent back to."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><title>A video</title></html>")

    def log_message(self, *ignored):
        pass


class ReroutedRH(UrllibRH):
    """Sends what is for the vendor's host to the gateway's HTTPS, as an operator's name server would, and what is for the programme's page to this machine."""

    sent = []
    page = None

    @classmethod
    def rerouted(cls, url):
        parts = urllib.parse.urlsplit(url)
        place = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
        if place in places:
            # The assertion consumer of this cluster stands at plain HTTP; a deployment has one address, and the sign-in's cookie is a secure one.
            return parts._replace(scheme="https", netloc=places[place]).geturl()
        if place == "www.acme.example":
            return parts._replace(scheme="http", netloc=cls.page).geturl()
        return url

    def _send(self, request):
        request.url = self.rerouted(request.url)
        ReroutedRH.sent.append((request.method, request.url, request.data or b""))
        return super()._send(request)


class Acme(adobepass.AdobePassIE):
    """A programme's site as the extractors of yt-dlp are: all of the work is the base class's."""

    IE_NAME = "acme"
    _VALID_URL = r"https://www\.acme\.example/watch/(?P<id>[0-9]+)"

    def play(self, resource):
        return self._extract_mvpd_auth(PAGE, "1", "ACME1", resource, STATEMENT)


def program(mvpd, person, cache):
    """A run of yt-dlp on a machine of its own, or on one that has run it before."""
    parameters = {
        "ap_mso": mvpd, "ap_username": person, "ap_password": person, "cachedir": cache, "nocheckcertificate": True, "quiet": True,
        "no_warnings": True, "logger": Quiet(), "retries": 0, "extractor_retries": 0, "socket_timeout": 10, "allow_unplayable_formats": True,
    }
    downloader = yt_dlp.YoutubeDL(parameters, auto_init=False)
    director = downloader.build_request_director([ReroutedRH], [])
    # `_request_director` is made where it is first needed.
    downloader.__dict__["_request_director"] = director
    extractor = Acme(downloader)
    return extractor


class Quiet:
    def debug(self, text):
        pass

    warning = error = info = debug


def verified(token, resource="ACME1-NEWS"):
    checked = subprocess.run(
        ["Services/boxoffice", "verify", "--requestor", "ACME1", "--resource", resource, "-"], input=token, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0 and checked.stdout.startswith("VALID_TOKEN"), (checked.stdout, checked.stderr, token[:300])


def steps():
    """The vendor's calls since the last look, in their order."""
    names = [urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1] for _, url, _ in ReroutedRH.sent if "/adobe-services/" in url or "/indiv/" in url]
    return names


@contextlib.contextmanager
def listed():
    """The vendor's statement is listed at the application, and North Cable takes requests as the test says. By the administration API: pushes of others stay."""
    entries = {path: administer("GET", path)["entity"] for path in ("applications/acme-tv", "mvpds/NorthCable")}

    def put(changed):
        for path, entity in changed.items():
            administer("PUT", path, entity, {"If-Match": "*"})
        administer("POST", "draft/push", {"description": "yt-dlp"})

    def change(binding):
        application, mvpd = entries.values()
        statements = [hashlib.sha256(STATEMENT.encode()).hexdigest()]
        changed = [{**application, "legacyStatements": statements}]
        if binding in ("post", "redirect"):
            changed.append({**mvpd, "saml": {**mvpd["saml"], "requestBinding": binding}})
        put(dict(zip(entries, changed)))

    try:
        yield change
    finally:
        put(entries)


def call(method, path, headers=None, body=None, at=plain):
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=10)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def administer(method, path, document=None, headers=None):
    fields = {"Authorization": "Bearer " + file["adminToken"], "Content-Type": "application/json", **(headers or {})}
    status, body = call(method, "/admin/v1/" + path, fields, None if document is None else json.dumps(document), urllib.parse.urlsplit(file["admin"]))
    assert status < 300, (method, path, status, body)
    return json.loads(body or b"{}")


def bearer():
    status, body = call("POST", "/o/client/register", {"Content-Type": "application/json"}, json.dumps({"software_statement": STATEMENT}))
    if status != 201:
        return None
    client = json.loads(body)
    form = urllib.parse.urlencode({"client_id": client["client_id"], "client_secret": client["client_secret"], "grant_type": "client_credentials"})
    return json.loads(call("POST", "/o/client/token", {"Content-Type": "application/x-www-form-urlencoded"}, form)[1])["access_token"]


def until(what, condition):
    end = time.monotonic() + 15
    while not (result := condition()):
        assert time.monotonic() < end, f"{what}: not within 15 s"
        time.sleep(0.1)
    return result


def begins_with(binding):
    """True once a sign-in begins by that binding."""
    token = bearer()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    code = json.loads(call("POST", "/reggie/v1/ACME1/regcode", headers, "deviceId=looks-on")[1])["code"]
    query = urllib.parse.urlencode({"requestor_id": "ACME1", "mso_id": "NorthCable", "reg_code": code, "domain_name": "adobe.com", "redirect_url": PAGE})
    return call("GET", f"/adobe-services/authenticate/saml?{query}")[0] == (200 if binding == "post" else 302)


def main():
    print(f"yt-dlp {yt_dlp.version.__version__}")
    adobepass.MSO_INFO["NorthCable"] = {"name": "North Cable (sandbox)", "username_field": "username", "password_field": "password"}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ReroutedRH.page = f"127.0.0.1:{server.server_port}"
    with listed() as change, tempfile.TemporaryDirectory() as folder:
        for binding in ("upstream",) if upstream else ("post", "redirect"):
            change(binding)
            until("the listed statement", bearer)
            until(f"requests by {binding}", lambda: begins_with(binding))
            ReroutedRH.sent.clear()
            cache = f"{folder}/{binding}"
            token = program("NorthCable", "ada", cache).play("ACME1-NEWS")
            verified(token)
            assert steps() == ["devices", "saml", "session", "authorize", "shortAuthorize"], steps()
            secrets = [url for method, url, data in ReroutedRH.sent if b"password=ada" in data]
            assert len(secrets) == 1 and secrets[0].startswith("https://"), secrets
            print(f"passed  #34: signs in by the {binding} binding, and plays")
        ReroutedRH.sent.clear()
        verified(program("NorthCable", "ada", cache).play("ACME1-NEWS"))
        assert steps() == ["shortAuthorize"], steps()
        rss = '<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>ACME1-NEWS</title><item><title>a &amp; b</title><guid>g-1</guid></item></channel></rss>'
        verified(program("NorthCable", "ada", cache).play(rss), rss)
        assert steps() == ["shortAuthorize", "authorize", "shortAuthorize"], steps()
        print("passed  #35: a kept token is enough, without a bearer and a device")
        log_out(cache)
        ReroutedRH.sent.clear()
        token = program("NorthCable", "ada", cache).play("ACME1-SPORT")
        verified(token, "ACME1-SPORT")
        assert steps()[0] == "authorize" and steps()[1:] == ["devices", "saml", "session", "authorize", "shortAuthorize"], steps()
        print("passed  #35: after a logout it signs in again by itself")
        forge(cache)
        ReroutedRH.sent.clear()
        verified(program("NorthCable", "ada", cache).play("ACME1-NEWS"))
        assert steps() == ["authorize", "devices", "saml", "session", "authorize", "shortAuthorize"], steps()
        print("passed  #35: a token of the vendor's is forgotten, and it signs in again")
        try:
            program("NorthCable", "cleo", f"{folder}/cleo").play("ACME1-NEWS")
            raise AssertionError("cleo plays")
        except ExtractorError as error:
            assert "to your package" in str(error) or "subscri" in str(error).lower(), str(error)
            print(f"passed  #36: a denial is told in the MVPD's words: {error}")
    server.shutdown()


def kept(cache):
    return pathlib.Path(cache) / "ap-mvpd" / "ACME1.json"


def log_out(cache):
    """By v1, as another program on the device would; what is kept stays."""
    device = DEVICES[-1]
    token = bearer()
    status, body = call("DELETE", f"/api/v1/logout?requestor=ACME1&deviceId={device}", {"Authorization": f"Bearer {token}"})
    assert status == 204, (status, body)


def forge(cache):
    """What every kept token is on the day of the move: the vendor's."""
    document = json.loads(kept(cache).read_text())
    data = document.get("data", document)
    signature = base64.b64encode(bytes(128)).decode()
    data["authn_token"] = f"<signatureInfo>{signature}</signatureInfo>" + data["authn_token"].split("</signatureInfo>", 1)[1]
    for name in [name for name in data if name != "authn_token"]:
        del data[name]
    kept(cache).write_text(json.dumps(document))


follow = RedirectHandler.redirect_request
RedirectHandler.redirect_request = lambda self, request, answer, code, text, headers, url: follow(
    self, request, answer, code, text, headers, ReroutedRH.rerouted(url)
)

DEVICES = []
download = adobepass.AdobePassIE._download_json_handle


def noting(self, url, *arguments, **options):
    answer = download(self, url, *arguments, **options)
    if url.endswith("/indiv/devices"):
        DEVICES.append(answer[0]["deviceId"])
    return answer


adobepass.AdobePassIE._download_json_handle = noting

if __name__ == "__main__":
    sys.exit(main())
