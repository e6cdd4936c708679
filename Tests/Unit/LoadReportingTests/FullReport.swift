import Foundation
import Synchronization

@testable import LoadReporting

/// A report with everything in it, made up by a formula: for tests of what is made from reports.
struct FullReport {
    var seconds = 24
    var warmUp = 5
    var rate = 2000.0
    /// Factor on every latency.
    var slowness = 1.0
    var failing = 0.002
    var operations = ["registration code", "poll", "sign-in", "session"]
    var random = Numbers(state: 7)

    /// The same numbers each time.
    struct Numbers {
        var state: UInt64

        /// 0 to 1, both excluded.
        mutating func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (Double(state >> 11) + 0.5) / Double(1 << 53)
        }

        /// Exponential, with mean 1.
        mutating func exponential() -> Double { -log(next()) }
    }

    /// Made once for each form of it: thousands of times are counted.
    private static let made = Mutex<[String: LoadReport]>([:])

    mutating func report() -> LoadReport {
        let key = "\(seconds) \(warmUp) \(rate) \(slowness) \(failing) \(operations) \(random.state)"
        if let known = Self.made.withLock({ $0[key] }) { return known }
        let report = make()
        Self.made.withLock { $0[key] = report }
        return report
    }

    private mutating func make() -> LoadReport {
        var all = LatencyHistogram()
        var service = LatencyHistogram()
        var samples: [SecondSample] = []
        for second in 1 - warmUp...seconds {
            var own = LatencyHistogram()
            // A stall in the middle, as of a compaction of a store.
            let isStalled = seconds > 20 && (15...16).contains(second)
            for _ in 0..<Int(rate / 40) {
                let base = (180_000 + 240_000 * random.exponential()) * slowness * (second <= 0 ? 2 : 1)
                let tail = random.next() < 0.004 ? 14_000_000 * random.exponential() : 0
                let wait = isStalled ? 320_000_000 * random.next() : 0
                own.record(Int64(base + tail + wait), times: 40)
                if second > 0 { service.record(Int64(base + tail), times: 40) }
            }
            if second > 0 { all.add(own) }
            samples.append(sample(second, own, isStalled: isStalled))
        }
        return report(samples, all.summary, service.summary)
    }

    private mutating func sample(_ second: Int, _ own: LatencyHistogram, isStalled: Bool) -> SecondSample {
        let failed = Int(Double(own.count) * failing * (isStalled ? 20 : random.next() * 2))
        return SecondSample(
            second: Double(second), isWarmUp: second <= 0, elapsedNanoseconds: 1_000_000_000, due: Int(rate), dropped: 0,
            sent: Int(rate) * (isStalled ? 1 : 2) / 2, succeeded: own.count - failed, failed: failed,
            inFlight: isStalled ? 480 : 8 + Int(random.next() * 9),
            connections: 64, p50Nanoseconds: own.value(at: 50), p90Nanoseconds: own.value(at: 90), p99Nanoseconds: own.value(at: 99),
            maxNanoseconds: own.value(at: 100), lagNanoseconds: Int64(40_000 * random.exponential()),
            errors: failed == 0 ? [:] : ["overloaded": failed - failed / 4, "timeout": failed / 4].filter { $0.value > 0 },
            responseTimes: CompactHistogram(own))
    }

    private mutating func report(_ samples: [SecondSample], _ response: Latencies, _ service: Latencies) -> LoadReport {
        let measured = samples.filter { !$0.isWarmUp }
        let (good, bad) = (measured.reduce(0) { $0 + $1.succeeded }, measured.reduce(0) { $0 + $1.failed })
        let totals = RunTotals(
            elapsedNanoseconds: Int64(seconds) * 1_000_000_000, due: Int(rate) * seconds, dropped: 0, iterations: good / max(1, operations.count),
            sent: good + bad, succeeded: good, failed: bad, unfinished: 0, requestBytes: good * 240, answerBytes: good * 460, responseTime: response,
            serviceTime: service)
        var report = LoadReport(
            run: RunFacts(
                id: "00112233445566778899aabbccddeeff", tags: ["commit": "c0c6357"], startedAtMilliseconds: 1_795_000_000_000, end: .duration,
                toolVersion: "0.1.0", commandLine: ["boxoffice", "load", "authentication", "--rate", "2000", "--duration", "60s"]),
            settings: settings,
            machine: MachineFacts(processor: "AMD EPYC", cores: 2, memoryBytes: 25_000_000_000, system: "Linux 6.1, Debian 12", build: "release"),
            totals: totals, series: samples, generator: GeneratorHealth(lag: service, processorShare: 0.31, wasBottleneck: false))
        report.operations = operations.enumerated().map { number, name in
            var histogram = LatencyHistogram()
            for (value, count) in zip(response.histogram.values, response.histogram.counts) {
                histogram.record(Int64(Double(value) * (1 + Double(number) * 0.6)), times: max(1, Int(count) / operations.count))
            }
            let share = bad / operations.count
            return OperationResult(
                name: name, sent: histogram.count, succeeded: histogram.count - share, failed: share, responseTime: histogram.summary,
                serviceTime: histogram.summary, errors: [])
        }
        if operations.count > 1 { report.iterationTime = report.operations.last?.responseTime }
        report.errors =
            bad == 0
            ? []
            : [
                ErrorCount(code: "overloaded", count: bad - bad / 4, example: "the service has too many calls"),
                ErrorCount(code: "timeout", count: bad / 4),
            ]
        report.assertions = [
            AssertionResult(
                text: "p99<5ms", measured: Quantity.time(response.percentiles[4].nanoseconds),
                hasHeld: response.percentiles[4].nanoseconds < 5_000_000),
            AssertionResult(text: "errors<1%", measured: Quantity.share(totals.errorShare), hasHeld: totals.errorShare < 0.01),
        ]
        report.observation = observation(samples)
        return report
    }

    var settings: RunSettings {
        RunSettings(
            service: "authentication", targets: ["127.0.0.1:7002"], workload: operations.count > 1 ? "second-screen" : operations[0], loop: .open,
            arrivals: .poisson, fromLevel: rate, toLevel: rate, connections: 64, workers: 1, maxOutstanding: 10_000,
            timeoutNanoseconds: 5_000_000_000,
            warmUpNanoseconds: Int64(warmUp) * 1_000_000_000, durationNanoseconds: Int64(seconds) * 1_000_000_000, seed: 42,
            schedule: [.init(lengthNanoseconds: Int64(seconds) * 1_000_000_000, fromLevel: rate, toLevel: rate)])
    }

    private mutating func observation(_ samples: [SecondSample]) -> Observation {
        var observation = Observation()
        observation.seconds = samples.map(\.second)
        let load = samples.map { Double($0.succeeded) / rate }
        func line(_ name: String, _ values: [Double]) -> Observation.Series { .init(name: name, values: values.map { $0 }) }
        observation.panels = [
            .init(
                title: "RPC answers by code", unit: "1/s",
                series: [line("ok", samples.map { Double($0.succeeded) }), line("overloaded", samples.map { Double($0.failed) })]),
            .init(
                title: "Time of a commit", unit: "ms",
                series: [line("commit, mean", load.map { 1.2 * $0 }), line("commit, p99", load.map { 4.1 * $0 })]),
            .init(title: "In flight", unit: "", series: [line("writes waiting for the store", samples.map { Double($0.inFlight) })]),
        ]
        observation.processes = [
            .init(
                name: "authentication", pid: 4711, role: .target, cores: load.map { 0.62 * $0 }, residentBytes: samples.map { 31e6 + $0.second * 9e4 }
            ),
            .init(name: "sandbox", pid: 4712, role: .peer, cores: load.map { 0.11 * $0 }, residentBytes: samples.map { _ in 28e6 }),
            .init(name: "boxoffice load", pid: 4713, role: .load, cores: load.map { 0.31 * $0 }, residentBytes: samples.map { _ in 44e6 }),
        ]
        observation.machineCores = load.map { 1.1 * $0 }
        observation.counters = [.init(name: "boxoffice_rpc_server_calls_total{code=\"ok\",method=\"GetSession\"}", growth: 119_872)]
        return observation
    }
}
