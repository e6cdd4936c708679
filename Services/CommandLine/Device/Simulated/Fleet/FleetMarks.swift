internal import Synchronization

/// When the parts of one sign-in were over.
final class FleetMarks: Sendable {
    private let times = Mutex((code: Duration?.none, person: Duration?.none))

    func code(_ time: Duration) { times.withLock { $0.code = time } }
    func person(_ time: Duration) { times.withLock { $0.person = time } }

    /// The part that was under way last.
    var step: DeviceFleet.Step {
        times.withLock { $0.code == nil ? .code : $0.person == nil ? .signIn : .poll }
    }

    func fill(_ outcome: inout DeviceFleet.Outcome) {
        let (code, person) = times.withLock { $0 }
        outcome.times[.code] = code
        outcome.times[.signIn] = person
    }
}
