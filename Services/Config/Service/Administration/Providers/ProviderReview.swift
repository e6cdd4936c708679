internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography
internal import SamlProfile

/// An MVPD's metadata, looked at as a person will look at it (mvpd §2.7).
struct ProviderReview {
    /// How long before its end a certificate becomes a warning.
    private static let notice: Duration = .seconds(30 * 24 * 3600)

    let metadata: IdentityProviderMetadata
    let now: Timestamp

    var contract: ProviderMetadata {
        ProviderMetadata(
            entityID: metadata.entityID, displayName: metadata.displayName ?? "",
            endpoints: metadata.endpoints.map {
                ProviderEndpoint(
                    service: $0.service.rawValue, binding: $0.binding, location: $0.location, responseLocation: $0.responseLocation ?? "")
            },
            certificates: certificates.map(\.contract), nameIDFormats: metadata.nameIDFormats,
            wantsSignedRequests: metadata.wantsSignedRequests,
            validUntilMilliseconds: UInt64(clamping: metadata.validUntil?.milliseconds ?? 0), problems: problems, warnings: warnings)
    }

    /// A certificate of the document and whether it may be pinned.
    struct Listed {
        let der: [UInt8]
        let contract: ProviderCertificate
        var mayBePinned: Bool { contract.signs && contract.problem.isEmpty }
    }

    var certificates: [Listed] {
        metadata.certificates.map { entry in
            var listed = ProviderCertificate(sha256: Hex.encode(SHA256.hash(entry.der)), signs: entry.signs)
            guard let certificate = try? Cryptography.Certificate(der: entry.der) else {
                listed.problem = "is no certificate"
                return Listed(der: entry.der, contract: listed)
            }
            listed.subject = certificate.subject
            listed.notBeforeMilliseconds = UInt64(clamping: certificate.notBefore.milliseconds)
            listed.notAfterMilliseconds = UInt64(clamping: certificate.notAfter.milliseconds)
            listed.problem = Self.problem(certificate, now) ?? ""
            return Listed(der: entry.der, contract: listed)
        }
    }

    /// Why the certificate must not be pinned now (decision 0021).
    private static func problem(_ certificate: Cryptography.Certificate, _ now: Timestamp) -> String? {
        do {
            _ = try certificate.publicKey()
        } catch {
            return "has a key that is not accepted: RSA of 2048 bits or more, or P-256, is"
        }
        return certificate.pinningProblem(at: now)
    }

    /// What keeps the metadata from being imported.
    var problems: [FieldProblem] {
        var found: [FieldProblem] = []
        if let problem = CatalogueURL.uriProblem(metadata.entityID) { found.append(FieldProblem(field: "entityID", message: problem)) }
        if let end = metadata.validUntil, end <= now {
            found.append(FieldProblem(field: "validUntil", message: "is over; ask the MVPD for its new metadata"))
        }
        if signOn == nil { found.append(FieldProblem(field: "SingleSignOnService", message: "is missing for HTTP-Redirect and HTTP-POST")) }
        for endpoint in [signOn, logout].compactMap({ $0 }) {
            for (name, location) in [("Location", endpoint.location), ("ResponseLocation", endpoint.responseLocation ?? endpoint.location)] {
                guard let problem = CatalogueURL.urlProblem(location) else { continue }
                found.append(FieldProblem(field: "\(endpoint.service.rawValue).\(name)", message: problem))
                break
            }
        }
        if !certificates.contains(where: \.mayBePinned) {
            found.append(FieldProblem(field: "KeyDescriptor", message: "holds no certificate for signing that can be used"))
        }
        return found
    }

    private var warnings: [FieldProblem] {
        var found: [FieldProblem] = []
        for listed in certificates where listed.mayBePinned {
            let end = Timestamp(milliseconds: Int64(clamping: listed.contract.notAfterMilliseconds))
            if end < now + Self.notice {
                found.append(FieldProblem(field: "KeyDescriptor", message: "(\(listed.contract.subject)) expires within 30 days"))
            }
        }
        let formats = metadata.nameIDFormats
        if formats.contains(where: { $0.hasSuffix(":transient") }), !formats.contains(where: { $0.hasSuffix(":persistent") }) {
            let message =
                "is transient: each sign-in would be another user. Ask the MVPD for a persistent NameID, or for an attribute with the person's id"
            found.append(FieldProblem(field: "NameIDFormat", message: message))
        }
        if logout == nil { found.append(FieldProblem(field: "SingleLogoutService", message: "is missing: nobody is logged out at the MVPD")) }
        return found
    }

    /// The address for sign-ins: by redirect, if there is a choice.
    var signOn: IdentityProviderMetadata.Endpoint? { endpoint(.singleSignOn) }
    var logout: IdentityProviderMetadata.Endpoint? { endpoint(.singleLogout) }

    /// The address of that service with that binding.
    func endpoint(_ service: IdentityProviderMetadata.Service, isPost: Bool) -> IdentityProviderMetadata.Endpoint? {
        metadata.endpoints.first { $0.service == service && (isPost ? $0.isPost : $0.isRedirect) }
    }

    private func endpoint(_ service: IdentityProviderMetadata.Service) -> IdentityProviderMetadata.Endpoint? {
        endpoint(service, isPost: false) ?? endpoint(service, isPost: true)
    }
}

extension Cryptography.Certificate {
    /// Why the certificate is not one to begin with; later its expiry is an alarm only (mvpd §1.2, decision 0021).
    func pinningProblem(at now: Timestamp) -> String? {
        if notAfter < now { return "is expired (\(subject)); ask the MVPD for its new certificate" }
        if now < notBefore { return "is not valid yet (\(subject)); save it when it is" }
        return nil
    }
}
