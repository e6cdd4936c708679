internal import ContractRuntime

/// The trace context's text form without strings in between: it is read and written for each call.
extension TraceContext {
    /// Bytes of a `traceparent` of version 00.
    static let parentByteCount = 55

    /// - Parameter parent: The text of a `traceparent`.
    /// - Returns: `nil` when it is malformed.
    init?(traceparent parent: UnsafeRawBufferPointer, state: String) {
        guard parent.count == Self.parentByteCount, parent[0] == 0x30, parent[1] == 0x30 else {
            guard let text = CText.string(parent) else { return nil }
            self.init(traceparent: text, state: state)
            return
        }
        guard parent[2] == 0x2d, parent[35] == 0x2d, parent[52] == 0x2d,
            let high = Self.number(parent, 3..<19), let low = Self.number(parent, 19..<35), let span = Self.number(parent, 36..<52),
            let flags = Self.number(parent, 53..<55), high | low != 0, span != 0
        else { return nil }
        self.init(traceHigh: high, traceLow: low, span: span, flags: UInt8(truncatingIfNeeded: flags), state: state)
    }

    /// - Parameter target: At least `parentByteCount` bytes.
    func writeParent(to target: UnsafeMutableRawPointer) {
        target.storeBytes(of: 0x3030, as: UInt16.self)
        Self.write(traceHigh, digits: 16, to: target + 3)
        Self.write(traceLow, digits: 16, to: target + 19)
        Self.write(span, digits: 16, to: target + 36)
        Self.write(UInt64(flags), digits: 2, to: target + 53)
        for place in [2, 35, 52] { target.storeBytes(of: 0x2d, toByteOffset: place, as: UInt8.self) }
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        for index in range {
            switch text[index] {
            case let digit where digit >= 0x30 && digit <= 0x39: value = value << 4 | UInt64(digit - 0x30)
            case let digit where digit >= 0x61 && digit <= 0x66: value = value << 4 | UInt64(digit - 0x57)
            default: return nil
            }
        }
        return value
    }

    private static func write(_ value: UInt64, digits: Int, to target: UnsafeMutableRawPointer) {
        var rest = value
        for index in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest & 0xf)
            target.storeBytes(of: digit < 10 ? 0x30 + digit : 0x57 + digit, toByteOffset: index, as: UInt8.self)
            rest >>= 4
        }
    }
}
