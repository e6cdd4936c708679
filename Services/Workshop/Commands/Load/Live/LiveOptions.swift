internal import ArgumentParser
internal import Foundation
internal import LoadTool

/// What is seen of a run while it runs, and when it begins.
struct LiveOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not show progress.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "Offer the live figures to Prometheus at http://127.0.0.1:PORT/metrics while the load runs; with a host, at that address.",
            valueName: "[host:]port"))
    var prometheus: String?

    @Option(
        help: ArgumentHelp(
            """
            Begin at this moment, once all is prepared, for several generators at once: Unix seconds, or such as 2030-01-31T12:00:00Z; at most a day \
            ahead.
            """, valueName: "time"))
    var startAt: String?

    /// Where Prometheus is answered.
    /// - Throws: `BadOption`.
    func metricsPlace() throws -> MetricsListener.Place? { try prometheus.map { try MetricsListener.Place($0) } }

    /// - Throws: `BadOption` for what is no moment from now on.
    func moment(now: Date = Date()) throws -> Date? {
        guard let startAt else { return nil }
        let date = Double(startAt).flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil } ?? (try? Date(startAt, strategy: .iso8601))
        guard let date else { throw BadOption("--start-at '\(startAt)'", "give Unix seconds, or a time such as 2030-01-31T12:00:00Z") }
        let ahead = date.timeIntervalSince(now)
        guard ahead > 0, ahead <= 86_400 else {
            throw BadOption("--start-at '\(startAt)'", ahead > 0 ? "give a moment within a day" : "that moment is over: give a later one")
        }
        return date
    }

    /// A block where somebody looks; lines where a program may.
    func form(_ output: LoadOutputOptions, isTerminal: Bool = Self.isTerminal) -> RunDisplay.Form {
        if quiet { return .none }
        return isTerminal && output.json == nil && output.csv != "-" ? .block : .lines
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb" }
}
