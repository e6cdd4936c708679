internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool

/// The view of a run on a terminal while it runs: a block of lines, drawn again in the same place about once a second.
struct LiveView: Sendable {
    /// The title: the target and the load.
    let title: String
    let isClosed: Bool
    private var latest: LoadRun.Progress?
    /// The latencies of the measured part so far.
    private var soFar = LatencyHistogram()

    init(title: String, isClosed: Bool) { (self.title, self.isClosed) = (title, isClosed) }

    mutating func take(_ progress: LoadRun.Progress) {
        latest = progress
        if !progress.sample.isWarmUp { soFar.add(progress.responseTime) }
    }

    /// The block.
    /// - Parameters:
    ///   - width, height: Of the terminal, in columns and rows; no line is longer, and one row is left free.
    ///   - console: Knows whether colours are shown.
    /// - Returns: At least one line.
    func lines(width: Int, height: Int, _ console: Console) -> [Line] {
        let width = max(8, width - 1)
        guard let latest else { return [Line(title, width)] }
        var lines = [Line(title, width, console.bold)]
        for row in rows(latest, console) { lines += row.lines(width) }
        return Array(lines.prefix(max(1, height - 1)))
    }

    /// A line with its width as it is seen: control sequences have none.
    struct Line: Equatable {
        let text: String
        let width: Int

        fileprivate init(_ text: String, _ width: Int, _ style: (String) -> String = { $0 }) {
            let plain = text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
            (self.text, self.width) = (style(String(plain)), plain.count)
        }
    }

    /// Takes the cursor back to the first line of what was drawn, and wipes that out.
    /// - Parameters:
    ///   - drawn: The lines on the screen; the cursor is behind the last one.
    ///   - width: The width of the terminal now: where it was made narrower, lines have become several.
    static func erasing(_ drawn: [Line], width: Int) -> String {
        let rows = drawn.reduce(0) { $0 + max(1, ($1.width + max(1, width) - 1) / max(1, width)) }
        return (rows > 1 ? "\r\u{1b}[\(rows - 1)A" : "\r") + "\u{1b}[J"
    }

    // MARK: Rows

    private struct Row {
        let name: String
        let parts: [String]
        var style: (String) -> String = { $0 }

        /// In columns where there is room, else over as many lines as it takes.
        func lines(_ width: Int) -> [Line] {
            let indent = width >= 44 ? LiveView.indent : 0
            let cell = width >= 44 ? LiveView.cell : 0
            var texts = [name.padded(indent - 1)]
            for part in parts {
                let column = part.padded(cell)
                if texts[texts.count - 1].count + 1 + part.count <= width {
                    texts[texts.count - 1] += " " + column
                } else {
                    texts.append(String(repeating: " ", count: max(2, indent)) + column)
                }
            }
            return texts.map { Line($0.trimmed, width, style) }
        }
    }

    private static let indent = 13
    private static let cell = 12

    private func rows(_ progress: LoadRun.Progress, _ console: Console) -> [Row] {
        let sample = progress.sample
        let wanted = isClosed ? "\(Quantity.number(progress.level)) users" : "\(Quantity.number(progress.level))/s"
        let ended = progress.succeeded + progress.failed
        let share = ended > 0 ? Double(progress.failed) / Double(ended) : 0
        let plain: (String) -> String = { $0 }
        let hasErrors = progress.failed + sample.failed > 0
        let errors = ["\(Quantity.count(progress.failed)) failed", Quantity.share(share)] + codes(sample)
        return [
            Row(name: phase(progress), parts: place(progress)),
            Row(name: "rate", parts: ["wanted \(wanted)"] + rates(sample)),
            Row(name: "last second", parts: times(progress.responseTime)), Row(name: "so far", parts: times(soFar)),
            Row(name: "errors", parts: errors, style: hasErrors ? console.bad : plain),
            Row(name: "not started", parts: [Quantity.count(progress.dropped)], style: progress.dropped > 0 ? console.bad : plain),
            Row(name: "under way", parts: ["\(Quantity.count(sample.inFlight)) calls", "\(Quantity.count(sample.connections)) connections"]),
        ]
    }

    /// The wanted rates count visits: so do those that were achieved. The calls of visits that make several stand beside them.
    private func rates(_ sample: SecondSample) -> [String] {
        let calls = Quantity.number(sample.rate)
        guard let visits = sample.visitRate else { return ["achieved \(calls)/s"] }
        return ["achieved \(Quantity.number(visits))/s", "\(calls) calls/s"]
    }

    private func phase(_ progress: LoadRun.Progress) -> String {
        if progress.sample.isWarmUp { return "warming up" }
        return progress.step.map { "step \($0) of \(progress.steps)" } ?? "measuring"
    }

    /// A bar, how much is done, and how much is left.
    private func place(_ progress: LoadRun.Progress) -> [String] {
        let left = "\(Self.seconds(progress.planned - progress.elapsed)) left"
        guard progress.elapsed > 0, progress.planned > 0 else {
            return ["\(Self.seconds(-progress.elapsed)) to go, then \(Quantity.span(progress.planned))"]
        }
        let share = min(1, Double(progress.elapsed) / Double(progress.planned))
        let full = Int((share * 20).rounded())
        return [String(repeating: "█", count: full) + String(repeating: "░", count: 20 - full), "\(Int(share * 100)) %", left]
    }

    /// In whole seconds, so that they do not flicker.
    private static func seconds(_ nanoseconds: Int64) -> String {
        let whole = max(0, (nanoseconds + 500_000_000) / 1_000_000_000)
        return whole < 60 ? "\(whole) s" : Quantity.span(whole * 1_000_000_000)
    }

    private func times(_ histogram: LatencyHistogram) -> [String] {
        guard !histogram.isEmpty else { return ["no call ended"] }
        return [50, 90, 99, 99.9].map { "p\(Quantity.percentile($0)) \(Quantity.time(histogram.value(at: $0)))" }
            + ["max \(Quantity.time(histogram.longest))"]
    }

    /// The two most frequent of the last second.
    private func codes(_ sample: SecondSample) -> [String] {
        sample.errors.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(2)
            .map { "\($0.key) \(Quantity.count($0.value))" }
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}

/// The options for the view of a run while it runs, and the time of its start.
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

    /// Returns where Prometheus is answered.
    /// - Throws: `OptionRejection`.
    func metricsPlace() throws -> MetricsListener.Place? { try prometheus.map { try MetricsListener.Place($0) } }

    /// - Throws: `OptionRejection` for what is no moment from now on.
    func moment(now: Date = Date()) throws -> Date? {
        guard let startAt else { return nil }
        let date = Double(startAt).flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil } ?? (try? Date(startAt, strategy: .iso8601))
        guard let date else { throw OptionRejection("--start-at '\(startAt)'", "give Unix seconds, or a time such as 2030-01-31T12:00:00Z") }
        let ahead = date.timeIntervalSince(now)
        guard ahead > 0, ahead <= 86_400 else {
            throw OptionRejection("--start-at '\(startAt)'", ahead > 0 ? "give a moment within a day" : "that moment is over: give a later one")
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
