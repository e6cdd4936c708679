"""Which failures Tests/run tries again: those of tests that carry the tag .timing, and no others."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import outcomes

SOURCE = '''\
    @Test(.tags(.timing)) func bare() {}
    @Test("a name", .tags(.timing), arguments: [1, 2])
    func named(number: Int) {}
    @Test(
        "has .tags(.timing) in its name",
        arguments: [1])
    func untagged(number: Int) {}
    @Test func plain() {}
    @Test(.tags(.slow, .timing)) func several() {}
'''
LINES = {"bare": 1, "named": 2, "untagged": 4, "plain": 8, "several": 9}


class Repeats(unittest.TestCase):
    def told(self, results, status):
        """What is told of tests that ended so: True passed, False failed, None never ended."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "Some.swift")
            source.write_text(SOURCE, encoding="utf-8")
            records = [("test", {"kind": "suite", "id": "T.S"})]
            for name in results:
                place = {"_filePath": str(source), "line": LINES[name], "column": 6}
                records.append(("test", {"kind": "function", "id": f"T.S/{name}", "sourceLocation": place}))
            for name, passed in results.items():
                records.append(("event", {"kind": "testStarted", "testID": f"T.S/{name}", "messages": []}))
                if passed is not None:
                    symbol = "pass" if passed else "fail"
                    records.append(("event", {"kind": "testEnded", "testID": f"T.S/{name}", "messages": [{"symbol": symbol}]}))
            # A suite ends as its tests do, and is no test.
            records.append(("event", {"kind": "testEnded", "testID": "T.S", "messages": [{"symbol": "fail"}]}))
            stream = pathlib.Path(folder, "events")
            lines = [json.dumps({"kind": kind, "payload": payload}) for kind, payload in records]
            stream.write_text("\n".join(lines) + "\n" + '{"kind": "ev', encoding="utf-8")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                outcomes.main(str(stream), status)
            return printed.getvalue().splitlines()

    def test_all_passed(self):
        self.assertEqual(self.told({"bare": True, "plain": True}, 0), ["ran 2", "bad 0"])

    def test_only_tagged_ones_are_tried_again(self):
        self.assertEqual(
            self.told(dict.fromkeys(LINES, False), 1),
            ["ran 5", "bad 5", "again T.S/bare", "again T.S/named", "final T.S/plain", "again T.S/several", "final T.S/untagged"],
        )

    def test_a_crash_is_final_for_all(self):
        told = self.told({"bare": False, "named": None, "plain": True}, 139)
        self.assertEqual(told, ["ran 3", "bad 2", "final T.S/bare", "final T.S/named (the program ended while it ran)"])

    def test_a_runner_that_fails_is_a_failure(self):
        self.assertEqual(self.told({"plain": True}, 1)[:2], ["ran 2", "bad 1"])
        self.assertEqual(self.told({}, 0)[:2], ["ran 1", "bad 1"])


unittest.main(verbosity=2)
