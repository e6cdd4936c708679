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
    public func document(requestor: String? = nil, id: RequestID, signedWith key: SamlSigningKey) throws(SamlConfigurationError) -> String {
        try key.sign(unsigned(requestor: requestor, id: id, certificate: key.certificate))
    }
}

extension ServiceProviderMetadata {
    /// An MVPD may encrypt to us in this way (mvpd §2.3 step 18); digest and mask function of a key transport (XML Encryption 1.1 §5.5.2).
    private struct EncryptionMethod {
        let algorithm: String
        var digest: DigestAlgorithm?
        /// The URI of a mask function.
        var mask: String?
    }

    private static let encryptionMethods = [
        EncryptionMethod(algorithm: "\(Namespaces.encryption11)aes128-gcm"), EncryptionMethod(algorithm: "\(Namespaces.encryption11)aes256-gcm"),
        EncryptionMethod(algorithm: WrappedSessionKey.fixedMask, digest: .sha1),
        EncryptionMethod(algorithm: WrappedSessionKey.fixedMask, digest: .sha256),
        EncryptionMethod(algorithm: WrappedSessionKey.namedMask, digest: .sha256, mask: "\(Namespaces.encryption11)mgf1sha256"),
        EncryptionMethod(algorithm: WrappedSessionKey.namedMask, digest: .sha1, mask: "\(Namespaces.encryption11)mgf1sha1"),
    ]

    func unsigned(requestor: String?, id: RequestID, certificate: [UInt8]) -> String {
        let entityID = requestor.map { Self.entityID(serviceProviderEntityID, requestor: $0) } ?? serviceProviderEntityID
        var writer = MarkupWriter()
        writer.element(
            "md:EntityDescriptor",
            [
                ("xmlns:md", "\(Namespaces.metadata)"), ("entityID", entityID), ("ID", id.rawValue),
                ("validUntil", SamlInstant.format(validUntil)),
            ]
        ) { entity in
            entity.signatureTemplate(over: id.rawValue, certificate: certificate)
            entity.element(
                "md:SPSSODescriptor",
                [
                    ("AuthnRequestsSigned", "true"), ("WantAssertionsSigned", "true"),
                    ("protocolSupportEnumeration", "\(Namespaces.protocol)"),
                ]
            ) { role in
                writeKeys(to: &role)
                writeEndpoints(to: &role)
            }
        }
        return writer.text
    }

    private func writeKeys(to role: inout MarkupWriter) {
        for certificate in signingCertificates { Self.writeKey(use: "signing", certificate, methods: [], to: &role) }
        Self.writeKey(use: "encryption", encryptionCertificate, methods: Self.encryptionMethods, to: &role)
    }

    private static func writeKey(use: String, _ certificate: [UInt8], methods: [EncryptionMethod], to role: inout MarkupWriter) {
        role.element("md:KeyDescriptor", [("use", use), ("xmlns:ds", "\(Namespaces.signature)")]) { descriptor in
            descriptor.keyInformation(certificate: certificate)
            for method in methods {
                guard let digest = method.digest else {
                    descriptor.element("md:EncryptionMethod", [("Algorithm", method.algorithm)])
                    continue
                }
                descriptor.element("md:EncryptionMethod", [("Algorithm", method.algorithm)]) { transport in
                    transport.element("ds:DigestMethod", [("Algorithm", digest.rawValue)])
                    if let mask = method.mask {
                        transport.element("xenc11:MGF", [("xmlns:xenc11", "\(Namespaces.encryption11)"), ("Algorithm", mask)])
                    }
                }
            }
        }
    }

    private func writeEndpoints(to role: inout MarkupWriter) {
        if let singleLogoutServiceURL {
            for binding in [SamlURI.redirectBinding, SamlURI.postBinding] {
                role.element("md:SingleLogoutService", [("Binding", binding), ("Location", singleLogoutServiceURL)])
            }
        }
        for format in [SamlURI.persistentFormat, SamlURI.transientFormat] { role.element("md:NameIDFormat", text: format) }
        role.element(
            "md:AssertionConsumerService",
            [("Binding", SamlURI.postBinding), ("Location", assertionConsumerServiceURL), ("index", "0"), ("isDefault", "true")])
    }
}
