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

    /// The state that a release before left: it published the document, and knew one callback.
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
        let outcome = try #require(try await admin.watcher.importFile(isForced: false))
        #expect(outcome.verdict == .unchanged && outcome.pushed.isEmpty)
        // Changed, it says nothing of the callback.
        let text = AdministrationWorld.catalogue.replacingOccurrences(of: #""name": "News", "#, with: #""name": "Late News", "#)
        try admin.world.write(text, to: "catalogue.json")
        await admin.watcher.reload(into: admin.published)
        #expect(admin.published.configuration.requestors.first?.name == "Late News")
        #expect(Self.callback(admin.published.configuration) == .shared)
        // Nor does it once it is taken in, or at the next start.
        let again = try #require(try await admin.watcher.importFile(isForced: false))
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
        // It shared before, and may again.
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["callback"] = "shared"
            entry["oauth"] = oauth
        }.changed()
        try await admin.push("shared again").version()
        #expect(Self.callback(admin.published.configuration) == .shared)
    }

    @Test("a record that a draft deletes and makes again without its callback is no change of the draft")
    func madeAgain() async throws {
        let first = try await AdministrationWorld()
        try await Self.age(first)
        await first.store.close()
        let admin = try await AdministrationWorld(first.world)
        let json = try await admin.get(.mvpd, "TinyCable").json
        for requestor in ["NEWS", "SPORT"] { try await admin.delete(.integration, "\(requestor)/TinyCable").changed() }
        try await admin.delete(.mvpd, "TinyCable").changed()
        let unsaid = json.replacingOccurrences(of: #""callback":"shared","#, with: "")
        #expect(unsaid != json)
        try await admin.create(.mvpd, unsaid).changed()
        #expect(try await admin.draft().changes.filter { $0.kind == .mvpd }.isEmpty)
    }

    /// A store that was upgraded, whose only OAuth record is gone again.
    /// - Returns: With the versions of before the upgrade, of the upgrade, and the newest.
    private static func deleted(
        _ catalogue: String = AdministrationWorld.catalogue
    ) async throws -> (admin: AdministrationWorld, before: UInt64, upgrade: UInt64, newest: UInt64) {
        let first = try await AdministrationWorld(catalogue: catalogue)
        try await age(first)
        await first.store.close()
        first.world.clock.advance(by: .seconds(10))
        let admin = try await AdministrationWorld(first.world)
        let versions = try await admin.versions().map(\.version)
        #expect(versions.count == 2)
        admin.world.clock.advance(by: .seconds(10))
        for requestor in ["NEWS", "SPORT"] { try await admin.delete(.integration, "\(requestor)/TinyCable").changed() }
        try await admin.delete(.mvpd, "TinyCable").changed()
        let newest = try await admin.push("without it").version()
        admin.world.clock.advance(by: .seconds(10))
        return (admin, versions[1], versions[0], newest.version)
    }

    private static func restore(_ admin: AdministrationWorld, _ version: UInt64) async throws -> CatalogueDraft {
        let request = RestoreVersionRequest(token: AdministrationWorld.Who.olga.token, version: version)
        guard case .draft(let draft)? = try await admin.service.restoreVersion(request, context: .init()).outcome else {
            throw AdministrationWorld.Unexpected(description: "not restored")
        }
        return draft
    }

    @Test(
        "a deleted record that shared is restored as it was, from a version of the upgrade and from one of before, and the draft tells what the push does"
    )
    func restored() async throws {
        for isBefore in [false, true] {
            let (admin, before, upgrade, newest) = try await Self.deleted()
            let draft = try await Self.restore(admin, isBefore ? before : upgrade)
            let entry = try #require(draft.changes.first { $0.kind == .mvpd && $0.entityID == "TinyCable" })
            #expect(entry.newJson.contains(#""callback":"shared""#))
            let version = try await admin.push("restored").version()
            #expect(Self.callback(admin.published.configuration) == .shared)
            #expect(try await admin.compare(newest, version.version) == draft.changes)
        }
    }

    @Test("restoring a version of before the upgrade takes away no callback that is there, and has one that left share again")
    func restoredOver() async throws {
        let (admin, before, upgrade, _) = try await Self.deleted()
        _ = try await Self.restore(admin, upgrade)
        let shared = try await admin.push("restored").version()
        #expect(try await Self.restore(admin, before).changes.isEmpty)
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["callback"] = "own"
            entry["oauth"] = oauth
        }.changed()
        let own = try await admin.push("its own callback").version()
        let draft = try await Self.restore(admin, before)
        #expect(draft.changes.map(\.property) == ["oauth.callback"])
        let again = try await admin.push("shared again").version()
        #expect(try await admin.compare(own.version, again.version) == draft.changes)
        #expect(try await admin.compare(shared.version, again.version).isEmpty)
    }

    @Test("what a record that was made anew after the upgrade does not say is its own, also when that version is restored")
    func restoredAnew() async throws {
        let (admin, _, _, _) = try await Self.deleted()
        try await admin.create(.mvpd, Self.newRecord(id: "TinyCable")).changed()
        let anew = try await admin.push("anew").version()
        #expect(Self.callback(admin.published.configuration) == .own)
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["callback"] = "shared"
            entry["oauth"] = oauth
        }.changed()
        let shared = try await admin.push("shared again").version()
        let draft = try await Self.restore(admin, anew.version)
        let restored = try await admin.push("anew again").version()
        #expect(Self.callback(admin.published.configuration) == .own)
        #expect(try await admin.compare(shared.version, restored.version) == draft.changes)
    }

    @Test("a deleted record that shared may be pushed and imported so again; after another owner had its id it is a new one")
    func broughtBack() async throws {
        let shared = Self.newRecord(#""callback": "shared", "#, id: "TinyCable")
        let (pushed, _, _, _) = try await Self.deleted()
        try await pushed.create(.mvpd, shared).changed()
        try await pushed.push("by hand").version()
        #expect(Self.callback(pushed.published.configuration) == .shared)

        let (imported, _, _, _) = try await Self.deleted()
        let text = AdministrationWorld.catalogue.replacingOccurrences(of: #""oauth": {"#, with: #""oauth": {"callback": "shared","#)
        try imported.world.write(text, to: "catalogue.json")
        #expect(try await imported.watcher.importFile(isForced: true)?.verdict == .taken)
        #expect(Self.callback(try await imported.watcher.load().configuration) == .shared)

        let proxied = AdministrationWorld.catalogue.replacingOccurrences(
            of: #""mvpds": ["#,
            with: #"""
                "mvpds": [
                    {"id": "BigProxy", "displayName": "Big Proxy", "authzTtl": 3600, "authnTtl": 86400, "authorization": {"protocol": "none"},
                     "saml": {"idpEntityId": "https://idp.big.example", "ssoUrl": "https://idp.big.example/sso", "requestBinding": "post",
                              "signingCertificates": [{"file": "idp.crt"}]}},
                """#)
        let (foreign, before, _, _) = try await Self.deleted(proxied)
        for records in ["<proxiedMvpd><id>TinyCable</id><displayName>Tiny</displayName><logoURL></logoURL></proxiedMvpd>", ""] {
            let list =
                #"<?xml version="1.0" encoding="UTF-8"?><proxiedMvpds xmlns="http://tve.adobe.com/data/proxiedmvpd">\#(records)</proxiedMvpds>"#
            let request = ReplaceProxiedMvpdsRequest(token: AdministrationWorld.Who.watcher.token, proxyMvpdID: "BigProxy", document: list)
            guard case .version? = try await foreign.service.replaceProxiedMvpds(request, context: .init()).outcome else {
                throw AdministrationWorld.Unexpected(description: "not listed")
            }
            foreign.world.clock.advance(by: .seconds(10))
        }
        try await foreign.create(.mvpd, shared).changed()
        #expect(try await foreign.push("by hand").refusal?.problems.map(\.field) == ["mvpds/TinyCable: oauth.callback"])
        _ = try await foreign.service.discardDraft(.init(token: AdministrationWorld.Who.olga.token), context: .init())
        _ = try await Self.restore(foreign, before)
        try await foreign.push("restored").version()
        #expect(Self.callback(foreign.published.configuration) == .own)
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
        let refused = await #expect(throws: CatalogueRejection.self) { try await admin.watcher.load() }
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

    private static func newRecord(_ members: String = "", id: String = "NewFiber") -> String {
        #"""
        {"id": "\#(id)", "displayName": "New Fiber", "authzTtl": 3600, "authorization": {"protocol": "none"},
         "oauth": {\#(members)"issuer": "https://new.example", "authorizeUrl": "https://new.example/a", "tokenUrl": "https://new.example/t",
                   "profileUrl": "https://new.example/p", "clientId": "us", "clientSecretReference": "tiny-secret"}}
        """#
    }
}
