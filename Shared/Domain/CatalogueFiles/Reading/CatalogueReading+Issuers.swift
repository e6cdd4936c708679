internal import Contracts
internal import Cryptography
internal import Foundation
internal import StrictJson
internal import Tokens

extension CatalogueReading {
    private typealias Keys = [[String: String]]

    /// Whose platform identity tokens are believed (rest-v1 §2.6).
    func identityIssuer(_ value: JsonValue) -> PlatformIdentityIssuer? {
        value.object { object in
            var issuer = PlatformIdentityIssuer()
            issuer.issuer = object.text("issuer")
            if !issuer.issuer.isEmpty, !issuers.insert(issuer.issuer).inserted {
                object.optional("issuer")?.problem("is '\(issuer.issuer)', which another one has")
            }
            issuer.algorithm = object.choice("algorithm", ["RS256": "RS256", "ES256": "ES256", "HS256": "HS256"], else: "")
            if issuer.algorithm == "HS256" {
                issuer.secretReference = secretReference(object, "secret", required: true)
                object.optional("jwks")?.problem("has no meaning with the algorithm HS256, whose secret both sides have")
            } else {
                if let secret = object.optional("secret") {
                    secret.problem("has a meaning with the algorithm HS256 alone; an encryption has a secret of its own")
                }
                let algorithms: KeyValuePairs<String, String> = issuer.algorithm.isEmpty ? Self.algorithms : [issuer.algorithm: issuer.algorithm]
                issuer.jwks = object.required("jwks").flatMap { keySet($0, of: algorithms) } ?? ""
            }
            object.optional("encryption")?.object { encryption in
                issuer.encryptionAlgorithm = encryption.required("algorithm")?.choice(["dir": "dir", "RSA-OAEP-256": "RSA-OAEP-256"]) ?? ""
                issuer.contentEncryption = encryption.required("content")?.choice(["A128GCM": "A128GCM", "A256GCM": "A256GCM"]) ?? ""
                issuer.encryptionSecretReference = secretReference(encryption, "secret", required: true)
            }
            return issuer
        }
    }

    /// Whose service tokens are believed (rest-v2 §1.3).
    func serviceTokenIssuer(_ value: JsonValue) -> ServiceTokenIssuer? {
        value.object { object in
            var issuer = ServiceTokenIssuer()
            issuer.issuer = object.text("issuer")
            if !issuer.issuer.isEmpty, !serviceTokenIssuers.insert(issuer.issuer).inserted {
                object.optional("issuer")?.problem("is '\(issuer.issuer)', which another one has")
            }
            if OctetText(issuer.issuer) == OctetText(ServiceTokens.issuer) {
                object.optional("issuer")?.problem("is '\(ServiceTokens.issuer)', the name of our own tokens")
            }
            issuer.jwks = object.required("jwks").flatMap { keySet($0, of: ["RS256": "RS256"]) } ?? ""
            issuer.programmerIDs = object.texts("programmers", required: true) { id in
                programmers[id] == nil ? "names the programmer '\(id)', which is not in the catalogue" : nil
            }
            return issuer
        }
    }

    private static let algorithms: KeyValuePairs = ["ES256": "ES256", "RS256": "RS256"]

    /// A JWK set in place, as text, or in a file.
    /// - Returns: Its JSON text.
    private func keySet(_ value: JsonValue, of algorithms: KeyValuePairs<String, String> = CatalogueReading.algorithms) -> String? {
        func key(_ value: JsonValue) -> [String: String]? { self.key(value, algorithms) }
        func keySet(text: String) -> String? { self.keySet(text: text, value, key) }
        if value.isString { return value.string().flatMap { keySet(text: $0) } }
        var text: String?
        value.object { object in
            if let file = object.optional("file") {
                text = certificates.content(of: file, for: value).flatMap { keySet(text: $0) }
            } else if let keys = object.required("keys") {
                text = checked(keys.array(key), value)
            }
        }
        return text
    }

    private func keySet(text: String, _ value: JsonValue, _ key: (JsonValue) -> [String: String]?) -> String? {
        guard let document = try? JsonDocument(parsing: Array(text.utf8)) else {
            value.problem("is no JSON")
            return nil
        }
        let problems = JsonProblems(of: document)
        let keys = problems.root.object { $0.required("keys")?.array(key) ?? [] }
        for problem in problems.list { value.problem("holds a key set in which \(problem.path) \(problem.message)") }
        return problems.list.isEmpty ? keys.flatMap { checked($0, value) } : nil
    }

    private func checked(_ keys: Keys, _ value: JsonValue) -> String? {
        guard !keys.isEmpty else {
            value.problem("must hold a key at least")
            return nil
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(["keys": keys]) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(CryptographyError) {
            guard try JSONWebKeySet(json: text).keys.count == keys.count else {
                value.problem("holds a key that does not fit its algorithm: an EC key on P-256 for ES256, an RSA key for RS256")
                return nil
            }
            return text
        } catch {
            value.problem("holds a key that cannot be used (\(error))")
            return nil
        }
    }

    /// A public key; it names its algorithm itself, the token never decides it.
    private func key(_ value: JsonValue, _ algorithms: KeyValuePairs<String, String>) -> [String: String]? {
        value.object { object in
            var members: [String: String] = [:]
            members["alg"] = object.required("alg")?.choice(algorithms)
            for name in ["kty", "kid", "use", "crv", "x", "y", "n", "e"] { members[name] = object.optional(name)?.string() }
            // About the same key, and not needed.
            for name in ["x5c", "x5t", "x5t#S256", "key_ops"] { _ = object.optional(name) }
            if ["d", "p", "q", "dp", "dq", "qi", "k"].contains(where: { object.optional($0) != nil }) { object.problem("holds a private key") }
            return members
        }
    }
}

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
