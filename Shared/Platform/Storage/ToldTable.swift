/// A table as a person is told of their rows in it: every column, each in words.
public struct ToldTable: Sendable {
    /// How a column is told.
    public enum Form: Sendable {
        case text
        /// Numbers, flags and moments.
        case number
        /// Octets that say nothing by themselves: in hex.
        case digest
        /// Sealed octets, of which only is told that they are there.
        case sealed
        /// Octets that hold something. The closure makes JSON of them and of the text in the row's first column, or nothing where they cannot be
        /// read.
        case json(@Sendable ([UInt8], String) -> String?)
    }

    public struct Column: Sendable {
        let name: String
        let form: Form

        public static func text(_ name: String) -> Column { Column(name: name, form: .text) }
        public static func number(_ name: String) -> Column { Column(name: name, form: .number) }
        public static func digest(_ name: String) -> Column { Column(name: name, form: .digest) }
        public static func sealed(_ name: String) -> Column { Column(name: name, form: .sealed) }
        public static func json(_ name: String, _ text: @escaping @Sendable ([UInt8], String) -> String?) -> Column {
            Column(name: name, form: .json(text))
        }
    }

    public let name: String
    public let columns: [Column]

    /// - Parameters:
    ///   - name: The name of the table, a word of the program's own, as those of the columns.
    ///   - columns: All of them.
    public init(_ name: String, _ columns: [Column]) {
        self.name = name
        self.columns = columns
    }

    public var columnNames: [String] { columns.map(\.name) }

    /// The statement that tells of rows.
    /// - Parameter condition: SQL of the program's own.
    public func select(where condition: String) -> Statement {
        Statement(
            "SELECT \(columns.map { $0.name == "user" ? "\"user\"" : $0.name }.joined(separator: ", ")) FROM \(name) WHERE \(condition) LIMIT ?")
    }
}

extension Database {
    /// Rows of a table, each as a JSON object.
    /// - Parameters:
    ///   - condition: SQL of the program's own.
    ///   - most: How many at most.
    public func told(_ table: ToldTable, where condition: String, _ arguments: Arguments, most: Int) throws -> [String] {
        var rows: [String] = []
        try session.query(table.select(where: condition), arguments + [most]) { row in
            var members: [String] = []
            for (index, column) in table.columns.enumerated() {
                members.append("\(JsonText.quoted(column.name)):\(column.form.told(row, index))")
            }
            rows.append("{\(members.joined(separator: ","))}")
            return true
        }
        return rows
    }
}

extension ToldTable.Form {
    fileprivate func told(_ row: any RowSource, _ index: Int) -> String {
        guard !row.isNull(index) else { return "null" }
        switch self {
        case .text: return JsonText.quoted(row.text(index))
        case .number: return String(row.integer(index))
        case .digest: return JsonText.quoted(JsonText.hex(row.bytes(index)))
        case .sealed: return row.bytes(index).isEmpty ? "null" : JsonText.quoted("[sealed]")
        case .json(let text):
            let bytes = row.bytes(index)
            return text(bytes, row.text(0)) ?? JsonText.quoted(JsonText.hex(bytes))
        }
    }
}

/// Values as JSON (RFC 8259), for what is told of rows.
public enum JsonText {
    /// A text with its quotes.
    public static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00".utf8) + hexDigits(byte)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    /// A list of texts.
    public static func list(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ","))]" }

    /// An object of texts, without those that are empty.
    public static func object(_ members: [(name: String, text: String)]) -> String {
        "{\(members.filter { !$0.text.isEmpty }.map { "\(quoted($0.name)):\(quoted($0.text))" }.joined(separator: ","))}"
    }

    static func hex(_ bytes: [UInt8]) -> String { String(decoding: bytes.flatMap(hexDigits), as: UTF8.self) }

    private static func hexDigits(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
