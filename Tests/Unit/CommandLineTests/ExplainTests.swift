@testable import BoxofficeCommand
import Contracts
import Foundation
import Testing

/// What `boxoffice explain-saml` reads and prints.
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

    @Test("the text fits 80 columns, and shows reason and hint under the check that failed")
    func text() throws {
        let lines = try explained.text(asJSON: false, Console(isQuiet: true)).components(separatedBy: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines[0] == "rejected: audience")
        #expect(lines[1] == "  trace 4bf92f3577b34da6a3ce929d0e0e4736, MVPD NorthCable, requestor ACME1, at")
        let failure = try #require(lines.firstIndex(of: "29  FAIL  we are the audience"))
        #expect(lines[failure + 1] == "          reason audience" && lines[failure + 3].hasPrefix("          -> Audience names"))
        #expect(lines.contains(" 9  ok    signatures only where they belong") && lines.contains("31  ...   the assertion was not used before"))
        #expect(lines.last == "  audience: https://other.example")
    }

    @Test("JSON has the form of the administration API")
    func json() throws {
        let text = try explained.text(asJSON: true, Console(isQuiet: true))
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
