"""What a run of the Swift tests came to, from its event stream (--event-stream-version 0).

    outcomes.py EVENTS STATUS

EVENTS is the stream's file, STATUS how the runner ended. Prints lines of a word and a value:
    ran N         tests that ended, or that were under way when the program died
    bad N         those of them that failed; at least 1 when the status is not 0
    final NAME    one that failed and is failed
    again ID      one that failed and bounds a time: its function carries the tag .timing in its source
"""

import json
import re
import sys


def tagged(location):
    """Whether the attribute at this place of a source, down to its function, has the tag."""
    with open(location["_filePath"], encoding="utf-8") as source:
        lines = source.read().split("\n")[location["line"] - 1 :]
    # The text of an attribute may hold any word: texts in quotes are no tags.
    attribute = re.sub(r'"(\\.|[^"\\])*"', "", "\n".join(lines)[location["column"] - 1 :])
    head = re.split(r"\bfunc\b", attribute, maxsplit=1)[0]
    return re.search(r"\.tags\([^)]*\.timing\b", head) is not None


def read(path):
    """Functions that were known, those that began, and how those ended that did: {id: failed}."""
    known, begun, ended = {}, set(), {}
    try:
        stream = open(path, encoding="utf-8")
    except FileNotFoundError:
        return known, begun, ended
    with stream:
        for line in stream:
            try:
                record = json.loads(line)
            except ValueError:
                break  # the program died while it wrote
            payload = record["payload"]
            if record["kind"] == "test":
                if payload["kind"] == "function":
                    known[payload["id"]] = payload
            elif payload.get("testID") in known:
                if payload["kind"] == "testStarted":
                    begun.add(payload["testID"])
                elif payload["kind"] == "testEnded":
                    ended[payload["testID"]] = any(message["symbol"] == "fail" for message in payload["messages"])
    return known, begun, ended


def main(path, status):
    known, begun, ended = read(path)
    failed = sorted(test for test, is_failed in ended.items() if is_failed)
    died = sorted(begun - set(ended)) if status else []
    result = [("again" if tagged(known[test]["sourceLocation"]) else "final", test) for test in failed]
    result += [("final", f"{test} (the program ended while it ran)") for test in died]
    ran = len(ended) + len(died)
    if not result and (status or not ran):
        ran += 1
        result.append(("final", f"the runner itself (status {status}, {len(ended)} tests ended)"))
    print("ran", ran)
    print("bad", len(result))
    for word, test in result:
        # A crash is final: nothing is tried again beside it.
        print("final" if died else word, test)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
