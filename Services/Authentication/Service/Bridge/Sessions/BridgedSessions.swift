internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import Storage
internal import StrictJson

/// Keeps sessions that came by an upstream true to what upstream says (bridge §8.1).
struct BridgedSessions: Sendable {
    /// A profile may be visible late: so long after a login its absence is not believed.
    private static let fresh: Duration = .seconds(60)

    let caller: BridgeCaller
    let signIns: BridgedSignIns
    let profiles: BridgedProfiles
    let store: any BridgeStore
    let sessions: any SessionStore
    let catalogue: any CatalogueSource
    let clock: any WallClock
    let logger: Logger
    private let reading = BridgeMemory(Set<SessionID>())

    /// To be called before it is said who is signed in on a device: logins under way are looked for, and what is too old is confirmed. Costs nothing where the
    /// requestor has no upstream.
    /// - Throws: `upstream_unavailable` as long as nobody can say whether somebody is signed in.
    func settle(_ key: SessionKey) async throws(Fault) {
        guard try serves(key.requestor) else { return }
        try await signIns.settle(key)
        for record in try await sessions.sessions(key) {
            guard let part = try await store.bridgedPart(record.id) else { continue }
            try await settle(part)
        }
    }

    /// The same for the session that a code made, or makes.
    func settle(_ code: RegistrationRecord) async throws(Fault) {
        guard try serves(code.requestor) else { return }
        try await signIns.settle(code.id, by: .page)
    }

    private func serves(_ requestor: RequestorID) throws(Fault) -> Bool { try catalogue.current().requestor(requestor.text)?.bridge != nil }

    private func settle(_ part: BridgedPart) async throws(Fault) {
        let now = clock.now()
        guard let upstream = try catalogue.current().upstream(part.upstream), let client = BridgeClientAt(part.slot, at: upstream) else { return }
        let isOver = now >= part.expiresAt
        if isOver, part.knowsLogout { return }
        if isOver || part.isSuspect || now >= part.confirmedAt + upstream.profileStale {
            guard try await read(part, upstream, client, isBackground: false) else {
                throw Fault(.upstreamUnavailable, "The provider cannot be asked now.", retryAfter: .seconds(5))
            }
            return
        }
        guard now >= part.confirmedAt + upstream.profileFresh, reading.withLock({ $0.insert(part.session).inserted }) else { return }
        Task { [self] in
            _ = try? await read(part, upstream, client, isBackground: true)
            reading.withLock { _ = $0.remove(part.session) }
        }
    }

    /// Asks upstream for the profile of a session.
    /// - Returns: False when nobody could be asked; the session is as it was.
    @discardableResult
    func read(_ part: BridgedPart, _ upstream: BridgeUpstream, _ client: BridgeClientAt, isBackground: Bool) async throws(Fault) -> Bool {
        let device = BridgeDevice(part.key.device, part.device, userAgent: part.userAgent)
        let patience = BridgePatience(upstream.totalTimeout, isBackground: isBackground)
        let found: [BridgedProfile]
        do throws(BridgeTrouble) {
            found = try await caller.ask(.profile(part.serviceProvider, mvpd: part.theirMvpd), by: client, for: device, patience) {
                answer throws(BridgeFailure) in try BridgedProfile.all(answer)
            }
        } catch {
            switch error {
            case .clientLost: return true
            case .failure(.refused(let refusal)):
                guard case .trial = BridgeMeaning(refusal) else { return false }
                try await end(part, "trial_over")
                return true
            default: return false
            }
        }
        let now = clock.now()
        guard let profile = found.first(where: { $0.mvpd == part.theirMvpd && $0.end > now }) else {
            // It may not be visible yet.
            if now < part.startsAt + Self.fresh, now >= part.startsAt, !part.isSuspect { return true }
            try await end(part, "gone_upstream")
            return true
        }
        let confirmed = try profiles.confirmed(part, by: profile, now: now)
        try await store.confirm(confirmed, updatedAt: confirmed.attributes == part.attributes ? nil : now)
        return true
    }

    private func end(_ part: BridgedPart, _ reason: String) async throws(Fault) {
        try await store.drop(part)
        logger.notice(
            "bridge.session_ended",
            metadata: ["reason": "\(reason)", "upstream": "\(part.upstream)", "requestor": "\(part.key.requestor)", "mvpd": "\(part.mvpd)"])
    }

    /// What upstream tells of the person: fresh where upstream can be asked, else what is kept.
    /// - Returns: Beside it the session as it is afterwards; `nil` for a session with a way of our own.
    func attributes(of record: SessionRecord) async throws(Fault) -> (attributes: [BridgedAttribute], session: SessionRecord)? {
        guard try serves(record.key.requestor), var part = try await store.bridgedPart(record.id) else { return nil }
        var record = record
        if let upstream = try catalogue.current().upstream(part.upstream), let client = BridgeClientAt(part.slot, at: upstream),
            part.mayHaveChanged || clock.now() >= part.confirmedAt + upstream.profileFresh
        {
            try await read(part, upstream, client, isBackground: false)
            part = try await store.bridgedPart(record.id) ?? part
            record = try await sessions.sessions(record.key).first { $0.id == part.session } ?? record
        }
        let encrypted = Set(part.encryptedNames.map { OctetText($0) })
        let attributes = profiles.attributes(of: part).map { attribute in
            BridgedAttribute(
                name: attribute.key, json: attribute.values.first ?? "null", isEncrypted: encrypted.contains(OctetText(attribute.key)))
        }
        return (attributes, record)
    }
}
