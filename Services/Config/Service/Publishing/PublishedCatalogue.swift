public import Catalogue
internal import Clocks
internal import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Cryptography
public import Faults
internal import Synchronization

/// The version that is served, encoded once, and the subscribers who wait for the next.
public final class PublishedCatalogue: Sendable {
    private struct Subscriber: Sendable {
        let yield: @Sendable (Edition) -> Void
        let finish: @Sendable (Fault) -> Void
    }

    /// One version, and how it goes over the wire: of a newer release it holds more than this program knows.
    public struct Edition: Sendable {
        public let configuration: Configuration
        let encoded: [UInt8]

        /// - Throws: `invalid_message` when a text of the configuration cannot be encoded.
        public init(_ configuration: Configuration) throws(Fault) {
            self.configuration = configuration
            encoded = try configuration.serialized()
        }

        /// - Parameter encoded: As it is stored.
        /// - Throws: `invalid_message`.
        init(encoded: [UInt8]) throws(Fault) {
            configuration = try Configuration(serialized: encoded)
            self.encoded = encoded
        }

        init(_ publication: Publication) {
            configuration = publication.configuration
            encoded = publication.encoded
        }
    }

    private struct State {
        var edition: Edition
        var subscribers: [UInt64: Subscriber] = [:]
        var nextSubscriber: UInt64 = 0
    }

    private let state: Mutex<State>
    /// Held while subscribers are told, so that they hear in order. One that is cancelled meanwhile waits for nothing but `state`: telling it under
    /// that lock would have each wait for the other.
    private let telling = Mutex(())

    public init(_ edition: Edition) {
        state = Mutex(State(edition: edition))
        CatalogueCertificates.tellEnds(of: edition.configuration)
    }

    /// The configuration of version 0 as long as there is none.
    public var configuration: Configuration { state.withLock { $0.edition.configuration } }

    /// The version as it goes over the wire.
    /// - Throws: `unavailable` as long as there is none.
    func encoded() throws(Fault) -> [UInt8] {
        let edition = try edition()
        return edition.encoded
    }

    /// - Throws: As `encoded`.
    func edition() throws(Fault) -> Edition {
        let edition = state.withLock { $0.edition }
        guard edition.configuration.version > 0 else {
            throw Fault(.unavailable, "The catalogue has no version yet.", retryAfter: .seconds(1))
        }
        return edition
    }

    /// Serves another version and tells the subscribers, unless a newer one is served already. When two changes were committed in a row, the later
    /// one may come here first.
    public func publish(_ edition: Edition) {
        telling.withLock { _ in
            let subscribers = state.withLock { state -> [Subscriber] in
                guard edition.configuration.version > state.edition.configuration.version else { return [] }
                state.edition = edition
                return Array(state.subscribers.values)
            }
            for subscriber in subscribers { subscriber.yield(edition) }
        }
        CatalogueCertificates.tellEnds(of: configuration)
    }

    func publish(_ publication: Publication) { publish(Edition(publication)) }

    /// The version at once, unless the subscriber has it, then each newer one; a slow subscriber gets the newest only.
    /// - Parameter item: The part of a version that the subscriber gets.
    func subscribe<Item: Sendable>(
        knownVersion: UInt64, _ item: @escaping @Sendable (Edition) -> Item
    ) -> AsyncThrowingStream<Item, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Item, any Error>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            let number = state.nextSubscriber
            state.nextSubscriber += 1
            state.subscribers[number] = Subscriber(
                yield: { continuation.yield(item($0)) }, finish: { continuation.finish(throwing: $0) })
            continuation.onTermination = { [weak self] _ in self?.unsubscribe(number) }
            if ![0, knownVersion].contains(state.edition.configuration.version) { continuation.yield(item(state.edition)) }
        }
        return stream
    }

    private func unsubscribe(_ number: UInt64) {
        state.withLock { _ = $0.subscribers.removeValue(forKey: number) }
    }

    /// Ends all subscriptions when the program stops, or may miss versions: with `unavailable`, so that nobody takes it for the end of all versions.
    public func endSubscriptions(_ reason: String = "The service is stopping.") {
        let subscribers = state.withLock { state in
            defer { state.subscribers = [:] }
            return state.subscribers.values
        }
        let end = Fault(.unavailable, reason, retryAfter: .milliseconds(100))
        for subscriber in subscribers { subscriber.finish(end) }
    }

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }
}

/// When the certificates end that the served version holds: of MVPDs, pinned for their answers, and of programmers, for whom metadata is encrypted.
/// For each kind, the one that ends first is told; the catalogue's warnings and the console name it.
enum CatalogueCertificates {
    private static let ofMvpds = Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", "mvpd")])
    private static let ofProgrammers = Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", "programmer")])

    static func tellEnds(of configuration: Configuration) {
        let pinned = configuration.mvpds.flatMap { mvpd in
            (mvpd.signIn?.pinned ?? []) + (mvpd.authorization?.signingCertificates ?? [])
        }
        let own = configuration.programmers.flatMap(\.certificates) + configuration.requestors.flatMap(\.certificates)
        tell(ofMvpds, pinned)
        tell(ofProgrammers, own.filter { !$0.revoked }.map(\.der))
    }

    private static func tell(_ gauge: Gauge, _ certificates: [[UInt8]]) {
        let ends = Set(certificates).compactMap { try? Cryptography.Certificate(der: $0).notAfter }.min()
        // Without certificates none ends.
        gauge.record(ends.map { Double($0.seconds) } ?? .infinity)
    }
}

extension Mvpd.SignIn {
    fileprivate var pinned: [[UInt8]] { if case .saml(let endpoint) = self { endpoint.signingCertificates } else { [] } }
}

/// The published catalogue, as services see it; its indexes are made once for each version.
public final class PublishedCatalogueIndex: CatalogueSource {
    private let published: PublishedCatalogue
    private let made: Mutex<Catalogue>

    public init(_ published: PublishedCatalogue) {
        self.published = published
        made = Mutex(Catalogue(published.configuration))
    }

    public func current() throws(Fault) -> Catalogue {
        let configuration = try published.edition().configuration
        return made.withLock { made in
            if made.version != configuration.version { made = Catalogue(configuration) }
            return made
        }
    }
}
