"""The outcomes of a run of the Swift tests, from its event stream (--event-stream-version 0).

    outcomes.py EVENTS STATUS

EVENTS is the stream's file, STATUS how the runner ended. Prints lines of a word and a value:
    ran N         tests that ended, or that were under way when the program died
    bad N         those of them that failed; at least 1 when the status is not 0
    skipped ID: WHY  one that was not tried, since a condition of it or of its suite does not hold here
    final NAME    one that failed and is failed
    again ID      one that failed and bounds a time: its function carries the tag .timing in its source

    outcomes.py --durations EVENTS

Prints a line for each test that ended: seconds, a tab, its id.
"""

import json
import sys

import timing


def tagged(location):
    """Whether the attribute at this place of a source, down to its function, has the tag."""
    with open(location["_filePath"], encoding="utf-8") as source:
        lines = source.read().split("\n")[location["line"] - 1 :]
    return timing.tagged("\n".join(lines)[location["column"] - 1 :])


def reason(payload):
    """The words of the condition that does not hold."""
    for message in payload["messages"]:
        before, skipped, after = message["text"].partition(" skipped: ")
        if message["symbol"] == "skip" and skipped:
            return after.strip('"')
    return "no reason is given"


def read(path):
    """Functions that were known, when they began, how those ended that did: {id: (failed, seconds)}, and why others were skipped."""
    known, begun, ended, skipped = {}, {}, {}, {}
    try:
        stream = open(path, encoding="utf-8")
    except FileNotFoundError:
        return known, begun, ended, skipped
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
                    begun[payload["testID"]] = payload["instant"]["absolute"]
                elif payload["kind"] == "testSkipped":
                    skipped[payload["testID"]] = reason(payload)
                elif payload["kind"] == "testEnded":
                    seconds = payload["instant"]["absolute"] - begun.get(payload["testID"], payload["instant"]["absolute"])
                    ended[payload["testID"]] = (any(message["symbol"] == "fail" for message in payload["messages"]), seconds)
    return known, begun, ended, skipped


def main(path, status):
    known, begun, ended, skipped = read(path)
    failed = sorted(test for test, (is_failed, _) in ended.items() if is_failed)
    died = sorted(set(begun) - set(ended)) if status else []
    result = [("again" if tagged(known[test]["sourceLocation"]) else "final", test) for test in failed]
    result += [("final", f"{test} (the program ended while it ran)") for test in died]
    ran = len(ended) + len(died)
    if not result and (status or not ran):
        ran += 1
        result.append(("final", f"the runner itself (status {status}, {len(ended)} tests ended)"))
    print("ran", ran)
    print("bad", len(result))
    if not died:
        for test in sorted(set(known) - set(begun) - set(ended)):
            print(f"skipped {test}: {skipped.get(test, 'no reason is given')}")
    for word, test in result:
        # A crash is final: nothing is tried again beside it.
        print("final" if died else word, test)


def durations(path):
    for test, (_, seconds) in read(path)[2].items():
        print(f"{seconds:.1f}\t{test}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("outcomes.py: give an event stream and the status of its run, or --durations and an event stream")
    if sys.argv[1] == "--durations":
        durations(sys.argv[2])
    else:
        main(sys.argv[1], int(sys.argv[2]))
