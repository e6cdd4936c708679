/// A question as HTTP carries it.
public struct DecisionMessage: Sendable {
    public enum Method: Sendable {
        case get
        case post
    }

    public struct Header: Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var method = Method.post
    /// What follows the endpoint's address, percent-encoded and without `?`; empty: nothing.
    public var query = ""
    public var headers: [Header] = []
    public var body: [UInt8] = []
}
