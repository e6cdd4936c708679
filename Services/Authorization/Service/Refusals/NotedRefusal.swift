public import Clocks
public import Contracts
internal import Cryptography

/// The last no of a session: why and when, not to what.
public struct NotedRefusal: Hashable, Sendable {
    /// The session's id.
    public var session: String
    /// A fault code.
    public var code: String
    public var source: DecisionSource
    public var at: Timestamp

    public init(session: String, code: String, source: DecisionSource, at: Timestamp) {
        self.session = session
        self.code = code
        self.source = source
        self.at = at
    }

    /// How long support can ask for it.
    public static let remembrance: Duration = .seconds(24 * 3600)

    /// 64 hex digits that stand for a session in a store, so that a row tells nobody whose it is.
    static func digest(of session: String) -> String { Hex.encode(SHA256.hash("refusal:" + session)) }
}
