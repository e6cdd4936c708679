internal import Clocks

/// A trial whose clock runs, or has run out; kept until it is reset (rest-v1 §6.2).
struct Trial: Hashable, Sendable {
    let id: TrialID
    let startedAt: Timestamp
    /// The first moment after the trial.
    let expiresAt: Timestamp
    /// The different ones that were played, oldest first; kept for a promotional TempPass only.
    var resources: [String] = []

    func isOver(at now: Timestamp) -> Bool { now >= expiresAt }
}

/// Whose trial: the device at a requestor, and the user if the programmer names one.
struct TrialHolder: Hashable, Sendable {
    let key: SessionKey
    let mvpd: MvpdID
    let user: TrialUser?
}

/// The trial that a holder has, and by what it is known. A known user's trial comes before a known device's (rest-v1 §6.2).
struct KnownTrial: Hashable, Sendable {
    let trial: Trial
    let isDeviceKnown: Bool
    /// True also when the holder names no user.
    let isUserKnown: Bool
}
