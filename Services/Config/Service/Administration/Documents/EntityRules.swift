internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography

/// What is asked of an entry that an administrator edits beyond what makes a catalogue usable (dashboard §2).
struct EntityRules {
    let key: EntityKey
    let tree: JsonTree
    /// The whole result.
    let configuration: Configuration
    /// The entry as it was.
    let former: JsonTree?
    let now: Timestamp

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

    /// A pinned certificate may end where it is, with an alarm; none is saved that is over already, or has not begun (decision 0021).
    private var pinnedProblems: [FieldProblem] {
        guard key.section == .mvpds, case .saml(let endpoint) = configuration.mvpds.first(where: { $0.id == key.id })?.signIn else { return [] }
        let former = Set(pinnedBefore)
        return endpoint.signingCertificates.enumerated().compactMap { index, der in
            guard !former.contains(der), let problem = try? Cryptography.Certificate(der: der).pinningProblem(at: now) else { return nil }
            return FieldProblem(field: "saml.signingCertificates[\(index)]", message: problem)
        }
    }

    private var pinnedBefore: [[UInt8]] {
        (former?["saml"]?["signingCertificates"]?.texts ?? []).compactMap { try? Cryptography.Certificate(pem: $0).der }
    }

    /// Which apps are cut off by domains that are not there any more (dashboard #7).
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
