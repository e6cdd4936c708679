internal import Catalogue
internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography

/// The rules for an entry that an administrator edits, beyond those that make a catalogue usable (dashboard §2).
struct EntityRules {
    let key: EntityKey
    let tree: JsonTree
    /// The whole result.
    let configuration: Configuration
    /// The entry as it was.
    let former: JsonTree?
    let now: Timestamp
    /// SHA-256 of the certificates that a person pins although they are not valid now: 64 hex digits each, in any of the usual spellings.
    var confirmed: [String] = []

    var problems: [FieldProblem] { applicationDomains + certificateProblems + pinnedProblems }

    var warnings: [FieldProblem] { removedDomains }

    private var requestor: Requestor? {
        key.section == .requestors ? configuration.requestors.first { $0.id == key.id } : nil
    }

    private var application: Application? {
        key.section == .applications ? configuration.applications.first { $0.id == key.id } : nil
    }

    /// A domain of an application must exist on the requestors that it acts for.
    private var applicationDomains: [FieldProblem] {
        guard let application else { return [] }
        let owned = configuration.requestors.filter { application.requestorIDs.contains($0.id) }.flatMap { $0.domains.map(\.name) }
        return application.redirectDomains.enumerated().compactMap { index, domain in
            if owned.contains(where: { Self.covers($0, domain) }) { return nil }
            return FieldProblem(field: "redirectDomains[\(index)]", message: "is no domain of the application's requestors")
        }
    }

    private var certificates: [Contracts.Certificate] {
        switch key.section {
        case .programmers: configuration.programmers.first { $0.id == key.id }?.certificates ?? []
        case .requestors: requestor?.certificates ?? []
        default: []
        }
    }

    /// One that was there before may expire where it is; none is added that is expired already.
    private var certificateProblems: [FieldProblem] {
        certificates.enumerated().compactMap { index, certificate in
            guard let read = try? Cryptography.Certificate(der: certificate.der), read.notAfter < now else { return nil }
            let texts = tree["certificates"]?.elements ?? []
            if texts.indices.contains(index), former?["certificates"]?.elements.contains(texts[index]) == true { return nil }
            return FieldProblem(field: "certificates[\(index)]", message: "is expired")
        }
    }

    /// A new certificate to be pinned that is not valid now.
    private struct Doubtful {
        let index: Int
        let sha256: String
        let certificate: Cryptography.Certificate
    }

    /// A pinned certificate may end where it is, with an alarm. One that is over already, or has not begun, is saved with its own confirmation, for
    /// that certificate alone (decision 0021).
    private var doubtful: [Doubtful] {
        guard key.section == .mvpds, case .saml(let endpoint) = configuration.mvpds.first(where: { $0.id == key.id })?.signIn else { return [] }
        let former = Set(pinnedBefore)
        return endpoint.signingCertificates.enumerated().compactMap { index, der in
            guard !former.contains(der), let certificate = try? Cryptography.Certificate(der: der), certificate.validityFlaw(at: now) != nil else {
                return nil
            }
            return Doubtful(index: index, sha256: Hex.encode(SHA256.hash(der)), certificate: certificate)
        }
    }

    private var pinnedProblems: [FieldProblem] {
        doubtful.filter { !isConfirmed($0) }.map {
            FieldProblem(
                field: "saml.signingCertificates[\($0.index)]",
                message: "\($0.certificate.validityWarning(at: now) ?? ""), by its SHA-256 \($0.sha256) (confirmExpired)",
                confirmableCertificate: $0.sha256)
        }
    }

    /// The confirmations that were needed, for the audit.
    var confirmations: [String] {
        doubtful.filter(isConfirmed).map {
            "Certificate \($0.sha256) (\($0.certificate.subject)) of the MVPD '\(key.id)' confirmed, which \($0.certificate.validityFlaw(at: now) ?? "")"
        }
    }

    private func isConfirmed(_ doubtful: Doubtful) -> Bool { confirmed.contains { Fingerprint.digits($0) == OctetText(doubtful.sha256) } }

    private var pinnedBefore: [[UInt8]] {
        (former?["saml"]?["signingCertificates"]?.texts ?? []).compactMap { try? Cryptography.Certificate(pem: $0).der }
    }

    /// The apps that are cut off by domains that are not there any more (dashboard #7).
    private var removedDomains: [FieldProblem] {
        guard let requestor else { return [] }
        let names = Set(requestor.domains.map(\.name))
        return Self.domains(former).filter { !names.contains($0) }.compactMap { domain in
            let affected = configuration.applications.filter { application in
                application.requestorIDs.contains(key.id) && application.redirectDomains.contains { Self.covers(domain, $0) }
            }
            if affected.isEmpty { return nil }
            return FieldProblem(
                field: "domains", message: "lacks '\(domain)' now, which applications use: \(affected.map(\.id).joined(separator: ", "))")
        }
    }

    private static func domains(_ tree: JsonTree?) -> [String] { (tree?["domains"]?.elements ?? []).compactMap { $0.text ?? $0["name"]?.text } }

    /// True for the domain itself and for what lies below it.
    private static func covers(_ domain: String, _ name: String) -> Bool { name == domain || name.hasSuffix("." + domain) }
}

extension EntityKey {
    init(_ section: CatalogueSection, _ integration: Integration) { self.init(section, "\(integration.requestorID)/\(integration.mvpdID)") }
}

/// A SHA-256 as people copy it.
enum Fingerprint {
    /// Without colons and blanks, in lower case.
    static func digits(_ text: String) -> OctetText { OctetText(text.lowercased().filter { $0 != ":" && $0 != " " }) }
}

/// The rules for a push as a whole.
enum PushRules {
    /// Finds additions that no push or file may make; existing ones may stay. They are records that share a callback (RFC 9700 §4.4.2). The others
    /// are requestors that have sign-ins confirmed, without a page of their own to which an upstream sends browsers back (bridge §7.4).
    /// - Parameter formerSharers: The MVPDs, among some, that shared a callback before the version that the change is made of.
    static func additions(
        before: Configuration, after: Configuration, formerSharers: ([String]) throws -> Set<OctetText>
    ) rethrows -> [FieldProblem] {
        let shared = Set(before.mvpds.filter(\.sharesCallback).map { OctetText($0.id) })
        let unconfirmed = Set(before.requestors.filter(\.cannotConfirm).map { OctetText($0.id) })
        let sharing = after.mvpds.filter { $0.sharesCallback && !shared.contains(OctetText($0.id)) }.map(\.id)
        let former = try formerSharers(sharing)
        let callbacks = sharing.filter { !former.contains(OctetText($0)) }.map { id in
            FieldProblem(
                field: "mvpds/\(id): oauth.callback",
                message: "must not be 'shared' in a record that has not been so; register the record's own address at the MVPD")
        }
        let pairs = after.requestors.filter { $0.cannotConfirm && !unconfirmed.contains(OctetText($0.id)) }.map { requestor in
            FieldProblem(
                field: "requestors/\(requestor.id): confirmsSignIn",
                message: "needs a returnOrigin of its upstream: without our own return page nobody can tell whose browser comes back")
        }
        return callbacks + pairs
    }

    /// A metadata key that is to be encrypted needs a certificate to which it can be encrypted (dashboard §2, #11). Only what the push itself
    /// makes so is refused: a catalogue that lacked a certificate before stays editable.
    static func problems(
        _ changes: [PropertyChange], before: Configuration, after: Configuration, now: Timestamp, formerSharers: ([String]) throws -> Set<OctetText>
    ) rethrows -> [FieldProblem] {
        let former = Catalogue(before)
        let catalogue = Catalogue(after)
        return try additions(before: before, after: after, formerSharers: formerSharers)
            + after.integrations.compactMap { integration in
                guard integration.metadataKeys.contains(where: \.encrypted), let requestor = catalogue.requestor(integration.requestorID),
                    catalogue.metadataCertificate(of: requestor, now: now) == nil
                else { return nil }
                let key = EntityKey(.integrations, integration)
                let isKeyChanged = changes.contains { $0.key == key && ($0.path.isEmpty || $0.path == ["metadataKeys"]) }
                let isCertificateLost = former.requestor(requestor.id).map { former.metadataCertificate(of: $0, now: now) != nil } ?? false
                guard isKeyChanged || isCertificateLost else { return nil }
                return FieldProblem(
                    field: "\(key): metadataKeys", message: "has keys that are to be encrypted, but the requestor has no valid certificate for that")
            }
    }
}
