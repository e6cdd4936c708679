internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography
internal import SamlProfile

/// An MVPD's metadata, looked at as a person will look at it (mvpd §2.7).
struct ProviderReview {
    /// A certificate becomes a warning this long before its end.
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
            guard entry.problem.isEmpty else {
                return Listed(der: [], contract: ProviderCertificate(signs: entry.signs, problem: entry.problem))
            }
            var listed = ProviderCertificate(sha256: Hex.encode(SHA256.hash(entry.der)), signs: entry.signs)
            guard let certificate = try? Cryptography.Certificate(der: entry.der) else {
                listed.problem = "is base64 of something that is no X.509 certificate, or of a part of one"
                return Listed(der: entry.der, contract: listed)
            }
            listed.subject = certificate.subject
            listed.notBeforeMilliseconds = UInt64(clamping: certificate.notBefore.milliseconds)
            listed.notAfterMilliseconds = UInt64(clamping: certificate.notAfter.milliseconds)
            listed.problem = Self.problem(certificate) ?? ""
            listed.warning = certificate.validityWarning(at: now) ?? ""
            return Listed(der: entry.der, contract: listed)
        }
    }

    /// Returns why the certificate must not be pinned (decision 0021).
    private static func problem(_ certificate: Cryptography.Certificate) -> String? {
        do {
            _ = try certificate.publicKey()
        } catch {
            return "has a key that is not accepted: RSA of 2048 bits or more, or P-256, is"
        }
        return nil
    }

    /// The problems that keep the metadata from being imported.
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
        if let problem = metadata.validUntilProblem { found.append(FieldProblem(field: "validUntil", message: problem)) }
        if !certificates.contains(where: \.mayBePinned) {
            found += unusable
            found.append(FieldProblem(field: "KeyDescriptor", message: "holds no certificate for signing that can be used"))
        }
        return found
    }

    /// The certificates for signing that cannot be pinned, each by its place among the certificates, from 1.
    private var unusable: [FieldProblem] {
        certificates.enumerated().compactMap { index, listed in
            guard listed.contract.signs, !listed.contract.problem.isEmpty else { return nil }
            return FieldProblem(field: "KeyDescriptor: certificate \(index + 1)", message: listed.contract.problem)
        }
    }

    private var warnings: [FieldProblem] {
        // Beside one that can be used it keeps nothing from being taken, and is perhaps the next key.
        var found = certificates.contains(where: \.mayBePinned) ? unusable : []
        for listed in certificates where listed.mayBePinned {
            let end = Timestamp(milliseconds: Int64(clamping: listed.contract.notAfterMilliseconds))
            if !listed.contract.warning.isEmpty {
                found.append(FieldProblem(field: "KeyDescriptor", message: listed.contract.warning, confirmableCertificate: listed.contract.sha256))
            } else if end < now + Self.notice {
                found.append(FieldProblem(field: "KeyDescriptor", message: "(\(listed.contract.subject)) expires within 30 days"))
            }
        }
        if nameIDFormat?.hasSuffix(":transient") == true {
            let message =
                "is transient: each sign-in would be another user. Ask the MVPD for a persistent NameID, or for an attribute with the person's id"
            found.append(FieldProblem(field: "NameIDFormat", message: message))
        }
        if logout == nil { found.append(FieldProblem(field: "SingleLogoutService", message: "is missing: nobody is logged out at the MVPD")) }
        return found
    }

    /// The format to ask for at a first import: persistent, or else the first that stays the same at each sign-in. Then comes one of which nobody
    /// knows that, and transient last. Nil when the metadata names none that names people.
    var nameIDFormat: String? {
        func rank(_ format: String) -> Int? {
            switch format.utf8.split(separator: UInt8(ascii: ":")).last.map({ String(decoding: $0, as: UTF8.self) }) {
            case "persistent": 0
            case "unspecified": 2
            case "transient": 3
            case "entity", "encrypted", nil: nil
            default: 1
            }
        }
        let ranked = metadata.nameIDFormats.compactMap { format in rank(format).map { (format: format, rank: $0) } }
        let best = ranked.map(\.rank).min()
        return ranked.first { $0.rank == best }?.format
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
    /// The point that a person has to confirm for a certificate that is not valid now; nil when it is. The key counts and not the validity (SAML V2.0
    /// Metadata Interoperability Profile §2.6.1). Many providers sign with one for years after its end: decision 0021.
    func validityWarning(at now: Timestamp) -> String? {
        validityFlaw(at: now).map { "(\(subject)) \($0): ask the MVPD whether it signs with this key, and confirm that for this certificate" }
    }

    /// `is expired since 2031-03-04`; nil when it is valid.
    func validityFlaw(at now: Timestamp) -> String? {
        notAfter < now ? "is expired since \(notAfter.day)" : now < notBefore ? "is not valid before \(notBefore.day)" : nil
    }
}

extension Timestamp {
    /// `2031-03-04`, of UTC.
    fileprivate var day: String {
        let date = CivilDate(daysSince1970: Int((Double(milliseconds) / 86_400_000).rounded(.down)))
        func padded(_ number: Int, _ width: Int) -> String { String(repeating: "0", count: max(0, width - "\(number)".utf8.count)) + "\(number)" }
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }
}
