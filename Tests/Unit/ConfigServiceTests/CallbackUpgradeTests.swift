@testable import ConfigService
import CatalogueFiles
import CatalogueSamples
import Contracts
import Foundation
import Testing

/// mvpd §3: OAuth records of before each had a callback of its own go on at the one that they share.
@Suite("Callbacks of OAuth records", .eachEngine)
struct CallbackUpgradeTests {
    private static func callback(_ configuration: Configuration, of mvpd: String = "TinyCable") -> CallbackAddress? {
        guard case .oauth(let endpoint)? = configuration.mvpds.first(where: { $0.id == mvpd })?.signIn else { return nil }
        return endpoint.callback
    }

    /// What a release before left behind: it published the document, and knew one callback.
    private static func age(_ admin: AdministrationWorld) async throws {
        try await admin.store.write { try $0.run("UPDATE published SET reading = 1") }
    }

    @Test("a record of before keeps the shared callback, in a version of its own, also where the file does not say it; a new record has its own")
    func upgrade() async throws {
        let first = try await AdministrationWorld()
        #expect(Self.callback(first.published.configuration) == .own)
        try await Self.age(first)
        await first.store.close()
        let admin = try await AdministrationWorld(first.world)
        #expect(Self.callback(admin.published.configuration) == .shared)
        // The file was not changed: it undoes nothing, and is not told of as changed.
        let outcome = try #require(try await admin.keeper.importFile(isForced: false))
        #expect(outcome.verdict == .unchanged && outcome.pushed.isEmpty)
        // Changed, it says nothing of the callback.
        let text = AdministrationWorld.catalogue.replacingOccurrences(of: #""name": "News", "#, with: #""name": "Late News", "#)
        try admin.world.write(text, to: "catalogue.json")
        await admin.keeper.reload(into: admin.published)
        #expect(admin.published.configuration.requestors.first?.name == "Late News")
        #expect(Self.callback(admin.published.configuration) == .shared)
        // Nor does it once it is taken in, or at the next start.
        let again = try #require(try await admin.keeper.importFile(isForced: false))
        #expect(again.verdict == .unchanged)
        try await admin.create(.mvpd, Self.newRecord()).changed()
        _ = try await admin.push("a new MVPD")
        #expect(Self.callback(admin.published.configuration, of: "NewFiber") == .own)
        await admin.store.close()
        let last = try await AdministrationWorld(admin.world)
        #expect(Self.callback(last.published.configuration) == .shared && Self.callback(last.published.configuration, of: "NewFiber") == .own)
    }

    @Test("an entry that is replaced without its callback keeps it; 'own' changes it for good")
    func replaced() async throws {
        let first = try await AdministrationWorld()
        try await Self.age(first)
        await first.store.close()
        let admin = try await AdministrationWorld(first.world)
        try await admin.edit(.mvpd, "TinyCable") { entry in
            entry["displayName"] = "Tiny"
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["callback"] = nil
            entry["oauth"] = oauth
        }.changed()
        _ = try await admin.push("a name")
        #expect(Self.callback(admin.published.configuration) == .shared)
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["callback"] = "own"
            entry["oauth"] = oauth
        }.changed()
        _ = try await admin.push("its own callback")
        #expect(Self.callback(admin.published.configuration) == .own)
        // The way back is closed.
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["callback"] = "shared"
            entry["oauth"] = oauth
        }.changed()
        #expect(try await admin.push("shared again").refusal?.problems.map(\.field) == ["mvpds/TinyCable: oauth.callback"])
    }

    @Test("a new record that shares a callback is refused, by a push and by a file")
    func newSharedRecord() async throws {
        let admin = try await AdministrationWorld()
        let changed = try await admin.create(.mvpd, Self.newRecord(#""callback": "shared", "#)).changed()
        #expect(changed.warnings.contains { $0.field == "oauth.callback" })
        #expect(try await admin.push("a new MVPD").refusal?.problems.map(\.field) == ["mvpds/NewFiber: oauth.callback"])
        let text = AdministrationWorld.catalogue.replacingOccurrences(
            of: #""mvpds": ["#, with: #""mvpds": [\#(Self.newRecord(#""callback": "shared", "#)),"#)
        try admin.world.write(text, to: "catalogue.json")
        let refused = await #expect(throws: CatalogueRefused.self) { try await admin.keeper.load() }
        #expect(refused?.problems.map(\.path) == ["mvpds/NewFiber: oauth.callback"])
    }

    @Test("bridge §7.4: sign-ins that are to be confirmed, and end at the app's page: a push that adds the pair is refused, one that is there stays")
    func unconfirmablePair() async throws {
        let requestor = #""programmer": "harbor", "domains": ["news.example"]"#
        let upstream =
            #""upstreams": [{"id": "vendor", "baseUrl": "https://api.vendor.example", "clients": [{"id": "c", "statementReference": "tiny-secret", "requestors": "all", "platforms": "all"}]}],"#
        let bare = AdministrationWorld.catalogue.replacingOccurrences(
            of: #""requestors": ["#, with: #"\#(upstream) "requestors": ["#, options: [],
            range: AdministrationWorld.catalogue.range(of: #""requestors": ["#))
        let bridged = bare.replacingOccurrences(of: requestor, with: requestor + #", "upstream": {"upstream": "vendor"}"#)
        let admin = try await AdministrationWorld(catalogue: bridged)
        let changed = try await admin.edit(.requestor, "NEWS") { $0["confirmsSignIn"] = true }.changed()
        #expect(changed.warnings.contains { $0.field == "confirmsSignIn" })
        #expect(try await admin.push("confirm").refusal?.problems.map(\.field) == ["requestors/NEWS: confirmsSignIn"])
        try await admin.edit(.requestor, "NEWS") { $0["upstream"] = ["upstream": "vendor", "returnOrigin": "https://login.news.example"] }.changed()
        #expect(try await admin.push("confirm").refusal == nil)
        // One of before stays as it is, and editable.
        let kept = bridged.replacingOccurrences(of: requestor, with: requestor + #", "confirmsSignIn": true"#)
        let older = try await AdministrationWorld(catalogue: kept)
        try await older.edit(.requestor, "NEWS") { $0["name"] = "Late News" }.changed()
        #expect(try await older.push("a name").refusal == nil)
    }

    private static func newRecord(_ members: String = "") -> String {
        #"""
        {"id": "NewFiber", "displayName": "New Fiber", "authzTtl": 3600, "authorization": {"protocol": "none"},
         "oauth": {\#(members)"issuer": "https://new.example", "authorizeUrl": "https://new.example/a", "tokenUrl": "https://new.example/t",
                   "profileUrl": "https://new.example/p", "clientId": "us", "clientSecretReference": "tiny-secret"}}
        """#
    }
}
