@testable import AdministrationCommands
@testable import CommandKit
import CatalogueFiles
import Foundation
import Testing

/// The reading, planning and refusing of `boxoffice catalogue apply`.
@Suite("Catalogue files in git") struct ApplyTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("apply-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func wanted(_ texts: String...) throws -> WantedCatalogue {
        try WantedCatalogue(files: try texts.enumerated().map { try file("\($0).json", $1) })
    }

    private static func document(_ text: String) throws -> CatalogueDocument { try CatalogueDocument(parsing: Array(text.utf8)) }

    private static let live = """
        {"programmers": [{"id": "own", "name": "Own"}],
         "requestors": [{"id": "CHAN7", "name": "Seven", "programmer": "own", "domains": ["chan7.example"]},
                        {"id": "OLD", "name": "Old", "programmer": "own", "domains": []}],
         "mvpds": [{"id": "Pass", "displayName": "Pass", "tempPass": {"kind": "basic", "ttl": 60}}],
         "integrations": [{"requestor": "CHAN7", "mvpd": "Pass"}, {"requestor": "OLD", "mvpd": "Pass"}]}
        """

    @Test("the small catalogue of the documents has ten lines, fits beside what is there, and is the same the second time")
    func documented() throws {
        let page = try String(contentsOf: Checkout.current.appendingPathComponent("Services/Config/README.md"), encoding: .utf8)
        let block = try #require(page.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```").first)
        #expect(block.split(separator: "\n").count <= 10)
        let wanted = try wanted(block)
        let live = try Self.document(
            #"{"programmers": [], "requestors": [], "mvpds": [{"id": "NorthCable", "displayName": "N", "tempPass": {"kind": "basic", "ttl": 60}}], "integrations": []}"#
        )
        #expect(try wanted.problems(over: live, removing: []) == [])
        let plan = CataloguePlan(from: live, to: wanted.document(over: live), removing: [])
        #expect(plan.added == 6 && plan.changed == 0 && plan.headline == "6 are added, none is changed, none is removed")
        #expect(plan.lines.first == "programmers/own is added" && plan.lines.contains("integrations/CHAN7/NorthCable is added"))
        let then = wanted.document(over: live)
        #expect(CataloguePlan(from: then, to: wanted.document(over: then), removing: []).isEmpty)
    }

    @Test("the plan says what differs by property; entries that no file names stay")
    func plans() throws {
        let live = try Self.document(Self.live)
        let wanted = try wanted(
            #"{"requestors": [{"id": "CHAN7", "name": "Channel Seven", "programmer": "own", "domains": ["chan7.example", "x.example"], "channels": ["A"]}]}"#,
            #"{"mvpds": [{"id": "Pass", "displayName": "Pass", "tempPass": {"kind": "basic", "ttl": 600}}]}"#)
        let plan = CataloguePlan(from: live, to: wanted.document(over: live), removing: wanted.removals(from: try Self.document("{}")))
        #expect(
            plan.lines == [
                #"requestors/CHAN7: channels ["A"] is added"#,
                #"requestors/CHAN7: domains ["chan7.example"] -> ["chan7.example","x.example"]"#,
                #"requestors/CHAN7: name "Seven" -> "Channel Seven""#, "mvpds/Pass: tempPass.ttl 60 -> 600",
            ])
        #expect(plan.headline == "none is added, 2 are changed, none is removed" && plan.references.isEmpty)
        #expect(try wanted.problems(over: live, removing: []) == [])
    }

    @Test("--prune removes what only the cluster has, in the lists that the files have, and first what refers to others")
    func prunes() throws {
        let live = try Self.document(
            Self.live.replacing(
                "\"mvpds\": [", with: #""mvpds": [{"id": "Listed", "displayName": "L", "proxy": {"mvpd": "Pass", "listed": true}}, "#))
        let all = try wanted(
            #"{"requestors": [{"id": "CHAN7", "name": "Seven", "programmer": "own", "domains": ["chan7.example"]}], "integrations": [], "mvpds": []}"#
        )
        #expect(all.removals(from: live).map(\.description) == ["integrations/CHAN7/Pass", "integrations/OLD/Pass", "mvpds/Pass", "requestors/OLD"])
        let some = try wanted(#"{"integrations": [{"requestor": "CHAN7", "mvpd": "Pass"}]}"#)
        #expect(some.removals(from: live).map(\.description) == ["integrations/OLD/Pass"])
        let broken = try wanted(#"{"mvpds": []}"#)
        let plain = try Self.document(Self.live)
        let problems = try broken.problems(over: plain, removing: broken.removals(from: plain))
        #expect(problems.contains { $0.hasPrefix("integrations/CHAN7/Pass of the cluster: mvpd names the MVPD 'Pass'") }, "\(problems)")
    }

    @Test("what is wrong is told by the file and the entry, and what is wrong elsewhere is not these files' business")
    func tellsProblems() throws {
        let live = try Self.document(Self.live.replacing(#""ttl": 60"#, with: #""ttl": 0"#))
        let wanted = try wanted(#"{"requestors": [{"id": "CHAN9", "name": "Nine", "programmer": "nobody", "domains": []}]}"#)
        let problems = try wanted.problems(over: live, removing: [])
        #expect(
            problems.count == 1
                && problems[0].hasSuffix("0.json: requestors/CHAN9: programmer names the programmer 'nobody', which is not in the catalogue"))
        // The effect of the files themselves on others is a problem.
        let bridged = try self.wanted(#"{"mvpds": [{"id": "Pass", "displayName": "Pass", "upstreamOnly": true}]}"#)
        let broken = try bridged.problems(over: try Self.document(Self.live), removing: [])
        #expect(broken.count == 2 && broken[0].hasPrefix("integrations/CHAN7/Pass of the cluster: must have 'upstream'"), "\(broken)")
    }

    @Test(
        "a file that is none, an entry that is nobody's or there twice, and a member that is there twice are refused",
        arguments: [
            ("{", "is no JSON"), ("[]", "is no catalogue"), (#"{"channels": []}"#, "'channels' is no list of a catalogue"),
            (#"{"mvpds": {}}"#, "'mvpds' is no list"), (#"{"mvpds": [{"displayName": "X"}]}"#, "mvpds[0] has no text 'id'"),
            (#"{"integrations": [{"requestor": "A"}]}"#, "has no text 'mvpd'"), (#"{"mvpds": [{"id": "A"}, {"id": "A"}]}"#, "mvpds/A is there twice"),
            (#"{"mvpds": [{"id": "A", "saml": {"ssoUrl": "x", "ssoUrl": "y"}}]}"#, "has the member 'ssoUrl' twice"),
            (#"{"mvpds": [{"id": "A", "saml": {"signingCertificates": [{"file": "none.crt"}]}}]}"#, "cannot read"),
        ])
    func refuses(text: String, said: String) throws {
        let failure = try #require(throws: CommandFailure.self) { try wanted(text) }
        #expect(failure.description.contains(said) && failure.exit == .usage, "\(failure)")
    }

    @Test("an entry of two files is refused by both names; a file beside the document is read in; a private key never is")
    func readsFiles() throws {
        let twice = try #require(throws: CommandFailure.self) { try wanted(#"{"mvpds": [{"id": "A"}]}"#, #"{"mvpds": [{"id": "A"}]}"#) }
        #expect(twice.description.contains("0.json and in ") && twice.description.contains("1.json"))
        _ = try file("keys.jwks", "{\"keys\":[]}")
        let issuers = try wanted(#"{"platformIdentityIssuers": [{"issuer": "https://id.example/a~b", "jwks": {"file": "keys.jwks"}}]}"#)
        #expect(issuers.entries.first?.tree["jwks"] == .string("{\"keys\":[]}"))
        _ = try file("idp.crt", "-----BEGIN \("PRIVATE") KEY-----")
        let key = try #require(throws: CommandFailure.self) {
            try wanted(#"{"mvpds": [{"id": "A", "saml": {"signingCertificates": [{"file": "idp.crt"}]}}]}"#)
        }
        #expect(key.description.contains("holds a private key"))
    }

    @Test("an OAuth record that does not say its callback keeps it; a reference that changes is written by itself")
    func keepsCallbacks() throws {
        let live = try Self.document(
            #"{"mvpds": [{"id": "F", "oauth": {"issuer": "https://f.example", "callback": "own", "clientSecretReference": "old"}}]}"#)
        let same = try wanted(#"{"mvpds": [{"id": "F", "oauth": {"issuer": "https://f.example", "clientSecretReference": "old"}}]}"#)
        #expect(CataloguePlan(from: live, to: same.document(over: live), removing: []).isEmpty)
        let next = try wanted(#"{"mvpds": [{"id": "F", "oauth": {"issuer": "https://f.example", "clientSecretReference": "new"}}]}"#)
        let plan = CataloguePlan(from: live, to: next.document(over: live), removing: [])
        #expect(plan.lines == [#"mvpds/F: oauth.clientSecretReference "old" -> "new""#] && plan.references.map(\.description) == ["mvpds/F"])
    }

    @Test("the administration API's addresses of entries, and a push's description")
    func names() {
        #expect(EntityKey(.integrations, "CHAN7/Pass").path == "/integrations/CHAN7/Pass")
        #expect(
            EntityKey(.platformIdentityIssuers, "https://id.example/a~b").path
                == "/platform-identity-issuers/https%3A~1~1id.example~1a~0b")
        #expect(EntityKey(.upstreams, "vendor").path == "/upstreams/vendor")
        #expect(CatalogueApplyCommand.usualDescription(["a/b.json", "c.json"]) == "catalogue apply: b.json, c.json")
        #expect(CatalogueApplyCommand.usualDescription(Array(repeating: "long-name.json", count: 90)).count == 500)
    }
}
