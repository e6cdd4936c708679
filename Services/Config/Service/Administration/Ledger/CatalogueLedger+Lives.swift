internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// The object of a life: an id, or an identity that apps bring along, which another programmer may have later.
struct LivingKey: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case requestor, application, mvpd
        /// A digest of `legacyStatements`.
        case statement
        /// A `clientId` of `clients`.
        case client
        /// An MVPD that shares the callback of OAuth records.
        case sharer
    }

    let kind: Kind
    let id: OctetText

    init(_ kind: Kind, _ id: String) {
        self.kind = kind
        self.id = OctetText(id)
    }
}

/// The time that something has one owner. It goes on where an operator moves it to another owner. It also goes on where it is away and comes back
/// with its last owner. With another owner a new one begins.
struct EntryLife: Hashable, Sendable {
    /// A programmer; of an MVPD the proxy in whose list it is, or empty: operators.
    var owner: String
    /// 0: since ever.
    let since: Timestamp
    /// `nil`: it is in the newest version.
    var until: Timestamp?
}

extension CatalogueDocument {
    /// The owners of everything that can have a life.
    func livingOwners() -> [LivingKey: String] {
        var owners: [LivingKey: String] = [:]
        for entry in entries(.requestors) { owners[LivingKey(.requestor, entry.key.id)] = entry.tree["programmer"]?.text ?? "" }
        for entry in entries(.mvpds) {
            let proxy = entry.tree["proxy"]
            let owner = proxy?["listed"] == .bool(true) ? proxy?["mvpd"]?.text ?? "" : ""
            owners[LivingKey(.mvpd, entry.key.id)] = owner
            if entry.tree["oauth"]?["callback"] == .string("shared") { owners[LivingKey(.sharer, entry.key.id)] = owner }
        }
        for entry in entries(.applications) {
            let programmer = entry.tree["programmer"]?.text ?? ""
            owners[LivingKey(.application, entry.key.id)] = programmer
            for digest in entry.tree["legacyStatements"]?.texts ?? [] { owners[LivingKey(.statement, digest)] = programmer }
            for client in entry.tree["clients"]?.elements ?? [] {
                if let id = client["clientId"]?.text { owners[LivingKey(.client, id)] = programmer }
            }
        }
        return owners
    }
}

extension CatalogueLedger {
    private static let counted = "lives"

    /// The life that everything has now, or had last.
    func lives() throws -> [LivingKey: EntryLife] {
        let rows = try database.all("SELECT kind, id, owner, since_ms, until_ms FROM entry_life ORDER BY since_ms") { columns in
            (
                kind: columns.next() as String, id: columns.next() as String,
                life: EntryLife(owner: columns.next(), since: columns.next(), until: columns.next())
            )
        }
        var lives: [LivingKey: EntryLife] = [:]
        for row in rows {
            // The row is of a newer release.
            guard let kind = LivingKey.Kind(rawValue: row.kind) else { continue }
            lives[LivingKey(kind, row.id)] = row.life
        }
        return lives
    }

    /// Takes the versions into account that came since the last time, whichever release made them.
    /// - Returns: As `lives`.
    func updatedLives() throws -> [LivingKey: EntryLife] {
        var lives = try lives()
        let known: Int64? = try database.value("SELECT value FROM progress WHERE name = ?", [Self.counted])
        let newer = try database.all(
            "SELECT version, created_at_ms, document_sha256 FROM version WHERE version > ? ORDER BY version", [known ?? -1]
        ) { (version: $0.next() as Int64, createdAt: $0.next() as Timestamp, sha256: $0.next() as String) }
        guard let last = newer.last else { return lives }
        var isFirst = known == nil
        var former: String?
        for version in newer {
            if version.sha256 == former { continue }
            former = version.sha256
            // The first entries of a store may have been there before the store.
            let moment = isFirst ? Timestamp(milliseconds: 0) : version.createdAt
            try take(try document(version.sha256).livingOwners(), into: &lives, at: moment)
            isFirst = false
        }
        try run(
            "INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [Self.counted, last.version])
        return lives
    }

    private func take(_ owners: [LivingKey: String], into lives: inout [LivingKey: EntryLife], at moment: Timestamp) throws {
        for (key, owner) in owners {
            var life: EntryLife
            switch lives[key] {
            case let known? where known.until == nil || known.owner == owner:
                guard known.until != nil || known.owner != owner else { continue }
                life = known
                (life.owner, life.until) = (owner, nil)
            // After everything of the former one, also by a clock that was set back.
            case let known?: life = EntryLife(owner: owner, since: max(moment, (known.until ?? known.since) + .milliseconds(1)))
            case nil: life = EntryLife(owner: owner, since: moment)
            }
            lives[key] = life
            try keep(life, of: key)
        }
        for (key, life) in lives where life.until == nil && owners[key] == nil {
            var ended = life
            ended.until = moment
            lives[key] = ended
            try keep(ended, of: key)
        }
    }

    private func keep(_ life: EntryLife, of key: LivingKey) throws {
        try run(
            """
            INSERT INTO entry_life (kind, id, owner, since_ms, until_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (kind, id, since_ms) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
            """, [key.kind.rawValue, key.id.text, life.owner, life.since, life.until])
    }
}

extension Configuration {
    /// Says since when programmers have what the configuration holds.
    mutating func tell(_ lives: [LivingKey: EntryLife]) {
        func since(_ kind: LivingKey.Kind, _ id: String) -> UInt64 {
            lives[LivingKey(kind, id)].map { UInt64(clamping: $0.since.milliseconds) } ?? 0
        }
        for index in requestors.indices { requestors[index].sinceMilliseconds = since(.requestor, requestors[index].id) }
        for index in mvpds.indices { mvpds[index].sinceMilliseconds = since(.mvpd, mvpds[index].id) }
        for index in applications.indices {
            let statements = applications[index].legacyStatements.map { since(.statement, $0) }
            if statements.contains(where: { $0 != 0 }) { applications[index].legacySinceMilliseconds = statements }
            for client in applications[index].clients.indices {
                applications[index].clients[client].sinceMilliseconds = since(.client, applications[index].clients[client].clientID)
            }
        }
    }
}

/// The changes of a proxy's list.
struct ListReplacement: Sendable {
    let version: VersionRecord
    /// False: the list says what it said before.
    let isNew: Bool
    /// The number of MVPDs that the former list had, and the number of them that have gone.
    let former: Int
    let removed: Int

    /// More than half of the MVPDs have gone: a list that was cut off, rather than an agreement that ended.
    var isAlarming: Bool { removed * 2 > former }
}

extension CatalogueLedger {
    /// The limit for integrations of channels with the MVPDs of one list.
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
    /// - Throws: `not_found` for what is no proxy; a `DocumentRejection` as its cause: what is wrong with the list.
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
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        let kept = Set(mvpds.map(\.key))
        let removed = former.map(\.key).filter { !kept.contains($0) }
        var document = live
        for key in removed {
            // The catalogue's references from channels to an MVPD that is gone go with it.
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
            throw DocumentRejection.invalid(
                "", "comes to \(derived) integrations with channels, more than \(Self.mostIntegrations); name requestorIds"
            ).fault
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
