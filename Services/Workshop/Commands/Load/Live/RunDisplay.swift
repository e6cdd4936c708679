internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import ServiceKit
internal import Synchronization

/// Shows how a run goes. On a terminal it draws a block again in its place; elsewhere it writes a line on standard error every few seconds.
final class RunDisplay: Sendable {
    enum Form: Sendable {
        case none, lines, block
    }

    private struct State {
        var view: LiveView
        var drawn: [LiveView.Line] = []
        var lastLine = -Double.infinity
    }

    private let form: Form
    private let console = Console()
    private let isClosed: Bool
    private let state: Mutex<State>

    init(_ form: Form, isClosed: Bool) {
        self.form = form
        self.isClosed = isClosed
        state = Mutex(State(view: LiveView(title: "", isClosed: isClosed)))
    }

    /// All is prepared.
    /// - Parameter title: The target of the load.
    func begin(_ title: String) { state.withLock { $0.view = LiveView(title: title, isClosed: isClosed) } }

    /// Shows how far the preparation is.
    func show(_ what: String, _ done: Int, of count: Int) {
        switch form {
        case .none: break
        case .lines: if done == count { Self.log("prepared: \(count) \(what)") }
        case .block: draw(note: "preparing: \(done) of \(count) \(what)")
        }
    }

    /// Something before the run.
    func show(_ note: String) {
        switch form {
        case .none: break
        case .lines: Self.log(note)
        case .block: draw(note: note)
        }
    }

    func show(_ progress: LoadRun.Progress) {
        switch form {
        case .none: break
        case .lines:
            let isDue = state.withLock { state in
                guard progress.sample.second - state.lastLine >= 4.5 else { return false }
                state.lastLine = progress.sample.second
                return true
            }
            if isDue { Self.log(ProgressLine.text(progress, isClosed: isClosed)) }
        case .block:
            let size = TerminalSize.current
            state.withLock { state in
                state.view.take(progress)
                Self.replace(&state.drawn, by: state.view.lines(width: size.width, height: size.height, console), width: size.width)
            }
        }
    }

    /// Wipes the block out: the report comes in its place.
    func end() {
        guard form == .block else { return }
        state.withLock { state in Self.replace(&state.drawn, by: [], width: TerminalSize.current.width) }
    }

    private func draw(note: String) {
        let size = TerminalSize.current
        state.withLock { state in
            let view = LiveView(title: note, isClosed: isClosed)
            Self.replace(&state.drawn, by: view.lines(width: size.width, height: size.height, console), width: size.width)
        }
    }

    private static func replace(_ drawn: inout [LiveView.Line], by lines: [LiveView.Line], width: Int) {
        let text = (drawn.isEmpty ? "" : LiveView.erasing(drawn, width: width)) + lines.map(\.text).joined(separator: "\r\n")
        drawn = lines
        StandardStream.output.writeOrEnd(Data(text.utf8))
    }

    private static func log(_ text: String) { StandardStream.error.writeOrEnd(Data("\(text)\n".utf8)) }
}

/// The progress of a run in one line, for logs.
enum ProgressLine {
    /// At most 79 columns: what has no room is left out, not cut.
    static func text(_ progress: LoadRun.Progress, isClosed: Bool) -> String {
        let sample = progress.sample
        let place = sample.isWarmUp ? "warm-up" : "\(Self.elapsed(sample.second, of: progress.planned)) of \(Quantity.span(progress.planned))"
        var parts = [place, "\(Quantity.number(progress.level)) \(isClosed ? "users" : "due/s")"]
        if let visits = sample.visitRate { parts.append("\(Quantity.number(visits)) done/s") }
        parts.append("\(Quantity.number(sample.rate)) \(sample.visitRate == nil ? "ok/s" : "calls/s")")
        parts.append("p50 \(Quantity.time(sample.p50Nanoseconds)) p99 \(Quantity.time(sample.p99Nanoseconds))")
        if progress.failed + sample.failed > 0 { parts.append("\(Quantity.count(progress.failed)) failed") }
        if progress.dropped > 0 { parts.append("\(Quantity.count(progress.dropped)) dropped") }
        parts.append("\(Quantity.count(sample.inFlight)) open")
        return parts.dropFirst().reduce(parts[0]) { line, part in line.count + 2 + part.count <= 79 ? "\(line)  \(part)" : line }
    }

    /// With a unit where the whole is not said in seconds.
    private static func elapsed(_ seconds: Double, of planned: Int64) -> String {
        guard planned >= 60_000_000_000 else { return Quantity.number(seconds.rounded()) }
        return seconds < 60 ? "\(Quantity.number(seconds.rounded())) s" : Quantity.span(Int64(seconds.rounded()) * 1_000_000_000)
    }
}

extension SecondSample {
    /// Good answers per second.
    var rate: Double { perSecond(succeeded) }

    /// Whole iterations per second; `nil` where each is one call, and in samples that do not have them.
    var visitRate: Double? {
        guard let iterations, iterations != succeeded else { return nil }
        return perSecond(iterations)
    }

    private func perSecond(_ count: Int) -> Double { elapsedNanoseconds > 0 ? Double(count) / (Double(elapsedNanoseconds) / 1e9) : 0 }
}
