"""A channel with 300 TV providers at a running cluster: hostile names, logos that are none, colours of its own, and pages to link to."""

import http.server
import json
import threading
import urllib.error
import urllib.request

from television import cluster

COUNT = 300
HOSTILE = {
    "Many1": "<script>alert(1)</script> TV", "Many2": "North\u202eelbaC \u202c TV", "Many3": "\u3300" * 80, "Many4": "\"' onerror=alert(1) Kabel",
    "Many5": "Łódź Télécom", "Many6": "Straße Süd", "Many7": "Ñandú Visión",
}
FAVOURITES = ["Many7", "NorthCable", "Many5"]
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="112" height="33"><rect width="112" height="33" fill="#0b5fad"/></svg>'
LINKS = {"privacyUrl": "https://acme.example/privacy", "termsUrl": "https://acme.example/terms", "supportUrl": "https://acme.example/help#tv"}


class Logos(http.server.BaseHTTPRequestHandler):
    """Every tenth logo is missing, every eleventh is no picture."""

    asked = set()

    def do_GET(self):
        number = int("0" + "".join(filter(str.isdigit, self.path)))
        Logos.asked.add(self.path)
        self.send_response(404 if number % 10 == 0 else 200)
        self.send_header("Content-Type", "text/html" if number % 11 == 0 else "image/svg+xml")
        self.end_headers()
        if number % 10:
            self.wfile.write(b"<p>no picture" if number % 11 == 0 else LOGO.encode())

    def log_message(self, *ignored):
        pass


def administer(method, path, body=None):
    request = urllib.request.Request(
        cluster["admin"] + "/admin/v1" + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + cluster["adminToken"], "Content-Type": "application/json", "If-Match": "*"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            content = answer.read()
            return json.loads(content) if content else None
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]}") from None


def add_providers(logos):
    """Pushes the MVPDs, reached through one of the demo's, and how the channel looks. Gives the version to go back to."""
    administer("DELETE", "/draft")
    before = administer("GET", "/versions")["versions"][0]["version"]
    model = administer("GET", "/mvpds/NorthCable")["entity"]
    for number in range(1, COUNT - 2):
        name = f"Many{number}"
        administer("POST", "/mvpds", {
            "id": name, "displayName": HOSTILE.get(name, f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[number % 26]}mber Cable {number}"),
            "logoUrl": f"{logos}/{number}.svg", "proxy": {"mvpd": "NorthCable", "providerId": name}, "authorization": model["authorization"],
            "authzTtl": model["authzTtl"]})
        administer("POST", "/integrations", {"requestor": "ACME1", "mvpd": name})
    administer("PUT", "/requestors/ACME1", {
        **administer("GET", "/requestors/ACME1")["entity"], "favouriteMvpds": FAVOURITES, "logoUrl": f"{logos}/1.svg", "accentColor": "#ffcc00",
        "headerColor": "#102a43", **LINKS})
    administer("POST", "/draft/push", {"description": "Many providers"})
    return before


def go_back(version):
    administer("POST", f"/versions/{version}/restore")
    administer("POST", "/draft/push", {"description": "As before"})


def serve_logos():
    """Gives the address below which the logos are."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Logos)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
