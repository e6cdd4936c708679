"""Whether scripts that get wrong arguments, or nothing to work on, say so in words: no trace of a program, and a status that is not 0."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ["/usr/bin/python3", "-B"]
DEMO = "Services/Config/demo-catalogue.json"
# Those that take arguments, and those that need a cluster. Others take none, or hand all of theirs on to a program.
WRONG = [
    ["Shared/Tooling/bruno", "--chekc"], ["Tests/Cluster/OpenApi/record", "--chekc"],
    ["Shared/Tooling/build"], ["Shared/Tooling/build", "--nonsense"], ["Shared/Tooling/check", "--nonsense"], ["Shared/Tooling/contracts", "--nonsense"],
    ["Shared/Tooling/contracts", "--release", "x"], ["Shared/Tooling/documentation", "--nonsense"], ["Shared/Tooling/format", "--chekc"],
    ["Shared/Tooling/generate", "--chekc"], ["Shared/Tooling/images", "--nonsense"], ["Shared/Tooling/images", "x"], ["Shared/Tooling/links", "--nonsense"],
    ["Shared/Tooling/mvpd-letters"], ["Shared/Tooling/mvpd-letters", "--catalogue", "/nowhere", "--origin", "http://x"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", "README.md", "--origin", "http://x"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", DEMO, "--origin", "http://127.0.0.1:1"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", DEMO, "--origin", "nonsense"],
    ["Shared/Tooling/mvpd-letters", "--catalogue", "Shared/Wire/Contracts/Released/contracts.json", "--origin", "x", "--metadata", "README.md"],
    ["Shared/Tooling/operations", "--nonsense"], ["Shared/Tooling/programs"], ["Shared/Tooling/programs", "--nonsense"],
    ["Shared/Tooling/release", "--nonsense"], ["Shared/Tooling/release", "x"], ["Shared/Tooling/unpacked"], ["Shared/Tooling/unpacked", "../x", "y"], ["Shared/Tooling/traps", "--nonsense"], ["Shared/Tooling/unread", "--nonsense"],
    ["Tests/Cluster/Alerts/run", "--nonsense"], ["Tests/Cluster/Alerts/run", "--only"], ["Tests/Cluster/Release/package"], ["Tests/Cluster/Release/package", "x"],
    ["Tests/Tooling/with_tools"], ["Tests/Cluster/TwoReleases/run", "--nonsense"], ["Tests/Cluster/TwoReleases/run", "--former"],
    ["Tests/Cluster/TwoReleases/run", "--only", "x"], ["Shared/Tooling/former-release"], ["Shared/Tooling/former-release", "--nonsense"], ["Tests/Cluster/Compose/run", "--nonsense"], ["Tests/Cluster/OpenApi/run", "x"], ["Tests/Cluster/Readme/run", "--nonsense"],
    ["Tests/Cluster/Readme/examples"], ["Tests/Cluster/Readme/examples", "README.md", "No such heading"], ["Tests/Cluster/Readme/terminal_tv.py"],
    ["Tests/Cluster/Readme/terminal_tv.py", "--compare", "README.md"],
    ["Tests/Fuzz/run", "--nonsense"], ["Tests/Fuzz/run", "5", "Nobody"], ["Tests/Hostile/run"], ["Tests/Hostile/run", "--nonsense"], ["Tests/run", "--nonsense"],
    ["Tests/run", "--only", "nothing"],
    ["Tests/Tooling/Mutants/run", "--nonsense"], ["Tests/Tooling/Mutants/run", "--folders", "Services/Nobody"],
    *([*PYTHON, path] for path in (
        "Shared/Tooling/generator/generate.py", "Shared/Tooling/generator/literals.py", "Shared/Tooling/generator/sbom.py",
        "Shared/Tooling/compatibility/check.py", "Tests/Benchmarks/Console/large_catalogue.py", "Tests/Benchmarks/Strangers/strangers.py",
        "Tests/Cluster/OpenApi/facts.py", "Tests/Cluster/Year/year.py", "Tests/Cluster/TwoReleases/stores.py", "Tests/Tooling/outcomes.py", "Tests/Tooling/report.py", "Tests/Tooling/timed_build.py")),
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

    def test_whoever_leaves_something_out_is_counted(self):
        """What Tests/run counts begins with 'skipped:'; a script that tries nothing ends with 77. Other words for that are lost."""
        listed = subprocess.run(["git", "ls-files", "Tests"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        scripts = {name: (ROOT / name).read_text() for name in listed if (ROOT / name).is_file() and (ROOT / name).read_bytes()[:2] == b"#!"}
        self.assertGreater(len(scripts), 40)
        for name, text in scripts.items():
            for line in text.splitlines():
                with self.subTest(f"{name}: {line}"):
                    said = re.search(r"\b(?:echo|print\()\W*\"(.*(?:not installed|not tried|cannot be (?:had|fetched)|are tried\b).*)", line)
                    if said and ">&2" not in line:
                        self.assertRegex(said.group(1), "^skipped: ")
            if "exit 77" in text:
                self.assertIn("skipped: ", text, name)


unittest.main(verbosity=2)
