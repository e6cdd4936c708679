internal import Storage

/// Rows as `COPY` has them in its text form: a line each, a tab between columns (postgresql.org/docs/current/sql-copy.html).
enum CopyText {
    private static let (tab, newline, backslash): (UInt8, UInt8, UInt8) = (0x09, 0x0A, 0x5C)
    private static let digits = Array("0123456789abcdef".utf8)

    /// Appends a line.
    static func append(_ values: [StoredValue], to line: inout [UInt8]) {
        for (index, value) in values.enumerated() {
            if index > 0 { line.append(tab) }
            switch value {
            case .null: line.append(contentsOf: #"\N"#.utf8)
            case .integer(let number): line.append(contentsOf: "\(number)".utf8)
            case .text(let text):
                if text.utf8.contains(where: isSpecial) {
                    for octet in text.utf8 { append(octet, to: &line) }
                } else {
                    line.append(contentsOf: text.utf8)
                }
            case .bytes(let bytes):
                line.append(contentsOf: #"\\x"#.utf8)
                for octet in bytes {
                    line.append(digits[Int(octet >> 4)])
                    line.append(digits[Int(octet & 0xF)])
                }
            }
        }
        line.append(newline)
    }

    private static func isSpecial(_ octet: UInt8) -> Bool { octet == backslash || octet == newline || octet == 0x0D || octet == tab }

    private static func append(_ octet: UInt8, to line: inout [UInt8]) {
        if isSpecial(octet) { line.append(backslash) }
        switch octet {
        case newline: line.append(UInt8(ascii: "n"))
        case 0x0D: line.append(UInt8(ascii: "r"))
        case tab: line.append(UInt8(ascii: "t"))
        default: line.append(octet)
        }
    }

    /// Reads a line.
    static func values(_ line: UnsafeRawBufferPointer, _ columns: [PostgresMaintenance.Column]) -> [StoredValue] {
        let end = line.last == newline ? line.count - 1 : line.count
        let fields = line[..<end].split(separator: tab, omittingEmptySubsequences: false)
        return zip(columns, fields).map { column, field in
            if field.elementsEqual([backslash, UInt8(ascii: "N")]) { return .null }
            let octets = plain(field)
            return switch column.kind {
            case .integer: Int64(String(decoding: octets, as: UTF8.self)).map { .integer($0) } ?? .text(String(decoding: octets, as: UTF8.self))
            case .text: .text(String(decoding: octets, as: UTF8.self))
            case .bytes: .bytes(bytes(octets))
            }
        }
    }

    private static func plain(_ field: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        guard field.contains(backslash) else { return [UInt8](field) }
        var octets: [UInt8] = []
        octets.reserveCapacity(field.count)
        var isEscaped = false
        for octet in field {
            guard isEscaped else {
                if octet == backslash { isEscaped = true } else { octets.append(octet) }
                continue
            }
            isEscaped = false
            switch octet {
            case UInt8(ascii: "b"): octets.append(0x08)
            case UInt8(ascii: "f"): octets.append(0x0C)
            case UInt8(ascii: "n"): octets.append(newline)
            case UInt8(ascii: "r"): octets.append(0x0D)
            case UInt8(ascii: "t"): octets.append(tab)
            case UInt8(ascii: "v"): octets.append(0x0B)
            default: octets.append(octet)
            }
        }
        return octets
    }

    /// - Parameter text: `\x` and pairs of hexadecimal digits.
    private static func bytes(_ text: [UInt8]) -> [UInt8] {
        func value(_ digit: UInt8) -> UInt8 { digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10 }
        return stride(from: 2, to: text.count - 1, by: 2).map { value(text[$0]) << 4 | value(text[$0 + 1]) }
    }
}
