internal import CatalogueFiles

/// Which programmer an entry belongs to.
extension CatalogueDocument {
    enum Owner: Hashable, Sendable {
        case programmer(String)
        /// MVPD records: read by everyone.
        case everyone
        /// What only operators see.
        case operators
    }

    func owner(of key: EntityKey) -> Owner {
        switch key.section {
        case .programmers: .programmer(key.id)
        case .requestors, .applications: .programmer(self[key]?["programmer"]?.text ?? "")
        case .integrations: owner(of: EntityKey(.requestors, key.requestor))
        case .mvpds: .everyone
        case .platformIdentityIssuers, .serviceTokenIssuers, .upstreams: .operators
        }
    }

    /// The entries that name this one.
    func references(to key: EntityKey) -> [EntityKey] {
        CatalogueSection.allCases.flatMap { section in
            entries(section).filter { $0.key != key && Self.refers($0, to: key) }.map(\.key)
        }
    }

    private static func refers(_ entry: Entry, to key: EntityKey) -> Bool {
        switch (key.section, entry.key.section) {
        case (.programmers, .requestors), (.programmers, .applications): entry.tree["programmer"]?.text == key.id
        case (.programmers, .serviceTokenIssuers): entry.tree["programmers"]?.texts.contains(key.id) == true
        case (.requestors, .integrations): entry.key.requestor == key.id
        case (.requestors, .applications): entry.tree["requestors"]?.texts.contains(key.id) == true
        case (.requestors, .upstreams): entry.tree["clients"]?.elements.contains { $0["requestors"]?.texts.contains(key.id) == true } == true
        case (.upstreams, .requestors): entry.tree["upstream"]?["upstream"]?.text == key.id
        case (.mvpds, .integrations): entry.key.mvpd == key.id
        case (.requestors, .mvpds): entry.tree["testSignIn"]?["requestor"]?.text == key.id
        case (.mvpds, .mvpds): entry.tree["proxy"]?["mvpd"]?.text == key.id
        default: false
        }
    }

    /// A document with an integration and what it stands on alone: its ends, the requestor's programmer, and the MVPD through which its own is reached.
    func around(integration key: EntityKey) -> CatalogueDocument {
        let (requestor, mvpd) = (EntityKey(.requestors, key.requestor), EntityKey(.mvpds, key.mvpd))
        let tested = testedIntegration(mvpd)
        // An upstream names requestors, and they name upstreams.
        if self[requestor]?["upstream"] != nil {
            return filtered { [.programmers, .requestors, .upstreams].contains($0.section) || [key, mvpd, tested].contains($0) }
        }
        // A list of a proxy names requestors too, and so does a test user.
        let requestors =
            [requestor] + (self[mvpd]?["proxy"]?["requestors"]?.texts ?? []).map { EntityKey(.requestors, $0) }
            + (tested.map { [EntityKey(.requestors, $0.requestor)] } ?? [])
        let programmers = requestors.map { EntityKey(.programmers, self[$0]?["programmer"]?.text ?? "") }
        let needed = Set([key, mvpd, tested ?? key, EntityKey(.mvpds, self[mvpd]?["proxy"]?["mvpd"]?.text ?? "")] + requestors + programmers)
        return filtered { needed.contains($0) }
    }

    /// What a change of an entry can be judged by, where all else is good: integrations refer to a requestor and an MVPD, and nothing refers to them. A catalogue has
    /// tens of thousands of them.
    func concerned(by key: EntityKey) -> CatalogueDocument {
        let tested = Set(entries(.mvpds).compactMap { testedIntegration($0.key) })
        switch key.section {
        case .integrations: return around(integration: key)
        case .requestors: return filtered { $0.section != .integrations || $0.requestor == key.id || tested.contains($0) }
        case .mvpds:
            // What signs people in at an MVPD may be its proxy's.
            let behind = entries(.mvpds).filter { $0.tree["proxy"]?["mvpd"]?.text == key.id }
            let mvpds = Set(([key] + behind.map(\.key)).map { OctetText($0.id) })
            return filtered { $0.section != .integrations || mvpds.contains(OctetText($0.mvpd)) || tested.contains($0) }
        case .upstreams: return self
        case .programmers, .applications, .platformIdentityIssuers, .serviceTokenIssuers:
            return filtered { $0.section != .integrations || tested.contains($0) }
        }
    }

    /// Where the test user of an MVPD signs in.
    private func testedIntegration(_ mvpd: EntityKey) -> EntityKey? {
        self[mvpd]?["testSignIn"]?["requestor"]?.text.map { EntityKey(.integrations, "\($0)/\(mvpd.id)") }
    }
}
