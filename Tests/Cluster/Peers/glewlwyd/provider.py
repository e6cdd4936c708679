"""An OpenID provider on loopback that is glewlwyd, with one person and one client.

    provider.py FOLDER PORT CALLBACK SECRET

Makes a database, starts glewlwyd, tells it by its own administration API of a provider `op`, a client `boxoffice` with this secret and this callback, and the
person `ada` (password `ada`), and runs until it is ended. FOLDER holds idp.key and idp.crt. Needs the Debian package glewlwyd.
"""

import ctypes
import gzip
import http.cookiejar
import json
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

folder, port, callback, secret = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
address = f"http://127.0.0.1:{port}"
database = folder / "glewlwyd.db"

with gzip.open("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz", "rt") as script, sqlite3.connect(database) as connection:
    connection.executescript(script.read())
(folder / "glewlwyd.conf").write_text(f"""
port={port}
bind_address="127.0.0.1"
external_url="{address}/"
login_url="login.html"
api_prefix="api"
static_files_path="/usr/share/glewlwyd/webapp/"
log_mode="console"
log_level="WARNING"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
admin_session_authentication="cookie"
profile_session_authentication="cookie"
login_api_enabled=true
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
use_secure_connection=false
secure_connection_key_file="/dev/null"
secure_connection_pem_file="/dev/null"
hash_algorithm="SHA512"
database={{ type="sqlite3" path="{database}" }}
""")

death = 1  # PR_SET_PDEATHSIG: whoever ends this program ends glewlwyd
server = subprocess.Popen(
    ["/usr/bin/glewlwyd", f"--config-file={folder}/glewlwyd.conf"],
    preexec_fn=lambda: ctypes.CDLL(None).prctl(death, signal.SIGKILL))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(server.kill() or 0))
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def call(path, body):
    request = urllib.request.Request(f"{address}/api{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with opener.open(request, timeout=10) as answer:
        return answer.read()


def sign_in_as_administrator():
    """With the password that the database comes with, once somebody answers."""
    for _ in range(100):
        try:
            return call("/auth/", {"username": "admin", "password": "password"})
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.1)
    sys.exit("glewlwyd does not answer")


sign_in_as_administrator()
public = subprocess.run(
    ["openssl", "x509", "-in", folder / "idp.crt", "-noout", "-pubkey"], check=True, capture_output=True, text=True).stdout
call("/user/", {
    "username": "ada", "name": "house-ada", "email": "ada@harbor.example", "password": "ada", "scope": ["openid"], "enabled": True})
call("/client/", {
    "client_id": "boxoffice", "name": "boxoffice", "client_secret": secret, "confidential": True, "redirect_uri": [callback],
    "post_logout_redirect_uri": "{0.scheme}://{0.netloc}/adobe-services/logout/oauth".format(urllib.parse.urlsplit(callback)),
    "authorization_type": ["code", "refresh_token"], "scope": ["openid"], "enabled": True,
    "token_endpoint_auth_method": ["client_secret_basic"]})
call("/mod/plugin/", {"module": "oidc", "name": "op", "display_name": "op", "parameters": {
    "iss": f"{address}/api/op", "jwt-type": "rsa", "jwt-key-size": "256", "key": (folder / "idp.key").read_text(), "cert": public,
    "access-token-duration": 3600, "refresh-token-duration": 86400, "code-duration": 60, "refresh-token-rolling": True, "allow-non-oidc": False,
    "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-id-token-enabled": True, "auth-type-none-enabled": False,
    "auth-type-password-enabled": False, "auth-type-client-enabled": False, "auth-type-refresh-enabled": True, "auth-type-device-enabled": False,
    "scope": [], "additional-parameters": [], "claims": [], "name-claim": "mandatory", "email-claim": "mandatory", "pkce-allowed": True,
    "pkce-required": True, "pkce-method-plain-allowed": False, "jwks-show": True, "request-parameter-allow": False, "subject-type": "public",
    "session-management-allowed": True, "session-cookie-name": "GLEWLWYD2_OIDC_SID", "session-cookie-expiration": 86400,
    "front-channel-logout-allowed": False, "back-channel-logout-allowed": False}})
sys.exit(server.wait())
