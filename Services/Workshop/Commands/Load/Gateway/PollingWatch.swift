internal import CommandKit
internal import Foundation
internal import LoadReporting

/// Watches a cluster while televisions poll: what grows, and whether a poll goes upstream (bridge §15.1).
actor PollingWatch {
    /// Bytes of own memory that may come or go in the later half, when caches are full.
    static let tolerance = 2_000_000.0
    private static let counter = "boxoffice_authentication_bridge_calls_total"
    private static let shortest = "the run is too short to say: give --duration 30s at least"

    private let cluster: ClusterFile
    private let interval: Duration
    private let start = ContinuousClock.now
    private var memory: [String: [Growth.Point]] = [:]
    private var callsBefore: Double?
    private var loop: Task<Void, Never>?

    /// - Parameter length: Of the run, in seconds: some four hundred samples are taken, and not more than one a second.
    init(_ cluster: ClusterFile, length: Double) {
        self.cluster = cluster
        interval = .seconds(min(60, max(1, length / 400)))
    }

    /// Takes the first sample and goes on until `stop`.
    func begin() async {
        callsBefore = await Self.upstreamCalls(cluster)
        loop = Task { [interval] in
            while !Task.isCancelled {
                self.sample()
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
    }

    /// - Returns: An assertion for each process, and one for the calls upstream.
    func stop() async -> [AssertionResult] {
        loop?.cancel()
        await loop?.value
        let after = await Self.upstreamCalls(cluster)
        return memory.keys.sorted().map { Self.memory(of: $0, memory[$0] ?? []) } + [Self.calls(from: callsBefore, to: after)]
    }

    private func sample() {
        let seconds = start.duration(to: .now) / .seconds(1)
        for process in cluster.processes where process.pid > 0 && process.service != .sandbox {
            guard let bytes = SystemFile.read("/proc/\(process.pid)/status").flatMap(SoakSample.ownMemory) else { continue }
            memory[process.copy.name, default: []].append(Growth.Point(seconds: seconds, value: bytes))
        }
    }

    /// Of all copies since their start; `nil`: one of them does not tell.
    private static func upstreamCalls(_ cluster: ClusterFile) async -> Double? {
        try? await HTTPExchange.once { exchange in
            var sum = 0.0
            for process in cluster.processes where process.service == .authentication && process.pid > 0 {
                guard let debug = cluster.entry(of: process.copy)?.debug else { throw CommandFailure("it has no debug address") }
                let answer = try await exchange.send("GET", "http://\(debug)/metrics")
                guard answer.status == 200 else { throw CommandFailure("its metrics were answered \(answer.status)") }
                sum += PrometheusText(answer.text).samples.filter { $0.name == counter }.reduce(0) { $0 + $1.value }
            }
            return sum
        }
    }

    // MARK: Judgement

    /// - Parameter points: Of the whole run; the later half counts.
    static func memory(of process: String, _ points: [Growth.Point]) -> AssertionResult {
        let text = "own memory of \(process) within ± 2 MB in the later half"
        guard let first = points.first, let last = points.last,
            let growth = Growth(points.filter { $0.seconds >= (first.seconds + last.seconds) / 2 })
        else { return AssertionResult(text: text, measured: shortest, hasHeld: false) }
        let change = growth.perHour * growth.hours
        let sign = change < 0 ? "−" : "+"
        return AssertionResult(
            text: text, measured: "\(sign)\(Quantity.bytes(abs(change))) of \(Quantity.bytes(growth.level))", hasHeld: abs(change) <= tolerance)
    }

    /// - Parameters: Calls of all operations; `nil`: not known.
    static func calls(from before: Double?, to after: Double?) -> AssertionResult {
        let text = "no call upstream for the polls"
        guard let before, let after else {
            return AssertionResult(text: text, measured: "the metrics of authentication could not be read", hasHeld: false)
        }
        // A process that was started anew begins at 0.
        guard after >= before else { return AssertionResult(text: text, measured: "authentication was started anew meanwhile", hasHeld: false) }
        return AssertionResult(text: text, measured: "\(Int(after - before)) calls", hasHeld: after == before)
    }
}
