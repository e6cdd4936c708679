public import CoreMetrics
internal import Synchronization

/// Metrics with the label `upstream` (bridge §14.1). All other labels are words of closed lists. A metric keeps as many combinations apart as fit. Later
/// ones are counted for the upstream `other` (Shared/Documents/Decisions/0008-bound-metric-labels.md).
public final class UpstreamSeries: Sendable {
    /// Combinations of one metric that are kept apart. With those of `other`, at most 140, it stays below 1000.
    public static let most = 850
    /// The upstream of those that come later.
    static let other = "other"

    private struct Key: Hashable {
        let metric: String
        var upstream: String
        let words: [String]
    }

    private struct State {
        var counters: [Key: Counter] = [:]
        var timers: [Key: Timer] = [:]
        /// By metric.
        var kept: [String: Int] = [:]
    }

    private let most: Int
    private let factory: any MetricsFactory
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: Combinations of one metric that are kept apart, at least 1.
    ///   - factory: Keeps the numbers.
    public init(most: Int = UpstreamSeries.most, factory: any MetricsFactory = MetricsSystem.factory) {
        (self.most, self.factory) = (most, factory)
    }

    /// Adds to a counter.
    /// - Parameters:
    ///   - metric: Its whole name.
    ///   - upstream: An id of the catalogue.
    ///   - labels: Names, and words of closed lists.
    public func count(_ metric: String, _ upstream: String, _ labels: KeyValuePairs<String, String> = [:], by amount: Int = 1) {
        let counter = state.withLock { state in
            Self.found(Key(metric: metric, upstream: upstream, words: labels.map(\.value)), &state.counters, &state.kept, most) { key in
                Counter(label: metric, dimensions: Self.dimensions(key, labels), factory: factory)
            }
        }
        counter.increment(by: amount)
    }

    /// Records how long something took. Parameters as of `count`.
    public func record(_ time: Duration, _ metric: String, _ upstream: String, _ labels: KeyValuePairs<String, String>) {
        let timer = state.withLock { state in
            Self.found(Key(metric: metric, upstream: upstream, words: labels.map(\.value)), &state.timers, &state.kept, most) { key in
                Timer(label: metric, dimensions: Self.dimensions(key, labels), factory: factory)
            }
        }
        timer.recordNanoseconds(time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000)
    }

    private static func found<Instrument>(
        _ key: Key, _ known: inout [Key: Instrument], _ kept: inout [String: Int], _ most: Int, _ make: (Key) -> Instrument
    ) -> Instrument {
        if let instrument = known[key] { return instrument }
        var key = key
        if kept[key.metric, default: 0] < most {
            kept[key.metric, default: 0] += 1
        } else {
            key.upstream = other
            if let instrument = known[key] { return instrument }
        }
        let instrument = make(key)
        known[key] = instrument
        return instrument
    }

    private static func dimensions(_ key: Key, _ labels: KeyValuePairs<String, String>) -> [(String, String)] {
        [("upstream", key.upstream)] + labels.map { ($0.key, $0.value) }
    }
}
