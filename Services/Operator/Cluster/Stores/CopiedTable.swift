internal import CommandKit
internal import Cryptography
internal import Storage
internal import StoragePostgres
internal import StorageSqlite

/// A table that a file and a database have in common.
struct CopiedTable {
    let name: String
    private let columns: [PostgresMaintenance.Column]
    private let file: SqliteMaintenance
    private let database: PostgresMaintenance

    /// A database that was never used has at most so many rows in a table.
    private static let ownRows = 100

    /// All of them, those that others refer to first.
    /// - Throws: `CommandFailure` when the database lacks a table or a column.
    static func all(_ file: SqliteMaintenance, _ database: PostgresMaintenance) throws -> [CopiedTable] {
        let known = Set(try database.tables())
        var waiting: [(name: String, parents: Set<String>)] = try file.tables().map { ($0, try file.parents(of: $0).subtracting([$0])) }
        var tables: [CopiedTable] = []
        while !waiting.isEmpty {
            guard let next = waiting.firstIndex(where: { table in !waiting.contains { table.parents.contains($0.name) } }) else {
                throw CommandFailure("the tables \(waiting.map(\.name).joined(separator: ", ")) refer to one another")
            }
            let name = waiting.remove(at: next).name
            guard known.contains(name) else {
                if try file.count(of: name) == 0 { continue }
                throw CommandFailure("\(database.place) has no table \(name)", advice: "use the programs of one release for both")
            }
            tables.append(try CopiedTable(name, file, database))
        }
        return tables
    }

    private init(_ name: String, _ file: SqliteMaintenance, _ database: PostgresMaintenance) throws {
        (self.name, self.file, self.database) = (name, file, database)
        let theirs = try database.columns(of: name)
        columns = try file.columns(of: name).map { column in
            guard let found = theirs.first(where: { $0.name == column.name }) else {
                throw CommandFailure("\(database.place) has no column \(name).\(column.name)", advice: "use the programs of one release for both")
            }
            return found
        }
    }

    /// True when the database has any of it.
    var hasRows: Bool { get throws { try database.count(of: name) > 0 } }

    private static let onlyEmpty = "only an empty database is filled: drop it and make it anew"

    /// Checks that there is nothing but what a new schema has by itself.
    /// - Throws: `CommandFailure` when there are rows that the file has not.
    func requireOwnRows() throws {
        let count = try database.count(of: name)
        guard count > 0 else { return }
        var own: Set<[UInt64]> = []
        if count <= Self.ownRows { try eachOfFile { own.insert(RowsDigest.digest($0)) } }
        var isOwn = count <= Self.ownRows
        try database.eachRow(of: name, columns) { row in isOwn = isOwn && own.contains(RowsDigest.digest(row)) }
        guard isOwn else {
            throw CommandFailure("\(database.place) has \(count) rows in \(name) already", advice: Self.onlyEmpty)
        }
    }

    /// Makes room for the rows of the file.
    /// - Throws: `CommandFailure` when they stay, as those of a history do.
    func removeRows() throws {
        guard try hasRows else { return }
        do {
            try database.run("DELETE FROM \(PostgresMaintenance.quoted(name))")
        } catch {
            throw CommandFailure("\(database.place) has rows in \(name) already (\(PlainReason.of(error)))", advice: Self.onlyEmpty)
        }
    }

    /// - Returns: The digest of the rows that were sent.
    func copy() throws -> RowsDigest {
        var digest = RowsDigest()
        try database.copy(into: name, columns.map(\.name)) { add in
            try eachOfFile { row in
                digest.add(row)
                try add(row)
            }
        }
        return digest
    }

    /// The digest of the file's rows.
    func sent() throws -> RowsDigest {
        var digest = RowsDigest()
        try eachOfFile { digest.add($0) }
        return digest
    }

    /// The digest of the database's rows.
    func found() throws -> RowsDigest {
        var digest = RowsDigest()
        try database.eachRow(of: name, columns) { digest.add($0) }
        return digest
    }

    private func eachOfFile(_ body: ([StoredValue]) throws -> Void) throws {
        try file.eachRow(of: name, columns.map(\.name)) { row in
            try body(try columns.enumerated().map { try value(row, $0, $1) })
        }
    }

    private func value(_ row: any RowSource, _ index: Int, _ column: PostgresMaintenance.Column) throws -> StoredValue {
        if row.isNull(index) { return .null }
        switch column.kind {
        case .integer: return .integer(row.integer(index))
        case .bytes: return .bytes(row.bytes(index))
        case .text:
            let octets = row.bytes(index)
            guard !octets.contains(0), let text = String(validating: octets, as: UTF8.self) else {
                throw CommandFailure(
                    "\(name).\(column.name) has a text that PostgreSQL cannot keep, with U+0000 or not in UTF-8",
                    advice: "remove the row: sqlite3 \(file.file) \"DELETE FROM \(name) WHERE instr(\(column.name), char(0))\"")
            }
            return .text(text)
        }
    }
}

/// The digest of a table's rows, in whatever order they are read: their number, and the sum of the digests of each.
struct RowsDigest: Equatable {
    private(set) var rows = 0
    private var words: [UInt64] = [0, 0, 0, 0]

    mutating func add(_ row: [StoredValue]) {
        rows += 1
        for (index, word) in Self.digest(row).enumerated() { words[index] &+= word }
    }

    /// The digest of one row, as four words.
    static func digest(_ row: [StoredValue]) -> [UInt64] {
        var octets: [UInt8] = []
        func append(_ kind: UInt8, _ content: some Collection<UInt8>) {
            octets.append(kind)
            withUnsafeBytes(of: UInt64(content.count).bigEndian) { octets.append(contentsOf: $0) }
            octets.append(contentsOf: content)
        }
        for value in row {
            switch value {
            case .null: append(0, [])
            case .integer(let number): append(1, withUnsafeBytes(of: number.bigEndian) { Array($0) })
            case .text(let text): append(2, text.utf8)
            case .bytes(let bytes): append(3, bytes)
            }
        }
        let hash = SHA256.hash(octets)
        return (0..<4).map { word in hash[word * 8..<word * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// Sixteen digits of it.
    var text: String {
        let digits = String(words[0], radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
