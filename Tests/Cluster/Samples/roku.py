"""Replays the requests of the Roku sample at a running cluster, in their order, as `roUrlTransfer` sends them; and looks that the sample makes each of them."""

import base64
import json
import pathlib
import re
import urllib.error
import urllib.request
import uuid

from person import goes
from samples import cluster, gateway, verified

ROOT = pathlib.Path("Shared/Client/Roku")
INFORMATION = base64.b64encode(b'{"model":"Roku Ultra","osName":"Roku OS"}').decode()
source = (ROOT / "source/Entitlement.brs").read_text()
functions = dict(re.findall(r"^function Entitlement_(\w+)\((.*?)^end function", source, re.S | re.M))


def is_made(request):
    """The function of that name names the method, and the parts of the path that do not change."""
    body = functions[request["name"]]
    parts = [part for part in re.split(r"\{\w+\}", request["path"].split("?")[0]) if part]
    assert f'"{request["method"]}"' in body and all(f'"{part}' in body for part in parts), f"{request['name']} does not ask for {request['path']}"
    sent = request["path"].partition("?")[2] + "&" + request.get("body", "")
    for name in re.findall(r"(?:^|&)(\w+)=", sent):
        assert re.search(rf'"{name}"|\b{name}:', source), f"{request['name']} does not send {name}"
    for path in request.get("take", []):
        name = [part for part in path.split(".") if not part.isdigit()][-1]
        assert re.search(rf'\.{name}\b|"{name}"|\b{name}\b', source + (ROOT / "README.md").read_text()), f"nobody reads {name}"


def taken(answer, path):
    for part in path.split("."):
        answer = answer[int(part)] if isinstance(answer, list) else answer[part]
    return answer


known = {"statement": cluster["softwareStatements"]["acme-tv"], "requestor": "ACME1", "deviceId": str(uuid.uuid4()), "resource": "ACME1-NEWS", "refused": "ACME1-SPORT"}
for request in json.loads((ROOT / "requests.json").read_text()):
    is_made(request)
    fill = lambda text: re.sub(r"\{(\w+)\}", lambda found: str(known[found[1]]), text)
    headers = {"Accept": "application/json"}
    if "access_token" in known:
        headers.update({"Authorization": f"Bearer {known['access_token']}", "X-Device-Info": INFORMATION})
    if "type" in request:
        headers["Content-Type"] = request["type"]
    body = fill(request["body"]).encode() if "body" in request else None
    call = urllib.request.Request(gateway + fill(request["path"]), body, headers, method=request["method"])
    try:
        with urllib.request.urlopen(call, timeout=10) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as answer:
        status, text = answer.code, answer.read()
    assert status == request["status"], (request["name"], status, text[:300])
    for path in request.get("take", []):
        known[path.split(".")[-1]] = taken(json.loads(text), path)
    if "then" in request:
        done = goes(f"{gateway}/activate/sign-in?code={known['code']}&mvpd=NorthCable", "ben", f"{gateway}/activate/done")
        assert known["code"] in done, done
verified(known["serializedToken"])
assert known["authorized"] is True and "package" in known["details"] and known["displayName"]
print("passed  the requests of the Roku sample, in the order of a visit")
