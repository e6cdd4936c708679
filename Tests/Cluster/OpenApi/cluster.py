"""The cluster of a recording: the usual one, with what some calls need. Its home is $BOXOFFICE_HOME; whoever runs this stops it."""

import json
import os
import pathlib
import secrets
import subprocess

from recorded_administration import PROXY, SECOND

HOME = pathlib.Path(os.environ["BOXOFFICE_HOME"])
ROOT = pathlib.Path(__file__).resolve().parents[3]


def up():
    subprocess.run(["Services/up", "--detach", "--no-demo"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return json.loads((HOME / "cluster.json").read_text())


def down():
    subprocess.run(["Services/down"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def change(service, changed):
    file = HOME / f"settings/{service}.json"
    content = json.loads(file.read_text())
    changed(content[service])
    file.write_text(json.dumps(content, indent=2))


def start():
    """- Returns: what `cluster.json` says, and the bearers of further administrators by name."""
    up()
    down()
    tokens = {name: secrets.token_hex(20) for name in (PROXY, SECOND)}
    for name, token in tokens.items():
        (HOME / f"{name}.token").write_text(token)

    def administrators(config):
        config["administrators"][0]["rights"] = ["personalData"]
        for name, more in ((PROXY, {"role": "proxy", "mvpd": "NorthCable"}), (SECOND, {"role": "operator"})):
            config["administrators"].append({"name": name, "tokenFile": str(HOME / f"{name}.token"), **more})

    # Test users sign in when they like, and each recording would show other sign-ins.
    catalogue = json.loads((HOME / "catalogue.json").read_text())
    for mvpd in catalogue["mvpds"]:
        mvpd.pop("testSignIn", None)
    (HOME / "catalogue.json").write_text(json.dumps(catalogue, indent=2))
    change("config", administrators)
    change("gateway", lambda gateway: gateway.update(mvpdProxyAddresses=["127.0.0.0/8", "::1"]))
    return up(), tokens


def start_with_approval():
    down()
    change("config", lambda config: config.update(approvalRequired=True))
    return up()
