internal import GRDB
internal import Storage

extension Storage.DatabaseError {
    init(_ error: GRDB.DatabaseError) {
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_FULL: .full
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_INTERRUPT: .unavailable
            case .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN: .diskFails
            default: .other
            }
        self.init(kind, "\(error)")
    }

    /// Any error of GRDB's is one of the engine; all others stay what they are.
    static func translating(_ error: any Error) -> any Error {
        (error as? GRDB.DatabaseError).map { Storage.DatabaseError($0) } ?? error
    }
}
