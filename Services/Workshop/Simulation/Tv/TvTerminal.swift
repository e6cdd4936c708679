internal import CommandKit
internal import Dispatch
internal import Foundation
internal import ServiceKit
internal import Synchronization

/// The terminal as a TV's screen and remote: takes it over, and gives it back as it was.
final class TvTerminal: Sendable {
    /// Keys, until the terminal is closed.
    let keys: AsyncStream<TvKey>
    private let former: termios
    private let continuation: AsyncStream<TvKey>.Continuation
    // Written once, never read: it keeps the source alive.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let isOpen = Mutex(true)

    /// Whether there is a terminal to take.
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
