#!/usr/bin/env python3
"""What `Shared/Tooling/unread` must find: fields that are accepted without effect, in small trees and planted in this one."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("unread", str(ROOT / "Shared/Tooling/unread"))
unread = importlib.util.module_from_spec(importlib.util.spec_from_loader("unread", loader))
loader.exec_module(unread)

CONTRACT = """
public struct Way: Message {
    public var address: String
    public var age: UInt32
    public var isOpen: Bool { age > 0 }
}
public struct Plan: Message {
    public var ways: [Way]
}
"""
SETTINGS = """
public struct TinySettings: Decodable, Sendable {
    public let port: Int
    public let rest: Rest
}
public struct Rest: Decodable {
    let pause: Int
}
"""
PROGRAM = """
ServiceProgram.run("tiny", settings: TinySettings.self) { settings in
    listen(settings.port, after: settings.rest.pause)
}
"""
# It says no type: the name of a property of Plan tells of Way.
USER = "func go(plan: Plan) { for way in plan.ways { call(way.address, within: way.age) } }"
MAKER = "func read() -> Plan { Plan(ways: [Way(address: text, age: 7)]) }"


class Unread(unittest.TestCase):
    def problems(self, user=USER, maker=MAKER, settings=SETTINGS, program=PROGRAM, more="", unread_fields=None, unset_fields=None):
        texts = {
            unread.CONTRACTS + "Tiny.swift": CONTRACT, "Services/Tiny/TinySettings.swift": settings, "Services/Tiny/Main.swift": program,
            "Services/Tiny/User.swift": user, "Services/Tiny/Maker.swift": maker, "Services/Other/Other.swift": more,
        }
        return [problem.split(": ")[1] for problem in unread.problems(unread.Tree(texts), unread_fields or {}, unset_fields or {})]

    def test_a_sound_tree_has_none(self):
        self.assertEqual(self.problems(), [])

    def test_a_field_that_nothing_reads_is_found(self):
        told = ["nothing reads the field of the contracts Way.age"]
        self.assertEqual(self.problems(user=USER.replace("way.age", "9")), told)
        for text in ("way.age = 7", "way.age += 7", '"way.age"', "9 // way.age", "way.age()"):
            with self.subTest(text):
                self.assertEqual(self.problems(user=USER.replace("way.age", "9") + "\nlet x = " + text), told)

    def test_a_read_where_nobody_knows_the_type_is_none(self):
        self.assertEqual(self.problems(user=USER.replace("way.age", "9"), more="let old = person.age"), ["nothing reads the field of the contracts Way.age"])

    def test_ways_of_reading_are_known(self):
        for text in ("if way.age == 7 {}", "plans.filter(\\.ways).map(\\.age)", "}\nextension Way { var half: Int { age / 2 } "):
            with self.subTest(text):
                self.assertEqual(self.problems(user=USER.replace("way.age", "9") + "\n" + text), [])

    def test_a_field_that_nothing_sets_is_found(self):
        told = ["nothing sets the field of the contracts Way.age"]
        self.assertEqual(self.problems(maker=MAKER.replace(", age: 7", "")), told)
        self.assertEqual(self.problems(maker=MAKER.replace("age: 7", "age: other.age")), told, "it is handed on, and comes from nowhere")
        self.assertEqual(self.problems(maker=MAKER.replace(", age: 7", "") + "\nfunc set(way: inout Way) { way.age = 7 }"), [])
        self.assertEqual(self.problems(maker=MAKER.replace("age: 7", "age: row.age"), more="struct Row { let age: Int }"), [])

    def test_a_setting_that_nothing_reads_is_found(self):
        self.assertEqual(self.problems(program=PROGRAM.replace("settings.rest.pause", "5")), ["nothing reads the setting TinySettings.rest", "nothing reads the setting Rest.pause"])

    def test_a_reason_lets_pass_and_one_in_vain_does_not(self):
        self.assertEqual(self.problems(user=USER.replace("way.age", "9"), unread_fields={"Way.age": "why"}), [])
        self.assertEqual(self.problems(user=USER.replace("way.age", "9"), unread_fields={"Way.*": "why"}), [])
        for name in ("Way.age", "Gone.field"):
            told = list(unread.problems(unread.Tree({unread.CONTRACTS + "T.swift": CONTRACT, "S.swift": SETTINGS, "M.swift": PROGRAM + USER + MAKER}), {name: "why"}, {}))
            self.assertEqual(told, [f"Shared/Tooling/unread lists {name}, which is read, or is no field: take it out"])

    def test_folders_of_other_names_are_an_error(self):
        told = list(unread.problems(unread.Tree({"Elsewhere.swift": CONTRACT}), {}, {}))
        self.assertEqual(told, ["no message or no settings were found: the folders have other names"])

    def test_what_is_taken_out_of_this_tree_is_found(self):
        texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in unread.listed()}
        for name, text, told in [
            ("Services/Authentication/Upstreams/Calls/UpstreamRoutes.swift", "upstream.clientCertificate", "nothing reads the field of the contracts BridgeUpstream.clientCertificate"),
            ("Services/Gateway/PublicApi/Devices/DeviceCallReader.swift", "call.visitorID = visitor", "nothing sets the field of the contracts DeviceCall.visitorID"),
            ("Services/Gateway/Edge/Gateway.swift", "settings.clientPortHeader", "nothing reads the setting GatewaySettings.clientPortHeader"),
        ]:
            self.assertIn(text, texts[name], f"{name} has changed: name another place")
            texts[name] = texts[name].replace(text, "nothing")
        found = [problem.split(": ")[1] for problem in unread.problems(unread.Tree(texts))]
        for told in ("BridgeUpstream.clientCertificate", "DeviceCall.visitorID", "GatewaySettings.clientPortHeader"):
            self.assertTrue(any(problem.endswith(told) for problem in found), f"{told} is not among {found}")


if __name__ == "__main__":
    unittest.main()
