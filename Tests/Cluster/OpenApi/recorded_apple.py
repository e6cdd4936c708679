"""What apps and backends call for automatic sign-in and Sign in with Apple; the sandbox plays Apple and its devices."""

import json
import uuid

import recorder
from recorded_apps import client, code, device, sign_in

APP = {"bundleId": "example.acme.tv", "environment": "sandbox"}


def key():
    return {"Idempotency-Key": str(uuid.uuid4())}


class Account:
    """An Apple Account, and an app on a device of it."""

    def __init__(self, r, name):
        self.apple, self.name = r.cluster["sandbox"]["apple"], name

    def send(self, method, path, value):
        answer = recorder.send(method, self.apple + path, {"Content-Type": "application/json"}, json.dumps(value).encode())
        assert answer.status in (200, 204), f"{path}: {answer.status} {answer.text}"
        return answer.json if answer.content else None

    def app(self, path, value):
        return self.send("POST", f"/_device/accounts/{self.name}/apps/{APP['bundleId']}/{path}", value)

    def allow(self, name):
        self.send("PUT", f"/_device/devices/{name}", {"platform": "tvOS"})
        return self.app("token/authorize", {"answer": "approve", "device": name, "environment": APP["environment"]})["context"]

    def store(self, name, value, context):
        self.app("token/update", {"value": value, "context": context, "device": name, "environment": APP["environment"]})


def auto_sign_in(r, token, backend):
    account, first = Account(r, "example"), device("dev-first")

    def post(name, path=(), body=None, headers=first, bearer=token):
        return r.call(name, path=["ACME1", *path], headers={**headers, **key()}, body={} if body is None else body, token=bearer).json

    sign_in(r, code(r, token, "dev-first"))
    context = account.allow("dev-first")
    issued = post("issueAutoSignInToken", body={**APP, "contextAuthorization": "granted"})
    account.store("dev-first", issued["value"], context)
    post("confirmAutoSignInToken", [issued["familyId"]], {"outcome": "stored"})
    session = post("redeemAutoSignInToken", body={**APP, "value": issued["value"]}, headers=device("dev-second"))["sessionId"]
    r.call("listAutoSignIn", path=["ACME1"], headers=first, token=token)
    post("createWebLink")
    post("rotateAutoSignInToken", [issued["familyId"]], {"reason": "risk"}, {}, backend)
    post("flagSignIn", [session])
    again = post("issueAutoSignInToken", body={**APP, "contextAuthorization": "granted"})
    post("revokeAutoSignInToken", body={"familyId": again["familyId"], "reason": "opt_out"})
    post("revokeAllAutoSignIn", [issued["accountId"]], {"reason": "password_change"}, {}, backend)


def proof(r, account, one, token):
    """What Apple gives an app for a nonce of ours."""
    nonce = r.call("createAppleNonce", path=["ACME1"], headers=one, body={"clientId": APP["bundleId"]}, token=token).json["nonce"]
    given = account.app("signin", {"nonce": nonce, "scopes": ["name", "email"]})
    return {"identityToken": given["identityToken"], "code": given["code"], "nonce": nonce, "clientId": APP["bundleId"]}


def sign_in_with_apple(r, token):
    one = device("dev-with-apple")
    body = {**proof(r, Account(r, "somebody"), one, token), "createAccount": True}
    r.call("signInWithApple", path=["ACME1"], headers={**one, **key()}, body=body, token=token)
    sign_in(r, code(r, token, "dev-linked"), "cleo")
    linked = device("dev-linked")
    r.call("linkApple", path=["ACME1"], headers={**linked, **key()}, body=proof(r, Account(r, "other"), linked, token), token=token)


def record(r, token):
    auto_sign_in(r, token, client(r, "acme-backend"))
    sign_in_with_apple(r, token)
