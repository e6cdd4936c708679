"""What back offices and administrators call: degradation, trials, usage, the catalogue and its versions, support, upstreams."""

import json
import re
import time

import recorder
from recorded_apps import client, code, device, sign_in
from recorder import DEVICE

ANY = {"If-Match": "*"}
PROXY = "petra"
SECOND = "olga"
# The path of each kind of entry, and the words of its operations.
KINDS = {
    "programmers": "Programmer", "requestors": "Requestor", "mvpds": "Mvpd", "applications": "Application",
    "platform-identity-issuers": "PlatformIdentityIssuer", "service-token-issuers": "ServiceTokenIssuer", "upstreams": "Upstream"}
SHOWN = {
    "programmers": "bravo", "requestors": "ACME1", "mvpds": "LakeTel", "applications": "acme-tv",
    "platform-identity-issuers": "https://platform.sandbox.example", "service-token-issuers": "https://identity.sandbox.example"}


class Administrator:
    def __init__(self, r, token=None):
        self.r, self.token = r, token or r.cluster["adminToken"]

    def __call__(self, name, path=(), body=None, *, records=True, headers=(), **query):
        return self.r.call(name, path=path, query=query, headers=headers, body=body, token=self.token, records=records)

    def example(self, name):
        """The body that the description has for the operation."""
        return json.loads(json.dumps(self.r.operations[name].body()[1]))

    def push(self, description, records=False):
        """Pushes the draft. Waits until every program works with it, as each one gets it for itself; one that somebody has to approve has no version yet."""
        pushed = self("pushDraft", body={"description": description}, headers=ANY, records=records).json
        if version := pushed["version"]:
            for name, entry in self.r.cluster["services"].items():
                self.r.until(f"{name} has version {version}", lambda debug=entry["debug"]: catalogue_version(debug) >= version)
        return pushed


def catalogue_version(debug):
    """The version that a program works with, by its metrics."""
    metrics = recorder.send("GET", f"http://{debug}/metrics", {}).text
    return int(float(re.search(r"^boxoffice_(?:config_)?catalogue_version(?:\{.*\})? (\S+)$", metrics, re.M)[1]))


def degradation(r, token):
    """By the reference's calls. LakeTel, at which nobody signs in here."""
    one = {"programmer": "ACME1", "mvpd": "LakeTel"}
    for kind, more in (("AuthnAll", {}), ("AuthzAll", {"resource": "ACME1-NEWS"}), ("AuthzNone", {"channel": "ACME1-NEWS", "msg": "Back at noon"})):
        r.call(f"apply{kind}Measure", path=["acme"], query={**one, "ttl": 600, **more}, token=token)
        r.call(f"list{kind}Measures", path=["acme"], query=one, token=token)
    r.call("listAllMeasures", path=["acme"], query=one, token=token)
    for kind in ("AuthnAll", "AuthzAll", "AuthzNone"):
        r.call(f"remove{kind}Measures", path=["acme"], query=one, token=token)


def usage(r, token):
    """Services push what they counted each second: the report is taken when it grows no more."""
    year = time.gmtime(time.time() - 8 * 3600).tm_year
    also = {str(year): "2026", str(year + 1): "2027"}
    query = {"requestor-id": "ACME1", "metrics": "authn-successful,authz-successful", "start": f"{year}-01", "end": f"{year + 1}-01"}
    seen = []

    def settled():
        seen.append(r.call("getUsageByDimensions", path=["year"], query=query, token=token, records=False))
        if len(seen) > 1 and seen[-1].text == seen[-2].text and seen[-1].json["report"]:
            return seen[-1]
        time.sleep(1.5)
        return None

    r.keep(r.operations["getUsageByDimensions"], r.until("the counts of the recording are complete", settled), also)
    r.keep(r.operations["getUsage"], r.call("getUsage", query=query, token=token, records=False), also)


def entries(admin):
    """Each kind: a list, an entry, and a new one in the draft that is changed and taken out again."""
    issuer = admin("getPlatformIdentityIssuer", [SHOWN["platform-identity-issuers"]], records=False).json["entity"]
    admin.r.call("listProgrammerEntries", query={"size": 2}, token=admin.token)
    for path, word in KINDS.items():
        created = admin.example(f"create{word}")
        if "jwks" in created:
            created["jwks"] = issuer["jwks"]
        if path in SHOWN:
            admin(f"list{word}Entries", size=2)
            admin(f"get{word}", [SHOWN[path]])
        new = admin(f"create{word}", body=created).json["id"]
        if path not in SHOWN:
            admin(f"list{word}Entries", size=2)
            admin(f"get{word}", [new])
        changed = {**created, **({"name": created["name"] + " HD"} if "name" in created else {})}
        admin(f"replace{word}", [new], changed, headers=ANY)
        admin(f"delete{word}", [new], headers=ANY)
    admin("listIntegrationEntries", size=2)
    admin("getIntegration", ["ACME1", "NorthCable"])
    created = admin.example("createIntegration")
    pair = created["requestor"], created["mvpd"]
    admin("createIntegration", body=created)
    admin("replaceIntegration", pair, {**created, "enabled": True, "metadataKeys": ["userID"]}, headers=ANY)
    admin("deleteIntegration", pair, headers=ANY)
    admin("generateSchemeProgrammer", ["acme"])
    admin("generateSchemeRequestor", ["ACME1"])
    admin("downloadSoftwareStatement", ["acme-tv"])
    admin("discardDraft", records=False)


def versions(admin):
    first = admin("listVersions", records=False).json["versions"][0]["version"]
    admin.r.stable.answer({"version": first})
    admin("createRequestor", body=admin.example("createRequestor"), records=False)
    admin("getDraft")
    admin("createApplication", body=admin.example("createApplication"), records=False)
    admin("dropChange", [2], headers=ANY)
    admin("beginTestSignIn", body=admin.example("beginTestSignIn"))
    second = admin.push(admin.example("pushDraft")["description"], records=True)["version"]
    admin("listVersions", size=2)
    admin("compareVersions", a=first, b=second)
    snapshot = admin("getVersion", [second]).json
    admin("restoreVersion", [first])
    admin("discardDraft", records=False)
    snapshot["document"]["requestors"][0]["name"] += " HD"
    admin("promoteCatalogue", body={"catalogue": snapshot["document"], "keep": ["endpoints"]})
    admin("discardDraft", records=False)
    admin("getReport", ["authn-ttl"], requestor="ACME1", mvpd="NorthCable")
    admin("verifyHistory")
    admin("listAuditRecords", size=2)


def mvpds(admin):
    metadata = recorder.send("GET", admin.r.cluster["sandbox"]["mvpd"] + "/saml/NorthCable/metadata", {}).text
    read = admin("readMvpdMetadata", ["NewCable"], {"metadata": metadata}).json
    fingerprint = read["certificates"][0]["sha256"]
    entry = {"displayName": "New Cable", "authnTtl": 2592000, "authzTtl": 86400, "authorization": {"protocol": "none"}}
    admin("readMvpdMetadata", ["NewCable"], {"metadata": metadata, "fingerprints": [fingerprint], "entry": entry})
    admin("discardDraft", records=False)


def measures(admin):
    rule = admin("startDegradation", body={
        "kind": "AuthZAll", "requestor": "ACME1", "mvpds": ["LakeTel"], "endsAt": int(time.time() + 3600) * 1000,
        "reason": "The decision point is down"}).json["rules"][0]["id"]
    admin("renewDegradation", [rule], {"endsAt": int(time.time() + 7200) * 1000})
    admin("listDegradationRules")
    admin("endDegradation", [rule])


def people(admin, posted):
    admin("findViewerSessions", body={"requestor": "ACME1", "device": DEVICE})
    admin("exportPerson", body={"device": DEVICE})
    admin("endViewerSessions", body={"requestor": "ACME1", "device": DEVICE, "session": "all"})
    admin("erasePerson", body={"device": DEVICE})
    signed_in = admin("listSignIns", mvpd="NorthCable").json["signIns"][0]
    admin("getSignIn", [signed_in["trace"]])
    response = next(fields["SAMLResponse"] for fields in posted if "SAMLResponse" in fields)
    admin("explainSamlResponse", body={"samlResponse": response, "mvpd": "NorthCable", "requestor": "ACME1"})


def trials(r, admin, token):
    form = {"requestor_id": "ACME1", "deviceId": "dev-trial", "mso_id": "Preview10", "domain_name": "acme.example"}
    r.call("startFreePreview", form=form, headers=device(), token=token)
    admin("resetTempPassAsAdministrator", body={"requestor": "ACME1", "mvpd": "Preview10", "device": "dev-trial"})


def upstreams(r, admin, token):
    """The sandbox's stand-in for a vendor's v2 server, as an upstream of one channel."""
    address, reference = r.cluster["sandbox"]["upstream"], "sandbox-acme-v2"
    statements = recorder.send("GET", address + "/control/statements", {}).json
    statement = next(found["text"] for found in statements if found["id"] == "acme-v2")
    admin("writeSecret", [reference], {"secret": statement})
    admin("setSecretOwner", ["acme-legacy"], {"programmer": "acme"})
    admin("listSecrets")
    one = {"id": "sandbox", "statementReference": reference, "requestors": "all", "platforms": "all"}
    admin("createUpstream", body={"id": "vendor", "baseUrl": address, "clients": [one]}, records=False)
    channel = admin("getRequestor", ["ACME1"], records=False).json["entity"]
    channel["upstream"] = {"upstream": "vendor", "returnOrigin": r.cluster["gateway"]}
    admin("replaceRequestor", ["ACME1"], channel, headers=ANY, records=False)
    admin.push("A vendor's v2 service behind a channel")

    def offers():
        try:
            return admin("listUpstreamOffers", ["vendor"], requestor="ACME1", platform="roku")
        except AssertionError:
            return None

    offer = next(found for found in r.until("services know the upstream", offers).json["offers"] if not found["tempPass"])["id"]
    admin("checkUpstream", ["vendor"], {"part": "client", "requestor": "ACME1"})
    admin("createMvpd", body={"id": offer, "displayName": offer, "upstreamOnly": True}, records=False)
    admin("createIntegration", body={"requestor": "ACME1", "mvpd": offer, "upstream": True}, records=False)
    admin.push("A provider of the vendor's")
    r.until("the channel has it", lambda: f'"{offer}"' in r.call("getConfiguration", path=["ACME1"]).text)
    used = code(r, token, "dev-bridged")
    sign_in(r, used, mvpd=offer)
    admin("resetUpstreamClient", ["vendor"], {"device": "dev-bridged"})


def test_users(r, admin):
    """One who is to sign in some time today, as shown before that."""
    entry = admin("getMvpd", ["NorthCable"], records=False).json["entity"]
    entry["testSignIn"] = {"requestor": "ACME1", "user": "ada", "passwordReference": "test-viewer", "every": 86400}
    admin("replaceMvpd", ["NorthCable"], entry, headers=ANY, records=False)
    admin.push("A test user")
    r.until("the test user is known", lambda: admin("listScheduledSignIns", records=False).json["scheduledSignIns"])
    admin("listScheduledSignIns")


def proxied(r, token):
    """A proxy keeps its list by itself, with a bearer and from an address of its own."""
    form = r.operations["replaceProxiedMvpds"].body()[1]
    r.call("replaceProxiedMvpds", path=["NorthCable"], form=form, token=token)
    r.call("listProxiedMvpds", path=["NorthCable"], token=token)
    r.call("replaceProxiedMvpds", path=["NorthCable"], form={"proxied-mvpds": "<proxiedMvpds/>"}, token=token)


def record(r, token, posted, tokens):
    """- Parameters:
      - token: an app's.
      - posted: fields of the forms of a sign-in.
      - tokens: bearers of administrators by their names."""
    admin, back_office = Administrator(r), client(r, "acme-ops")
    admin("getAdministrator")
    entries(admin)
    versions(admin)
    mvpds(admin)
    measures(admin)
    degradation(r, back_office)
    trials(r, admin, token)
    usage(r, back_office)
    people(admin, posted)
    proxied(r, tokens[PROXY])
    upstreams(r, admin, token)
    test_users(r, admin)


def record_approvals(r, tokens):
    """Once a second person has to approve: the one who pushes cannot."""
    admin, second = Administrator(r), Administrator(r, tokens[SECOND])
    created = admin.example("createApplication")
    admin("createApplication", body=created, records=False)
    waiting = admin.push("tvOS launch")["push"]["id"]
    second("listPendingPushes")
    second("declinePush", [waiting])
    waiting = admin.push("tvOS launch")["push"]["id"]
    second("approvePush", [waiting])
