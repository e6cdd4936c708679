public import Clocks

/// The metadata document of the service provider (mvpd §2.7).
public struct ServiceProviderMetadata: Sendable {
    /// The base `spEntityId`.
    public var serviceProviderEntityID: String
    public var assertionConsumerServiceURL: String
    /// One certificate, or two during a rollover, the one in use first (DER).
    public var signingCertificates: [[UInt8]]
    /// DER.
    public var encryptionCertificate: [UInt8]
    /// The single logout address, offered by Redirect and POST; nil: no logout service.
    public var singleLogoutServiceURL: String?
    public var validUntil: Timestamp

    /// - Parameters:
    ///   - serviceProviderEntityID: The base `spEntityId`.
    ///   - assertionConsumerServiceURL: Where responses are posted.
    ///   - signingCertificates: One, or two during a rollover, the one in use first (DER).
    ///   - encryptionCertificate: For assertions encrypted to us (DER).
    ///   - singleLogoutServiceURL: Nil: no logout service.
    ///   - validUntil: When MVPDs must have fetched the document again.
    public init(
        serviceProviderEntityID: String, assertionConsumerServiceURL: String, signingCertificates: [[UInt8]], encryptionCertificate: [UInt8],
        singleLogoutServiceURL: String? = nil, validUntil: Timestamp
    ) {
        self.serviceProviderEntityID = serviceProviderEntityID
        self.assertionConsumerServiceURL = assertionConsumerServiceURL
        self.signingCertificates = signingCertificates
        self.encryptionCertificate = encryptionCertificate
        self.singleLogoutServiceURL = singleLogoutServiceURL
        self.validUntil = validUntil
    }

    /// The entity id on behalf of one requestor (mvpd §2.2, `issuerSuffix`).
    public static func entityID(_ base: String, requestor: String) -> String { base + "/on-behalf-of/" + requestor }

    /// The signed document.
    /// - Parameters:
    ///   - requestor: Set for the entity on behalf of that requestor.
    ///   - id: The document's ID.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func document(requestor: String? = nil, id: RequestID, signedWith key: SigningKey) throws(SamlConfigurationError) -> String {
        try key.sign(unsigned(requestor: requestor, id: id, certificate: key.certificate))
    }
}
