internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import Memos
internal import StrictJson

/// Keeps sessions that came by an upstream true to what upstream says (bridge §8.1).
struct UpstreamSessions: Decider {
    /// A profile may be visible late: so long after a login its absence is not believed.
    private static let fresh: Duration = .seconds(60)
    /// The interval at which sessions that an upstream forgot together with much else are looked for.
    private static let lookingAgain: Duration = .seconds(600)

    let caller: UpstreamCaller
    let signIns: UpstreamSignIns
    let lookups: UpstreamLookups
    let partners: UpstreamPartners
    let profiles: UpstreamProfiles
    let confirmations: UpstreamConfirmations
    let store: any UpstreamStore
    let sessions: SqlAuthenticationStore
    let catalogue: any CatalogueSource
    let clock: any WallClock
    let logger: Logger
    private let reading = UpstreamMemory(Set<SessionID>())
    private let massEnds = UpstreamMemory(UpstreamMassEnds())
    /// When a device was last looked for.
    private let lookedAt = UpstreamMemory(BoundedCache<SessionKey, Timestamp>(capacity: 65_536))

    /// Call this before saying who is signed in on a device. It looks for logins under way, confirms sessions that are too old, and asks upstream for
    /// the person that the call's token names. Costs nothing where the requestor has no upstream.
    /// - Parameter call: As it came; `nil`: of another service.
    /// - Throws: `upstream_unavailable` as long as nobody can say whether somebody is signed in.
    func settle(_ caller: DeviceCaller, _ call: DeviceCall?) async throws(Fault) {
        guard try serves(caller.requestor) else { return }
        let key = SessionKey(device: caller.device, requestor: caller.requestor)
        let device = call.map { BridgeDevice($0) }
        let doubt = try await signIns.settle(key)
        for record in try await sessions.sessions(key) {
            guard let part = try await store.bridgedPart(record.id) else { continue }
            try await settle(part, device)
        }
        if massEnds.withLock({ [now = clock.now()] in $0.hasHappened(now: now) }) { try await revive(caller, device) }
        // An older login holds until it is known what came of a later one.
        if let doubt, try await !hasSession(caller, key) { throw doubt }
        guard let call, let device else { return }
        try await partners.note(call, of: caller)
        try await lookups.settle(caller, device)
    }

    private func hasSession(_ caller: DeviceCaller, _ key: SessionKey) async throws(Fault) -> Bool {
        let state = SessionState.of(try await sessions.sessions(key), claims: caller.claims, visibleIn: caller.catalogue, now: clock.now())
        if case .valid = state { return true }
        return false
    }

    /// The same for the session that a code made, or makes.
    func settle(_ code: RegistrationRecord) async throws(Fault) {
        guard try serves(code.requestor) else { return }
        try await signIns.settle(code.id, by: .page)
    }

    private func serves(_ requestor: RequestorID) throws(Fault) -> Bool { try catalogue.current().requestor(requestor.text)?.bridge != nil }

    /// True while upstream does not serve the session's integration (bridge §8.1, §12.1).
    func hides(_ record: SessionRecord) async throws(Fault) -> Bool {
        guard !caller.line.suspensions.isEmpty, let part = try await store.bridgedPart(record.id) else { return false }
        return isSuspended(part)
    }

    /// True where upstream ended the device's login in the last day (bridge §8.1).
    func hasEnded(_ viewer: DeviceCaller) async throws(Fault) -> Bool {
        guard try serves(viewer.requestor) else { return false }
        let now = clock.now()
        return try await store.gone(SessionKey(device: viewer.device, requestor: viewer.requestor)).contains { login in
            now < login.at + SessionState.remembrance
                && viewer.catalogue.integration(requestor: viewer.requestor.text, mvpd: login.mvpd.text)?.enabled == true
        }
    }

    private func isSuspended(_ part: UpstreamPart) -> Bool { caller.line.isSuspended(part.integration, at: part.upstream) }

    private func settle(_ part: UpstreamPart, _ device: BridgeDevice?) async throws(Fault) {
        if isSuspended(part) { return }
        // Upstream tells of a login elsewhere only to calls that name the person: its last statement stands till then.
        if part.isShared, device?.namesPerson != true { return }
        let now = clock.now()
        guard let upstream = try catalogue.current().upstream(part.upstream), let client = UpstreamClientAt(part.slot, at: upstream) else { return }
        let isOver = now >= part.expiresAt
        // A trial or a rule may last longer than was said, and is asked about once; so is what lasts longer than an end may be kept.
        if isOver, !part.endsByLimit, part.knowsLogout || part.confirmedAt >= part.expiresAt { return }
        if isOver || part.isSuspect || now >= part.confirmedAt + upstream.profileStale {
            guard try await read(part, upstream, client, calling: device, isBackground: false) else {
                throw Fault(.upstreamUnavailable, "The provider cannot be asked now.", retryAfter: .seconds(5))
            }
            return
        }
        guard now >= part.confirmedAt + upstream.profileFresh, reading.withLock({ $0.insert(part.session).inserted }) else { return }
        Task { [self] in
            if (try? await read(part, upstream, client, calling: device, isBackground: true)) == false {
                caller.line.metrics.answeredStale(.session, upstream.id)
            }
            reading.withLock { _ = $0.remove(part.session) }
        }
    }

    /// Asks upstream for the profile of a session.
    /// - Parameter caller: The device that calls now, if it does.
    /// - Returns: False when nobody could be asked; the session is as it was.
    @discardableResult
    func read(
        _ part: UpstreamPart, _ upstream: BridgeUpstream, _ client: UpstreamClientAt, calling caller: BridgeDevice? = nil, isBackground: Bool
    ) async throws(Fault) -> Bool {
        let device = profiles.device(of: part, calling: part.isShared ? caller : nil)
        let deadline = UpstreamDeadline(upstream.totalTimeout, isBackground: isBackground)
        let found: [BridgedProfile]
        do throws(UpstreamError) {
            found = try await ask(for: part, client, device, deadline)
        } catch {
            switch error {
            case .clientLost: return true
            case .failure(.refused(let refusal)):
                switch BridgeMeaning(refusal) {
                case .trial(.authenticationSessionExpired): try await expire(part, "trial_over")
                // A resource that was played already may be played again.
                case .trial: break
                // It is hidden from now on.
                case .noIntegration: break
                default: return false
                }
                return true
            default: return false
            }
        }
        let now = clock.now()
        guard let profile = found.first(where: { $0.mvpd == part.theirMvpd && $0.end > now }) else {
            guard part.knowsLogout, now < part.expiresAt else {
                try await expire(part, "over_upstream")
                return true
            }
            // It may not be visible yet.
            if now < part.startsAt + Self.fresh, now >= part.startsAt, !part.isSuspect { return true }
            try await end(part, "gone_upstream")
            note(part, hasEnded: true)
            return true
        }
        note(part, hasEnded: false)
        let place = UpstreamConfirmations.Place(key: part.key, upstream: part.upstream, theirMvpd: part.theirMvpd)
        // Another login than the session's, which nobody brought back here.
        if profile.start != part.startsAt, try await !confirmations.doubts(profile, at: place).isEmpty { return true }
        let confirmed = try profiles.confirmed(part, by: profile, now: now)
        try await store.confirm(confirmed, updatedAt: confirmed.attributes == part.attributes ? nil : now)
        return true
    }

    private func ask(
        for part: UpstreamPart, _ client: UpstreamClientAt, _ device: BridgeDevice, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) -> [BridgedProfile] {
        try await caller.ask(.profile(part.serviceProvider, mvpd: part.theirMvpd), by: client, for: device, deadline) {
            answer throws(BridgeFailure) in try BridgedProfile.all(answer)
        }
    }

    private func note(_ part: UpstreamPart, hasEnded: Bool) {
        let now = clock.now()
        guard let alarm = massEnds.withLock({ $0.note(part.upstream, hasEnded: hasEnded, now: now) }) else { return }
        logger.error("bridge.mass_sign_out", metadata: ["upstream": "\(part.upstream)", "details": "\(alarm)"])
    }

    /// Takes again what an upstream forgot together with much else, where it knows it again.
    private func revive(_ viewer: DeviceCaller, _ device: BridgeDevice?) async throws(Fault) {
        let (key, now) = (SessionKey(device: viewer.device, requestor: viewer.requestor), clock.now())
        let isDue = lookedAt.withLock { known in
            if let last = known[key], now >= last, now < last + Self.lookingAgain { return false }
            known[key] = now
            return true
        }
        guard isDue else { return }
        if try await hasSession(viewer, key) { return }
        let loggedOutAt = try await sessions.lastLogout(key, now: now)
        for part in try await store.forgotten(key, since: now - UpstreamMassEnds.memory) {
            guard massEnds.withLock({ $0.hasHappened(part.upstream, now: now) }), !part.isShared, !part.isPartners, !isSuspended(part),
                let upstream = try catalogue.current().upstream(part.upstream), let client = UpstreamClientAt(part.slot, at: upstream)
            else { continue }
            let found: [BridgedProfile]
            do throws(UpstreamError) {
                found = try await ask(for: part, client, profiles.device(of: part), UpstreamDeadline(upstream.totalTimeout, isBackground: true))
            } catch {
                continue
            }
            guard let profile = found.first(where: { $0.mvpd == part.theirMvpd && $0.end > now }), loggedOutAt.map({ profile.start > $0 }) ?? true
            else { continue }
            let place = UpstreamConfirmations.Place(key: key, upstream: part.upstream, theirMvpd: part.theirMvpd)
            guard try await confirmations.mayAdopt(profile, at: place, now: now) else { continue }
            let holder = UpstreamProfiles.Holder(
                key: key, claims: viewer.claims, clientID: viewer.client.id, device: part.device, userAgent: part.userAgent, record: nil,
                mvpd: part.mvpd, upstream: upstream, serviceProvider: part.serviceProvider, theirMvpd: part.theirMvpd, slot: part.slot)
            let (session, fresh) = try profiles.session(of: profile, for: holder, now: now)
            guard try await store.start(session, fresh, of: nil, now: now) else { continue }
            caller.line.metrics.signInEnded(.revived, part.upstream)
            logger.notice(
                "bridge.session_revived",
                metadata: ["upstream": "\(part.upstream)", "requestor": "\(key.requestor)", "mvpd": "\(part.mvpd)"])
            return
        }
    }

    private func end(_ part: UpstreamPart, _ reason: String) async throws(Fault) {
        try await store.drop(part, now: clock.now())
        tell(part, reason)
    }

    /// The session is over, as one whose time has passed.
    private func expire(_ part: UpstreamPart, _ reason: String) async throws(Fault) {
        var over = part
        over.confirmedAt = clock.now()
        over.expiresAt = min(part.expiresAt, over.confirmedAt)
        try await store.confirm(over, updatedAt: nil)
        tell(part, reason)
    }

    private func tell(_ part: UpstreamPart, _ reason: String) {
        caller.line.metrics.sessionEnded(reason, part.upstream)
        logger.notice(
            "bridge.session_ended",
            metadata: ["reason": "\(reason)", "upstream": "\(part.upstream)", "requestor": "\(part.key.requestor)", "mvpd": "\(part.mvpd)"])
    }

    /// Upstream's data about the person: fresh where upstream can be asked, otherwise the stored values.
    /// - Returns: Beside it the session as it is afterwards; `nil` for a session with a way of our own.
    func attributes(of record: SessionRecord) async throws(Fault) -> (attributes: [BridgedAttribute], session: SessionRecord)? {
        guard try serves(record.key.requestor), var part = try await store.bridgedPart(record.id) else { return nil }
        var record = record
        if !part.isShared, let upstream = try catalogue.current().upstream(part.upstream), let client = UpstreamClientAt(part.slot, at: upstream),
            part.mayHaveChanged || clock.now() >= part.confirmedAt + upstream.profileFresh
        {
            if try await !read(part, upstream, client, isBackground: false) { caller.line.metrics.answeredStale(.metadata, upstream.id) }
            part = try await store.bridgedPart(record.id) ?? part
            record = try await sessions.sessions(record.key).first { $0.id == part.session } ?? record
        }
        let encrypted = Set(part.encryptedNames.map { OctetText($0) })
        var attributes = profiles.attributes(of: part).map { attribute in
            BridgedAttribute(
                name: attribute.key, json: attribute.values.first ?? "null", isEncrypted: encrypted.contains(OctetText(attribute.key)))
        }
        // As of every login by the platform (rest-v1 §8).
        if part.isPartners, !attributes.contains(where: { $0.name == "tokenSource" }) {
            attributes.append(BridgedAttribute(name: "tokenSource", json: #""Apple""#, isEncrypted: false))
        }
        return (attributes, record)
    }

    func decider(of record: SessionRecord) async throws(Fault) -> BridgedSession? {
        guard try serves(record.key.requestor), let part = try await store.bridgedPart(record.id) else { return nil }
        return BridgedSession(
            upstream: part.upstream, serviceProvider: part.serviceProvider, mvpd: part.theirMvpd, needsIdentity: profiles.needsIdentity(part))
    }

    func keptAttributes(_ sealed: [UInt8], of session: String) -> [UserAttribute] { profiles.plainAttributes(sealed, of: session) }
}
