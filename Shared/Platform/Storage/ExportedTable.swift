internal import StrictJson

/// A table as a person is told of their rows in it: every column, each in words.
public struct ExportedTable: Sendable {
    /// A column is told in one of these ways.
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
    public func exported(_ table: ExportedTable, where condition: String, _ arguments: Arguments, most: Int) throws -> [String] {
        var rows: [String] = []
        try session.query(table.select(where: condition), arguments + [most]) { row in
            let members = JsonWriter.object { json in
                for (index, column) in table.columns.enumerated() {
                    json.name(column.name)
                    column.form.tell(row, index, to: &json)
                }
            }
            rows.append(members.text)
            return true
        }
        return rows
    }
}

extension ExportedTable.Form {
    fileprivate func tell(_ row: any RowSource, _ index: Int, to json: inout JsonWriter) {
        guard !row.isNull(index) else { return json.null() }
        switch self {
        case .text: json.string(row.text(index))
        case .number: json.number(row.integer(index))
        case .digest: json.string(Self.hex(row.bytes(index)))
        case .sealed: if row.bytes(index).isEmpty { json.null() } else { json.string("[sealed]") }
        case .json(let text):
            let bytes = row.bytes(index)
            if let told = text(bytes, row.text(0)) { json.written(told) } else { json.string(Self.hex(bytes)) }
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
