extension ServiceProviderMetadata {
    /// How an MVPD may encrypt to us (mvpd §2.3 step 18); digest and mask function of a key transport (XML Encryption 1.1 §5.5.2).
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
