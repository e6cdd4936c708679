public import Foundation
internal import Octets

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

/// There is no answer for this reason.
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

/// The date of an HTTP header (RFC 9110 §5.6.7), in the one form that servers may send. It computes days by itself: apps take this library without any other.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameter text: For example `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func parse(_ text: String) -> Date? {
        guard let match = text.wholeMatch(of: /[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT/),
            let day = Int(match.1), let month = months.firstIndex(of: String(match.2)), let year = Int(match.3), let hour = Int(match.4),
            let minute = Int(match.5), let second = Int(match.6), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = days(year: year, month: month + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Days since 1970 of a date in the Gregorian calendar: years begin in March, so that the day of a leap year comes last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}

/// Percent-encoding of queries and forms: all but RFC 3986's unreserved characters. Its own, beside that of the servers: apps take this library without any
/// other.
enum FormEncoding {
    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func encode(_ parameters: [Parameter]) -> String {
        parameters.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }
}

/// A parameter of a query or form.
struct Parameter: Sendable, Hashable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
