"""What strangers have tried or could try, with what must come of it. `run` beside this file calls each with a neighbour who is measured."""

import base64
import functools
import pathlib
import re
import socket
import ssl
import threading
import time

import http2
from cluster import FORM, Client, address, admin, ask, authority, device, file, form, from_address, home, memory, metric, public, sandbox, secure_port, signed_in

attacks = []


def attack(name, loads=False, growth=None, measured=0):
    """
    name: as the report has it, with the sentence that it proves.
    loads: the neighbour's times count.
    growth: MiB that the gateway may have more afterwards.
    measured: milliseconds that the neighbour's p99 may have where twice the quiet one was not reached (README.md).
    """

    def note(work):
        attacks.append((name, work, loads, growth, measured))
        return work

    return note


def expect(condition, *facts):
    if not condition:
        raise AssertionError(" ".join(str(fact) for fact in facts))


def raw(text, at=public, wait=5, source="127.0.0.1"):
    """What comes back to octets on a connection of their own."""
    connection = socket.create_connection(at, timeout=wait, source_address=(source, 0))
    try:
        connection.sendall(text if isinstance(text, bytes) else text.encode())
        answer = b""
        while len(answer) < 1 << 20:
            try:
                octets = connection.recv(65536)
            except (TimeoutError, ConnectionError):
                break
            if not octets:
                break
            answer += octets
        return answer
    finally:
        connection.close()


def statuses(answer):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 ([0-9]{3})", answer)]


def unfinished(path, headers, length):
    """The statuses that a POST gets of whose body only the beginning comes."""
    fields = {"Host": "localhost", "Accept": "application/json", **headers, "Content-Length": length}
    head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    with socket.create_connection(public, timeout=4) as connection:
        connection.sendall(head.encode() + b"x=" + b"x" * 1000)
        return statuses(connection.recv(4096))


# A stranger becomes the viewer


@attack("A1 a code tells a stranger's client no device id")
def codes_tell_no_device():
    owner, stranger, own = Client(), Client(), device()
    code = owner.code(own)
    path = f"/reggie/v1/ACME1/regcode/{code}"
    plain = base64.b64encode(own.encode())
    expect(plain in ask("GET", path, owner.bearer).body, "its maker is told")
    told = ask("GET", path, stranger.bearer)
    expect(told.status == 200 and plain not in told.body and own.encode() not in told.body, told.status, told.body[:200])
    hidden = base64.b64decode(told.json["info"]["deviceId"]).decode()
    expect(ask("GET", f"/api/v1/checkauthn?requestor=ACME1&deviceId={hidden}", stranger.bearer).status == 403)


@attack("A2 wrong codes are charged at every door, the right one in parallel is not")
def guesses():
    client = Client()
    good = client.code(device())
    doors = [
        ("GET", "/api/v1/checkauthn/{}?requestor=ACME1", client.bearer),
        ("GET", "/api/v1/preauthorize/{}?requestor=ACME1&resource=ACME1-NEWS", client.bearer),
        ("GET", "/reggie/v1/ACME1/regcode/{}", client.bearer),
        ("GET", "/activate/done?code={}&requestor=ACME1", {}),
        ("GET", "/activate/providers?code={}", {}),
    ]
    for number, (method, path, headers) in enumerate(doors):
        source = {**headers, **from_address(10 + number)}
        seen = [ask(method, path.format(f"ZZZZZ{index:02d}"), source).status for index in range(14)]
        # The throttle lets ten through at once; five wrong codes are enough.
        expect(429 in seen[5:10] or 429 in seen, path, seen)
        expect(seen.count(429) >= 4, path, seen)
    # An address that nothing exempts: eleven requests at once are within its throttle, and the right code is one code, which costs nothing.
    results, source = [], {**client.bearer, **from_address(20)}

    def poll():
        results.append(ask("GET", f"/api/v1/checkauthn/{good}?requestor=ACME1", source).status)

    threads = [threading.Thread(target=poll) for _ in range(10)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    expect(results == [403] * 10, results)
    # Had they been charged, the address would have to pause now.
    time.sleep(1.1)
    expect(ask("GET", f"/api/v1/checkauthn/{good}?requestor=ACME1", source).status == 403)
    # After five wrong codes the address pauses, with the right code too, which nothing confirms to it; it is good elsewhere.
    paused = from_address(26)
    for index in range(5):
        expect(ask("GET", f"/activate/providers?code=ZZZZX{index:02d}", paused).status == 400, index)
    for path in [f"/api/v1/checkauthn/{good}?requestor=ACME1", f"/activate/providers?code={good}", f"/reggie/v1/ACME1/regcode/{good}"]:
        answer = ask("GET", path, {**client.bearer, **paused})
        expect(answer.status == 429 and 0 < int(answer.headers["retry-after"]) <= 30, path, answer.status, answer.headers)
        expect(ask("GET", path, {**client.bearer, **from_address(27)}).status in (200, 403), path)


@attack("A2 notifications that are not Apple's leave no row, and their address is told to slow down")
def notifications():
    stored = metric("autosignin", "boxoffice_storage_commits_total")
    refused = metric("autosignin", "boxoffice_autosignin_notifications_refused_total")
    sent = [ask("POST", "/apple/v1/notifications", from_address(21), b'{"payload":"a.b.c"}').status for _ in range(100)]
    expect(sent[:61] == [400] * 61 and sent.count(429) >= 20 and set(sent) == {400, 429}, sent)
    expect(metric("autosignin", "boxoffice_autosignin_notifications_refused_total") == refused + 100)
    # Housekeeping has a commit now and then.
    expect(metric("autosignin", "boxoffice_storage_commits_total") < stored + 10)


@attack("A3 a path that can be read in two ways is refused, and goes round no limit")
def paths():
    for path in ["//api/v1/config/ACME1", "/api//v1/config/ACME1", "/api/./v1/config/ACME1", "/api/v1/x/../config/ACME1", "/api%2fv1/config/ACME1",
                 "///evil.example/activate", "/admin//v1/draft"]:
        answer = ask("GET", path)
        expect(answer.status == 404 and "location" not in answer.headers, path, answer.status)
    slash = ask("GET", "/activate/?x=//evil.example")
    expect(slash.status == 308 and slash.headers["location"] == "/activate?x=//evil.example", slash.headers)
    answers = [ask("GET", "/api//v1/config/ACME1", from_address(30)).status for _ in range(40)]
    expect(set(answers) <= {404, 429}, answers)
    answers = [ask("GET", "/api/v1/config/ACME1", from_address(30)).status for _ in range(30)]
    expect(answers.count(429) >= 15, answers)


@attack("A4 a link signs nobody in")
def links():
    code = Client().code(device())
    link = ask("GET", f"/activate/sign-in?code={code}&mvpd=NorthCable", {"Accept": "text/html"})
    expect(link.status == 200 and "location" not in link.headers and b"<form" in link.body, link.status)
    blind = ask("POST", "/activate/sign-in", {**FORM, "Accept": "text/html"}, form({"code": code, "mvpd": "NorthCable"}))
    expect(blind.status in (400, 403) and "location" not in blind.headers, blind.status)


@attack("A5 only pages of registered domains read answers; the sandbox takes no orders from pages")
def origins():
    for origin in ["http://acme.example", "https://acme.example:8443", "https://evil.example", "null", "https://acme.example.evil.example"]:
        answer = ask("GET", "/api/v1/config/ACME1", {"Origin": origin})
        expect("access-control-allow-origin" not in answer.headers, origin)
    expect(ask("GET", "/api/v1/config/ACME1", {"Origin": "https://acme.example"}).headers["access-control-allow-origin"] == "https://acme.example")
    orders = [{"Origin": "https://evil.example", "Content-Type": "text/plain"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
    for headers in orders:
        expect(ask("POST", "/control/pdp/NorthCable", headers, b"{}", at=sandbox).status in (400, 403, 415, 421), headers)


@attack("A6 an address that a caller makes up does not count")
def addresses():
    answers = [ask("GET", "/api/v1/config/ACME1", {"X-Forwarded-For": f"198.51.100.{index}, 203.0.113.40"}).status for index in range(30)]
    expect(answers.count(429) > 15, answers)


# A stranger stops the service


@attack("B1 clients that read none of their answers cost little, and are sent nothing that they have no room for; others get theirs meanwhile", loads=True, growth=200, measured=50)
def deaf_clients():
    connections, before = [], memory("gateway")
    try:
        for _ in range(40):
            connection = http2.Connection(secure_port, authority, window=0)
            requests = b"".join(http2.headers(1 + 2 * number, http2.block("GET", "/openapi.json")) for number in range(100))
            connection.send(requests)
            connections.append(connection)
        time.sleep(1)
        for _ in range(5):
            answer = ask("GET", "/openapi.json")
            expect(answer.status == 200 and answer.json.get("openapi"), answer.status, len(answer.body))
        answered = 0
        for connection in connections:
            frames = connection.frames(lambda kind, *_: kind == http2.GOAWAY, timeout=0.02)
            expect(not any(kind == http2.DATA and payload for kind, _, _, payload in frames), "content without room for it")
            answered += any(kind in (http2.HEADERS, http2.RST_STREAM, http2.GOAWAY) for kind, *_ in frames)
        expect(answered == len(connections), answered, "of", len(connections), "connections were answered")
        grown = (memory("gateway") - before) >> 10
        expect(grown <= 200, f"while they wait the gateway has {grown} MiB more")
    finally:
        [connection.close() for connection in connections]


@attack("B2 a long User-Agent, and a long head, are refused before they cost anything", loads=True)
def heads():
    for agent in [30_000, 100_000]:
        answer = raw(f"GET /api/v1/checkauthn HTTP/1.1\r\nHost: localhost\r\nUser-Agent: {'x' * agent}\r\n\r\n")
        expect(statuses(answer)[:1] in ([431], []), statuses(answer))
    agent = "Mozilla/5.0 (" * 1100
    start = time.monotonic()
    for _ in range(50):
        expect(ask("GET", "/api/v1/checkauthn?requestor=ACME1&deviceId=x", {"User-Agent": agent, "Authorization": "Bearer x"}).status == 401)
    expect(time.monotonic() - start < 5, "50 of them took", time.monotonic() - start)


@attack("B3 idle connections of one address lock nobody out", loads=True, measured=100)
def idle_connections():
    held = []
    try:
        for _ in range(1300):
            try:
                held.append(socket.create_connection(public, timeout=5, source_address=("127.0.0.2", 0)))
            except OSError:
                break
        expect(len(held) > 1000, len(held))
        for _ in range(20):
            expect(ask("GET", "/healthz").status == 200)
        expect(ask("GET", "/healthz", source="127.0.0.3").status == 200, "a newcomer is served")
    finally:
        [connection.close() for connection in held]


def secure(text):
    """What comes back to octets over HTTPS."""
    context = ssl.create_default_context(cafile=authority)
    with socket.create_connection(("127.0.0.1", secure_port), timeout=5) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        connection.sendall(text.encode())
        answer = b""
        try:
            while octets := connection.recv(65536):
                answer += octets
        except (TimeoutError, OSError):
            pass
        return answer


@attack("B4 an offer to upgrade is ignored, and the last request of its connection, however its blanks are written")
def upgrades():
    process = file["services"]["gateway"]["pid"]
    offers = ["Connection: upgrade\t\r\nUpgrade: x", "Connection:\tupgrade\r\nUpgrade: x", "Connection: keep-alive,\tupgrade\r\nUpgrade: x", "Upgrade: x",
              "Proxy-Connection: upgrade\r\nUpgrade: x", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"]
    second = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for offer in offers:
        text = f"GET /healthz HTTP/1.1\r\nHost: localhost\r\n{offer}\r\n\r\n{second}"
        for answer in [raw(text), raw(text, at=admin), secure(text)]:
            expect(statuses(answer) == [200], repr(offer), answer[:300])
    expect(pathlib.Path(f"/proc/{process}").exists(), "the gateway is gone")


@attack("B4 CONNECT opens no tunnel, and what follows it is kept by nobody", loads=True, growth=60)
def tunnels():
    expect(statuses(raw("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n")) == [501])

    def pour():
        try:
            with socket.create_connection(public, timeout=2, source_address=("127.0.0.6", 0)) as connection:
                connection.sendall(b"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n")
                for _ in range(100):
                    connection.sendall(b"x" * (1 << 20))
        except OSError:
            pass

    threads = [threading.Thread(target=pour) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


@attack("B5 an HTTP/2 body without a length is read")
def bodies_without_length():
    connection = http2.Connection(secure_port, authority)
    try:
        body = b"grant_type=client_credentials&client_id=nobody&client_secret=x"
        block = http2.block("POST", "/o/client/token", [("content-type", "application/x-www-form-urlencoded")])
        connection.send(http2.headers(1, block, ends=False) + http2.frame(http2.DATA, http2.END_STREAM, 1, body))
        frames = connection.frames(lambda kind, flags, stream, _: stream == 1 and flags & http2.END_STREAM)
        answer = b"".join(payload for kind, _, stream, payload in frames if kind == http2.DATA and stream == 1)
        expect(b"invalid_client" in answer, answer)
    finally:
        connection.close()


@attack("B7 texts that are kept are short")
def long_texts():
    client = Client()
    headers = {**client.bearer, **FORM}
    expect(ask("POST", "/reggie/v1/ACME1/regcode", headers, form({"deviceId": device(), "registrationURL": "https://acme.example/" + "x" * 20_000})).status == 400)
    expect(ask("POST", "/reggie/v1/ACME1/regcode", headers, form({"deviceId": "d" * 20_000})).status == 400)
    expect(ask("POST", "/reggie/v1/ACME1/regcode", headers, form({"deviceId": device(), "deviceType": "t" * 20_000})).status in (201, 400))


@attack("B8 metadata is signed once")
def metadata():
    first, second = (ask("GET", "/sp/metadata?requestor=ACME1") for _ in range(2))
    expect(first.status == 200 and first.body == second.body and first.headers["etag"] == second.headers["etag"])
    expect(ask("GET", "/sp/metadata?requestor=ACME1", {"If-None-Match": first.headers["etag"]}).status == 304)


@attack("B9 connections that shake no hands keep nobody from the wire")
def handshakes():
    host, port = file["services"]["config"]["address"].split(":")
    held = []
    context = ssl.create_default_context(cafile=authority)
    context.load_cert_chain(file["pki"]["clientCert"], file["pki"]["clientKey"])
    try:
        for _ in range(1400):
            held.append(socket.create_connection((host, int(port)), timeout=5))
        for _ in range(20):
            with socket.create_connection((host, int(port)), timeout=5) as plain, context.wrap_socket(plain, server_hostname="config.boxoffice") as secure:
                expect(secure.version() == "TLSv1.3")
    finally:
        [connection.close() for connection in held]


@attack("B9 frames of megabytes leave no memory taken on the wire, whoever sends them")
def frames():
    host, port = file["services"]["config"]["address"].split(":")
    context = ssl.create_default_context(cafile=authority)
    context.load_cert_chain(file["pki"]["clientCert"], file["pki"]["clientKey"])
    hello = bytes.fromhex("00000015 0a13 0801 1207706565722e7079 1a0131 2080808002")
    large = (4 << 20).to_bytes(4, "big")
    # Before a hello: a large frame, nonsense, a frame of tiny fields. After it: a frame of the largest size, whole or not, and one of tiny fields.
    lessons = [large + bytes(4 << 20), b"\xff" * 200_000, b"\x00\x00\x10\x00" + b"\xf8\x06\x01" * 1366]
    lessons += [hello + large + bytes(4 << 20), hello + large + bytes(3 << 20), hello + large + b"\xf8\x06\x01" * (1 << 20)]
    before = memory("config")

    def assail(number):
        held = []
        for turn in range(12):
            try:
                plain = socket.create_connection((host, int(port)), timeout=5)
                connection = context.wrap_socket(plain, server_hostname="config.boxoffice")
                held.append(connection)
                connection.sendall(lessons[(number + turn) % len(lessons)])
            except OSError:
                pass
        [connection.close() for connection in held]

    assailants = [threading.Thread(target=assail, args=(number,)) for number in range(24)]
    [assailant.start() for assailant in assailants]
    [assailant.join() for assailant in assailants]
    end = time.monotonic() + 20
    while (grown := (memory("config") - before) >> 10) > 64:
        expect(time.monotonic() < end, f"config has {grown} MiB more than before")
        time.sleep(0.5)


# What is said in which order, and where


@attack("E2 who one is comes before what one says")
def bearers_first():
    for path in ["/admin/v1/requestors", "/admin/v1/draft/push", "/admin/v1/degradation", "/admin/v1/secrets/x",
                 "/control/v3/degradation/acme/authnAll?ttl=x"]:
        answer = ask("POST", path, {"Authorization": "Bearer wrong", "Content-Type": "application/json"}, b"{}", at=admin)
        expect(answer.status == 401 and b"field" not in answer.body, path, answer.status)


@attack("E3 a SAML answer counts in the body alone, and two credentials at once are refused")
def places():
    answer = ask("POST", "/sp/saml/SAMLAssertionConsumer?SAMLResponse=PHg%2BPC94Pg%3D%3D&RelayState=x", {**FORM, "Accept": "text/html"}, b"")
    expect(answer.status in (400, 503) and "location" not in answer.headers, answer.status)
    client = Client()
    both = ask("GET", "/api/v1/checkauthn?requestor=ACME1&deviceId=x&access_token=other", client.bearer)
    expect(both.status == 400, both.status)


@attack("E3 no log, metric or answer shows a query, a bearer or a secret")
def secrets_stay():
    mark, client = f"mark{time.monotonic_ns()}", Client()
    secret = client.registered["client_secret"]
    bearer = client.bearer["Authorization"].split()[1]
    for path in [f"/api/v1/checkauthn?requestor=ACME1&deviceId={mark}&access_token={bearer}", f"/api/v1/logout?requestor=ACME1&deviceId={mark}&access_token={bearer}",
                 f"/activate?code={mark}", f"/nowhere?{mark}", f"/adobe-services/oauth2?code={mark}&state={mark}", f"/activate/done?code={mark}&x={bearer}"]:
        for accept in ["application/json", "text/html"]:
            answer = ask("GET", path, {"Accept": accept, "Referer": f"https://acme.example/{mark}"})
            expect(answer.headers.get("referrer-policy") == "no-referrer", path)
            expect(bearer.encode() not in answer.body, path, answer.body[:200])
    query = form({**{k: client.registered[k] for k in ("client_id", "client_secret")}, "grant_type": "client_credentials"}).decode()
    ask("POST", "/o/client/token?" + query)
    time.sleep(1)
    needles = [needle.encode() for needle in (mark, secret, bearer)]
    texts = {str(log): log.read_bytes() for log in (home / "logs").iterdir()}
    for name, service in file["services"].items():
        texts[f"metrics of {name}"] = ask("GET", "/metrics", at=address("http://" + service["debug"])).body
    expect(len(texts) >= 11, list(texts))
    for name, text in texts.items():
        for needle in needles:
            expect(needle not in text, name, "shows", needle[:20])


@attack("F1 administration is at its own listener, and answers to its own names")
def administration():
    bearer = {"Authorization": "Bearer " + file["adminToken"]}
    expect(ask("GET", "/admin/v1/administrator", bearer, at=admin).status == 200)
    expect(ask("GET", "/admin/v1/administrator", bearer).status == 404)
    for version in ["v2", "v2.1", "v3"]:
        expect(ask("DELETE", f"/reset-tempass/{version}/reset", bearer).status == 404)
    expect(ask("GET", "/control/v3/degradation/acme/all", bearer).status == 404)
    expect(ask("GET", "/control/v3/degradation/acme/all", bearer, at=admin).status == 401, "no application's bearer")
    expect(ask("GET", "/admin/v1/administrator", {**bearer, "Host": "evil.example"}, at=admin).status == 421)
    expect(ask("GET", "/admin/v1/administrator", {**bearer, "Origin": "https://evil.example"}, at=admin).status == 403)


@attack("F2 nobody is sent to an address that is not registered")
def returns():
    code = Client().code(device())
    for url in ["http://acme.example/x", "https://evil.example/x", "https://acme.example.evil.example/", "javascript:alert(1)", "//evil.example", "https://acme.example@evil.example/"]:
        fields = form({"reg_code": code, "requestor_id": "ACME1", "mso_id": "NorthCable", "domain_name": "acme.example", "redirect_url": url}).decode()
        answer = ask("GET", "/api/v1/authenticate?" + fields, {"Accept": "text/html"})
        expect(answer.status == 400 and "location" not in answer.headers, url, answer.status)


@attack("F3 a resource is no door for entities", loads=True, growth=60)
def entities():
    client, own = signed_in()
    laughs = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + level)} "{("&" + chr(97 + level) + ";") * 10}">' for level in range(8)) + "]><rss><channel><title>&i;</title></channel></rss>"
    outside = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&a;</title></channel></rss>'
    for resource in [laughs, outside, "<rss>" * 2000]:
        path = "/api/v1/authorize?" + form({"requestor": "ACME1", "deviceId": own, "resource": resource}).decode()
        answer = ask("GET", path, client.bearer)
        expect(answer.status in (400, 403, 404, 412, 431) and b"root:" not in answer.body, answer.status, answer.body[:200])


# The doors of clients from before (clients #57)

WEB, OWN = ("session", "authorize", "shortAuthorize"), ("sessionDevice", "authorizeDevice", "deviceShortAuthorize", "preauthorize")


@attack("C57 the SDKs' calls ask who one is before they read, and take no token that nobody gave", loads=True, growth=60)
def stored_tokens():
    client, own = Client(), device()
    wrong = {**FORM, "Authorization": "Bearer wrong"}
    for call in WEB + OWN:
        expect(unfinished(f"/adobe-services/{call}", wrong, 1 << 20) == [401], call, "reads before it knows who asks")
        expect(ask("POST", f"/adobe-services/{call}", wrong, form({"requestor_id": "ACME1", "authentication_token": "x", "device_id": own})).status == 401, call, "says what is missing first")
    bodies = ["<a>x</a>", '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "<a" * 4000, "\x00", "%", "eyJ.eyJ.x", "x" * 300_000]
    for call in WEB + OWN:
        for token in bodies:
            fields = {"requestor_id": "ACME1", "authentication_token": token, "authz_token": token, "device_id": own, "resource_id": "ACME1-NEWS", "reg_code": "ZZZZZZZ"}
            try:
                answer = ask("POST", f"/adobe-services/{call}", {**client.bearer, **FORM}, form(fields))
            except ConnectionError:
                # Of a body that is too long only a little is read behind the answer.
                expect(len(token) > 65_536, call, token[:20], "ends the connection")
                continue
            expect(answer.status < 500 and b"root:" not in answer.body, call, token[:20], answer.status)
            expect(b"Token>" not in answer.body and b"serializedToken" not in answer.body, call, token[:20], answer.body[:200])
    for body in [b"", b"[]", b"{" * 5000]:
        expect(ask("POST", "/indiv/devices", {"Content-Type": "application/json"}, body).status in (400, 413), body[:20])
    expect(unfinished("/indiv/devices", {"Content-Type": "application/json"}, 1 << 20) in ([400], [413]), "waits for a body that is too long")


@attack("C57 codes are no more to be guessed at the doors of former clients than elsewhere")
def former_guesses():
    client = Client()
    doors = [
        lambda code, source: ask("GET", f"/api/v1/authenticate/{code}?requestor=ACME1", {**client.bearer, **source}),
        lambda code, source: ask("POST", "/adobe-services/session", {**client.bearer, **FORM, **source}, form({"requestor_id": "ACME1", "reg_code": code, "device_id": "x"})),
        lambda code, source: ask("POST", "/adobe-services/sessionDevice", {**client.bearer, **FORM, **source}, form({"requestor_id": "ACME1", "reg_code": code, "device_id": "x"})),
    ]
    for number, door in enumerate(doors):
        seen = [door(f"ZZZZY{index:02d}", from_address(60 + number)).status for index in range(14)]
        expect(seen.count(429) >= 4, number, seen)


@attack("C53 addresses that nobody serves are counted under 65 names at most")
def unserved():
    for index in range(300):
        expect(ask("GET", f"/adobe-services/made-up-{index}").status in (404, 429), index)
    text = ask("GET", "/metrics", at=address("http://" + file["services"]["gateway"]["debug"])).body.decode()
    labels = {line.split("{")[1].split("}")[0] for line in text.splitlines() if line.startswith("boxoffice_gateway_unserved_legacy_calls_total{")}
    expect(2 <= len(labels) <= 65 and any('"other"' in label for label in labels), len(labels), list(labels)[:3])


# What held before, and must go on holding


@attack("H1 requests that two parsers would read in two ways are refused")
def smuggling():
    host = "Host: localhost\r\n"
    for text in [
        f"POST /o/client/token HTTP/1.1\r\n{host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n{host}\r\n",
        f"POST /o/client/token HTTP/1.1\r\n{host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        f"POST /o/client/token HTTP/1.1\r\n{host}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        f"POST /o/client/token HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nZZ\r\nx\r\n0\r\n\r\n",
        f"GET /healthz HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n",
        f"GET /healthz HTTP/1.1\r\n{host}X-Folded: a\r\n b\r\n\r\n",
        f"GET /healthz HTTP/1.1\r\n{host}Bad Name: a\r\n\r\n",
        f"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
        f"POST /o/client/token HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n",
        f"POST /o/client/token HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n",
    ]:
        seen = statuses(raw(text, wait=3))
        expect(len(seen) <= 1 and all(400 <= status < 500 or status == 501 for status in seen), repr(text[:90]), seen)


@functools.cache
def resets():
    """Groups of a hundred streams. They are made once: while threads of this program compute, its neighbour is not measured but kept from measuring."""
    block = http2.block("GET", "/api/v1/config/ACME1")
    return [
        b"".join(http2.headers(stream, block) + http2.frame(http2.RST_STREAM, 0, stream, b"\0\0\0\x08") for stream in range(first, first + 200, 2))
        for first in range(1, 8000, 200)
    ]


@attack("H2 streams that are begun and reset end their connection, and cost the neighbours little", loads=True, growth=60, measured=50)
def rapid_reset():
    groups, ends = resets(), []

    def reset():
        connection = http2.Connection(secure_port, authority)
        begun = 0
        try:
            for group in groups:
                connection.send(group)
                begun += 100
            # What it was answered in time is read, too; then the connection is over.
            frames = connection.frames(lambda kind, *_: kind == http2.GOAWAY, timeout=5)
            ended = any(kind == http2.GOAWAY for kind, *_ in frames)
            if ended:
                connection.socket.settimeout(5)
                ended = not connection.socket.recv(1 << 16)
            ends.append((begun, ended))
        except TimeoutError:
            ends.append((begun, False))
        except OSError:
            ends.append((begun, True))
        finally:
            connection.close()

    threads = [threading.Thread(target=reset) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    expect(len(ends) == 4 and all(ended for _, ended in ends), ends)


def flood(frames, count=20_000):
    """Sends frames until the connection ends, at most so many; tells whether it ended."""
    connection = http2.Connection(secure_port, authority)
    sent = 0
    try:
        connection.socket.settimeout(5)
        while sent < count:
            connection.send(frames * 100)
            sent += 100
        connection.frames(lambda kind, *_: kind == http2.GOAWAY, timeout=3)
        connection.socket.settimeout(3)
        return not connection.socket.recv(1 << 16)
    except TimeoutError:
        return False
    except OSError:
        return True
    finally:
        connection.close()


@attack("H3 frames that bring nothing end their connection", loads=True, growth=60)
def floods():
    for name, frames in [
        ("ping", http2.frame(http2.PING, 0, 0, b"\0" * 8)),
        ("settings", http2.settings([(4, 65535)])),
        ("window", http2.frame(http2.WINDOW_UPDATE, 0, 0, b"\0\0\0\x01")),
    ]:
        expect(flood(frames), name, "frames are taken without end")


@attack("H4 a head without end is cut off", loads=True, growth=100)
def continuations():
    connection = http2.Connection(secure_port, authority)
    try:
        connection.send(http2.frame(http2.HEADERS, 0, 1, http2.block("GET", "/healthz")))
        for number in range(4000):
            connection.send(http2.frame(http2.CONTINUATION, 0, 1, b"\x10" + b"\x06x-more" + b"\x7f\x00" + b"y" * 127))
    except OSError:
        return
    finally:
        connection.close()
    raise AssertionError("half a megabyte of a head was taken")


HEADS = ["/healthz", "/nowhere", "/api/v1/checkauthn", "/api/v1/authorize?requestor=ACME1", "/o/client/token", "/api/v1//x", "/activate/", "/api/v1/config/ACME1", "/openapi.json"]


@attack("H7 no answer to HEAD has content, over HTTP/1.1 and HTTP/2, and neighbours on the same connection are unharmed")
def heads_only():
    host = "Host: localhost\r\n"
    for path in HEADS:
        answer = raw(f"HEAD {path} HTTP/1.1\r\n{host}\r\nGET /healthz HTTP/1.1\r\n{host}Connection: close\r\n\r\n")
        parts = answer.split(b"\r\n\r\n")
        expect(len(parts) == 3 and parts[1].startswith(b"HTTP/1.1 200") and parts[2] == b"ok\n", path, answer[:400])
    connection = http2.Connection(secure_port, authority)
    try:
        asked = [stream for stream in range(1, 4 * len(HEADS), 2)]
        connection.send(b"".join(
            http2.headers(stream, http2.block("HEAD", HEADS[stream // 4]) if stream % 4 == 1 else http2.block("GET", "/healthz")) for stream in asked))
        ended = set()

        def complete(kind, flags, stream, _):
            if flags & http2.END_STREAM and kind in (http2.HEADERS, http2.DATA):
                ended.add(stream)
            return kind == http2.GOAWAY or ended >= set(asked)

        frames = connection.frames(complete)
        expect(ended == set(asked) and not any(kind in (http2.GOAWAY, http2.RST_STREAM) for kind, *_ in frames), ended)
        for kind, _, stream, payload in frames:
            expect(kind != http2.DATA or stream % 4 == 3 or not payload, "content of HEAD", HEADS[stream // 4])
    finally:
        connection.close()


@attack("H8 codings, hosts and methods that others read otherwise are refused")
def details():
    for text, status in [
        ("POST /o/client/token HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST /o/client/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("GET /healthz HTTP/1.1\r\nHost: a, b\r\n\r\n", 400), ("GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: u@a\r\n\r\n", 400), ("FETCH /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ]:
        expect(statuses(raw(text)) == [status], repr(text), status)
    for method, status in [("PROPFIND", 501), ("PUT", 405)]:
        answer = ask(method, "/api/v1/checkauthn")
        expect(answer.status == status and ("allow" in answer.headers) == (status == 405), method, answer.status)


@attack("H9 a reader of large answers may move its windows often, and many streams of one connection are served", loads=True)
def readers():
    connection = http2.Connection(secure_port, authority, window=16384)
    try:
        streams = range(1, 121, 2)
        connection.send(b"".join(http2.headers(stream, http2.block("GET", "/api/v1/config/ACME1")) for stream in streams))
        ended = set()

        def step(kind, flags, stream, payload):
            if kind == http2.DATA and payload:
                # As a proxy does: both windows for each part, and in small steps.
                for _ in range(max(1, len(payload) // 2048)):
                    connection.send(http2.frame(http2.WINDOW_UPDATE, 0, 0, (2048).to_bytes(4, "big")) + (
                        b"" if flags & http2.END_STREAM else http2.frame(http2.WINDOW_UPDATE, 0, stream, (2048).to_bytes(4, "big"))))
            if flags & http2.END_STREAM and kind in (http2.HEADERS, http2.DATA):
                ended.add(stream)
            return kind == http2.GOAWAY or len(ended) == len(streams)

        frames = connection.frames(step)
        content = b"".join(payload for kind, _, _, payload in frames if kind == http2.DATA)
        expect(len(ended) == len(streams) and b"temporarily unavailable" not in content, len(ended), [kind for kind, *_ in frames][-5:])
    finally:
        connection.close()


@attack("H5 pipelines have no more than their turn: each answer comes, in its order, and others are served meanwhile", loads=True, measured=80)
def pipelines():
    # A path of its own for each, that the answer shows to be in order: one is there, the next one is not.
    requests = b"".join(
        f"GET /api/v1/config/{'ACME1' if number % 2 == 0 else 'NOBODY'}.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for number in range(400))
    viewer, own = signed_in()
    answers, problems, single, longest = [], [], [], []

    def send():
        try:
            with socket.create_connection(public, timeout=10, source_address=("127.0.0.5", 0)) as connection:
                connection.sendall(requests)
                answer, end = b"", time.monotonic() + 20
                while answer.count(b"HTTP/1.1 ") < 400 and time.monotonic() < end:
                    octets = connection.recv(1 << 20)
                    if not octets:
                        break
                    answer += octets
            answers.append(statuses(answer))
        except OSError as error:
            problems.append(repr(error))

    threads = [threading.Thread(target=send) for _ in range(8)]
    [thread.start() for thread in threads]
    while any(thread.is_alive() for thread in threads):
        start = time.monotonic()
        single.append(ask("GET", f"/api/v1/checkauthn?requestor=ACME1&deviceId={own}", viewer.bearer).status)
        longest.append(time.monotonic() - start)
    [thread.join() for thread in threads]
    expect(not problems and len(answers) == 8, problems)
    # Where the processors are not enough the gateway says so; that is an answer too, and the exception.
    expect(set(single) <= {200, 503} and single.count(200) >= 0.75 * len(single), single)
    for seen in answers:
        expect(len(seen) == 400, len(seen))
        # All who prove nothing have one share together (decision 0082).
        strange = [(number, status) for number, status in enumerate(seen) if status not in (200 if number % 2 == 0 else 400, 429, 503)]
        expect(not strange, strange[:10])
    # Behind 3,200 that came first it would take as long as all of them.
    expect(max(longest) < 1, f"a single request beside them took {max(longest):.1f} s")


@attack("H6 clients that send drop by drop keep nobody waiting: bodies that come whole are answered at once, and theirs when they end", loads=True, growth=60, measured=50)
def drops():
    held, body = [], b'{"software_statement":"x"}'
    head = f"POST /o/client/register HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nContent-Type: application/json\r\n\r\n".encode()
    try:
        for _ in range(200):
            connection = socket.create_connection(public, timeout=5, source_address=("127.0.0.4", 0))
            connection.sendall(head)
            held.append(connection)
        for octet in body[:-1]:
            for connection in held:
                connection.sendall(bytes([octet]))
            start = time.monotonic()
            answer = ask("POST", "/o/client/register", {"Content-Type": "application/json"}, body)
            expect(answer.status == 400 and time.monotonic() - start < 1, answer.status, time.monotonic() - start)
            time.sleep(0.05)
        waiting, early = [], []
        for connection in held:
            connection.settimeout(0)
            try:
                early += statuses(connection.recv(4096))
            except BlockingIOError:
                connection.settimeout(5)
                waiting.append(connection)
        # Where the processors are not enough, the gateway answers some before their end.
        expect(set(early) <= {503} and len(waiting) >= 150, early)
        for connection in waiting:
            connection.sendall(body[-1:])
        seen = [statuses(connection.recv(4096)) for connection in waiting]
        expect(all(entry == [400] for entry in seen), [entry for entry in seen if entry != [400]][:5])
    finally:
        [connection.close() for connection in held]
