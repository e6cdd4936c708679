@testable import AdministrationCommands
@testable import CommandKit
import CatalogueFiles
import Foundation
import Testing

/// The use of the administration API's draft by `boxoffice draft` and commands with `--push`.
@Suite("The draft on the command line") struct DraftTests {
    private func draft(_ changes: String) -> OpenDraft {
        let body = #"{"baseVersion": 7, "changes": [\#(changes)], "etag": "abc"}"#
        return OpenDraft(HTTPAnswer(status: 200, headers: [("ETag", "\"abc\"")], body: Array(body.utf8)))
    }

    private static let added =
        #"{"number": 1, "type": "mvpd", "id": "NewCable", "property": "", "operation": "add", "old": null, "new": {"id": "NewCable"}}"#
    private static let integrated =
        #"{"number": 2, "type": "integration", "id": "ACME1/NewCable", "property": "", "operation": "add", "old": null, "new": {"enabled": true}}"#
    private static let renamed =
        #"{"number": 3, "type": "requestor", "id": "ACME1", "property": "name", "operation": "replace", "old": "Acme", "new": "Acme HD"}"#

    @Test("each change is a line, with the entry as the API's collections name it")
    func lists() {
        let draft = draft([Self.added, Self.integrated, Self.renamed].joined(separator: ","))
        #expect(draft.baseVersion == 7 && draft.etag == "\"abc\"" && draft.counted == "3 changes")
        #expect(
            OpenDraft.lines(draft.changes) == [
                "    mvpds/NewCable is added", "    integrations/ACME1/NewCable is added", #"    requestors/ACME1: name "Acme" -> "Acme HD""#,
            ])
        #expect(draft.description == "mvpds/NewCable, integrations/ACME1/NewCable, requestors/ACME1")
        let many = (1...60).map { Self.added.replacing("NewCable", with: "M\($0)") }.joined(separator: ",")
        let lines = OpenDraft.lines(self.draft(many).changes)
        #expect(lines.count == 51 && lines.last == "    and 10 more")
        #expect(self.draft("").changes.isEmpty && self.draft(many).description.hasSuffix("mvpds/M5 and 55 more"))
    }

    @Test("what a command has not made is listed apart; of a kind that is not known, too")
    func tellsOthers() {
        let unknown = Self.renamed.replacing("requestor", with: "novelty")
        let draft = draft([Self.added, Self.integrated, Self.renamed, unknown].joined(separator: ","))
        let made: Set = [EntityKey(.mvpds, "NewCable"), EntityKey(.integrations, "ACME1/NewCable")]
        #expect(draft.others(than: made).map(\.number) == [3, 3])
        #expect(draft.others(than: []).count == 4)
    }

    @Test("an entry is called by its whole name, or by its id where that is one entry's")
    func names() throws {
        let twin = Self.added.replacing("\"mvpd\"", with: "\"requestor\"").replacing("NewCable", with: "Twin")
        let draft = draft([Self.added, Self.integrated, twin, Self.added.replacing("NewCable", with: "Twin")].joined(separator: ","))
        #expect(try draft.place(named: "NewCable") == EntityKey(.mvpds, "NewCable"))
        #expect(try draft.place(named: "ACME1/NewCable") == EntityKey(.integrations, "ACME1/NewCable"))
        #expect(try draft.place(named: "mvpds/Twin") == EntityKey(.mvpds, "Twin"))
        #expect { try draft.place(named: "Twin") } throws: { "\($0)".contains("requestors/Twin, mvpds/Twin") }
        #expect { try draft.place(named: "NewCabel") } throws: { "\($0)".contains("'NewCabel': it changes mvpds/NewCable") }
    }

    @Test("paths of entries are those of the administration API")
    func paths() {
        #expect(EntityKey(.integrations, "ACME1/New Cable").path == "/integrations/ACME1/New%20Cable")
        #expect(EntityKey(.mvpds, "NewCable").path == "/mvpds/NewCable")
        #expect(EntityKey(.serviceTokenIssuers, "https://a.example/x~y").path == "/service-token-issuers/https%3A~1~1a.example~1x~0y")
        // Written in two ways, two ids.
        #expect(EntityKey(.mvpds, "caf\u{e9}") != EntityKey(.mvpds, "cafe\u{301}"))
    }

    @Test("whether a pair is live, or only in the draft, is told by what the draft changes")
    func tellsLive() {
        let pair =
            #"{"number": 1, "type": "application", "id": "tv", "property": "signingKeys", "operation": "replace", "old": [{"publicKey": "old"}], "new": []}"#
        let place = EntityKey(.applications, "tv")
        #expect(draft(pair).isLive("old", in: "signingKeys", of: place) == true && draft(pair).isLive("new", in: "signingKeys", of: place) == false)
        #expect(draft(pair).isLive("old", in: "clients", of: place) == nil && draft("").isLive("old", in: "signingKeys", of: place) == nil)
        let whole = Self.added.replacing("\"mvpd\"", with: "\"application\"").replacing("NewCable", with: "tv")
        #expect(draft(whole).isLive("old", in: "signingKeys", of: place) == false)
    }

    @Test("a program is behind while it tells an older version; one that tells none is not waited for")
    func waits() {
        #expect(CatalogueArrival.isBehind("boxoffice_catalogue_version 7\n", 8) && !CatalogueArrival.isBehind("boxoffice_catalogue_version 8\n", 8))
        #expect(CatalogueArrival.isBehind("boxoffice_config_catalogue_version 7\n", 8) && !CatalogueArrival.isBehind("other 1\n", 8))
    }

    @Test("what became of a push has a word and a line")
    func outcomes() {
        #expect(OpenDraft.Pushed.version(8).line == "Pushed as version 8." && OpenDraft.Pushed.version(8).version == 8)
        #expect(OpenDraft.Pushed.waits.word == "waits" && OpenDraft.Pushed.waits.version == nil)
        #expect(OpenDraft.Pushed.isLive.word == "live")
    }
}
