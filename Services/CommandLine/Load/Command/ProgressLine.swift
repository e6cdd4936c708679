internal import Foundation
internal import ServiceKit
internal import LoadReporting
internal import LoadTool
internal import Synchronization

/// The progress of a run on standard error: on a terminal one line that is rewritten, elsewhere a line every few seconds.
final class ProgressLine: Sendable {
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let lastLine = Mutex<Double>(-.infinity)

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        isTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    func show(_ progress: LoadRun.Progress, _ plan: RunPlan) {
        guard !isQuiet else { return }
        let text = Self.text(progress, isClosed: plan.loop == .closed)
        if isTerminal { return write("\r\u{1b}[K" + text) }
        let isDue = lastLine.withLock { last in
            guard progress.sample.second - last >= 4.5 else { return false }
            last = progress.sample.second
            return true
        }
        if isDue { write(text + "\n") }
    }

    /// How far the preparation is.
    func show(_ what: String, _ done: Int, of count: Int) {
        guard !isQuiet else { return }
        if isTerminal { return write("\r\u{1b}[Kpreparing: \(done) of \(count) \(what)") }
        if done == count { write("prepared: \(count) \(what)\n") }
    }

    /// Ends the line.
    func end() {
        if isTerminal, !isQuiet { write("\r\u{1b}[K") }
    }

    /// At most 80 columns.
    static func text(_ progress: LoadRun.Progress, isClosed: Bool) -> String {
        let sample = progress.sample
        let seconds = Double(sample.elapsedNanoseconds) / 1e9
        let rate = seconds > 0 ? Double(sample.succeeded) / seconds : 0
        let place = sample.isWarmUp ? "warm-up" : String(format: "%.0f/%.0f s", sample.second, Double(progress.planned) / 1e9)
        var parts = [place, String(format: "%.0f %@", progress.level, isClosed ? "users" : "due/s"), String(format: "%.0f ok/s", rate)]
        if progress.failed + sample.failed > 0 { parts.append("\(progress.failed) failed") }
        if progress.dropped > 0 { parts.append("\(progress.dropped) not started") }
        parts.append("p50 \(TimeText.text(sample.p50Nanoseconds)) p99 \(TimeText.text(sample.p99Nanoseconds))")
        parts.append("\(sample.inFlight) open")
        return String(parts.joined(separator: "  ").prefix(79))
    }

    private func write(_ text: String) { StandardStream.error.writeOrEnd(Data(text.utf8)) }
}
