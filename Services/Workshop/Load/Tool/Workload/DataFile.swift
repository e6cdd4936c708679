internal import Foundation

/// Rows of values for the placeholders of a template: CSV with a header row (RFC 4180), or JSON Lines of flat objects.
public struct DataFile: Sendable {
    /// Names of the columns.
    public let columns: [String]
    /// At least one.
    public let rows: [[String: String]]

    /// No file: no columns, and one empty row.
    public static let none = DataFile(columns: [], rows: [[:]])

    private init(columns: [String], rows: [[String: String]]) {
        self.columns = columns
        self.rows = rows
    }

    /// - Parameter name: The name of the file, for messages; its end tells the format.
    /// - Throws: `OptionRejection` naming the line.
    public init(_ text: String, name: String) throws(OptionRejection) {
        let isJSON = name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson") || text.first == "{"
        self = isJSON ? try Self.jsonLines(text, name) : try Self.csv(text, name)
        guard !rows.isEmpty else { throw OptionRejection("--data-file \(name)", "it has no rows") }
    }

    private static func jsonLines(_ text: String, _ name: String) throws(OptionRejection) -> DataFile {
        var rows: [[String: String]] = []
        for (number, line) in text.split(whereSeparator: \.isNewline).enumerated() {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                throw OptionRejection("--data-file \(name)", "row \(number + 1) is not a JSON object")
            }
            rows.append(object.mapValues { $0 as? String ?? "\($0)" })
        }
        let columns = rows.first.map { $0.keys.sorted() } ?? []
        guard rows.allSatisfy({ row in columns.allSatisfy { row[$0] != nil } }) else {
            throw OptionRejection("--data-file \(name)", "not every row has \(columns.joined(separator: ", "))")
        }
        return DataFile(columns: columns, rows: rows)
    }

    private static func csv(_ text: String, _ name: String) throws(OptionRejection) -> DataFile {
        var records = fields(text)
        guard !records.isEmpty else { throw OptionRejection("--data-file \(name)", "it is empty") }
        let columns = records.removeFirst()
        var rows: [[String: String]] = []
        for (number, record) in records.enumerated() {
            guard record.count == columns.count else {
                throw OptionRejection("--data-file \(name)", "row \(number + 1) has \(record.count) values, the head has \(columns.count)")
            }
            rows.append(Dictionary(zip(columns, record)) { first, _ in first })
        }
        return DataFile(columns: columns, rows: rows)
    }

    private static func fields(_ text: String) -> [[String]] {
        var records: [[String]] = []
        var record: [String] = []
        var field = ""
        var isQuoted = false
        var rest = Array(text.replacing("\r\n", with: "\n"))[...]
        while let character = rest.popFirst() {
            switch (character, isQuoted) {
            case ("\"", true) where rest.first == "\"": field.append(rest.removeFirst())
            case ("\"", _): isQuoted.toggle()
            case (",", false):
                record.append(field)
                field = ""
            case ("\n", false):
                if !record.isEmpty || !field.isEmpty { records.append(record + [field]) }
                (record, field) = ([], "")
            default: field.append(character)
            }
        }
        if !record.isEmpty || !field.isEmpty { records.append(record + [field]) }
        return records
    }
}
