/// A metric and its labels as Prometheus writes them.
struct MetricName: Hashable, Comparable {
    let name: String
    /// `a="x",b="y"`; empty without labels.
    let labels: String

    init(_ label: String, _ dimensions: [(String, String)]) {
        name = Self.identifier(label)
        labels = dimensions.sorted { $0.0 < $1.0 }.map { "\(Self.identifier($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    }

    static func < (left: MetricName, right: MetricName) -> Bool {
        (left.name, left.labels) < (right.name, right.labels)
    }

    /// `name{labels}`, with a suffix on the name and one more label.
    func line(_ suffix: String = "", extra: String = "") -> String {
        let all = [labels, extra].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? name + suffix : "\(name)\(suffix){\(all)}"
    }

    private static func identifier(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += #"\\"#
            case "\"": result += #"\""#
            case "\n": result += #"\n"#
            default: result.append(character)
            }
        }
    }
}
