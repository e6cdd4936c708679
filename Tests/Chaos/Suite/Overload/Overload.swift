import BoxofficeCommand
import Foundation
import LoadReporting
import LoadTool

/// Finds the capacity of the cluster for one call, then asks for twice as much: those that are accepted must be as quick as at capacity, and those that
/// are refused must hear so at once. The cluster has one processor, the load the others: a load that has to share cannot ask for so much.
struct Overload: Sendable {
    /// A refusal takes less than this.
    static let longestRefusal: Int64 = 10_000_000
    /// An accepted call may take this much of what it takes at capacity; a factor, as the 99th percentile of two short runs differs by itself.
    static let slack = 1.5
    /// Of the capacity, what must still be served at twice of it.
    static let leastGoodput = 0.5
    /// A load that is busier itself adds waits of its own, and cannot ask for so much.
    static let busiestLoad = 0.8

    let subject: OverloadSubject
    let app: App
    let cluster: ChaosCluster
    /// Of each of the three runs, in seconds.
    let seconds: Int

    struct Run: Sendable {
        let rate: Double
        let times: OverloadTimes.Contents
        let generator: GeneratorHealth

        var acceptedShare: Double { Double(times.accepted.count) / Double(max(1, times.accepted.count + times.refused.count)) }
        var acceptedP99: Double { Double(times.accepted.value(at: 99)) / 1e6 }
        var refusedP99: Double { Double(times.refused.value(at: 99)) / 1e6 }
    }

    /// - Parameter devices: Some that are signed in.
    /// - Returns: A line of figures, and what is wrong.
    func run(devices: [String]) async throws -> (facts: String, problems: [String]) {
        let requests = devices.map { device in
            HttpRequestText.bytes(
                method: "GET", path: subject.path(device: device), host: "127.0.0.1",
                headers: [
                    ("Authorization", "Bearer \(app.accessToken)"), ("Accept", "application/json"),
                    ("X-Device-Info", SimulatedHardware.television.information),
                ])
        }
        let closed = try await measure(requests, level: 64, loop: .closed)
        let capacity = closed.rate
        let full = try await measure(requests, level: capacity * 0.9, loop: .open(poisson: true))
        let twice = try await measure(requests, level: capacity * 2, loop: .open(poisson: true))
        let lateness = twice.generator.lag.percentiles.first { $0.percentile == 99 }?.nanoseconds ?? 0
        let served = String(
            format:
                "capacity %.0f/s (64 at a time, p99 %.1f ms); at 90 %% of it %.1f %% accepted, p99 %.1f ms; at twice of it %.0f/s accepted, p99 %.1f ms",
            capacity, closed.acceptedP99, full.acceptedShare * 100, full.acceptedP99, twice.rate, twice.acceptedP99)
        let refused = String(
            format: "%d refused, p99 %.1f ms; the load was late by %.1f ms at p99, and busy %.0f %%",
            twice.times.refused.count, twice.refusedP99, Double(lateness) / 1e6, twice.generator.processorShare * 100)
        let facts = "\(served), \(refused)"
        let wrong = wrongAnswers([closed, full, twice])
        guard twice.generator.processorShare <= Self.busiestLoad else {
            return ("\(facts); times not judged: the load needs more processors", wrong)
        }
        return (facts, wrong + slowness(capacity, closed, full, twice))
    }

    private func wrongAnswers(_ runs: [Run]) -> [String] {
        let others = runs.flatMap { $0.times.others.map { "\($0.value) × \($0.key)" } }
        return others.isEmpty ? [] : ["answers that are neither good nor a refusal: \(others.joined(separator: ", "))"]
    }

    private func slowness(_ capacity: Double, _ closed: Run, _ full: Run, _ twice: Run) -> [String] {
        var problems: [String] = []
        let bound = max(closed.acceptedP99, full.acceptedP99) * Self.slack
        if twice.acceptedP99 > bound {
            problems.append(String(format: "accepted calls take %.1f ms at the 99th percentile, more than %.1f", twice.acceptedP99, bound))
        }
        if twice.times.refused.value(at: 99) > Self.longestRefusal {
            problems.append(String(format: "refusals take %.1f ms at the 99th percentile, more than 10", twice.refusedP99))
        }
        if twice.rate < capacity * Self.leastGoodput {
            problems.append(String(format: "only %.0f/s are still served of %.0f/s", twice.rate, capacity))
        }
        return problems
    }

    private func measure(_ requests: [[UInt8]], level: Double, loop: WorkerSettings.Loop) async throws -> Run {
        let stage = LoadPlan.Stage(length: Int64(seconds) * 1_000_000_000, level: level)
        let plan = RunPlan(
            plan: LoadPlan(warmUp: 1_000_000_000, stages: [stage]), loop: loop, workers: 1, connections: loop == .closed ? 64 : 512,
            maxOutstanding: 20_000, timeout: 10_000_000_000, seed: 1)
        let times = OverloadTimes()
        let load = HttpLoad(HttpTarget(host: "127.0.0.1", port: cluster.ports.main(.gateway)), plan: plan) { worker, workers in
            RepeatedRequests(subject.rawValue, requests, worker: worker, workers: workers, times: times)
        }
        let result = try await load.run(
            begun: { _, instant in
                Task {
                    try? await Task.sleep(until: instant, clock: .continuous)
                    times.measure()
                }
            }, progress: { _ in })
        let contents = times.result
        return Run(
            rate: Double(contents.accepted.count) / (Double(result.elapsed) / 1e9), times: contents, generator: result.generator)
    }
}
