internal import StrictJson

/// Something wrong in a catalogue file.
public struct CatalogueProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Severity: Sendable { case error, warning }

    /// A warning does not keep the catalogue from being used.
    public let severity: Severity
    /// Where in the document, such as `mvpds[2].saml.ssoUrl`; empty for the document as a whole.
    public let path: String
    /// Goes on from the path: `is missing`, `must be …`.
    public let message: String
    public let description: String

    /// A problem of the document as a whole.
    init(_ severity: Severity, _ description: String) {
        self.severity = severity
        path = ""
        message = description
        self.description = description
    }

    /// A problem that keeps a catalogue from being used beside the live one.
    /// - Parameters:
    ///   - place: An entry and its member.
    ///   - message: Goes on from there.
    package init(at place: String, _ message: String) {
        severity = .error
        path = place
        self.message = message
        description = "\(place) \(message)"
    }

    init(_ problem: JsonProblem) {
        severity = .error
        path = problem.path.description
        message = problem.message
        description = problem.description
    }

    init(warning message: String, at path: JsonPath) {
        severity = .warning
        self.path = path.description
        self.message = message
        description = "\(path) \(message)"
    }
}

/// All that is wrong in a catalogue file that cannot be used, in the order of the file.
public struct CatalogueRefused: Error, Sendable, CustomStringConvertible {
    public let file: String
    public let problems: [CatalogueProblem]

    /// - Parameter problems: At least one.
    package init(file: String, problems: [CatalogueProblem]) {
        self.file = file
        self.problems = problems
    }

    /// One line that sums up, then one per problem.
    public var lines: [String] {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return ["\(file): the catalogue has \(count); correct the file and start again"] + problems.map { "  \($0.description)" }
    }

    public var description: String { lines.joined(separator: "\n") }
}
