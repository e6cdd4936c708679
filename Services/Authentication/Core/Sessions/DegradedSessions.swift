internal import Catalogue
package import Clocks
package import Contracts
package import Faults
package import Identifiers

/// Makes sessions for people whose MVPD is bypassed by an AuthN-all rule (rest-v1 §6.1).
package struct DegradedSessions: Sendable {
    package let store: any SessionStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let scrambler: UserIDScrambler
    package let metrics: AuthenticationMetrics

    package init(
        store: any SessionStore, clock: any WallClock, random: any RandomSource, scrambler: UserIDScrambler, metrics: AuthenticationMetrics
    ) {
        (self.store, self.clock, self.random, self.scrambler) = (store, clock, random, scrambler)
        self.metrics = metrics
    }

    /// In place of the device's session at the requestor.
    /// - Parameters:
    ///   - integration: As resolved for the device's platform.
    ///   - rule: One that holds now.
    package func start(
        _ caller: DeviceCaller, integration: Integration, mvpd: Mvpd, rule: DegradationRule
    ) async throws(Fault) -> SessionRecord {
        let session = session(DeviceAtHand(caller), integration: integration, mvpd: mvpd, rule: rule)
        _ = try await store.start(session, now: session.createdAt)
        metrics.degradedSessions.increment()
        return session
    }

    /// As above, for the device that shows the code; the code is used up.
    /// - Returns: `nil` when the code is no longer live or was used before; nothing changed.
    package func start(
        _ record: RegistrationRecord, integration: Integration, mvpd: Mvpd, rule: DegradationRule
    ) async throws(Fault) -> SessionRecord? {
        let session = session(DeviceAtHand(record), integration: integration, mvpd: mvpd, rule: rule)
        guard try await store.start(session, now: session.createdAt) else { return nil }
        metrics.degradedSessions.increment()
        return session
    }

    private func session(_ device: DeviceAtHand, integration: Integration, mvpd: Mvpd, rule: DegradationRule) -> SessionRecord {
        let now = clock.now()
        let ruleEnd = Timestamp(milliseconds: Int64(clamping: rule.endsAtMilliseconds))
        return device.session(
            id: SessionID(random.uuid()), mvpd: MvpdID(mvpd.id), userID: scrambler.degraded(device.key.device), createdAt: now,
            expiresAt: min(ruleEnd, now + Catalogue.authnLifetime(integration, mvpd)),
            origin: SessionOrigin(kind: .degraded, authenticatedAt: now, rule: DegradationRuleID(rule.id)))
    }
}
