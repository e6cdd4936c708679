package import Foundation
internal import LoadReporting
internal import ServiceKit

/// Lines for the person at the terminal; or, for programs, an event a line.
package struct Console: Sendable {
    /// True where colours and bold are shown as such.
    let isStyled: Bool
    private let isQuiet: Bool
    /// True where each event is a line of JSON, and nothing else is printed.
    package let tellsEvents: Bool

    /// - Parameters:
    ///   - isQuiet: Prints nothing.
    ///   - isStyled: Default: as the terminal wants it.
    ///   - tellsEvents: Prints events alone.
    package init(isQuiet: Bool = false, isStyled: Bool? = nil, tellsEvents: Bool = false) {
        self.isQuiet = isQuiet || tellsEvents
        self.tellsEvents = tellsEvents
        let environment = ProcessInfo.processInfo.environment
        self.isStyled = !tellsEvents && (isStyled ?? Self.isStyled(environment))
    }

    private static func isStyled(_ environment: [String: String]) -> Bool {
        isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    }

    package func line(_ text: String = "") {
        guard !isQuiet else { return }
        StandardStream.output.writeOrEnd(Data((text + "\n").utf8))
    }

    /// Something worth knowing that is no step.
    package func note(_ text: String) {
        line(text)
        event("note", ["text": text.trimmingCharacters(in: .whitespacesAndNewlines)])
    }

    /// Prints an event for programs: a JSON object in one line, with the event's name in `event`.
    package func event(_ name: String, _ members: [String: Any] = [:]) {
        guard tellsEvents, let line = try? Self.line(ofEvent: name, members) else { return }
        StandardStream.output.writeOrEnd(line)
    }

    package static func line(ofEvent name: String, _ members: [String: Any]) throws -> Data {
        let object = members.merging(["event": name]) { $1 }
        return try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]) + Data("\n".utf8)
    }

    /// Milliseconds for programs, to a thousandth.
    package static func milliseconds(_ span: Duration) -> Double { (span / .microseconds(1)).rounded() / 1000 }

    package func bold(_ text: String) -> String { isStyled ? "\u{1b}[1m\(text)\u{1b}[0m" : text }

    package func faint(_ text: String) -> String { isStyled ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

    package func inverse(_ text: String) -> String { isStyled ? "\u{1b}[7m\(text)\u{1b}[0m" : text }

    package func good(_ text: String) -> String { isStyled ? "\u{1b}[32m\(text)\u{1b}[0m" : text }

    package func bad(_ text: String) -> String { isStyled ? "\u{1b}[31m\(text)\u{1b}[0m" : text }

    /// One finished step with how long it took.
    package func step(_ text: String, took: Duration) {
        event("step", ["text": text, "milliseconds": Self.milliseconds(took)])
        let time = Self.text(of: took)
        let padding = String(repeating: " ", count: max(1, 9 - time.count))
        line("  \(good("ok"))\(padding)\(faint(time))  \(text)")
    }

    package func failed(_ text: String) {
        event("failed", ["text": text])
        line("  \(bad("failed"))  \(text)")
    }

    /// `812 µs`, `120 ms`, `2.40 s`: as reports of load have it.
    package static func text(of span: Duration) -> String { Quantity.time(span / .nanoseconds(1)) }

    /// Does the work, then prints it as a finished step.
    package func step<Result>(_ text: String, _ work: () async throws -> Result) async throws -> Result {
        try await step({ _ in text }, work)
    }

    /// Does the work, then prints a step whose text depends on the result.
    package func step<Result>(_ text: (Result) -> String, _ work: () async throws -> Result) async throws -> Result {
        let start = ContinuousClock.now
        let result = try await work()
        step(text(result), took: ContinuousClock.now - start)
        return result
    }
}

/// The output of commands for programs: times as ISO 8601, members in order.
package enum JsonOutput {
    /// Prints an object whose members are only known to the caller.
    package static func show(_ object: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        StandardStream.output.writeOrEnd(data + Data("\n".utf8))
    }

    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
