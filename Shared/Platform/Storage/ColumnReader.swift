/// Reads the columns of a row one after another, in the order of the statement's list.
public struct ColumnReader {
    @usableFromInline let row: any RowSource
    @usableFromInline var index = 0

    @inlinable
    public init(_ row: any RowSource) { self.row = row }

    /// The next column; an optional type for one that may be NULL.
    @inlinable
    public mutating func next<Value: ColumnValue>() -> Value {
        defer { index += 1 }
        return Value(row, index)
    }
}
