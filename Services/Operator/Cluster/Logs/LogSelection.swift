internal import ArgumentParser
internal import Clocks
internal import CommandKit
internal import Foundation

/// The lines of the logs that somebody wants to see.
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
        return trace.mayBeNamed(in: line.octets) && line.event.map(trace.names) ?? false
    }
}

/// The name that people have of a request: its trace id, the id that the gateway answers with, or a `traceparent`.
struct TraceName: ExpressibleByArgument, Sendable {
    private let text: String
    /// 32 hex digits.
    private let traceID: String
    /// It is the gateway's id of the request, a UUID. A trace id may differ where that has its version and its variant.
    let isRequest: Bool
    /// The id of the request's trace, where somebody else began that and the gateway's id has nothing of it.
    private var learned: String?

    init?(argument: String) {
        let text = argument.lowercased()
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let digits = parts.count == 4 && parts[1].utf8.count == 32 ? String(parts[1]) : parts.joined()
        guard digits.utf8.count == 32, digits.utf8.allSatisfy(Self.isHexDigit) else { return nil }
        (self.text, traceID, isRequest) = (text, digits, parts.count == 5)
    }

    /// Takes the trace of the request over from the line in which the gateway has both.
    mutating func learn(from event: LogLine.Event) {
        guard event.field("request") == text, let trace = event.field("trace_id"), !names(trace) else { return }
        learned = trace
    }

    /// True when a line is about that request.
    func names(_ event: LogLine.Event) -> Bool {
        if let request = event.field("request"), request == text { return true }
        return event.field("trace_id").map(names) ?? false
    }

    private func names(_ trace: String) -> Bool {
        if trace == learned { return true }
        guard isRequest else { return trace == traceID }
        // The gateway makes the one from the other: they have all but the marks of a UUID in common.
        return trace.utf8.count == 32
            && zip(trace.utf8, traceID.utf8).enumerated().allSatisfy { $0.offset == 12 || $0.offset == 16 || $0.element.0 == $0.element.1 }
    }

    /// False: a line does not name it; said without reading it as JSON. Both forms of an id begin with the same eight digits.
    func mayBeNamed(in octets: [UInt8]) -> Bool {
        [traceID, learned].compactMap { $0 }.contains { Self.holds(octets, Array($0.utf8.prefix(8))) }
    }

    private static func holds(_ octets: [UInt8], _ wanted: [UInt8]) -> Bool {
        octets.withUnsafeBytes { text in
            guard let start = text.baseAddress, let first = wanted.first, text.count >= wanted.count else { return false }
            var offset = 0
            while offset <= text.count - wanted.count,
                let found = memchr(start + offset, Int32(first), text.count - wanted.count - offset + 1)
            {
                if memcmp(found, wanted, wanted.count) == 0 { return true }
                offset = UnsafeRawPointer(found) - start + 1
            }
            return false
        }
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
