"""Records an example of the answer of each call that has one, and writes them into the description; `record` beside this file says more."""

import difflib
import json
import subprocess
import sys

import cluster
import description
import recorded_administration
import recorded_apple
import recorded_apps
import recorder


def recorded():
    """The examples, by operation and status: media type and content."""
    operations = description.operations(json.loads(description.FILE.read_text()))
    found, tokens = cluster.start()
    r, posted = recorder.Recorder(found, operations), []
    token = recorded_apps.record(r, posted)
    recorded_apple.record(r, token)
    recorded_administration.record(r, token, posted, tokens)
    cluster.start_with_approval()
    recorded_administration.record_approvals(r, tokens)
    return {key: example for key, example in r.examples.items() if not operations[key[0]].alias}


def main(checks):
    before = description.FILE.read_text()
    after = description.with_examples(before, recorded())
    if not checks:
        description.FILE.write_text(after)
        return 0
    if before == after:
        return 0
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), "as it is described", "as a cluster answers", lineterm="", n=8)
    print("\n".join(list(changes)[:200]), file=sys.stderr)
    print("record: a cluster answers otherwise than the examples show; if that is right, run Tests/Cluster/OpenApi/record", file=sys.stderr)
    return 1


try:
    sys.exit(main(sys.argv[1:] == ["--check"]))
except (AssertionError, subprocess.CalledProcessError) as error:
    sys.exit(f"record: {error}")
