import LoadReporting

/// A small report of a run that never was.
enum SampleReport {
    static func make() -> LoadReport {
        var histogram = LatencyHistogram()
        for microseconds in 100...1100 { histogram.record(Int64(microseconds) * 1000) }
        let times = histogram.summary
        return LoadReport(
            run: RunFacts(
                id: "0123456789abcdef0123456789abcdef", name: "sample", tags: ["build": "1"], startedAtMilliseconds: 1_790_000_000_000,
                end: .duration,
                toolVersion: "0.1.0", commandLine: ["boxoffice", "load", "config"]),
            settings: RunSettings(
                service: "config", targets: ["127.0.0.1:7001"], workload: "GetConfiguration", loop: .open, arrivals: .constant, fromLevel: 100,
                toLevel: 100, connections: 1, workers: 1, maxOutstanding: 1000, timeoutNanoseconds: 1_000_000_000, warmUpNanoseconds: 0,
                durationNanoseconds: 10_000_000_000, seed: 1),
            machine: MachineFacts(processor: "none", cores: 2, memoryBytes: 1 << 30, system: "Linux", build: "debug"),
            totals: RunTotals(
                elapsedNanoseconds: 10_000_000_000, due: 1003, dropped: 1, iterations: 1001, sent: 1002, succeeded: 1000, failed: 1, unfinished: 1,
                requestBytes: 1000, answerBytes: 100_000, responseTime: times, serviceTime: times),
            operations: [
                OperationResult(
                    name: "GetConfiguration", sent: 1002, succeeded: 1000, failed: 1, responseTime: times, serviceTime: times,
                    errors: [ErrorCount(code: "unavailable", count: 1)])
            ],
            series: [
                SecondSample(
                    second: 1, isWarmUp: false, elapsedNanoseconds: 1_000_000_000, due: 100, dropped: 0, sent: 100, succeeded: 100, failed: 0,
                    inFlight: 0, connections: 1, p50Nanoseconds: 600_000, p90Nanoseconds: 1_000_000, p99Nanoseconds: 1_090_000,
                    maxNanoseconds: 1_100_000, lagNanoseconds: 30_000)
            ],
            errors: [ErrorCount(code: "unavailable", count: 1, example: "The peer went away.")],
            assertions: [AssertionResult(text: "p99<5ms", measured: "1.09 ms", hasHeld: true)],
            generator: GeneratorHealth(lag: times, processorShare: 0.2, wasBottleneck: false))
    }
}
