internal import LoadReporting
internal import LoadTool

/// The progress of a run in one line, for logs.
enum ProgressLine {
    /// At most 79 columns: what has no room is left out, not cut.
    static func text(_ progress: LoadRun.Progress, isClosed: Bool) -> String {
        let sample = progress.sample
        let place = sample.isWarmUp ? "warm-up" : "\(Quantity.number(sample.second.rounded())) of \(Quantity.span(progress.planned))"
        var parts = [place, "\(Quantity.number(progress.level)) \(isClosed ? "users" : "due/s")"]
        if let visits = sample.visitRate { parts.append("\(Quantity.number(visits)) done/s") }
        parts.append("\(Quantity.number(sample.rate)) \(sample.visitRate == nil ? "ok/s" : "calls/s")")
        parts.append("p50 \(Quantity.time(sample.p50Nanoseconds)) p99 \(Quantity.time(sample.p99Nanoseconds))")
        if progress.failed + sample.failed > 0 { parts.append("\(Quantity.count(progress.failed)) failed") }
        if progress.dropped > 0 { parts.append("\(Quantity.count(progress.dropped)) dropped") }
        parts.append("\(Quantity.count(sample.inFlight)) open")
        return parts.dropFirst().reduce(parts[0]) { line, part in line.count + 2 + part.count <= 79 ? "\(line)  \(part)" : line }
    }
}

extension SecondSample {
    /// Good answers per second.
    var rate: Double { perSecond(succeeded) }

    /// Whole iterations per second; `nil` where each is one call, and in samples that do not have them.
    var visitRate: Double? {
        guard let iterations, iterations != succeeded else { return nil }
        return perSecond(iterations)
    }

    private func perSecond(_ count: Int) -> Double { elapsedNanoseconds > 0 ? Double(count) / (Double(elapsedNanoseconds) / 1e9) : 0 }
}
