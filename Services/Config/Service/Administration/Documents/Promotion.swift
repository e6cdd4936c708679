internal import CatalogueFiles
internal import Contracts

/// The changes that bring this cluster's catalogue to another's, without the parts that are each cluster's own (dashboard §1).
struct Promotion {
    /// Endpoints, keys and clients at MVPDs: a staging cluster has the MVPDs' staging servers.
    let keepsEndpoints: Bool
    /// Entries that only this cluster has.
    let keepsOthers: Bool

    /// Names of what somebody keeps under them: each cluster has its own.
    private static let references: Set<OctetText> = ["clientSecretReference", "signInKeyReference", "purchaseKeyReference", "passwordReference"]

    /// Members of an MVPD that say where it is and how it is known.
    private static let endpoints: [OctetText: Set<OctetText>] = [
        "saml": ["idpEntityId", "ssoUrl", "requestBinding", "logoutUrl", "logoutBinding", "logoutResponseUrl", "plainLogout", "signingCertificates"],
        "oauth": [
            "issuer", "authorizeUrl", "tokenUrl", "profileUrl", "jwksUrl", "logoutUrl", "clientId", "trustAnchors", "callback", "requiresIss",
            "logoutReturn",
        ],
        "authorization": ["url", "issuer", "trustAnchors", "clientCertificate"],
    ]

    func changes(from own: CatalogueDocument, to other: CatalogueDocument) -> [PropertyChange] {
        own.changes(to: other).filter { !isOwn($0, own, other) }
    }

    private func isOwn(_ change: PropertyChange, _ own: CatalogueDocument, _ other: CatalogueDocument) -> Bool {
        // A proxy keeps a list at each cluster.
        if [own, other].contains(where: { $0.isListed(change.key) }) { return true }
        guard let last = change.path.last else { return change.new == nil && keepsOthers }
        if Self.references.contains(OctetText(last)) { return true }
        guard keepsEndpoints else { return false }
        switch change.key.section {
        case .mvpds: return isEndpoint(change.path)
        case .integrations: return change.path == ["oauthClient", "clientId"]
        default: return false
        }
    }

    private func isEndpoint(_ path: [String]) -> Bool {
        guard path.count > 1, let members = Self.endpoints[path[0]] else { return false }
        return members.contains(OctetText(path[1]))
    }
}

extension CatalogueDocument {
    /// True of an MVPD that its proxy lists, and of integrations with one.
    fileprivate func isListed(_ key: EntityKey) -> Bool {
        switch key.section {
        case .mvpds: self[key]?["proxy"]?["listed"] == .bool(true)
        case .integrations: self[EntityKey(.mvpds, key.mvpd)]?["proxy"]?["listed"] == .bool(true)
        default: false
        }
    }
}
