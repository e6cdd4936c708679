internal import Faults
internal import Synchronization

/// The play of a device at a requestor. A call does not say which session it has; the session that comes to light may be another than the last time.
struct PlayKey: Hashable, Sendable {
    private let device: OctetText
    private let requestor: OctetText
    private let resource: OctetText

    init(device: String, requestor: String, resource: String) {
        (self.device, self.requestor, self.resource) = (OctetText(device), OctetText(requestor), OctetText(resource))
    }

    init(_ session: SessionAtHand, _ resource: RequestedResource) {
        self.init(device: session.call.deviceID, requestor: session.requestor, resource: resource.text)
    }
}

/// A decision under way, for which further calls about the same play wait (bridge §9.2).
final class DecisionFlight: Sendable {
    private enum State {
        case underWay([CheckedContinuation<Decided?, Never>])
        case ended(Decided?)
    }

    /// The result, and the session that it is about.
    struct Decided: Sendable {
        let session: String
        let result: Result<AuthzToken, Fault>
    }

    private let state = Mutex(State.underWay([]))
    fileprivate let key: PlayKey

    fileprivate init(_ key: PlayKey) { self.key = key }

    /// Waits for the end. `nil`: it came to nothing.
    var decided: Decided? {
        get async {
            await withCheckedContinuation { waiter in
                let known = state.withLock { state -> Decided?? in
                    switch state {
                    case .ended(let decided): return .some(decided)
                    case .underWay(let waiters):
                        state = .underWay(waiters + [waiter])
                        return nil
                    }
                }
                if let known { waiter.resume(returning: known) }
            }
        }
    }

    /// The first call counts.
    fileprivate func end(_ decided: Decided?) {
        let waiters = state.withLock { state -> [CheckedContinuation<Decided?, Never>] in
            guard case .underWay(let waiters) = state else { return [] }
            state = .ended(decided)
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: decided) }
    }
}

/// The decisions under way, at most one of each play.
final class DecisionFlights: Sendable {
    private let underWay = Mutex<[PlayKey: DecisionFlight]>([:])

    enum Entry: Sendable {
        /// The caller decides, and has to end it.
        case opened(DecisionFlight)
        case joined(DecisionFlight)
    }

    func enter(_ key: PlayKey) -> Entry {
        underWay.withLock { underWay in
            if let known = underWay[key] { return .joined(known) }
            let flight = DecisionFlight(key)
            underWay[key] = flight
            return .opened(flight)
        }
    }

    /// To be called once at least; the first call counts.
    /// - Parameter decided: `nil`: there is no decision to share.
    func end(_ flight: DecisionFlight, _ decided: DecisionFlight.Decided? = nil) {
        underWay.withLock { if $0[flight.key] === flight { $0[flight.key] = nil } }
        flight.end(decided)
    }
}
