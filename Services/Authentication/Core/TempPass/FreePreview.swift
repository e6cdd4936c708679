internal import Clocks
internal import Contracts

/// A session of a TempPass that a device asks for.
struct FreePreview: Hashable, Sendable {
    /// As it is if the device has no trial yet: it ends after the full lifetime.
    let session: SessionRecord
    let user: TrialUser?

    var holder: TrialHolder { TrialHolder(key: session.key, mvpd: session.mvpd, user: user) }

    /// - Parameter known: The holder's trial, if its clock was started before; the session then ends with it.
    /// - Returns: `nil` when that trial is over.
    func session(continuing known: KnownTrial?, now: Timestamp) -> SessionRecord? {
        guard let trial = known?.trial else { return session }
        guard !trial.isOver(at: now) else { return nil }
        var session = session
        session.origin.trial = trial.id
        session.expiresAt = trial.expiresAt
        return session
    }
}

enum FreePreviewResult: Hashable, Sendable {
    case started(SessionRecord)
    /// The trial is over.
    case usedUp
    /// The registration code was deleted, expired or used meanwhile.
    case codeGone
}

/// Which trials of a TempPass at a requestor are forgotten (rest-v1 §3.22).
enum TrialScope: Hashable, Sendable {
    case all
    case device(DeviceID)
    /// Those that know a user.
    case users
    case user(TrialUser)
}
