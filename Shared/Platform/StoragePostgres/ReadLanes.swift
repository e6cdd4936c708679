internal import Faults
internal import Storage

/// A statement that only reads, with who waits for it.
struct Look: LaneWork {
    let statement: Statement
    let arguments: Arguments
    let interest: Interest
    let deliver: @Sendable (Result<any StoredRows, Fault>) -> Void

    func fail(_ fault: Fault) { deliver(.failure(fault)) }

    /// Runs statements of one flush. Statements behind one that fails were not run, and go once more.
    static func run(_ looks: [Look], on connection: PostgresConnection, pulse: Pulse, timeout: Duration) -> LaneLoss<Look>? {
        var left = looks[...]
        while !left.isEmpty {
            let outcomes: [PostgresConnection.Outcome]
            do {
                outcomes = try connection.run(left.map { PostgresConnection.Command($0.statement, $0.arguments) }, timeout: timeout)
            } catch {
                return LaneLoss(error, unfinished: Array(left))
            }
            // Asked when the answers are there: they may be those of a server that another one has replaced meanwhile.
            if let trouble = pulse.trouble(with: connection) {
                for look in left { look.deliver(.failure(.storage(trouble))) }
                return nil
            }
            for outcome in outcomes {
                guard let look = left.first else { return nil }
                switch outcome {
                case .rows(let rows): look.deliver(.success(rows))
                case .failed(let error): look.deliver(.failure(.storage(error.databaseError(look.statement.postgres))))
                case .skipped: continue
                }
                left = left.dropFirst()
            }
        }
        return nil
    }
}
