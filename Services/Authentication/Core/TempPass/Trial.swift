package import Clocks
internal import Contracts
package import Faults

/// A trial whose clock runs, or has run out; kept until it is reset (rest-v1 §6.2).
package struct Trial: Hashable, Sendable {
    package let id: TrialID
    package let startedAt: Timestamp
    /// The first moment after the trial.
    package let expiresAt: Timestamp
    /// The different ones that were played, oldest first; kept for a promotional TempPass only.
    package var resources: [String] = []

    package func isOver(at now: Timestamp) -> Bool { now >= expiresAt }
}

/// The holder of a trial: the device at a requestor, and the user if the programmer names one.
package struct TrialHolder: Hashable, Sendable {
    package let key: SessionKey
    package let mvpd: MvpdID
    package let user: TrialUser?

    package init(key: SessionKey, mvpd: MvpdID, user: TrialUser?) {
        (self.key, self.mvpd, self.user) = (key, mvpd, user)
    }
}

/// The trial that a holder has, and by what it is known. A known user's trial comes before a known device's (rest-v1 §6.2).
package struct KnownTrial: Hashable, Sendable {
    package let trial: Trial
    let isDeviceKnown: Bool
    /// True also when the holder names no user.
    let isUserKnown: Bool
}

/// A session of a TempPass that a device asks for.
package struct FreePreview: Hashable, Sendable {
    /// As it is if the device has no trial yet: it ends after the full lifetime.
    package let session: SessionRecord
    package let user: TrialUser?

    package init(session: SessionRecord, user: TrialUser?) {
        (self.session, self.user) = (session, user)
    }

    package var holder: TrialHolder { TrialHolder(key: session.key, mvpd: session.mvpd, user: user) }

    /// - Parameter known: The holder's trial, if its clock was started before; the session then ends with it.
    /// - Returns: `nil` when that trial is over.
    package func session(continuing known: KnownTrial?, now: Timestamp) -> SessionRecord? {
        guard let trial = known?.trial else { return session }
        guard !trial.isOver(at: now) else { return nil }
        var session = session
        session.origin.trial = trial.id
        session.expiresAt = trial.expiresAt
        return session
    }

    package static let usedUp = Fault(.invalidRequest, "The free preview has been used up.")
}

package enum FreePreviewResult: Hashable, Sendable {
    case started(SessionRecord)
    /// The trial is over.
    case usedUp
    /// The registration code was deleted, expired or used meanwhile.
    case codeGone
}

/// The trials of a TempPass at a requestor that are forgotten (rest-v1 §3.22).
package enum TrialScope: Hashable, Sendable {
    case all
    case device(DeviceID)
    /// Those that know a user.
    case users
    case user(TrialUser)
}

/// A resource that a device on trial wants to play (rest-v1 §6.2).
package struct TrialPlay: Hashable, Sendable {
    /// `nil`: the device is on trial without a session (rest-v2 §5).
    package let session: SessionID?
    package let holder: TrialHolder
    package let resource: String
    package let terms: TrialTerms
    /// Id of the trial that this play begins if it is the first.
    let newTrial: TrialID

    /// The effect of the play on the device's session and trial. A refusal changes nothing.
    /// - Parameters:
    ///   - sessions: The device's at the requestor.
    ///   - known: The holder's trial, if its clock was started before.
    package func outcome(sessions: [SessionRecord], known: KnownTrial?, now: Timestamp) -> Outcome {
        var own = sessions.first { $0.id == session }
        guard session == nil || own?.kind == .tempPass else { return .refused(.noSession) }
        var trial = known?.trial ?? Trial(id: newTrial, startedAt: now, expiresAt: now + terms.lifetime)
        guard own.map({ now < $0.expiresAt }) ?? true, !trial.isOver(at: now) else { return .refused(.over) }
        if let limit = terms.maxResources, !trial.resources.contains(resource) {
            guard trial.resources.count < limit else { return .refused(.resourcesUsedUp) }
            trial.resources.append(resource)
        }
        let before = own
        own?.origin.trial = trial.id
        own?.expiresAt = trial.expiresAt
        let isKnown = known.map { $0.trial == trial && $0.isDeviceKnown && $0.isUserKnown } ?? false
        return .permitted(Permit(trial: trial, session: own, changesNothing: isKnown && own == before))
    }

    package enum Outcome: Hashable, Sendable {
        case permitted(Permit)
        case refused(Refusal)
    }

    /// Trial and session as they are afterwards.
    package struct Permit: Hashable, Sendable {
        package let trial: Trial
        package let session: SessionRecord?
        /// True for a repeat that leaves everything as it is.
        let changesNothing: Bool
    }

    package enum Refusal: Hashable, Sendable {
        case noSession
        case over
        case resourcesUsedUp
    }
}
