public import Faults

extension WireFault {
    /// The most that crosses the wire of a fault's message, in UTF-8 bytes.
    public static let maxMessageBytes = 1024
    /// The most that crosses the wire of a fault's details, in UTF-8 bytes.
    public static let maxDetailsBytes = 4096

    /// The parts of a fault that cross the wire: never its cause, and no text of an `internal` one.
    public init(_ fault: Fault) {
        let isInternal = fault.code == .internal
        self.init(
            code: Self.clean(fault.code.rawValue, limit: 128),
            message: isInternal ? "" : Self.clean(fault.message, limit: Self.maxMessageBytes),
            retryable: fault.isRetryable,
            retryAfterMilliseconds: fault.retryAfter.map(Self.milliseconds) ?? 0,
            details: isInternal ? "" : fault.details.map { Self.clean($0, limit: Self.maxDetailsBytes) } ?? "")
    }

    /// At least 1, so that advice to wait is never lost by rounding.
    private static func milliseconds(_ span: Duration) -> UInt64 {
        let (seconds, attoseconds) = span.components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        let whole = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        return whole.overflow ? .max : max(1, whole.partialValue &+ UInt64(attoseconds / 1_000_000_000_000_000))
    }

    /// Without NUL, which the wire does not carry, and not longer than the limit.
    private static func clean(_ text: String, limit: Int) -> String {
        guard text.utf8.count > limit || text.utf8.contains(0) else { return text }
        var kept = ""
        for character in text.unicodeScalars where character != "\0" {
            guard kept.utf8.count + UTF8.width(character) <= limit else { break }
            kept.unicodeScalars.append(character)
        }
        return kept
    }
}

extension Fault {
    /// The fault that a peer sent. A code that this build does not know stays what it is.
    public init(_ wire: WireFault) {
        let code = wire.code.isEmpty ? Fault.Code.internal : Fault.Code(rawValue: wire.code)
        self.init(
            code,
            wire.message.isEmpty && code == .internal ? "An internal fault occurred." : wire.message,
            details: wire.details.isEmpty ? nil : wire.details,
            isRetryable: wire.retryable,
            retryAfter: wire.retryAfterMilliseconds == 0 ? nil : .milliseconds(min(wire.retryAfterMilliseconds, Self.longestRetryAfter)))
    }

    /// A day, in milliseconds: no peer's advice is taken for longer.
    private static let longestRetryAfter: UInt64 = 86_400_000
}
