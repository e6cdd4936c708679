/// Something wrong in a catalogue file.
public struct CatalogueProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Severity: Sendable { case error, warning }

    /// A warning does not keep the catalogue from being used.
    public let severity: Severity
    public let description: String

    init(_ severity: Severity, _ description: String) {
        self.severity = severity
        self.description = description
    }
}

/// All that is wrong in a catalogue file that cannot be used, in the order of the file.
public struct CatalogueRefused: Error, Sendable, CustomStringConvertible {
    public let file: String
    public let problems: [CatalogueProblem]

    /// One line that sums up, then one per problem.
    public var lines: [String] {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return ["\(file): the catalogue has \(count); correct the file and start again"] + problems.map { "  \($0.description)" }
    }

    public var description: String { lines.joined(separator: "\n") }
}
