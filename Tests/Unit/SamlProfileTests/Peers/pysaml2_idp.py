"""An identity provider by pysaml2: reads a signed request against our metadata and answers it.

Arguments: a folder with idp.key, idp.crt, metadata.xml and request.b64 (the SAMLRequest field of the POST form); what to sign
(assertion, response or both). The answer is written to response.xml. Needs the Debian package python3-pysaml2.
"""

import sys
from pathlib import Path

from saml2 import BINDING_HTTP_POST
from saml2.config import IdPConfig
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server

folder, signed = Path(sys.argv[1]), sys.argv[2]

identity_provider = Server(config=IdPConfig().load({
    "entityid": "https://idp.harbor.example/metadata",
    "xmlsec_binary": "/usr/bin/xmlsec1",
    "key_file": str(folder / "idp.key"),
    "cert_file": str(folder / "idp.crt"),
    "metadata": {"local": [str(folder / "metadata.xml")]},
    "service": {
        "idp": {
            "endpoints": {"single_sign_on_service": [("https://idp.harbor.example/sso", BINDING_HTTP_POST)]},
            "policy": {"default": {"lifetime": {"minutes": 5}, "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"}},
            "want_authn_requests_signed": True,
        }
    },
}))

request = identity_provider.parse_authn_request((folder / "request.b64").read_text(), BINDING_HTTP_POST)
answer = identity_provider.response_args(request.message)

response = identity_provider.create_authn_response(
    {"householdID": ["house-7"]},
    answer["in_response_to"],
    answer["destination"],
    sp_entity_id=answer["sp_entity_id"],
    name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text="k3Yq-0091"),
    authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"},
    sign_assertion=signed in ("assertion", "both"),
    sign_response=signed in ("response", "both"),
    sign_alg="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    digest_alg="http://www.w3.org/2001/04/xmlenc#sha256",
)
(folder / "response.xml").write_text(str(response))
