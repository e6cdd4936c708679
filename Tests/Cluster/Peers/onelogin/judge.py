"""Asks python3-saml what it thinks of a response. Prints 'accepted', or 'rejected' and why.

    judge.py FILE

FILE is JSON: `response` (base64), `audience`, `acs`, `issuer`, `certificate` (PEM). Needs the Debian package python3-onelogin-saml2.
"""

import json
import sys
from urllib.parse import urlsplit

from onelogin.saml2.response import OneLogin_Saml2_Response
from onelogin.saml2.settings import OneLogin_Saml2_Settings

case = json.load(open(sys.argv[1]))
acs = urlsplit(case["acs"])
settings = OneLogin_Saml2_Settings({
    "strict": True,
    "security": {"wantAssertionsSigned": True, "rejectDeprecatedAlgorithm": True},
    "sp": {"entityId": case["audience"], "assertionConsumerService": {"url": case["acs"]}},
    "idp": {"entityId": case["issuer"], "singleSignOnService": {"url": case["issuer"]}, "x509cert": case["certificate"]},
}, sp_validation_only=True)
request = {"https": "off", "http_host": acs.netloc, "server_port": str(acs.port), "script_name": acs.path, "get_data": {}, "post_data": {}}
try:
    response = OneLogin_Saml2_Response(settings, case["response"])
    verdict = "accepted" if response.is_valid(request) else f"rejected: {response.get_error()}"
except Exception as problem:
    verdict = f"rejected: {type(problem).__name__}: {problem}"
print(verdict)
