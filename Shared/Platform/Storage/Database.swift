/// A store as one transaction sees it: runs statements, one after another.
///
/// An engine keeps a statement that it has prepared for its next use. Code that reads a row must not run the same statement.
public final class Database {
    /// The engine's connection, in its transaction.
    public let session: any DatabaseSession

    public init(_ session: any DatabaseSession) { self.session = session }

    /// Runs a statement that returns no rows.
    /// - Returns: How many rows it inserted, changed or deleted.
    /// - Throws: `DatabaseError`, as all functions here.
    @inlinable
    @discardableResult
    public func run(_ statement: Statement, _ arguments: Arguments = []) throws -> Int { try session.run(statement, arguments) }

    /// The first row that a statement returns.
    /// - Parameter read: Called with its columns.
    @inlinable
    public func first<Value>(
        _ statement: Statement, _ arguments: Arguments = [], _ read: (inout ColumnReader) throws -> Value
    ) throws -> Value? {
        var found: Value?
        try session.query(statement, arguments) { row in
            var columns = ColumnReader(row)
            found = try read(&columns)
            return false
        }
        return found
    }

    /// All rows that a statement returns.
    /// - Parameter read: Called with the columns of each.
    @inlinable
    public func all<Value>(
        _ statement: Statement, _ arguments: Arguments = [], _ read: (inout ColumnReader) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try session.query(statement, arguments) { row in
            var columns = ColumnReader(row)
            values.append(try read(&columns))
            return true
        }
        return values
    }

    /// The first column of the first row; also `nil` when that is NULL.
    @inlinable
    public func value<Value: ColumnValue>(_ statement: Statement, _ arguments: Arguments = []) throws -> Value? {
        try first(statement, arguments) { $0.next() as Value? } ?? nil
    }

    /// The first column of all rows.
    @inlinable
    public func values<Value: ColumnValue>(_ statement: Statement, _ arguments: Arguments = []) throws -> [Value] {
        try all(statement, arguments) { $0.next() }
    }

    /// Waits until nobody else writes to a table, and keeps it so until the transaction ends; whoever came first has it first. To be called before any statement
    /// runs: what is read then is what the one before left. Others may read the table all the time.
    /// - Parameter table: A word of the program's own.
    @inlinable
    public func takeTurn(at table: StaticString) throws { try session.takeTurn(at: "\(table)") }

    /// True when a statement returns any row.
    @inlinable
    public func hasRow(_ statement: Statement, _ arguments: Arguments = []) throws -> Bool { try first(statement, arguments) { _ in } != nil }
}

/// A connection of an engine, in a transaction.
public protocol DatabaseSession: AnyObject {
    /// - Returns: Rows inserted, changed or deleted.
    func run(_ statement: Statement, _ arguments: Arguments) throws -> Int

    /// - Parameter read: Called with each row, which is valid until it returns; false: no more of them.
    func query(_ statement: Statement, _ arguments: Arguments, _ read: (any RowSource) throws -> Bool) throws

    /// Waits until no other transaction writes to a table; the first statement of this one.
    func takeTurn(at table: String) throws
}

extension DatabaseSession {
    /// For an engine with one writer at a time.
    public func takeTurn(at table: String) {}
}
