internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Faults

/// Why a call that needs an upstream brought nothing.
enum BridgeTrouble: Error {
    case failure(BridgeFailure)
    case wait(BridgeSlot.Wait)
    /// As many calls are under way as may be.
    case busy
    /// Upstream knows our client no more: whoever was signed in by it is not any more.
    case clientLost
    /// Of our own store.
    case store(Fault)

    /// What an app hears. Never 401 or 403: apps throw tokens away on those (bridge §12.2).
    func fault(_ now: Timestamp) -> Fault {
        switch self {
        case .failure(let failure): failure.fault()
        case .wait(.statementRefused(_, let until)):
            Fault(.upstreamUnavailable, "The upstream service refuses the software statement.", retryAfter: until - now)
        case .wait(.clientDoubted(let until)), .wait(.accessRefused(let until)):
            Fault(.upstreamUnavailable, "The upstream service refuses this cluster.", retryAfter: until - now)
        case .busy: Fault(.upstreamUnavailable, "Too many calls wait for the upstream service.", retryAfter: .seconds(1))
        case .clientLost: Fault(.authenticationSessionInvalidated, "The viewer is not signed in at the provider any more.")
        case .store(let fault): fault
        }
    }

    /// What upstream said, where it answered.
    var refusal: BridgeRefusal? {
        if case .failure(.refused(let refusal)) = self { refusal } else { nil }
    }
}

/// How long a call may wait.
struct BridgePatience: Sendable {
    let budget: CallBudget
    /// Nobody waits for it: it gives way to calls that somebody waits for.
    var isBackground = false

    init(_ span: Duration, isBackground: Bool = false) {
        budget = CallBudget(span)
        self.isBackground = isBackground
    }
}
