internal import Clocks
internal import Contracts
internal import Faults

/// Whose turn a scheduled sign-in is.
enum ScheduledSignInTurn: Sendable {
    /// This copy's; nobody else's before the next one is due.
    /// - Parameter before: How the one before ended; `nil`: none has.
    case mine(before: ScheduledSignInState?)
    /// Nobody's before that moment.
    /// - Parameter latest: How the latest ended that is known.
    case notYet(until: Timestamp, latest: ScheduledSignInState?)
}

/// When scheduled sign-ins are due, and how the latest ended: for all copies of the service.
protocol ScheduledSignInStore: Sendable {
    /// Takes the turn when it is due: the next one is due then at `next`. Of several calls at a time at most one takes it.
    /// - Parameters:
    ///   - first: When an MVPD's first one is due.
    ///   - next: From this one on; what is due later than that was planned by another schedule, and is due now.
    func takeTurn(_ mvpd: MvpdID, first: Timestamp, next: Timestamp, now: Timestamp) async throws(Fault) -> ScheduledSignInTurn

    /// Remembers how one ended.
    func keep(_ state: ScheduledSignInState, of mvpd: MvpdID) async throws(Fault)

    /// How the latest of each MVPD ended, by MVPD.
    func scheduledSignIns() async throws(Fault) -> [ScheduledSignInState]
}
