package import Faults

extension Fault {
    /// The fault that a caller sees for an error of the database; a store's own faults pass unchanged.
    package static func storage(_ error: any Error) -> Fault {
        guard let error = error as? DatabaseError else { return .unexpected(error) }
        switch error.kind {
        case .full: return Fault(.storageFull, "The service's storage is full.", retryAfter: .seconds(30), cause: error)
        case .unavailable, .diskFails: return Fault(.unavailable, "The service's storage does not answer.", retryAfter: .seconds(1), cause: error)
        case .conflict: return Fault(.unavailable, "The service's storage is contended.", retryAfter: .milliseconds(100), cause: error)
        case .busy: return Fault(.overloaded, "The service's storage is at its limit.", retryAfter: .milliseconds(500), cause: error)
        case .late: return Fault(.deadlineExceeded, "The service's storage took too long.", retryAfter: .seconds(1), cause: error)
        case .duplicate, .other: return Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    package static let storeIsClosed = Fault(.unavailable, "The service is shutting down.", retryAfter: .seconds(1))
    package static let storeIsNotAwaited = Fault(.deadlineExceeded, "Nobody waits for the answer any more.")
    package static let storeIsBusy = Fault(.overloaded, "The service's storage is at its limit.", retryAfter: .milliseconds(500))
}
