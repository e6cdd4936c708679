package import Clocks
internal import Cryptography
package import Storage

/// 32 bytes that stand for something longer.
package struct Digest: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Takes the same time whatever the difference.
    package func equals(_ other: Digest) -> Bool { ConstantTime.equal(bytes, other.bytes) }

    /// True when it is the secret's; takes the same time whatever the difference.
    package func matches(_ secret: Secret<some Any>) -> Bool { equals(secret.digest) }
}

/// Something that proves who holds it. Prints as `[hidden]`; stores keep only its digest, or sealed.
package struct Secret<Subject>: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// A fresh one of 256 unpredictable bits, safe in URLs and cookies.
    package static func random(from source: any RandomSource) -> Secret { Secret(Base64.url.encode(source.bytes(32))) }

    /// SHA-256. Plain hashing is enough for a secret of 256 random bits.
    package var digest: Digest { Digest(bytes: SHA256.hash(text)) }

    package var description: String { "[hidden]" }
    package var debugDescription: String { "[hidden]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Unpredictable bytes come from here; a test may decide them.
package protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A version 4 UUID in lower case (RFC 9562 §5.4).
    package func uuid() -> String { Self.uuid(bytes(16), version: 4) }

    /// A version 7 UUID in lower case (RFC 9562 §5.7): of two, the one made in a later millisecond is the larger one. An index over such ids
    /// grows at its end instead of everywhere, so that a commit of many rows changes few of its pages.
    package func uuid(madeAt moment: Timestamp) -> String {
        var bytes = bytes(16)
        let milliseconds = UInt64(clamping: moment.milliseconds)
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * index)) }
        return Self.uuid(bytes, version: 7)
    }

    /// A number from 0 to 1.
    package func fraction() -> Double {
        let number = bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(number) / Double(UInt32.max)
    }

    /// - Parameter bytes: 16; version and variant are put over six of their bits.
    private static func uuid(_ bytes: [UInt8], version: UInt8) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0f | version << 4
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Hex.encode(bytes).utf8
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in digits.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The system's generator.
package struct SystemRandom: RandomSource {
    package init() {}

    package func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}

extension Identifier: ColumnValue {
    package var stored: StoredValue { .text(text) }

    package init(_ row: any RowSource, _ column: Int) { self.init(row.text(column)) }
}

extension Digest: ColumnValue {
    package var stored: StoredValue { .bytes(bytes) }

    package init(_ row: any RowSource, _ column: Int) { self.init(bytes: row.bytes(column)) }
}
