"""Each suite that starts clusters belongs to one run; what belongs to none, and what the list names in vain, is an error."""

import pathlib
import re
import unittest

import runs

LIST = """
# Words about it.
OuterTests/InnerTests   the foreign ones
OuterTests
OtherTests
"""
TIMING = r"^IntegrationTests\..*/quick\("
NAMES = [
    "IntegrationTests.OuterTests/InnerTests/first()",
    "IntegrationTests.OuterTests/InnerMostTests/second(_:)",
    "IntegrationTests.OuterTests/third()/OuterTests.swift:3:4",
    "IntegrationTests.OtherTests/fourth()",
    "IntegrationTests.OtherTests/quick()",
    "RpcTests.CallTests/fifth()",
]


class Selection(unittest.TestCase):
    def sorted_out(self, names, text=LIST):
        return runs.sorted_out(names, runs.listed(text), TIMING, {"RpcTests"})

    def test_each_test_has_the_run_of_its_suite(self):
        told, problems = self.sorted_out(NAMES)
        self.assertEqual(problems, [])
        self.assertEqual(told, {"the foreign ones": NAMES[:1], "OuterTests": NAMES[1:3], "OtherTests": NAMES[3:4]})

    def test_the_runner_takes_what_belongs_to_the_run(self):
        suites = runs.listed(LIST)
        told, _ = self.sorted_out(NAMES)
        for run, tests in told.items():
            words = [*runs.arguments(run, suites), "--skip", TIMING]
            wanted = [value for word, value in zip(words, words[1:]) if word == "--filter"]
            left = [value for word, value in zip(words, words[1:]) if word == "--skip"]
            taken = [name for name in NAMES if any(re.search(one, name) for one in wanted) and not any(re.search(one, name) for one in left)]
            self.assertEqual(taken, tests, run)

    def test_a_suite_that_is_in_no_run_is_an_error(self):
        _, problems = self.sorted_out([*NAMES, "IntegrationTests.FreshTests/sixth()"])
        self.assertEqual(problems, ["IntegrationTests.FreshTests/sixth(): its suite is not in Tests/Cluster/suites"])

    def test_a_target_that_nothing_runs_is_an_error(self):
        _, problems = self.sorted_out([*NAMES, "FreshTests.CallTests/sixth()"])
        self.assertEqual(problems, ["FreshTests.CallTests/sixth(): Tests/run runs no target FreshTests"])

    def test_a_suite_of_another_name_is_an_error(self):
        _, problems = self.sorted_out([*NAMES, "RpcTests.Calls/sixth()"])
        self.assertEqual(problems, ["RpcTests.Calls/sixth(): the name of a suite ends in Tests"])

    def test_a_suite_that_is_gone_is_an_error(self):
        _, problems = self.sorted_out(NAMES, LIST + "GoneTests\n")
        self.assertEqual(problems, ["Tests/Cluster/suites lists GoneTests, which has no test"])

    def test_the_list_names_suites_of_the_sources(self):
        sources = (runs.ROOT / "Tests/Cluster/IntegrationTests").rglob("*.swift")
        types = set(re.findall(r"\b(?:struct|class|enum|actor)\s+(\w+)", "\n".join(path.read_text(encoding="utf-8") for path in sources)))
        suites = runs.listed((runs.ROOT / "Tests/Cluster/suites").read_text(encoding="utf-8"))
        self.assertEqual([suite for suite in suites if not set(suite.split("/")) <= types], [])
        self.assertGreater(len(suites), 30)


if __name__ == "__main__":
    unittest.main()
