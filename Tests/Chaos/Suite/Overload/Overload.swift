import Simulation
import Foundation
import LoadTool

/// Finds the capacity of the cluster for one call, then asks for twice as much. Accepted calls must be as quick as at capacity, and refused ones must
/// hear so at once. The cluster has one processor, the load the others: a load that has to share cannot ask for so much.
struct Overload: Sendable {
    /// A refusal takes less than this, in milliseconds.
    static let longestRefusal = 10.0
    /// An accepted call may take this many times its time at capacity. The factor allows for the 99th percentiles of two short runs, which differ by
    /// themselves.
    static let slack = 1.5
    /// The part of the capacity that must still be served at twice of it.
    static let leastGoodput = 0.5
    /// A load that is busier itself adds waits of its own, and cannot ask for so much.
    static let busiestLoad = 0.8

    let subject: OverloadSubject
    let app: App
    let cluster: ChaosCluster
    /// `http-load`.
    let program: URL
    /// The length of each of the three runs.
    let seconds: Int

    /// - Parameter devices: Some that are signed in.
    /// - Returns: A line of figures, and what is wrong.
    func run(devices: [String]) throws -> (facts: String, problems: [String]) {
        let requests = devices.map { device in
            HttpRequestText.bytes(
                method: "GET", path: subject.path(device: device), host: "127.0.0.1",
                headers: [
                    ("Authorization", "Bearer \(app.accessToken)"), ("Accept", "application/json"),
                    ("X-Device-Info", SimulatedHardware.television.information),
                ] + subject.headers)
        }
        let flood = try Flood(
            program: program, port: cluster.ports.main(.gateway), texts: requests, file: cluster.home.root.appendingPathComponent("overload.requests")
        )
        let closed = try flood.run(connections: 64, rate: 0, seconds: seconds)
        let full = try flood.run(connections: Self.connections, rate: closed.rate * 0.9, seconds: seconds)
        let twice = try flood.run(connections: Self.connections, rate: closed.rate * 2, seconds: seconds)
        let facts = facts(closed, full, twice)
        let wrong = [closed, full, twice].flatMap(wrongAnswers)
        guard twice.busy <= Self.busiestLoad else { return ("\(facts); times not judged: the load needs more processors", wrong) }
        return (facts, wrong + slowness(closed, full, twice))
    }

    private static let connections = 512

    private func facts(_ closed: Flood.Result, _ full: Flood.Result, _ twice: Flood.Result) -> String {
        let served = String(
            format:
                "capacity %.0f/s (64 at a time, p99 %.1f ms); at 90 %% of it %.1f %% accepted, p99 %.1f ms; at twice of it %.0f/s accepted, p50 %.1f, p99 %.1f ms",
            closed.rate, closed.acceptedP99, full.acceptedShare(seconds: seconds) * 100, full.acceptedP99, twice.rate, twice.acceptedP50,
            twice.acceptedP99)
        let refused = String(
            format: "%d refused, p50 %.1f, p99 %.1f, at most %.1f ms; the load was late by %.1f ms at p99, and busy %.0f %%",
            twice.refused, twice.refusedP50, twice.refusedP99, twice.longestRefusal, twice.lateness, twice.busy * 100)
        return "\(served), \(refused)"
    }

    private func wrongAnswers(_ run: Flood.Result) -> [String] {
        var problems: [String] = []
        if run.others > 0 { problems.append("\(run.others) answers that are neither good nor a refusal, the first: \(run.remark)") }
        if run.unanswered > 0 { problems.append("\(run.unanswered) calls without an answer") }
        return problems
    }

    private func slowness(_ closed: Flood.Result, _ full: Flood.Result, _ twice: Flood.Result) -> [String] {
        var problems: [String] = []
        let bound = max(closed.acceptedP99, full.acceptedP99) * Self.slack
        if twice.acceptedP99 > bound {
            problems.append(String(format: "accepted calls take %.1f ms at the 99th percentile, more than %.1f", twice.acceptedP99, bound))
        }
        if twice.refusedP99 > Self.longestRefusal {
            problems.append(String(format: "refusals take %.1f ms at the 99th percentile, more than 10", twice.refusedP99))
        }
        if twice.rate < closed.rate * Self.leastGoodput {
            problems.append(String(format: "only %.0f/s are still served of %.0f/s", twice.rate, closed.rate))
        }
        return problems
    }
}
