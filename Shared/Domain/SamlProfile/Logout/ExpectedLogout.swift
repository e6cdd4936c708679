public import Clocks

/// The caller's knowledge about a logout message: the endpoint's record, and the request that an answer is for.
public struct ExpectedLogout: Sendable {
    /// Our logout address: `Destination`.
    public var logoutServiceURL: String
    public var issuer: ExpectedIssuer
    /// The endpoint's pinned certificates; the only source of keys.
    public var pinnedCertificates: [PinnedCertificate]
    public var signatureAlgorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.current
    /// Until when SHA-1 signatures are accepted inside documents; a query's never is (mvpd #82). Nil: never.
    public var legacySHA1Until: Timestamp?
    /// How far clocks may differ.
    public var clockSkew: Duration = .seconds(60)
    /// How old a message may be.
    public var maximumAge: Duration = .seconds(300)

    /// - Parameters:
    ///   - logoutServiceURL: Our logout address, as the message must name it in `Destination`.
    ///   - issuer: Who must have issued the message.
    ///   - pinnedCertificates: The only source of keys.
    public init(logoutServiceURL: String, issuer: ExpectedIssuer, pinnedCertificates: [PinnedCertificate]) {
        self.logoutServiceURL = logoutServiceURL
        self.issuer = issuer
        self.pinnedCertificates = pinnedCertificates
    }

    /// For the checks that logout messages and responses share.
    var response: ExpectedResponse {
        var expected = ExpectedResponse(
            requestID: "", requestedAt: Timestamp(milliseconds: 0), assertionConsumerServiceURL: logoutServiceURL, issuer: issuer,
            serviceProviderEntityID: "", issuerSent: "", pinnedCertificates: pinnedCertificates, nameIDFormats: [])
        expected.signatureAlgorithms = signatureAlgorithms
        expected.legacySHA1Until = legacySHA1Until
        expected.clockSkew = clockSkew
        expected.maximumResponseAge = maximumAge
        return expected
    }
}
