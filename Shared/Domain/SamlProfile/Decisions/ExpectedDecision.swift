internal import Clocks

/// Everything that the caller knows about the answer to its query: what it asked, and the endpoint's record.
public struct ExpectedDecision: Sendable {
    /// The parts that the decision point has to sign.
    public enum Signature: Hashable, Sendable {
        case response
        case assertion
        case both
        /// Nothing: the connection authenticates the answer. A signature that is present must still verify.
        case none
    }

    /// `ID` of the query.
    public var queryID: String
    public var issuer: ExpectedIssuer
    /// The base `spEntityId`, accepted as audience.
    public var serviceProviderEntityID: String
    /// The exact issuer that the query named, accepted as audience.
    public var issuerSent: String
    public var signature: Signature = .response
    /// The endpoint's pinned certificates; the only source of keys.
    public var pinnedCertificates: [PinnedCertificate]
    public var signatureAlgorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.current
    /// True: an answer that does not name the query is refused.
    public var requiresInResponseTo = false
    /// How far clocks may differ.
    public var clockSkew: Duration = .seconds(60)
    /// How old an answer may be.
    public var maximumAge: Duration = .seconds(300)

    /// - Parameters:
    ///   - queryID: `ID` of the query.
    ///   - issuer: Who must have issued the answer.
    ///   - serviceProviderEntityID: The base `spEntityId`, accepted as audience.
    ///   - issuerSent: The issuer that the query named, accepted as audience.
    ///   - pinnedCertificates: The only source of keys.
    public init(
        queryID: String, issuer: ExpectedIssuer, serviceProviderEntityID: String, issuerSent: String, pinnedCertificates: [PinnedCertificate]
    ) {
        self.queryID = queryID
        self.issuer = issuer
        self.serviceProviderEntityID = serviceProviderEntityID
        self.issuerSent = issuerSent
        self.pinnedCertificates = pinnedCertificates
    }

    /// The expectations in the form that the checks of a sign-in use; fields of sign-ins only stay empty.
    func response(at now: Timestamp) -> ExpectedResponse {
        var expected = ExpectedResponse(
            requestID: queryID, requestedAt: now, assertionConsumerServiceURL: "", issuer: issuer, serviceProviderEntityID: serviceProviderEntityID,
            issuerSent: issuerSent, pinnedCertificates: pinnedCertificates, nameIDFormats: [])
        expected.signaturePolicy =
            switch signature {
            case .response, .none: .response
            case .assertion: .assertion
            case .both: .both
            }
        expected.signatureAlgorithms = signatureAlgorithms
        expected.clockSkew = clockSkew
        expected.maximumResponseAge = maximumAge
        return expected
    }
}
