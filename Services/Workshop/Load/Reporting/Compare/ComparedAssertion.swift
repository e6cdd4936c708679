/// A bound on how far a run may be from its base: `p99<=1.1x`, `rate>=0.95x`, `session:p99<1.2x`.
public struct ComparedAssertion: Sendable, Equatable {
    /// The result of one assertion.
    public struct Outcome: Sendable, Equatable {
        public let text: String
        /// The measured ratio, or why there is none.
        public let measured: String
        public let hasHeld: Bool
    }

    /// Not an assertion; says what is wrong with it.
    public struct Rejection: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    private enum Relation: String {
        case atMost = "<="
        case below = "<"
        case atLeast = ">="
        case above = ">"

        func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .atMost: left <= right
            case .below: left < right
            case .atLeast: left >= right
            case .above: left > right
            }
        }
    }

    public let text: String
    let operation: String?
    let kind: FigureKind
    private let relation: Relation
    let factor: Double

    /// - Throws: `Rejection`.
    public init(_ text: String) throws(Rejection) {
        let words = text.split(separator: /\s*(<=|>=|<|>)\s*/, maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let sign = text.firstMatch(of: /<=|>=|<|>/), let relation = Relation(rawValue: String(sign.0)) else {
            throw Rejection(description: "'\(text)' has no <, <=, > or >=: write for example 'p99<=1.1x'")
        }
        let parts = words[0].split(separator: ":", omittingEmptySubsequences: false)
        let name = parts.last.map { $0.filter { !$0.isWhitespace } } ?? ""
        guard let kind = FigureKind(name: name) else {
            throw Rejection(description: "'\(name)' in '\(text)' is no figure: use rate, mean, p50 to p100, max, errors, cpu or memory")
        }
        let value = words[1].filter { !$0.isWhitespace }
        guard value.hasSuffix("x"), value.first?.isNumber == true, let factor = Double(value.dropLast()), factor.isFinite, factor >= 0 else {
            throw Rejection(description: "'\(value)' in '\(text)' is no factor of the base: write for example 1.1x")
        }
        self.text = text
        operation = parts.count > 1 ? parts.dropLast().joined(separator: ":").trimmed : nil
        (self.kind, self.relation, self.factor) = (kind, relation, factor)
    }

    func judge(_ comparison: ReportComparison, toleratesNoise: Bool) -> Outcome {
        guard let figure = comparison.figure(kind, operation: operation) else {
            let what = operation.map { "\(kind.name) of '\($0)'" } ?? kind.name
            return Outcome(text: text, measured: "not in both reports: \(what)", hasHeld: false)
        }
        // Against a base of 0 there is no ratio; the bound itself is then 0.
        if relation.holds(figure.new, factor * figure.base) { return Outcome(text: text, measured: figure.ratioText, hasHeld: true) }
        let isNoise = figure.verdict == .noise
        return Outcome(
            text: text, measured: figure.ratioText + (isNoise ? ", within the noise" : ""), hasHeld: isNoise && toleratesNoise)
    }
}

extension String {
    fileprivate var trimmed: String { String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()) }
}
