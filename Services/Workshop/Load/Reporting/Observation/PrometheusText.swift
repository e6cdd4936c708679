/// One line of the Prometheus text format.
package struct MetricSample: Equatable, Sendable {
    package let name: String
    package let labels: [String: String]
    package let value: Double
}

/// Reads the Prometheus text format, version 0.0.4, from any program.
///
/// A line that is not understood is left out and counted. Nothing in the text can make the reader fail or keep more than `lineLimit` samples.
package struct PrometheusText: Sendable {
    /// In the order of the text.
    package private(set) var samples: [MetricSample] = []
    /// Lines that are neither comments nor samples.
    private(set) var unreadable = 0
    /// True when the text held more than `lineLimit` lines: the rest was left out.
    private(set) var isCut = false

    private static let lineLimit = 20_000
    private static let labelLimit = 32

    package init(_ text: some StringProtocol) {
        var lines = 0
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") }) {
            lines += 1
            guard lines <= Self.lineLimit else {
                isCut = true
                return
            }
            var scanner = LineScanner(bytes: Array(line))
            scanner.skipBlanks()
            if scanner.isAtEnd || scanner.peek == UInt8(ascii: "#") { continue }
            if let sample = scanner.sample(labelLimit: Self.labelLimit) { samples.append(sample) } else { unreadable += 1 }
        }
    }
}

/// Walks over one line.
private struct LineScanner {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }
    var peek: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0d { position += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    mutating func sample(labelLimit: Int) -> MetricSample? {
        guard let name = identifier() else { return nil }
        skipBlanks()
        guard let labels = labels(limit: labelLimit) else { return nil }
        skipBlanks()
        guard let value = number() else { return nil }
        skipBlanks()
        // A time in milliseconds may follow.
        if !isAtEnd { guard integer(), isAtEnd else { return nil } }
        return MetricSample(name: name, labels: labels, value: value)
    }

    /// `[a-zA-Z_:][a-zA-Z0-9_:]*`
    private mutating func identifier() -> String? {
        let start = position
        while let byte = peek, Self.isName(byte) || (position > start && Self.isDigit(byte)) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private mutating func labels(limit: Int) -> [String: String]? {
        guard take(UInt8(ascii: "{")) else { return [:] }
        var found: [String: String] = [:]
        while true {
            skipBlanks()
            if take(UInt8(ascii: "}")) { return found }
            guard found.count < limit, let name = identifier() else { return nil }
            skipBlanks()
            guard take(UInt8(ascii: "=")) else { return nil }
            skipBlanks()
            guard let value = quoted(), found.updateValue(value, forKey: name) == nil else { return nil }
            skipBlanks()
            if !take(UInt8(ascii: ",")), peek != UInt8(ascii: "}") { return nil }
        }
    }

    private mutating func quoted() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var text: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = peek else { return nil }
                position += 1
                text.append(escaped == UInt8(ascii: "n") ? 0x0a : escaped)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func number() -> Double? {
        let word = word()
        switch word {
        case "+Inf", "Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN": return .nan
        // Double(_:) also reads hexadecimal and words, which the format does not have.
        default: return word.utf8.allSatisfy { Self.isDigit($0) || ".eE+-".utf8.contains($0) } ? Double(word) : nil
        }
    }

    private mutating func integer() -> Bool { Int64(word()) != nil }

    private mutating func word() -> String {
        let start = position
        while let byte = peek, byte != 0x20, byte != 0x09, byte != 0x0d { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        skipBlanks()
        return word
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isName(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }
}
