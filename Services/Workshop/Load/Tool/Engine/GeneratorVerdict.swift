internal import LoadReporting

/// Whether the tool was what set the limit.
enum GeneratorVerdict {
    /// Share of the time that a thread may be busy before its work delays what it measures.
    private static let busyLimit = 0.9
    /// Lateness that is negligible compared with the measured times.
    private static let lagLimit: Nanoseconds = 1_000_000

    /// - Parameters:
    ///   - busyShare: Processor time of the busiest worker's thread, 1 is all the time.
    ///   - processorShare: The same of the whole process, 1 is one core.
    static func health(_ tally: Tally, _ busyShare: Double, _ processorShare: Double, _ loop: WorkerSettings.Loop) -> GeneratorHealth {
        let explanation = explanation(tally, busyShare, loop)
        return GeneratorHealth(
            lag: tally.lag.summary, processorShare: processorShare, wasBottleneck: explanation != nil, explanation: explanation)
    }

    private static func explanation(_ tally: Tally, _ busyShare: Double, _ loop: WorkerSettings.Loop) -> String? {
        if busyShare > busyLimit {
            return "A thread of the tool was busy \(Quantity.share(busyShare)) of the time: add --workers, or run it on a machine of its own."
        }
        let lag = tally.lag.value(at: 99)
        guard loop != .closed, lag > lagLimit, lag * 4 > tally.responseTime.value(at: 99) else { return nil }
        return
            "1 of 100 calls was begun \(Quantity.time(lag)) late or more, a large part of the response times: the machine is too busy for this rate."
    }
}
