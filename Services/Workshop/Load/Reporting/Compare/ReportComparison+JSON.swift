internal import Foundation

extension ReportComparison {
    /// For programs: the figures as they are, seconds and shares.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(
            hasPassed: hasPassed, base: names.base, new: names.new, warnings: warnings, figures: figures.map(Document.Figure.init),
            operations: operations.map(Document.Figure.init),
            assertions: assertions.map { Document.Assertion(text: $0.text, measured: $0.measured, hasHeld: $0.hasHeld) })
        return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
    }

    private struct Document: Encodable {
        struct Figure: Encodable {
            /// The step; absent: of all calls.
            let operation: String?
            let name: String
            let base: Double
            let new: Double
            /// Absent where the base is 0.
            let ratio: Double?
            /// Between which ratios chance alone may have put the typical second; absent where that is not known.
            let noise: [Double]?
            let verdict: String

            init(_ figure: ComparedFigure) {
                (operation, name, base, new, ratio) = (figure.operation, figure.kind.name, figure.base, figure.new, figure.ratio)
                noise = figure.seconds.map { [$0.low, $0.high] }.flatMap { $0.allSatisfy(\.isFinite) ? $0 : nil }
                verdict = figure.verdict.rawValue
            }
        }

        struct Assertion: Encodable {
            let text: String
            let measured: String
            let hasHeld: Bool
        }

        let hasPassed: Bool
        let base: String
        let new: String
        let warnings: [String]
        let figures: [Figure]
        let operations: [Figure]
        let assertions: [Assertion]
    }
}
