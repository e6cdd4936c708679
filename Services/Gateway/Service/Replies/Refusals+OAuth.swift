internal import Faults
internal import Hummingbird

/// Refusals of client registration and of the token endpoint (RFC 6749 §5.2, RFC 7591 §3.2.2).
extension Refusals {
    static func oauthReply(_ fault: Fault) -> Response {
        if StatusTable.isTransient(fault.code) { return oauthReply("temporarily_unavailable", status: .serviceUnavailable) }
        guard oauthCodes.contains(fault.code) else { return oauthReply("server_error", status: .internalServerError) }
        return oauthReply(fault.code.rawValue, status: .badRequest)
    }

    static func oauthReply(_ error: String, status: HTTPResponse.Status) -> Response {
        var response = Response(oauthDocument(error), format: .json, status: status)
        response.headers[.pragma] = "no-cache"
        return response
    }

    static func oauthDocument(_ error: String) -> Document { Document("error", [Document.Member("error", .text(error))]) }

    /// Seconds for `Retry-After`, at least 1.
    static func retrySeconds(_ fault: Fault) -> Int64 {
        guard let wait = fault.retryAfter else { return 1 }
        return max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
    }

    private static let oauthCodes: Set<Fault.Code> = [
        .invalidRequest, .invalidClient, .unauthorizedClient, .unsupportedGrantType, .invalidRedirectURI, .invalidSoftwareStatement,
        .unapprovedSoftwareStatement,
    ]
}
