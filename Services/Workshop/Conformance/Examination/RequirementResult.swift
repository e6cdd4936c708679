/// The result of one requirement.
public struct RequirementResult: Codable, Hashable, Sendable {
    public enum Verdict: String, Codable, Hashable, Sendable {
        case passed
        case failed
        case notApplicable = "not applicable"
    }

    public let id: String
    public let sentence: String
    /// The requirement stands here.
    public let source: String
    public let verdict: Verdict
    public let milliseconds: Int
    /// It is not applicable for this reason.
    public var reason: String?
    /// The facts of a failure: the expected message, the message that came, and the last data on the wire.
    public var expected: String?
    public var came: String?
    public var sent: [String]?
    public var answered: [String]?
}
