/// A metric and its labels as Prometheus writes them.
struct MetricName: Hashable, Comparable {
    let name: String
    /// `a="x",b="y"`; empty without labels.
    let labels: String
    /// The same before they are written, in the same order.
    let dimensions: [(name: String, value: String)]

    init(_ label: String, _ dimensions: [(String, String)]) {
        name = Self.identifier(label)
        self.dimensions = dimensions.sorted { $0.0 < $1.0 }.map { (Self.identifier($0.0), $0.1) }
        labels = self.dimensions.map { "\($0.name)=\"\(PrometheusLabel.escaped($0.value))\"" }.joined(separator: ",")
    }

    static func == (left: MetricName, right: MetricName) -> Bool { left.name == right.name && left.labels == right.labels }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(labels)
    }

    static func < (left: MetricName, right: MetricName) -> Bool {
        (left.name, left.labels) < (right.name, right.labels)
    }

    /// `name{labels}`, with a suffix on the name and one more label.
    func line(_ suffix: String = "", extra: String = "") -> String {
        let all = [labels, extra].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? name + suffix : "\(name)\(suffix){\(all)}"
    }

    /// As the text format writes it (version 0.0.4).
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        return value.isInfinite ? value > 0 ? "+Inf" : "-Inf" : "\(value)"
    }

    private static func identifier(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        return String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
    }

    /// As nearly every name is written; to ask a character what it is takes a look-up in tables of Unicode.
    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Values of labels in Prometheus' text format 0.0.4.
package enum PrometheusLabel {
    /// The text with `\`, `"` and the line feed escaped.
    package static func escaped(_ text: String) -> String {
        func isSpecial(_ octet: UInt8) -> Bool { octet == UInt8(ascii: "\\") || octet == UInt8(ascii: "\"") || octet == 0x0a }
        guard text.utf8.contains(where: isSpecial) else { return text }
        let octets = text.utf8.flatMap { octet -> [UInt8] in
            guard isSpecial(octet) else { return [octet] }
            return [UInt8(ascii: "\\"), octet == 0x0a ? UInt8(ascii: "n") : octet]
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
