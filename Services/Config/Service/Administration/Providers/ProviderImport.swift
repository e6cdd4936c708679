internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Faults
internal import SamlProfile

/// The entry that comes of an MVPD's metadata and of the fingerprints that a person has confirmed.
struct ProviderImport {
    private static let mostCertificates = 4

    let review: ProviderReview
    /// PEM of the confirmed certificates.
    private let certificates: [String]

    /// - Parameters:
    ///   - fingerprints: The fingerprints of the certificates to pin.
    ///   - expired: The fingerprints of those among them that are pinned although they are not valid now.
    /// - Throws: A `DocumentRejection` as its cause, with all that is wrong with document and fingerprints.
    init(_ review: ProviderReview, confirmed fingerprints: [String], expired: [String]) throws(Fault) {
        self.review = review
        var problems = review.problems
        var pinned: [ProviderReview.Listed] = []
        for (index, fingerprint) in fingerprints.enumerated() {
            let digits = Fingerprint.digits(fingerprint)
            let field = "fingerprints[\(index)]"
            guard let listed = review.certificates.first(where: { OctetText($0.contract.sha256) == digits && $0.contract.signs }) else {
                problems.append(FieldProblem(field: field, message: "is of no signing certificate of the metadata"))
                continue
            }
            if !listed.mayBePinned {
                problems.append(FieldProblem(field: field, message: listed.contract.problem))
            } else if pinned.contains(where: { $0.der == listed.der }) {
                problems.append(FieldProblem(field: field, message: "is there twice"))
            } else {
                pinned.append(listed)
            }
        }
        for (index, fingerprint) in expired.enumerated()
        where !pinned.contains(where: { OctetText($0.contract.sha256) == Fingerprint.digits(fingerprint) }) {
            problems.append(FieldProblem(field: "confirmExpired[\(index)]", message: "is of no certificate that fingerprints names"))
        }
        if !(1...Self.mostCertificates).contains(fingerprints.count) {
            problems.append(FieldProblem(field: "fingerprints", message: "must name 1 to \(Self.mostCertificates) certificates"))
        }
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        var texts: [String] = []
        for listed in pinned { texts.append((try? Cryptography.Certificate(der: listed.der).pem()) ?? "") }
        certificates = texts
    }

    /// - Parameter former: The entry so far; what the metadata does not speak of stays.
    func entry(_ id: String, from former: JsonTree?, with others: JsonTree?) -> JsonTree {
        var tree = former ?? .object([:])
        if case .object(let members) = others {
            for (name, value) in members { tree.set([name], to: value) }
        }
        // With another format people would get new ids.
        if let format = former?["saml"]?["nameIdFormat"], tree["saml"]?["nameIdFormat"] == nil { set(&tree, "nameIdFormat", format) }
        tree.set(["id"], to: .string(id))
        // It has a way of its own now; an integration goes on by the upstream for as long as it says so.
        tree.set(["upstreamOnly"], to: nil)
        if tree["displayName"] == nil {
            let name = review.metadata.displayName ?? Self.host(of: review.metadata.entityID) ?? id
            tree.set(["displayName"], to: .string(name))
        }
        set(&tree, "idpEntityId", .string(review.metadata.entityID))
        setSignOn(&tree)
        setLogout(&tree)
        set(&tree, "signingCertificates", .array(certificates.map { .string($0) }))
        if former?["saml"] == nil, tree["saml"]?["nameIdFormat"] == nil { setNameIDFormat(&tree) }
        return tree
    }

    /// - Returns: The name of the server that an entity id is an address of, which says more than nothing; `nil` where it names none.
    private static func host(of entityID: String) -> String? {
        guard let host = entityID.firstMatch(of: /^https?:\/\/([A-Za-z0-9.-]{1,80})(?:[:\/?#]|$)/)?.1, host.contains("."),
            host.contains(where: { $0.isLetter })
        else { return nil }
        return String(host)
    }

    private func set(_ tree: inout JsonTree, _ name: String, _ value: JsonTree?) { tree.set(["saml", name], to: value) }

    /// The binding stays as it was while the metadata offers it.
    private func setSignOn(_ tree: inout JsonTree) {
        let wasPost = tree["saml"]?["requestBinding"]?.text == "post"
        guard let endpoint = review.endpoint(.singleSignOn, isPost: wasPost) ?? review.signOn else { return }
        set(&tree, "ssoUrl", .string(endpoint.location))
        set(&tree, "requestBinding", .string(endpoint.isPost ? "post" : "redirect"))
    }

    private func setLogout(_ tree: inout JsonTree) {
        let wasPost = tree["saml"]?["logoutBinding"]?.text == "post"
        let endpoint = review.endpoint(.singleLogout, isPost: wasPost) ?? review.logout
        set(&tree, "logoutUrl", endpoint.map { .string($0.location) })
        set(&tree, "logoutBinding", endpoint.map { .string($0.isPost ? "post" : "redirect") })
        set(&tree, "logoutResponseUrl", endpoint?.responseLocation.map { .string($0) })
        if endpoint != nil { set(&tree, "plainLogout", nil) }
    }

    /// Persistent is what is asked for without a setting.
    private func setNameIDFormat(_ tree: inout JsonTree) {
        guard let format = review.nameIDFormat, !format.hasSuffix(":persistent") else { return }
        set(&tree, "nameIdFormat", .string(format))
    }
}
