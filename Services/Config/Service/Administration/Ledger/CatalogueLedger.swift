internal import Clocks
internal import Storage

/// The store as one transaction sees it, at one moment.
struct CatalogueLedger {
    let database: Database
    let now: Timestamp
    let documents: DocumentCache
    /// Nothing is written: what is read and computed is remembered for the transaction that comes then.
    var isRehearsal = false

    /// Runs a statement that changes rows.
    func run(_ statement: Statement, _ arguments: Arguments) throws {
        if !isRehearsal { try database.run(statement, arguments) }
    }
}
