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

    var problems: [FieldProblem] { names + domainProblems + applicationDomains + certificateProblems + platformSso }

    var warnings: [FieldProblem] { subdomains + removedDomains + lifetimes }

    private var names: [FieldProblem] {
        ["name", "displayName"].compactMap { name in
            guard let text = tree[name]?.text, !(1...80).contains(text.count) else { return nil }
            return FieldProblem(field: name, message: "must have 1 to 80 characters")
        }
    }

    private var requestor: Requestor? {
        key.section == .requestors ? configuration.requestors.first { $0.id == key.id } : nil
    }

    private var application: Application? {
        key.section == .applications ? configuration.applications.first { $0.id == key.id } : nil
    }

    private var domainProblems: [FieldProblem] {
        (requestor?.domains ?? []).enumerated().compactMap { index, domain in
            guard domain.name.split(separator: ".").last?.allSatisfy(\.isNumber) == true else { return nil }
            return FieldProblem(field: "domains[\(index)]", message: "must be a name, not an address")
        }
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

    /// Single sign-on of the platform has no meaning where there is none (dashboard §2, #19).
    private var platformSso: [FieldProblem] {
        guard key.section == .integrations, let integration = configuration.integrations.first(where: { EntityKey(.integrations, $0) == key })
        else { return [] }
        let able: Set<PlatformScope> = [.all, .mobile, .ios, .tv, .tvos, .roku, .fireTv]
        return integration.platformOverrides.filter { $0.platformSso == .on && !able.contains($0.scope) }.map { _ in
            FieldProblem(field: "platformOverrides", message: "has platformSso for a platform that has no single sign-on of its own")
        }
    }

    private var subdomains: [FieldProblem] {
        let names = requestor?.domains.map(\.name) ?? []
        return names.enumerated().compactMap { index, name in
            guard let general = names.first(where: { $0 != name && Self.covers($0, name) }) else { return nil }
            return FieldProblem(field: "domains[\(index)]", message: "adds nothing: '\(general)' is listed, and covers it")
        }
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

    private var lifetimes: [FieldProblem] {
        guard let hba = tree["hbaAuthnTtl"]?.whole, let authn = tree["authnTtl"]?.whole, hba > authn else { return [] }
        return [FieldProblem(field: "hbaAuthnTtl", message: "is longer than authnTtl")]
    }

    private static func domains(_ tree: JsonTree?) -> [String] { (tree?["domains"]?.elements ?? []).compactMap { $0.text ?? $0["name"]?.text } }

    /// True for the domain itself and for what lies below it.
    private static func covers(_ domain: String, _ name: String) -> Bool { name == domain || name.hasSuffix("." + domain) }
}

extension EntityKey {
    init(_ section: CatalogueSection, _ integration: Integration) { self.init(section, "\(integration.requestorID)/\(integration.mvpdID)") }
}

extension JsonTree {
    /// A whole number.
    var whole: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }
}
