/// Writes a document as JSON (RFC 8259).
package struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    package static func write(_ document: Document) -> [UInt8] { write(.object(document.members)) }

    package static func write(_ value: Document.Value) -> [UInt8] {
        var writer = JSONWriter()
        writer.bytes.reserveCapacity(512)
        writer.append(value)
        return writer.bytes
    }

    private mutating func append(_ value: Document.Value) {
        switch value {
        case .text(let text): append(text)
        case .number(let number): bytes.append(contentsOf: String(number).utf8)
        case .flag(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .null: bytes.append(contentsOf: "null".utf8)
        case .json(let text): bytes.append(contentsOf: (text.isEmpty ? "null" : text).utf8)
        case .object(let members): append(members)
        case .list(let values, _): append(values)
        }
    }

    private mutating func append(_ members: [Document.Member]) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for member in members where member.only != .xml {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            append(member.name)
            bytes.append(UInt8(ascii: ":"))
            append(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ values: [Document.Value]) {
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func append(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let isPlain = text.utf8.withContiguousStorageIfAvailable { text in
            guard text.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isPlain != true { escape(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 0x0a: bytes.append(contentsOf: "\\n".utf8)
            case 0x0d: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20: bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8 + Array(String(byte, radix: 16).utf8))
            default: bytes.append(byte)
            }
        }
    }
}
