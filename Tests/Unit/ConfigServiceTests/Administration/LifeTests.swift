import CatalogueFiles
@testable import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Storage
import Testing

/// Ids that one programmer had, and another one has (decision 0090).
@Suite("Lives of entries", .eachEngine)
struct LifeTests {
    private typealias Who = AdministrationWorld.Who

    private static let digest = String(repeating: "ab", count: 32)

    private static func application(_ programmer: String, _ requestor: String, _ more: String = "") -> String {
        """
        {"id": "ops", "name": "Ops", "programmer": "\(programmer)", "requestors": ["\(requestor)"], "platforms": "all",
         "scopes": ["api:client:v1", "analytics:client"]\(more)}
        """
    }

    private static let identities =
        #", "legacyStatements": ["\#(digest)"], "clients": [{"clientId": "shared-client", "secret": "tiny-secret"}]"#

    private func found(_ admin: AdministrationWorld) throws -> Application {
        try #require(admin.published.configuration.applications.first { $0.id == "ops" })
    }

    private func requestor(_ admin: AdministrationWorld, _ id: String) throws -> Requestor {
        try #require(admin.published.configuration.requestors.first { $0.id == id })
    }

    /// A push of an operator's, some time after what was before.
    private func change(_ admin: AdministrationWorld, _ body: () async throws -> EntityOutcome.Outcome) async throws {
        admin.world.clock.advance(by: .seconds(10))
        try await body().changed()
        try await admin.push().version()
    }

    @Test("an application of another programmer's with a former id has neither its statements, nor its listed statements and clients")
    func anotherCompany() async throws {
        let admin = try await AdministrationWorld()
        try await change(admin) { try await admin.create(.application, Self.application("harbor", "NEWS", Self.identities)) }
        let first = try found(admin)
        let born = UInt64(admin.world.clock.now().milliseconds)
        #expect(first.softwareIDs.count == 1 && first.legacySinceMilliseconds == [born] && first.clients[0].sinceMilliseconds == born)
        try await change(admin) { try await admin.delete(.application, "ops") }
        try await change(admin) { try await admin.create(.application, Self.application("reef", "SPORT", Self.identities)) }
        let second = try found(admin)
        let now = UInt64(admin.world.clock.now().milliseconds)
        #expect(second.softwareIDs.count == 1 && second.softwareIDs != first.softwareIDs)
        #expect(second.legacySinceMilliseconds == [now] && second.clients[0].sinceMilliseconds == now)
        #expect(try await admin.audit().contains { $0.action == "statements_revoked" && $0.text.contains(first.softwareIDs[0]) })
        // The first has it again: its time was over.
        try await change(admin) { try await admin.delete(.application, "ops") }
        try await change(admin) { try await admin.create(.application, Self.application("harbor", "NEWS", Self.identities)) }
        #expect(Set(try found(admin).softwareIDs).isDisjoint(with: first.softwareIDs + second.softwareIDs))
        #expect(try await admin.verdict().isIntact)
    }

    @Test("deleted and made again by the same programmer, restored, or moved by an operator it goes on with its statements and its time")
    func sameLife() async throws {
        let admin = try await AdministrationWorld()
        try await change(admin) { try await admin.create(.application, Self.application("harbor", "NEWS", Self.identities)) }
        let (first, version) = (try found(admin), admin.published.configuration.version)
        try await change(admin) { try await admin.delete(.application, "ops") }
        try await change(admin) { try await admin.create(.application, Self.application("harbor", "NEWS", Self.identities)) }
        #expect(try found(admin) == first)
        try await change(admin) { try await admin.delete(.application, "ops") }
        admin.world.clock.advance(by: .seconds(10))
        _ = try await admin.service.restoreVersion(RestoreVersionRequest(token: Who.olga.token, version: version), context: CallContext())
        try await admin.push("restored").version()
        #expect(try found(admin) == first)
        // An operator moves it in one version.
        try await change(admin) {
            try await admin.edit(.application, "ops") {
                $0["programmer"] = "reef"
                $0["requestors"] = ["SPORT"]
            }
        }
        let moved = try found(admin)
        #expect(moved.softwareIDs == first.softwareIDs && moved.clients == first.clients)
        #expect(moved.legacySinceMilliseconds == first.legacySinceMilliseconds)
    }

    @Test("a listed statement and a client that move between applications of one programmer keep their time")
    func movedIdentity() async throws {
        let admin = try await AdministrationWorld()
        try await change(admin) { try await admin.create(.application, Self.application("harbor", "NEWS", Self.identities)) }
        let first = try found(admin)
        try await change(admin) { try await admin.delete(.application, "ops") }
        try await change(admin) {
            try await admin.edit(.application, "news-tv") {
                $0["legacyStatements"] = [Self.digest]
                $0["clients"] = [["clientId": "shared-client", "secret": "tiny-secret"]]
            }
        }
        let news = try #require(admin.published.configuration.applications.first { $0.id == "news-tv" })
        #expect(news.legacySinceMilliseconds == first.legacySinceMilliseconds && news.clients == first.clients)
    }

    @Test(
        "what a store began with was there since ever; a requestor of another programmer's begins with its own push, and so do its degradation rules")
    func requestors() async throws {
        let admin = try await AdministrationWorld()
        #expect(try requestor(admin, "NEWS").sinceMilliseconds == 0)
        func kids(_ programmer: String) -> String { #"{"id": "KIDS", "name": "Kids", "programmer": "\#(programmer)", "domains": []}"# }
        try await change(admin) { try await admin.create(.requestor, kids("harbor")) }
        try await change(admin) { try await admin.create(.integration, #"{"requestor": "KIDS", "mvpd": "TinyCable"}"#) }
        let born = try requestor(admin, "KIDS").sinceMilliseconds
        let rule = StartDegradationRequest(
            token: Who.ed.token, kind: .authnAll, requestorID: "KIDS", mvpdIDs: ["TinyCable"],
            endsAtMilliseconds: UInt64(admin.world.clock.now().milliseconds) + 3_600_000, reason: "x")
        guard case .started = try await admin.service.startDegradation(rule, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "not started")
        }
        #expect(admin.published.configuration.degradationRules.count == 1)
        try await change(admin) { try await admin.delete(.integration, "KIDS/TinyCable") }
        try await change(admin) { try await admin.delete(.requestor, "KIDS") }
        try await change(admin) { try await admin.create(.requestor, kids("reef")) }
        try await change(admin) { try await admin.create(.integration, #"{"requestor": "KIDS", "mvpd": "TinyCable"}"#) }
        #expect(try requestor(admin, "KIDS").sinceMilliseconds > born)
        #expect(admin.published.configuration.degradationRules.isEmpty)
        let list = try await admin.service.listDegradationRules(.init(token: Who.rita.token), context: CallContext())
        #expect(list.rules.isEmpty)
    }

    @Test("an MVPD that another proxy lists is another one; while one proxy has it, lists that come and go change nothing")
    func listedMvpds() throws {
        func proxied(_ proxy: String) -> String {
            #"{"id": "Small", "displayName": "Small", "proxy": {"mvpd": "\#(proxy)", "listed": true}}"#
        }
        func owners(_ json: String?) throws -> [LivingKey: String] {
            let mvpds = json.map { "[\($0)]" } ?? "[]"
            return try CatalogueDocument(
                parsing: Array(#"{"programmers":[],"requestors":[],"mvpds":\#(mvpds),"integrations":[]}"#.utf8)
            ).livingOwners()
        }
        #expect(try owners(proxied("One"))[LivingKey(.mvpd, "Small")] == "One")
        #expect(try owners(proxied("Two"))[LivingKey(.mvpd, "Small")] == "Two")
        #expect(try owners(#"{"id": "Small", "displayName": "Small"}"#)[LivingKey(.mvpd, "Small")] == "")
        #expect(try owners(nil).isEmpty)
    }

    @Test(
        "a store of the last release begins its lives with the first version of each, and ends the statements from before once, with a line in the log"
    )
    func upgrade() async throws {
        let admin = try await AdministrationWorld()
        try await change(admin) { try await admin.create(.application, Self.application("harbor", "NEWS")) }
        let first = try found(admin).softwareIDs
        try await change(admin) { try await admin.delete(.application, "ops") }
        try await change(admin) { try await admin.create(.application, Self.application("reef", "SPORT")) }
        let second = try found(admin).softwareIDs
        let kept = try #require(admin.published.configuration.applications.first { $0.id == "news-tv" }?.softwareIDs)
        // As that release left it.
        try await admin.store.write { database in
            for table in ["entry_life", "progress", "secret_owner"] { try database.run(.init("DELETE FROM \(table)")) }
            try database.run("UPDATE statement SET revoked_at_ms = NULL")
        }
        // The log of the start tells this.
        let now = admin.world.clock.now()
        let ended = try await admin.store.read {
            try CatalogueLedger(database: $0, now: now, documents: DocumentCache(), isRehearsal: true).publish(keys: []).endedStatements
        }
        #expect(ended == [EndedStatement(softwareID: first[0], application: "ops", programmer: "reef")])
        await admin.store.close()
        admin.world.clock.advance(by: .seconds(100))
        let again = try await AdministrationWorld(admin.world)
        #expect(try found(again).softwareIDs == second)
        #expect(again.published.configuration.applications.first { $0.id == "news-tv" }?.softwareIDs == kept)
        #expect(try requestor(again, "NEWS").sinceMilliseconds == 0)
        func ends(_ admin: AdministrationWorld) async throws -> Int {
            try await admin.audit().count { $0.action == "statements_revoked" && $0.author == "time" && $0.text.contains(first[0]) }
        }
        // By the release before, and by this start.
        #expect(try await ends(again) == 2)
        await again.store.close()
        #expect(try await ends(try await AdministrationWorld(admin.world)) == 2)
    }
}
