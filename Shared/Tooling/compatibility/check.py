"""Compares the contracts with the last release, or records a release.

usage: check.py PROTO_FOLDER RELEASED_FILE [--release VERSION]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from facts import facts
from rules import breaks


def descriptor_set(folder):
    files = sorted(pathlib.Path(folder).glob("*.proto"))
    if not files:
        sys.exit(f"contracts: there is no .proto file in {folder}")
    with tempfile.NamedTemporaryFile() as output:
        command = ["protoc", f"--proto_path={folder}", "--include_source_info", f"--descriptor_set_out={output.name}", *map(str, files)]
        if subprocess.run(command).returncode != 0:
            sys.exit("contracts: protoc refuses the .proto files")
        return pathlib.Path(output.name).read_bytes()


USUAL_FIELD = {"label": "singular", "oneof": ""}
USUAL = {"reserved": [], "reservedNames": []}


def read(content):
    """The facts of a recorded release: what `text` left out as usual is put back."""
    known = json.loads(content)
    for message in known["messages"].values():
        message.update({**USUAL, **message})
        for field in message["fields"].values():
            field.update({**USUAL_FIELD, **field})
    for enum in known["enums"].values():
        enum.update({**USUAL, **enum})
    return known


def text(release, found):
    """One line per field, value and method, so that the difference of two releases can be reviewed."""
    lines = ["{", f'  "release": {json.dumps(release)},', f'  "packages": {json.dumps(found["packages"], sort_keys=True)},']
    for kind in ("messages", "enums", "services"):
        entries = []
        for name in sorted(found[kind]):
            parts = [f"      {json.dumps(key)}: {lined(value)}" for key, value in found[kind][name].items() if value != USUAL.get(key)]
            entries.append(f"    {json.dumps(name)}: {{" + ("\n" + ",\n".join(parts) + "\n    }" if parts else "}"))
        lines.append(f'  "{kind}": {{\n' + ",\n".join(entries) + "\n  }" + ("," if kind != "services" else ""))
    return "\n".join(lines) + "\n}\n"


def lined(value):
    if not isinstance(value, dict) or not value or not all(isinstance(item, (dict, int)) for item in value.values()):
        return json.dumps(value)
    items = {key: item if isinstance(item, int) else {k: v for k, v in item.items() if v != USUAL_FIELD.get(k)} for key, item in value.items()}
    return "{\n" + ",\n".join(f"        {json.dumps(key)}: {json.dumps(item)}" for key, item in items.items()) + "\n      }"


def version(release):
    if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", release):
        sys.exit(f"contracts: '{release}' is no version of the form 1.2.3")
    return [int(part) for part in release.split(".")]


def main(folder, released, release=None):
    file = pathlib.Path(released)
    now, places = facts(descriptor_set(folder))
    known = read(file.read_text()) if file.exists() else None
    found = breaks(known, now, places) if known else []
    for one in found:
        print(f"{one.place}: {one.rule}: {one.text}", file=sys.stderr)
    if found:
        print(f"contracts: {len(found)} breaking changes since release {known['release']}; Shared/Documents/Operations/Replacing.md says what may change",
              file=sys.stderr)
        return 1
    if release is None:
        if known is None:
            sys.exit(f"contracts: {released} is missing; restore it from the repository")
        return 0
    if known and version(release) <= version(known["release"]):
        sys.exit(f"contracts: release {known['release']} is recorded already; a new one needs a higher version than that")
    version(release)
    file.write_text(text(release, now))
    return 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) == 4 and arguments[2] == "--release":
        sys.exit(main(arguments[0], arguments[1], arguments[3]))
    if len(arguments) != 2:
        sys.exit(__doc__)
    sys.exit(main(*arguments))
