/// The metrics of a program at one moment, made quick to ask.
struct MetricSnapshot: Sendable {
    /// Seconds on a clock that never goes back.
    let time: Double
    private let byName: [String: [MetricSample]]

    init(_ samples: [MetricSample], at time: Double) {
        self.time = time
        byName = Dictionary(grouping: samples) { $0.name }
    }

    /// Sum over all series; `nil` when there is none, or a value is not a finite number.
    func sum(_ name: String) -> Double? { byName[name].flatMap { Self.finite($0.reduce(0) { $0 + $1.value }) } }

    /// Sums by the value of a label; series without it count as `other`.
    func sums(_ name: String, by label: String) -> [String: Double] {
        (byName[name] ?? []).reduce(into: [:]) { $0[$1.labels[label] ?? "other", default: 0] += $1.value }.filter { $0.value.isFinite }
    }

    /// A histogram's buckets over all its series: upper bound and how many values are not above it; ascending.
    func buckets(_ name: String) -> [(bound: Double, count: Double)] {
        var counts: [Double: Double] = [:]
        for sample in byName[name + "_bucket"] ?? [] {
            guard let text = sample.labels["le"], let bound = text == "+Inf" ? .infinity : Double(text), !bound.isNaN, sample.value.isFinite else {
                continue
            }
            counts[bound, default: 0] += sample.value
        }
        return counts.sorted { $0.key < $1.key }.map { (bound: $0.key, count: $0.value) }
    }

    /// Every series of a name that ends in `_total`, by its name and labels as Prometheus writes them.
    var counters: [String: Double] {
        var found: [String: Double] = [:]
        for (name, samples) in byName where name.hasSuffix("_total") {
            for sample in samples where sample.value.isFinite { found[Self.title(sample), default: 0] += sample.value }
        }
        return found
    }

    private static func title(_ sample: MetricSample) -> String {
        guard !sample.labels.isEmpty else { return sample.name }
        return "\(sample.name){\(sample.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }.joined(separator: ","))}"
    }

    private static func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
}

/// The changes between two moments.
struct MetricChange: Sendable {
    let before: MetricSnapshot
    let after: MetricSnapshot

    private var seconds: Double { after.time - before.time }

    /// Growth a second. A counter that went back belongs to a program that started anew: nothing is known then.
    func rate(_ name: String) -> Double? { growth(before.sum(name), after.sum(name)) }

    func rates(_ name: String, by label: String) -> [String: Double] {
        let (old, new) = (before.sums(name, by: label), after.sums(name, by: label))
        // A series that was not there before counted from 0.
        return new.reduce(into: [:]) { result, entry in result[entry.key] = growth(old[entry.key] ?? 0, entry.value) }
    }

    /// Mean of the values that a histogram took in.
    func mean(_ name: String) -> Double? {
        guard let sum = difference(before.sum(name + "_sum") ?? 0, after.sum(name + "_sum")),
            let count = difference(before.sum(name + "_count") ?? 0, after.sum(name + "_count")), count > 0
        else { return nil }
        return sum / count
    }

    /// Where the quantile lies, interpolated within its bucket; the highest bound when it lies above all.
    func quantile(_ name: String, _ quantile: Double) -> Double? {
        let old = Dictionary(before.buckets(name).map { ($0.bound, $0.count) }) { first, _ in first }
        let grown = after.buckets(name).map { (bound: $0.bound, count: $0.count - (old[$0.bound] ?? 0)) }
        guard let total = grown.last?.count, total > 0, grown.allSatisfy({ $0.count >= 0 }) else { return nil }
        let rank = quantile * total
        var (floor, below) = (0.0, 0.0)
        for bucket in grown {
            if bucket.count >= rank {
                guard bucket.bound.isFinite, bucket.count > below else { return floor }
                return floor + (bucket.bound - floor) * (rank - below) / (bucket.count - below)
            }
            (floor, below) = (bucket.bound.isFinite ? bucket.bound : floor, bucket.count)
        }
        return floor
    }

    private func growth(_ old: Double?, _ new: Double?) -> Double? {
        guard seconds > 0, let difference = difference(old, new) else { return nil }
        return difference / seconds
    }

    private func difference(_ old: Double?, _ new: Double?) -> Double? {
        guard let old, let new, new >= old else { return nil }
        return new - old
    }
}
