import CatalogueSamples
@testable import ConfigService
import ContractRuntime
import Contracts
import Cryptography
import Faults
import Testing
import Tokens

/// The keys of software statements that copies of the service have, publish and sign with.
@Suite("Keys of software statements", .eachEngine)
struct KeySuccessionTests {
    private static func key() throws -> JoseSigningKey { JoseSigningKey(try P256PrivateKey.generate()) }

    private func published(_ admin: AdministrationWorld) throws -> [String] {
        try JSONWebKeySet(json: admin.published.configuration.statementKeys).keys.map(\.identifier)
    }

    private func hear(_ admin: AdministrationWorld) async {
        await CatalogueFollower(store: CatalogueStore(admin.store), published: admin.published, logger: CatalogueFolder.silent).ask()
    }

    private func statement(_ admin: AdministrationWorld) async throws -> String {
        let request = DownloadSoftwareStatementRequest(token: AdministrationWorld.Who.olga.token, applicationID: "news-tv")
        return try await admin.service.downloadSoftwareStatement(request, context: CallContext()).statement
    }

    private func verify(_ statement: String, _ admin: AdministrationWorld) throws {
        let keys = try JSONWebKeySet(json: admin.published.configuration.statementKeys)
        _ = try SoftwareStatementVerifier(keySet: keys).verify(statement)
    }

    @Test("a key that the file has now goes to services as one new version, also while the catalogue file is of no use, and signs after the lead")
    func succession() async throws {
        let (first, second) = (try Self.key(), try Self.key())
        let admin = try await AdministrationWorld(keys: SigningKeyFiles(current: first))
        let version = admin.published.configuration.version
        #expect(try await admin.statements.signingKeyName() == first.identifier, "a store's first key needs no lead")
        #expect(await admin.statements.takenOver() == nil)
        try await admin.publisher.publishStatementKeys()
        #expect(admin.published.configuration.version == version, "it is known")
        try admin.world.write("broken", to: "catalogue.json")
        admin.keys.adopt(SigningKeyFiles(current: second))
        for _ in 0..<2 { try await admin.publisher.publishStatementKeys() }
        #expect(admin.published.configuration.version == version + 1)
        #expect(try published(admin) == [first.identifier, second.identifier], "the one before stays")
        admin.world.clock.advance(by: .seconds(59))
        let early = try await statement(admin)
        #expect(try await admin.statements.signingKeyName() == first.identifier)
        #expect(await admin.statements.takenOver() == nil)
        admin.world.clock.advance(by: .seconds(1))
        #expect(await admin.statements.takenOver() == second.identifier)
        #expect(await admin.statements.takenOver() == nil)
        for text in [early, try await statement(admin)] { try verify(text, admin) }
    }

    @Test("copies with different files publish the keys of both, and do not take turns")
    func union() async throws {
        let (first, second, next) = (try Self.key(), try Self.key(), try Self.key())
        let one = try await AdministrationWorld(keys: SigningKeyFiles(current: first))
        let other = try await AdministrationWorld(one.world, keys: SigningKeyFiles(current: second, next: next, older: [first.publicKey]))
        await hear(one)
        let version = one.published.configuration.version
        #expect(Set(try published(one)) == [first.identifier, second.identifier, next.identifier])
        for _ in 0..<2 {
            for copy in [one, other] {
                try await copy.publisher.publishStatementKeys()
                try await copy.publisher.change { _ in }
            }
        }
        #expect(one.published.configuration.version == version)
        #expect(try other.published.encoded() == one.published.encoded())
        let fault = await #expect(throws: Fault.self) { try await statement(other) }
        #expect(fault?.code == .unavailable && fault?.retryAfter == .seconds(60), "not every service may know it yet")
        try verify(try await statement(one), one)
        one.world.clock.advance(by: .seconds(60))
        try verify(try await statement(other), one)
        #expect(try await other.statements.signingKeyName() == second.identifier)
    }

    @Test("an operator takes a key out: services know it no more, nobody signs with it, and no file brings it back; the last one stays")
    func retirement() async throws {
        let (first, second) = (try Self.key(), try Self.key())
        let admin = try await AdministrationWorld(keys: SigningKeyFiles(current: first, next: second))
        let issued = try await statement(admin)
        func retire(_ key: JoseSigningKey, as who: AdministrationWorld.Who = .olga) async throws -> [StatementKey] {
            let request = RetireStatementKeyRequest(token: who.token, keyID: key.identifier)
            return try await admin.service.retireStatementKey(request, context: CallContext()).keys
        }
        for who in [AdministrationWorld.Who.ed, .vic] { #expect(try await code { try await retire(first, as: who) } == .insufficientRole) }
        #expect(try await code { try await retire(Self.key()) } == .notFound)
        let keys = try await retire(first)
        #expect(Set(keys.filter { $0.retiredAtMilliseconds > 0 }.map(\.id)) == [first.identifier] && keys.count == 2)
        #expect(try published(admin) == [second.identifier])
        #expect(throws: TokenRejection.self) { try verify(issued, admin) }
        #expect(try await admin.statements.signingKeyName() == second.identifier)
        #expect(try await code { try await retire(first) } == .notFound)
        #expect(try await code { try await retire(second) } == .invalidRequest)
        #expect(try await admin.audit().first?.action == "statement_key_retired")
        let version = admin.published.configuration.version
        try await admin.publisher.publishStatementKeys()
        #expect(admin.published.configuration.version == version)
        await admin.store.close()
        let again = try await AdministrationWorld(admin.world, keys: SigningKeyFiles(current: first))
        #expect(try published(again) == [second.identifier])
        #expect(try await code { try await statement(again) } == .unavailable)
        let list = ListStatementKeysRequest(token: AdministrationWorld.Who.olga.token)
        #expect(try await again.service.listStatementKeys(list, context: CallContext()).keys == keys)
    }
}
