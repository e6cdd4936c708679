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
                        service("md:SingleLogoutService", XmlNames.redirectBinding, provider.logoutURL),
                        service("md:SingleLogoutService", XmlNames.postBinding, provider.logoutURL),
                        .element("md:NameIDFormat", [:], [.text(NameIDFormat.persistent.rawValue)]),
                        .element("md:NameIDFormat", [:], [.text(NameIDFormat.transient.rawValue)]),
                        service("md:SingleSignOnService", XmlNames.redirectBinding, provider.ssoURL),
                        service("md:SingleSignOnService", XmlNames.postBinding, provider.ssoURL),
                    ])
            ]
        ).serialized()
    }

    private func service(_ name: String, _ binding: String, _ location: String) -> XmlNode {
        .element(name, ["Binding": binding, "Location": location])
    }
}
