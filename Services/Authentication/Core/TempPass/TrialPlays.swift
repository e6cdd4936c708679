package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import Identifiers

/// Counts what is played on trial, and tells how much is left (rest-v1 §6.2).
package struct TrialPlays: Sendable {
    package let catalogue: any CatalogueSource
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let metrics: AuthenticationMetrics

    /// Starts the trial's clock with the first play; a promotional TempPass gives up one of its resources for each new one.
    /// - Throws: `authentication_session_missing`, `authentication_session_expired` (also when the trial is over); `invalid_request` (a
    ///   promotional TempPass lacks the user), `unknown_integration`, `authorization_denied_by_mvpd` (no resource is left).
    package func spend(_ request: SpendTempPassRequest) async throws(Fault) -> TempPassBalance {
        let catalogue = try catalogue.current()
        let now = clock.now()
        let key = SessionKey(device: DeviceID(request.deviceID), requestor: RequestorID(request.requestor))
        guard !request.resource.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        guard request.mvpd.isEmpty else { return try await spendWithoutSession(request, key, catalogue, now) }
        let session = try await store.sessions(key).first { $0.id.text == request.sessionID }
        guard let session, session.kind == .tempPass else { throw Self.missing }
        let terms = try TrialTerms(try catalogue.requireIntegration(requestor: key.requestor.text, mvpd: session.mvpd.text).mvpd)
        let holder = TrialHolder(key: key, mvpd: session.mvpd, user: try terms.user(in: request.genericData))
        let play = TrialPlay(
            session: session.id, holder: holder, resource: request.resource, terms: terms, newTrial: TrialID(random.uuid()))
        return try balance(try await store.spend(play, now: now), terms)
    }

    /// For a device that is on trial without a session (rest-v2 §5).
    /// - Throws: As `TrialTerms.init(configured:)` and `TrialTerms.user(inIdentity:)`; `temporary_access_duration_limit_exceeded`,
    ///   `temporary_access_resources_limit_exceeded`.
    private func spendWithoutSession(
        _ request: SpendTempPassRequest, _ key: SessionKey, _ catalogue: Catalogue, _ now: Timestamp
    ) async throws(Fault) -> TempPassBalance {
        let mvpd = try catalogue.requireIntegration(requestor: key.requestor.text, mvpd: request.mvpd).mvpd
        let terms = try TrialTerms(configured: mvpd)
        let holder = TrialHolder(key: key, mvpd: MvpdID(mvpd.id), user: try terms.user(inIdentity: request.genericData))
        let play = TrialPlay(session: nil, holder: holder, resource: request.resource, terms: terms, newTrial: TrialID(random.uuid()))
        do {
            return try balance(try await store.spend(play, now: now), terms)
        } catch  where error.code == .authenticationSessionExpired {
            throw TrialStanding.timeIsUp
        } catch  where error.code == .authorizationDeniedByMvpd {
            throw TrialStanding.resourcesAreUp
        }
    }

    /// The plays that a person on trial still has.
    /// - Returns: `nil` for a session of another kind.
    package func facts(of session: SessionRecord, in catalogue: Catalogue) async throws(Fault) -> TempPassFacts? {
        guard session.kind == .tempPass, let mvpd = catalogue.mvpd(session.mvpd.text), let terms = try? TrialTerms(mvpd) else { return nil }
        let trial: Trial? = if let id = session.origin.trial { try await store.trial(id) } else { nil }
        let used = trial?.resources ?? []
        return TempPassFacts(
            expiresAt: session.expiresAt, remainingResources: terms.maxResources.map { max(0, $0 - used.count) },
            usedResources: terms.maxResources.map { _ in used })
    }

    private func balance(_ outcome: TrialPlay.Outcome, _ terms: TrialTerms) throws(Fault) -> TempPassBalance {
        switch outcome {
        case .permitted(let permit):
            metrics.trialPlay("permitted")
            let remaining = terms.maxResources.map { max(0, $0 - permit.trial.resources.count) } ?? 0
            return TempPassBalance(
                expiresAtMilliseconds: UInt64(clamping: permit.trial.expiresAt.milliseconds), remainingResources: UInt32(clamping: remaining))
        case .refused(.noSession): throw Self.missing
        case .refused(.over):
            metrics.trialPlay("over")
            throw Fault(.authenticationSessionExpired, "Authentication token expired")
        case .refused(.resourcesUsedUp):
            metrics.trialPlay("resources_used_up")
            throw Fault(.authorizationDeniedByMvpd, "User not authorized", details: "The resources of the free preview are used up.")
        }
    }

    private static let missing = Fault(.authenticationSessionMissing, "User not authenticated")
}

/// The user metadata of a trial (rest-v1 §6.2).
package struct TempPassFacts: Hashable, Sendable {
    /// `expiration_date`; of the session for as long as the trial's clock has not started.
    package let expiresAt: Timestamp
    /// `remaining_resources`; `nil` for a basic TempPass.
    let remainingResources: Int?
    /// `used_assets`, oldest first; `nil` for a basic TempPass.
    let usedResources: [String]?
}

extension TrialPlays: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(SessionsMethods.spendTempPass) { request, _ in try await spend(request) }
    }
}
