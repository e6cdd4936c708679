internal import CoreMetrics
internal import Synchronization

/// Something that a metric measures, able to print itself.
protocol Instrument: AnyObject, Sendable {
    static var type: String { get }
    func render(_ name: MetricName, into text: inout String)
}

final class CounterInstrument: Instrument, CounterHandler {
    static let type = "counter"
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func render(_ name: MetricName, into text: inout String) {
        text += "\(name.line()) \(value.load(ordering: .relaxed))\n"
    }
}

final class FloatingPointCounterInstrument: Instrument, FloatingPointCounterHandler {
    static let type = "counter"
    private let value = Mutex(0.0)

    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func reset() { value.withLock { $0 = 0 } }

    func render(_ name: MetricName, into text: inout String) { text += "\(name.line()) \(MetricName.number(value.withLock { $0 }))\n" }
}

final class GaugeInstrument: Instrument, RecorderHandler, MeterHandler {
    static let type = "gauge"
    private let value = Mutex(0.0)

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    func render(_ name: MetricName, into text: inout String) { text += "\(name.line()) \(MetricName.number(value.withLock { $0 }))\n" }
}
