"""What strangers could try at REST v2 (clients #57)."""

import base64
import http.client
import json
import socket
import threading
import urllib.error
import urllib.parse

import attacks
from attacks import attack, expect, statuses
from cluster import FORM, INFORMATION, Client, Answer, device, file, form, from_address, person, public

END = "https://acme.example/done"
JSON = {"Content-Type": "application/json"}
MISSING, REFUSED = "invalid_header_device_identifier", "invalid_access_token_client_application"


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def status(access="granted", provider="north-cable", end=4102444800000):
    """What a platform's framework would have told the app."""
    return encoded(json.dumps({"frameworkPermissionInfo": {"accessStatus": access}, "frameworkProviderInfo": {"id": provider, "expirationDate": str(end)}}))


def ask(method, path, headers=(), body=None, source="127.0.0.1"):
    """As `cluster.ask`; a header's value may be octets, or a list of values that are sent one by one."""
    connection = http.client.HTTPConnection(*public, timeout=10, source_address=(source, 0))
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in dict(headers).items():
            for one in value if isinstance(value, list) else [value]:
                connection.putheader(name, one)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Device:
    """An app of REST v2 on a device of its own."""

    def __init__(self, client=None, provider="ACME1"):
        self.id, self.provider, self.client = device(), provider, client or Client()
        self.headers = {
            "Authorization": self.client.bearer["Authorization"], "AP-Device-Identifier": "fingerprint " + encoded(self.id), "X-Device-Info": INFORMATION,
            "X-Forwarded-For": "127.0.0.1", "Adobe-Subject-Token": "e30.e30.e30", "X-Roku-Reserved-Roku-Connect-Token": "e30.e30.e30",
            "AD-Service-Token": "e30.e30.e30", "AP-Partner-Framework-Status": status(), "AP-TempPass-Identity": encoded('{"email":"0123"}'),
            "AP-Visitor-Identifier": "40692203", "User-Agent": "Player/1",
        }

    def path(self, rest):
        return f"/api/v2/{self.provider}/{rest}"

    def get(self, rest, **headers):
        return ask("GET", self.path(rest), {**self.headers, **headers})

    def post(self, rest, fields, **headers):
        return ask("POST", self.path(rest), {**self.headers, **FORM, **headers}, form(fields))

    def decide(self, kind, resources, mvpd="NorthCable", **headers):
        return ask("POST", self.path(f"decisions/{kind}/{mvpd}"), {**self.headers, **JSON, **headers}, json.dumps({"resources": resources}).encode())

    def code(self, **fields):
        answer = self.post("sessions", {"mvpd": "LakeTel", "domainName": "acme.example", "redirectUrl": END, **fields})
        return answer.json["code"]

    def calls(self, code):
        """Every call: method, path, body, its type, whether it names a device."""
        resources, fields = b'{"resources":["ACME1-NEWS"]}', form({"mvpd": "LakeTel", "domainName": "acme.example", "redirectUrl": END})
        logout = "logout/LakeTel?redirectUrl=" + urllib.parse.quote(END, safe="")
        return [
            ("GET", self.path("configuration"), None, {}, False), ("POST", self.path("sessions"), fields, FORM, True),
            ("POST", self.path(f"sessions/{code}"), fields, FORM, False), ("GET", self.path(f"sessions/{code}"), None, {}, False),
            ("GET", self.path("profiles"), None, {}, True), ("GET", self.path("profiles/LakeTel"), None, {}, True),
            ("GET", self.path(f"profiles/code/{code}"), None, {}, False),
            ("POST", self.path("decisions/authorize/LakeTel"), resources, JSON, True),
            ("POST", self.path("decisions/preauthorize/LakeTel"), resources, JSON, True), ("GET", self.path(logout), None, {}, True),
            ("POST", self.path("sessions/sso/Apple"), fields, FORM, True),
            ("POST", self.path("profiles/sso/Apple"), form({"SAMLResponse": encoded("<x/>")}), FORM, True),
        ]


def spoiled(value):
    """A header's value in all the ways in which it can be wrong; `None`: the header is not sent."""
    kind = value.split()[0] + " " if " " in value else ""
    return {
        "missing": None, "empty": "", "twice": [value, kind + encoded("other")], "long": kind + "A" * 6000, "huge": kind + "A" * 40_000,
        "not encoded": kind + "%%%=*", "a NUL": value.encode() + b"\0x", "an encoded NUL": kind + encoded("a\0b"),
        "a surrogate": kind.encode() + b"\xed\xa0\x80", "an encoded surrogate": kind + encoded(b"\xed\xa0\x80"),
        "a surrogate in JSON": kind + encoded(r'{"email":"\ud800","frameworkPermissionInfo":"\udc00"}'),
    }


@attack("C57 no header of REST v2 does more than be refused, or be as good as absent", growth=80)
def headers():
    own = Device()
    code = own.code()
    for name, value in own.headers.items():
        for how, wrong in spoiled(value).items():
            for method, path, body, kind, names_device in own.calls(code) + [("GET", f"/api/v2/authenticate/ACME1/{code}", None, {}, False)]:
                # A new code would end the one that the other calls are about.
                if path.endswith("/sessions") or "/sso/" in path:
                    path, body = path.replace("ACME1", "ACME2"), body.replace(b"acme.example", b"acme-two.example")
                sent = {header: text for header, text in {**own.headers, **kind, name: wrong}.items() if text is not None}
                try:
                    answer = ask(method, path, sent, body)
                except (ConnectionError, OSError):
                    expect(how in ("huge", "a NUL", "a surrogate"), name, how, path, "ends the connection")
                    continue
                facts = name, how, method, path, answer.status, answer.body[:200]
                # The reference's status for a platform on which nobody is signed in (rest-v2 §3).
                elsewhere = answer.status == 500 and answer.json.get("code") == "invalid_configuration_platform_services"
                expect(answer.status in (200, 302, 400, 401, 403, 431) or elsewhere and name == "X-Device-Info", *facts)
                expect(own.id.encode() not in answer.body and encoded(own.id).encode() not in answer.body, *facts)
                if how in ("huge", "a NUL", "a surrogate") or "authenticate" in path:
                    continue
                if name == "Authorization":
                    expect(answer.status == 401 or how == "twice" and answer.status == 400, *facts)
                elif name == "AP-Device-Identifier" and names_device and how != "a surrogate in JSON":
                    expect(answer.status == 400 and answer.json.get("code") == MISSING, *facts)
                elif name not in ("AP-Device-Identifier", "X-Device-Info", "AP-Partner-Framework-Status", "AP-TempPass-Identity"):
                    expect(answer.status == 200 or answer.json.get("code") in ("invalid_parameter_saml_response", "invalid_integration"), *facts)


@attack("C57 at REST v2 who one is comes before what one says, and how much before who one is")
def order():
    wrong = {"Authorization": "Bearer wrong"}
    for path in ["NOBODY/profiles", "ACME1/profiles/%FF", "ACME1/sessions/!!", "ACME1/profiles/code/!!", "ACME1/configuration", "ACME1/logout/Nobody"]:
        answer = ask("GET", f"/api/v2/{path}", {**wrong, "AP-Device-Identifier": "x", "X-Device-Info": "%"})
        expect(answer.status == 401 and answer.json["code"] == REFUSED, path, answer.status, answer.body[:200])
    for path in ["NOBODY/sessions", "ACME1/sessions/!!", "ACME1/decisions/authorize/Nobody", "ACME1/sessions/sso/Foo", "ACME1/profiles/sso/Foo"]:
        answer = ask("POST", f"/api/v2/{path}", {**wrong, "Content-Type": "text/plain"}, b"\xff{")
        expect(answer.status == 401 and answer.json["code"] == REFUSED, path, answer.status, answer.body[:200])
        # Of a body that is too long, or that nobody may send, not an octet is waited for.
        for bearer, allowed in [("Authorization: Bearer wrong\r\n", (401, 413)), ("", (401,))]:
            head = f"POST /api/v2/{path} HTTP/1.1\r\nHost: localhost\r\n{bearer}Content-Length: 90000000\r\n\r\n"
            with socket.create_connection(public, timeout=4) as connection:
                connection.sendall(head.encode())
                seen = statuses(connection.recv(4096))
            expect(seen and seen[0] in allowed, path, bearer, seen)


@attack("C57 a thousand resources are a thousand refusals", loads=True, growth=60)
def resources():
    own = Device()
    many = [f"ACME1-{number}" for number in range(1000)]
    for kind in ["authorize", "preauthorize"]:
        answer = own.decide(kind, many)
        items = answer.json.get("decisions", [])
        expect(answer.status == 200 and [item["resource"] for item in items] == many, kind, answer.status, answer.body[:200])
        expect(not any(item["authorized"] or "token" in item for item in items), kind)
    for long in [["x" * 20_000], ["<rss>" * 4000], ["ACME1-NEWS"] * 1000, [["ACME1-NEWS"]], [{"a": 1}], ["\0"], "ACME1-NEWS"]:
        answer = own.decide("authorize", long)
        expect(answer.status in (200, 400, 413) and b'"token"' not in answer.body, str(long)[:40], answer.status, answer.body[:200])


@attack("C57 a code is good at its own service provider, and tells a stranger's client neither its device nor its way back")
def codes():
    own = Device()
    code = own.code()
    sister = Device(own.client, "ACME2")
    for answer in [
        sister.get(f"sessions/{code}"), sister.post(f"sessions/{code}", {"mvpd": "NorthCable"}), sister.get(f"profiles/code/{code}"),
    ]:
        expect(answer.status == 400 and answer.json["code"] == "invalid_authentication_session", answer.status, answer.body[:200])
    browser = ask("GET", f"/api/v2/authenticate/ACME2/{code}", {"Accept": "text/html"})
    expect(browser.status == 400 and "location" not in browser.headers, browser.status)

    stranger = Device()
    for url in ["https://evil.example/", "https://acme.example@evil.example/", "javascript:alert(1)", "//evil.example/"]:
        answer = stranger.post(f"sessions/{code}", {"redirectUrl": url})
        expect(answer.status == 400 and answer.json["code"] == "invalid_parameter_redirect_url", url, answer.status, answer.body[:200])
    resumed, told = stranger.post(f"sessions/{code}", {"mvpd": "LakeTel"}), stranger.get(f"sessions/{code}")
    for answer in [resumed, told]:
        expect(answer.status == 200, answer.status, answer.body[:200])
        expect(own.id.encode() not in answer.body and encoded(own.id).encode() not in answer.body, answer.body[:400])
    person.sign_in(f"{file['gateway']}/api/v2/authenticate/ACME1/{code}", END, "ada")
    expect(list(own.get("profiles").json["profiles"]) == ["LakeTel"], "the login is its maker's device's")
    expect(stranger.get("profiles").json == {"profiles": {}}, "and nobody else's")
    seen = stranger.get(f"profiles/code/{code}").json["profiles"]["LakeTel"]["attributes"]
    expect(list(seen) == ["userID"], list(seen))
    expect(not stranger.decide("authorize", ["ACME1-NEWS"], "LakeTel").json["decisions"][0]["authorized"])
    expect(stranger.get(f"sessions/{code}").status == 400, "the record is its maker's")


@attack("C57 of several who sign in by one code at once, one does")
def at_once():
    own = Device()
    code = own.code()
    ended = []

    def sign_in(name):
        try:
            person.sign_in(f"{file['gateway']}/api/v2/authenticate/ACME1/{code}", END, name)
            ended.append(name)
        except (urllib.error.HTTPError, RuntimeError):
            pass

    threads = [threading.Thread(target=sign_in, args=(name,)) for name in ["ada", "ben"] * 3]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    expect(len(ended) == 1, ended)
    expect(list(own.get("profiles").json["profiles"]) == ["LakeTel"])
    again = ask("GET", f"/api/v2/authenticate/ACME1/{code}", {"Accept": "text/html"})
    expect(again.status == 400 and "location" not in again.headers, again.status)


@attack("C57 a framework's status that lies opens nothing")
def lies():
    own = Device()
    lie = {"AP-Partner-Framework-Status": status()}
    expect(own.get("profiles", **lie).json == {"profiles": {}})
    for kind in ["authorize", "preauthorize"]:
        answer = own.decide(kind, ["ACME1-NEWS"], **lie)
        expect(not any(item["authorized"] for item in answer.json.get("decisions", [])), kind, answer.body[:200])
    begun = own.post("sessions/sso/Apple", {"domainName": "acme.example", "redirectUrl": END}, **lie)
    expect(begun.status == 200 and "code" not in begun.json, begun.body[:200])
    forged = encoded("<samlp:Response xmlns:samlp='urn:oasis:names:tc:SAML:2.0:protocol'><a/></samlp:Response>")
    bomb = encoded('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>')
    for response in ["", "%%%", encoded("\0"), forged, bomb, encoded("<a" * 10_000), "A" * 300_000]:
        answer = own.post("profiles/sso/Apple", {"SAMLResponse": response}, **lie)
        expect(answer.status in (400, 413) and b"root:" not in answer.body, response[:20], answer.status, answer.body[:200])
    # One whose person is signed in at another MVPD.
    person.sign_in(f"{file['gateway']}/api/v2/authenticate/ACME1/{own.code()}", END, "ada")
    for provider in ["lake-tel", "north-cable", "nobody", "x" * 3000]:
        other = {"AP-Partner-Framework-Status": status(provider=provider)}
        profiles = own.get("profiles", **other).json["profiles"]
        expect(list(profiles) == ["LakeTel"] and profiles["LakeTel"]["type"] == "regular", provider, list(profiles))
        answer = own.decide("authorize", ["ACME1-NEWS"], **other)
        expect(not any(item["authorized"] for item in answer.json.get("decisions", [])), provider, answer.body[:200])


@attack("A2 a guesser of link codes pauses, and keeps none of fifteen other devices from joining")
def link_codes():
    def sso(method, name, client, own, headers):
        sent = {"Authorization": client.bearer["Authorization"], "AP-Device-Identifier": "fingerprint " + encoded(own), "X-Device-Info": INFORMATION, **headers}
        return ask(method, f"/api/ACME1/{name}", sent)

    owner, guesser, first = Client("acme-backend"), Client(), device()
    token = sso("POST", "serviceToken", owner, first, {"X-SSO-ID": device()}).json["serviceToken"]
    guesses = []
    for number in range(15):
        # Right once in a million times.
        guesses.append(sso("POST", "serviceToken", guesser, "guesser", {"X-SSO-LINK": f"{number:06d}", **from_address(22)}).status)
        code = sso("POST", "link", owner, first, {"AD-Service-Token": token}).json["code"]
        joined = sso("POST", "serviceToken", Client(), device(), {"X-SSO-LINK": code, **from_address(100 + number)})
        expect(joined.status == 201, number, joined.status, joined.body[:200])
    expect(guesses[:5] == [401] * 5 and set(guesses[5:]) == {429}, guesses)
