internal import Foundation
internal import ServiceKit

/// Lines for the person at the terminal.
struct Console: Sendable {
    /// True where colours and bold are shown as such.
    let isStyled: Bool
    private let isQuiet: Bool

    /// - Parameters:
    ///   - isQuiet: Prints nothing.
    ///   - isStyled: Default: as the terminal wants it.
    init(isQuiet: Bool = false, isStyled: Bool? = nil) {
        self.isQuiet = isQuiet
        let environment = ProcessInfo.processInfo.environment
        self.isStyled = isStyled ?? Self.isStyled(environment)
    }

    private static func isStyled(_ environment: [String: String]) -> Bool {
        isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    }

    func line(_ text: String = "") {
        guard !isQuiet else { return }
        StandardStream.output.writeOrEnd(Data((text + "\n").utf8))
    }

    func bold(_ text: String) -> String { isStyled ? "\u{1b}[1m\(text)\u{1b}[0m" : text }

    func faint(_ text: String) -> String { isStyled ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

    func inverse(_ text: String) -> String { isStyled ? "\u{1b}[7m\(text)\u{1b}[0m" : text }

    func good(_ text: String) -> String { isStyled ? "\u{1b}[32m\(text)\u{1b}[0m" : text }

    func bad(_ text: String) -> String { isStyled ? "\u{1b}[31m\(text)\u{1b}[0m" : text }

    /// One finished step with how long it took.
    func step(_ text: String, took: Duration) {
        let time = Self.text(of: took)
        let padding = String(repeating: " ", count: max(1, 9 - time.count))
        line("  \(good("ok"))\(padding)\(faint(time))  \(text)")
    }

    func failed(_ text: String) { line("  \(bad("failed"))  \(text)") }

    /// `0.8 ms`, `120 ms`, `2.4 s`.
    static func text(of span: Duration) -> String {
        let milliseconds = Double(span.components.seconds) * 1000 + Double(span.components.attoseconds) / 1e15
        if milliseconds < 10 { return String(format: "%.1f ms", milliseconds) }
        if milliseconds < 1000 { return String(format: "%.0f ms", milliseconds) }
        return String(format: "%.1f s", milliseconds / 1000)
    }

    /// Does the work, then prints it as a finished step.
    func step<Result>(_ text: String, _ work: () async throws -> Result) async throws -> Result {
        try await step({ _ in text }, work)
    }

    /// Does the work, then prints a step whose text depends on the result.
    func step<Result>(_ text: (Result) -> String, _ work: () async throws -> Result) async throws -> Result {
        let start = ContinuousClock.now
        let result = try await work()
        step(text(result), took: ContinuousClock.now - start)
        return result
    }
}
