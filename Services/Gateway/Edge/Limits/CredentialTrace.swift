internal import Faults
internal import Synchronization

/// Records the outcome for the credentials of one request. Only the service that checks them knows it: a handler hands them on, and the reply tells.
///
/// The gateway tells only the bearer of a good token what else is wrong with a call (rest-v1 §2.8). So an answer, or a fault of the work itself, says
/// that they hold.
package final class CredentialTrace: Sendable {
    /// After these nobody knows whether they hold for the requestor that the call names.
    private static let undecided: Set<Fault.Code> = [
        .insufficientScope, .invalidRequestor, .unavailable, .overloaded, .internal, .tooManyRequests, .deadlineExceeded, .cancelled, .unimplemented,
        .permissionDenied, .invalidMessage, .frameTooLarge, .storageFull,
    ]

    private enum State: UInt8, AtomicRepresentable {
        case nothing, handedOn, refused, unknown
    }

    private let state = Atomic(State.nothing)

    /// They are on their way to the service that checks them.
    package func markHandedOn() { _ = state.compareExchange(expected: .nothing, desired: .handedOn, ordering: .relaxed) }

    /// The work ended so, whatever the caller is told.
    package func failed(with error: any Error) {
        if let problem = error as? BearerRejection {
            state.store(problem.fault.code == .accessDenied || problem.fault.code == .invalidClient ? .refused : .unknown, ordering: .relaxed)
        } else if let fault = error as? Fault {
            if fault.code == .accessDenied || fault.code == .invalidClient {
                state.store(.refused, ordering: .relaxed)
            } else if Self.undecided.contains(fault.code) {
                state.store(.unknown, ordering: .relaxed)
            }
        } else {
            state.store(.unknown, ordering: .relaxed)
        }
    }

    var outcome: FairShares.Outcome {
        switch state.load(ordering: .relaxed) {
        case .nothing, .unknown: .unknown
        case .handedOn: .held
        case .refused: .refused
        }
    }
}
