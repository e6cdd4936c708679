internal import Storage

/// The message of the server, or of the way to it.
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

    /// The longest pause before another try, of what may be over though nobody changes the program or its settings; `nil`: it is not. A password counts, whose file is read
    /// at each try.
    var retryPause: Duration? {
        // The error of a pooler that the settings do not fit.
        if state == "26000" { return nil }
        switch kind {
        // A standby may be promoted at any moment.
        case .unavailable, .conflict: return .milliseconds(2500)
        // Each try is a line in the server's log, or takes room where there is none.
        case .busy, .late, .full, .diskFails: return .seconds(5)
        case .duplicate, .other: return state.hasPrefix("28") ? .seconds(5) : nil
        }
    }

    /// The state of what this side finds wrong with the server's certificate, or with its own. It is none of PostgreSQL's.
    static let untrusted = "BX001"

    static func lost(_ message: String) -> PostgresError { PostgresError(state: "", message: message) }

    static func silent(_ timeout: Duration) -> PostgresError { .lost("\(silence)\(timeout)") }
    private static let silence = "the server did not answer within "

    /// It is there, or was, and says nothing.
    var isSilence: Bool { state.isEmpty && message.hasPrefix(Self.silence) }

    /// - Parameter statement: The statement that ran; empty: nothing did.
    func databaseError(_ statement: String = "") -> DatabaseError {
        let code = state.isEmpty ? "" : "\(state) "
        return DatabaseError(kind, "PostgreSQL: \(code)\(message)" + (statement.isEmpty ? "" : " - while executing `\(statement)`"))
    }
}

extension PostgresError {
    static let unbound = "offers no channel binding"

    /// For whoever starts the program.
    var advice: String {
        switch state {
        case Self.untrusted where message.contains(Self.unbound): message
        case Self.untrusted where message.contains(" expired at "): "cannot be trusted (\(message))"
        case "28P01": "refuses the password (\(message)); check storage.user and storage.passwordFile"
        case _ where state.hasPrefix("28") || state == Self.untrusted:
            "lets nobody in (\(message)); check storage.user, storage.passwordFile and storage.tls, and the server's pg_hba.conf"
        case "3D000": "has no such database (\(message)); make it, or correct storage.database"
        case "42501": "may not be changed by this user (\(message)); a schema that is not up to date needs the right to create tables"
        case "53300": "has no connection left (\(message)); raise max_connections, or lower storage.lanes"
        case "25006": "takes no writes (\(message)); name the primary in storage.hosts"
        case "42P05", "26000":
            "does not keep statements for one connection (\(message)); behind a pooler of transactions set storage.prepared to false"
        case "0A000": "cannot keep the store (\(message))"
        case "": "cannot be reached (\(message)); check storage.hosts, and that the server runs"
        default: "cannot be used (\(state) \(message))"
        }
    }
}
