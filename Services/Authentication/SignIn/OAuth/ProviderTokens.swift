internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import Memos

/// Access tokens for decisions, each from the refresh token that a sign-in left behind (mvpd §3).
///
/// One that is still good is given again. Among all callers for one session, at any copy of the service, one asks the MVPD at a time. Many MVPDs give
/// another refresh token with each use, and take a second use of the old one for a theft (clients §4.20).
actor ProviderTokens {
    private struct Held {
        let token: ProviderAccessToken
        let expiresAt: Timestamp
    }

    private let client: ProviderClient
    private let catalogue: any CatalogueSource
    private let store: SqlAuthenticationStore
    private let seal: TokenSeal
    private let clock: any WallClock
    private let metrics: AuthenticationMetrics
    private let logger: Logger
    private var held = BoundedCache<SessionID, Held>(capacity: 16_384)
    private var refreshing: [SessionID: Task<Result<UpstreamToken, Fault>, Never>] = [:]

    /// A token that ends so soon is not given out.
    private static let margin: Duration = .seconds(10)
    /// The turn of a copy that dies with it lasts this long; longer than any call to an MVPD.
    private static let lease: Duration = .seconds(10)
    /// Another copy's turn is awaited this long, and looked at this often.
    private static let patience: (tries: Int, pause: Duration) = (100, .milliseconds(100))

    init(
        client: ProviderClient, catalogue: any CatalogueSource, store: SqlAuthenticationStore, seal: TokenSeal, clock: any WallClock,
        metrics: AuthenticationMetrics, logger: Logger
    ) {
        self.client = client
        self.catalogue = catalogue
        self.store = store
        self.seal = seal
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// - Throws: `not_found` for a session that is over or was not made by OAuth; `authorization_denied_by_session_invalidated` when the person has
    ///   to sign in again; `network_connection_timeout`, `network_received_error`, `overloaded` when the MVPD is away; faults of the storage.
    func token(_ session: SessionID) async throws(Fault) -> UpstreamToken {
        let record = try await record(of: session)
        if let known = known(record) { return known }
        guard record.refreshToken != nil else { throw refused(record) }
        if let refreshing = refreshing[session] { return try await refreshing.value.get() }
        let task = Task { () async -> Result<UpstreamToken, Fault> in
            do throws(Fault) { return .success(try await takeTurn(session)) } catch { return .failure(error) }
        }
        refreshing[session] = task
        let result = await task.value
        refreshing[session] = nil
        return try result.get()
    }

    private func record(of session: SessionID) async throws(Fault) -> ProviderTokenRecord {
        guard let record = try await store.providerTokens(of: session), clock.now() < record.expiresAt else {
            held[session] = nil
            throw Fault(.notFound, "There is no session with tokens of a TV provider.")
        }
        return record
    }

    /// A token that is good for a while yet: this copy's, or the one that another copy has stored since.
    private func known(_ record: ProviderTokenRecord) -> UpstreamToken? {
        var newest = held[record.session]
        if newest.map({ $0.expiresAt < record.accessExpiresAt }) ?? true { newest = stored(record) ?? newest }
        guard let newest, clock.now() + Self.margin < newest.expiresAt else { return nil }
        held[record.session] = newest
        return Self.contract(newest)
    }

    /// Asks the MVPD when it is this copy's turn; else waits for what another copy gets.
    private func takeTurn(_ session: SessionID) async throws(Fault) -> UpstreamToken {
        for _ in 0..<Self.patience.tries {
            let now = clock.now()
            if try await store.claimRefresh(of: session, until: now + Self.lease, now: now) { return try await useTurn(session) }
            try? await Task.sleep(for: Self.patience.pause)
            if let known = known(try await record(of: session)) { return known }
        }
        throw Fault(.networkConnectionTimeout, "The TV provider is being asked for too long.")
    }

    private func useTurn(_ session: SessionID) async throws(Fault) -> UpstreamToken {
        do throws(Fault) {
            // Another copy may have had the turn since the tokens were read.
            let record = try await record(of: session)
            guard let known = known(record) else { return try await refresh(record) }
            try await store.endRefresh(of: session)
            return known
        } catch {
            try? await store.endRefresh(of: session)
            throw error
        }
    }

    private func stored(_ record: ProviderTokenRecord) -> Held? {
        seal.open(record.accessToken, of: record.session, as: ProviderAccessToken.self).map { Held(token: $0, expiresAt: record.accessExpiresAt) }
    }

    private func refresh(_ record: ProviderTokenRecord) async throws(Fault) -> UpstreamToken {
        guard let provider = try provider(of: record), let sealed = record.refreshToken,
            let token = seal.open(sealed, of: record.session, as: ProviderRefreshToken.self)
        else { throw refused(record) }
        switch try await client.refresh(token, at: provider, budget: CallBudget(provider.endpoint.totalTimeout)) {
        case .granted(let grant): return try await keep(grant, record, token, provider)
        case .refused("invalid_grant"):
            // Remembered, so that the MVPD is not asked again and again.
            var ended = record
            ended.refreshToken = nil
            held[record.session] = nil
            guard try await store.put(ended, replacing: sealed) else {
                // Somebody else has another one by now: what was refused is not what the session has.
                guard let known = known(try await self.record(of: record.session)) else {
                    throw Fault(.unavailable, "The TV provider's tokens have changed meanwhile.", retryAfter: .seconds(1))
                }
                return known
            }
            throw refused(record)
        case .refused(let code):
            logger.error(
                "oauth_misconfigured", metadata: ["mvpd": "\(provider.id)", "error": "\(OAuthErrors.known.contains(code) ? code : "other")"])
            throw Fault(.networkReceivedError, "The TV provider's answer cannot be used.")
        }
    }

    /// The MVPD as it is now; `nil` when it signs people in by another way or not at all. The login's endpoint is gone with that.
    private func provider(of record: ProviderTokenRecord) throws(Fault) -> OAuthProvider? {
        let catalogue = try catalogue.current()
        guard let integration = catalogue.integration(requestor: record.requestor.text, mvpd: record.mvpd.text),
            let mvpd = catalogue.mvpd(record.mvpd.text)
        else { return nil }
        return OAuthProvider(mvpd, integration, in: catalogue)
    }

    private func keep(
        _ grant: TokenGrant, _ record: ProviderTokenRecord, _ before: ProviderRefreshToken, _ provider: OAuthProvider
    ) async throws(Fault) -> UpstreamToken {
        let fresh = Held(token: grant.accessToken, expiresAt: clock.now() + provider.endpoint.accessLifetime(grant))
        var newest = record
        if let refresh = grant.refreshToken, refresh != before {
            metrics.rotatedRefreshTokens(provider.id)
            newest.refreshToken = try seal.close(refresh, of: record.session)
        }
        (newest.accessToken, newest.accessExpiresAt) = (try seal.close(grant.accessToken, of: record.session), fresh.expiresAt)
        // Stored before the old one is given up, for every copy.
        guard try await store.put(newest, replacing: record.refreshToken) else {
            throw Fault(.notFound, "There is no session with tokens of a TV provider.")
        }
        held[record.session] = fresh
        return Self.contract(fresh)
    }

    private func refused(_ record: ProviderTokenRecord) -> Fault {
        logger.warning("oauth_session_invalidated", metadata: ["mvpd": "\(record.mvpd)", "reason": "norefreshtoken"])
        metrics.invalidatedSessions.increment()
        return Fault(.authorizationDeniedBySessionInvalidated, "The TV provider has ended the session. Sign in again.")
    }

    private static func contract(_ held: Held) -> UpstreamToken {
        UpstreamToken(accessToken: held.token.text, expiresAtMilliseconds: UInt64(clamping: held.expiresAt.milliseconds))
    }
}

extension ProviderTokenRecord {
    init(_ grant: TokenGrant, of session: SessionRecord, endpoint: OAuthEndpoint, seal: TokenSeal, now: Timestamp) throws(Fault) {
        var refreshToken: [UInt8]?
        if let token = grant.refreshToken { refreshToken = try seal.close(token, of: session.id) }
        var identityToken: [UInt8]?
        if let token = grant.identityToken, token.utf8.count <= Self.longestIdentityToken {
            identityToken = try seal.close(ProviderIdentityToken(token), of: session.id)
        }
        self.init(
            session: session.id, requestor: session.key.requestor, mvpd: session.mvpd, refreshToken: refreshToken,
            accessToken: try seal.close(grant.accessToken, of: session.id), accessExpiresAt: now + endpoint.accessLifetime(grant),
            expiresAt: session.expiresAt, identityToken: identityToken)
    }
}

extension OAuthEndpoint {
    /// The provider's lifetime, but not longer than the record allows; 300 s when neither says anything.
    func accessLifetime(_ grant: TokenGrant) -> Duration {
        let own: Duration? = accessTokenTtlSeconds == 0 ? nil : .seconds(Int64(accessTokenTtlSeconds))
        return switch (own, grant.lifetime) {
        case (let own?, let said?): min(own, said)
        case (let span?, nil), (nil, let span?): span
        case (nil, nil): .seconds(300)
        }
    }
}

extension ProviderTokens: CallRegistration {
    nonisolated package func register(on calls: inout some MethodRegistry) {
        calls.unary(SessionsMethods.getUpstreamToken) { [self] request, _ in try await token(SessionID(request.upstreamSessionID)) }
    }
}
