"""The parts of a release, as SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/).

    sbom.py NAME VERSION COMMIT RESOLVED DEBIAN-PACKAGE...

Swift packages are those of Package.resolved, which are linked in; Debian packages are loaded when a program starts. The time is SOURCE_DATE_EPOCH.
"""

import datetime
import json
import os
import re
import subprocess
import sys


def identifier(kind, name):
    return "SPDXRef-" + kind + "-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def entry(kind, name, version, location, purl):
    return {
        "SPDXID": identifier(kind, name), "name": name, "versionInfo": version, "downloadLocation": location, "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    }


def swift_packages(path):
    with open(path, encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        version = pin["state"].get("version") or pin["state"]["revision"]
        place = re.sub(r"^https://|\.git$", "", pin["location"])
        yield entry("swift", pin["identity"], version, "git+" + pin["location"] + "@" + pin["state"]["revision"], f"pkg:swift/{place}@{version}")


def debian_packages(names):
    for name in names:
        version = subprocess.run(
            ["dpkg-query", "-W", "-f=${Version}", name], check=True, capture_output=True, text=True).stdout
        yield entry("debian", name, version, "NOASSERTION", f"pkg:deb/debian/{name}@{version}")


def main(name, version, commit, resolved, *debian):
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    own = entry("release", "boxoffice", version, "NOASSERTION", f"pkg:generic/boxoffice@{version}")
    own["sourceInfo"] = f"commit {commit}"
    linked, loaded = list(swift_packages(resolved)), list(debian_packages(debian))
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
    for kind, parts in (("STATIC_LINK", linked), ("DYNAMIC_LINK", loaded)):
        relations += [{"spdxElementId": own["SPDXID"], "relationshipType": kind, "relatedSpdxElement": part["SPDXID"]} for part in parts]
    json.dump(
        {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "documentNamespace": f"urn:boxoffice:{name}:{commit}",
            "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: Shared/Tooling/release"]},
            "packages": [own] + linked + loaded, "relationships": relations,
        },
        sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit("sbom.py: give name, version, commit and the file of resolved packages; then names of Debian packages")
    main(*sys.argv[1:])
