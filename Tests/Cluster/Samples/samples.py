"""The cluster of $BOXOFFICE_HOME, for the samples that apps begin with."""

import json
import os
import pathlib
import subprocess

home = pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice"))
if not (home / "cluster.json").is_file():
    raise SystemExit(f"no cluster runs in {home}: start one with ./Services/up, or set BOXOFFICE_HOME")
cluster = json.loads((home / "cluster.json").read_text())
gateway = cluster["gateway"]
# Where browsers end.
END = "https://www.acme.example/signed-in"


def verified(token, resource="ACME1-NEWS"):
    checked = subprocess.run(
        ["Services/boxoffice", "verify", "--requestor", "ACME1", "--resource", resource, "-"], input=token, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0 and checked.stdout.startswith("VALID_TOKEN"), (checked.stdout, checked.stderr, token[:200])
