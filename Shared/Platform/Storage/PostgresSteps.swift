/// Writes the steps of a store in PostgreSQL from those of the same store in a file, so that each table has one text.
///
/// A step of PostgreSQL stands for one or several of the file's. The first one makes the tables as the last of its steps leaves them, without the
/// way there. Triggers, and statements that change rows, are not carried over: each engine's own are given beside.
package struct PostgresSteps: Sendable {
    /// The columns of text that PostgreSQL compares and orders by octets. The others follow the database, which compares for equality by octets too.
    package enum Collated: Sendable {
        case all
        /// Those of primary keys.
        case keys
    }

    private let source: [Migration]
    private let collated: Collated
    private var carried = 0
    private var made: [Migration] = []
    private var tables = SchemaTables()

    /// - Parameters:
    ///   - source: The steps of the file, all that this version knows, oldest first.
    ///   - collated: Never changes for a released store.
    package init(of source: [Migration], collated: Collated = .all) {
        (self.source, self.collated) = (source, collated)
    }

    /// Adds a step for those of the file after the ones before, up to one of them.
    /// - Parameters:
    ///   - name: As stores have it recorded: it never changes.
    ///   - last: The name of the last one of the file.
    ///   - omitted: Tables and indexes that PostgreSQL does without.
    ///   - replaced: In PostgreSQL's words, tables that differ on purpose, by name.
    ///   - own: Further statements in PostgreSQL's words; each may run again.
    package func step(
        _ name: String, through last: String, without omitted: Set<String> = [], replacing replaced: [String: String] = [:], and own: [String] = []
    ) -> PostgresSteps {
        guard let end = source.firstIndex(where: { $0.name == last }), end >= carried else {
            preconditionFailure("PostgreSQL's step \(name): \(last) is no step of the file's, or an earlier one stands for it")
        }
        var next = self
        let isFirst = carried == 0
        for migration in source[carried...end] {
            for statement in migration.statements.flatMap(SchemaWords.statements(of:)) {
                next.tables.apply(statement, of: migration.name, mayMoveRows: isFirst)
            }
        }
        next.carried = end + 1
        let derived = next.tables.takeStatements(collated: collated, without: omitted, replacing: replaced)
        next.made.append(Migration(name, statements: derived + own, isAdditive: !isFirst && source[carried...end].allSatisfy(\.isAdditive)))
        return next
    }

    /// Adds a step that only PostgreSQL has: triggers, for example.
    /// - Parameter own: In PostgreSQL's words; each may run again.
    package func step(_ name: String, own: [String]) -> PostgresSteps {
        var next = self
        next.made.append(Migration(name, statements: own, isAdditive: true))
        return next
    }

    /// All steps. Those of the file that no step stands for yet have one of their own under their own names.
    package var all: [Migration] { source[carried...].reduce(self) { $0.step($1.name, through: $1.name) }.made }
}

/// The tables and indexes that the file's steps have made so far, and the statements that make of the tables before them what they are now.
struct SchemaTables: Sendable {
    private struct Table: Sendable {
        var parts: [SchemaWords]
        var isNew = true
        /// Columns that came since the statements were last taken.
        var added: [SchemaWords] = []
    }

    private struct Index: Sendable {
        let table: String
        let statement: SchemaWords
        var isNew = true
    }

    /// Of tables and indexes, as they came; a table that takes another's place stands where that stood.
    private var order: [String] = []
    private var tables: [String: Table] = [:]
    private var indexes: [String: Index] = [:]
    /// `DROP` of what was there before.
    private var drops: [String] = []

    /// - Parameter mayMoveRows: True where there are no rows yet.
    mutating func apply(_ statement: SchemaWords, of step: String, mayMoveRows: Bool) {
        let words = statement.words.map(\.text)
        switch (words[0], words.count > 1 ? words[1] : "") {
        case ("CREATE", "TABLE"):
            add(words[2])
            tables[words[2]] = Table(parts: statement.columns)
        case ("CREATE", "INDEX"): add(Index(table: words[4], statement: statement), words[2])
        case ("CREATE", "UNIQUE"): add(Index(table: words[5], statement: statement), words[3])
        case ("CREATE", "TRIGGER"), ("DROP", "TRIGGER"): break
        case ("DROP", "INDEX"):
            if indexes.removeValue(forKey: words[2])?.isNew == false { drops.append("DROP INDEX IF EXISTS \(words[2])") }
        case ("DROP", "TABLE"):
            if tables.removeValue(forKey: words[2])?.isNew == false { drops.append("DROP TABLE IF EXISTS \(words[2])") }
            indexes = indexes.filter { $0.value.table != words[2] }
        case ("ALTER", "TABLE") where words[3] == "ADD":
            let column = SchemaWords(words: Array(statement.words[5...]))
            let parts = tables[words[2]]?.parts ?? []
            // Before what holds for the whole table.
            let place = parts.firstIndex { ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains($0.words[0].text) } ?? parts.count
            tables[words[2]]?.parts.insert(column, at: place)
            tables[words[2]]?.added.append(column)
        case ("ALTER", "TABLE") where words[3] == "RENAME":
            precondition(mayMoveRows, "\(step) rebuilds \(words[5]): give PostgreSQL's step by hand")
            add(words[5])
            tables[words[5]] = tables.removeValue(forKey: words[2])
        case ("INSERT", _), ("UPDATE", _):
            precondition(mayMoveRows, "\(step) changes rows: give PostgreSQL's step by hand")
        default: preconditionFailure("\(step) has a statement that is not carried over to PostgreSQL: \(statement.text)")
        }
    }

    private mutating func add(_ name: String) {
        if !order.contains(name) { order.append(name) }
    }

    private mutating func add(_ index: Index, _ name: String) {
        add(name)
        indexes[name] = index
    }

    /// The statements since the last time, each of which may run again.
    mutating func takeStatements(collated: PostgresSteps.Collated, without omitted: Set<String>, replacing replaced: [String: String]) -> [String] {
        defer {
            drops = []
            for name in tables.keys {
                tables[name]?.isNew = false
                tables[name]?.added = []
            }
            for name in indexes.keys { indexes[name]?.isNew = false }
        }
        let statements = order.flatMap { name -> [String] in
            if omitted.contains(name) { return [] }
            if let table = tables[name] {
                let words = PostgresWords(keys: collated == .keys ? keys(of: table.parts) : nil)
                guard table.isNew else { return table.added.map { "ALTER TABLE \(name) ADD COLUMN IF NOT EXISTS \(words.text($0))" } }
                return [replaced[name] ?? "CREATE TABLE IF NOT EXISTS \(name) (\(table.parts.map(words.text).joined(separator: ", ")))"]
            }
            guard var statement = indexes[name]?.statement, indexes[name]?.isNew == true else { return [] }
            let place = statement.words.firstIndex { $0.text == "INDEX" }.map { $0 + 1 } ?? 0
            statement.words.insert(contentsOf: ["IF", "NOT", "EXISTS"].map { SchemaWords.Word(text: $0, isApart: true) }, at: place)
            return [PostgresWords(keys: nil).text(statement)]
        }
        return drops + statements
    }

    /// The columns of the primary key.
    private func keys(of parts: [SchemaWords]) -> Set<String> {
        Set(
            parts.flatMap { part -> [String] in
                if part.begins("PRIMARY", "KEY") { return part.columns.compactMap { $0.words.first?.text } }
                let isKey = zip(part.words, part.words.dropFirst()).contains { $0.text == "PRIMARY" && $1.text == "KEY" }
                return isKey ? [part.words[0].text] : []
            })
    }
}

/// PostgreSQL's words for those of SQLite.
private struct PostgresWords {
    /// Columns whose text is compared by octets; `nil`: all.
    let keys: Set<String>?

    private static let reserved: Set = ["only", "user"]

    /// - Parameter part: A column, a constraint or an index.
    func text(_ part: SchemaWords) -> String {
        let column = part.words.first?.text ?? ""
        let counts = part.words.contains { $0.text == "AUTOINCREMENT" }
        var result = part
        result.words = part.words.compactMap { word in
            var word = word
            switch word.text {
            case "AUTOINCREMENT": return nil
            case "INTEGER": word.text = counts ? "BIGSERIAL" : "BIGINT"
            case "BLOB": word.text = "BYTEA"
            case "TEXT": word.text = keys?.contains(column) ?? true ? #"TEXT COLLATE "C""# : "TEXT"
            case let octets where octets.hasPrefix("x'"):
                let digits = octets.dropFirst(2).dropLast()
                word.text = digits.isEmpty ? "''" : #"'\x\#(digits)'"#
            case let name where Self.reserved.contains(name): word.text = "\"\(name)\""
            default: break
            }
            return word
        }
        return result.text
    }
}
