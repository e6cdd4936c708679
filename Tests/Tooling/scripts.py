"""Whether scripts that get wrong arguments, or nothing to work on, say so in words: no trace of a program, and a status that is not 0."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ["/usr/bin/python3", "-B"]
DEMO = "Services/Config/demo-catalogue.json"
# Those that take arguments, and those that need a cluster. Others take none, or hand all of theirs on to a program.
WRONG = [
    ["Shared/Tooling/build"], ["Shared/Tooling/build", "--nonsense"], ["Shared/Tooling/check", "--nonsense"], ["Shared/Tooling/contracts", "--nonsense"],
    ["Shared/Tooling/contracts", "--release", "x"], ["Shared/Tooling/documentation", "--nonsense"], ["Shared/Tooling/format", "--chekc"],
    ["Shared/Tooling/generate", "--chekc"], ["Shared/Tooling/images", "--nonsense"], ["Shared/Tooling/images", "x"], ["Shared/Tooling/links", "--nonsense"],
    ["Shared/Tooling/mvpd-letters"], ["Shared/Tooling/mvpd-letters", "--catalogue", "/nowhere", "--origin", "http://x"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", "README.md", "--origin", "http://x"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", DEMO, "--origin", "http://127.0.0.1:1"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", DEMO, "--origin", "nonsense"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", "Shared/Wire/Contracts/Released/contracts.json", "--origin", "x", "--metadata", "README.md"],
    ["Shared/Tooling/operations", "--nonsense"], ["Shared/Tooling/programs"], ["Shared/Tooling/programs", "--nonsense"],
    ["Shared/Tooling/release", "--nonsense"], ["Shared/Tooling/release", "x"], ["Shared/Tooling/traps", "--nonsense"], ["Shared/Tooling/unread", "--nonsense"],
    ["Tests/Cluster/Compose/run", "--nonsense"], ["Tests/Cluster/OpenApi/run", "x"], ["Tests/Cluster/Readme/run", "--nonsense"],
    ["Tests/Cluster/Readme/examples"], ["Tests/Cluster/Readme/examples", "README.md", "No such heading"], ["Tests/Cluster/Readme/terminal_tv.py"],
    ["Tests/Cluster/Readme/terminal_tv.py", "--compare", "README.md"],
    ["Tests/Fuzz/run", "--nonsense"], ["Tests/Fuzz/run", "5", "Nobody"], ["Tests/Hostile/run"], ["Tests/Hostile/run", "--nonsense"], ["Tests/run", "--nonsense"],
    ["Tests/run", "--only", "nothing"],
    *([*PYTHON, path] for path in (
        "Shared/Tooling/generator/generate.py", "Shared/Tooling/generator/literals.py", "Shared/Tooling/generator/sbom.py",
        "Shared/Tooling/compatibility/check.py", "Tests/Benchmarks/Console/large_catalogue.py", "Tests/Benchmarks/Strangers/strangers.py",
        "Tests/Cluster/OpenApi/facts.py", "Tests/Cluster/Year/year.py", "Tests/Tooling/outcomes.py", "Tests/Tooling/report.py", "Tests/Tooling/timed_build.py")),
    [*PYTHON, "Tests/Cluster/Year/year.py", "x"], [*PYTHON, "Tests/Cluster/Year/year.py", "0"],
]


class Scripts(unittest.TestCase):
    def test_wrong_arguments_are_told_in_words(self):
        with tempfile.TemporaryDirectory() as home:
            environment = os.environ | {"BOXOFFICE_HOME": home}
            for command in WRONG:
                with self.subTest(" ".join(command)):
                    ended = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
                    self.assertNotEqual(ended.returncode, 0)
                    self.assertNotIn("Traceback", ended.stderr)
                    self.assertTrue((ended.stderr + ended.stdout).strip(), "it says nothing")


unittest.main(verbosity=2)
