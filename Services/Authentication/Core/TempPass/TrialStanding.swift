internal import Clocks
internal import Contracts
internal import Faults

/// How far a device's trial is; reading it starts no clock (rest-v2 D14).
struct TrialStanding: Sendable {
    /// `nil`: its clock was not started.
    let trial: Trial?
    let terms: TrialTerms
    let now: Timestamp

    static let timeIsUp = Fault(.temporaryAccessDurationLimitExceeded, "The time of the temporary access is over.")
    static let resourcesAreUp = Fault(.temporaryAccessResourcesLimitExceeded, "The resources of the temporary access are used up.")

    var startedAt: Timestamp { trial?.startedAt ?? now }
    var expiresAt: Timestamp { trial?.expiresAt ?? now + terms.lifetime }
    var isOver: Bool { trial?.isOver(at: now) ?? false }
    var isUsedUp: Bool { terms.maxResources.map { (trial?.resources.count ?? 0) >= $0 } ?? false }

    var state: TrialState { TrialState(isOver: isOver, isUsedUp: isUsedUp) }

    var facts: TempPassFacts {
        let used = trial?.resources ?? []
        return TempPassFacts(
            expiresAt: expiresAt, remainingResources: terms.maxResources.map { max(0, $0 - used.count) },
            usedResources: terms.maxResources.map { _ in used })
    }

    /// - Throws: `temporary_access_duration_limit_exceeded`, `temporary_access_resources_limit_exceeded`.
    func requireLeft() throws(Fault) {
        if isOver { throw Self.timeIsUp }
        if isUsedUp { throw Self.resourcesAreUp }
    }
}
