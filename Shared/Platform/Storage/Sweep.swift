/// Which rows of a table are past their time, and how gently they are removed.
public struct Sweep: Sendable, Hashable {
    /// Table with row ids (not `WITHOUT ROWID`).
    public let table: String
    /// Column with milliseconds since 1970; give it an index. Rows with NULL stay.
    public let expiryColumn: String
    /// Rows removed by one write.
    public let batchSize: Int
    /// Pause between two rounds.
    public let interval: Duration
    /// How long a row is kept after it expired, for example 24 hours so that "expired" differs from "unknown" (rest-v1 §5).
    public let grace: Duration

    public init(table: String, expiryColumn: String, batchSize: Int = 500, interval: Duration = .seconds(60), grace: Duration = .zero) {
        precondition(batchSize > 0, "a sweep removes at least one row at a time")
        self.table = table
        self.expiryColumn = expiryColumn
        self.batchSize = batchSize
        self.interval = interval
        self.grace = grace
    }
}
