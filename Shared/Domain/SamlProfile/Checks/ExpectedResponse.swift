public import Clocks

/// Everything that the caller knows about the answer it waits for: the pending request, the endpoint's record, the service's keys.
public struct ExpectedResponse: Sendable {
    /// `ID` of the pending request.
    public var requestID: String
    /// When the request was sent; `forceAuthn` compares with it.
    public var requestedAt: Timestamp
    /// The address of the assertion consumer service: `Destination` and `Recipient`.
    public var assertionConsumerServiceURL: String
    /// Another accepted address, for answers to a platform's sign-in framework (mvpd §2.8); nil: none.
    public var exchangeURL: String?
    public var answeredRequest: AnsweredRequest = .recorded
    public var issuer: ExpectedIssuer
    /// The base `spEntityId`, accepted as audience.
    public var serviceProviderEntityID: String
    /// The exact issuer that the request named, accepted as audience.
    public var issuerSent: String
    /// How far clocks may differ.
    public var clockSkew: Duration = .seconds(60)
    /// How old a response may be.
    public var maximumResponseAge: Duration = .seconds(300)
    public var signaturePolicy: SignaturePolicy = .assertion
    public var signatureAlgorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.current
    /// Until when SHA-1 signatures and digests are accepted; nil: never.
    public var legacySHA1Until: Timestamp?
    /// The endpoint's pinned certificates, 1 to 4; the only source of keys.
    public var pinnedCertificates: [PinnedCertificate]
    /// The accepted NameID formats: the one requested, and those listed for the endpoint. The `unspecified` format accepts any.
    public var nameIDFormats: [String]
    public var forceAuthn = false
    /// False for an answer to a query for attributes, and when the platform sent the request itself (mvpd §2.8).
    public var requiresAuthnStatement = true
    public var encryption: EncryptionPolicy = .optional
    /// The service's own keys for encrypted assertions, newest first.
    public var decryptionKeys: [DecryptionKey] = []
    /// The attribute that holds the user id in place of the NameID.
    public var guidAttributeName: String?
    public var attributeMap: [AttributeMapping] = []

    /// True for the address of this service under which the answer came.
    func isAddressed(to address: String?) -> Bool { address == assertionConsumerServiceURL || address != nil && address == exchangeURL }

    /// - Parameters:
    ///   - requestID: `ID` of the pending request.
    ///   - requestedAt: When the request was sent.
    ///   - assertionConsumerServiceURL: The address that the request named.
    ///   - issuer: Who answers.
    ///   - serviceProviderEntityID: The base `spEntityId`.
    ///   - issuerSent: The issuer that the request named.
    ///   - pinnedCertificates: The endpoint's certificates.
    ///   - nameIDFormats: The accepted formats.
    public init(
        requestID: String, requestedAt: Timestamp, assertionConsumerServiceURL: String, issuer: ExpectedIssuer,
        serviceProviderEntityID: String, issuerSent: String, pinnedCertificates: [PinnedCertificate], nameIDFormats: [String]
    ) {
        self.requestID = requestID
        self.requestedAt = requestedAt
        self.assertionConsumerServiceURL = assertionConsumerServiceURL
        self.issuer = issuer
        self.serviceProviderEntityID = serviceProviderEntityID
        self.issuerSent = issuerSent
        self.pinnedCertificates = pinnedCertificates
        self.nameIDFormats = nameIDFormats
    }
}
