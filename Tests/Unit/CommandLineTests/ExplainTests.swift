@testable import AdministrationCommands
@testable import BoxofficeMain
@testable import ClusterCommands
@testable import CommandKit
import Contracts
import Foundation
import Testing

/// The input and output of `boxoffice explain`.
struct ExplainTests {
    private let explained = ExplainedSignIn(
        trace: "4bf92f3577b34da6a3ce929d0e0e4736", endedAt: 1_930_384_805_000, requestor: "ACME1", mvpd: "NorthCable", result: "rejected",
        reason: "audience",
        checks: [
            .init(step: 9, title: "signatures only where they belong", outcome: "passed"),
            .init(
                step: 29, title: "we are the audience", outcome: "failed", reason: "audience",
                explanation: "The assertion is meant for another audience.",
                hint: "Audience names https://\(String(repeating: "long-", count: 40))name.example, we are https://saml.sp.pass.example."),
            .init(step: 31, title: "the assertion was not used before", outcome: "notReached"),
        ], message: [.init(name: "audience", value: "https://other.example")])

    private func lines(showsAll: Bool) throws -> [String] {
        try explained.text(asJSON: false, showsAll: showsAll, Console(isQuiet: true)).components(separatedBy: "\n")
    }

    @Test("the check that failed comes first, with reason and hint, within 80 columns; the others are counted")
    func text() throws {
        let lines = try lines(showsAll: false)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines[0] == "rejected: audience")
        #expect(lines[1] == "  trace 4bf92f3577b34da6a3ce929d0e0e4736, MVPD NorthCable, requestor ACME1, at")
        let failure = try #require(lines.firstIndex(of: "29  FAIL  we are the audience"))
        #expect(lines[failure + 1] == "          reason audience" && lines[failure + 3].hasPrefix("          -> Audience names"))
        #expect(lines.contains("Further checks: 1 passed, 1 not reached. --all shows them."))
        #expect(!lines.contains { $0.contains("signatures only") || $0.contains("not used before") })
        #expect(lines.last == "  audience: https://other.example")
    }

    @Test("--all shows the others after it")
    func allChecks() throws {
        let lines = try lines(showsAll: true)
        #expect(lines.allSatisfy { $0.count <= 80 })
        let order = try [
            "29  FAIL  we are the audience", " 9  ok    signatures only where they belong", "31  ...   the assertion was not used before",
        ].map {
            try #require(lines.firstIndex(of: $0))
        }
        #expect(order == order.sorted() && !lines.contains { $0.contains("--all") })
    }

    @Test("a sign-in in which nothing failed has its checks counted")
    func nothingFailed() throws {
        var good = explained
        (good.result, good.reason) = ("signedIn", nil)
        good.checks = [.init(step: 1, title: "one", outcome: "passed"), .init(step: 2, title: "two", outcome: "notNeeded")]
        let lines = try good.text(asJSON: false, showsAll: false, Console(isQuiet: true)).components(separatedBy: "\n")
        #expect(lines[0] == "signed in" && lines.contains("Checks: 1 passed, 1 not needed or not checked. --all shows them."))
    }

    @Test("without a trace id the latest failures are listed, within 80 columns, and the next command is named")
    func failures() throws {
        let failures = (0..<12).map { number in
            #"{"trace":"4bf92f3577b34da6a3ce929d0e0e47\#(number + 10)","endedAt":1930384805000,"requestor":"ACME1","mvpd":"NorthCable","#
                + #""result":"rejected","reason":"audience","test":\#(number == 0)}"#
        }
        let lines = try FailedSignIns(Array(#"{"signIns":[\#(failures.joined(separator: ","))]}"#.utf8)).lines(mvpd: nil)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines[0] == "4bf92f3577b34da6a3ce929d0e0e4710  2031-03-04T10:00:05Z  rejected, a test")
        #expect(lines[1] == "    NorthCable for ACME1: audience" && lines[2].hasSuffix("  rejected"))
        #expect(lines.contains("and 2 more: --json lists them all") && lines.last?.contains("boxoffice explain --last") == true)
        #expect(try FailedSignIns(Array(#"{"signIns":[]}"#.utf8)).lines(mvpd: "LakeTel") == ["no sign-in at LakeTel is remembered that failed"])
    }

    @Test("explain-saml is another name of explain, and options that do not fit together are refused")
    func options() throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        for name in ["explain", "explain-saml"] {
            let command = try #require(try BoxofficeCommand.parseAsRoot([name, trace, "--all"]) as? ExplainCommand)
            #expect(command.subject == trace && command.all && !command.last)
        }
        #expect(try ExplainCommand.parse([]).subject == nil && ExplainCommand.parse(["--last", "--mvpd", "LakeTel"]).last)
        for bad in [["--last", trace], ["--requestor", "ACME1"], ["--at", "x"], [trace, "--settings", "x"]] {
            #expect(throws: (any Error).self, "\(bad)") { try ExplainCommand.parse(bad) }
        }
    }

    @Test("JSON has the form of the administration API")
    func json() throws {
        let text = try explained.text(asJSON: true, showsAll: false, Console(isQuiet: true))
        #expect(try JSONDecoder().decode(ExplainedSignIn.self, from: Data(text.utf8)) == explained)
    }

    @Test(
        "a response is read as XML, as base64 with line breaks, and as the posted form",
        arguments: [
            ("<a/>", "PGEvPg=="), ("  <a/>\n", "ICA8YS8+Cg=="), ("PGEv\nPg==\n", "PGEvPg=="), ("PGEvPg%3D%3D", "PGEvPg=="),
            ("RelayState=x&SAMLResponse=PGE%2BPg%3D%3D", "PGE+Pg=="), ("SAMLResponse=PGE+Pg%3D%3D", "PGE Pg=="),
        ])
    func forms(content: String, encoded: String) {
        #expect(HeldMessage.encoded(content) == encoded)
    }

    @Test("a catalogue file is enough to explain a response without a cluster")
    func offline() throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("explain-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        try LocalPki(folder: home.pki).ensureQuickly()
        let checkout = Checkout.current
        let template = try String(contentsOf: checkout.appendingPathComponent("Services/Config/demo-catalogue.json"), encoding: .utf8)
        try Data(template.replacingOccurrences(of: "${SANDBOX_MVPD}", with: "http://127.0.0.1:8090").utf8).write(to: home.catalogue)
        let explanation = try OfflineExplanation(
            catalogue: home.catalogue.path, settings: checkout.appendingPathComponent("Services/Authentication/config.json").path)
        let explained = try explanation.explain(.init(samlResponse: HeldMessage.encoded("<!DOCTYPE a><a/>"), mvpd: "NorthCable"))
        #expect(explained.result == "rejected" && explained.reason == "xml.dtd")
        #expect(explained.checks.map(\.step) == Array(1...32))
        #expect(throws: (any Error).self) { try explanation.explain(.init(samlResponse: "AAAA", mvpd: "Nobody")) }
        #expect(throws: CommandFailure.self) { try OfflineExplanation(catalogue: "/nowhere.json", settings: nil) }
    }
}
