"""A TV with an app of `acme`, at the cluster of $BOXOFFICE_HOME/cluster.json."""

import base64
import json
import os
import pathlib
import sys
import urllib.parse
import urllib.request
import uuid

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "OpenApi"))
import person

if not (pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice")) / "cluster.json").is_file():
    raise SystemExit("no cluster runs here: start one with ./Services/up, or set BOXOFFICE_HOME")
cluster = json.loads((pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice")) / "cluster.json").read_text())
gateway = cluster["gateway"]
device_information = base64.b64encode(b'{"model":"Test TV","osName":"Linux"}').decode()


def call(method, path, form=None, body=None, headers=None):
    """One call as a streaming app; gives status and decoded JSON."""
    data = urllib.parse.urlencode(form).encode() if form else body
    request = urllib.request.Request(gateway + path, data=data, method=method, headers={
        "Accept": "application/json", "X-Device-Info": device_information, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            content = answer.read()
            return answer.status, json.loads(content) if content else None
    except urllib.error.HTTPError as error:
        return error.code, None


class Device:

    def __init__(self):
        statement = json.dumps({"software_statement": cluster["softwareStatements"]["acme-tv"]}).encode()
        _, client = call("POST", "/o/client/register", body=statement, headers={"Content-Type": "application/json"})
        _, token = call("POST", "/o/client/token", form={
            "client_id": client["client_id"], "client_secret": client["client_secret"], "grant_type": "client_credentials"})
        self.bearer = {"Authorization": "Bearer " + token["access_token"]}
        self.id = str(uuid.uuid4())

    def code(self):
        return call("POST", "/reggie/v1/ACME1/regcode", form={"deviceId": self.id}, headers=self.bearer)[1]["code"]

    def sign_in(self, name="ada"):
        """A person signs the device in at NorthCable, without a browser."""
        end = "https://acme.example/signed-in"
        query = urllib.parse.urlencode({
            "reg_code": self.code(), "requestor_id": "ACME1", "mso_id": "NorthCable", "domain_name": "acme.example", "redirect_url": end})
        person.sign_in(f"{gateway}/api/v1/authenticate?{query}", end, name)

    def is_signed_in(self):
        return call("GET", f"/api/v1/checkauthn?requestor=ACME1&deviceId={self.id}", headers=self.bearer)[0] == 200
