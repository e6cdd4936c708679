internal import Faults
internal import Hummingbird

/// Refusals of client registration and of the token endpoint (RFC 6749 §5.2, RFC 7591 §3.2.2).
extension Refusals {
    /// - Parameter byBasic: True where a client authenticated in the header: it is told by a challenge that this failed.
    static func oauthReply(_ fault: Fault, byBasic: Bool = false) -> Response {
        if StatusTable.isTransient(fault.code) { return oauthReply("temporarily_unavailable", status: .serviceUnavailable) }
        guard oauthCodes.contains(fault.code) else { return oauthReply("server_error", status: .internalServerError) }
        var response = oauthReply(fault.code.rawValue, status: byBasic ? .unauthorized : .badRequest, description: fault.message)
        if byBasic { response.headers[.wwwAuthenticate] = BasicCredentials.challenge }
        return response
    }

    /// - Parameter description: For the developer of the client; empty: none.
    static func oauthReply(_ error: String, status: HTTPResponse.Status, description: String = "") -> Response {
        var response = Response(oauthDocument(error, description), format: .json, status: status)
        response.headers[.pragma] = "no-cache"
        return response
    }

    static func oauthDocument(_ error: String, _ description: String = "") -> Document {
        let text = described(description)
        return Document("error", [.init("error", .text(error))] + (text.isEmpty ? [] : [.init("error_description", .text(text))]))
    }

    /// Longest description, in octets.
    private static let longestDescription = 300

    /// Printable ASCII without quotation marks and backslashes (RFC 6749 §5.2): what was sent may be a part of it.
    private static func described(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }.prefix(longestDescription), as: UTF8.self)
    }

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
