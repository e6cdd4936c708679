public import CoreMetrics
internal import Synchronization
internal import Telemetry

/// Keeps the process's metrics and prints them in the Prometheus text format, version 0.0.4.
///
/// Timers are histograms in seconds; recorders are histograms of sizes, or gauges when they do not aggregate. The number of label
/// combinations of a metric is bounded: further ones are counted in `boxoffice_metrics_dropped_total` and not kept.
public final class PrometheusMetrics: MetricsFactory {
    private struct State {
        var instruments: [MetricName: any Instrument] = [:]
        var seriesPerName: [String: Int] = [:]
        var looks: [Look] = []
    }

    /// Records what is looked up when somebody reads the metrics.
    typealias Look = @Sendable (PrometheusMetrics) -> Void

    private let state = Mutex(State())
    private let dropped = CounterInstrument()
    private let seriesLimit: Int

    /// - Parameter seriesLimit: Label combinations of one metric, at least 1.
    public init(seriesLimit: Int = 1000) { self.seriesLimit = seriesLimit }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(label, dimensions) { CounterInstrument() }
    }

    public func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        instrument(label, dimensions) { FloatingPointCounterInstrument() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        instrument(label, dimensions) { GaugeInstrument() }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate { return instrument(label, dimensions) { HistogramInstrument(bounds: HistogramInstrument.sizes) } }
        return instrument(label, dimensions) { GaugeInstrument() }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        instrument(label, dimensions) { HistogramInstrument(bounds: HistogramInstrument.bounds(ofTimer: label)) }
    }

    // Series live as long as the process, so that a counter never goes back. Only a gauge ends, when what it measures is gone.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) { end(handler as? GaugeInstrument) }
    public func destroyRecorder(_ handler: any RecorderHandler) { end(handler as? GaugeInstrument) }
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func end(_ gauge: GaugeInstrument?) {
        guard let gauge else { return }
        state.withLock { state in
            guard let name = state.instruments.first(where: { ($0.value as? GaugeInstrument) === gauge })?.key else { return }
            state.instruments[name] = nil
            state.seriesPerName[name.name, default: 1] -= 1
        }
    }

    /// Looks each time before the metrics are read.
    func beforeReading(_ look: @escaping Look) { state.withLock { $0.looks.append(look) } }

    /// All metrics, sorted by name.
    func all() -> [(MetricName, any Instrument)] {
        for look in state.withLock({ $0.looks }) { look(self) }
        var instruments = state.withLock { $0.instruments.map { ($0.key, $0.value) } }
        instruments.append((MetricName("boxoffice_metrics_dropped_total", []), dropped))
        instruments.sort { $0.0 < $1.0 }
        return instruments
    }

    /// All metrics as Prometheus reads them, sorted by name.
    public func text() -> String {
        var text = ""
        var last = ""
        for (name, instrument) in all() {
            if name.name != last { text += MetricHelp.head(name.name, type(of: instrument).type) }
            last = name.name
            instrument.render(name, into: &text)
        }
        return text
    }

    private func instrument<Made: Instrument>(_ label: String, _ dimensions: [(String, String)], _ make: () -> Made) -> Made {
        let name = MetricName(label, dimensions)
        return state.withLock { state in
            if let known = state.instruments[name] as? Made { return known }
            let count = state.seriesPerName[name.name, default: 0]
            let made = make()
            guard count < seriesLimit, state.instruments[name] == nil else {
                dropped.increment(by: 1)
                return made
            }
            state.seriesPerName[name.name] = count + 1
            state.instruments[name] = made
            return made
        }
    }
}

extension PrometheusMetrics {
    /// All series, those of one metric together: what `text` prints, for those who take it in another form.
    func series() -> [MetricSeries] {
        all().map { name, instrument in
            MetricSeries(
                name.name, help: MetricHelp.text(name.name) ?? "", labels: name.dimensions.map { MetricSeries.Label($0.name, $0.value) },
                instrument.value)
        }
    }
}

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
        case "boxoffice_authorization_decision_point_seconds", "boxoffice_authentication_bridge_call_duration_seconds": foreignSeconds
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

/// Something that a metric measures, able to print itself.
protocol Instrument: AnyObject, Sendable {
    static var type: String { get }
    var value: MetricSeries.Value { get }
    func render(_ name: MetricName, into text: inout String)
}

final class CounterInstrument: Instrument, CounterHandler {
    static let type = "counter"
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }

    var value: MetricSeries.Value { .count(count.load(ordering: .relaxed)) }

    func render(_ name: MetricName, into text: inout String) {
        text += "\(name.line()) \(count.load(ordering: .relaxed))\n"
    }
}

final class FloatingPointCounterInstrument: Instrument, FloatingPointCounterHandler {
    static let type = "counter"
    private let sum = Mutex(0.0)

    func increment(by amount: Double) { sum.withLock { $0 += amount } }
    func reset() { sum.withLock { $0 = 0 } }

    var value: MetricSeries.Value { .sum(sum.withLock { $0 }) }

    func render(_ name: MetricName, into text: inout String) { text += "\(name.line()) \(MetricName.number(sum.withLock { $0 }))\n" }
}

final class GaugeInstrument: Instrument, RecorderHandler, MeterHandler {
    static let type = "gauge"
    private let last = Mutex(0.0)

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { last.withLock { $0 = value } }
    func increment(by amount: Double) { last.withLock { $0 += amount } }
    func decrement(by amount: Double) { last.withLock { $0 -= amount } }

    var value: MetricSeries.Value { .gauge(last.withLock { $0 }) }

    func render(_ name: MetricName, into text: inout String) { text += "\(name.line()) \(MetricName.number(last.withLock { $0 }))\n" }
}
