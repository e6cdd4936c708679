public import Clocks

/// A value that can be an argument of a statement and be read from a column.
public protocol ColumnValue: Sendable {
    /// As it is stored.
    var stored: StoredValue { get }

    /// Reads it from a column of the current row.
    init(_ row: any RowSource, _ column: Int)
}

/// The current row of a query, as an engine has it. Columns count from 0; one that is NULL is only asked whether it is.
public protocol RowSource: AnyObject {
    func isNull(_ column: Int) -> Bool
    func integer(_ column: Int) -> Int64
    func text(_ column: Int) -> String
    func bytes(_ column: Int) -> [UInt8]
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    @inlinable public var stored: StoredValue { self?.stored ?? .null }

    @inlinable
    public init(_ row: any RowSource, _ column: Int) { self = row.isNull(column) ? nil : Wrapped(row, column) }
}

extension ColumnValue where Self: FixedWidthInteger {
    @inlinable public var stored: StoredValue { .integer(Int64(self)) }

    @inlinable
    public init(_ row: any RowSource, _ column: Int) { self = Self(row.integer(column)) }
}

extension Int: ColumnValue {}
extension Int64: ColumnValue {}
extension Int32: ColumnValue {}
extension UInt32: ColumnValue {}

extension Bool: ColumnValue {
    @inlinable public var stored: StoredValue { .integer(self ? 1 : 0) }

    @inlinable
    public init(_ row: any RowSource, _ column: Int) { self = row.integer(column) != 0 }
}

extension String: ColumnValue {
    @inlinable public var stored: StoredValue { .text(self) }

    @inlinable
    public init(_ row: any RowSource, _ column: Int) { self = row.text(column) }
}

extension [UInt8]: ColumnValue {
    @inlinable public var stored: StoredValue { .bytes(self) }

    @inlinable
    public init(_ row: any RowSource, _ column: Int) { self = row.bytes(column) }
}

/// Stored as an integer: milliseconds since 1970, so that `expires_at_ms <= ?` compares numbers.
extension Timestamp: ColumnValue {
    @inlinable public var stored: StoredValue { .integer(milliseconds) }

    @inlinable
    public init(_ row: any RowSource, _ column: Int) { self.init(milliseconds: row.integer(column)) }
}
