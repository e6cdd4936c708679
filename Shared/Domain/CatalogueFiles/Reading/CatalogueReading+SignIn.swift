internal import Contracts
internal import StrictJson

extension CatalogueReading {
    func signIn(_ object: JsonObject, isProxied: Bool) -> Mvpd.SignIn? {
        let found: [Mvpd.SignIn?] = [
            object.optional("saml").map { .saml(saml($0) ?? SamlEndpoint()) },
            object.optional("oauth").map { .oauth(oauth($0) ?? OAuthEndpoint()) },
            object.optional("tempPass").map { .tempPass(tempPass($0) ?? TempPass()) },
        ]
        let present = found.compactMap { $0 }
        // Behind a proxy the proxy's own way serves.
        if present.isEmpty, isProxied { return nil }
        if present.count != 1 { object.problem("must have exactly one of 'saml', 'oauth', 'tempPass', 'upstreamOnly'; it has \(present.count)") }
        return present.first
    }

    private func saml(_ value: JsonValue) -> SamlEndpoint? {
        value.object { object in
            var saml = SamlEndpoint()
            saml.idpEntityID = object.uri("idpEntityId", required: true)
            saml.ssoURL = object.url("ssoUrl")
            readLogout(object, &saml)
            saml.requestBinding = object.requiredChoice("requestBinding", ["redirect": .redirect, "post": .post]) ?? .redirect
            saml.signingCertificates = signingCertificates(object)
            saml.signaturePolicy = object.choice(
                "signaturePolicy", ["assertion": .assertion, "response": .response, "both": .both], else: .assertion)
            saml.signatureAlgorithms = object.texts("signatureAlgorithms") {
                CatalogueSyntax.signatureAlgorithms.contains($0) ? nil : "is no signature algorithm that is accepted (mvpd §2.3, 14)"
            }
            saml.legacySha1UntilMilliseconds = object.date("legacySha1Until")
            saml.nameIDFormat = object.uri("nameIdFormat")
            saml.spNameQualifier = object.text("spNameQualifier", required: false)
            saml.disallowCreate = !object.flag("allowCreate", else: true)
            saml.forceAuthn = object.flag("forceAuthn")
            saml.scopingMode = object.choice(
                "scopingMode", ["issuerSuffix": .issuerSuffix, "requesterId": .requesterId, "both": .both, "none": .none], else: .issuerSuffix)
            saml.partnerID = object.text("partnerId", required: false)
            saml.guidAttributeName = object.text("guidAttributeName", required: false)
            saml.attributeMap = object.optional("attributeMap")?.array(attributeMapping) ?? []
            saml.clockSkewSeconds = object.number("clockSkew", 1...600)
            saml.maxResponseAgeSeconds = object.number("maxResponseAge", 1...3600)
            saml.encryption = object.choice("encryption", ["optional": .optional, "required": .required], else: .optional)
            saml.platformExchange = object.optional("profileExchange").flatMap(platformExchange)
            saml.allowMissingCookie = object.flag("allowMissingCookie")
            return saml
        }
    }

    private func readLogout(_ object: JsonObject, _ saml: inout SamlEndpoint) {
        saml.logoutURL = object.url("logoutUrl", required: false)
        saml.logoutBinding = object.choice("logoutBinding", ["redirect": .redirect, "post": .post], else: .redirect)
        saml.logoutResponseURL = object.url("logoutResponseUrl", required: false)
        saml.plainLogout = object.optional("plainLogout").flatMap(plainLogout)
        if saml.logoutURL.isEmpty {
            for name in ["logoutBinding", "logoutResponseUrl"] { object.optional(name)?.problem("must be there only with a logoutUrl") }
        } else {
            object.optional("plainLogout")?.problem("must not be there beside logoutUrl: a browser visits one of them")
        }
    }

    private func plainLogout(_ value: JsonValue) -> PlainLogout? {
        value.object { object in
            var logout = PlainLogout()
            logout.url = object.url("url")
            logout.returnParameter = object.text("returnParameter", required: false)
            return logout
        }
    }

    private func platformExchange(_ value: JsonValue) -> PlatformExchange? {
        value.object { object in
            var exchange = PlatformExchange()
            exchange.requestKind = object.choice(
                "requestKind", ["authnRequest": .authnRequest, "attributeQuery": .attributeQuery], else: .authnRequest)
            exchange.inResponseToMode = object.choice("inResponseToMode", ["strict": .strict, "device": .device], else: .strict)
            // Without a request that it answers, an answer is good for a short time only (mvpd §2.8).
            exchange.maxAgeSeconds = object.number("maxAge", 1...(exchange.inResponseToMode == .device ? 300 : 3600))
            return exchange
        }
    }

    private func signingCertificates(_ object: JsonObject) -> [[UInt8]] {
        guard let value = object.required("signingCertificates") else { return [] }
        var count = 0
        let certificates = value.array { element in
            count += 1
            return self.certificates.certificate(element)
        }
        if value.isArray, !(1...4).contains(count) { value.problem("must hold 1 to 4 certificates; it holds \(count)") }
        if Set(certificates).count != certificates.count { value.problem("holds a certificate twice") }
        return certificates
    }

    func attributeMapping(_ value: JsonValue) -> AttributeMapping? {
        value.object { object in
            var mapping = AttributeMapping()
            mapping.source = object.text("source", required: false)
            mapping.sourceNameFormat = object.uri("sourceNameFormat")
            mapping.target = object.text("target")
            mapping.type = object.choice("type", ["string": .string, "boolean": .boolean, "stringList": .stringList], else: .string)
            if !mapping.target.isEmpty, !CatalogueSyntax.isMetadataKey(mapping.target) {
                object.optional("target")?.problem("must be a metadata key such as 'userID' or 'maxRating.VCHIP'; it is '\(mapping.target)'")
            }
            return mapping
        }
    }

    private func tempPass(_ value: JsonValue) -> TempPass? {
        value.object { object in
            var pass = TempPass()
            pass.kind = object.requiredChoice("kind", ["basic": .basic, "promotional": .promotional]) ?? .basic
            let isPromotional = pass.kind == .promotional
            // A trial of seconds lets an engineer see its end.
            pass.ttlSeconds = object.number("ttl", 1...Self.lifetimes.upperBound, required: true)
            pass.maxResources = object.number("maxResources", 1...1000, required: isPromotional)
            pass.userInformationKey = object.text("userInformationKey", required: isPromotional)
            if !isPromotional, pass.maxResources != 0 || !pass.userInformationKey.isEmpty {
                object.problem("must have maxResources and userInformationKey only when its kind is 'promotional'")
            }
            return pass
        }
    }
}
