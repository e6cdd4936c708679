internal import Contracts
internal import GatewayEdge

/// What the claims of a person come to.
struct ProviderMapping: Sendable {
    let settings: OpenIDSettings

    /// The highest of the roles counts, and the programmers of all values together.
    /// - Parameter subject: `sub`, verified.
    /// - Throws: `unmapped`, naming the claim that was missing or had no value that is mapped.
    func person(_ claims: ProviderClaims, subject: String) throws(ProviderRefusal) -> SignedInPerson {
        let roles = try mapped(settings.roleClaim, settings.roles, "role", in: claims)
        let name = name(claims, subject)
        if roles.contains(.operator) { return SignedInPerson(name: name, role: .operator) }
        let programmers = try mapped(settings.programmerClaim, settings.programmers, "programmer", in: claims)
        let ids = programmers.reduce(into: [String]()) { all, ids in all += ids.filter { !all.contains($0) } }
        guard ids.count <= 100 else {
            throw ProviderRefusal(.unmapped, "claims.programmers", "More than 100 programmers are mapped; make it an operator.")
        }
        return SignedInPerson(name: name, role: roles.contains(.editor) ? .editor : .viewer, programmerIDs: ids)
    }

    /// An address of mail that nobody verified could be somebody else's. Any other claim may be the same for two people, and drafts are known by the name: the subject, which is
    /// one person's (OpenID Connect Core §2), stands behind it.
    private func name(_ claims: ProviderClaims, _ subject: String) -> String {
        let subject = String(subject.prefix(255))
        let claimed = settings.nameClaim == "email" && !claims.isTrue("email_verified") ? nil : claims.text(settings.nameClaim)
        guard let claimed, (1...255).contains(claimed.count), !claimed.contains(where: \.isNewline) else { return subject }
        if settings.nameClaim == "email" || settings.nameClaim == "sub" { return claimed }
        let room = 255 - subject.count - 3
        return room > 0 ? "\(claimed.prefix(room)) (\(subject))" : subject
    }

    private func mapped<Meaning>(
        _ claim: String, _ mapping: [String: Meaning], _ noun: String, in claims: ProviderClaims
    ) throws(ProviderRefusal) -> [Meaning] {
        guard let values = claims.values(claim) else {
            throw ProviderRefusal(.unmapped, "claims.missing", "The identity token has no claim '\(claim)', so that you have no \(noun) here.")
        }
        let meanings = values.compactMap { value in mapping.first { $0.key == value }?.value }
        guard !meanings.isEmpty else {
            let shown = values.prefix(10).map { "'\($0.prefix(60))'" }.joined(separator: ", ")
            let what = values.isEmpty ? "has no value" : "says \(shown), and none of it is mapped to a \(noun) here"
            throw ProviderRefusal(.unmapped, "claims.\(noun)", "The claim '\(claim)' \(what).")
        }
        return meanings
    }
}
