/// JSON as OTLP writes protocol buffers (opentelemetry-specification, "OTLP/HTTP, JSON Protobuf Encoding"): names in lowerCamelCase, ids in hexadecimal digits,
/// enumerations as numbers, 64-bit integers as texts.
struct OtlpText {
    private(set) var bytes: [UInt8] = []
    /// True when a value stands before the next one.
    private var needsComma = false

    init(reserving capacity: Int = 4096) { bytes.reserveCapacity(capacity) }

    @inline(__always)
    mutating func object(_ name: StaticString? = nil, _ members: (inout OtlpText) -> Void) { nest(name, "{", "}", members) }

    @inline(__always)
    mutating func array(_ name: StaticString, _ items: (inout OtlpText) -> Void) { nest(name, "[", "]", items) }

    /// Left out when it is empty, as its default.
    mutating func text(_ name: StaticString, _ value: String) {
        guard !value.isEmpty else { return }
        begin(name)
        quote(value)
    }

    /// Also when it is empty: which member there is says of what kind a value is.
    mutating func string(_ name: StaticString, _ value: String) {
        begin(name)
        quote(value)
    }

    mutating func number(_ name: StaticString, _ value: Int) {
        begin(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func flag(_ name: StaticString, _ value: Bool) {
        begin(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// 64 bits.
    mutating func long(_ name: StaticString?, _ value: some FixedWidthInteger) {
        begin(name)
        raw("\"")
        bytes.append(contentsOf: String(value).utf8)
        raw("\"")
    }

    mutating func double(_ name: StaticString?, _ value: Double) {
        begin(name)
        if value.isFinite {
            bytes.append(contentsOf: "\(value)".utf8)
        } else {
            quote(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity")
        }
    }

    /// As hexadecimal digits.
    mutating func id(_ name: StaticString, _ parts: UInt64...) {
        begin(name)
        raw("\"")
        for part in parts {
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: part >> shift) & 0xf
                bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
        raw("\"")
    }

    @inline(__always)
    private mutating func nest(_ name: StaticString?, _ opening: StaticString, _ closing: StaticString, _ content: (inout OtlpText) -> Void) {
        begin(name)
        raw(opening)
        needsComma = false
        content(&self)
        raw(closing)
        needsComma = true
    }

    private mutating func begin(_ name: StaticString?) {
        if needsComma { raw(",") }
        needsComma = true
        guard let name else { return }
        raw("\"")
        raw(name)
        raw("\":")
    }

    private mutating func raw(_ text: StaticString) { text.withUTF8Buffer { bytes.append(contentsOf: $0) } }

    private mutating func quote(_ text: String) {
        raw("\"")
        let isPlain = text.utf8.withContiguousStorageIfAvailable { octets in
            guard octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else { return false }
            bytes.append(contentsOf: octets)
            return true
        }
        if isPlain != true { escape(text) }
        raw("\"")
    }

    private mutating func escape(_ text: String) {
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), octet]
            case 0x00..<0x20, 0x7f:
                raw(octet < 0x10 ? "\\u000" : "\\u00")
                bytes.append(contentsOf: String(octet, radix: 16).utf8)
            default: bytes.append(octet)
            }
        }
    }
}
