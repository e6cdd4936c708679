extension AuthnRequest {
    /// The XML of the request, with an empty signature after the issuer when a certificate is given.
    func document(signatureFor certificate: [UInt8]? = nil) -> String {
        var writer = MarkupWriter()
        writer.element(
            "samlp:AuthnRequest",
            [
                ("xmlns:samlp", "\(Namespaces.protocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue),
                ("Version", "2.0"), ("IssueInstant", SamlInstant.format(issuedAt)), ("Destination", destination),
                ("ForceAuthn", String(forceAuthn)), ("IsPassive", String(isPassive)), ("ProtocolBinding", SamlURI.postBinding),
                ("AssertionConsumerServiceURL", assertionConsumerServiceURL),
            ]
        ) { request in
            request.element("saml:Issuer", text: issuer)
            if let certificate { request.signatureTemplate(over: id.rawValue, certificate: certificate) }
            writeExtensions(to: &request)
            request.element(
                "samlp:NameIDPolicy",
                [
                    ("Format", requestedNameIDFormat), ("SPNameQualifier", spNameQualifier.isEmpty ? nil : spNameQualifier),
                    ("AllowCreate", String(allowCreate)),
                ])
            writeScoping(to: &request)
        }
        return writer.text
    }

    private func writeExtensions(to request: inout MarkupWriter) {
        guard isPassive else { return }
        request.element("samlp:Extensions") { extensions in
            extensions.element("thrpty:RespondTo", [("xmlns:thrpty", "\(Namespaces.thirdParty)")], text: serviceProviderEntityID)
        }
    }

    private func writeScoping(to request: inout MarkupWriter) {
        guard scopingMode.usesRequesterID || proxiedProvider != nil else { return }
        request.element("samlp:Scoping") { scoping in
            if let proxiedProvider {
                scoping.element("samlp:IDPList") { list in
                    let name = proxiedProvider.name.isEmpty ? nil : proxiedProvider.name
                    list.element("samlp:IDPEntry", [("ProviderID", proxiedProvider.providerID), ("Name", name)])
                }
            }
            if scopingMode.usesRequesterID { scoping.element("samlp:RequesterID", text: onBehalfOf) }
        }
    }
}
