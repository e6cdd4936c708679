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
