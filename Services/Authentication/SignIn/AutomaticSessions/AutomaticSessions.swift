internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Signs devices in from logins elsewhere, and out again (apple §1.4).
struct AutomaticSessions: Sendable {
    /// Something changed between reading and writing each time.
    private static let attempts = 8

    let bearers: BearerCheck
    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let seal: TokenSeal
    let metadata: UserMetadataAnswer
    let clock: any WallClock
    let random: any RandomSource
    let metrics: AuthenticationMetrics

    /// - Throws: As `BearerCheck.device`; `subscription_required` when no login serves.
    func start(_ request: StartAutomaticSessionRequest) async throws(Fault) -> AutomaticSession {
        let caller = try await bearers.device(request.call)
        let session = try await session(for: caller, from: Set(request.logins.map(Subscriber.init)))
        return AutomaticSession(
            session: session.contract(in: caller.catalogue), metadata: try await metadata.streamingMetadata(of: session, in: caller.catalogue),
            caller: IdentifiedCaller(caller))
    }

    private func session(for caller: DeviceCaller, from subscribers: Set<Subscriber>) async throws(Fault) -> SessionRecord {
        let key = SessionKey(device: caller.device, requestor: caller.requestor)
        for attempt in 0..<Self.attempts {
            let now = clock.now()
            // The remembered logins are mostly enough: `start` looks at the device and the login once more. The store may know others.
            let remembered = attempt == 0 ? try await store.rememberedLogins(of: subscribers, besides: key, now: now) : nil
            let (own, logins) = if let remembered { remembered } else { try await store.logins(of: subscribers, besides: key, now: now) }
            let plan = AutomaticSessionPlan(
                own: own, logins: logins, of: subscribers, for: caller, id: SessionID(random.uuid(madeAt: now)), now: now)
            switch plan {
            case .keep(let session):
                metrics.keptSessions.increment()
                return session
            case .start(let session, let login):
                let made = MadeSession(session: session, login: login.id, replaced: own.first?.id, tokens: try await tokens(for: session, of: login))
                guard try await store.start(made, now: now) else { continue }
                metrics.startedSessions.increment()
                return session
            case .refuse where remembered != nil: continue
            case .refuse:
                metrics.refusedSessions.increment()
                throw Fault(.subscriptionRequired, "No TV provider's login of the account is valid here.")
            }
        }
        throw Fault(.unavailable, "The device's session keeps changing.", retryAfter: .seconds(1))
    }

    private func tokens(for session: SessionRecord, of login: SessionRecord) async throws(Fault) -> ProviderTokenRecord? {
        guard let upstream = login.origin.upstream else { return nil }
        return try await store.providerTokens(of: upstream)?.copy(for: session, seal: seal)
    }

    /// Those who could sign in a device that nothing is known of.
    /// - Throws: `invalid_requestor`.
    func liveLogins(_ request: FindLiveLoginsRequest) async throws(Fault) -> LiveLogins {
        let catalogue = try catalogue.current()
        let requestor = RequestorID(try catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        let logins = try await store.logins(of: Set(request.logins.map(Subscriber.init)), at: requestor, now: now)
        let live = Set(logins.compactMap { LoginOffer($0, in: catalogue, platform: nil, now: now)?.login.subscriber })
        return LiveLogins(logins: request.logins.filter { live.contains(Subscriber($0)) })
    }

    /// - Returns: The number that ended and had not expired.
    func end(_ request: EndAutomaticSessionsRequest) async throws(Fault) -> UInt32 {
        guard !request.sessionIDs.isEmpty else { return 0 }
        let ended = try await store.endAutomatic(request.sessionIDs.map(SessionID.init), now: clock.now())
        metrics.endedSessions.increment(by: ended)
        return UInt32(clamping: ended)
    }
}

extension AutomaticSessions: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(LoginsMethods.startAutomaticSession) { request, _ in try await start(request) }
        calls.unary(LoginsMethods.findLiveLogins) { request, _ in try await liveLogins(request) }
        calls.unary(LoginsMethods.endAutomaticSessions) { request, _ in EndAutomaticSessionsResponse(ended: try await end(request)) }
    }
}

/// The plan for a device that Automatic Sign-In or Sign in with Apple signs in (apple §1.4).
///
/// The session is stored, unlike one that a platform's identity takes over. It goes on when the login's own device logs out. It ends where the login
/// would have ended, or when the MVPD ends the person's sessions. Nothing is made from it in turn.
enum AutomaticSessionPlan {
    /// A device that the same person is signed in at keeps that session: it lasts as long and allows more. One that would only be made again
    /// stays as well.
    case keep(SessionRecord)
    /// In place of whatever the device has; as long as that login is there.
    case start(SessionRecord, from: SessionRecord)
    /// No login serves.
    case refuse

    /// - Parameters:
    ///   - own: The device's sessions at the requestor, valid or not, the newest first.
    ///   - logins: The logins of these subscribers at the requestor, on any device.
    ///   - id: For a session to be made.
    init(
        own: [SessionRecord], logins: [SessionRecord], of subscribers: Set<Subscriber>, for caller: DeviceCaller, id: @autoclosure () -> SessionID,
        now: Timestamp
    ) {
        let offers = logins.compactMap { LoginOffer($0, in: caller.catalogue, platform: caller.information.platform, now: now) }
        guard let best = offers.max() else {
            self = .refuse
            return
        }
        let state = SessionState.of(own, claims: caller.claims, visibleIn: caller.catalogue, now: now)
        if case .valid(let own) = state, own.isLogin && subscribers.contains(own.subscriber) || best.isTaken(by: own, caller) {
            self = .keep(own)
        } else {
            self = .start(best.session(for: caller, id: id(), now: now), from: best.login)
        }
    }
}

/// A login from which a device may be signed in.
struct LoginOffer: Comparable, Sendable {
    let login: SessionRecord
    /// With the login, and not later than the integration's own lifetime after it.
    let end: Timestamp

    /// - Parameter platform: The platform of the device that is signed in; `nil`: not known.
    /// - Returns: `nil` for one that is over, or where the integration is off or does not allow it.
    init?(_ login: SessionRecord, in catalogue: Catalogue, platform: Platform?, now: Timestamp) {
        guard login.isLogin,
            let (integration, mvpd) = try? catalogue.requireIntegration(
                requestor: login.key.requestor.text, mvpd: login.mvpd.text, platform: platform),
            integration.autoSignIn
        else { return nil }
        self.login = login
        end = min(login.expiresAt, login.origin.authenticatedAt + Catalogue.authnLifetime(integration, mvpd))
        if now >= end { return nil }
    }

    /// The one that lasts longer is the better one.
    static func < (one: LoginOffer, other: LoginOffer) -> Bool { one.rank < other.rank }

    private var rank: (Timestamp, Timestamp, String) { (end, login.origin.authenticatedAt, login.id.text) }

    /// True for a session that was made from this login for the same client, and ends as a new one would.
    func isTaken(by session: SessionRecord, _ caller: DeviceCaller) -> Bool {
        session.kind == .automatic && session.subscriber == login.subscriber && session.expiresAt == end
            && session.origin.authenticatedAt == login.origin.authenticatedAt && session.clientID == caller.client.id
            && session.claims == caller.claims
    }

    /// Where the MVPD gave tokens, the session holds copies of its own: those of the login go when that does.
    func session(for caller: DeviceCaller, id: SessionID, now: Timestamp) -> SessionRecord {
        SessionRecord(
            id: id, key: SessionKey(device: caller.device, requestor: caller.requestor), mvpd: login.mvpd, record: nil, claims: caller.claims,
            clientID: caller.client.id, userID: login.userID, subject: login.subject, createdAt: now, expiresAt: end,
            origin: SessionOrigin(kind: .automatic, authenticatedAt: login.origin.authenticatedAt, upstream: login.origin.upstream.map { _ in id }),
            updatedAt: login.updatedAt, device: caller.information)
    }
}
