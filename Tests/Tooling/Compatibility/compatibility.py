"""The checker of the contracts' compatibility: each rule has a change that it catches and one beside it that it allows."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Shared/Tooling/compatibility"))

import check  # noqa: E402
from facts import facts  # noqa: E402
from rules import breaks  # noqa: E402

RELEASED = """syntax = "proto3";
package shop.v1;

service Shop {
  rpc Find(Query) returns (Item) {
    option idempotency_level = NO_SIDE_EFFECTS;
  }
  rpc Watch(Query) returns (stream Item);
}

message Query {
  reserved 4, 10 to 12;
  reserved "colour";
  string text = 1;
  uint32 limit = 2;
  oneof order {
    bool by_price = 5;
    bool by_name = 6;
  }
}

message Item {
  string id = 1;
  repeated string labels = 2;
  Kind kind = 3;
}

enum Kind {
  reserved 9;
  KIND_UNKNOWN = 0;
  KIND_BOOK = 1;
}

message Receipt {}
message Parcel {}
enum Paid { PAID_NO = 0; }
service Till { rpc Pay(Item) returns (Receipt); }
"""

# rule, what is replaced by what, and a part of the message; the same text is replaced in both.
CAUGHT = [
    ("package-changed", "package shop.v1;", "package shop.v2;", "was shop.v1 and is shop.v2"),
    ("message-removed", "message Parcel {}", "", "shop.v1.Parcel"),
    ("enum-removed", "enum Paid { PAID_NO = 0; }", "", "shop.v1.Paid"),
    ("service-removed", "service Till { rpc Pay(Item) returns (Receipt); }", "", "shop.v1.Till"),
    ("field-removed", "  uint32 limit = 2;\n", "", "limit = 2"),
    ("field-removed", "  uint32 limit = 2;\n", "  reserved 2;\n  reserved \"limit\";\n", "limit = 2"),
    ("field-renumbered", "uint32 limit = 2;", "uint32 limit = 3;", "limit = 2 has the number 3"),
    ("field-renamed", "uint32 limit = 2;", "uint32 most = 2;", "is called most"),
    ("field-renamed", "uint32 limit = 2;", "uint32 limit = 2 [json_name = \"most\"];", "(most in JSON)"),
    ("field-retyped", "uint32 limit = 2;", "uint64 limit = 2;", "was 'uint32' and is 'uint64'"),
    ("field-retyped", "Kind kind = 3;", "Query kind = 3;", "was 'shop.v1.Kind' and is 'shop.v1.Query'"),
    ("field-label", "repeated string labels = 2;", "string labels = 2;", "was 'repeated' and is 'singular'"),
    ("field-label", "string id = 1;", "optional string id = 1;", "was 'singular' and is 'optional'"),
    ("field-oneof", "bool by_price = 5;\n    bool by_name = 6;\n  }", "bool by_price = 5;\n  }\n  bool by_name = 6;", "was 'order' and is ''"),
    ("field-oneof", "oneof order", "oneof sequence", "was 'order' and is 'sequence'"),
    ("enum-value-removed", "  KIND_BOOK = 1;\n", "", "KIND_BOOK = 1 is gone"),
    ("enum-value-renumbered", "KIND_BOOK = 1;", "KIND_BOOK = 2;", "has the number 2"),
    ("enum-value-renamed", "KIND_BOOK = 1;", "KIND_NOVEL = 1;", "has another name"),
    ("number-reused", "reserved 4, 10 to 12;", "string shade = 4;", "shade uses the reserved number 4"),
    ("number-reused", "reserved 9;\n  KIND_UNKNOWN = 0;", "KIND_UNKNOWN = 0;\n  KIND_GAME = 9;", "KIND_GAME uses the reserved number 9"),
    ("name-reused", "reserved \"colour\";", "string colour = 7;", "colour uses a reserved name"),
    ("reserved-dropped", "reserved 4, 10 to 12;", "reserved 4, 10 to 11;", "no longer reserves 10 to 12"),
    ("reserved-dropped", "reserved \"colour\";", "", "no longer reserves the name colour"),
    ("method-removed", "  rpc Watch(Query) returns (stream Item);\n", "", "shop.v1.Shop.Watch is gone"),
    ("method-retyped", "rpc Pay(Item)", "rpc Pay(Query)", "request was 'shop.v1.Item' and is 'shop.v1.Query'"),
    ("method-retyped", "returns (Receipt)", "returns (Item)", "response was 'shop.v1.Receipt'"),
    ("method-streaming", "returns (stream Item)", "returns (Item)", "was 'response' and is 'no'"),
    ("method-streaming", "rpc Pay(Item)", "rpc Pay(stream Item)", "was 'no' and is 'request'"),
    ("method-idempotency", "NO_SIDE_EFFECTS", "IDEMPOTENT", "was 'NO_SIDE_EFFECTS' and is 'IDEMPOTENT'"),
]

ALLOWED = [
    ("package-changed", "package shop.v1;", "package shop.v1;\noption java_package = \"example.shop\";"),
    ("message-removed", "message Parcel {}", "message Parcel {}\nmessage Refund {}"),
    ("enum-removed", "enum Paid { PAID_NO = 0; }", "enum Paid { PAID_NO = 0; }\nenum Sent { SENT_NO = 0; }"),
    ("service-removed", "service Till {", "service Counter { rpc Pay(Item) returns (Receipt); }\nservice Till {"),
    ("field-removed", "uint32 limit = 2;", "uint32 limit = 2 [deprecated = true];"),
    ("field-renumbered", "  string text = 1;\n  uint32 limit = 2;", "  uint32 limit = 2;\n  string text = 1;"),
    ("field-renamed", "uint32 limit = 2;", "// At most 100.\n  uint32 limit = 2;\n  string most = 13;"),
    ("field-retyped", "uint32 limit = 2;", "uint32 limit = 2;\n  uint64 limit_of_all = 3;"),
    ("field-label", "repeated string labels = 2;", "repeated string labels = 2;\n  optional string title = 4;"),
    ("field-oneof", "bool by_name = 6;", "bool by_name = 6;\n    bool by_age = 7;"),
    ("enum-value-removed", "KIND_BOOK = 1;", "KIND_BOOK = 1 [deprecated = true];"),
    ("enum-value-renumbered", "KIND_BOOK = 1;", "KIND_BOOK = 1;\n  KIND_GAME = 2;"),
    ("enum-value-renamed", "KIND_BOOK = 1;", "KIND_BOOK = 1; // paper"),
    ("number-reused", "reserved 4, 10 to 12;", "reserved 4, 10 to 12;\n  string shade = 13;"),
    ("name-reused", "reserved \"colour\";", "reserved \"colour\", \"color\";\n  string shade = 13;"),
    ("reserved-dropped", "reserved 4, 10 to 12;", "reserved 4, 10 to 15;"),
    ("method-removed", "rpc Watch(Query) returns (stream Item);", "rpc Watch(Query) returns (stream Item);\n  rpc Sell(Item) returns (Receipt);"),
    ("method-retyped", "rpc Pay(Item) returns (Receipt);", "rpc Pay(Item) returns (Receipt); rpc Ask(Query) returns (Receipt);"),
    ("method-streaming", "service Till {", "service Till { rpc Follow(Item) returns (stream Receipt);"),
    ("method-idempotency", "service Till {", "service Till { rpc Price(Item) returns (Item) { option idempotency_level = IDEMPOTENT; }"),
]


def described(text, folder):
    (pathlib.Path(folder) / "shop.proto").write_text(text)
    return facts(check.descriptor_set(folder))


class Compatibility(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.released, _ = described(RELEASED, folder)

    def breaks_of(self, old, new):
        self.assertEqual(RELEASED.count(old), 1, old)
        with tempfile.TemporaryDirectory() as folder:
            return breaks(self.released, *described(RELEASED.replace(old, new), folder))

    def test_each_breaking_change_is_named_with_rule_and_place(self):
        for rule, old, new, text in CAUGHT:
            with self.subTest(rule, new=new):
                found = [one for one in self.breaks_of(old, new) if one.rule == rule]
                self.assertTrue(any(text in one.text for one in found), f"{rule} of {new!r}: {found}")
                self.assertRegex(found[0].place, r"^shop\.proto(:[0-9]+)?$")

    def test_what_may_change_is_let_through(self):
        for rule, old, new in ALLOWED:
            with self.subTest(rule, new=new):
                self.assertEqual(self.breaks_of(old, new), [])

    def test_every_rule_has_a_change_that_it_catches_and_one_that_it_allows(self):
        source = (ROOT / "Shared/Tooling/compatibility/rules.py").read_text()
        guide = (ROOT / "Shared/Documents/Operations/Replacing.md").read_text()
        rules = {part for part in source.replace("(", '"').replace(",", '"').split('"') if part.count("-") in (1, 2) and part.replace("-", "").isalpha()}
        self.assertEqual(rules, {rule for rule, *_ in CAUGHT} | {"file-removed"})
        self.assertEqual(rules, {rule for rule, *_ in ALLOWED} | {"file-removed"})
        for rule in rules:
            self.assertIn(f"`{rule}`", guide)

    def test_a_place_is_the_line_of_the_declaration(self):
        (one,) = self.breaks_of("uint32 limit = 2;", "uint64 limit = 2;")
        line = next(number for number, text in enumerate(RELEASED.splitlines(), 1) if "limit" in text)
        self.assertEqual(one.place, f"shop.proto:{line}")

    def test_a_file_that_is_gone_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "other.proto").write_text('syntax = "proto3"; package other.v1;')
            found = breaks(self.released, *facts(check.descriptor_set(folder)))
        self.assertIn("file-removed", {one.rule for one in found})

    def test_a_file_more_breaks_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "other.proto").write_text('syntax = "proto3"; package other.v1;')
            self.assertEqual(breaks(self.released, *described(RELEASED, folder)), [])

    def test_a_release_is_recorded_once_and_only_without_a_break(self):
        with tempfile.TemporaryDirectory() as folder:
            released = pathlib.Path(folder) / "released.json"
            described(RELEASED, folder)
            self.assertEqual(self.run_check(folder, released, "--release", "1.0.0"), (0, ""))
            self.assertEqual(check.read(released.read_text()), {"release": "1.0.0", **self.released})
            self.assertEqual(self.run_check(folder, released), (0, ""))
            status, text = self.run_check(folder, released, "--release", "1.0.0")
            self.assertTrue(status == 1 and "higher version" in text, text)
            described(RELEASED.replace("  uint32 limit = 2;\n", ""), folder)
            for arguments in [(), ("--release", "1.1.0")]:
                status, text = self.run_check(folder, released, *arguments)
                self.assertTrue(status == 1 and "shop.proto:11: field-removed" in text and "1 breaking changes since release 1.0.0" in text, text)
            self.assertEqual(check.read(released.read_text())["release"], "1.0.0")

    @staticmethod
    def run_check(folder, released, *arguments):
        program = ROOT / "Shared/Tooling/compatibility/check.py"
        done = subprocess.run([sys.executable, "-B", program, folder, released, *arguments], capture_output=True, text=True)
        return done.returncode, done.stderr


if __name__ == "__main__":
    unittest.main()
