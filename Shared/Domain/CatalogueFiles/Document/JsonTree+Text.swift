internal import Cryptography

extension JsonTree {
    /// The one text of this value: no spaces, members in the order of their names' bytes. Equal values have equal texts.
    package var canonical: String { String(decoding: canonicalBytes, as: UTF8.self) }

    package var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    /// SHA-256 of the canonical text, 64 lower-case hex digits.
    package var sha256: String { Hex.encode(SHA256.hash(canonicalBytes)) }

    private func write(into bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): Self.write(text, into: &bytes)
        case .array(let elements): Self.write(elements, "[", "]", into: &bytes) { $0.write(into: &$1) }
        case .object(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            Self.write(sorted, "{", "}", into: &bytes) { member, bytes in
                Self.write(member.key, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: Unicode.Scalar, _ close: Unicode.Scalar, into bytes: inout [UInt8],
        _ body: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: open))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            body(element, &bytes)
        }
        bytes.append(UInt8(ascii: close))
    }

    private static func write(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0a: bytes += "\\n".utf8
            case 0..<0x20: bytes += "\\u00\(Hex.encode([byte]))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
