internal import Logging

/// Fields of a log line that are numbers: a reader can compare and add them. `Logger` carries all values as text.
enum NumberField {
    /// A name is one everywhere, so that a field has one type in all lines. `version` is not among them: programs have one that is no number.
    private static let names: Set<String> = [
        "asked", "attempt", "attempts", "bytes", "count", "duration_ms", "duration_us", "known", "length", "limit", "ms", "number", "port",
        "problems",
        "replaced", "seconds", "status", "sums",
    ]

    /// The value in JSON's form; `nil`: it is text, whatever it looks like.
    static func number(_ name: String, _ value: Logger.Metadata.Value) -> String? {
        guard names.contains(name) else { return nil }
        let text: String
        switch value {
        case .string(let string): text = string
        case .stringConvertible(let value): text = value.description
        case .array, .dictionary: return nil
        }
        return isNumber(text.utf8) ? text : nil
    }

    /// RFC 8259 section 6, without an exponent, and short enough for everybody's reader.
    private static func isNumber(_ text: String.UTF8View) -> Bool {
        guard text.count <= 20 else { return false }
        let unsigned = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        let parts = unsigned.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ part in !part.isEmpty && part.allSatisfy { (0x30...0x39).contains($0) } }) else { return false }
        return parts[0].count == 1 || parts[0].first != UInt8(ascii: "0")
    }
}
