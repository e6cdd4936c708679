"""What apps and browsers of viewers call: REST v1 and v2, the SDKs, service tokens, documents for anyone."""

import base64
import html
import json
import re
import time
import urllib.parse

import person
import recorder
from recorder import CODE, DEVICE

END = "https://acme.example/signed-in"


def encoded(value):
    return base64.b64encode((value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))).encode()).decode()


INFORMATION = {"X-Device-Info": encoded({"model": "Test TV", "osName": "tvOS"})}
APPLE_TV = {"X-Device-Info": encoded({"primaryHardwareType": "SetTopBox", "model": "AppleTV11,1", "osName": "tvOS"})}
# The framework's status, which names the provider until an hour from now.
PLATFORM = {
    "frameworkPermissionInfo": {"accessStatus": "granted"},
    "frameworkProviderInfo": {"id": "north-cable", "expirationDate": str(int(time.time() + 3600) * 1000)}}


def device(name=DEVICE):
    """The headers with which a device names itself, other than in v1."""
    return {"AP-Device-Identifier": "fingerprint " + encoded(name), **INFORMATION}


def client(r, application, records=False):
    """An access token of a new client of the application."""
    made = r.call("registerClient", body={"software_statement": r.cluster["softwareStatements"][application]}, records=records).json
    form = {"client_id": made["client_id"], "client_secret": made["client_secret"], "grant_type": "client_credentials"}
    return r.call("issueAccessToken", form=form, records=records).json["access_token"]


def code(r, token, name, requestor="ACME1", records=False):
    answer = r.call("createRegistrationCode", path=[requestor], form={"deviceId": name, "ttl": 1800}, headers=INFORMATION, token=token, records=False)
    r.stable.know(answer.json["code"], CODE)
    if records:
        r.keep(r.operations["createRegistrationCode"], answer)
    return answer.json["code"]


def sign_in(r, used, viewer="ada", mvpd="NorthCable", path="/api/v1/authenticate", posted=None):
    query = {"reg_code": used, "requestor_id": "ACME1", "mso_id": mvpd, "domain_name": "acme.example", "redirect_url": END}
    person.sign_in(f"{r.cluster['gateway']}{path}?{urllib.parse.urlencode(query)}", END, viewer, posted)


def documents(r):
    for name in ["getHealth", "getReadiness", "getSdkTokenKeys", "getMediaTokenCertificates", "getMediaTokenKeys"]:
        r.call(name)
    r.call("getServiceProviderMetadata", query={"requestor": "ACME1"})


def v1(r, token, posted):
    """The way of an app from before v2, on a device of somebody who may watch one channel."""
    r.call("getConfiguration", path=["ACME1"], headers=INFORMATION)
    used = code(r, token, DEVICE, records=True)
    r.call("getRegistrationCode", path=["ACME1", used])
    sign_in(r, used, "ben", posted=posted)
    one = {"requestor": "ACME1", "deviceId": DEVICE}

    def ask(name, path=(), **more):
        return r.call(name, path=path, query=more, headers=INFORMATION, token=token)

    ask("checkAuthn", **one)
    ask("getAuthnToken", **one)
    ask("getAuthnTokenByCode", [used], requestor="ACME1")
    ask("getUserMetadata", **one)
    ask("preauthorize", **one, resource="ACME1-NEWS,ACME1-SPORT")
    ask("preauthorizeByCode", [used], requestor="ACME1", resource="ACME1-NEWS,ACME1-SPORT")
    r.call("preauthorizeByForm", form={**one, "resource": "ACME1-NEWS,ACME1-SPORT"}, headers=INFORMATION, token=token)
    ask("authorize", **one, resource="ACME1-NEWS")
    ask("getAuthzToken", **one, resource="ACME1-NEWS")
    ask("issueMediaToken", **one, resource="ACME1-NEWS")
    ask("createProfileRequest", ["ACME1", "NorthCable"], deviceType="tvOS")


def unescaped(answer, name):
    return html.unescape(re.search(f"<{name}>(.*?)</{name}>", answer.text, re.S)[1])


def sdk(r, token, own, is_device):
    """The calls of the vendor's SDKs: for the web, or for devices, which name the device in each form."""
    headers = {"Accept": "*/*"} if is_device else {"Accept": "*/*", "Ap_21": own}
    same = {"requestor_id": "ACME1", **({"device_id": own, "device_info": INFORMATION["X-Device-Info"]} if is_device else {})}

    def post(name, **fields):
        return r.call(name, form={**fields, **same}, headers=headers, token=token)

    used = code(r, token, own)
    sign_in(r, used, path="/adobe-services/authenticate/saml")
    session = unescaped(post("sdkSessionDevice" if is_device else "sdkSession", _method="GET", reg_code=used), "authnToken")
    decided = post(
        "sdkAuthorizeDevice" if is_device else "sdkAuthorize", authentication_token=session, resource_id="ACME1-NEWS", mso_id="NorthCable")
    permit = unescaped(decided, "authzToken")
    post("sdkDeviceShortAuthorize" if is_device else "sdkShortAuthorize", authz_token=permit, mso_id="NorthCable", hashed_guid="false")
    if not is_device:
        form = [("authentication_token", session), ("resource_id", "ACME1-NEWS"), ("resource_id", "ACME1-SPORT"), ("mso_id", "NorthCable")]
        r.call("sdkPreauthorize", form=form + list(same.items()), headers=headers, token=token)


def sdks(r, token):
    identified = r.call("identifyDevice", body={"fingerprint": "5f0c6b1d2e3a49788796a5b4c3d2e1f0"}, token=token)
    sdk(r, token, identified.json["deviceId"], is_device=False)
    sdk(r, token, "0123456789abcdef0123456789abcdef", is_device=True)


def v2(r, token):
    one, form = device("dev-v2"), {"mvpd": "NorthCable", "domainName": "acme.example", "redirectUrl": END}
    r.call("getV2Configuration", path=["ACME1"], headers=INFORMATION, token=token)
    answer = r.call("createV2Session", path=["ACME1"], headers=one, form=form, token=token, records=False)
    r.stable.know(answer.json["code"], CODE)
    r.keep(r.operations["createV2Session"], answer)
    used = answer.json["code"]
    r.call("getV2Session", path=["ACME1", used], token=token)
    r.call("resumeV2Session", path=["ACME1", used], form=form, token=token)
    person.sign_in(f"{r.cluster['gateway']}/api/v2/authenticate/ACME1/{used}", END, "ben")
    r.call("listV2Profiles", path=["ACME1"], headers=one, token=token)
    r.call("getV2Profile", path=["ACME1", "NorthCable"], headers=one, token=token)
    r.call("getV2ProfileByCode", path=["ACME1", used], token=token)
    r.call("authorizeV2", path=["ACME1", "NorthCable"], headers=one, body={"resources": ["ACME1-NEWS"]}, token=token)
    r.call("preauthorizeV2", path=["ACME1", "NorthCable"], headers=one, body={"resources": ["ACME1-NEWS", "ACME1-SPORT"]}, token=token)
    r.call("logoutV2", path=["ACME1", "NorthCable"], headers=one, query={"redirectUrl": "https://acme.example/signed-out"}, token=token)


def partner(r, token):
    """Single sign-on by the platform: its framework knows the person at NorthCable."""
    apple = r.cluster["sandbox"]["apple"]

    def platform(method, path, value):
        answer = recorder.send(method, apple + path, {"Content-Type": "application/json"}, json.dumps(value).encode())
        assert answer.status in (200, 204), f"{path}: {answer.status} {answer.text}"
        return answer

    platform("PUT", "/platform/accounts/example", {"access": "granted", "provider": "north-cable"})
    one = {**device("dev-apple"), **APPLE_TV, "AP-Partner-Framework-Status": encoded(PLATFORM)}
    form = {"domainName": "acme.example", "redirectUrl": END}
    asked = r.call("createV2PartnerSession", path=["ACME1", "Apple"], headers=one, form=form, token=token).json["authenticationRequest"]
    found = platform("POST", "/platform/metadata", {
        "account": "example", "channelIdentifier": "https://saml.sp.auth.adobe.com", "interruptionAllowed": False,
        "verificationToken": asked["request"], "attributeNames": asked["attributesNames"]}).json
    response = re.sub(r"[ \t]+", " ", re.sub(r"[\r\n]", "", found["samlAttributeQueryResponse"])).strip()
    r.call("createV2PartnerProfile", path=["ACME1", "Apple"], headers=one, form={"SAMLResponse": encoded(response)}, token=token)


def service_tokens(r, token):
    issued = r.call("issueServiceToken", path=["ACME1"], headers={**device("dev-1"), "X-SSO-ID": "person-1"}, token=token).json["serviceToken"]
    one = {**device("dev-1"), "AD-Service-Token": issued}
    r.call("refreshServiceToken", path=["ACME1"], headers=one, token=token)
    link = r.call("createServiceLink", path=["ACME1"], headers=one, token=token, records=False)
    r.stable.know(link.json["code"], "402913")
    r.keep(r.operations["createServiceLink"], link)
    r.call("listServiceDevices", path=["ACME1"], headers=one, token=token)
    r.call("issueServiceToken", path=["ACME1"], headers={**device("dev-2"), "X-SSO-ID": "person-1"}, token=token)
    r.call("unlinkServiceDevices", path=["ACME1"], headers=one, body={"devices": ["dev-2"]}, token=token)


def record(r, posted):
    """- Parameter posted: a list that gets the fields of the forms of the first sign-in."""
    documents(r)
    token = client(r, "acme-tv", records=True)
    v1(r, token, posted)
    sdks(r, token)
    v2(r, token)
    partner(r, token)
    service_tokens(r, client(r, "acme-backend"))
    return token
