#!/usr/bin/env python3
"""What `Shared/Tooling/mentions` must find in a page, and what it must let pass."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("mentions", str(ROOT / "Shared/Tooling/mentions"))
mentions = importlib.util.module_from_spec(importlib.util.spec_from_loader("mentions", loader))
loader.exec_module(mentions)


class Page:
    """A page that is not in the repository."""

    def __init__(self, text, name="Page.md"):
        self.text, self.name = text, name

    def read_text(self, **_):
        return self.text

    def relative_to(self, _):
        return self.name


class Mentions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = mentions.Commands()

    def problems(self, text, *checks, name="Page.md"):
        listed, pages = mentions.listed, mentions.pages
        mentions.pages = lambda: [Page(text, name)]
        try:
            return [problem for check in checks for problem in check()]
        finally:
            mentions.listed, mentions.pages = listed, pages

    def of_commands(self, text):
        return self.problems(text, lambda: mentions.command_problems(self.commands))

    def test_commands(self):
        for text in ("`boxoffice statsu`", "`boxoffice person eraze --user ada`", "    ./Services/boxoffice catalogue export FILE", "```sh\nX=1 boxoffice nothing\n```",
                     "```sh\ncode=$(boxoffice callx config)\n```", "    docker compose run --rm --no-TTY boxoffice devise --as ada", "`boxoffice person export|eraze`"):
            self.assertEqual(len(self.of_commands(text)), 1, text)
        for text in ("`boxoffice status`", "The program `boxoffice` runs", "`boxoffice help mvpd add`", "    ./Services/boxoffice load gateway --rate 10", "`boxoffice person export|erase`",
                     "    chown boxoffice data", "    docker compose run --rm boxoffice device --as ada"):
            self.assertEqual(self.of_commands(text), [], text)

    def test_switches(self):
        for text in ("`boxoffice device --ass ada`", "```sh\nboxoffice conformance config \\\n    --levle minimal\n```", "    ./Services/up --detatch", "    ./Tests/run --everythnig",
                     "`--no-such-switch`", "    Shared/Tooling/release --trail 1.2.3"):
            self.assertEqual(len(self.of_commands(text)), 1, text)
        for text in ("`boxoffice device --as ada --no-opt-in --device-id tv-1`", "    ./Services/up --detach --replace config=127.0.0.1:7101", "`--level minimal`", "`boxoffice device | grep --colour x`"):
            self.assertEqual(self.of_commands(text), [], text)

    def test_scripts(self):
        self.assertEqual(len(self.of_commands("    Shared/Tooling/relaese 1.2.3")), 1)
        self.assertEqual(self.of_commands("    Shared/Tooling/release 1.2.3"), [])

    def test_settings(self):
        self.assertEqual(len(self.problems("`gateway.throtle.codes`, `limits.nothingReadsThis`", mentions.setting_problems)), 2)
        self.assertEqual(len(self.problems("| Key | Meaning |\n|---|---|\n| `nothingReadsThis` | x |\n", mentions.setting_problems, name="Services/Config/README.md")), 1)
        self.assertEqual(self.problems("`gateway.throttle.codes`, `limits.stopDelaySeconds`, `gateway.boxoffice`", mentions.setting_problems), [])

    def test_variables(self):
        self.assertEqual(len(self.problems("Set `BOXOFFICE_HOMME`.", mentions.variable_problems)), 1)
        self.assertEqual(self.problems("Set `BOXOFFICE_HOME`.", mentions.variable_problems), [])

    def test_files(self):
        self.assertEqual(len(self.problems("`SamlExpectation.swift`, `SignIn/SamlExpectations.swift`", mentions.file_problems)), 2)
        self.assertEqual(self.problems("`SamlExplanation/SamlExpectations.swift`, `config.proto`", mentions.file_problems), [])


if __name__ == "__main__":
    unittest.main()
