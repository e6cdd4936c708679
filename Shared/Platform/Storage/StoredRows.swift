/// The rows of a statement that ran by itself, or as a step of a plan.
public protocol StoredRows: AnyObject, Sendable {
    /// Rows inserted, changed, deleted or returned.
    var affected: Int { get }

    /// Calls with each row that it returned, which is valid until the call returns; false: no more of them.
    func each(_ read: (any RowSource) throws -> Bool) throws
}

extension StoredRows {
    /// The first row.
    @inlinable
    public func first<Value>(_ read: (inout ColumnReader) throws -> Value) throws -> Value? {
        var found: Value?
        try each { row in
            var columns = ColumnReader(row)
            found = try read(&columns)
            return false
        }
        return found
    }

    /// All rows.
    @inlinable
    public func all<Value>(_ read: (inout ColumnReader) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try each { row in
            var columns = ColumnReader(row)
            values.append(try read(&columns))
            return true
        }
        return values
    }
}
