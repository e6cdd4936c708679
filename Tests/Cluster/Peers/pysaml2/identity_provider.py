"""An identity provider on loopback whose SAML is all pysaml2's.

    identity_provider.py FOLDER PORT VARIANT

FOLDER holds idp.key, idp.crt and sp.xml, the service provider's metadata. VARIANT is JSON: `binding` (post or redirect), `signs` (assertion,
response, both) and `encrypts` (empty, aes256-gcm, or default: what pysaml2 picks). The login form accepts a password that equals the name.
`/slo` takes the service provider's logout messages, `/leave?name=NAME` begins a logout of a person who signed in here.
Needs the Debian package python3-pysaml2.
"""

import base64
import html
import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.server import Server
from saml2.sigver import pre_encryption_part, verify_redirect_signature

folder, port, variant = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
address = f"http://127.0.0.1:{port}"
by_post = variant["binding"] == "post"
binding = BINDING_HTTP_POST if by_post else BINDING_HTTP_REDIRECT

configuration = IdPConfig().load({
    "entityid": f"{address}/metadata",
    "xmlsec_binary": "/usr/bin/xmlsec1",
    "key_file": str(folder / "idp.key"),
    "cert_file": str(folder / "idp.crt"),
    "metadata": {"local": [str(folder / "sp.xml")]},
    "service": {
        "idp": {
            "endpoints": {
                "single_sign_on_service": [(f"{address}/sso", binding)],
                "single_logout_service": [(f"{address}/slo", binding)],
            },
            "policy": {"default": {
                "lifetime": {"minutes": 5},
                "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:basic",
                "nameid_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
            }},
            # Signed XML; the signature of a query is checked below.
            "want_authn_requests_signed": by_post,
        }
    },
})
server = Server(config=configuration)
waiting = {}
# Per person who is signed in: service provider, NameID and session index.
sessions = {}
sha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
# Of a message of logout; a posted one is signed XML.
logout_signature = {"sign": by_post, "sign_alg": sha256, "digest_alg": "http://www.w3.org/2001/04/xmlenc#sha256"}


def read_request(fields):
    """The request, once pysaml2 has found its signature genuine."""
    request = server.parse_authn_request(fields["SAMLRequest"], binding)
    check_query(fields, "SAMLRequest", request.message.issuer.text)
    return request


def check_query(fields, message, issuer):
    """Posted messages are signed XML, which pysaml2 has checked by itself."""
    if by_post:
        return
    signed = {name: fields[name] for name in (message, "RelayState", "SigAlg", "Signature") if name in fields}
    certificates = server.metadata.certs(issuer, "spsso", "signing")
    if not any(verify_redirect_signature(signed, server.sec.sec_backend, certificate) for certificate in certificates):
        raise ValueError("the signature of the query is not the service provider's")


def encrypt_with_gcm():
    """pysaml2's own choice is Triple DES in CBC mode."""
    encrypt = server.sec.encrypt_assertion

    def replacement(statement, key, template, key_type="", node_xpath=None):
        chosen = pre_encryption_part(msg_enc="http://www.w3.org/2009/xmlenc11#aes256-gcm")
        return encrypt(statement, key, chosen, key_type="aes-256", node_xpath=node_xpath)

    server.sec.encrypt_assertion = replacement


if variant["encrypts"] == "aes256-gcm":
    encrypt_with_gcm()


def respond(request, name):
    answer = server.response_args(request.message)
    response = server.create_authn_response(
        {"householdID": [f"house-{name}"]},
        answer["in_response_to"],
        answer["destination"],
        sp_entity_id=answer["sp_entity_id"],
        name_id_policy=request.message.name_id_policy,
        userid=name,
        authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"},
        sign_assertion=variant["signs"] in ("assertion", "both"),
        sign_response=variant["signs"] in ("response", "both"),
        encrypt_assertion=bool(variant["encrypts"]),
        sign_alg=sha256,
        digest_alg="http://www.w3.org/2001/04/xmlenc#sha256",
    )
    # The newest statement is this one's; the response may be encrypted.
    name_id = server.ident.find_nameid(name)[-1]
    statement = server.session_db.get_authn_statements(name_id)[-1][-1]
    sessions[name] = (answer["sp_entity_id"], name_id, statement.session_index)
    return str(response), answer["destination"]


def leave(request):
    """Ends the session that a LogoutRequest of the service provider names: the answer, and where it goes."""
    known = [name for name, (_, name_id, _) in sessions.items() if name_id.text == request.name_id.text]
    if not known or [index.text for index in request.session_index] != [sessions[known[0]][2]]:
        raise ValueError("nobody of that name has that session")
    del sessions[known[0]]
    destination = server.response_args(request, [binding])["destination"]
    return server.create_logout_response(request, [binding], **logout_signature), destination


def ask_to_leave(name):
    """A LogoutRequest of our own, and where it goes."""
    provider, name_id, index = sessions.pop(name)
    _, destination = server.pick_binding("single_logout_service", [binding], "spsso", entity_id=provider)
    _, request = server.create_logout_request(
        destination, provider, name_id=name_id, session_indexes=[index], **logout_signature)
    return request, destination


def form(action, fields):
    inputs = "".join(f'<input name="{name}" value="{html.escape(value)}">' for name, value in fields)
    return f'<!DOCTYPE html><form method="post" action="{html.escape(action)}">{inputs}</form>'


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        target = urlsplit(self.path)
        if target.path == "/metadata":
            return self.answer(200, str(entity_descriptor(configuration)), "application/samlmetadata+xml")
        if target.path == "/sso" and not by_post:
            return self.ask(dict(parse_qsl(target.query)))
        if target.path == "/slo" and not by_post:
            return self.log_out(dict(parse_qsl(target.query)))
        if target.path == "/leave":
            name = dict(parse_qsl(target.query))["name"]
            if name not in sessions:
                return self.answer(404, "Nobody of that name is signed in.")
            message, destination = ask_to_leave(name)
            return self.send_on("SAMLRequest", str(message), destination, "leaving")
        self.answer(404, "There is nothing here.")

    def do_POST(self):
        fields = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True))
        if self.path == "/sso" and by_post:
            return self.ask(fields)
        if self.path == "/slo" and by_post:
            return self.log_out(fields)
        if self.path == "/login" and fields.get("state") in waiting and fields["password"] == fields["username"]:
            request, relay_state = waiting.pop(fields["state"])
            message, destination = respond(request, fields["username"])
            encoded = base64.b64encode(message.encode()).decode()
            return self.answer(200, form(destination, [("SAMLResponse", encoded), ("RelayState", relay_state)]))
        self.answer(403, "Not signed in.")

    def ask(self, fields):
        try:
            request = read_request(fields)
        except Exception as problem:
            return self.answer(400, f"The request is refused: {type(problem).__name__}")
        state = secrets.token_hex(16)
        waiting[state] = (request, fields["RelayState"])
        self.answer(200, form("/login", [("state", state), ("username", ""), ("password", "")]))

    def log_out(self, fields):
        try:
            if "SAMLRequest" in fields:
                request = server.parse_logout_request(fields["SAMLRequest"], binding)
                check_query(fields, "SAMLRequest", request.message.issuer.text)
                response, destination = leave(request.message)
                return self.send_on("SAMLResponse", str(response), destination, fields["RelayState"])
            response = server.parse_logout_request_response(fields["SAMLResponse"], binding)
            check_query(fields, "SAMLResponse", response.response.issuer.text)
            if fields["RelayState"] != "leaving" or not response.status_ok():
                raise ValueError("the service provider did not log out")
        except Exception as problem:
            return self.answer(400, f"The message is refused: {type(problem).__name__}: {problem}")
        self.answer(200, "Everybody agrees: you are signed out.")

    def send_on(self, kind, message, destination, relay_state):
        if by_post:
            encoded = base64.b64encode(message.encode()).decode()
            return self.answer(200, form(destination, [(kind, encoded), ("RelayState", relay_state)]))
        way = server.apply_binding(
            binding, message, destination, relay_state, response=kind == "SAMLResponse", sign=True, sigalg=sha256)
        self.send_response(303)
        self.send_header("Location", dict(way["headers"])["Location"])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, status, text, kind="text/html"):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


HTTPServer(("127.0.0.1", port), Handler).serve_forever()
