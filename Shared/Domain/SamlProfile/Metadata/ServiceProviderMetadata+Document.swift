extension ServiceProviderMetadata {
    /// How an MVPD may encrypt to us (mvpd §2.3 step 18).
    private static let encryptionMethods = [
        "http://www.w3.org/2009/xmlenc11#aes128-gcm", "http://www.w3.org/2009/xmlenc11#aes256-gcm", "\(Namespaces.encryption)rsa-oaep-mgf1p",
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

    private static func writeKey(use: String, _ certificate: [UInt8], methods: [String], to role: inout MarkupWriter) {
        role.element("md:KeyDescriptor", [("use", use), ("xmlns:ds", "\(Namespaces.signature)")]) { descriptor in
            descriptor.keyInformation(certificate: certificate)
            for method in methods { descriptor.element("md:EncryptionMethod", [("Algorithm", method)]) }
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
