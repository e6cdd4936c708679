/// Which rows of a table are past their time, and how gently they are removed.
public struct Sweep: Sendable, Hashable {
    public let table: String
    /// Columns that tell its rows apart, or the expiring column with others. If several rows are the same in all of them, all are past their time.
    public let key: [String]
    /// Column with milliseconds since 1970; give it an index. Rows with NULL stay.
    public let expiryColumn: String
    /// Rows removed by one write.
    public let batchSize: Int
    /// Pause between two rounds.
    public let interval: Duration
    /// A row is kept for this long after it expired, for example 24 hours so that "expired" differs from "unknown" (rest-v1 §5).
    public let grace: Duration
    /// Rows that end later are brought to an end so far from now: else nothing would ever remove them. `nil`: an end may be as far as it is.
    public let farthest: Limit?

    /// How far from now ends may be.
    public struct Limit: Sendable, Hashable {
        public let span: Duration
        /// SQL: the rows that it is for; empty: all.
        public let rows: String

        public init(_ span: Duration, of rows: String = "") {
            self.span = span
            self.rows = rows
        }
    }

    public init(
        table: String, key: [String], expiryColumn: String, batchSize: Int = 500, interval: Duration = .seconds(60), grace: Duration = .zero,
        farthest: Limit? = nil
    ) {
        precondition(batchSize > 0, "a sweep removes at least one row at a time")
        precondition(!key.isEmpty, "a table's rows have a key")
        self.table = table
        self.key = key
        self.expiryColumn = expiryColumn
        self.batchSize = batchSize
        self.interval = interval
        self.grace = grace
        self.farthest = farthest
    }
}
