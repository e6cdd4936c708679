internal import Contracts
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Testing

/// Differences in the words of forms, folded by entry.
@Suite struct ConsoleChangeTests {
    private static func change(
        _ number: UInt32, _ property: String, _ old: String, _ new: String, kind: EntityKind = .integration, id: String = "ACME1/NorthCable"
    ) -> CatalogueChange {
        CatalogueChange(
            number: number, kind: kind, entityID: id, property: property, operation: old.isEmpty ? .add : new.isEmpty ? .remove : .replace,
            oldJson: old, newJson: new)
    }

    @Test(
        "a plain value is a line of the field's label and both values in words",
        arguments: [
            (ConsoleChangeTests.change(1, "enabled", "", "false"), "Enabled: yes → no"),
            (ConsoleChangeTests.change(1, "enabled", "false", "true"), "Enabled: no → yes"),
            (ConsoleChangeTests.change(1, "enabled", "false", ""), "Enabled: no → yes"),
            (ConsoleChangeTests.change(1, "authnTtl", "2592000", "604800"), "Sign-in lasts: 30 days → 7 days"),
            (ConsoleChangeTests.change(1, "authnTtl", "", "3600"), "Sign-in lasts: not set → 1 hour"),
            (
                ConsoleChangeTests.change(1, "metadataKeys", #"["userID"]"#, #"["userID",{"key":"zip","encrypted":true}]"#),
                "Keys that apps get: userID → userID, zip encrypted"
            ),
            (ConsoleChangeTests.change(1, "domains", #"["a.example"]"#, "[]", kind: .requestor, id: "ACME1"), "Domains: a.example → none"),
            (
                ConsoleChangeTests.change(1, "saml.signaturePolicy", "", #""both""#, kind: .mvpd, id: "M"),
                "What must be signed: not set → both"
            ),
            (ConsoleChangeTests.change(1, "unknownToForms", "1", "2"), "unknownToForms: 1 → 2"),
        ])
    func words(change: CatalogueChange, line: String) {
        #expect(ChangeWords(change).gist == line)
    }

    @Test("what is no plain value, or too long for a line, is shown as it is")
    func asItIs() {
        let long = "\"" + String(repeating: "x", count: 121) + "\""
        for json in [#"[{"scope":"roku","authnTtl":60}]"#, #"{"a":1}"#, long, "null"] {
            #expect(ChangeWords(Self.change(1, "platformOverrides", "", json)).values == nil, "\(json)")
        }
    }

    @Test("a push of 59 changes is 59 folded lines that say what they are, and stays small; a few are unfolded")
    func folds() async throws {
        let certificate = String(repeating: "M", count: 3000)
        let record = #"{"id":"M","displayName":"Em","saml":{"signingCertificates":["\#(certificate)"]}}"#
        var changes = (0..<20).map { index -> CatalogueChange in
            CatalogueChange(number: UInt32(index + 1), kind: .mvpd, entityID: "M\(index)", operation: .add, newJson: record)
        }
        changes += (20..<59).map { index -> CatalogueChange in Self.change(UInt32(index + 1), "enabled", "", "false", id: "ACME1/M\(index)") }
        let console = ConsoleFixture()
        console.gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 7, changes: changes, etag: "d1"))
        let page = try await console.get("/draft")
        #expect(page.text.components(#"<details class="change">"#) == 59 && page.text.components("Enabled: yes → no") == 39)
        #expect(page.text.components("/console/draft/drop") == 59 && page.text.contains("59 changes"))
        #expect(page.text.utf8.count < 120_000, "\(page.text.utf8.count)")
        console.gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 7, changes: Array(changes.suffix(3)), etag: "d1"))
        #expect(try await console.get("/draft").text.components(#"<details class="change" open>"#) == 3)
    }

    @Test("differences of one entry are one part; a page leaves out what is too much, and says so")
    func groups() {
        let changes = (0..<250).map { Self.change(UInt32($0 + 1), "p\($0)", "1", "2", id: "ACME1/M\($0 / 125)") }
        let rows = ChangeRows(changes).rows
        #expect(rows.count == 2 && (rows[0]["differences"] as? [Any])?.count == 125 && (rows[1]["differences"] as? [Any])?.count == 75)
        #expect(rows[0]["gist"] as? String == "p0: 1 → 2; p1: 1 → 2; 123 more")
        #expect(ChangeRows.omitted(changes) == "50 further changes are not shown.")
    }

    @Test("of changes without short values two are named, and that there are more where there are")
    func namesTwo() {
        func gist(_ count: Int) -> String {
            let changes = (0..<count).map { Self.change(UInt32($0 + 1), "p\($0)", #"{"a":1}"#, #"{"b":1}"#) }
            return ChangeRows(changes).rows.first?["gist"] as? String ?? ""
        }
        #expect(gist(2) == "p0, p1" && gist(3) == "p0, p1 and more")
    }
}
