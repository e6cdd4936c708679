extension LoadReport {
    /// The figure over the whole measured part; `nil` when the report does not hold it.
    func figure(_ kind: FigureKind) -> Double? {
        switch kind {
        case .rate: return totals.rate
        case .errors: return totals.succeeded + totals.failed > 0 ? totals.errorShare : nil
        case .mean, .percentile, .longest: return Self.figure(kind, totals.responseTime)
        case .processorTime:
            guard let cores = targetSeries({ $0.cores }).mean, totals.rate > 0 else { return nil }
            return cores / totals.rate * 1e9
        case .memory: return targetSeries { $0.residentBytes }.max()
        }
    }

    static func figure(_ kind: FigureKind, _ latency: Latencies) -> Double? {
        guard latency.count > 0 else { return nil }
        return switch kind {
        case .mean: latency.meanNanoseconds
        case .longest: Double(latency.maxNanoseconds)
        case .percentile(let percentile):
            Double(
                latency.percentiles.first { $0.percentile == percentile }?.nanoseconds
                    ?? LatencyHistogram(latency.histogram).value(at: percentile))
        case .rate, .errors, .processorTime, .memory: nil
        }
    }

    /// The figure of each measured second, as far as seconds have it.
    func seconds(of kind: FigureKind) -> [Double] {
        let measured = series.filter { !$0.isWarmUp && $0.elapsedNanoseconds > 500_000_000 }
        let answered = measured.filter { $0.succeeded + $0.failed > 0 }
        switch kind {
        case .rate: return measured.map { Double($0.succeeded) / (Double($0.elapsedNanoseconds) / 1e9) }
        case .percentile(50): return answered.map { Double($0.p50Nanoseconds) }
        case .percentile(90): return answered.map { Double($0.p90Nanoseconds) }
        case .percentile(99): return answered.map { Double($0.p99Nanoseconds) }
        case .longest: return answered.map { Double($0.maxNanoseconds) }
        case .errors: return answered.map { Double($0.failed) / Double($0.succeeded + $0.failed) }
        case .processorTime: return totals.rate > 0 ? targetSeries { $0.cores }.map { $0 / totals.rate * 1e9 } : []
        case .mean, .percentile, .memory: return []
        }
    }

    /// Summed over the processes of the loaded service, of the measured part.
    private func targetSeries(_ values: (Observation.Process) -> [Double?]) -> [Double] {
        guard let observation else { return [] }
        let targets = observation.processes.filter { $0.role == .target }.map(values)
        return observation.seconds.indices.filter { observation.seconds[$0] > 0 }.compactMap { index in targets.compactMap { $0.at(index) }.sum }
    }
}
