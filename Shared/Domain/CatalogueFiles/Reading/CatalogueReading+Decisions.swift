internal import Contracts
internal import StrictJson

extension CatalogueReading {
    /// Reads the members of the SOAP form (mvpd §4.2).
    func readSoap(_ object: JsonObject, _ endpoint: inout AuthorizationEndpoint, _ mvpd: Mvpd) {
        endpoint.answerSignature = object.choice(
            "answerSignature", ["response": .response, "assertion": .assertion, "both": .both, "none": .none], else: .response)
        endpoint.signingCertificates = answerCertificates(object)
        endpoint.signatureAlgorithms = object.texts("signatureAlgorithms") {
            CatalogueSyntax.signatureAlgorithms.contains($0) ? nil : "is no signature algorithm that is accepted (mvpd §2.3, 14)"
        }
        endpoint.issuer = object.uri("issuer")
        endpoint.requireInResponseTo = object.flag("requireInResponseTo")
        endpoint.clockSkewSeconds = object.number("clockSkew", 1...600)
        endpoint.maxResponseAgeSeconds = object.number("maxResponseAge", 1...3600)
        endpoint.scopingMode = object.choice("scopingMode", ["issuerSuffix": .issuerSuffix, "none": .none], else: .issuerSuffix)
        guard endpoint.protocol == .xacmlSoap else {
            for name in [
                "answerSignature", "signingCertificates", "signatureAlgorithms", "issuer", "requireInResponseTo", "clockSkew", "maxResponseAge",
                "scopingMode",
            ] {
                object.optional(name)?.problem("has a meaning with the protocol 'xacmlSoap' only")
            }
            return
        }
        checkSoap(object, endpoint, mvpd)
    }

    /// The sign-in's entity id and certificates serve where it is SAML; otherwise the endpoint has to have its own.
    private func checkSoap(_ object: JsonObject, _ endpoint: AuthorizationEndpoint, _ mvpd: Mvpd) {
        if case .saml = mvpd.signIn {
            object.optional("scopingMode")?.problem("has no meaning here: the SAML sign-in has one")
            return
        }
        if endpoint.issuer.isEmpty, !mvpd.isProxied { object.problem("must have an issuer: the sign-in names no entity id") }
        if endpoint.signingCertificates.isEmpty, endpoint.answerSignature != .none {
            object.problem("must have signingCertificates, or the answerSignature 'none': the sign-in pins no certificate")
        }
    }

    private func answerCertificates(_ object: JsonObject) -> [[UInt8]] {
        guard let value = object.optional("signingCertificates") else { return [] }
        var count = 0
        let pinned = value.array { element in
            count += 1
            return certificates.certificate(element)
        }
        if value.isArray, !(1...4).contains(count) { value.problem("must hold 1 to 4 certificates; it holds \(count)") }
        if Set(pinned).count != pinned.count { value.problem("holds a certificate twice") }
        return pinned
    }

    /// Ids of attributes, obligations and assignments (mvpd §4.1, §4.2).
    func decisionNames(_ object: JsonObject) -> DecisionNames {
        let names = DecisionNames(
            subjectID: object.uri("subjectId"), resourceID: object.uri("resourceId"), tvNetwork: object.uri("tvNetwork"),
            contentNamespace: object.uri("namespace"), title: object.uri("title"), rating: object.uri("rating"), actionID: object.uri("actionId"),
            logObligation: object.uri("logObligation"), reauthorizeObligation: object.uri("reauthorizeObligation"),
            restrictObligation: object.uri("restrictObligation"), upgradeObligation: object.uri("upgradeObligation"),
            maxMpaa: object.uri("maxMPAA"), maxVchip: object.uri("maxVCHIP"), message: object.uri("message"), reasonCode: object.uri("reasonCode"))
        checkDistinct(object, [names.logObligation, names.reauthorizeObligation, names.restrictObligation, names.upgradeObligation], "obligations")
        checkDistinct(object, [names.maxMpaa, names.maxVchip, names.message, names.reasonCode], "assignments")
        return names
    }

    private func checkDistinct(_ object: JsonObject, _ names: [String], _ kind: String) {
        let own = names.filter { !$0.isEmpty }
        if Set(own).count != own.count { object.problem("must have a different id for each of the \(kind)") }
    }
}
