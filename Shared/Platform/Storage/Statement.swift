public import Clocks
package import Faults

/// A statement of SQL in the common subset of SQLite (3.39 and later) and PostgreSQL (13 and later), which each engine renders for itself.
///
/// `?` stands for the next argument, or `?1`, `?2`, … for those of a number where one is used twice. A statement has the one kind or the other.
/// Columns are named, never `*`; flags are the numbers 0 and 1; a text is compared by its octets, and `lower` folds ASCII. Never interpolate values.
public struct Statement: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// As SQLite takes it.
    public let sqlite: String
    /// As PostgreSQL takes it, but for how it writes the places of arguments.
    public let postgres: String

    @inlinable
    public init(_ text: String) {
        sqlite = text
        postgres = text
    }

    @inlinable
    public init(stringLiteral text: String) { self.init(text) }

    /// For what the two have no common word for.
    public init(sqlite: String, postgres: String) {
        self.sqlite = sqlite
        self.postgres = postgres
    }
}

/// The content of a column: flags, moments and numbers of every width are integers.
public enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// The arguments of a statement, in the order of their places.
public struct Arguments: Sendable, ExpressibleByArrayLiteral {
    public let values: [StoredValue]

    @inlinable
    public init(_ values: [StoredValue]) { self.values = values }

    @inlinable
    public init(arrayLiteral elements: any ColumnValue...) {
        values = elements.map { $0.stored }
    }

    /// PostgreSQL keeps no text with U+0000: no engine takes one.
    /// - Throws: `invalid_request`.
    package func requireStorable() throws(Fault) {
        for case .text(let text) in values where text.hasNul {
            throw Fault(.invalidRequest, "A text holds the character U+0000, which cannot be kept.")
        }
    }

    /// These and then those.
    public static func + (first: Arguments, second: Arguments) -> Arguments { Arguments(first.values + second.values) }
}

extension String {
    fileprivate var hasNul: Bool { utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? utf8.contains(0) }
}

/// Where an engine takes statements that are known whole, without a connection of the caller's: those of many callers travel together.
package protocol StatementPipeline: Sendable {
    /// Runs a statement that only reads, by itself, on all that was acknowledged before.
    /// - Parameter waiter: True when somebody waits for it still.
    /// - Throws: `overloaded` when too many wait, `unavailable` when the engine is away.
    func look(
        _ statement: Statement, _ arguments: Arguments, _ waiter: Waiter,
        _ deliver: @escaping @Sendable (Result<any StoredRows, Fault>) -> Void
    ) throws(Fault)

    /// Stores a plan.
    /// - Parameters:
    ///   - waiter: True when somebody waits for it still.
    ///   - deliver: Gets what each step brought; `nil`: a step had another number of rows, or a key was taken, and nothing is stored.
    /// - Throws: As `look`.
    func commit(_ plan: Plan, _ waiter: Waiter, _ deliver: @escaping @Sendable (Result<[any StoredRows]?, Fault>) -> Void) throws(Fault)
}

/// Statements that are stored together or not at all, all known before the first of them runs. An engine behind a network sends them at once.
public struct Plan: Sendable {
    package struct Step: Sendable {
        package let statement: Statement
        package let arguments: Arguments
        /// It must change or return this many rows for the plan to hold.
        package let rows: Int?
    }

    /// The subject of the plan, for example a device. Plans of one commit run in this order, so that two commits rarely wait for each other.
    package let subject: String
    package private(set) var steps: [Step] = []

    /// - Parameter subject: The subject of the plan.
    public init(for subject: String) { self.subject = subject }

    /// - Parameter rows: How many rows it must change or return; with another number nothing of the plan is stored. `nil`: any.
    public mutating func add(_ statement: Statement, _ arguments: Arguments = [], rows: Int? = nil) {
        steps.append(Step(statement: statement, arguments: arguments, rows: rows))
    }

    /// - Throws: As `Arguments.requireStorable`.
    func storable() throws(Fault) -> Plan {
        for step in steps { try step.arguments.requireStorable() }
        return self
    }
}

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
