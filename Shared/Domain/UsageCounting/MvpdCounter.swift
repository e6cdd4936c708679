public import Catalogue
internal import Contracts
public import CoreMetrics
public import Logging
internal import Synchronization

/// Counts by MVPD in a metric. It counts the catalogue's alone, proxied ones under their proxy, those of an upstream under that, and as many names as
/// fit. An MVPD that fails entirely is then seen though it has a small share of all (Shared/Documents/Decisions/0008-bound-metric-labels.md).
public final class MvpdCounter: Sendable {
    /// By what the objectives count.
    public enum Result: String, Sendable {
        case good, bad, begun
    }

    /// Names of one program. With three results each a metric stays below 1000 combinations of labels.
    public static let most = 300
    /// The name of those that come later.
    static let other = "other"

    private struct Key: Hashable {
        let name: String
        let result: Result
    }

    private struct State {
        var names: Set<String> = []
        var counters: [Key: Counter] = [:]
        var isFull = false
    }

    private let label: String
    private let catalogue: any CatalogueSource
    private let most: Int
    private let logger: Logger
    private let factory: any MetricsFactory
    private let state = Mutex(State())

    /// - Parameters:
    ///   - label: The label of the metric, for example `boxoffice_authorization_mvpd_decisions_total`.
    ///   - most: Names that are kept apart, at least 1.
    ///   - factory: Keeps the numbers.
    public init(
        _ label: String, catalogue: any CatalogueSource, most: Int = MvpdCounter.most, logger: Logger,
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.factory = factory
        self.label = label
        self.catalogue = catalogue
        self.most = most
        self.logger = logger
    }

    /// - Parameter mvpd: Its id; one that the catalogue does not have is not counted.
    public func count(_ result: Result, mvpd: String) {
        guard let record = try? catalogue.current().mvpd(mvpd) else { return }
        count(result, record.isProxied ? record.proxyMvpdID : record.id)
    }

    /// - Parameter upstream: Id of the upstream that has the MVPD.
    public func count(_ result: Result, upstream: String) { count(result, "upstream \(upstream)") }

    private func count(_ result: Result, _ name: String) {
        let (counter, isFirstOfOthers) = state.withLock { state -> (Counter, Bool) in
            if let known = state.counters[Key(name: name, result: result)] { return (known, false) }
            let hasRoom = state.names.contains(name) || state.names.count < most
            let isFirst = !hasRoom && !state.isFull
            if hasRoom { state.names.insert(name) } else { state.isFull = true }
            let key = Key(name: hasRoom ? name : Self.other, result: result)
            if let known = state.counters[key] { return (known, isFirst) }
            let counter = Counter(label: label, dimensions: [("mvpd", key.name), ("result", result.rawValue)], factory: factory)
            state.counters[key] = counter
            return (counter, isFirst)
        }
        counter.increment()
        if isFirstOfOthers {
            logger.notice("metrics.mvpd_names_used_up", metadata: ["metric": "\(label)", "limit": "\(most)", "name": "\(name)"])
        }
    }
}
