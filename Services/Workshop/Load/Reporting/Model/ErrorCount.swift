/// A code came this often.
public struct ErrorCount: Codable, Sendable, Equatable {
    /// A fault code of the wire (`unavailable`, `overloaded`, ...), `http_503`, or one of the tool's own: `timeout`, `connection_lost`,
    /// `connect_failed`, `unexpected_answer`.
    public var code: String
    public var count: Int
    /// The text of one of them.
    public var example: String?

    public init(code: String, count: Int, example: String? = nil) {
        self.code = code
        self.count = count
        self.example = example
    }
}
