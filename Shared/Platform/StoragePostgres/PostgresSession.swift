internal import Storage

/// A connection in a transaction, which begins with the first statement, in the same round trip.
final class PostgresSession: DatabaseSession {
    /// The view of a transaction.
    enum Kind {
        /// As if nobody else wrote.
        case writing
        /// One snapshot.
        case reading

        fileprivate var begin: Statement {
            switch self {
            case .writing: "BEGIN ISOLATION LEVEL SERIALIZABLE"
            case .reading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
        }
    }

    private static let timeout: Duration = .seconds(8)

    private let connection: PostgresConnection
    private let kind: Kind
    private let health: ServerHealth
    private var hasBegun = false
    private var hasWritten = false
    /// The mark of the transaction whose end got no answer.
    private(set) var doubt: Int64?
    /// A statement failed: nothing can run any more, nor be stored.
    private var failure: DatabaseError?

    init(_ connection: PostgresConnection, _ kind: Kind, _ health: ServerHealth) {
        self.connection = connection
        self.kind = kind
        self.health = health
    }

    func run(_ statement: Statement, _ arguments: Arguments) throws -> Int { try rows(statement, arguments).affected }

    func query(_ statement: Statement, _ arguments: Arguments, _ read: (any RowSource) throws -> Bool) throws {
        try rows(statement, arguments).each(read)
    }

    // It takes no snapshot, so that what waits here begins after what it waited for; whoever waits for a row would have to begin anew.
    func takeTurn(at table: String) throws {
        // A turn may be long; the role's bounds are for rows.
        for statement: Statement in ["SET LOCAL lock_timeout = '6s'", "SET LOCAL statement_timeout = '7s'"] { _ = try rows(statement, []) }
        _ = try rows(Statement("LOCK TABLE \"\(table)\" IN SHARE ROW EXCLUSIVE MODE"), [])
    }

    /// Stores what was done.
    /// - Throws: `DatabaseError`; nothing is stored, unless `doubt` says that nobody knows.
    func commit() throws {
        if let failure { throw failure }
        guard hasBegun else { return }
        hasBegun = false
        var commands = [PostgresConnection.Command("COMMIT")]
        let mark = hasWritten ? CommitMark.fresh() : nil
        if let mark { commands.insert(PostgresConnection.Command(CommitMark.add, CommitMark.arguments(mark)), at: 0) }
        let rows: PostgresRows
        do {
            rows = try run(commands, "COMMIT")
        } catch {
            if !connection.isUsable { doubt = mark } else { hasBegun = true }
            throw error
        }
        guard rows.tag == "COMMIT" else { throw DatabaseError(.other, "PostgreSQL: the transaction was rolled back") }
    }

    /// Nothing was done.
    func rollback() {
        guard hasBegun, connection.isUsable else { return }
        hasBegun = false
        // A connection that is lost then says so at its next use.
        _ = try? connection.run([PostgresConnection.Command("ROLLBACK")], timeout: Self.timeout)
    }

    private func rows(_ statement: Statement, _ arguments: Arguments) throws -> PostgresRows {
        if let failure { throw failure }
        try arguments.requireStorable()
        var commands = [PostgresConnection.Command(statement, arguments)]
        if !hasBegun { commands.insert(PostgresConnection.Command(kind.begin), at: 0) }
        hasBegun = true
        return try run(commands, statement.postgres)
    }

    /// - Returns: The rows of the last command.
    private func run(_ commands: [PostgresConnection.Command], _ text: String) throws -> PostgresRows {
        do {
            var last: PostgresRows?
            for outcome in try connection.run(commands, timeout: Self.timeout) {
                switch outcome {
                case .rows(let rows):
                    last = rows
                    hasWritten = hasWritten || rows.isChange
                case .failed(let error): throw error
                case .skipped: break
                }
            }
            guard let last else { throw PostgresError.lost("the server skipped a statement") }
            // It may be what a server says that another one has replaced meanwhile.
            if !hasWritten, let trouble = health.trouble(with: connection) { throw trouble }
            return last
        } catch {
            let error = (error as? PostgresError)?.databaseError(text) ?? error as? DatabaseError ?? .away
            failure = error
            throw error
        }
    }
}
