internal import SandboxKit
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird

/// An answer before it goes out: a fault may still change it.
struct AppleAnswer: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// For the log.
    var outcome: String

    static func empty(_ status: HTTPResponse.Status, outcome: String) -> AppleAnswer { AppleAnswer(status: status, outcome: outcome) }

    static func html(_ text: String, outcome: String) -> AppleAnswer {
        AppleAnswer(status: .ok, headers: Pages.headers, body: Array(text.utf8), outcome: outcome)
    }

    /// - Parameter isKept: Whether caches may keep it.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, outcome: String, isKept: Bool = true
    ) throws -> AppleAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var headers: HTTPFields = [.contentType: "application/json"]
        if !isKept { headers.append(contentsOf: Self.unkept) }
        return AppleAnswer(status: status, headers: headers, body: Array(try encoder.encode(value)), outcome: outcome)
    }

    /// An error in Apple's form (apple §2.11).
    static func refused(_ refusal: AppleRefusal) -> AppleAnswer {
        let outcome = "\(refusal.code.rawValue): \(refusal.reason)"
        if refusal.code == .throttled {
            return AppleAnswer(status: .tooManyRequests, headers: [.retryAfter: "3600"], outcome: outcome)
        }
        var headers: HTTPFields = [.contentType: "application/json"]
        headers.append(contentsOf: unkept)
        return AppleAnswer(status: .badRequest, headers: headers, body: Array(#"{"error":"\#(refusal.code.rawValue)"}"#.utf8), outcome: outcome)
    }

    /// A refusal of the device or of the control routes, which Apple's servers do not have.
    static func problem(_ code: String, _ message: String, status: HTTPResponse.Status) -> AppleAnswer {
        let answer = try? json(["error": code, "message": message], status: status, outcome: "\(code): \(message)")
        return answer ?? AppleAnswer(status: status, outcome: code)
    }

    private static let unkept: HTTPFields = {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        if let pragma = HTTPField.Name("Pragma") { headers[pragma] = "no-cache" }
        return headers
    }()
}

/// An error as Apple's endpoints answer it (apple §2.11).
struct AppleRefusal: Error, Equatable {
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        /// Asked too often; not an OAuth error.
        case throttled
    }

    let code: Code
    /// For the log only.
    let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
