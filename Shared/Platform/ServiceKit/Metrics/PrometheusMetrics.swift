public import CoreMetrics
internal import Synchronization

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
