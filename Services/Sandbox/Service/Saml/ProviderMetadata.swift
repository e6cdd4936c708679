/// The document from which an operator imports the provider (SAML metadata §2.4.3).
struct ProviderMetadata {
    let provider: IdentityProvider

    func serialized() -> String {
        let descriptor: KeyValuePairs<String, String?> = [
            "WantAuthnRequestsSigned": provider.settings.validateRequests ? "true" : "false",
            "protocolSupportEnumeration": XmlNames.protocol,
        ]
        return XmlNode.element(
            "md:EntityDescriptor",
            ["xmlns:md": XmlNames.metadata, "xmlns:ds": XmlNames.signature, "entityID": provider.settings.entityID],
            [
                .element(
                    "md:IDPSSODescriptor", descriptor,
                    [
                        .element("md:KeyDescriptor", ["use": "signing"], [XmlNames.keyInfo(provider.certificate)]),
                        .element("md:NameIDFormat", [:], [.text(NameIDFormat.persistent.rawValue)]),
                        .element("md:NameIDFormat", [:], [.text(NameIDFormat.transient.rawValue)]),
                        service(XmlNames.redirectBinding),
                        service(XmlNames.postBinding),
                    ])
            ]
        ).serialized()
    }

    private func service(_ binding: String) -> XmlNode {
        .element("md:SingleSignOnService", ["Binding": binding, "Location": provider.ssoURL])
    }
}
