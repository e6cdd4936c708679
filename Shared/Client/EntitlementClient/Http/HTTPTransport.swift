internal import Octets
public import Foundation

/// Carries the library's requests, and hides the platform's differences in HTTP.
public protocol HTTPTransport: Sendable {
    /// Sends one request and reads the whole answer. Redirects are not followed, cookies not kept.
    /// - Throws: `TransportFailure`, or `CancellationError` when the task was cancelled.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// A request.
public struct HTTPRequest: Sendable, Hashable {
    public enum Method: String, Sendable, Hashable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    public var method: Method
    public var url: URL
    /// In the order in which they are sent.
    public var headers: [HTTPHeader]
    public var body: Data?
    /// The longest that the answer may take.
    public var timeout: Duration

    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - url: The complete URL, with its query.
    ///   - headers: In the order in which they are sent.
    ///   - body: `nil`: the request has none.
    ///   - timeout: The longest that the whole answer may take.
    public init(_ method: Method, _ url: URL, headers: [HTTPHeader] = [], body: Data? = nil, timeout: Duration = .seconds(15)) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }

    /// The first header of that name, in any case.
    public func header(_ name: String) -> String? { headers.first(named: name) }
}

/// An answer with any status.
public struct HTTPResponse: Sendable, Hashable {
    public var status: Int
    public var headers: [HTTPHeader]
    public var body: Data

    /// - Parameters:
    ///   - status: The HTTP status code.
    ///   - headers: As they arrived.
    ///   - body: The whole body.
    public init(status: Int, headers: [HTTPHeader] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of that name, in any case.
    public func header(_ name: String) -> String? { headers.first(named: name) }
}

/// A header field.
public struct HTTPHeader: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

extension [HTTPHeader] {
    fileprivate func first(named name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why there is no answer.
public struct TransportFailure: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// No network, no such host, refused, broken off, too slow.
        case unreachable
        /// The server's certificate or the TLS handshake cannot be trusted.
        case insecure
    }

    public let kind: Kind
    /// For developers.
    public let reason: String

    /// - Parameters:
    ///   - kind: The kind of error that the library decides by.
    ///   - reason: For developers.
    public init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
}
