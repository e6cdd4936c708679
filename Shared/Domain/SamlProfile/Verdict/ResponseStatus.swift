/// The status of a response that is not a success.
public struct ResponseStatus: Hashable, Sendable {
    /// The consequence for the service (mvpd §2.6).
    public enum Consequence: Hashable, Sendable {
        /// The MVPD or the person refused: back to the app, without a session.
        case declined
        /// The person has no session at the MVPD and could not be asked (passive request): not an error.
        case notAuthenticated
        /// The two sides are configured differently: an error page, and an alarm for the operator.
        case misconfigured
    }

    public let consequence: Consequence
    /// The status codes, outermost first, without `urn:oasis:names:tc:SAML:2.0:status:`; of other codes only `other`.
    public let codes: [String]

    static let prefix = "urn:oasis:names:tc:SAML:2.0:status:"

    private static let known: Set<String> = [
        "Success", "Requester", "Responder", "VersionMismatch", "AuthnFailed", "InvalidAttrNameOrValue", "InvalidNameIDPolicy",
        "NoAuthnContext", "NoAvailableIDP", "NoPassive", "NoSupportedIDP", "PartialLogout", "ProxyCountExceeded", "RequestDenied",
        "RequestUnsupported", "RequestVersionDeprecated", "RequestVersionTooHigh", "RequestVersionTooLow", "ResourceNotRecognized",
        "TooManyResponses", "UnknownAttrProfile", "UnknownPrincipal", "UnsupportedBinding",
    ]

    /// - Parameter uris: The status code URIs, outermost first.
    init(uris: [String]) {
        codes = uris.map { uri in
            let name = uri.hasPrefix(Self.prefix) ? String(uri.dropFirst(Self.prefix.count)) : ""
            return Self.known.contains(name) ? name : "other"
        }
        if codes.contains("NoPassive") {
            consequence = .notAuthenticated
        } else if codes.contains(where: ["AuthnFailed", "RequestDenied", "UnknownPrincipal"].contains) {
            consequence = .declined
        } else {
            consequence = .misconfigured
        }
    }
}
