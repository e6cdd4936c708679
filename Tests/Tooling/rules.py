#!/usr/bin/env python3
"""What `Shared/Tooling/rules` must find: a fault planted for each rule in a copy of the tree, and the files of each pattern under another name."""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("rules", str(ROOT / "Shared/Tooling/rules"))
rules = importlib.util.module_from_spec(importlib.util.spec_from_loader("rules", loader))
loader.exec_module(rules)
RULES = {rule.name: rule for rule in rules.RULES}
# In two parts, as the rules read this file too.
KEY = " ".join(["-----BEGIN", "RSA", "PRIVATE", "KEY-----"])
OPEN = "TO" + "DO"


class Planted(rules.Tree):
    """The tree with a fault: a text that was written, or added, to one file, or the files of a pattern under another name.

    Only Package.swift is really copied, since the package manager reads it."""

    def __init__(self, sound, name="", text="", without=()):
        super().__init__(sound.root)
        passed_over = [rules.expression(pattern) for pattern in without]
        self.files = sorted(each for each in {*sound.files, *([name] if name else [])} if not any(pattern.fullmatch(each) for pattern in passed_over))
        self.texts, self.imported = dict(sound.texts), {each: modules for each, modules in sound.imported.items() if each != name}
        self.hits = {key: hits for key, hits in sound.hits.items() if key[0] != name}
        if name:
            self.texts[name] = (sound.text(name) if name in sound.files else "") + text
        if name == "Package.swift":
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, name).write_text(self.texts[name])
                self.targets = rules.targets(folder)
        else:
            self.targets = sound.targets


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sound = rules.Tree(ROOT)
        # What was read once serves each of the trees with a fault.
        cls.problems = [problem for rule in rules.RULES for problem in rule.problems(cls.sound)]

    def tree(self, **fault):
        return Planted(self.sound, **fault)

    def planted(self, rule, name, text):
        return list(RULES[rule].problems(self.tree(name=name, text=text)))

    def finds(self, rule, name, text, *words):
        problems = self.planted(rule, name, text)
        self.assertEqual(len(problems), 1, f"{rule}: {problems}")
        for word in words or [name]:
            self.assertIn(word, problems[0])

    def passes(self, rule, name, text):
        self.assertEqual(self.planted(rule, name, text), [])

    def module(self, service):
        """A file of a service's logic, wherever its modules are."""
        target = next(target for target in self.sound.logic if target.folder.startswith(f"Services/{service}/"))
        return self.sound.owned[target.name][0], target.name

    def test_the_tree_as_it_is(self):
        self.assertEqual(self.problems, [])

    def test_every_rule_fails_when_a_pattern_matches_nothing(self):
        for rule in rules.RULES:
            for pattern in rule.patterns(self.sound)[:12]:
                problems = list(rule.blind_spots(self.tree(without=[pattern])))
                self.assertTrue(problems, f"{rule.name}: {pattern}")
                self.assertIn(next(rule.problems(self.tree(without=[pattern]))), problems)

    def test_a_permission_fails_when_it_matches_nothing(self):
        for pattern in rules.LOOSE_READERS:
            problems = list(RULES["strict JSON"].problems(self.tree(without=[pattern])))
            self.assertIn(f"strict JSON: '{pattern}' may read JSON loosely, and matches no file", problems)

    def test_top_level(self):
        self.finds("top level", "Notes/one.txt", "x", "Notes")

    def test_private_keys(self):
        self.finds("private keys", "Tests/Support/key.txt", f"{KEY}\n")

    def test_mains(self):
        self.finds("mains", "Services/Config/Main/Long.swift", "//\n" * 121)
        self.passes("mains", "Services/Config/Main/Short.swift", "//\n" * 120)

    def test_files_without_a_target(self):
        self.finds("targets", "Services/Gateway/Elsewhere/Stray.swift", "import Rpc\n")

    def test_logic_stays_off_the_wire(self):
        for service in ("Authentication", "Authorization", "AutoSignIn", "Config", "Gateway", "Sandbox"):
            name, _ = self.module(service)
            self.finds("wire", name, "\ninternal import Rpc\n")
        for line in ("import Frames", "@preconcurrency public import COpenSSL", "package import struct Transport.Identity", "    @testable import ServiceKit"):
            self.finds("wire", name, f"\n{line}\n")
        self.passes("wire", "Services/Config/Main/ConfigMain.swift", "\nimport Rpc\n")
        self.passes("wire", name, "\nimport RpcLike\n// import Rpc\n")

    def test_logic_may_not_even_depend_on_the_wire(self):
        _, target = self.module("Gateway")
        self.finds("wire", "Package.swift", f'\nfor target in package.targets where target.name == "{target}" {{ target.dependencies.append("Rpc") }}\n', target, "Rpc")

    def test_services_stand_alone(self):
        _, gateway = self.module("Gateway")
        name, own = self.module("Config")
        self.finds("services alone", name, f"\ninternal import {gateway}\n")
        self.finds("services alone", "Services/Config/Main/Other.swift", f"@testable private import {gateway}\n")
        self.passes("services alone", "Services/Config/Main/Other.swift", f"import {own}\nimport Rpc\n")
        beside = next(target for target in self.sound.in_swift if rules.service_of(target.folder) not in (None, *self.sound.services))
        self.finds("services alone", f"{beside.folder}/Other.swift", f"import {gateway}\n")
        self.finds("services alone", name, f"\nimport {beside.name}\n")

    def test_a_target_imports_what_it_lists(self):
        name, target = self.module("Authorization")
        self.finds("dependencies", name, "\nimport Hummingbird\n", name, "Hummingbird", target)
        self.finds("dependencies", "Tests/Unit/ClocksTests/Other.swift", "@testable import Rpc\n")
        self.passes("dependencies", name, "\nimport Foundation\n")

    def test_a_target_that_loses_its_own_list(self):
        emptied = {"StrictJson", "Tokens", self.module("Authorization")[1], "ChaosSuite", "ClocksTests"}
        line = f"for target in package.targets where {json.dumps(sorted(emptied))}.contains(target.name) {{ target.dependencies = [] }}"
        problems = self.planted("dependencies", "Package.swift", f"\n{line}\n")
        self.assertEqual({re.search(r"the dependencies of (\w+) ", problem)[1] for problem in problems}, emptied)

    def test_a_list_for_all_services_lets_none_import_more_than_it_names(self):
        """A service's logic that lists what every service imports, and nothing of its own."""
        package = (ROOT / "Package.swift").read_text()
        _, target = self.module("Gateway")
        common = "dependencies([logic])" if re.search(r"^let logic\b", package, re.M) else '["Clocks", "Contracts", "Faults", "Octets"]'
        line = f'for target in package.targets where target.name == "{target}" {{ target.dependencies = {common} }}'
        problems = self.planted("dependencies", "Package.swift", f"\n{line}\n")
        self.assertTrue([problem for problem in problems if f"the dependencies of {target} " in problem], problems)

    def test_octets(self):
        self.finds("octets", "Shared/Client/AccessEnabler/Other.swift", "import Foundation\n")
        self.passes("octets", "Shared/Client/AccessEnabler/Other.swift", "import Foundation\ninternal import Octets\n")

    def test_strict_json(self):
        name, _ = self.module("Authentication")
        for reader in ("JSONDecoder", "JSONSerialization", "JSON5Decoder"):
            self.finds("strict JSON", name, f"\nlet reader = {reader}()\n")
        self.finds("strict JSON", "Shared/Wire/Rpc/Other.swift", "let reader = JSONDecoder()\n")
        self.passes("strict JSON", "Services/Sandbox/Main/Other.swift", "let reader = JSONDecoder()\n")

    def test_ends_of_programs(self):
        self.finds("ends of programs", "Services/Config/Main/Other.swift", "func end() { exit(1) }\n")
        self.passes("ends of programs", "Services/Config/Main/Other.swift", "func exit(_ x: Int) { Self.exit(1); left.exit(1) }\n")

    def test_open_ends(self):
        for kind in ("swift", "c", "h", "py", "sh"):
            self.finds("open ends", f"Tests/Support/Other.{kind}", f"// {OPEN}: more\n")
        self.passes("open ends", "Tests/Support/Other.swift", f"// {OPEN}(#12): more\n")

    def test_the_program(self):
        """A tree of a few files on disk: exit statuses, and what the program runs besides."""
        with tempfile.TemporaryDirectory() as folder:
            tooling = pathlib.Path(folder, "Shared/Tooling")
            tooling.mkdir(parents=True)
            shutil.copy(ROOT / "Shared/Tooling/rules", tooling)
            main = f"if __name__ == \"__main__\":\n    RULES = [rule for rule in RULES if rule.name in {('private keys', 'open ends')}]\n"
            (tooling / "rules").write_text((tooling / "rules").read_text().replace('if __name__ == "__main__":\n', main))
            for kind in ("swift", "c", "h", "py", "sh"):
                pathlib.Path(folder, f"Some.{kind}").write_text("//\n")

            def ends(**other):
                for name in ("links", "mentions", "traps", "operations"):
                    (tooling / name).write_text(f"#!/bin/sh\nexit {other.get(name, 0)}\n")
                    (tooling / name).chmod(0o755)
                subprocess.run("git init --quiet && git add --all", shell=True, cwd=folder, check=True)
                done = subprocess.run([tooling / "rules"], capture_output=True, text=True)
                return done.returncode, done.stderr

            self.assertEqual(ends(), (0, ""))
            for name in ("links", "mentions", "traps", "operations"):
                self.assertEqual(ends(**{name: 3}), (1, ""))
            pathlib.Path(folder, "key.txt").write_text(f"{KEY}\n")
            self.assertEqual(ends(), (1, "private keys: a private key is committed: key.txt\n"))
            pathlib.Path(folder, "Some.sh").unlink()
            self.assertEqual(len(ends()[1].splitlines()), 2)

    def test_no_rule_is_left_out(self):
        tested = set(re.findall(r'self\.(?:finds|planted)\("([^"]+)"', pathlib.Path(__file__).read_text()))
        self.assertEqual(tested, set(RULES))


if __name__ == "__main__":
    unittest.main()
