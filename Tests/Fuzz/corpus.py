#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: Corpus/<target>/<name>. The first bytes of a seed choose how the target treats it. Finds of the fuzzer, whose names are
digests, stay."""

import base64
import json
import pathlib

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "Unit/FramesTests/Golden"
# Frame: bit 7 caller, bit 6 the hello is over, low bits the read size.
CALLER, OPEN = 0x80, 0x40
SMALL_READS, LARGE_READS = 0x00, 0x3F
# The second byte: 50 ms, times four for each step.
SLOWLY, QUICKLY = 0x02, 0x05
CONVERSATIONS = {
    "callee-check": (0, ["hello-caller", "request", "cancel"]),
    "callee-calls": (0, ["hello-caller", "request", "request-full", "ping", "cancel", "go-away"]),
    "callee-open": (OPEN, ["request", "ping", "request-full"]),
    "caller-answers": (CALLER, ["hello-callee", "response", "response-empty", "response-fault", "stream-item", "stream-end"]),
    "caller-open": (CALLER | OPEN, ["response", "stream-item", "stream-end-fault", "pong", "go-away"]),
}


def golden(name):
    rows = [row for row in (GOLDEN / f"{name}.hex").read_text().splitlines() if not row.startswith("#")]
    return bytes.fromhex(" ".join(rows))


def write(target, name, content):
    folder = HERE / "Corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


# Of targets that change one byte of what they signed: where, and into what.
EDIT = b"\x00\x28Q"
NOW = 1_930_384_805
ISSUER, AUDIENCE = "https://tve.example/issuer", "https://tve.example/api"


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def encoded(value):
    return base64.urlsafe_b64encode(text(value)).rstrip(b"=")


def heads():
    requests = {
        "get": "GET /api/v1/config/NEWS?a=b HTTP/1.1\r\nHost: tve.example\r\nAccept: application/json\r\nUser-Agent: a/1\r\n\r\n",
        "two": "GET / HTTP/1.1\r\nHost: a\r\n\r\nDELETE /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "form": "POST /o/client/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b",
        "chunks": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        "absolute": "GET http://b.example/x?y HTTP/1.1\r\nHost: a\r\nX: \t v \r\n\r\n",
        "upgrade": "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "options": "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "hosts": "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "smuggled": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "folded": "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", "bare": "GET / HTTP/1.1\nHost: a\n\n",
    }
    for name, request in requests.items():
        write("Head", name, b"\x0c" + request.encode())


def forms():
    bodies = {
        "plain": b"requestor=NEWSBRAND&deviceId=abc&resource=SPORTS",
        "escaped": b"resource=%3Crss%20version%3D%222.0%22%3E&name=J%C3%BCrgen+M%c3%bcller&empty=&=value&alone",
        "repeated": b"a=1&a=1&b=2&b=3&" + b"&".join(b"p%d=%d" % (number, number) for number in range(20)),
        "broken": b"a=%zz&b=%c3&c=%00",
    }
    for name, body in bodies.items():
        write("Form", name, len(body).to_bytes(2, "big") + body)
        write("Form", name + "-halves", (len(body) // 2).to_bytes(2, "big") + body)


def devices():
    agent = "Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 Chrome/76.0 Safari/537.36"
    full = {
        "primaryHardwareType": "SetTopBox", "model": "Roku Express", "version": "3.1", "manufacturer": "Roku", "vendor": "Roku", "osName": "Roku",
        "osFamily": "Roku OS", "osVendor": "Roku", "osVersion": "11.5", "browserName": "Chrome", "browserVendor": "Google", "browserVersion": "76",
        "displayWidth": 1920, "displayHeight": "1080", "displayPpi": 72.5, "diagonalScreenSize": 55, "connectionIp": "192.0.2.7",
        "connectionPort": 443, "connectionType": "WiFi", "connectionSecure": True, "applicationId": "news.tv", "userAgent": agent,
    }
    documents = {"full": full, "least": {"model": "TV", "osName": "tvOS"}, "odd": {"model": 7, "osName": None, "type": "J\u00fcrgen\u0007", "osFamily": []}}
    for name, document in documents.items():
        for choice in (1, 2, 3):
            write("DeviceInfo", f"{name}-{choice}", bytes([choice]) + agent.encode() + b"\0" + text(document))
        write("DeviceInfo", f"{name}-text", b"\0" + agent.encode() + b"\0" + encoded(document))


def tokens():
    header = {"alg": "ES256", "kid": "@KID@"}
    times = {"iat": NOW - 10, "nbf": NOW - 10, "exp": NOW + 600}
    common = {"iss": ISSUER, "aud": AUDIENCE, "sub": "client-1", **times}
    claims = {
        "access": ("at+jwt", {**common, "jti": "x1", "scopes": "api:client:v2 api:client:v1"}),
        "statement": ("software-statement+jwt", {"software_id": "app-1", "sub": "app", "client_name": "App", "iss": ISSUER, "jti": "x2", "iat": NOW}),
        "identity": ("JWT", {**common, "nonce": "n-0S6_WzA2Mj", "azp": AUDIENCE, "aud": [AUDIENCE, "other"]}),
        "platform": ("JWT", {**common, "aud": ["Adobe", "x"]}),
    }
    for name, (kind, payload) in claims.items():
        write("Jwt", name, b"\1" + EDIT + text({**header, "typ": kind}) + b"\0" + text(payload))
        write("Jwt", name + "-text", b"\0" + EDIT + b".".join([encoded({**header, "typ": kind}), encoded(payload), b"A" * 86]))
    critical = {**header, "typ": "JWT", "crit": ["b64"]}
    write("Jwt", "critical", b"\1" + EDIT + text(critical) + b"\0" + text(claims["platform"][1]))
    key = {"kty": "EC", "crv": "P-256", "kid": "k", "use": "sig", "alg": "ES256"}
    point = {"x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"}
    write("Jwt", "keys", b"\0" + EDIT + text({"keys": [{**key, **point}, {"kty": "oct", "k": "AA"}, {"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}))


def signed_requests():
    fields = "requestor_id=NEWSBRAND, nonce=4b2a-77, signature_method=HMAC-SHA1, request_time=1930384805000, request_uri=/api/v1/authenticate"
    heads = {
        "get": "GET " + fields, "post": "POST " + fields.replace("/api/v1/authenticate", "https://api.example/a?b=c,d=e, f"),
        "seconds": "DELETE " + fields.replace("1930384805000", "1930384805"),
        "order": "GET request_uri=/a, request_time=1930384805000, signature_method=HMAC-SHA1, nonce=n, requestor_id=r",
    }
    for name, head in heads.items():
        write("SignedRequest", name, b"\1" + EDIT + head.encode())
        signature = ", public_key=zGkQ0rZbTq7u1xWe, signature=AAAAAAAAAAAAAAAAAAAAAAAAAAA="
        write("SignedRequest", name + "-text", b"\0" + EDIT + (head + signature).encode())


def stored_tokens():
    moment = NOW.to_bytes(6, "big")
    claims = ["user<1>", "NEWSBRAND", "HARBOR", "finger&print", "J\u00fcrgen\r\n"]
    for name, texts in {"session": claims, "permit": claims + ["<rss><channel><title>SPORTS</title></channel></rss>"], "empty": [""] * 6}.items():
        write("StoredToken", name, b"\0" + EDIT + moment + "\0".join(texts).encode())
    inner = "".join(
        f"<{name}>{value}</{name}>" for name, value in (
            ("simpleTokenAuthenticationGuid", "u&amp;1"), ("simpleTokenRequestorID", "R"), ("simpleTokenDomainName", "adobe.com"),
            ("simpleTokenExpires", "2031/03/04 10:00:00 GMT +0000"), ("simpleTokenMsoID", "M"),
            ("simpleTokenDeviceID", "<simpleTokenFingerprint>f</simpleTokenFingerprint>"), ("simpleSamlNameID", "u"), ("simpleSamlSessionIndex", "s")))
    payload = f"<simpleAuthenticationToken>{inner}</simpleAuthenticationToken>"
    write("StoredToken", "payload", b"\2" + EDIT + payload.encode())
    write("StoredToken", "text", b"\1" + EDIT + b"<signatureInfo>" + b"A" * 86 + b"==</signatureInfo>" + payload.encode())
    facts = "".join(
        f"<{name}>{value}</{name}>" for name, value in (
            ("sessionGUID", "g"), ("requestorID", "R"), ("resourceID", "S"), ("ttl", "420000"), ("issueTime", "2031-03-04 10:00:00 +0000"), ("mvpdId", "M")))
    media = f"<signatureInfo>{'A' * 86}==<signatureInfo><shortAuthorizationToken>{facts}</shortAuthorizationToken>"
    write("StoredToken", "media", b"\1" + EDIT + base64.b64encode(media.encode()))
    short = {"sub": "g", "iss": "x", "iat": NOW, "exp": NOW + 420}
    write("StoredToken", "media-jws", b"\1" + EDIT + b".".join([encoded({"alg": "ES256", "typ": "media+jwt", "kid": "k"}), encoded(short), b"A" * 86]))


def resources():
    rss = (
        '<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>SPORTS</title><item><title>Cup &amp; Final, live</title>'
        '<guid>https://a.example/1</guid><media:rating scheme="urn:v-chip">tv-pg</media:rating></item></channel></rss>')
    for name, content in {
        "plain": "NEWS, SPORTS ,,MOVIES", "rss": rss, "list": f"NEWS,{rss}, KIDS,{rss}", "cdata": "<rss><channel><title><![CDATA[A <b>]]></title></channel></rss>",
        "doctype": '<!DOCTYPE rss [<!ENTITY a "b">]><rss><channel><title>&a;</title></channel></rss>', "space": " A\tB\u00a0C ",
    }.items():
        write("Mrss", name, content.encode())


def metadata():
    space = "urn:oasis:names:tc:SAML:2.0:metadata"
    bindings = "urn:oasis:names:tc:SAML:2.0:bindings:"
    write("Metadata", "provider", f"""<md:EntityDescriptor xmlns:md="{space}" entityID="https://idp.example" validUntil="2031-03-04T10:00:00Z"><md:IDPSSODescriptor
 WantAuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:Extensions><u:UIInfo
 xmlns:u="urn:oasis:names:tc:SAML:metadata:ui"><u:DisplayName>Harbor</u:DisplayName></u:UIInfo></md:Extensions><md:KeyDescriptor use="signing"><ds:KeyInfo
 xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>QUJD REVG</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:SingleLogoutService Binding="{bindings}HTTP-POST" Location="https://idp.example/slo" ResponseLocation="https://idp.example/r"/>
<md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>
<md:SingleSignOnService Binding="{bindings}HTTP-Redirect" Location="https://idp.example/sso?a=1&amp;b=2"/></md:IDPSSODescriptor>
<md:Organization><md:OrganizationDisplayName>Harbor</md:OrganizationDisplayName></md:Organization></md:EntityDescriptor>""".encode())
    references = "https://idp.example/&#9;&#10;&#13;&quot;&lt;&gt;&amp;&#x1F600;"
    write("Metadata", "references", f"""<EntityDescriptor xmlns="{space}" entityID="{references}"><IDPSSODescriptor
 protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><NameIDFormat>{references}</NameIDFormat>
<SingleSignOnService Binding="{bindings}HTTP-POST" Location="{references}" ResponseLocation="{references}"/></IDPSSODescriptor></EntityDescriptor>""".encode())
    record = """<proxiedMvpd><id ProviderID="p&amp;1">M1</id><displayName>One</displayName><logoURL>https://a.example/l.png</logoURL><iframeSize>
<iframeWidth>480</iframeWidth><iframeHeight>320</iframeHeight></iframeSize><requestorIds><requestorId>R1</requestorId><requestorId>R2</requestorId></requestorIds>
</proxiedMvpd><proxiedMvpd><id>M2</id><displayName/><logoURL/></proxiedMvpd>"""
    write("Metadata", "list", f'<proxiedMvpds xmlns="http://tve.adobe.com/data/proxiedmvpd">{record}</proxiedMvpds>'.encode())
    write("Metadata", "list-plain", f"<proxiedMvpds>{record}</proxiedMvpds>".encode())


def upstream():
    provider = {
        "id": "HARBOR", "displayName": "Harbor", "logoUrl": "https://a.example/l.png", "isTempPass": False, "isProxy": True, "boardingStatus": "SUPPORTED",
        "platformMappingId": "harbor", "enablePlatformServices": True,
    }
    profile = {"notBefore": NOW * 1000, "notAfter": str(NOW * 1000 + 9), "type": "regular", "attributes": {
        "userID": {"value": "u", "state": "plain"}, "zip": {"value": ["1", 2, {"a": None}], "state": "enc"}}}
    error = {"status": 403, "code": "authorization_denied_by_mvpd", "action": "none", "details": "No\u0007", "trace": "t-1"}
    permit = {"resource": "SPORTS", "authorized": True, "source": "mvpd", "notAfter": 9, "token": {"serializedToken": "a.b.c", "notBefore": 1, "notAfter": 9}}
    bodies = {
        "list": (0, 0, {"requestor": {"mvpds": [provider, provider, {"id": "-"}], "domains": [{"name": "a.example"}]}}),
        "profiles": (1, 0, {"profiles": {"HARBOR": profile}}),
        "decisions": (2, 0, {"decisions": [permit, {"resource": "X", "authorized": False, "error": error}]}),
        "decision": (3, 0, {"decisions": [permit]}),
        "browser": (4, 0, {"actionName": "authenticate", "url": "/api/v2/authenticate/R/C", "code": "ABC123", "notAfter": 9}),
        "resume": (4, 0, {"actionName": "resume", "missingParameters": ["mvpd", "domain"]}),
        "partner": (4, 0, {"actionName": "partner_profile", "authenticationRequest": {"request": "PHNhbWw+", "attributesNames": ["a"]}}),
        "logout": (5, 0, {"logouts": {"HARBOR": {"actionName": "logout", "url": "/l"}}}),
        "session": (6, 0, {"existingParameters": {"mvpd": "M", "serviceProvider": "R"}, "device": {"model": "TV", "operatingSystem": {"name": "tvOS"}}}),
        "client": (7, 1, {"client_id": "c", "client_secret": "s", "scopes": ["a", "b"], "scope": "a b"}),
        "bearer": (8, 1, {"access_token": "t.t.t", "expires_in": 3600}),
        "reset": (9, 2, {}), "refusal": (2, 5, error), "oauth": (8, 4, {"error": "invalid_client"}), "throttled": (0, 8, {}),
        "fault": (0, 9, {"code": "invalid_configuration_mvpd", "status": 500}),
    }
    for name, (reader, status, body) in bodies.items():
        write("Upstream", name, bytes([reader, status]) + b"Sun, 06 Nov 1994 08:49:37 GMT\0" + text(body))
    write("Upstream", "media-token", bytes([10, 0]) + b"7\0" + b".".join([encoded({}), encoded({"sub": "g", "proxyMvpd": "p", "mvpd": "m"}), b"AA"]))


def saml():
    assertion_space, protocol, algorithms = "urn:oasis:names:tc:SAML:2.0:assertion", "urn:oasis:names:tc:SAML:2.0:protocol", "http://www.w3.org/2001/"
    service = "https://sp.pass.example/sp/saml/SAMLAssertionConsumer"
    moments = 'NotBefore="2031-03-04T09:59:30Z" NotOnOrAfter="2031-03-04T10:05:00Z"'

    def signature(name):
        canonical = f'Algorithm="{algorithms}10/xml-exc-c14n#"'
        return (
            f'<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo><ds:CanonicalizationMethod {canonical}/>'
            f'<ds:SignatureMethod Algorithm="{algorithms}04/xmldsig-more#rsa-sha256"/><ds:Reference URI="#{name}"><ds:Transforms>'
            f'<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/><ds:Transform {canonical}/></ds:Transforms>'
            f'<ds:DigestMethod Algorithm="{algorithms}04/xmlenc#sha256"/><ds:DigestValue/></ds:Reference></ds:SignedInfo><ds:SignatureValue/></ds:Signature>')

    def assertion(signed):
        return (
            f'<saml:Assertion xmlns:saml="{assertion_space}" ID="_a" Version="2.0" IssueInstant="2031-03-04T10:00:00Z">'
            f'<saml:Issuer>https://idp.harbor.example/metadata</saml:Issuer>{signature("_a") if signed else ""}<saml:Subject><saml:NameID '
            'Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">k3Yq-0091</saml:NameID><saml:SubjectConfirmation '
            'Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="2031-03-04T10:05:00Z" '
            f'InResponseTo="_request-1" Recipient="{service}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions {moments}>'
            '<saml:AudienceRestriction><saml:Audience>https://saml.sp.pass.example</saml:Audience></saml:AudienceRestriction></saml:Conditions>'
            '<saml:AuthnStatement AuthnInstant="2031-03-04T09:59:55Z" SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>'
            'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>'
            '<saml:AttributeStatement><saml:Attribute Name="householdID"><saml:AttributeValue>house-7</saml:AttributeValue></saml:Attribute>'
            '<saml:Attribute Name="zip"><saml:AttributeValue>10001</saml:AttributeValue><saml:AttributeValue>94105</saml:AttributeValue></saml:Attribute>'
            '</saml:AttributeStatement></saml:Assertion>')

    def response(signed, status="Success"):
        return (
            f'<samlp:Response xmlns:samlp="{protocol}" xmlns:saml="{assertion_space}" ID="_r" Version="2.0" IssueInstant="2031-03-04T10:00:00Z" '
            f'Destination="{service}" InResponseTo="_request-1"><saml:Issuer>https://idp.harbor.example/metadata</saml:Issuer>'
            f'{signature("_r") if signed else ""}<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:{status}"/></samlp:Status>@A@'
            '</samlp:Response>')

    for name, (choice, outer, inner) in {
        "assertion": (4, response(False), assertion(True)), "response": (5, response(True), assertion(False)), "both": (6, response(True), assertion(True)),
        "unsigned": (0, response(False).replace("@A@", assertion(True)), ""), "status": (5, response(True, "Responder").replace("@A@", ""), ""),
    }.items():
        write("Saml", name, bytes([choice]) + b"\x04\x00Q" + outer.encode() + b"\0" + inner.encode())
    # Of the genuine ones: an octet is replaced, some are put in, taken out, written again elsewhere.
    for name, changes in {
        "replaced": b"\x00\x05\x00Q", "inserted": b"\x01\x05\x00<!-- a -->\0", "removed": b"\x02\x05\x00\x03", "copied": b"\x03\x00\xa0\x01\x80\x08\x00",
        "more": b"\x00\x05\x00Q\x01\x06\x00&#81;\0\x02\x07\x00\x00",
    }.items():
        for variant in range(3):
            write("Saml", f"{name}-{variant}", bytes([8 | variant]) + changes)


def main():
    for seeds in (heads, forms, devices, tokens, signed_requests, stored_tokens, resources, metadata, upstream, saml):
        seeds()
    for path in sorted(GOLDEN.glob("*.hex")):
        write("Frame", path.stem, bytes([OPEN | LARGE_READS, SLOWLY]) + golden(path.stem))
    for name, (choice, frames) in CONVERSATIONS.items():
        for size, pace in ((SMALL_READS, SLOWLY), (LARGE_READS, SLOWLY), (LARGE_READS, QUICKLY)):
            write("Frame", f"{name}-{size}-{pace}", bytes([choice | size, pace]) + b"".join(golden(frame) for frame in frames))
    texts = b"\x0a\x04acme\x12\x05\xc3\x9cber."
    for choice in range(8):
        write("Message", f"texts-{choice}", bytes([choice]) + texts)
        write("Message", f"nested-{choice}", bytes([choice]) + b"\x1a" + bytes([len(texts)]) + texts + b"\x22\x02\x08\x01\x2a\x00")


main()
