import Foundation
import Testing

/// The statements of the services keep to what SQLite and PostgreSQL both understand, as far as their texts tell. Schemas are each engine's own.
@Suite("The common subset of SQL")
struct CommonSubsetTests {
    @Test("Every statement of the services keeps it")
    func services() throws {
        let statements = try SourceTexts.services().flatMap { file in file.literals.filter(SqlText.isStatement).map { (file.name, SqlText($0)) } }
        #expect(statements.count > 150, "the sources are found")
        #expect(try SourceTexts.services().reduce(0) { $0 + $1.pairs } <= 1, "two texts for one statement are the exception")
        for (file, statement) in statements {
            #expect(statement.complaints == [], "\(file): \(statement.text)")
        }
    }

    @Test("Conditions that are put into statements keep it too")
    func fragments() throws {
        for file in try SourceTexts.services() {
            for literal in file.literals where SqlText.isPart(literal) {
                #expect(SqlText(literal).foreignWords == [], "\(file.name): \(literal)")
            }
        }
    }

    @Test(
        "What only one engine knows is found",
        arguments: [
            "SELECT rowid, a FROM t", "INSERT OR REPLACE INTO t (a) VALUES (?)", "REPLACE INTO t (a) VALUES (?)", "SELECT * FROM t",
            "SELECT ifnull(a, 0) FROM t", "SELECT a FROM t WHERE strftime('%s', a) > ?", "SELECT a FROM t WHERE a GLOB ?",
            "SELECT json_extract(a, ?) FROM t", "SELECT a FROM t WHERE a IS ?", "INSERT INTO t (a) VALUES (?) ON CONFLICT DO NOTHING",
            "SELECT a FROM t WHERE a = ? COLLATE NOCASE", "SELECT max(a, b) FROM t", "SELECT a FROM t WHERE instr(a, ?) > 0",
            "SELECT EXISTS (SELECT 1 FROM t)",
            "DELETE FROM t WHERE a = ? RETURNING *", "SELECT a FROM t WHERE a = ?1 AND b = ?", "SELECT user FROM t",
            "UPDATE published SET a = ? WHERE only = 1",
            "SELECT a FROM (SELECT a FROM t) WHERE a > ?", "SELECT a FROM t WHERE a == ?", "SELECT a FROM t WHERE a = true",
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE b <= ?",
        ])
    func refuses(text: String) {
        #expect(SqlText.isStatement(text))
        #expect(SqlText(text).complaints != [])
    }

    @Test(
        "What both know is let through",
        arguments: [
            "SELECT max(a) FROM t WHERE a IS NOT DISTINCT FROM ? AND b IS NOT NULL", "SELECT \"user\" FROM t",
            "SELECT coalesce((SELECT max(a) FROM t WHERE b = ?1), 0) FROM (SELECT b FROM s) AS x WHERE b = ?1",
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE t.b <= ?",
            "SELECT a FROM t WHERE replace(' ' || a || ' ', ?, '') <> a LIMIT ?",
        ])
    func allows(text: String) {
        #expect(SqlText(text).complaints == [])
    }

    @Test("Nobody but an engine's module knows its library", arguments: [("StorageSqlite", "import GRDB"), ("StoragePostgres", "import CPostgres")])
    func engineAlone(module: String, words: String) throws {
        let files = try SourceTexts.swiftFiles(["Services", "Shared"]).filter { !$0.path.contains("/Shared/Platform/\(module)/") }
        #expect(files.count > 500)
        for file in files {
            #expect(try !String(contentsOf: file, encoding: .utf8).contains(words), "\(file.path)")
        }
    }
}

/// A text of SQL, or a part of one.
private struct SqlText {
    let text: String

    init(_ text: String) { self.text = text }

    static func isStatement(_ text: String) -> Bool {
        text.prefixMatch(of: /\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\s/) != nil
    }

    static func isPart(_ text: String) -> Bool { !isStatement(text) && text.contains(/[=<>] \?|\bIS \?|ORDER BY|\bSELECT\b|\(.*\?.*\)/) }

    /// The parts that one of the engines does not understand, or takes otherwise.
    var complaints: [String] {
        var found = foreignWords
        func note(_ what: String, _ isSo: Bool) { if isSo { found.append(what) } }
        note("all columns, whichever they are", text.contains(/(SELECT|RETURNING)\s+\*/))
        note("a conflict with whatever key", text.contains(/ON CONFLICT\s+DO/))
        note("EXISTS as a value", text.contains(/SELECT\s+EXISTS/))
        note("two kinds of places", text.contains(/\?\d/) && text.contains(/\?(?!\d)/))
        note("a reserved word as a name", bare.contains(Self.reserved))
        note("a subselect without a name", hasNamelessSubselect)
        note("a column of either row", hasUnqualifiedCondition)
        return found
    }

    /// Words and functions of one engine.
    var foreignWords: [String] { Self.foreign.filter { text.contains($0.1) }.map(\.0) }

    private static var foreign: [(String, Regex<Substring>)] {
        [
            ("row ids", /\b(?:rowid|_rowid_)\b/), ("OR REPLACE and its like", /\bINSERT OR\b|\bUPDATE OR\b|^\s*REPLACE INTO\b/),
            ("words of SQLite", /\bWITHOUT ROWID\b|\bCOLLATE NOCASE\b|\bGLOB\b|\bPRAGMA\b|\bAUTOINCREMENT\b|\bINDEXED BY\b/),
            (
                "functions of SQLite",
                /\b(?:ifnull|iif|strftime|julianday|unixepoch|printf|instr|typeof|hex|unhex|randomblob|zeroblob|group_concat|json_\w+|total_changes|last_insert_rowid)\(/
            ),
            ("words of PostgreSQL", /\bILIKE\b|\bSKIP LOCKED\b|::|\$\d|\bANY \(/), ("IS with a value", /\bIS(?: NOT)? \?/),
            ("the greater of two", /\b(?:max|min)\([^()]*,/), ("another equals sign", /==/),
            ("truth values", /\b(?:true|TRUE|false|FALSE)\b(?=\s*(?:$|AND|OR|\)|,))/),
        ]
    }

    /// PostgreSQL's, in small letters: words of SQL are in capitals here.
    private static var reserved: Regex<Substring> {
        /(?:^|[^\w.])(?:all|analyze|and|any|array|as|asc|both|case|cast|check|collate|column|constraint|create|default|desc|distinct|do|else|end|except|fetch|for|foreign|from|grant|group|having|in|into|leading|limit|not|null|offset|on|only|or|order|primary|references|returning|select|some|table|then|to|trailing|union|unique|user|using|variadic|when|where|window|with)(?!\w)/
    }

    /// Without what stands in quotes.
    private var bare: String { text.replacing(/'[^']*'|"[^"]*"/, with: "") }

    private var hasNamelessSubselect: Bool {
        for match in text.matches(of: /FROM\s+\(SELECT/) {
            var (depth, index) = (0, match.range.upperBound)
            index = text[..<index].lastIndex(of: "(") ?? index
            while index < text.endIndex {
                if text[index] == "(" { depth += 1 }
                if text[index] == ")" { depth -= 1 }
                index = text.index(after: index)
                if depth == 0 { break }
            }
            if text[index...].prefixMatch(of: /\s+AS\s/) == nil { return true }
        }
        return false
    }

    /// In the condition of DO UPDATE a column may be that of the table or of the new row.
    private var hasUnqualifiedCondition: Bool {
        guard let update = text.firstRange(of: /DO UPDATE SET/), let condition = text[update.upperBound...].firstRange(of: /\bWHERE\b/) else {
            return false
        }
        return text[condition.upperBound...].contains(/(?:^|[^\w.])[a-z_]+\b(?!\.)/)
    }
}

/// Sources with their string literals.
private struct SourceTexts {
    let name: String
    let literals: [String]
    /// Statements with a text for each engine, which is in its own words.
    let pairs: Int

    /// Those of the services that use the store, without their schemas.
    static func services() throws -> [SourceTexts] {
        try swiftFiles(["Services"]).compactMap { url in
            let source = try String(contentsOf: url, encoding: .utf8)
            guard source.contains("import Storage\n"), !url.lastPathComponent.contains("Schema") else { return nil }
            let pair = /Statement\(\s*sqlite: "[^"\n]*",\s*postgres: "[^"\n]*"\)/
            return SourceTexts(
                name: url.lastPathComponent, literals: literals(of: source.replacing(pair, with: "")), pairs: source.matches(of: pair).count)
        }
    }

    static func swiftFiles(_ folders: [String]) throws -> [URL] {
        let top = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        return folders.flatMap { folder in
            FileManager.default.enumerator(at: top.appending(path: folder), includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        }.filter { $0.pathExtension == "swift" }
    }

    /// Long ones first: what is left then has its quotes in pairs. An interpolation stands for a list of columns, or a condition.
    private static func literals(of source: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).filter { $0.prefixMatch(of: /\s*\/\//) == nil }
        let code = lines.joined(separator: "\n")
        let long = code.matches(of: /"""([\s\S]*?)"""/).map { String($0.output.1) }
        let rest = code.replacing(/"""[\s\S]*?"""/, with: "")
        let short = rest.matches(of: /"((?:[^"\\\n]|\\.)*)"/).map { String($0.output.1) }
        return (long + short).map { $0.replacing("\\\"", with: "\"").replacing("\\\n", with: "\n").replacing(/\\\([^()]*\)/, with: "x") }
    }
}
