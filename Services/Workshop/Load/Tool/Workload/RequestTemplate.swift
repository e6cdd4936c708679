internal import Foundation

/// Text with places to fill in. They are `{{seq}}` (0, 1, 2, ...), `{{random}}` (a whole number below 2^53), `{{uuid}}` and `{{now}}` (milliseconds
/// since 1970). `{{NAME}}` stands for the columns of a data file.
public struct RequestTemplate: Sendable {
    private enum Part: Sendable {
        case text(String)
        case place(String)
    }

    private static let builtIn: Set<String> = ["seq", "random", "uuid", "now"]
    private let parts: [Part]

    /// - Parameter columns: Names beside those that every template has.
    /// - Throws: `OptionRejection` naming a place that nothing fills.
    public init(_ text: String, columns: [String], option: String) throws(OptionRejection) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            guard let close = rest[open.upperBound...].firstRange(of: "}}") else { throw OptionRejection(option, "'{{' without '}}'") }
            let name = rest[open.upperBound..<close.lowerBound].trimmingCharacters(in: .whitespaces)
            guard Self.builtIn.contains(name) || columns.contains(name) else {
                throw OptionRejection(option, "nothing fills {{\(name)}}; there are \((Self.builtIn.sorted() + columns).joined(separator: ", "))")
            }
            parts += [.text(String(rest[..<open.lowerBound])), .place(name)]
            rest = rest[close.upperBound...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// True when every filling is the same.
    public var isConstant: Bool { parts.count == 1 }

    /// - Parameters:
    ///   - sequence: The sequence number of this request.
    ///   - row: Column values.
    ///   - random: The random numbers of the run's seed.
    public func filled(sequence: Int, row: [String: String], random: inout SplitMix) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .place(let name): text += row[name] ?? Self.value(name, sequence, &random)
            }
        }
        return text
    }

    private static func value(_ name: String, _ sequence: Int, _ random: inout SplitMix) -> String {
        switch name {
        case "seq": String(sequence)
        case "random": String(random.next() >> 11)
        case "now": String(Int64(Date().timeIntervalSince1970 * 1000))
        default: uuid(&random)
        }
    }

    /// Version 4 (RFC 9562 §5.4), from the seed.
    private static func uuid(_ random: inout SplitMix) -> String {
        let (high, low) = (random.next() & ~0xf000 | 0x4000, random.next() & ~(3 << 62) | 2 << 62)
        func hex(_ value: UInt64, _ digits: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: digits - text.count) + text
        }
        return [hex(high >> 32, 8), hex(high >> 16 & 0xffff, 4), hex(high & 0xffff, 4), hex(low >> 48, 4), hex(low & 0xffff_ffff_ffff, 12)]
            .joined(separator: "-")
    }
}
