internal import Catalogue
package import Clocks
package import Contracts
package import Cryptography
package import Faults
package import Identifiers

/// Makes sessions for people whose MVPD is bypassed by an AuthN-all rule (rest-v1 §6.1).
package struct DegradedSessions: Sendable {
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let scrambler: UserIDScrambler
    package let metrics: AuthenticationMetrics

    package init(
        store: SqlAuthenticationStore, clock: any WallClock, random: any RandomSource, scrambler: UserIDScrambler, metrics: AuthenticationMetrics
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

/// Turns the MVPD's id of a person into the one that programmers see (rest-v1 §7). When its key changes, a session keeps the id that it began with
/// (Shared/Documents/Decisions/0052).
package struct UserIDScrambler: Sendable {
    private let keys: SymmetricKeyRing
    private var key: SymmetricKey { keys.current }

    package init(key: SymmetricKey) { self.init(keys: SymmetricKeyRing(current: key)) }

    package init(keys: SymmetricKeyRing) { self.keys = keys }

    /// Lower-case hex of HMAC-SHA-256(key, mvpd ‖ 0x00 ‖ upstream id): the same at every requestor, as long as the key is.
    package func scramble(_ upstreamUserID: String, mvpd: MvpdID) -> String {
        let input = Array(mvpd.text.utf8) + [0] + Array(upstreamUserID.utf8)
        return Hex.encode(HMACSHA256.authenticate(input, key: key))
    }

    /// Stands for the person at a device whose MVPD is bypassed; apps know such ids by their beginning (rest-v1 §6.1).
    package func degraded(_ device: DeviceID) -> String { "95cf93bcd183214a" + digest(of: device) }

    /// Stands for the person at a device that is on trial (rest-v1 §6.2).
    package func tempPass(_ device: DeviceID) -> String { "temppass_" + digest(of: device) }

    /// Stands for a device before callers that may tell devices apart and no more: 64 lower-case hex digits, others at each requestor.
    package func hidden(_ device: DeviceID, requestor: RequestorID) -> String {
        Hex.encode(HMACSHA256.authenticate([0, 0] + Array(requestor.text.utf8) + [0] + Array(device.text.utf8), key: key))
    }

    /// The id of a device whose app made a fingerprint up. It is the same for the same application and fingerprint, and useless without the key
    /// (clients §3).
    package func device(_ fingerprint: String, application: String) -> DeviceID {
        DeviceID(Hex.encode(HMACSHA256.authenticate([0, 1] + Array(application.utf8) + [0] + Array(fingerprint.utf8), key: key)))
    }

    /// Stands for a device in a token that its app keeps.
    package func fingerprint(_ device: DeviceID) -> String { Hex.encode(HMACSHA256.authenticate([0, 2] + Array(device.text.utf8), key: key)) }

    /// 40 hex digits. No MVPD has an empty id, so no input of `scramble` begins with 0x00.
    private func digest(of device: DeviceID) -> String {
        Hex.encode(HMACSHA256.authenticate([0] + Array(device.text.utf8), key: key).prefix(20))
    }
}

/// The session's person in the form in which `erased` remembers erased people: by digests, so that no earlier sign-in brings them back.
package struct ErasedSubject: Hashable, Sendable {
    /// Longer than any code, or anything else that a sign-in goes on from, lives.
    package static let memory: Duration = .seconds(86_400)
    /// Two copies' clocks (State.md).
    static let clockErrorMilliseconds: Int64 = 2000

    /// 64 hex digits each.
    package let person: String
    package let device: String

    package static func person(_ mvpd: MvpdID, userID: String) -> String { Hex.encode(SHA256.hash("person\n\(mvpd.text)\n\(userID)")) }

    package static func device(_ id: DeviceID) -> String { Hex.encode(SHA256.hash("device\n" + id.text)) }
}

extension SessionRecord {
    package var erasable: ErasedSubject {
        ErasedSubject(person: ErasedSubject.person(mvpd, userID: userID), device: ErasedSubject.device(key.device))
    }
}

/// A household as a session's row has it, so that its sessions are found by an index. A digest: the attributes of an upstream's sessions are sealed,
/// and the row must not undo that.
package enum Household {
    package static let attribute = "householdID"

    /// 32 hex digits.
    package static func mark(_ id: String) -> String { Hex.encode(SHA256.hash("household\n" + id).prefix(16)) }

    /// - Returns: Empty where the MVPD told none.
    package static func mark(of attributes: [UserAttribute]) -> String {
        attributes.first { $0.key == attribute }?.values.first { !$0.isEmpty }.map(mark) ?? ""
    }
}
