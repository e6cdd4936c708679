/// The top-level and second-level status codes of a SAML answer without assertion (SAML core §3.2.2.2).
enum SamlStatus: String, Sendable {
    case authnFailed = "AuthnFailed"
    case noPassive = "NoPassive"
    case invalidNameIDPolicy = "InvalidNameIDPolicy"

    private static let prefix = "urn:oasis:names:tc:SAML:2.0:status:"
    static let success = prefix + "Success"

    var topLevel: String { Self.prefix + (self == .invalidNameIDPolicy ? "Requester" : "Responder") }
    var secondLevel: String { Self.prefix + rawValue }

    var message: String {
        switch self {
        case .authnFailed: "The person did not sign in"
        case .noPassive: "Nobody is signed in, and the request forbids to ask"
        case .invalidNameIDPolicy: "This kind of name identifier is not offered"
        }
    }
}
