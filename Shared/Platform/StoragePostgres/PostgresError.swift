internal import Storage

/// What the server, or the way to it, said.
struct PostgresError: Error, Sendable {
    /// Five characters; empty where the server said nothing.
    let state: String
    /// Without arguments: the server's first line alone.
    let message: String

    /// The connection is of no more use.
    var isLoss: Bool {
        switch state {
        case "", "25006", "26000", "57P01", "57P02", "57P03", "57P05": true
        default: state.hasPrefix("08")
        }
    }

    var kind: DatabaseError.Kind {
        switch state {
        case "40001", "40P01": .conflict
        case "23505": .duplicate
        case "53100": .full
        case "53200", "53300", "53400", "55P03": .busy
        case "57014", "25P03", "25P04": .late
        default: isLoss ? .unavailable : .other
        }
    }

    static func lost(_ message: String) -> PostgresError { PostgresError(state: "", message: message) }

    /// - Parameter statement: What ran; empty: nothing did.
    func databaseError(_ statement: String = "") -> DatabaseError {
        let code = state.isEmpty ? "" : "\(state) "
        return DatabaseError(kind, "PostgreSQL: \(code)\(message)" + (statement.isEmpty ? "" : " - while executing `\(statement)`"))
    }
}
