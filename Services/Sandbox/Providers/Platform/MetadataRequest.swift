/// What an app asks the platform's framework (`VSAccountMetadataRequest`).
struct MetadataRequest: Decodable {
    /// The simulated account; the real framework has no such parameter.
    let account: String
    /// The SAML issuer for which the MVPD answers.
    let channelIdentifier: String?
    /// Whether the platform may ask the person.
    let interruptionAllowed: Bool?
    /// The providers that the app offers, by the platform's names; absent: all.
    let supportedProviders: [String]?
    let featuredProviders: [String]?
    let attributeNames: [String]?
    /// Proves to the MVPD which service asks; absent: the MVPD is not asked.
    let verificationToken: String?
}

/// What the framework gives the app (`VSAccountMetadata`, or an error).
struct AccountMetadata: Encodable, Equatable {
    /// `VSError.Code` with what comes along.
    struct Problem: Encodable, Equatable {
        static let accessNotGranted = 0
        static let unsupportedProvider = 1
        static let providerRejected = 4
        static let invalidVerificationToken = 5

        let code: Int
        var unsupportedProviderIdentifier: String?
        /// For the engineer who looks on; the real framework has no such text.
        var explanation: String?
    }

    var accountProviderIdentifier: String?
    /// Milliseconds since 1970.
    var authenticationExpirationDate: Int64?
    /// The MVPD's SAML response, as text.
    var samlAttributeQueryResponse: String?
    var error: Problem?

    init() {}

    init(_ code: Int, unsupported: String? = nil, _ explanation: String? = nil) {
        error = Problem(code: code, unsupportedProviderIdentifier: unsupported, explanation: explanation)
    }
}
