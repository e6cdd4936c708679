/// A request as it goes out.
public struct OutboundRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    public typealias Header = (name: String, value: String)

    public var method: Method
    /// Absolute, percent-encoded.
    public var url: String
    public var headers: [Header]
    /// `nil`: none.
    public var body: [UInt8]?

    public init(_ method: Method, _ url: String, headers: [Header] = [], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Sets a header; the ones of that name, whatever its case, give way.
    public mutating func set(_ header: Header) {
        headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
        headers.append(header)
    }
}

/// A whole answer.
public struct OutboundAnswer: Sendable {
    public let status: Int
    public let body: [UInt8]
    public let headers: [(name: String, value: String)]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// It brings what was asked for: some servers say 201 of an answer to POST (RFC 9110 §15.3.2).
    public var isDocument: Bool { status == 200 || status == 201 }

    /// The first header of that name, whatever its case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.count == name.count && $0.name.lowercased() == name.lowercased() }?.value
    }
}
