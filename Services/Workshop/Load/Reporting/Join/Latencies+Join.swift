extension Latencies {
    /// The distribution of all values of several: percentiles from the histograms added up, never from percentiles.
    static func joined(_ parts: [Latencies]) -> Latencies {
        let parts = parts.filter { $0.count > 0 }
        var histogram = LatencyHistogram()
        for part in parts { histogram.add(LatencyHistogram(part.histogram)) }
        var whole = histogram.summary
        let count = parts.reduce(0.0) { $0 + Double($1.count) }
        guard count > 0 else { return whole }
        // Each part knows these exactly.
        whole.minNanoseconds = parts.map(\.minNanoseconds).min() ?? 0
        whole.maxNanoseconds = parts.map(\.maxNanoseconds).max() ?? 0
        let mean = parts.reduce(0.0) { $0 + $1.meanNanoseconds * Double($1.count) } / count
        whole.meanNanoseconds = mean
        let squares = parts.reduce(0.0) { sum, part in
            let (deviation, distance) = (part.standardDeviationNanoseconds, part.meanNanoseconds - mean)
            return sum + Double(part.count) * (deviation * deviation + distance * distance)
        }
        whole.standardDeviationNanoseconds = (squares / count).squareRoot()
        for index in whole.percentiles.indices where whole.percentiles[index].percentile >= 100 {
            whole.percentiles[index].nanoseconds = whole.maxNanoseconds
        }
        return whole
    }
}

extension RunTotals {
    /// Several generators at the same time: counts add up, the time is that of the longest.
    static func joined(_ parts: [RunTotals]) -> RunTotals {
        func sum(_ count: (RunTotals) -> Int) -> Int { parts.reduce(0) { $0 + count($1) } }
        return RunTotals(
            elapsedNanoseconds: parts.map(\.elapsedNanoseconds).max() ?? 0, due: sum(\.due), dropped: sum(\.dropped), iterations: sum(\.iterations),
            sent: sum(\.sent), succeeded: sum(\.succeeded), failed: sum(\.failed), unfinished: sum(\.unfinished), requestBytes: sum(\.requestBytes),
            answerBytes: sum(\.answerBytes), responseTime: .joined(parts.map(\.responseTime)), serviceTime: .joined(parts.map(\.serviceTime)))
    }
}

extension [ErrorCount] {
    /// Most frequent first.
    static func joined(_ parts: [[ErrorCount]]) -> [ErrorCount] {
        var byCode: [String: ErrorCount] = [:]
        for error in parts.joined() {
            var known = byCode[error.code] ?? ErrorCount(code: error.code, count: 0, example: nil)
            known.count += error.count
            known.example = known.example ?? error.example
            byCode[error.code] = known
        }
        return byCode.values.sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    }
}

extension [OperationResult] {
    /// In the order in which they first come.
    static func joined(_ parts: [[OperationResult]]) -> [OperationResult] {
        var names: [String] = []
        for operation in parts.joined() where !names.contains(operation.name) { names.append(operation.name) }
        return names.map { name in
            let same = parts.joined().filter { $0.name == name }
            func sum(_ count: (OperationResult) -> Int) -> Int { same.reduce(0) { $0 + count($1) } }
            return OperationResult(
                name: name, sent: sum(\.sent), succeeded: sum(\.succeeded), failed: sum(\.failed), responseTime: .joined(same.map(\.responseTime)),
                serviceTime: .joined(same.map(\.serviceTime)), errors: .joined(same.map(\.errors)))
        }
    }
}

extension [SecondSample] {
    /// Second by second of the schedule, which all follow.
    static func joined(_ parts: [[SecondSample]]) -> [SecondSample] {
        // A rest of a fraction of a second goes with the second before it: the next one has no looks of its own.
        let seconds = parts.map { series in Dictionary(grouping: series) { Int($0.second.rounded()) }.mapValues(folded) }
        return Set(seconds.flatMap(\.keys)).sorted().compactMap { second in beside(seconds.compactMap { $0[second] }) }
    }

    /// The samples of one generator, one after the other.
    private static func folded(_ samples: [SecondSample]) -> SecondSample {
        var whole = added(samples)
        whole.elapsedNanoseconds = samples.reduce(0) { Swift.min($0 + $1.elapsedNanoseconds, 1 << 60) }
        if let last = samples.last { (whole.inFlight, whole.connections) = (last.inFlight, last.connections) }
        return whole
    }

    /// The samples of several generators, at the same time.
    private static func beside(_ samples: [SecondSample]) -> SecondSample? {
        guard !samples.isEmpty else { return nil }
        var whole = added(samples)
        whole.elapsedNanoseconds = samples.map(\.elapsedNanoseconds).max() ?? 0
        return whole
    }

    /// - Parameter samples: At least one.
    private static func added(_ samples: [SecondSample]) -> SecondSample {
        func sum(_ count: (SecondSample) -> Int) -> Int { samples.reduce(0) { $0 + count($1) } }
        var times = LatencyHistogram()
        for sample in samples { sample.responseTimes?.add(to: &times) }
        let longest = samples.map(\.maxNanoseconds).max() ?? 0
        let errors = samples.reduce(into: [String: Int]()) { $0.merge($1.errors, uniquingKeysWith: +) }
        // Alone, a second keeps its exact figures.
        let ended = samples.filter { $0.responseTimes != nil }
        func value(_ percentile: Double, _ own: (SecondSample) -> Int64) -> Int64 {
            ended.count == 1 ? own(ended[0]) : Swift.min(times.value(at: percentile), longest)
        }
        return SecondSample(
            second: samples.map(\.second).max() ?? 0, isWarmUp: samples.allSatisfy(\.isWarmUp), elapsedNanoseconds: 0, due: sum(\.due),
            dropped: sum(\.dropped), sent: sum(\.sent), succeeded: sum(\.succeeded), failed: sum(\.failed), inFlight: sum(\.inFlight),
            connections: sum(\.connections), p50Nanoseconds: value(50, \.p50Nanoseconds), p90Nanoseconds: value(90, \.p90Nanoseconds),
            p99Nanoseconds: value(99, \.p99Nanoseconds), maxNanoseconds: longest, lagNanoseconds: samples.map(\.lagNanoseconds).max() ?? 0,
            errors: errors, responseTimes: times.isEmpty ? nil : CompactHistogram(times),
            iterations: samples.contains { $0.iterations == nil } ? nil : sum { $0.iterations ?? 0 })
    }
}
