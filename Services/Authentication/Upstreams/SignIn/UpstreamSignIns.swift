internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers
internal import Logging
internal import Memos

/// Sends people to an upstream's login, and finds out what came of it (bridge §7).
struct UpstreamSignIns: Sendable {
    /// Our page to which browsers come back, below the requestor's `returnOrigin`.
    static let returnPath = "/bridge/return/"
    /// A browser that asks twice gets one login.
    private static let sameStart: Duration = .seconds(10)
    /// Upstream is asked about a login so long before its failures are told.
    static let deadlineOfReads: Duration = .seconds(30)

    let caller: UpstreamCaller
    let profiles: UpstreamProfiles
    let logouts: UpstreamLogouts
    let lists: UpstreamLists
    let confirmations: UpstreamConfirmations
    let store: any UpstreamStore
    let codes: SqlAuthenticationStore
    let sessions: SqlAuthenticationStore
    let catalogue: any CatalogueSource
    let clock: any WallClock
    let random: any RandomSource
    let seal: TokenSeal
    let metrics: AuthenticationMetrics
    let logger: Logger
    let journeys: UpstreamJourneys
    private let memory = UpstreamMemory(Memory())

    /// The state of logins under way that only this copy has.
    private struct Memory: Sendable {
        /// Where a browser was sent lately; it holds upstream's code, and is kept nowhere else.
        var starts = BoundedCache<SecretDigest, String>(capacity: 8192)
        var reads = BoundedCache<SecretDigest, PendingReads>(capacity: 65_536)
        var failing = BoundedCache<SecretDigest, Timestamp>(capacity: 8192)
    }

    // MARK: To the login

    /// - Throws: `invalid_domain`, `unknown_integration`, `registration_code_spent`; `upstream_unavailable`, with the time to wait;
    ///   `too_many_requests`; `internal`.
    func start(_ request: StartSignInRequest, _ record: RegistrationRecord, _ way: BridgeWay) async throws(Fault) -> SignInStart {
        let now = clock.now()
        // Upstream cannot be asked without a page (bridge §7.2).
        if request.isPassive { return SignInStart(url: request.redirectURL) }
        if let known = try await startedLately(request, record, way, now) { return known }
        guard let entry = way.upstream.client(requestor: way.requestor, platform: record.device.platform) else {
            throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        }
        if try catalogue.current().isListedOnly(requestor: way.requestor, mvpd: way.mvpd) {
            try await lists.requireOffered(way, to: record.device, at: record.device.connectionIP, waits: true)
        }
        let client = UpstreamClientAt(way.upstream, entry, of: record.deviceID)
        var device = BridgeDevice(record.deviceID, record.device, userAgent: record.userAgent)
        device.temporaryPassIdentity = try UpstreamIdentity.temporaryPass(request.genericData)
        UpstreamPlatformTokens(seal: seal).add(to: &device, of: record)
        let deadline = UpstreamDeadline(way.upstream.totalTimeout)
        let key = SessionKey(device: record.deviceID, requestor: record.requestor)
        let open = try await logouts.tried(of: key, upstream: way.upstream.id, mvpd: way.theirMvpd)
        let isBound = try confirmations.isAsked(for: way.requestor)
        // The logout would end this login too.
        if isBound, !open.isEmpty { throw Self.notSignedOut }
        let handle = RelayHandle.random(from: random)
        let isOwn = !way.bridge.returnOrigin.isEmpty
        let domain = try catalogue.current().requestor(way.requestor)?.ownDomain(request.domainName) ?? request.domainName
        let call = BridgeCall.create(
            way.serviceProvider, mvpd: way.theirMvpd, domainName: way.theirDomain(domain),
            redirectURL: isOwn ? way.bridge.returnOrigin + Self.returnPath + handle.text : request.redirectURL)
        let answer: BridgedSignIn
        let wasClosed = call.integration.map { caller.line.isSuspended($0, at: way.upstream.id) } ?? false
        do throws(UpstreamError) {
            answer = try await caller.ask(call, by: client, for: device, deadline) { answer throws(BridgeFailure) in try BridgedSignIn(answer) }
        } catch {
            if error.refusal == nil { metrics.mvpds?.count(.bad, upstream: way.upstream.id) }
            if let refusal = error.refusal, case .noIntegration = BridgeMeaning(refusal), !wasClosed {
                await lists.refresh(way, for: record.device, at: record.device.connectionIP)
            }
            caller.line.metrics.signInEnded(.failed, way.upstream.id)
            throw Self.fault(error, way, clock.now(), logger)
        }
        metrics.startedSignIns.increment()
        metrics.mvpds?.count(.begun, upstream: way.upstream.id)
        metrics.count(.authnAttempt, record, at: MvpdID(way.mvpd))
        switch answer {
        case .browser(let path, let code, let end):
            guard let url = way.upstream.browserAddresses.absolute(path) else { throw alarm("bridge.foreign_address", way, "url leads elsewhere") }
            let browser = isBound ? BrowserSecret.random(from: random) : nil
            let pending = UpstreamPending(
                handle: handle.digest, record: record.id, code: record.code, key: key, claims: record.claims, clientID: record.clientID,
                device: record.device, userAgent: record.userAgent, mvpd: MvpdID(way.mvpd), upstream: way.upstream.id,
                serviceProvider: way.serviceProvider, theirMvpd: way.theirMvpd, slot: client.name.text,
                upstreamCode: try seal.close(ProviderSecret(code), of: SessionID("bridge code \(record.id)")), redirectURL: request.redirectURL,
                isOwn: isOwn, startedAt: now, expiresAt: BridgedEnd.kept(end, now: now), browserSecret: browser?.digest)
            try await store.begin(pending)
            memory.withLock { $0.starts[handle.digest] = url }
            guard let browser else { return SignInStart(url: url) }
            return SignInStart(
                url: url, expiresInSeconds: UInt32(clamping: (end - now).components.seconds), bridgeHandle: handle.text, bridgeSecret: browser.text)
        case .done:
            return try await adopt(profileOf: record, way, client, device, deadline, isLoggedOut: !open.isEmpty, end: request.redirectURL)
        case .incomplete:
            throw Fault(.invalidDomain, "The upstream service does not take the domain.", cause: alarm("bridge.domain_refused", way, ""))
        case .partner: throw alarm("bridge.unexpected_answer", way, "partner_profile")
        }
    }

    private func startedLately(
        _ request: StartSignInRequest, _ record: RegistrationRecord, _ way: BridgeWay, _ now: Timestamp
    ) async throws(Fault) -> SignInStart? {
        guard let pending = try await store.bridgePending(of: record.id, now: now), pending.state == .open, pending.mvpd.text == way.mvpd,
            pending.redirectURL == request.redirectURL, now < pending.startedAt + Self.sameStart, now >= pending.startedAt
        else { return nil }
        // The login of a person who confirmed it is for that person's browser alone.
        if let secret = pending.browserSecret, !request.bridgeSecrets.prefix(Self.mostSecrets).contains(where: { secret.matches(BrowserSecret($0)) })
        {
            return nil
        }
        return memory.withLock { $0.starts[pending.handle] }.map { SignInStart(url: $0) }
    }

    /// Upstream says that the device is signed in already: by an earlier login, a trial, or a degradation rule.
    private func adopt(
        profileOf record: RegistrationRecord, _ way: BridgeWay, _ client: UpstreamClientAt, _ device: BridgeDevice, _ deadline: UpstreamDeadline,
        isLoggedOut: Bool, end: String
    ) async throws(Fault) -> SignInStart {
        // A person who signed out is not signed in again because upstream has not heard of it yet.
        guard !isLoggedOut else { throw Self.notSignedOut }
        let now = clock.now()
        let found: [BridgedProfile]
        do throws(UpstreamError) {
            found = try await caller.ask(.profile(way.serviceProvider, mvpd: way.theirMvpd), by: client, for: device, deadline) {
                answer throws(BridgeFailure) in try BridgedProfile.all(answer)
            }
        } catch {
            caller.line.metrics.signInEnded(.failed, way.upstream.id)
            throw Self.fault(error, way, clock.now(), logger)
        }
        guard let profile = found.first(where: { $0.mvpd == way.theirMvpd && $0.end > now }) else {
            throw alarm("bridge.unexpected_answer", way, "authorize without a profile")
        }
        let holder = UpstreamProfiles.Holder(
            key: SessionKey(device: record.deviceID, requestor: record.requestor), claims: record.claims, clientID: record.clientID,
            device: record.device, userAgent: record.userAgent, record: record.id, mvpd: MvpdID(way.mvpd), upstream: way.upstream,
            serviceProvider: way.serviceProvider, theirMvpd: way.theirMvpd, slot: client.name.text,
            identity: UpstreamIdentity(temporaryPass: profile.kind == .temporary ? device.temporaryPassIdentity : ""))
        let (session, part) = try profiles.session(of: profile, for: holder, now: now)
        let place = UpstreamConfirmations.Place(key: holder.key, upstream: way.upstream.id, theirMvpd: way.theirMvpd)
        let doubts = try await confirmations.doubts(profile, at: place)
        guard doubts.isEmpty else {
            try await confirmations.dismiss(part, of: doubts, now: now)
            tell("not_confirmed", part)
            throw Fault(.upstreamUnavailable, "Somebody signed in without confirming it here, and is signed out again.", retryAfter: .seconds(5))
        }
        guard try await start(session, part, of: nil, now: now) else { throw RegistrationCodes.spentCode }
        tell("signed_in", part)
        return SignInStart(url: end)
    }

    private static let notSignedOut = Fault(.upstreamUnavailable, "The sign-out has not reached the provider yet.", retryAfter: .seconds(5))
    /// A browser has no more cookies of logins.
    private static let mostSecrets = 8

    // MARK: Back from it

    /// The browser is at our own page. A handle answers again what it answered first (bridge §7.3).
    func finish(_ request: ReturnFromBridgeRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        let handle = RelayHandle(request.handle).digest
        guard let pending = try await store.bridgePending(handle, now: clock.now()) else {
            return SignInOutcome(result: .rejected, traceID: trace.traceID)
        }
        if let secret = pending.browserSecret, !secret.matches(BrowserSecret(request.browserSecret)) {
            try await refuse(pending)
            return SignInOutcome(
                result: .rejected, traceID: trace.traceID, otherBrowser: true, requestor: pending.key.requestor.text)
        }
        var result = SignInResult.declined
        if pending.state == .done {
            result = .signedIn
        } else if pending.awaitsReturn, pending.state != .declined, let way = way(of: pending) {
            let found = await look(pending, way, at: PendingReads.afterReturn)
            switch found {
            case .signedIn: result = .signedIn
            case .nothing:
                try await store.settle(handle, as: .declined)
                caller.line.metrics.signInEnded(.declined, pending.upstream)
            case .away: try await store.settle(handle, as: .undecided)
            case .over: break
            }
            let now = clock.now()
            memory.withLock { memory in
                var reads = memory.reads[handle] ?? Self.reads(pending, way)
                if case .away = found { reads.returnedUndecided(now) } else { reads.returnedWithout(now) }
                memory.reads[handle] = reads
            }
        }
        return SignInOutcome(result: result, redirectURL: pending.redirectURL, traceID: trace.traceID)
    }

    /// Looks after a device's logins before it is said who is signed in there (bridge §7.4, §8.1).
    /// - Returns: Why nobody knows whether somebody is: upstream cannot be asked. `nil`: it is known.
    func settle(_ key: SessionKey, by asker: PendingReads.Asker = .device) async throws(Fault) -> Fault? {
        var doubt: Fault?
        for pending in try await store.bridgePendings(key, now: clock.now()) {
            let own = try await settle(pending, by: asker)
            doubt = doubt ?? own
        }
        return doubt
    }

    /// The same for the login through a code.
    /// - Throws: `upstream_unavailable` as long as nobody knows whether somebody is signed in.
    func settle(_ record: RegistrationRecordID, by asker: PendingReads.Asker) async throws(Fault) {
        guard let pending = try await store.bridgePending(of: record, now: clock.now()), pending.state != .done else { return }
        if let doubt = try await settle(pending, by: asker) { throw doubt }
    }

    private func settle(_ pending: UpstreamPending, by asker: PendingReads.Asker) async throws(Fault) -> Fault? {
        guard let way = way(of: pending) else { return nil }
        // A login that ends at our own page is not looked for before its browser is there, and one of a single browser but once.
        if pending.isOwn, pending.state == .open || !pending.awaitsReturn { return nil }
        let now = clock.now()
        let read = memory.withLock { memory in
            var reads = memory.reads[pending.handle] ?? Self.reads(pending, way)
            // Another copy may have heard of it.
            reads.note(isUndecided: pending.state == .undecided)
            defer { memory.reads[pending.handle] = reads }
            return reads.read(for: asker, now)
        }
        let found: Found
        switch read {
        // It is not given up before upstream has been asked.
        case .no where pending.state == .undecided && now < pending.expiresAt: found = .away
        case .no: found = memory.withLock({ $0.failing[pending.handle] }) == nil ? .nothing : .away
        case .byCode(let isRepeated): found = await look(pending, way, at: isRepeated ? PendingReads.afterReturn : [.zero])
        case .final where pending.browserSecret != nil: found = .over
        case .final: found = await look(pending, way, at: [.zero], isFinal: true)
        }
        let failingSince = memory.withLock { memory -> Timestamp? in
            if case .away = found {
                let since = memory.failing[pending.handle] ?? now
                memory.failing[pending.handle] = since
                return since
            }
            memory.failing[pending.handle] = nil
            if case .nothing = found, pending.state == .undecided { memory.reads[pending.handle]?.returnedWithout(now) }
            return nil
        }
        if pending.state == .undecided {
            switch found {
            case .nothing:
                try await store.settle(pending.handle, as: .declined)
                caller.line.metrics.signInEnded(.declined, pending.upstream)
            case .over where pending.browserSecret == nil: try await store.settle(pending.handle, as: .done)
            case .over, .signedIn, .away: break
            }
        }
        guard let failingSince, pending.state == .undecided || now >= failingSince + Self.deadlineOfReads else { return nil }
        return Fault(.upstreamUnavailable, "The provider cannot be asked now.", retryAfter: .seconds(5))
    }

    private enum Found {
        case signedIn
        case nothing
        /// Nothing more will come of it.
        case over
        case away
    }

    /// The reads of a login that this copy knows nothing of: the browser may have come back to another one.
    private static func reads(_ pending: UpstreamPending, _ way: (upstream: BridgeUpstream, client: UpstreamClientAt)) -> PendingReads {
        var reads = PendingReads(start: pending.startedAt, end: pending.expiresAt, poll: way.upstream.poll)
        switch pending.state {
        case .undecided: reads.returnedUndecided(pending.startedAt)
        case .declined: reads.returnedWithout(pending.startedAt)
        case .open, .done, .refused, .superseded, .refusedUnseen: break
        }
        return reads
    }

    /// Upstream and client of a login, as long as the catalogue has them.
    func way(of pending: UpstreamPending) -> (upstream: BridgeUpstream, client: UpstreamClientAt)? {
        guard let upstream = try? catalogue.current().upstream(pending.upstream), let client = UpstreamClientAt(pending.slot, at: upstream) else {
            return nil
        }
        return (upstream, client)
    }

    private func look(
        _ pending: UpstreamPending, _ way: (upstream: BridgeUpstream, client: UpstreamClientAt), at moments: [Duration], isFinal: Bool = false
    ) async -> Found {
        await journeys.following(pending) { await ask(about: pending, way, at: moments, isFinal: isFinal) }
    }

    private func ask(
        about pending: UpstreamPending, _ way: (upstream: BridgeUpstream, client: UpstreamClientAt), at moments: [Duration], isFinal: Bool
    ) async -> Found {
        guard let code = seal.open(pending.upstreamCode, of: SessionID("bridge code \(pending.record)"), as: ProviderSecret.self)?.text else {
            return .over
        }
        let device = BridgeDevice(pending.key.device, pending.device, userAgent: pending.userAgent)
        let call: BridgeCall =
            isFinal
            ? .profile(pending.serviceProvider, mvpd: pending.theirMvpd)
            : .profile(pending.serviceProvider, code: code, mvpd: pending.theirMvpd)
        let begin = ContinuousClock.now
        for moment in moments {
            let rest = moment - begin.duration(to: .now)
            if rest > .zero { try? await Task.sleep(for: rest) }
            do throws(UpstreamError) {
                let found = try await caller.ask(call, by: way.client, for: device, UpstreamDeadline(way.upstream.totalTimeout)) {
                    answer throws(BridgeFailure) in try BridgedProfile.all(answer)
                }
                if let profile = found.first(where: { $0.mvpd == pending.theirMvpd && $0.end > clock.now() }) {
                    return (try? await adopt(profile, pending, way)) ?? .away
                }
            } catch {
                guard let refusal = error.refusal else {
                    if case .clientLost = error { return .over }
                    return .away
                }
                // A profile that upstream knows for the device, but not from this login, may be another person's.
                guard case .signInOver = BridgeMeaning(refusal), !isFinal, pending.browserSecret == nil else { return .over }
                return await ask(about: pending, way, at: [.zero], isFinal: true)
            }
        }
        return .nothing
    }

    // MARK: Results

    private func adopt(
        _ profile: BridgedProfile, _ pending: UpstreamPending, _ way: (upstream: BridgeUpstream, client: UpstreamClientAt)
    ) async throws(Fault) -> Found {
        let now = clock.now()
        func holder(_ record: RegistrationRecordID?) -> UpstreamProfiles.Holder { Self.holder(pending, way.upstream, record) }
        // The login may belong to a profile that upstream has yet to forget.
        if pending.browserSecret != nil, try await confirmations.isLoggingOut(pending.place, now: now) { return .away }
        let (session, part) = try profiles.session(of: profile, for: holder(pending.record), now: now)
        if try await start(session, part, of: pending.handle, now: now) {
            tell("signed_in", part)
            return .signedIn
        }
        // Another copy, or another poll, was faster.
        if try await store.bridgePending(pending.handle, now: now)?.state == .done { return .signedIn }
        // A code that only expired: the login is the device's all the same (bridge §7.5).
        let code = try await codes.liveRecord(pending.code, now: now - RegistrationRecord.remembrance)
        guard let code, code.id == pending.record, !code.isUsed, !code.wasDeleted else {
            try await store.remember(logoutOf: part, of: [pending.handle], now: now)
            tell("code_gone", part)
            return .over
        }
        let (late, latePart) = try profiles.session(of: profile, for: holder(nil), now: now)
        guard try await start(late, latePart, of: pending.handle, now: now) else { return .over }
        tell("signed_in", latePart)
        return .signedIn
    }

    static func holder(_ pending: UpstreamPending, _ upstream: BridgeUpstream, _ record: RegistrationRecordID?) -> UpstreamProfiles.Holder {
        UpstreamProfiles.Holder(
            key: pending.key, claims: pending.claims, clientID: pending.clientID, device: pending.device, userAgent: pending.userAgent,
            record: record, mvpd: pending.mvpd, upstream: upstream, serviceProvider: pending.serviceProvider, theirMvpd: pending.theirMvpd,
            slot: pending.slot)
    }

    /// A device of REST v1 is signed in at one MVPD: upstream hears of the others' ends.
    /// - Returns: As of the store.
    private func start(_ session: SessionRecord, _ part: UpstreamPart, of pending: SecretDigest?, now: Timestamp) async throws(Fault) -> Bool {
        guard let replaced = try await store.startAlone(session, part, of: pending, now: now) else { return false }
        for other in replaced where other.expiresAt > now { caller.line.metrics.sessionsEnded(.replaced, other.upstream, 1) }
        return true
    }

    func tell(_ result: String, _ part: UpstreamPart) {
        metrics.countBridgedSignIn(part, reason: result == "signed_in" ? "" : result)
        caller.line.metrics.signInEnded(result, part.upstream)
        UpstreamJourney.current?.end(result)
        metrics.signInEnded(result == "signed_in" ? "signed_in" : "rejected", reason: result == "signed_in" ? "" : result)
        metrics.mvpds?.count(result == "signed_in" ? .good : .bad, upstream: part.upstream)
        logger.notice(
            "bridge.sign_in_ended",
            metadata: [
                "result": "\(result)", "upstream": "\(part.upstream)", "requestor": "\(part.key.requestor)", "mvpd": "\(part.mvpd)",
                "kind": "\(part.kind)",
            ])
    }

    private func alarm(_ event: String, _ way: BridgeWay, _ details: String) -> Fault {
        caller.line.metrics.signInEnded(.failed, way.upstream.id)
        logger.error(
            "\(event)", metadata: ["upstream": "\(way.upstream.id)", "requestor": "\(way.requestor)", "mvpd": "\(way.mvpd)", "details": "\(details)"])
        return Fault(.internal, "The upstream service's answer cannot be used.")
    }

    private static func fault(_ trouble: UpstreamError, _ way: BridgeWay, _ now: Timestamp, _ logger: Logger) -> Fault {
        guard let refusal = trouble.refusal else { return trouble.fault(now) }
        let metadata: Logger.Metadata = [
            "upstream": "\(way.upstream.id)", "requestor": "\(way.requestor)", "mvpd": "\(way.mvpd)", "code": "\(refusal.code)",
            "trace": "\(refusal.trace)",
        ]
        switch (BridgeMeaning(refusal), refusal.code) {
        case (.noTemporaryPassIdentity, _): return Fault(.invalidRequest, "Required 'generic_data' is not present")
        case (.trial, _): return FreePreview.usedUp
        case (.noIntegration, _): return Fault(.unknownIntegration, "The provider is not available for this channel.")
        case (_, "invalid_parameter_redirect_url"):
            logger.error("bridge.redirect_refused", metadata: metadata)
            return Fault(.invalidRedirectURL, "The upstream service does not take the redirect URL.")
        case (_, "invalid_parameter_domain_name"), (_, "invalid_parameter_domain"):
            logger.error("bridge.domain_refused", metadata: metadata)
            return Fault(.invalidDomain, "The upstream service does not take the domain.")
        default:
            logger.error("bridge.bad_request", metadata: metadata)
            return Fault(.internal, "The upstream service refused the call.")
        }
    }
}
