internal import CoreMetrics
internal import Faults
public import Logging
internal import Synchronization

/// Hears what other copies of the service publish: asks the store four times a second.
///
/// A copy that cannot ask may miss a version: it says so, and ends its subscriptions again and again, so that subscribers find another copy where there is one.
public final class CatalogueFollower: Sendable {
    private static let interval: Duration = .milliseconds(250)

    private struct State {
        /// When the last question that was answered was asked.
        var heard = ContinuousClock.now
        /// When subscriptions were ended last; `nil`: the store answers.
        var ended: ContinuousClock.Instant?
    }

    private let store: CatalogueStore
    private let published: PublishedCatalogue
    private let patience: Duration
    private let logger: Logger
    private let state = Mutex(State())
    private let version = Gauge(label: "boxoffice_config_catalogue_version")

    /// - Parameter patience: For how long the store may give no answer.
    public init(store: CatalogueStore, published: PublishedCatalogue, patience: Duration = .seconds(5), logger: Logger) {
        self.store = store
        self.published = published
        self.patience = patience
        self.logger = logger
    }

    /// Why what is served may be out of date; `nil` while it is not.
    public var lacking: String? {
        if published.configuration.version == 0 {
            return "there is no version yet: a copy with config.catalogue brings one, or 'boxoffice catalogue import FILE'"
        }
        let silence = state.withLock { $0.heard }.duration(to: .now)
        guard silence >= patience else { return nil }
        return "nothing was heard of other copies for \(silence.components.seconds) s: the store does not answer"
    }

    /// Asks until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            await ask()
            try? await Task.sleep(for: Self.interval)
        }
    }

    func ask() async {
        let asked = ContinuousClock.now
        do throws(Fault) {
            let known = published.configuration.version
            if let newer = try await store.published(after: known) {
                let edition = try PublishedCatalogue.Edition(encoded: newer)
                published.publish(edition)
                logger.info("catalogue.heard", metadata: ["version": "\(edition.configuration.version)", "replaced": "\(known)"])
            }
            version.record(Double(published.configuration.version))
            let wasSilent = state.withLock { state in
                defer { (state.heard, state.ended) = (asked, nil) }
                return state.ended != nil
            }
            if wasSilent { logger.notice("catalogue.store_heard") }
        } catch {
            report(error)
        }
    }

    private func report(_ error: Fault) {
        let now = ContinuousClock.now
        let (isOver, isFirst) = state.withLock { state in
            guard state.heard + patience <= now, (state.ended.map { $0 + patience <= now } ?? true) else { return (false, false) }
            defer { state.ended = now }
            return (true, state.ended == nil)
        }
        guard isOver else { return }
        if isFirst { logger.error("catalogue.store_silent", metadata: ["error": "\(error)"]) }
        published.endSubscriptions("This copy hears nothing of others.")
    }
}
