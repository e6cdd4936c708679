internal import CommandKit
internal import Dispatch
internal import EntitlementClient
internal import Foundation
internal import ServiceKit
internal import Synchronization

/// Draws a screen as lines of a terminal: pure, so that it can be looked at in tests.
struct TvFrame {
    let console: Console
    /// Columns, at least 40.
    let width: Int
    /// Rows.
    let height: Int
    let now: ContinuousClock.Instant

    init(_ console: Console, width: Int, height: Int, now: ContinuousClock.Instant = .now) {
        (self.console, self.width, self.height, self.now) = (console, max(40, min(width, 100)), max(10, height), now)
    }

    /// - Returns: As many lines as the terminal has rows, none wider than it.
    func lines(_ screen: TvScreen) -> [String] {
        let room = height - 4
        var body = body(screen, room)
        if body.count > room { body = Array(body.prefix(room)) }
        body += Array(repeating: "", count: room - body.count)
        return [bar(screen), ""] + body + [status(screen), keys(screen)]
    }

    // MARK: - Top and bottom

    private func bar(_ screen: TvScreen) -> String {
        let left = "  \(screen.brand)  ·  \(screen.name)"
        let right = screen.corner.map { "\($0)  " } ?? screen.session.map { "\($0.provider) (\(Self.source($0)))  " } ?? "not signed in  "
        let space = max(1, width - left.count - right.count)
        return console.inverse(Self.fit(left + String(repeating: " ", count: space) + right, width))
    }

    private static func source(_ session: Session) -> String {
        switch session.source {
        case .regular: "signed in"
        case .apple: "by Apple TV"
        case .tempPass: "free preview"
        case .degraded: "without the provider"
        }
    }

    private func status(_ screen: TvScreen) -> String {
        if let busy = screen.busy { return console.faint(Self.fit("  \(busy) ...", width)) }
        let text = Self.fit("  \(screen.message)", width)
        return screen.isBadNews ? console.bad(text) : console.good(text)
    }

    private func keys(_ screen: TvScreen) -> String {
        let keys =
            switch screen.page {
            case .channels: "↑↓ choose  Enter watch  p provider  o sign out  a Apple  Tab other TV  q quit"
            case .list: "↑↓ choose  Enter select  Esc back  q quit"
            case .sheet: "↑↓ choose  Enter answer"
            case .code: "Esc back  Tab other TV  q quit"
            case .playing: "Esc stop  Tab other TV  q quit"
            }
        return console.faint(Self.fit("  \(keys)", width))
    }

    // MARK: - Pages

    private func body(_ screen: TvScreen, _ room: Int) -> [String] {
        switch screen.page {
        case .channels: channels(screen)
        case .list(let title, let note, let choices): list(title, note, choices, screen.selection, room)
        case .code(let code, let end): codePage(code, end, room)
        case .playing(let channel, let facts, let start): playing(channel, facts, start)
        case .sheet(let title, let text): sheet(title, text, screen.selection)
        }
    }

    private func channels(_ screen: TvScreen) -> [String] {
        let longest = screen.channels.map(\.id.count).max() ?? 0
        let rows = screen.channels.enumerated().map { index, channel in
            let (mark, note): (String, String) =
                switch channel.lock {
                case .unknown: ("○", "sign in to watch")
                case .open: ("●", "open")
                case .locked(let reason): ("✕", reason.isEmpty ? "locked" : "locked: \(reason)")
                }
            return row(
                "\(mark)  \(channel.id.padding(toLength: longest + 3, withPad: " ", startingAt: 0))", note, isChosen: index == screen.selection)
        }
        let device =
            screen.systemProvider.map { ["", console.faint(Self.fit("    This device is signed in at \($0) by its settings.", width))] } ?? []
        return [console.bold("  Channels"), ""] + rows + device
    }

    private func list(_ title: String, _ note: String, _ choices: [TvScreen.Choice], _ selection: Int, _ room: Int) -> [String] {
        let longest = choices.map(\.title.count).max() ?? 0
        let visible = max(1, room - (note.isEmpty ? 2 : 4))
        let first = max(0, min(selection - visible / 2, choices.count - visible))
        let rows = choices.enumerated().dropFirst(first).prefix(visible).map { index, choice in
            row(choice.title.padding(toLength: longest + 3, withPad: " ", startingAt: 0), choice.note, isChosen: index == selection)
        }
        let heading = note.isEmpty ? [] : [console.faint(Self.fit("  \(note)", width)), ""]
        return [console.bold(Self.fit("  \(title)", width)), ""] + heading + rows
    }

    private func row(_ text: String, _ note: String, isChosen: Bool) -> String {
        let line = Self.fit("\(isChosen ? "  ▸ " : "    ")\(text)", width)
        let rest = Self.fit(note, max(0, width - line.count))
        return (isChosen ? console.bold(line) : line) + console.faint(rest)
    }

    private func codePage(_ code: CodeText, _ end: ContinuousClock.Instant, _ room: Int) -> [String] {
        let left = max(0, Int(now.duration(to: end) / .seconds(1)))
        let picture = QrCode.lines(for: code.addressWithCode)
        let box = ["┌───────────┐", "│  \(Self.pad(code.grouped, 8)) │", "└───────────┘"]
        let column = width - 6 - (picture.first?.count ?? 0)
        let text =
            ["Sign in at \(code.code.provider)", "", "Scan the code, or open"] + Self.wrapped(code.address, max(20, column))
            + ["and type", ""] + box.map { console.bold($0) } + ["", "Good for \(left / 60):\(Self.twoDigits(left % 60))"]
        guard !picture.isEmpty, picture.count <= room, column >= 24 else { return text.map { "  \($0)" } }
        let top = max(0, (picture.count - text.count) / 2)
        return picture.enumerated().map { index, line in
            let beside = text.indices.contains(index - top) ? text[index - top] : ""
            return "  \(line)  \(beside)"
        }
    }

    private func playing(_ channel: String, _ facts: [(name: String, value: String)], _ start: ContinuousClock.Instant) -> [String] {
        let seconds = Int(start.duration(to: now) / .seconds(1))
        let bar = max(10, width - 24)
        let full = min(bar, seconds % 600 * bar / 600 + 1)
        let names = facts.map(\.name.count).max() ?? 0
        let rows = facts.map { fact in
            let name = "    \(fact.name.padding(toLength: names + 2, withPad: " ", startingAt: 0))"
            return console.faint(name) + Self.fit(fact.value, max(0, width - name.count))
        }
        return [
            console.bold(Self.fit("  ▶  \(channel)", width)), "",
            "  \(String(repeating: "━", count: full))\(console.faint(String(repeating: "─", count: bar - full)))  \(seconds / 60):\(Self.twoDigits(seconds % 60))",
            "", console.faint(Self.fit("  Nothing is shown: the player's backend got this proof.", width)), "",
        ] + rows
    }

    private func sheet(_ title: String, _ text: String, _ selection: Int) -> [String] {
        let inner = min(width - 8, 62)
        let content = [title, ""] + Self.wrapped(text, inner) + [""]
        let answers = ["Yes", "Not now"].enumerated().map { index, answer in
            let line = Self.pad("\(index == selection ? "▸ " : "  ")\(answer)", inner)
            return index == selection ? console.bold(line) : line
        }
        let lines = content.enumerated().map { index, line in index == 0 ? console.bold(Self.pad(line, inner)) : Self.pad(line, inner) } + answers
        return ["", "  ┌\(String(repeating: "─", count: inner + 2))┐"] + lines.map { "  │ \($0) │" }
            + ["  └\(String(repeating: "─", count: inner + 2))┘"]
    }

    // MARK: - Text

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    private static func pad(_ text: String, _ width: Int) -> String { fit(text, width).padding(toLength: width, withPad: " ", startingAt: 0) }

    /// Cuts a text that is too wide.
    static func fit(_ text: String, _ width: Int) -> String { text.count <= width ? text : "\(text.prefix(max(0, width - 1)))…" }

    /// Breaks a text at blanks, and a word that is too wide where it must.
    static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
                continue
            }
            var rest = word
            while !rest.isEmpty {
                lines.append(String(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
        }
        return lines
    }
}

/// The terminal as a TV's screen and remote: takes it over, and gives it back as it was.
final class TvTerminal: Sendable {
    /// Keys, until the terminal is closed.
    let keys: AsyncStream<TvKey>
    private let former: termios
    private let continuation: AsyncStream<TvKey>.Continuation
    // Written once, never read: it keeps the source alive.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let isOpen = Mutex(true)

    /// True when there is a terminal to take.
    static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// - Returns: `nil` when the terminal cannot be taken over.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        former = settings
        cfmakeraw(&settings)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) == 0 else { return nil }
        let (keys, continuation) = AsyncStream.makeStream(of: TvKey.self)
        (self.keys, self.continuation) = (keys, continuation)
        source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else { return continuation.finish() }
            for key in TvKey.keys(in: Array(bytes.prefix(count))) { continuation.yield(key) }
        }
        source.activate()
        // Another screen, without a cursor; what was there comes back at the end.
        Self.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J")
    }

    /// Gives the terminal back; may be called twice.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        source.cancel()
        continuation.finish()
        Self.write("\u{1b}[?25h\u{1b}[?1049l")
        var settings = former
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// Columns and rows.
    var size: (width: Int, height: Int) { TerminalSize.current }

    /// Draws a whole screen.
    func draw(_ lines: [String]) {
        guard isOpen.withLock({ $0 }) else { return }
        Self.write("\u{1b}[H" + lines.map { "\($0)\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J")
    }

    private static func write(_ text: String) { StandardStream.output.writeOrEnd(Data(text.utf8)) }
}
