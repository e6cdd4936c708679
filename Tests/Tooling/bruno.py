"""The collection for Bruno is the one of the description, in Bruno's form: blocks of names with values, and blocks of text (its public grammar, Bru 2)."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import re
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("bruno", str(ROOT / "Shared/Tooling/bruno"))
bruno = importlib.util.module_from_spec(importlib.util.spec_from_loader("bruno", loader))
loader.exec_module(bruno)
TEXTS = {"body:json", "docs"}
BLOCK = re.compile(r"([a-z:-]+) (\{)\n(.*?)\n\}\n|(vars:secret) (\[)\n(.*?)\n\]\n", re.S)


def parsed(text):
    """The blocks of a file by name: of those of text the text, else pairs of names and values."""
    found, place = {}, 0
    while place < len(text):
        match = BLOCK.match(text, place)
        if match is None:
            raise AssertionError(f"no block begins at: {text[place:place + 80]!r}")
        name, content = match[1] or match[4], match[3] or match[6]
        if name in found:
            raise AssertionError(f"two blocks {name}")
        lines = content.split("\n")
        if any(line and not line.startswith("  ") for line in lines):
            raise AssertionError(f"a line of {name} is not indented")
        lines = [line[2:] for line in lines]
        found[name] = "\n".join(lines) if name in TEXTS else lines if match[4] else [pair(line) for line in lines]
        place = match.end() + (text[match.end():match.end() + 1] == "\n")
    return found


def pair(line):
    match = re.fullmatch(r"([^\s:\"{}]+): ?(.*)", line)
    if match is None:
        raise AssertionError(f"'{line}' is no name with a value")
    return match[1], match[2]


class Collection(unittest.TestCase):
    document = json.loads(bruno.DESCRIPTION.read_text())
    files = bruno.collection(document)

    def requests(self):
        for name, text in self.files.items():
            if name.endswith(".bru") and not name.endswith("folder.bru") and not name.startswith("environments/"):
                yield name, parsed(text)

    def test_is_current(self):
        bruno.main(["--check"])

    def test_has_each_call_once(self):
        wanted = sorted(item[method]["operationId"] for item in self.document["paths"].values() for method in bruno.METHODS if method in item)
        self.assertEqual(sorted(dict(blocks["meta"])["name"] for _, blocks in self.requests()), wanted)
        self.assertGreater(len(wanted), 200)

    def test_each_request_is_whole(self):
        for name, blocks in self.requests():
            with self.subTest(name):
                method = next(found for found in bruno.METHODS if found in blocks)
                call = dict(blocks[method])
                path, _, query = call["url"].partition("?")
                self.assertRegex(path, r"^\{\{(gateway|admin)\}\}/")
                self.assertEqual(re.findall(r"/:([A-Za-z]+)", path), [key for key, _ in blocks.get("params:path", [])])
                self.assertTrue(all(value and "/" not in value for _, value in blocks.get("params:path", [])))
                on = [(key, urllib.parse.unquote(value)) for key, value in blocks.get("params:query", []) if not key.startswith("~")]
                self.assertEqual(urllib.parse.parse_qsl(query, keep_blank_values=True), on)
                self.assertEqual(call["auth"] == "bearer", "auth:bearer" in blocks)
                if call["auth"] == "bearer":
                    self.assertRegex(dict(blocks["auth:bearer"])["token"], r"^\{\{(token|adminToken)\}\}$")
                self.assertEqual([key for key in blocks if key.startswith("body:")], [] if call["body"] == "none" else ["body:" + call["body"]])
                if call["body"] == "json":
                    json.loads(blocks["body:json"])
                self.assertTrue(blocks["docs"].strip())

    def test_holds_no_secret(self):
        environment = parsed(self.files["environments/Local.bru"])
        self.assertEqual(sorted(dict(environment["vars"])), ["admin", "gateway"])
        self.assertEqual([line.strip(" ,") for line in environment["vars:secret"]], ["token", "adminToken"])

    def test_what_is_stale_missing_or_too_much_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            known, bruno.FOLDER = bruno.FOLDER, pathlib.Path(folder) / "Bruno"
            try:
                bruno.main([])
                bruno.main(["--check"])
                for change in (lambda file: file.write_text("meta {\n}\n"), lambda file: file.unlink(), lambda file: (file.parent / "old.bru").write_text("x")):
                    bruno.main([])
                    change(bruno.FOLDER / "rest-v2/createV2Session.bru")
                    with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                        bruno.main(["--check"])
                    self.assertIn("rest-v2/", str(ended.exception))
            finally:
                bruno.FOLDER = known


unittest.main(verbosity=2)
