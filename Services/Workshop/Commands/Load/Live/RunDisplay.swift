internal import CommandKit
internal import Foundation
internal import LoadTool
internal import ServiceKit
internal import Synchronization

/// Shows how a run goes: on a terminal a block that is drawn again in its place, elsewhere a line on standard error every few seconds.
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
    /// - Parameter title: What is loaded.
    func begin(_ title: String) { state.withLock { $0.view = LiveView(title: title, isClosed: isClosed) } }

    /// How far the preparation is.
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
