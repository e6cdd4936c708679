internal import Faults
internal import GRDB

extension Fault {
    /// The fault that a caller sees for an error of the database; a store's own faults pass unchanged.
    static func storage(_ error: any Error) -> Fault {
        guard let error = error as? DatabaseError else { return .unexpected(error) }
        switch error.resultCode {
        case .SQLITE_FULL:
            return Fault(.storageFull, "The service's storage is full.", retryAfter: .seconds(30), cause: error)
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_INTERRUPT, .SQLITE_READONLY, .SQLITE_CANTOPEN:
            return Fault(.unavailable, "The service's storage does not answer.", retryAfter: .seconds(1), cause: error)
        default:
            return Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    static let storeIsClosed = Fault(.unavailable, "The service is shutting down.", retryAfter: .seconds(1))
    static let storeIsBusy = Fault(.overloaded, "The service's storage is at its limit.", retryAfter: .milliseconds(500))
}
