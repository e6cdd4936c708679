internal import ArgumentParser
internal import Clocks
internal import Foundation

/// Which lines of the logs somebody wants to see.
struct LogSelection: Sendable {
    /// Names of programs; empty: all.
    var programs: [String] = []
    var trace: TraceName?
    var since: Timestamp?

    /// - Parameter program: A copy's name. The name of a service means all of its copies.
    func includes(program: String) -> Bool {
        programs.isEmpty || programs.contains { $0 == program || program.hasPrefix("\($0)-") && Int(program.dropFirst($0.count + 1)) != nil }
    }

    func includes(_ line: LogLine) -> Bool {
        if let since, line.place < since { return false }
        guard let trace else { return true }
        return line.event.map(trace.names) ?? false
    }
}

/// What people have of a request: its trace id, the id that the gateway answers with, or a `traceparent`.
struct TraceName: ExpressibleByArgument, Sendable {
    private let text: String
    /// 32 hex digits.
    private let traceID: String
    /// Whether a trace id may differ where a UUID has its version and its variant.
    private let isRequest: Bool

    init?(argument: String) {
        let text = argument.lowercased()
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let digits = parts.count == 4 && parts[1].utf8.count == 32 ? String(parts[1]) : parts.joined()
        guard digits.utf8.count == 32, digits.utf8.allSatisfy(Self.isHexDigit) else { return nil }
        (self.text, traceID, isRequest) = (text, digits, parts.count == 5)
    }

    /// Whether a line is about that request.
    func names(_ event: LogLine.Event) -> Bool {
        if let request = event.field("request"), request.lowercased() == text { return true }
        guard let trace = event.field("trace_id")?.lowercased() else { return false }
        guard isRequest else { return trace == traceID }
        // The gateway makes the one from the other: they have all but the marks of a UUID in common.
        return trace.utf8.count == 32
            && zip(trace.utf8, traceID.utf8).enumerated().allSatisfy { $0.offset == 12 || $0.offset == 16 || $0.element.0 == $0.element.1 }
    }

    private static func isHexDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) || (0x61...0x66).contains(octet) }
}

/// From when on: so long ago (`5m`), or a moment (`2031-03-04T10:00:00Z`).
enum LogStart: ExpressibleByArgument, Sendable {
    case ago(Duration)
    case moment(Timestamp)

    init?(argument: String) {
        if let moment = Timestamp(logged: argument.utf8) {
            self = .moment(moment)
        } else if let span = TimeSpan(argument: argument), span.duration >= .zero {
            self = .ago(span.duration)
        } else {
            return nil
        }
    }

    func moment(now: Timestamp) -> Timestamp {
        switch self {
        case .ago(let span): now - span
        case .moment(let moment): moment
        }
    }
}
