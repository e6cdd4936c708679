internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Storage

/// What a life is of: an id, or an identity that apps bring along, which another programmer may have later.
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

/// The time that something has one owner. It goes on where an operator moves it to another owner, and where it is away and comes back with the owner that it had last.
/// With another owner a new one begins.
struct EntryLife: Hashable, Sendable {
    /// A programmer; of an MVPD the proxy in whose list it is, or empty: operators.
    var owner: String
    /// 0: since ever.
    let since: Timestamp
    /// `nil`: it is in the newest version.
    var until: Timestamp?
}

extension CatalogueDocument {
    /// Whose everything is that can have a life.
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
            // Of a newer release.
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
            // What a store begins with may have been there before the store.
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
