"""An identity provider on loopback whose SAML is all lasso's, the library of several portals and of Apache's mod_auth_mellon.

    identity_provider.py FOLDER PORT VARIANT

FOLDER holds idp.key, idp.crt and sp.xml, the service provider's metadata. VARIANT is JSON: `binding` (post or redirect), `signs` (assertion
or both: lasso signs each assertion) and `encrypts` (empty, or aes256-cbc, lasso's only mode). The login form accepts a password that equals the name.
Needs the Debian package python3-lasso.
"""

import base64
import datetime
import html
import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import lasso

folder, port, variant = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
address = f"http://127.0.0.1:{port}"
by_post = variant["binding"] == "post"
word = "POST" if by_post else "Redirect"
certificate = (folder / "idp.crt").read_text()
content = "".join(line for line in certificate.splitlines() if "-----" not in line)
metadata = f"""<?xml version="1.0"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="{address}/metadata">
  <md:IDPSSODescriptor WantAuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{content}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-{word}" Location="{address}/sso"/>
  </md:IDPSSODescriptor>
</md:EntityDescriptor>
"""
(folder / "idp.xml").write_text(metadata)

server = lasso.Server(str(folder / "idp.xml"), str(folder / "idp.key"), None, str(folder / "idp.crt"))
server.signatureMethod = lasso.SIGNATURE_METHOD_RSA_SHA256
server.addProvider(lasso.PROVIDER_ROLE_SP, str(folder / "sp.xml"))
(provider,) = server.providers.values()
if variant["encrypts"]:
    provider.setEncryptionMode(lasso.ENCRYPTION_MODE_ASSERTION)
    provider.setEncryptionSymKeyType(lasso.ENCRYPTION_SYM_KEY_TYPE_AES_256)
waiting = {}


def instant(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_request(message):
    """A login with the request in it, once lasso has found its signature genuine."""
    login = lasso.Login(server)
    login.setSignatureVerifyHint(lasso.PROFILE_SIGNATURE_VERIFY_HINT_FORCE)
    login.processAuthnRequestMsg(message)
    return login


def respond(login, name):
    login.validateRequestMsg(True, True)
    login.buildAssertion(lasso.SAML2_AUTHN_CONTEXT_PASSWORD, instant(0), None, instant(-60), instant(300))
    value = lasso.MiscTextNode.newWithString(f"house-{name}")
    value.textChild = True
    attribute_value = lasso.Saml2AttributeValue()
    attribute_value.any = (value,)
    attribute = lasso.Saml2Attribute()
    attribute.name = "householdID"
    attribute.nameFormat = lasso.SAML2_ATTRIBUTE_NAME_FORMAT_BASIC
    attribute.attributeValue = (attribute_value,)
    statement = lasso.Saml2AttributeStatement()
    statement.attribute = (attribute,)
    login.assertion.attributeStatement = (statement,)
    login.setSignatureHint(
        lasso.PROFILE_SIGNATURE_HINT_FORBID if variant["signs"] == "assertion" else lasso.PROFILE_SIGNATURE_HINT_FORCE)
    login.buildAuthnResponseMsg()
    return login


def form(action, fields):
    inputs = "".join(f'<input name="{name}" value="{html.escape(value)}">' for name, value in fields)
    return f'<!DOCTYPE html><form method="post" action="{html.escape(action)}">{inputs}</form>'


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        target = urlsplit(self.path)
        if target.path == "/metadata":
            return self.answer(200, metadata, "application/samlmetadata+xml")
        if target.path == "/sso" and not by_post:
            return self.ask(target.query, dict(parse_qsl(target.query)))
        self.answer(404, "There is nothing here.")

    def do_POST(self):
        fields = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True))
        if self.path == "/sso" and by_post:
            return self.ask(fields["SAMLRequest"], fields)
        if self.path == "/login" and fields.get("state") in waiting and fields["password"] == fields["username"]:
            login, relay_state = waiting.pop(fields["state"])
            respond(login, fields["username"])
            return self.answer(200, form(login.msgUrl, [("SAMLResponse", login.msgBody), ("RelayState", relay_state)]))
        self.answer(403, "Not signed in.")

    def ask(self, message, fields):
        try:
            login = read_request(message)
        except lasso.Error as problem:
            return self.answer(400, f"The request is refused: {type(problem).__name__}")
        state = secrets.token_hex(16)
        waiting[state] = (login, fields["RelayState"])
        self.answer(200, form("/login", [("state", state), ("username", ""), ("password", "")]))

    def answer(self, status, text, kind="text/html"):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


HTTPServer(("127.0.0.1", port), Handler).serve_forever()
