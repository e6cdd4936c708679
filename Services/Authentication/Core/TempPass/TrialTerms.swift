package import Clocks
package import Contracts
package import Faults

/// What a TempPass gives (rest-v1 §6.2).
package struct TrialTerms: Hashable, Sendable {
    /// From the first play on.
    package let lifetime: Duration
    /// How many different resources; `nil`: any number.
    let maxResources: Int?
    /// The member of `generic_data` that names the user; `nil`: only the device counts.
    let userKey: String?

    /// - Throws: `invalid_request` for an MVPD that is no TempPass.
    package init(_ mvpd: Mvpd) throws(Fault) {
        guard case .tempPass(let pass) = mvpd.signIn else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
        let isPromotional = pass.kind != .basic
        lifetime = .seconds(Int64(pass.ttlSeconds))
        maxResources = isPromotional ? Int(pass.maxResources) : nil
        userKey = isPromotional ? pass.userInformationKey : nil
    }

    /// - Returns: `nil` for a basic TempPass, which reads no `generic_data`.
    /// - Throws: `invalid_request`.
    package func user(in genericData: String) throws(Fault) -> TrialUser? {
        guard let userKey else { return nil }
        return try GenericData.user(in: genericData, key: userKey)
    }
}

/// In the words of REST v2, where a TempPass is an MVPD like others (rest-v2 §3).
extension TrialTerms {
    /// - Throws: `invalid_temporary_access_configuration` for an MVPD that is no TempPass, or of which no trial could be had.
    package init(configured mvpd: Mvpd) throws(Fault) {
        guard let terms = try? TrialTerms(mvpd), terms.lifetime > .zero, terms.userKey?.isEmpty != true else {
            throw Fault(.invalidTemporaryAccessConfiguration, "The TempPass is not configured.")
        }
        self = terms
    }

    /// - Returns: `nil` for a basic TempPass, which needs no identity.
    /// - Throws: `invalid_temporary_access_identity`.
    package func user(inIdentity text: String) throws(Fault) -> TrialUser? {
        do {
            return try user(in: text)
        } catch {
            throw Fault(.invalidTemporaryAccessIdentity, "The TempPass needs a user's identity in 'AP-TempPass-Identity'.")
        }
    }
}

/// How far a device's trial is; reading it starts no clock (rest-v2 D14).
package struct TrialStanding: Sendable {
    /// `nil`: its clock was not started.
    package let trial: Trial?
    package let terms: TrialTerms
    package let now: Timestamp

    package init(trial: Trial?, terms: TrialTerms, now: Timestamp) {
        (self.trial, self.terms, self.now) = (trial, terms, now)
    }

    static let timeIsUp = Fault(.temporaryAccessDurationLimitExceeded, "The time of the temporary access is over.")
    static let resourcesAreUp = Fault(.temporaryAccessResourcesLimitExceeded, "The resources of the temporary access are used up.")

    package var startedAt: Timestamp { trial?.startedAt ?? now }
    package var expiresAt: Timestamp { trial?.expiresAt ?? now + terms.lifetime }
    package var isOver: Bool { trial?.isOver(at: now) ?? false }
    var isUsedUp: Bool { terms.maxResources.map { (trial?.resources.count ?? 0) >= $0 } ?? false }

    package var state: TrialState { TrialState(isOver: isOver, isUsedUp: isUsedUp) }

    package var facts: TempPassFacts {
        let used = trial?.resources ?? []
        return TempPassFacts(
            expiresAt: expiresAt, remainingResources: terms.maxResources.map { max(0, $0 - used.count) },
            usedResources: terms.maxResources.map { _ in used })
    }

    /// - Throws: `temporary_access_duration_limit_exceeded`, `temporary_access_resources_limit_exceeded`.
    package func requireLeft() throws(Fault) {
        if isOver { throw Self.timeIsUp }
        if isUsedUp { throw Self.resourcesAreUp }
    }
}
