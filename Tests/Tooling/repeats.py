"""Which failures Tests/run tries again: those of tests that carry the tag .timing, and no others. And whether all that is not tried is counted, with the reason."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
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
        """What is told of tests that ended so: True passed, False failed, None never ended, "skipped" or the words of a condition never began."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "Some.swift")
            source.write_text(SOURCE, encoding="utf-8")
            records = [("test", {"kind": "suite", "id": "T.S"})]
            for name in results:
                place = {"_filePath": str(source), "line": LINES[name], "column": 6}
                records.append(("test", {"kind": "function", "id": f"T.S/{name}", "sourceLocation": place}))
            for name, passed in results.items():
                if isinstance(passed, str):
                    if passed != "skipped":
                        words = {"symbol": "skip", "text": f'Test {name}() skipped: "{passed}"'}
                        records.append(("event", {"kind": "testSkipped", "testID": f"T.S/{name}", "messages": [words]}))
                    continue
                records.append(("event", {"kind": "testStarted", "testID": f"T.S/{name}", "instant": {"absolute": 1.0}, "messages": []}))
                if passed is not None:
                    symbol = "pass" if passed else "fail"
                    records.append(("event", {"kind": "testEnded", "testID": f"T.S/{name}", "instant": {"absolute": 3.5}, "messages": [{"symbol": symbol}]}))
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

    def test_one_that_is_not_tried_is_named(self):
        self.assertEqual(self.told({"bare": True, "plain": "skipped"}, 0), ["ran 1", "bad 0", "skipped T.S/plain: no reason is given"])
        told = self.told({"bare": True, "plain": "PostgreSQL is not installed", "named": "needs root, and --long"}, 0)
        self.assertEqual(told[2:], ["skipped T.S/named: needs root, and --long", "skipped T.S/plain: PostgreSQL is not installed"])

    def test_a_crash_is_final_for_all(self):
        told = self.told({"bare": False, "named": None, "plain": True}, 139)
        self.assertEqual(told, ["ran 3", "bad 2", "final T.S/bare", "final T.S/named (the program ended while it ran)"])

    def test_a_runner_that_fails_is_a_failure(self):
        self.assertEqual(self.told({"plain": True}, 1)[:2], ["ran 2", "bad 1"])
        self.assertEqual(self.told({}, 0)[:2], ["ran 1", "bad 1"])


# Plays the bundle of the tests: `bare` passes from its second run on.
RUNNER = """\
#!/usr/bin/python3
import json, os, re, sys

arguments = dict(zip(sys.argv, sys.argv[1:]))
again = os.path.exists("begun")
open("begun", "w").close()
lines, passes = LINES, {"bare": again, "named": False, "plain": False, "several": True}
wanted = [name for name in passes if re.search(arguments["--filter"], f"T.S/{name}()/Some.swift:{lines[name]}:6")]
with open(arguments["--event-stream-output-path"], "w") as stream:
    for name in wanted:
        test = f"T.S/{name}()/Some.swift:{lines[name]}:6"
        place = {"_filePath": os.path.abspath("Some.swift"), "line": lines[name], "column": 6}
        for kind, payload in [
            ("test", {"kind": "function", "id": test, "sourceLocation": place}),
            ("event", {"kind": "testStarted", "testID": test, "instant": {"absolute": 1}, "messages": []}),
            ("event", {"kind": "testEnded", "testID": test, "instant": {"absolute": 3.5}, "messages": [{"symbol": "pass" if passes[name] else "fail"}]}),
        ]:
            stream.write(json.dumps({"kind": kind, "payload": payload}) + "\\n")
sys.exit(0 if all(passes[name] for name in wanted) else 1)
"""


class Summary(unittest.TestCase):
    def summary(self, command):
        """The lines of the report, after a run of the played bundle by this command."""
        here = pathlib.Path(__file__).resolve().parent
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "Tests/Tooling").mkdir(parents=True)
            for name in ["outcomes.py", "timing.py", "suites.sh"]:
                shutil.copy(here / name, root / "Tests/Tooling")
            (root / "Some.swift").write_text(SOURCE)
            runner = root / "runner"
            runner.write_text(RUNNER.replace("LINES", str(LINES), 1))
            runner.chmod(0o755)
            script = f"""set -euo pipefail
                work={folder}
                export BOXOFFICE_TEST_BUNDLE={runner}
                . Tests/Tooling/suites.sh
                {command} >&2
                printf '%s\\n' ${{repeats+"${{repeats[@]}}"}} ${{failures+"${{failures[@]}}"}} ${{absent+"${{absent[@]}}"}} "$passed $failed $skipped" """
            told = subprocess.run(["bash", "-c", script], cwd=root, env=os.environ, capture_output=True, text=True, check=False)
        return told.stdout.splitlines(), told.stderr

    LINES = [
        "passed: T.S/bare()/Some.swift:1:6",
        "failed again: T.S/named()/Some.swift:2:6",
        "T: T.S/plain()/Some.swift:8:6",
        "T: T.S/named()/Some.swift:2:6",
        "2 2 0",
    ]

    def test_each_repeat_is_a_line(self):
        told, complaints = self.summary("swift_tests T --no-parallel --filter '^T[.]'")
        self.assertEqual(told, self.LINES, complaints)

    def test_runs_side_by_side_are_counted_alike(self):
        told, complaints = self.summary("side_by_side 2 $'T\\t-\\t--no-parallel\\t--filter\\t^T[.]'")
        self.assertEqual(told, self.LINES, complaints)

    def test_a_run_that_leaves_nothing_is_a_failure(self):
        told, _ = self.summary("export BOXOFFICE_TEST_BUNDLE=/nowhere; side_by_side 1 $'T\\t-\\t--filter\\t^T[.]'")
        self.assertIn("T: the runner itself (status 127, 0 tests ended)", told)

    def command(self, *lines, status=0):
        """The lines of the report, after a command that printed these."""
        words = " ".join(f"'{line}'" for line in lines)
        return self.summary(f"check C bash -c 'printf \"%s\\\\n\" \"$@\"; exit {status}' printed {words}")[0]

    def test_a_part_that_is_not_tried_is_counted(self):
        lines = ["tried", "skipped: PostgreSQL: it is not installed", "--    two hosts: not run: only root may", "is skipped: not a line of its own"]
        self.assertEqual(self.command(*lines), ["C: PostgreSQL: it is not installed", "C: two hosts: not run: only root may", "1 0 2"])

    def test_a_command_that_tries_nothing_has_not_passed(self):
        self.assertEqual(self.command("skipped: only root can boot", status=77), ["C: only root can boot", "0 0 1"])
        # It has to say why.
        self.assertEqual(self.command("", status=77), ["C", "0 1 0"])

    def test_a_failure_stays_one_whatever_was_skipped(self):
        self.assertEqual(self.command("skipped: a part", status=1), ["C", "0 1 0"])


unittest.main(verbosity=2)
