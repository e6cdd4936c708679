"""Gives the property-based client something real to ask for: a client with an access token, codes, and devices that are signed in.

Reads $BOXOFFICE_HOME/cluster.json; writes the facts as JSON to the file that is named, and the client's configuration beside it.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

home = pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice"))
cluster = json.loads((home / "cluster.json").read_text())
gateway = cluster["gateway"]
boxoffice = sys.argv[1]
device_information = base64.b64encode(b'{"model":"Test TV","osName":"tvOS","primaryHardwareType":"SetTopBox"}').decode()
application = "acme-tv"
requestors = ["ACME1", "ACME2"]


def call(method, path, form=None, body=None, headers=None):
    data = urllib.parse.urlencode(form).encode() if form else body
    request = urllib.request.Request(gateway + path, data=data, method=method, headers={
        "Accept": "application/json", "X-Device-Info": device_information, **(headers or {})})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or b"null")


def register(name):
    statement = json.dumps({"software_statement": cluster["softwareStatements"][name]}).encode()
    return call("POST", "/o/client/register", body=statement, headers={"Content-Type": "application/json"})


def access_token(client):
    return call("POST", "/o/client/token", form={
        "client_id": client["client_id"], "client_secret": client["client_secret"], "grant_type": "client_credentials"})["access_token"]


def sign_in(device, requestor, person="ada", mvpd="NorthCable"):
    subprocess.run(
        [boxoffice, "device", "--as", person, "--device-id", device, "--requestor", requestor, "--mvpd", mvpd, "--poll", "1",
         "--resource", f"{requestor}-NEWS"],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)


client = register(application)
token = access_token(client)
bearer = {"Authorization": "Bearer " + token}


def codes(count, device):
    return [call("POST", "/reggie/v1/ACME1/regcode", form={"deviceId": f"{device}-{number}", "ttl": "36000"}, headers=bearer)["code"]
            for number in range(count)]


for device in ["kept-1", "kept-2", "spent-1", "spent-2", "spent-3"]:
    sign_in(device, "ACME1")
    if device.startswith("kept"):
        sign_in(device, "ACME2")
signed_in = ["kept-1", "kept-2"]
for device in signed_in:
    answer = call("GET", f"/api/v1/tokens/authn?requestor=ACME1&deviceId={device}", headers=bearer)
    assert answer["mvpd"] == "NorthCable", answer

pathlib.Path(sys.argv[2]).write_text(json.dumps({
    "client": client,
    "statement": cluster["softwareStatements"][application],
    "values": {
        "requestor": requestors, "requestor_id": requestors, "mvpd": ["NorthCable", "LakeTel", "Preview10"],
        "mso_id": ["NorthCable", "LakeTel", "OpenFiber", "Preview10", "PromoVod"], "mvpd_id": ["Preview10", "PromoVod"],
        "deviceId": signed_in + ["nobody"], "device_id": ["spent-1", "all"], "code": codes(3, "code"), "reg_code": codes(3, "login"),
        "domain_name": ["acme.example", "acme-two.example"], "redirect_url": ["https://acme.example/signed-in"],
        "resource": ["ACME1-NEWS", "ACME2-MOVIES", "ACME1-NEWS,ACME1-SPORT", "<rss version=\"2.0\"><channel><title>ACME1-NEWS</title></channel></rss>"],
        "appId": [""], "deviceUser": [""], "X-Device-Info": [device_information], "device_info": [device_information], "client_id": [client["client_id"]],
        "client_secret": [client["client_secret"]], "grant_type": ["client_credentials"], "file": ["style.css", "submit.js"],
        "generic_data": ['{"email":"5e884898da28047151d0e56f8dc629275e884898da28047151d0e56f8dc62927"}'], "key": ["all"],
        "version": [1], "a": [1], "b": [1], "change": [1], "If-Match": ["*"], "If-None-Match": ["*"],
    },
    # What an operation uses up, so that the others keep what they need.
    "spent": {"deviceId": ["spent-2", "spent-3"], "code": codes(10, "deleted"), "client": [register("bravo-tv")["client_id"]]},
    "entries": {
        "programmers": "bravo", "requestors": "BRAVO", "mvpds": "ParkedTV", "applications": "bravo-tv",
        "platform-identity-issuers": "https://identity.example",
    },
}))

pathlib.Path(sys.argv[3]).write_text(f"""
[auth.openapi]
bearer = {{ bearer = {json.dumps(token)} }}
adminToken = {{ bearer = {json.dumps(cluster["adminToken"])} }}

[generation]
database = "none"
allow-x00 = true

[cache]
enabled = false
""")
