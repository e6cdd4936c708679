import CatalogueFiles
import Clocks
@testable import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("Editing the catalogue", .eachEngine)
struct EditingTests {
    @Test("dashboard #4: what is added is one draft with a line each, and nothing is live")
    func draftOfFive() async throws {
        let admin = try await AdministrationWorld()
        let before = admin.published.configuration
        try await admin.create(.programmer, #"{"id": "isle", "name": "Isle"}"#).changed()
        try await admin.create(.requestor, #"{"id": "KIDS", "name": "Kids", "programmer": "isle", "domains": ["kids.example"]}"#).changed()
        try await admin.create(.integration, #"{"requestor": "KIDS", "mvpd": "TinyCable"}"#).changed()
        try await admin.create(
            .application,
            #"""
            {"id": "kids-tv", "name": "Kids TV", "programmer": "isle", "requestors": ["KIDS"], "platforms": "all", "scopes": ["api:client:v1"],
             "redirectDomains": ["tv.kids.example"]}
            """#
        ).changed()
        try await admin.edit(.requestor, "NEWS") { $0["domains"] = ["news.example", "late.example"] }.changed()
        let draft = try await admin.draft()
        #expect(draft.changes.map(\.entityID) == ["isle", "NEWS", "KIDS", "KIDS/TinyCable", "kids-tv"])
        #expect(draft.changes.map(\.number) == [1, 2, 3, 4, 5])
        #expect(draft.changes.map(\.operation) == [.add, .replace, .add, .add, .add])
        #expect(draft.changes[1].property == "domains")
        #expect(admin.published.configuration == before)
        #expect(try await admin.draft(.otto).changes.isEmpty)
    }

    @Test("dashboard #5: an id that is taken is refused as a duplicate, one with a space as invalid with its field")
    func ids() async throws {
        let admin = try await AdministrationWorld()
        let twin = try await admin.create(.requestor, #"{"id": "NEWS", "name": "News", "programmer": "harbor", "domains": []}"#)
        #expect(twin.refusal?.reason == .duplicate)
        let spaced = try await admin.create(.requestor, #"{"id": "NE WS", "name": "News", "programmer": "harbor", "domains": []}"#)
        #expect(spaced.refusal?.reason == .invalid)
        #expect(spaced.refusal?.problems.map(\.field) == ["id"])
        #expect(try await admin.draft().changes.isEmpty)
    }

    @Test("dashboard #6: a domain below a listed one is a warning, an address of a page is refused")
    func domains() async throws {
        let admin = try await AdministrationWorld()
        let changed = try await admin.edit(.requestor, "NEWS") { $0["domains"] = ["news.example", "tv.news.example"] }.changed()
        #expect(changed.warnings.map(\.field) == ["domains[1]"])
        let refused = try await admin.edit(.requestor, "NEWS") { $0["domains"] = ["news.example", "http://x/"] }
        #expect(refused.refusal?.problems.map(\.field) == ["domains[1]"])
        let address = try await admin.edit(.requestor, "NEWS") { $0["domains"] = ["news.example", "192.0.2.1"] }
        #expect(address.refusal?.problems.map(\.field) == ["domains[1]"])
    }

    @Test("dashboard #7: a domain that is taken away names the applications that use it")
    func removedDomain() async throws {
        let admin = try await AdministrationWorld()
        let changed = try await admin.edit(.requestor, "NEWS") { $0["domains"] = ["other.example"] }.changed()
        #expect(changed.warnings.contains { $0.message.contains("news-tv") && $0.message.contains("news.example") })
    }

    @Test("dashboard #8: a private key is refused where it stands, and its text is repeated nowhere")
    func privateKey() async throws {
        let admin = try await AdministrationWorld()
        let key = ["-----BEGIN", "PRIVATE", "KEY-----\nMIISECRET\n-----END", "PRIVATE", "KEY-----"].joined(separator: " ")
        let refused = try await admin.edit(.programmer, "harbor") { $0["certificates"] = [["certificate": key]] }
        #expect(refused.refusal?.problems.map(\.field) == ["certificates[0].certificate"])
        #expect("\(refused)".contains("MIISECRET") == false)
    }

    @Test("a change of an MVPD or of a requestor is refused where an integration cannot stand on it any more, and others are not asked")
    func integrationsOfAnEntry() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["platformSso"] = true }.changed()
        let refused = try await admin.edit(.mvpd, "TinyCable") { $0["platforms"] = nil }
        #expect(refused.refusal?.problems.map(\.field) == ["integrations/NEWS/TinyCable: platformSso"])
        try await admin.edit(.mvpd, "Trial") { $0["displayName"] = "Preview" }.changed()
        try await admin.edit(.requestor, "SPORT") { $0["name"] = "Sports" }.changed()
        let unknown = try await admin.create(.integration, #"{"requestor": "NEWS", "mvpd": "Nowhere"}"#)
        #expect(unknown.refusal?.problems.map(\.field) == ["mvpd"])
        #expect(try await admin.draft().changes.map(\.entityID) == ["SPORT", "Trial", "NEWS/TinyCable"])
    }

    @Test("dashboard #12: two applications of a programmer with equal name and version are duplicates")
    func applicationTwice() async throws {
        let admin = try await AdministrationWorld()
        let twin = #"{"id": "b", "name": "News TV", "programmer": "harbor", "requestors": ["NEWS"], "platforms": "all", "scopes": ["api:client:v1"]}"#
        #expect(try await admin.create(.application, twin).refusal?.reason == .duplicate)
        let other = twin.replacingOccurrences(of: #""name": "News TV""#, with: #""name": "News TV", "version": "2""#)
        try await admin.create(.application, other).changed()
    }

    @Test("an application's domains are domains of its requestors")
    func applicationDomains() async throws {
        let admin = try await AdministrationWorld()
        let refused = try await admin.edit(.application, "news-tv") { $0["redirectDomains"] = ["news.example", "evilnews.example"] }
        #expect(refused.refusal?.problems.map(\.field) == ["redirectDomains[1]"])
    }

    @Test("clients #90: an application's own hosts for return addresses are edited and published; there are none by default")
    func redirectHosts() async throws {
        let admin = try await AdministrationWorld()
        #expect(admin.published.configuration.applications[0].redirectHosts.isEmpty)
        try await admin.edit(.application, "news-tv", as: .ed) { $0["redirectHosts"] = ["docs.console.example"] }.changed()
        try await admin.push(as: .ed).version()
        #expect(admin.published.configuration.applications[0].redirectHosts == ["docs.console.example"])
    }

    @Test("dashboard #15: 10,000 generated schemes have exactly the published pattern, and none comes twice")
    func manySchemes() {
        let made = (0..<10_000).map { _ in CustomScheme.generate() + "://" }
        // 22 characters of the alphabet of base64url, all of which occur: 128 bits fill 21 and two bits of the last one.
        #expect(made.allSatisfy { $0.wholeMatch(of: /adbe\.[A-Za-z0-9_-]{21}[AQgw]:\/\//) != nil })
        #expect(Set(made).count == 10_000)
        #expect(Set(made.joined()).isSuperset(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"))
        for place in 0..<21 {
            let octets = Set(made.map { Array($0.utf8)[5 + place] })
            #expect(octets.count == 64, "character \(place) is drawn from the whole alphabet")
        }
    }

    @Test("a generated scheme becomes part of the draft, beside those before it")
    func schemes() async throws {
        let admin = try await AdministrationWorld()
        var made: Set<String> = []
        for _ in 0..<3 {
            let request = GenerateCustomSchemeRequest(token: AdministrationWorld.Who.ed.token, kind: .requestor, id: "NEWS")
            let changed = try #require(try await admin.service.generateCustomScheme(request, context: CallContext()).outcome).changed()
            #expect(changed.customScheme.wholeMatch(of: /adbe\.[A-Za-z0-9_-]{22}:\/\//) != nil)
            made.insert(String(changed.customScheme.dropLast(3)))
        }
        try await admin.push(as: .ed).version()
        #expect(made.count == 3 && Set(admin.published.configuration.requestors[0].customSchemes) == made)
    }

    @Test("dashboard #17: a mandatory property cannot be taken away")
    func mandatoryProperty() async throws {
        let admin = try await AdministrationWorld()
        let refused = try await admin.edit(.mvpd, "TinyCable") { $0["authzTtl"] = nil }
        #expect(refused.refusal?.problems.map(\.field) == ["authzTtl"])
    }

    @Test("dashboard #19: single sign-on of the platform is refused where the MVPD has none")
    func singleSignOn() async throws {
        let admin = try await AdministrationWorld()
        let refused = try await admin.edit(.integration, "NEWS/Trial") { $0["platformSso"] = true }
        #expect(refused.refusal?.problems.map(\.field) == ["platformSso"])
    }

    @Test("dashboard #21: the reference to a client secret is masked wherever versions are compared")
    func maskedSecret() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.mvpd, "TinyCable") { mvpd in
            var oauth = mvpd["oauth"] as? [String: Any] ?? [:]
            oauth["clientSecretReference"] = "new-secret"
            mvpd["oauth"] = oauth
        }.changed()
        let change = try #require(try await admin.draft().changes.first)
        #expect(change.property == "oauth.clientSecretReference")
        #expect(change.oldJson == #""[hidden]""# && change.newJson == #""[hidden]""#)
        let version = try await admin.push().version()
        let older = try #require(try await admin.versions().last)
        let compared = try await admin.compare(older.version, version.version)
        #expect("\(compared)".contains("secret\"") == false)
    }

    @Test("teams at Apple are read back as they were written; problems stand at their places, key references are masked")
    func appleTeams() async throws {
        let admin = try await AdministrationWorld()
        let group: [String: Any] = ["id": "tv.harbor.app", "bundleIds": ["tv.harbor.app"], "servicesIds": ["tv.harbor.web"]]
        var team: [String: Any] = ["teamId": "HARBORTEAM", "signInKeyId": "SIGNKEY001", "signInKeyReference": "a-key", "groups": [group]]
        try await admin.edit(.programmer, "harbor") { $0["appleTeams"] = [team] }.changed()
        let json = try await admin.get(.programmer, "harbor").json
        let read = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        func text(_ value: Any?) throws -> String {
            String(decoding: try JSONSerialization.data(withJSONObject: try #require(value), options: .sortedKeys), as: UTF8.self)
        }
        #expect(try text(read["appleTeams"]) == text([team]))
        let change = try #require(try await admin.draft().changes.first)
        #expect(change.property == "appleTeams" && !change.newJson.contains("a-key") && change.newJson.contains("HARBORTEAM"))
        try await admin.push().version()
        #expect(admin.published.configuration.programmers.flatMap(\.appleTeams).map(\.groups).first?.first?.servicesIDs == ["tv.harbor.web"])
        team["signInKeyReference"] = "../a-key"
        let refused = try await admin.edit(.programmer, "harbor") { $0["appleTeams"] = [team] }
        #expect(refused.refusal?.problems.map(\.field) == ["appleTeams[0].signInKeyReference"])
    }

    @Test("an entry is replaced only as the editor has seen it")
    func etags() async throws {
        let admin = try await AdministrationWorld()
        let first = try await admin.get(.requestor, "NEWS")
        let changed = try await admin.edit(.requestor, "NEWS") { $0["name"] = "Evening" }.changed()
        #expect(changed.entity?.etag != first.etag)
        #expect(changed.entity?.isChanged == true)
        let stale = try await admin.edit(.requestor, "NEWS", ifMatch: first.etag) { $0["name"] = "Late" }
        #expect(stale.refusal?.reason == .preconditionFailed)
        let missing = try await admin.edit(.requestor, "NEWS", ifMatch: "") { $0["name"] = "Late" }
        #expect(missing.refusal?.reason == .preconditionFailed)
        try await admin.edit(.requestor, "NEWS", ifMatch: "*") { $0["name"] = "Late" }.changed()
        #expect(try await admin.delete(.application, "news-tv", ifMatch: first.etag).refusal?.reason == .preconditionFailed)
    }

    @Test("an id cannot be changed")
    func keepsIds() async throws {
        let admin = try await AdministrationWorld()
        #expect(try await admin.edit(.requestor, "NEWS") { $0["id"] = "OLDS" }.refusal?.problems.map(\.field) == ["id"])
        #expect(try await admin.edit(.integration, "NEWS/Trial") { $0["mvpd"] = "TinyCable" }.refusal?.problems.map(\.field) == ["mvpd"])
    }

    @Test("what others refer to is not deleted; they are listed")
    func references() async throws {
        let admin = try await AdministrationWorld()
        let refused = try await admin.delete(.requestor, "NEWS")
        #expect(refused.refusal?.reason == .referenced)
        #expect(refused.refusal?.references.map(\.id) == ["NEWS/TinyCable", "NEWS/Trial", "news-tv"])
        #expect(try await admin.delete(.mvpd, "Trial").refusal?.references.map(\.id) == ["NEWS/Trial"])
        try await admin.delete(.integration, "NEWS/Trial").changed()
        try await admin.delete(.mvpd, "Trial").changed()
        try await admin.push().version()
        #expect(admin.published.configuration.mvpds.map(\.id) == ["TinyCable"])
    }

    @Test("lists have pages, counts and a search by id and name")
    func lists() async throws {
        let admin = try await AdministrationWorld()
        let found = try await admin.list(.requestor, "spo")
        #expect(found.entities.map(\.id) == ["SPORT"] && found.total == 1)
        let request = ListEntitiesRequest(token: AdministrationWorld.Who.olga.token, kind: .integration, page: PageRequest(page: 2, size: 2))
        let page = try await admin.service.listEntities(request, context: CallContext())
        #expect(page.entities.map(\.id) == ["NEWS/Trial"] && page.total == 3 && page.page == 2 && page.size == 2)
        func listed(_ number: UInt32, _ size: UInt32) async throws -> EntityPage {
            var other = request
            other.page = PageRequest(page: number, size: size)
            return try await admin.service.listEntities(other, context: CallContext())
        }
        for number: UInt32 in [0, 1] {
            let whole = try await listed(number, 200)
            #expect(whole.entities.count == 3 && whole.page == 1 && whole.size == 200)
        }
        #expect(try await listed(1, 0).size == 50)
        #expect(try await code { try await listed(1, 201) } == .invalidRequest)
    }

    /// The long ones by name: a runner writes arguments into its log.
    private static let hostileTexts: [String: String] = [
        "nothing": "", "half": "{", "array": "[]", "null": "null", "text": #""text""#, "name twice": #"{"id": "X", "id": "X", "name": "a"}"#,
        "NUL in the id": #"{"id": "X\u0000", "name": "a"}"#, "NUL in the name": #"{"id": "X", "name": "a\u0000b"}"#,
        "number": #"{"id": 7, "name": "a"}"#, "unknown": #"{"id": "X", "name": "a", "colour": 1}"#,
        "half a pair": #"{"id": "X", "name": "\ud800"}"#, "file": #"{"id": "X", "name": {"file": "/etc/passwd"}}"#,
        "long name": #"{"id": "X", "name": "\#(String(repeating: "n", count: 81))"}"#, "endless depth": String(repeating: "[", count: 100_000),
        "deep": #"{"id": "X", "name": "a", "deep": \#(String(repeating: "[", count: 63))\#(String(repeating: "]", count: 63))}"#,
        "10 MB": #"{"id": "X", "name": "\#(String(repeating: "n", count: 10_000_000))"}"#,
    ]

    @Test("a hostile text is refused, and nothing is kept of it", arguments: hostileTexts.keys.sorted())
    func hostileText(name: String) async throws {
        let admin = try await AdministrationWorld()
        let refusal = try #require(try await admin.create(.programmer, Self.hostileTexts[name] ?? "").refusal)
        #expect(refusal.reason == .invalid)
        #expect(!refusal.problems.isEmpty)
        #expect(refusal.problems.allSatisfy { $0.message.count < 400 })
        #expect(try await admin.draft().changes.isEmpty)
    }

    @Test("thousands of problems are cut off, and looked at once")
    func manyProblems() async throws {
        let admin = try await AdministrationWorld()
        let members = (0..<20_000).map { #""k\#($0)": 1"# }.joined(separator: ",")
        let refusal = try #require(try await admin.create(.programmer, #"{"id": "X", "name": "a", \#(members)}"#).refusal)
        #expect((1...500).contains(refusal.problems.count))
    }

    @Test("a file cannot be named over the API")
    func noFiles() async throws {
        let admin = try await AdministrationWorld()
        let refused = try await admin.edit(.mvpd, "TinyCable") { mvpd in
            mvpd["authorization"] = ["protocol": "xacmlJson", "url": "https://pdp.tiny.example/", "trustAnchors": [["file": "idp.crt"]]]
        }
        #expect(refused.refusal?.problems.map(\.field) == ["authorization.trustAnchors[0]"])
    }

    @Test("an edit that is taken back leaves no draft: what others push meanwhile is what the next one begins with")
    func takenBack() async throws {
        let admin = try await AdministrationWorld()
        for name in ["Late News", "News"] { try await admin.edit(.requestor, "NEWS") { $0["name"] = name }.changed() }
        try await admin.edit(.requestor, "SPORT", as: .otto) { $0["name"] = "Sports" }.changed()
        let version = try await admin.push(as: .otto).version().version
        #expect(try await admin.draft().baseVersion == version)
    }

    @Test("of drafts eight, and of documents six are kept as they were read last; the one that was read longest ago goes")
    func remembersSome() {
        let (drafts, documents, empty) = (DraftMemory(), DocumentCache(), CatalogueDocument(.object([:])))
        let keys = (1...9).map { DraftMemory.Key(base: $0, digest: []) }
        for key in keys {
            let base = VersionRecord(
                version: key.base, createdAt: Timestamp(milliseconds: 0), author: "ed", description: "", origin: .file, documentSHA256: "",
                programmers: [])
            drafts.keep(Draft(base: base, baseDocument: empty, document: empty), key)
            documents.keep(empty, "\(key.base)")
        }
        #expect(keys.map { drafts.draft($0)?.base.version } == [nil] + keys.dropFirst().map(\.base))
        #expect(keys.map { documents.document("\($0.base)") } == [nil, nil, nil] + Array(repeating: empty, count: 6))
    }
}
