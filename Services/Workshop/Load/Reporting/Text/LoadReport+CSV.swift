internal import Foundation

extension LoadReport {
    /// The time series, a line per second, for spreadsheets (RFC 4180).
    public func csv() -> String {
        let head = [
            "second", "warm_up", "due", "not_started", "sent", "succeeded", "failed", "in_flight", "connections", "p50_ms", "p90_ms", "p99_ms",
            "max_ms",
            "lag_ms",
        ]
        let lines = series.map { sample in
            let times = [
                sample.p50Nanoseconds, sample.p90Nanoseconds, sample.p99Nanoseconds, sample.maxNanoseconds, sample.lagNanoseconds,
            ].map { String(format: "%.3f", Double($0) / 1e6) }
            let counts = [sample.due, sample.dropped, sample.sent, sample.succeeded, sample.failed, sample.inFlight, sample.connections].map(
                String.init)
            return ([String(format: "%.3f", sample.second), sample.isWarmUp ? "1" : "0"] + counts + times).joined(separator: ",")
        }
        return ([head.joined(separator: ",")] + lines).joined(separator: "\r\n") + "\r\n"
    }

    /// The percentiles of the response times in the form of HdrHistogram's tools, in milliseconds.
    public func percentileDistribution() -> String { LatencyHistogram(totals.responseTime.histogram).percentileDistribution() }
}
