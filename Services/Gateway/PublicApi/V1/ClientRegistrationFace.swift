internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of client registration and of the token endpoint (RFC 6749 §5.2, RFC 7591 §3.2.2).
struct ClientRegistrationFace: Face {
    private let overloaded = Self.document("temporarily_unavailable").body(.json)

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        if fault.code.isTransient { return Self.reply("temporarily_unavailable", status: .serviceUnavailable) }
        guard Self.told.contains(fault.code) else { return Self.reply("server_error", status: .internalServerError) }
        // A client that authenticated in the header is told by a challenge that this failed.
        let isBasic = error is BasicProblem
        var response = Self.reply(fault.code.rawValue, status: isBasic ? .unauthorized : .badRequest, description: fault.message)
        if isBasic { response.headers[.wwwAuthenticate] = BasicCredentials.challenge }
        return response
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response {
        let flaw =
            switch problem {
            case .tooLarge: "longer than is read"
            case .tooSlow: "not there in time"
            case .broken: "not whole"
            }
        return Self.reply("invalid_request", status: problem.status, description: "The body is \(flaw).")
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        Self.reply("invalid_request", status: .methodNotAllowed, description: "The method must be POST.")
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        var fields = HTTPFields.unstored(ReplyFormat.json.contentType)
        fields[.pragma] = "no-cache"
        return (fields, overloaded)
    }

    /// - Parameter description: For the developer of the client; empty: none.
    private static func reply(_ error: String, status: HTTPResponse.Status, description: String = "") -> Response {
        var response = Response(document(error, description), format: .json, status: status)
        response.headers[.pragma] = "no-cache"
        return response
    }

    private static func document(_ error: String, _ description: String = "") -> Document {
        let text = described(description)
        return Document("error", [.init("error", .text(error))] + (text.isEmpty ? [] : [.init("error_description", .text(text))]))
    }

    /// Longest description, in octets.
    private static let longestDescription = 300

    /// Printable ASCII without quotation marks and backslashes (RFC 6749 §5.2): what was sent may be a part of it.
    private static func described(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }.prefix(longestDescription), as: UTF8.self)
    }

    private static let told: Set<Fault.Code> = [
        .invalidRequest, .invalidClient, .unauthorizedClient, .unsupportedGrantType, .invalidRedirectURI, .invalidSoftwareStatement,
        .unapprovedSoftwareStatement,
    ]
}
