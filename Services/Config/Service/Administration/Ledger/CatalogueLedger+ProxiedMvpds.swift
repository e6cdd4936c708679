internal import CatalogueFiles
internal import Contracts
internal import Faults

/// What a proxy's list changed.
struct ListReplacement: Sendable {
    let version: VersionRecord
    /// False: the list says what it said before.
    let isNew: Bool
    /// How many MVPDs the former list had, and how many of them have gone.
    let former: Int
    let removed: Int

    /// More than half of the MVPDs have gone: a list that was cut off, rather than an agreement that ended.
    var isAlarming: Bool { removed * 2 > former }
}

extension CatalogueLedger {
    /// Of channels and the MVPDs of one list.
    private static let mostIntegrations = 10_000

    /// The MVPDs that a proxy lists, in the order of the catalogue.
    /// - Throws: `not_found` for what is no proxy.
    func proxiedMvpds(behind proxy: String) throws -> [JsonTree] {
        let document = try newestDocument()
        try Self.requireProxy(proxy, in: document)
        return document.listed(behind: proxy).map(\.tree)
    }

    /// Puts a list in place of the one before, as a version of its own that services have when this is committed.
    /// - Parameter mvpds: Entries of the section `mvpds`.
    /// - Throws: `not_found` for what is no proxy; a `Refused` as its cause: what is wrong with the list.
    func replaceProxiedMvpds(behind proxy: String, with mvpds: [(key: EntityKey, tree: JsonTree)], by author: String) throws -> ListReplacement {
        let newest = try requireNewest()
        let live = try document(newest.documentSHA256)
        try Self.requireProxy(proxy, in: live)
        let former = live.listed(behind: proxy)
        let own = Set(former.map(\.key))
        let problems = mvpds.enumerated().compactMap { index, mvpd in
            guard live[mvpd.key] != nil, !own.contains(mvpd.key) else { return nil as FieldProblem? }
            return FieldProblem(field: "proxiedMvpd[\(index)].id", message: "is '\(mvpd.key.id)', which another MVPD has")
        }
        if !problems.isEmpty { throw Refused.invalid(problems).fault }
        let kept = Set(mvpds.map(\.key))
        let removed = former.map(\.key).filter { !kept.contains($0) }
        var document = live
        for key in removed {
            // What the catalogue says of channels and an MVPD that is gone goes with it.
            for reference in live.references(to: key) { document[reference] = nil }
            document[key] = nil
        }
        for mvpd in mvpds { document[mvpd.key] = mvpd.tree }
        let changes = live.changes(to: document)
        guard !changes.isEmpty else { return ListReplacement(version: newest, isNew: false, former: former.count, removed: 0) }
        let configuration = try DocumentCheck.configuration(of: document, self)
        let derived = configuration.integrations.count { kept.contains(EntityKey(.mvpds, $0.mvpdID)) }
        // Every service holds all of them, and a message of the wire has an end.
        guard derived <= Self.mostIntegrations else {
            throw Refused.invalid("", "comes to \(derived) integrations with channels, more than \(Self.mostIntegrations); name requestorIds").fault
        }
        let programmers = RecordScope.programmers(of: changes, from: live, to: document)
        let added = mvpds.count { !own.contains($0.key) }
        let description = "MVPDs behind \(proxy): \(mvpds.count) listed, \(added) added, \(removed.count) removed"
        let record = try append(
            document, meaning: configuration, author: author, description: description, origin: .push, programmers: programmers)
        try self.record(.proxiedMvpdsReplaced, by: author, description, version: record.version, programmers: programmers)
        let replacement = ListReplacement(version: record, isNew: true, former: former.count, removed: removed.count)
        if replacement.isAlarming {
            let text = "More than half of the MVPDs behind \(proxy) are gone: \(removed.count) of \(former.count)"
            try self.record(.proxiedMvpdsDropped, by: author, text, version: record.version, programmers: programmers)
        }
        return replacement
    }

    private static func requireProxy(_ id: String, in document: CatalogueDocument) throws(Fault) {
        guard let tree = document[EntityKey(.mvpds, id)], tree["proxy"] == nil, tree["saml"] != nil else { throw Fault.notFound("proxy") }
    }
}

extension CatalogueDocument {
    fileprivate func listed(behind proxy: String) -> [Entry] {
        entries(.mvpds).filter { $0.tree["proxy"]?["mvpd"]?.text == proxy && $0.tree["proxy"]?["listed"] == .bool(true) }
    }
}
