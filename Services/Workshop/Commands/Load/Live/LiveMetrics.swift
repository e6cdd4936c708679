internal import LoadReporting
internal import LoadTool
internal import ServiceKit

/// The live figures of a run in Prometheus' text format 0.0.4, warm-up included, brought up to date about once a second.
struct LiveMetrics: Sendable {
    enum Phase: String, CaseIterable, Sendable {
        case preparing, warmUp = "warm_up", measuring, ended
    }

    /// The bounds of the response times: nanoseconds, and the form in which Prometheus writes them in seconds.
    static let bounds: [(nanoseconds: Int64, text: String)] = [
        (100_000, "0.0001"), (250_000, "0.00025"), (500_000, "0.0005"), (1_000_000, "0.001"), (2_500_000, "0.0025"), (5_000_000, "0.005"),
        (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"), (100_000_000, "0.1"), (250_000_000, "0.25"), (500_000_000, "0.5"),
        (1_000_000_000, "1"), (2_500_000_000, "2.5"), (5_000_000_000, "5"), (10_000_000_000, "10"),
    ]
    /// The limit of error codes; further ones count as `other`.
    private static let mostCodes = 32

    private var labels = ""
    private let isClosed: Bool
    private var phase = Phase.preparing
    private var counts: [String: Int] = [:]
    private var codes: [String: Int] = ["ok": 0]
    private var buckets = [Int](repeating: 0, count: LiveMetrics.bounds.count)
    private var answered = 0
    private var seconds = 0.0
    private var latest: LoadRun.Progress?

    init(isClosed: Bool) { self.isClosed = isClosed }

    /// All is prepared.
    /// - Parameters:
    ///   - service, workload: Of the run.
    ///   - version: The version of the tool.
    mutating func begin(service: String, workload: String, version: String) {
        labels =
            "service=\"\(PrometheusLabel.escaped(service))\",workload=\"\(PrometheusLabel.escaped(workload))\",version=\"\(PrometheusLabel.escaped(version))\""
    }

    mutating func take(_ progress: LoadRun.Progress) {
        let sample = progress.sample
        phase = sample.isWarmUp ? .warmUp : .measuring
        latest = progress
        counts["due", default: 0] += sample.due
        counts["dropped", default: 0] += sample.dropped
        counts["iterations", default: 0] += sample.iterations ?? 0
        counts["sent", default: 0] += sample.sent
        codes["ok", default: 0] += sample.succeeded
        for (code, count) in sample.errors {
            codes[codes[code] != nil || codes.count < Self.mostCodes ? code : "other", default: 0] += count
        }
        for (index, bound) in Self.bounds.enumerated() { buckets[index] += progress.responseTime.count(upTo: bound.nanoseconds) }
        answered += progress.responseTime.count
        seconds += progress.responseTime.sum / 1e9
    }

    mutating func end() { phase = .ended }

    func text() -> String {
        var lines: [String] = []
        func family(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: String)]) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"]
            lines += samples.map { "\(name)\($0.labels.isEmpty ? "" : "{\($0.labels)}") \($0.value)" }
        }
        func single(_ name: String, _ type: String, _ help: String, _ value: some CustomStringConvertible) {
            family(name, type, help, [("", "\(value)")])
        }
        if !labels.isEmpty { family("boxoffice_load_run_info", "gauge", "What is loaded, and by which version of the tool.", [(labels, "1")]) }
        family(
            "boxoffice_load_phase", "gauge", "1 for what the run does now.",
            Phase.allCases.map { ("phase=\"\($0.rawValue)\"", $0 == phase ? "1" : "0") })
        single(
            isClosed ? "boxoffice_load_wanted_users" : "boxoffice_load_wanted_iterations_per_second", "gauge",
            "The load that the schedule wants now.",
            phase == .ended ? 0 : latest?.level ?? 0)
        single("boxoffice_load_left_seconds", "gauge", "Until the planned end.", latest.map { max(0, Double($0.planned - $0.elapsed) / 1e9) } ?? 0)
        single("boxoffice_load_iterations_due_total", "counter", "Iterations that the schedule wanted begun.", counts["due"] ?? 0)
        single(
            "boxoffice_load_iterations_dropped_total", "counter", "Iterations that were not begun, as too many were under way.",
            counts["dropped"] ?? 0)
        single("boxoffice_load_iterations_total", "counter", "Iterations that ended whole.", counts["iterations"] ?? 0)
        single("boxoffice_load_calls_sent_total", "counter", "Calls that were sent.", counts["sent"] ?? 0)
        family(
            "boxoffice_load_calls_total", "counter", "Calls that ended, by code: ok, or that of the error.",
            codes.sorted { $0.key < $1.key }.map { ("code=\"\(PrometheusLabel.escaped($0.key))\"", "\($0.value)") })
        single("boxoffice_load_calls_in_flight", "gauge", "Calls under way.", latest?.sample.inFlight ?? 0)
        single("boxoffice_load_connections", "gauge", "Open connections.", latest?.sample.connections ?? 0)
        single(
            "boxoffice_load_lateness_seconds", "gauge", "The tool's own largest lateness within the last second.",
            Double(latest?.sample.lagNanoseconds ?? 0) / 1e9)
        lines += [
            "# HELP boxoffice_load_response_seconds From when a call was due to its answer.", "# TYPE boxoffice_load_response_seconds histogram",
        ]
        lines += zip(Self.bounds, buckets).map { "boxoffice_load_response_seconds_bucket{le=\"\($0.text)\"} \($1)" }
        lines += [
            "boxoffice_load_response_seconds_bucket{le=\"+Inf\"} \(answered)", "boxoffice_load_response_seconds_sum \(seconds)",
            "boxoffice_load_response_seconds_count \(answered)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
