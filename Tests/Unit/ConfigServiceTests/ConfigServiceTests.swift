import CatalogueSamples
@testable import ConfigService
import ContractRuntime
import Contracts
import Cryptography
import Faults
import Synchronization
import Testing
import Tokens

@Suite("Config operations")
struct ConfigServiceTests {
    private let published: PublishedCatalogue
    private let service: ConfigService
    private let keys: StatementKeys
    private let folder: CatalogueFolder
    private let configuration = Configuration(
        version: 7, applications: [Application(id: "news-tv", name: "News TV", softwareIDs: ["soft-1"]), Application(id: "revoked")])

    init() async throws {
        let folder = try CatalogueFolder()
        let store = CatalogueStore(try folder.store())
        let keys = StatementKeys(SigningKeyFiles(current: JoseSigningKey(try P256PrivateKey.generate())), lead: .zero)
        published = try PublishedCatalogue(PublishedCatalogue.Edition(configuration))
        _ = try await store.write(now: folder.clock.now()) { try $0.keySet(with: keys.published) }
        (self.folder, self.keys) = (folder, keys)
        service = ConfigService(
            published: published, statements: StatementSigner(keys: keys, store: store, issuer: "boxoffice", clock: folder.clock),
            statementCallers: ["operator.boxoffice"])
    }

    private let asOperator = CallContext(caller: "operator.boxoffice")

    @Test("the configuration is answered as it is, over both paths")
    func answersConfiguration() async throws {
        #expect(try await service.getConfiguration(GetConfigurationRequest(), context: CallContext()) == configuration)
        var registry = ImmediateRegistry()
        service.register(in: &registry)
        let immediate = try #require(registry.immediate["GetConfiguration"])
        let encoded = try #require(try immediate(UnsafeRawBufferPointer(start: nil, count: 0), CallContext()))
        #expect(try Configuration(serialized: encoded) == configuration)
        var next = configuration
        next.version = 8
        try published.publish(PublishedCatalogue.Edition(next))
        #expect(try immediate(UnsafeRawBufferPointer(start: nil, count: 0), CallContext()).map(Configuration.init(serialized:)) == next)
    }

    @Test("a subscriber gets the current version at once, then newer ones")
    func watches() async throws {
        var items = try await service.watchConfiguration(WatchConfigurationRequest(), context: CallContext()).makeAsyncIterator()
        #expect(try await items.next()?.version == 7)
        var next = configuration
        next.version = 8
        try published.publish(PublishedCatalogue.Edition(next))
        #expect(try await items.next()?.version == 8)
    }

    @Test("a version that the subscriber has is not sent again")
    func skipsKnownVersion() async throws {
        let stream = try await service.watchConfiguration(WatchConfigurationRequest(knownVersion: 7), context: CallContext())
        var next = configuration
        next.version = 9
        try published.publish(PublishedCatalogue.Edition(next))
        var items = stream.makeAsyncIterator()
        #expect(try await items.next()?.version == 9)
    }

    @Test("a subscriber that goes is forgotten")
    func forgetsSubscribers() {
        var stream: AsyncThrowingStream<UInt64, any Error>? = published.subscribe(knownVersion: 0) { $0.configuration.version }
        #expect(stream != nil && published.subscriberCount == 1)
        stream = nil
        #expect(published.subscriberCount == 0)
    }

    @Test("a slow subscriber gets the newest version only")
    func newestOnly() async throws {
        let stream = try await service.watchConfiguration(WatchConfigurationRequest(), context: CallContext())
        for version in 8...20 {
            var next = configuration
            next.version = UInt64(version)
            try published.publish(PublishedCatalogue.Edition(next))
        }
        var items = stream.makeAsyncIterator()
        #expect(try await items.next()?.version == 20)
    }

    @Test("subscriptions end with a fault when the program stops: the versions have not come to their end")
    func endsSubscriptions() async throws {
        let stream = try await service.watchConfiguration(WatchConfigurationRequest(knownVersion: 7), context: CallContext())
        published.endSubscriptions()
        let fault = await #expect(throws: Fault.self) { for try await _ in stream {} }
        #expect(fault?.code == .unavailable)
    }

    @Test("a software statement is signed by the published key and names the application")
    func issuesStatement() async throws {
        let issued = try await service.issueSoftwareStatement(IssueSoftwareStatementRequest(applicationID: "news-tv"), context: asOperator)
        #expect(issued.softwareID == "soft-1")
        let verified = try SoftwareStatementVerifier(keySet: JSONWebKeySet(keys: keys.published)).verify(issued.statement)
        #expect(verified.softwareID == "soft-1")
        #expect(verified.applicationID == "news-tv")
        #expect(verified.applicationName == "News TV")
    }

    @Test("only the operator may have statements issued", arguments: ["gateway.boxoffice", nil])
    func refusesOthers(caller: String?) async throws {
        let fault = await #expect(throws: Fault.self) {
            try await service.issueSoftwareStatement(IssueSoftwareStatementRequest(applicationID: "news-tv"), context: CallContext(caller: caller))
        }
        #expect(fault?.code == .permissionDenied)
    }

    @Test("an unknown application, or one whose statement is revoked, gets none")
    func refusesUnknownApplication() async throws {
        let unknown = await #expect(throws: Fault.self) {
            try await service.issueSoftwareStatement(IssueSoftwareStatementRequest(applicationID: "nobody"), context: asOperator)
        }
        #expect(unknown?.code == .invalidRequest)
        let revoked = await #expect(throws: Fault.self) {
            try await service.issueSoftwareStatement(IssueSoftwareStatementRequest(applicationID: "revoked"), context: asOperator)
        }
        #expect(revoked?.code == .unapprovedSoftwareStatement)
    }
}

/// Keeps the immediate operations that are registered.
private struct ImmediateRegistry: MethodRegistry {
    var immediate: [String: (UnsafeRawBufferPointer, CallContext) throws -> [UInt8]?] = [:]

    mutating func unary(_ operation: UnaryOperation) {}

    mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    ) {}

    mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    ) { immediate[method.name] = operation }
}
