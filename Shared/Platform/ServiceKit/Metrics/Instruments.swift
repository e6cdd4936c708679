internal import CoreMetrics
internal import Synchronization
internal import Telemetry

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
