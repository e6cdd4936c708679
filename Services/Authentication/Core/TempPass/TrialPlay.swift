internal import Clocks
internal import Contracts

/// A resource that a device on trial wants to play (rest-v1 §6.2).
struct TrialPlay: Hashable, Sendable {
    /// `nil`: the device is on trial without a session (rest-v2 §5).
    let session: SessionID?
    let holder: TrialHolder
    let resource: String
    let terms: TrialTerms
    /// Id of the trial that this play begins if it is the first.
    let newTrial: TrialID

    /// What the play means for the device's session and trial. A refusal changes nothing.
    /// - Parameters:
    ///   - sessions: The device's at the requestor.
    ///   - known: The holder's trial, if its clock was started before.
    func outcome(sessions: [SessionRecord], known: KnownTrial?, now: Timestamp) -> Outcome {
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

    enum Outcome: Hashable, Sendable {
        case permitted(Permit)
        case refused(Refusal)
    }

    /// Trial and session as they are afterwards.
    struct Permit: Hashable, Sendable {
        let trial: Trial
        let session: SessionRecord?
        /// True for a repeat that leaves everything as it is.
        let changesNothing: Bool
    }

    enum Refusal: Hashable, Sendable {
        case noSession
        case over
        case resourcesUsedUp
    }
}
