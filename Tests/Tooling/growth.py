"""Whether a run tells what has grown, and what that costs is read from the compilers that ran (report.py, timed_build.py)."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import report
import timed_build
import timing

OURS = {"Mine"}
KEPT = {"pace": 0.1, "builds": {"release": {"mine": 100, "others": 50}}, "suites": {"Pages": 100, "Short": 4}}


def build(mine, others):
    return {"release": {"wall": 1, "cpu": mine + others, "modules": {"Mine": mine, "Theirs": others - 10, report.YARDSTICK: 10, "(links)": 99}}}


class Growth(unittest.TestCase):
    def grown(self, builds=None, suites=None, pace=0.1):
        return [line.split(" takes ")[0] for line in report.grown(KEPT, builds or {}, suites or {}, pace, OURS)]

    def test_a_build_is_compared_in_proportion_to_packages(self):
        self.assertEqual(self.grown(build(104, 50)), [])
        self.assertEqual(self.grown(build(106, 50)), ["grown: the release build"])
        # A machine half as fast.
        self.assertEqual(self.grown(build(208, 100)), [])
        self.assertEqual(self.grown(build(212, 100)), ["grown: the release build"])

    def test_a_build_that_did_not_begin_from_nothing_is_not_compared(self):
        builds = build(300, 50)
        del builds["release"]["modules"][report.YARDSTICK]
        self.assertEqual(self.grown(builds), [])

    def test_a_suite_is_compared_in_proportion_to_the_machine(self):
        self.assertEqual(self.grown(suites={"Pages": 124, "New": 500}), [])
        self.assertEqual(self.grown(suites={"Pages": 126}), ["grown: Pages"])
        self.assertEqual(self.grown(suites={"Pages": 240}, pace=0.2), [])
        # Some seconds more are no growth.
        self.assertEqual(self.grown(suites={"Short": 12}), [])

    def test_the_package_names_its_targets(self):
        known = report.targets(pathlib.Path(__file__).resolve().parents[2])
        for name in ["Octets", "GatewayEdge", "gateway", "GatewayMain", "CContracts", "ChaosSuite", "RpcTests", "ClusterCommands", "SandboxService"]:
            self.assertEqual(name in known, name != "gateway", name)


class Record(unittest.TestCase):
    def test_modules_are_named_by_the_compilers_that_worked_for_them(self):
        named = {
            "Rpc": ["/usr/bin/swift-frontend", "-frontend", "-c", "A.swift", "-module-name", "Rpc", "-o", "/x/Rpc.build/A.o"],
            "CNIOBoringSSL": ["/usr/bin/clang", "-c", "/x/a.cc", "-o", "/y/.build/debug/CNIOBoringSSL.build/a.cc.o"],
            "(links)": ["/usr/bin/ld.lld", "-o", "/y/.build/debug/gateway"],
            "(package manager)": ["/usr/bin/swift-build"],
        }
        for name, words in named.items():
            self.assertEqual(timed_build.module("\0".join(words).encode()), name)

    def test_all_cpu_seconds_are_in_the_record(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "record")
            # Long enough to be seen by who looks ten times a second, on a fast machine and beside others.
            work = f"{sys.executable} -c 'import time\nwhile time.process_time() < 1: pass' -module-name Busy"
            self.assertEqual(timed_build.main(str(file), ["/bin/sh", "-c", f"{work}; {work}; exit 3"]), 3)
            record = json.loads(file.read_text())
        self.assertGreater(record["modules"]["Busy"], 1.5)
        self.assertAlmostEqual(sum(record["modules"].values()), record["cpu"], delta=0.3)


class Timing(unittest.TestCase):
    def test_tests_that_bound_a_time_are_found_by_their_tag(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "SomeTests")
            target.mkdir()
            (target / "A.swift").write_text(
                '@Test(.tags(.timing)) func one() {}\n@Test("says .tags(.timing)") func two() {}\n@Test("x", .tags(.slow, .timing),\n arguments: [1]) func three(n: Int) {}\n'
            )
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                timing.main([str(target)])
        self.assertEqual(printed.getvalue(), "^(SomeTests\\..*/one|SomeTests\\..*/three)\\(\n")


unittest.main(verbosity=2)
