import CatalogueSamples
import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Storage
import StorageSqlite
import Testing

@Suite("History of the catalogue", .eachEngine)
struct HistoryTests {
    @Test("a restart without a change of the file keeps the pushed version and its number")
    func restart() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await admin.push().version()
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Later" }.changed()
        let before = admin.published.configuration
        await admin.store.close()
        admin.world.clock.advance(by: .seconds(1000))
        let again = try await AdministrationWorld(admin.world)
        #expect(again.published.configuration == before)
        #expect(try await again.draft().changes.map(\.newJson) == [#""Later""#])
        #expect(try await again.audit().count == 2)
    }

    @Test("dashboard #26: what was committed is published after a death between the two, whole, and is then a success")
    func deathAfterCommit() async throws {
        let admin = try await AdministrationWorld()
        let elsewhere = try PublishedCatalogue(PublishedCatalogue.Edition(admin.published.configuration))
        // Commits as the service does, without a publisher.
        let dying = AdministrationService(
            publisher: CataloguePublisher(
                store: CatalogueStore(admin.store), published: elsewhere, statementKeys: { CatalogueFolder.noKeys }, clock: admin.world.clock),
            administratorRegistry: try Self.administratorRegistry(), statements: admin.statements, isApprovalRequired: false,
            logger: CatalogueFolder.silent)
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        let request = PushDraftRequest(token: AdministrationWorld.Who.olga.token, description: "last words")
        let version = try #require(try await dying.pushDraft(request, context: CallContext()).outcome).version()
        #expect(admin.requestorName("NEWS") == "News")
        await admin.store.close()
        let again = try await AdministrationWorld(admin.world)
        #expect(again.requestorName("NEWS") == "Late")
        #expect(again.published.configuration.version == version.version)
        #expect(try await again.versions().first?.status == .success)
    }

    private static func administratorRegistry() throws -> AdministratorRegistry {
        var administratorRegistry = AdministratorRegistry()
        try administratorRegistry.add("olga", .operator, token: AdministrationWorld.Who.olga.token)
        return administratorRegistry
    }

    @Test(
        "dashboard #29: whoever changes a record, a version or a document in the store is found out",
        arguments: [
            ("UPDATE audit SET author = 'nobody' WHERE number = 2", "audit record 2"),
            ("DELETE FROM audit WHERE number = 2", "audit record"),
            ("UPDATE audit SET text = text || '!' WHERE number = 1", "audit record 1"),
            ("UPDATE version SET description = 'harmless' WHERE origin = 0", "version"),
            ("DELETE FROM version WHERE version = (SELECT min(version) FROM version)", "version"),
            ("UPDATE document SET content = draft.content FROM draft", "document"),
        ])
    func manipulation(sql: String, place: String) async throws {
        let admin = try await AdministrationWorld()
        for name in ["Late", "Later"] {
            try await admin.edit(.requestor, "NEWS") { $0["name"] = name }.changed()
            try await admin.push().version()
        }
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Latest" }.changed()
        let verdict = try await admin.verdict()
        #expect(verdict.isIntact && verdict.versions == 3 && verdict.auditRecords == 3)
        try await Self.disarm(admin.store)
        try await admin.store.write { try $0.run(Statement(sql)) }
        let broken = try await admin.verdict()
        #expect(!broken.isIntact)
        #expect(broken.problems.contains { $0.contains(place) })
    }

    /// Takes the triggers away, as whoever owns the tables can.
    private static func disarm(_ store: Store) async throws {
        let engine = ConfigEngine.current
        try await store.write { database in
            for table in ["version", "audit", "document"] {
                switch engine {
                case .sqlite: for trigger in ["stays", "remains"] { try database.run(.init("DROP TRIGGER \(table)_\(trigger)")) }
                case .postgres: try database.run(.init("ALTER TABLE \(table) DISABLE TRIGGER USER"))
                }
            }
        }
    }

    @Test("the audit log comes in pages, and each reader's pages hold what is theirs")
    func auditPages() async throws {
        let admin = try await AdministrationWorld()
        for (who, id) in [(AdministrationWorld.Who.ed, "NEWS"), (.rita, "SPORT"), (.ed, "NEWS")] {
            for name in ["Late", "Later"] {
                try await admin.edit(.requestor, id, as: who) { $0["name"] = name }.changed()
                try await admin.push(name, as: who).version()
            }
        }
        func page(_ who: AdministrationWorld.Who, _ number: UInt32) async throws -> AuditPage {
            let request = ListAuditRecordsRequest(token: who.token, page: PageRequest(page: number, size: 4))
            return try await admin.service.listAuditRecords(request, context: CallContext())
        }
        #expect(try await page(.olga, 1).records.map(\.number) == [7, 6, 5, 4])
        #expect(try await page(.olga, 2).records.map(\.number) == [3, 2, 1])
        #expect(try await page(.vic, 1).records.map(\.number) == [7, 6, 3, 2])
        #expect(try await page(.vic, 2).records.map(\.number) == [1])
        #expect(try await page(.vic, 2).total == 5)
        #expect(try await page(.rita, 9).records.isEmpty)
    }

    @Test(
        "the store itself refuses to change or delete records",
        arguments: ["UPDATE audit SET text = ''", "DELETE FROM version", "UPDATE document SET sha256 = ''", "DELETE FROM document"])
    func appendOnly(sql: String) async throws {
        let admin = try await AdministrationWorld()
        await #expect(throws: Fault.self) { try await admin.store.write { try $0.run(Statement(sql)) } }
        #expect(try await admin.verdict().isIntact)
    }

    @Test("a live document that was changed in the store is not served")
    func changedDocument() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await admin.push().version()
        try await Self.disarm(admin.store)
        try await admin.store.write { database in
            let contents: [[UInt8]] = try database.values("SELECT content FROM document")
            for content in contents {
                let changed = String(decoding: content, as: UTF8.self).replacingOccurrences(of: "Late", with: "Fake")
                try database.run("UPDATE document SET content = ? WHERE content = ?", [Array(changed.utf8), content])
            }
        }
        await admin.store.close()
        let fault = await #expect(throws: Fault.self) { try await AdministrationWorld(admin.world) }
        #expect(fault?.code == .internal)
    }

    @Test("a store of the first release is taken over with its version and its software ids")
    func oldStore() async throws {
        let world = try CatalogueFolder()
        let old = try Store(file: world.path + "/config.sqlite", name: "config", migrations: [CatalogueStore.migrations[0]])
        try await old.write { database in
            try database.run("INSERT INTO catalogue_version VALUES (2000000000, 1, x'00')")
            try database.run("INSERT INTO software_statement VALUES ('news-tv', 'known-id', 1)")
        }
        await old.close()
        let configuration = try await world.watcher(try world.store(.sqlite)).load().configuration
        #expect(configuration.version == 2_000_000_001)
        #expect(configuration.applications.map(\.softwareIDs) == [["known-id"]])
    }

    @Test("rules keep their order when they get numbers, and one that the release before writes beside them gets the next")
    func numbersRules() async throws {
        let world = try CatalogueFolder()
        let released = CatalogueStore.migrations.prefix { $0.name != "4-numbers-of-rules" }
        let old = try Store(file: world.path + "/config.sqlite", name: "config", migrations: Array(released))
        let insert: Statement = "INSERT INTO degradation_rule (id, rule, author, reason, ends_at_ms) VALUES (?, x'', 'ed', '', 1)"
        try await old.write { database in
            for id in ["c", "a"] { try database.run(insert, [id]) }
        }
        await old.close()
        let store = try world.store(.sqlite)
        try await store.write { try $0.run(insert, ["b"]) }
        #expect(try await store.read { try $0.values("SELECT id FROM degradation_rule ORDER BY number") } == ["c", "a", "b"])
        await store.close()
    }

    @Test("certificates of files are kept as text, so that the catalogue can be edited without them")
    func inlinedCertificates() async throws {
        let world = try CatalogueFolder()
        let first = try await AdministrationWorld(world)
        #expect(first.published.configuration.mvpds.first?.id == "TinyCable")
        let entity = try await first.get(.mvpd, "TinyCable")
        #expect(entity.json.contains("BEGIN CERTIFICATE") && !entity.json.contains("idp.crt"))
        let before = first.published.configuration.mvpds
        try await first.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await first.push().version()
        #expect(first.published.configuration.mvpds == before)
    }
}
