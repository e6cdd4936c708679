/// What became of one requirement.
public struct RequirementResult: Codable, Hashable, Sendable {
    public enum Verdict: String, Codable, Hashable, Sendable {
        case passed
        case failed
        case notApplicable = "not applicable"
    }

    public let id: String
    public let sentence: String
    /// Where the requirement stands.
    public let source: String
    public let verdict: Verdict
    public let milliseconds: Int
    /// Why it is not applicable.
    public var reason: String?
    /// Of a failure: what had to come, what came, and what went over the wire last.
    public var expected: String?
    public var came: String?
    public var sent: [String]?
    public var answered: [String]?
}
