"""Gives the property-based client something real to ask for: a client with an access token, codes, and devices that are signed in.

Reads $BOXOFFICE_HOME/cluster.json; writes the facts as JSON to the file that is named, and the client's configuration beside it.
"""

import base64
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import person

home = pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice"))
if not (home / "cluster.json").is_file():
    raise SystemExit(f"no cluster runs in {home}: start one with ./Services/up, or set BOXOFFICE_HOME")
cluster = json.loads((home / "cluster.json").read_text())
gateway = cluster["gateway"]
admin = cluster["admin"]
device_information = base64.b64encode(b'{"model":"Test TV","osName":"tvOS","primaryHardwareType":"SetTopBox"}').decode()
requestors = ["ACME1", "ACME2"]


def call(method, path, form=None, body=None, headers=None, at=gateway):
    data = urllib.parse.urlencode(form).encode() if form else body
    request = urllib.request.Request(at + path, data=data, method=method, headers={
        "Accept": "application/json", "X-Device-Info": device_information, **(headers or {})})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or b"null")


def register(statement):
    return call("POST", "/o/client/register", body=json.dumps({"software_statement": statement}).encode(), headers={"Content-Type": "application/json"})


def administer(method, path, entry=None):
    headers = {"Authorization": "Bearer " + cluster["adminToken"], "Content-Type": "application/json"}
    return call(method, "/admin/v1" + path, body=json.dumps(entry).encode() if entry else None, headers=headers, at=admin)


def new_upstream():
    """An upstream in the draft, which the demo catalogue has none of."""
    name = f"vendor-{uuid.uuid4()}"
    client = {"id": "tv", "statementReference": "tv", "requestors": "all", "platforms": "all"}
    administer("POST", "/upstreams", {"id": name, "baseUrl": "https://api.upstream.example", "clients": [client]})
    return name


def new_application():
    """An application with every scope; gives a software statement that authentication accepts already."""
    name = f"acme-everything-{uuid.uuid4()}"
    administer("DELETE", "/draft")
    administer("POST", "/applications", {
        "id": name, "name": name, "version": "1.0", "programmer": "acme", "requestors": requestors, "platforms": "all",
        "ssoIssuer": True,
        "scopes": ["api:client:v1", "api:client:v2", "decisions:owner", "temporary:passes:owner", "autosignin:owner", "analytics:client"],
        "redirectDomains": ["acme.example"]})
    administer("POST", "/draft/push", {"description": "An application with every scope"})
    request = urllib.request.Request(f"{admin}/admin/v1/applications/{name}/statement", headers={"Authorization": "Bearer " + cluster["adminToken"]})
    with urllib.request.urlopen(request, timeout=10) as answer:
        statement = answer.read().decode()
    for _ in range(100):
        try:
            return statement, register(statement)
        except urllib.error.HTTPError:
            time.sleep(0.05)
    raise RuntimeError("the new application's statement is not accepted")


def access_token(client):
    return call("POST", "/o/client/token", form={
        "client_id": client["client_id"], "client_secret": client["client_secret"], "grant_type": "client_credentials"})["access_token"]


statement, client = new_application()
token = access_token(client)
bearer = {"Authorization": "Bearer " + token}


def code(device, requestor="ACME1"):
    return call("POST", f"/reggie/v1/{requestor}/regcode", form={"deviceId": device, "ttl": "36000"}, headers=bearer)["code"]


def sign_in(device, requestor="ACME1", domain="acme.example", name="ada", mvpd="NorthCable"):
    """Signs the device in; gives the code that did it."""
    used = code(device, requestor)
    end = f"https://{domain}/signed-in"
    query = urllib.parse.urlencode({"reg_code": used, "requestor_id": requestor, "mso_id": mvpd, "domain_name": domain, "redirect_url": end})
    person.sign_in(f"{gateway}/api/v1/authenticate?{query}", end, name)
    return used


def opted_in(device):
    """Opts in to automatic sign-in; gives the answer that holds the value."""
    headers = {"AP-Device-Identifier": "fingerprint " + base64.b64encode(device.encode()).decode(), "Idempotency-Key": str(uuid.uuid4()), **bearer}
    body = {"bundleId": "example.acme.tv", "environment": "sandbox", "contextAuthorization": "granted"}
    return call("POST", "/auto-signin/v1/ACME1/tokens", body=json.dumps(body).encode(), headers={"Content-Type": "application/json", **headers})


signed_in = ["kept-1", "kept-2"]
used_codes = [sign_in(device) for device in signed_in]
sign_in("kept-1", "ACME2", "acme-two.example", mvpd="LakeTel")
for device in ["spent-1", "spent-2", "spent-3"]:
    sign_in(device)
opt_in = opted_in(signed_in[0])
version = administer("GET", "/versions")["versions"][0]["version"]

upstream = new_upstream()
pathlib.Path(sys.argv[1]).write_text(json.dumps({
    "client": client,
    "statement": statement,
    "values": {
        "requestor": requestors, "requestor_id": requestors, "serviceProvider": requestors, "partner": ["Apple"], "domainName": ["acme.example"],
        "redirectUrl": ["https://acme.example/signed-in"], "X-SSO-ID": ["person-1", "person-2"], "mvpd": ["NorthCable", "LakeTel", "Preview10"],
        "mso_id": ["NorthCable", "LakeTel", "OpenFiber", "Preview10", "PromoVod"], "mvpd_id": ["Preview10", "PromoVod"],
        "deviceId": signed_in + ["nobody"], "device_id": ["spent-1", "all"], "code": used_codes + [code("open-1")],
        "reg_code": [code("login-1"), code("login-2")],
        "domain_name": ["acme.example", "acme-two.example"], "redirect_url": ["https://acme.example/signed-in"],
        "resource": ["ACME1-NEWS", "ACME2-MOVIES", "ACME1-NEWS,ACME1-SPORT", "<rss version=\"2.0\"><channel><title>ACME1-NEWS</title></channel></rss>"],
        "appId": [""], "deviceUser": [""], "X-Device-Info": [device_information], "device_info": [device_information], "client_id": [client["client_id"]],
        "client_secret": [client["client_secret"]], "grant_type": ["client_credentials"], "file": ["style.css", "submit.js"],
        "AP-Device-Identifier": ["fingerprint " + base64.b64encode(device.encode()).decode() for device in signed_in],
        "mediaCompany": ["acme"], "programmer": requestors, "channel": ["ACME1-KIDS"],
        "family": [opt_in["familyId"]], "account": [opt_in["accountId"]], "returnUrl": ["/devices"],
        "generic_data": ['{"email":"5e884898da28047151d0e56f8dc629275e884898da28047151d0e56f8dc62927"}'], "key": ["all"], "X-Forwarded-For": ["127.0.0.1"],
        "version": [version], "a": [version], "b": [version], "change": [1], "If-Match": ["*"], "If-None-Match": ["*"],
    },
    "own": {"/api/v1/authenticate/freepreview": {"mso_id": ["Preview10", "PromoVod"], "deviceId": ["trial-1", "trial-2"]}},
    # What an operation uses up, so that the others keep what they need.
    "spent": {"deviceId": ["spent-2", "spent-3"], "code": [code(f"deleted-{number}") for number in range(10)], "client": [register(cluster["softwareStatements"]["bravo-tv"])["client_id"]]},
    "examples": {"endsAt": int(time.time() + 3600) * 1000},
    "entries": {
        "programmers": "bravo", "requestors": "BRAVO", "mvpds": "ParkedTV", "applications": "bravo-tv",
        "platform-identity-issuers": "https:~1~1identity.example", "service-token-issuers": "https:~1~1identity.example",
        "upstreams": upstream,
    },
}))

pathlib.Path(sys.argv[2]).write_text(f"""
[auth.openapi]
bearer = {{ bearer = {json.dumps(token)} }}
adminToken = {{ bearer = {json.dumps(cluster["adminToken"])} }}

[generation]
database = "none"
allow-x00 = true

[cache]
enabled = false
""")
