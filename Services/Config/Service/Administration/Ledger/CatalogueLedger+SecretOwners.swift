internal import CatalogueFiles
internal import Contracts
internal import Storage

/// Whose a file of a secret is. One that is not kept is operators'.
struct FileOwner: Hashable, Sendable {
    let reference: String
    /// Empty: operators'.
    let programmer: String
    /// Nobody has decided: entries of several named it.
    let isOpen: Bool
}

extension CatalogueLedger {
    private static let settled = "secret owners"
    private static let told = "secret owners told"

    /// By reference.
    func fileOwners() throws -> [FileOwner] {
        try database.all("SELECT reference, programmer, is_open FROM secret_owner ORDER BY reference") {
            FileOwner(reference: $0.next(), programmer: $0.next(), isOpen: $0.next())
        }
    }

    /// Those that are a programmer's.
    func programmersOfFiles() throws -> [OctetText: String] {
        Dictionary(texts: try fileOwners().filter { !$0.programmer.isEmpty }.map { ($0.reference, $0.programmer) }) { first, _ in first }
    }

    /// Once for each store: whose the files are that the newest version names.
    func settleFileOwners() throws {
        guard try !database.hasRow("SELECT 1 FROM progress WHERE name = ?", [Self.settled]) else { return }
        try settleFileOwners(in: try newestDocument())
        try run("INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [Self.settled, now])
    }

    /// Gives the files about which nothing was said to those whose entries name them: to the one programmer, or to operators. Only for what operators wrote: a whole
    /// catalogue, or the one that there was before owners were kept.
    func settleFileOwners(in document: CatalogueDocument) throws {
        let known = Set(texts: try fileOwners().map(\.reference))
        for (reference, holders) in document.secretHolders() where !known.contains(reference) {
            let programmers = holders.compactMap { if case .programmer(let id) = $0 { id } else { nil } }
            guard !programmers.isEmpty else { continue }
            let isOpen = holders.count > 1
            try keep(FileOwner(reference: reference.text, programmer: isOpen ? "" : programmers[0], isOpen: isOpen))
        }
    }

    /// The files that an upgrade gave to programmers, because their entries alone named them; empty when that was told before, and in a store that has had owners since it began.
    func takeDerivedOwners() throws -> [FileOwner] {
        let settledAt: Int64? = try database.value("SELECT value FROM progress WHERE name = ?", [Self.settled])
        guard let settledAt, try !database.hasRow("SELECT 1 FROM progress WHERE name = ?", [Self.told]) else { return [] }
        try run("INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [Self.told, now])
        guard try database.hasRow("SELECT 1 FROM version WHERE created_at_ms < ?", [settledAt]) else { return [] }
        return try database.all(
            "SELECT reference, programmer, is_open FROM secret_owner WHERE changed_at_ms = ? AND programmer <> '' ORDER BY reference", [settledAt]
        ) { FileOwner(reference: $0.next(), programmer: $0.next(), isOpen: $0.next()) }
    }

    func keep(_ owner: FileOwner) throws {
        try run(
            """
            INSERT INTO secret_owner (reference, programmer, is_open, changed_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (reference) DO UPDATE SET programmer = excluded.programmer, is_open = excluded.is_open, changed_at_ms = excluded.changed_at_ms
            """, [owner.reference, owner.programmer, owner.isOpen, now])
    }
}
