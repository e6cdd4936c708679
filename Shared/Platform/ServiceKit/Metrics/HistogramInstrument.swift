internal import CoreMetrics
internal import Synchronization
internal import Telemetry

/// Counts of values in fixed buckets.
final class HistogramInstrument: Instrument, RecorderHandler, TimerHandler {
    static let type = "histogram"
    /// Seconds of what happens inside of the cluster, from 50 µs to 10 s.
    static let seconds = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// Seconds of what waits for somebody else's server, from 1 ms to a minute.
    static let foreignSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60]
    /// Seconds of a request of an app, which may do the one or the other.
    static let requestSeconds = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60]
    /// Counts and sizes.
    static let sizes = [1.0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262_144, 1_048_576]

    /// The bounds that fit what a timer measures.
    static func bounds(ofTimer label: String) -> [Double] {
        switch label {
        case "boxoffice_authorization_decision_point_seconds": foreignSeconds
        case "boxoffice_gateway_request_duration_seconds": requestSeconds
        default: seconds
        }
    }

    private struct State {
        var counts: [UInt64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    var value: MetricSeries.Value {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        return .histogram(bounds: bounds, counts: counts, sum: sum)
    }

    func render(_ name: MetricName, into text: inout String) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total: UInt64 = 0
        for (count, bound) in zip(counts, bounds.map { "\($0)" } + ["+Inf"]) {
            total += count
            text += "\(name.line("_bucket", extra: "le=\"\(bound)\"")) \(total)\n"
        }
        text += "\(name.line("_sum")) \(sum)\n\(name.line("_count")) \(total)\n"
    }
}
