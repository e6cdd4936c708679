#!/usr/bin/env python3
"""Compares the two manifests over the client library: Shared/Client/Package.swift must have the targets, settings, products and platforms that the root's has for the
same folders, all that they need and nothing else, and no other package. Prints what differs, and fails."""
import copy
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CLIENT = ROOT / "Shared/Client"


def dumped(folder):
    """The manifest as the package manager reads it, with the paths of its targets from the root and without links."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["swift", "package", "--package-path", str(folder), "--scratch-path", scratch, "dump-package"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{folder}/Package.swift cannot be read:\n{done.stdout}{done.stderr}")
    manifest = json.loads(done.stdout)
    for target in manifest["targets"]:
        target["path"] = os.path.relpath(os.path.realpath(folder / target.get("path", target["name"])), ROOT)
    return manifest


def named(manifest, kind):
    return {entry["name"]: entry for entry in manifest[kind]}


def needs(target):
    """Names of the targets that it depends on, with the condition of each."""
    found = {}
    for dependency in target["dependencies"]:
        (kind, value), = dependency.items()
        found[value[0]] = (kind, value[-1]) if kind == "product" else value[-1]
    return found


def closure(targets, names):
    found, open_ends = set(), list(names)
    while open_ends:
        name = open_ends.pop()
        if name not in found and name in targets:
            found.add(name)
            open_ends += needs(targets[name])
    return found


def problems(root, client):
    roots, own = named(root, "targets"), named(client, "targets")
    for name, product in named(client, "products").items():
        if named(root, "products").get(name) != product:
            yield f"the product {name} is another one in the root's manifest"
    wanted = closure(roots, [name for product in client["products"] for name in product["targets"]])
    for name in sorted(wanted - own.keys()):
        yield f"the root's products need the target {name}, which the client's manifest lacks"
    for name in sorted(own.keys() - wanted):
        yield f"the client's manifest has the target {name}, which none of its products needs in the root's"
    for name in sorted(own.keys() & wanted):
        for key in ("type", "path", "exclude", "resources", "settings", "publicHeadersPath", "pkgConfig", "providers"):
            if roots[name].get(key) != own[name].get(key):
                yield f"{name}: '{key}' is {roots[name].get(key)} in the root's manifest and {own[name].get(key)} in the client's"
        if needs(roots[name]) != needs(own[name]):
            yield f"{name} depends on {needs(roots[name])} in the root's manifest and on {needs(own[name])} in the client's"
        if "unsafeFlags" in json.dumps(own[name]["settings"]):
            yield f"{name} has unsafe flags, with which no app can take the package by version"
    for key in ("platforms", "toolsVersion"):
        if root[key] != client[key]:
            yield f"'{key}' is {root[key]} in the root's manifest and {client[key]} in the client's"
    if client["dependencies"]:
        yield f"the client's manifest depends on other packages: {client['dependencies']}"


def planted(root, client):
    """Differences that must be found, each in copies of the two manifests."""
    def changed(name, change, where="client"):
        manifests = {"root": copy.deepcopy(root), "client": copy.deepcopy(client)}
        change(manifests[where], named(manifests[where], "targets"))
        return name, list(problems(manifests["root"], manifests["client"]))

    yield changed("a setting less", lambda _, targets: targets["AccessEnabler"]["settings"].pop())
    yield changed("another folder", lambda _, targets: targets["Octets"].update(path="Shared/Client/Octets"))
    yield changed("a dependency less", lambda _, targets: targets["EntitlementClient"]["dependencies"].pop())
    yield changed("a dependency more", lambda _, targets: targets["AccessEnabler"]["dependencies"].append({"byName": ["Clocks", None]}), "root")
    yield changed("a target less", lambda manifest, targets: manifest["targets"].remove(targets["CLibcrypto"]))
    yield changed("another package", lambda manifest, _: manifest["dependencies"].append({"fileSystem": []}))
    yield changed("another platform", lambda manifest, _: manifest["platforms"].pop())
    yield changed("unsafe flags", lambda _, targets: targets["Octets"]["settings"].append({"kind": {"unsafeFlags": {"_0": ["-Ounchecked"]}}, "tool": "swift"}))


def main():
    root, client = dumped(ROOT), dumped(CLIENT)
    found = list(problems(root, client))
    if not found:
        found = [f"this comparison does not find {name}" for name, complaints in planted(root, client) if not complaints]
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
