"""Whether `Shared/Tooling/operations` finds what systemd passes over in a unit, and says which tools it lacks."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("operations_tool", str(ROOT / "Shared/Tooling/operations"))
operations = importlib.util.module_from_spec(importlib.util.spec_from_loader("operations_tool", loader))
loader.exec_module(operations)


class Operations(unittest.TestCase):
    def verified(self, file="", former="", text=""):
        """What is said of the units, in one of which a text is another."""
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root, "etc/systemd/system")
            shutil.copytree(ROOT / "Shared/Documents/Operations/systemd", folder)
            if file:
                content = (folder / file).read_text()
                self.assertIn(former, content)
                (folder / file).write_text(content.replace(former, text))
            return "\n".join(operations.verification_problems(pathlib.Path(root), folder))

    def test_units(self):
        if not shutil.which("systemd-analyze"):
            print("skipped: faults of units: there is no systemd-analyze (Debian: systemd)")
            return
        self.assertEqual(self.verified(), "")
        self.assertIn("Restartt", self.verified("boxoffice-.service.d/hardening.conf", "Restart=on-failure", "Restartt=on-failure"))
        self.assertIn("soon", self.verified("boxoffice-.service.d/hardening.conf", "RestartSec=5", "RestartSec=soon"))
        self.assertIn("Instal", self.verified("boxoffice-config.service", "[Install]", "[Instal]"))
        self.assertIn("systemd-analyze", self.verified("boxoffice-config.service", "ExecStart=/usr", "ExecStart=usr"))

    def told(self, *arguments):
        """Status and words, where none of the tools is installed."""
        said, complaint = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(operations.shutil, "which", lambda _: None), mock.patch.object(sys, "argv", ["operations", *arguments]),
            contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint),
        ):
            return operations.main(), said.getvalue(), complaint.getvalue()

    def test_what_is_left_out_is_said(self):
        status, said, complaint = self.told()
        lines = said.splitlines()
        self.assertEqual((status, len(lines), complaint), (0, len(operations.TRIALS), ""))
        for line, (subject, tools, _) in zip(lines, operations.TRIALS):
            self.assertEqual(line, f"skipped: {subject}: {' and '.join(tools)}: not installed")

    def test_all_misses_no_tool(self):
        status, said, complaint = self.told("--all")
        self.assertEqual((status, said), (1, ""))
        self.assertEqual(len(complaint.splitlines()), len(operations.TRIALS))


unittest.main(verbosity=2)
