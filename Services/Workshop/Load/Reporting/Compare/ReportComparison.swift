/// Two runs side by side: the base, and the run that is compared with it.
public struct ReportComparison: Sendable {
    public let base: LoadReport
    public let new: LoadReport
    /// The names of the runs, file names for example.
    let names: (base: String, new: String)
    let figures: [ComparedFigure]
    /// By step, for steps that are in both scenarios.
    let operations: [ComparedFigure]
    /// Reasons for which the comparison says less than it seems to.
    public let warnings: [String]
    public private(set) var assertions: [ComparedAssertion.Outcome] = []

    private static let kinds: [FigureKind] = [
        .rate, .percentile(50), .percentile(90), .percentile(99), .percentile(99.9), .longest, .mean, .errors, .processorTime, .memory,
    ]

    public init(base: LoadReport, new: LoadReport, names: (base: String, new: String) = ("base", "new")) {
        (self.base, self.new, self.names) = (base, new, names)
        figures = Self.kinds.compactMap { Self.compare($0, base, new) }
        let common = base.operations.filter { operation in new.operations.contains { $0.name == operation.name } }
        operations = base.operations.count > 1 || new.operations.count > 1 ? common.flatMap { Self.compare($0, in: new) } : []
        warnings = Self.differences(base, new) + Self.shortcomings(base, names.base) + Self.shortcomings(new, names.new)
    }

    /// Judges assertions on it.
    /// - Parameter toleratesNoise: True: an assertion that is missed only within the noise holds.
    public mutating func judge(_ wanted: [ComparedAssertion], toleratesNoise: Bool = false) {
        assertions += wanted.map { $0.judge(self, toleratesNoise: toleratesNoise) }
    }

    public var hasPassed: Bool { assertions.allSatisfy(\.hasHeld) }

    /// - Parameter operation: A step, or `nil` for all calls.
    func figure(_ kind: FigureKind, operation: String?) -> ComparedFigure? {
        guard let operation else { return Self.compare(kind, base, new) }
        guard let old = base.operations.first(where: { $0.name == operation }), let young = new.operations.first(where: { $0.name == operation })
        else { return nil }
        return Self.compare(kind, old, young, seconds: (base.totals.elapsedSeconds, new.totals.elapsedSeconds))
    }

    private static func compare(_ kind: FigureKind, _ base: LoadReport, _ new: LoadReport) -> ComparedFigure? {
        guard let old = base.figure(kind), let young = new.figure(kind) else { return nil }
        return ComparedFigure(
            kind: kind, base: old, new: young, seconds: SecondsComparison(base: base.seconds(of: kind), new: new.seconds(of: kind)))
    }

    private static func compare(_ base: OperationResult, in new: LoadReport) -> [ComparedFigure] {
        guard let other = new.operations.first(where: { $0.name == base.name }) else { return [] }
        return [FigureKind.percentile(50), .percentile(99), .errors].compactMap { compare($0, base, other, seconds: (0, 0)) }
    }

    private static func compare(
        _ kind: FigureKind, _ base: OperationResult, _ new: OperationResult, seconds: (base: Double, new: Double)
    ) -> ComparedFigure? {
        func value(_ result: OperationResult, _ seconds: Double) -> Double? {
            switch kind {
            case .rate: seconds > 0 ? Double(result.succeeded) / seconds : nil
            case .errors: result.succeeded + result.failed > 0 ? Double(result.failed) / Double(result.succeeded + result.failed) : nil
            case .mean, .percentile, .longest: LoadReport.figure(kind, result.responseTime)
            case .processorTime, .memory: nil
            }
        }
        guard let old = value(base, seconds.base), let young = value(new, seconds.new) else { return nil }
        return ComparedFigure(operation: base.name, kind: kind, base: old, new: young)
    }
}
