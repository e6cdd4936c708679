public import GRDB

/// Reads the columns of a row one after another, in the order of the statement's list. To look a column up by its name costs more than to read it.
public struct ColumnReader {
    private let row: GRDB.Row
    private var index = 0

    init(_ row: GRDB.Row) { self.row = row }

    /// The next column; an optional type for one that may be NULL.
    public mutating func next<Value: GRDB.DatabaseValueConvertible & GRDB.StatementColumnConvertible>() -> Value {
        defer { index += 1 }
        return row[index]
    }
}

extension GRDB.Database {
    /// The first row of a statement that is kept for its next use.
    /// - Parameter read: Called with its columns.
    public func first<Value>(
        _ sql: String, arguments: GRDB.StatementArguments, _ read: (inout ColumnReader) throws -> Value
    ) throws -> Value? {
        let rows = try GRDB.Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        guard let row = try rows.next() else { return nil }
        var columns = ColumnReader(row)
        return try read(&columns)
    }

    /// All rows of a statement that is kept for its next use.
    /// - Parameter read: Called with the columns of each.
    public func all<Value>(
        _ sql: String, arguments: GRDB.StatementArguments, _ read: (inout ColumnReader) throws -> Value
    ) throws -> [Value] {
        let rows = try GRDB.Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            values.append(try read(&columns))
        }
        return values
    }
}
