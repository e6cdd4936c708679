public import LoadReporting

extension Assertion {
    /// Checks the assertion against the results of a run. An assertion about a figure that was not measured does not hold.
    public func check(_ run: RunMeasurement) -> AssertionResult {
        guard let operation else { return result(measured(run)) }
        guard let record = run.operations.first(where: { $0.name == operation }) else {
            let names = run.operations.map(\.name).joined(separator: ", ")
            return AssertionResult(text: text, measured: "there is no operation \(operation), only \(names)", hasHeld: false)
        }
        return result(measured(record, elapsed: run.elapsed))
    }

    private func result(_ measured: Double?) -> AssertionResult {
        guard let measured else { return AssertionResult(text: text, measured: "nothing was measured", hasHeld: false) }
        return AssertionResult(text: text, measured: describe(measured), hasHeld: comparison.holds(measured, limit))
    }

    private func measured(_ run: RunMeasurement) -> Double? {
        let totals = run.totals
        return switch metric {
        case .lagPercentile(let percentile): value(run.generator.lag, percentile)
        case .dropped: totals.due > 0 ? totals.droppedShare : nil
        case .knee: run.knee?.level
        case .errors: totals.succeeded + totals.failed > 0 ? totals.errorShare : nil
        case .rate: run.elapsed > 0 ? totals.rate : nil
        case .calls: Double(totals.succeeded + totals.failed)
        default: time(totals.responseTime, totals.serviceTime)
        }
    }

    private func measured(_ record: OperationResult, elapsed: Nanoseconds) -> Double? {
        let ended = record.succeeded + record.failed
        return switch metric {
        case .errors: ended > 0 ? Double(record.failed) / Double(ended) : nil
        case .rate: elapsed > 0 ? Double(record.succeeded) / (Double(elapsed) / 1e9) : nil
        case .calls: Double(ended)
        case .lagPercentile, .dropped, .knee: nil
        default: time(record.responseTime, record.serviceTime)
        }
    }

    private func time(_ response: Latencies, _ service: Latencies) -> Double? {
        switch metric {
        case .percentile(let percentile): value(response, percentile)
        case .servicePercentile(let percentile): value(service, percentile)
        case .mean: response.count > 0 ? response.meanNanoseconds : nil
        case .minimum: response.count > 0 ? Double(response.minNanoseconds) : nil
        case .maximum: response.count > 0 ? Double(response.maxNanoseconds) : nil
        default: nil
        }
    }

    private func value(_ latencies: Latencies, _ percentile: Double) -> Double? {
        latencies.count > 0 ? Double(LatencyHistogram(latencies.histogram).value(at: percentile)) : nil
    }

    private func describe(_ measured: Double) -> String {
        switch metric {
        case .errors, .dropped: Quantity.share(measured)
        case .rate, .knee: "\(Quantity.number(measured))/s"
        case .calls: Quantity.count(Int(measured))
        default: Quantity.time(measured)
        }
    }
}
