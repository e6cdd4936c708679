internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import Storage

/// Access tokens for decisions, each from the refresh token that a sign-in left behind (mvpd §3).
///
/// One that is still good is given again; several callers for one session share one call at the MVPD.
actor UpstreamTokens {
    private struct Held {
        let token: UpstreamAccessToken
        let expiresAt: Timestamp
    }

    private let client: ProviderClient
    private let catalogue: any CatalogueSource
    private let store: any AuthenticationStore
    private let seal: TokenSeal
    private let clock: any WallClock
    private let metrics: AuthenticationMetrics
    private let logger: Logger
    private var held = BoundedCache<SessionID, Held>(capacity: 16_384)
    private var refreshing: [SessionID: Task<Result<UpstreamToken, Fault>, Never>] = [:]

    /// A token that ends so soon is not given out.
    private static let margin: Duration = .seconds(10)

    init(
        client: ProviderClient, catalogue: any CatalogueSource, store: any AuthenticationStore, seal: TokenSeal, clock: any WallClock,
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
        let now = clock.now()
        guard let record = try await store.upstreamTokens(of: session), now < record.expiresAt else {
            held[session] = nil
            throw Fault(.notFound, "There is no session with tokens of a TV provider.")
        }
        if let known = held[session] ?? stored(record), now + Self.margin < known.expiresAt { return Self.contract(known) }
        if let refreshing = refreshing[session] { return try await refreshing.value.get() }
        let task = Task { () async -> Result<UpstreamToken, Fault> in
            do throws(Fault) { return .success(try await refresh(record)) } catch { return .failure(error) }
        }
        refreshing[session] = task
        let result = await task.value
        refreshing[session] = nil
        return try result.get()
    }

    private func stored(_ record: UpstreamTokenRecord) -> Held? {
        seal.open(record.accessToken, of: record.session, as: UpstreamAccessToken.self).map { Held(token: $0, expiresAt: record.accessExpiresAt) }
    }

    private func refresh(_ record: UpstreamTokenRecord) async throws(Fault) -> UpstreamToken {
        guard let provider = try provider(of: record), let sealed = record.refreshToken,
            let token = seal.open(sealed, of: record.session, as: UpstreamRefreshToken.self)
        else { throw refused(record) }
        switch try await client.refresh(token, at: provider, budget: CallBudget(provider.endpoint.totalTimeout)) {
        case .granted(let grant): return try await keep(grant, record, token, provider)
        case .refused("invalid_grant"):
            // Remembered, so that the MVPD is not asked again and again.
            _ = try await store.replaceRefreshToken(of: record.session, by: nil, replacing: sealed)
            held[record.session] = nil
            throw refused(record)
        case .refused(let code):
            logger.error(
                "oauth_misconfigured", metadata: ["mvpd": "\(provider.id)", "error": "\(OAuthErrors.known.contains(code) ? code : "other")"])
            throw Fault(.networkReceivedError, "The TV provider's answer cannot be used.")
        }
    }

    /// The MVPD as it is now; `nil` when it signs people in by another way, or not at all, and the login's endpoint is gone with that.
    private func provider(of record: UpstreamTokenRecord) throws(Fault) -> OAuthProvider? {
        let catalogue = try catalogue.current()
        guard let integration = catalogue.integration(requestor: record.requestor.text, mvpd: record.mvpd.text),
            let mvpd = catalogue.mvpd(record.mvpd.text)
        else { return nil }
        return OAuthProvider(mvpd, integration, in: catalogue)
    }

    private func keep(
        _ grant: TokenGrant, _ record: UpstreamTokenRecord, _ before: UpstreamRefreshToken, _ provider: OAuthProvider
    ) async throws(Fault) -> UpstreamToken {
        if let newest = grant.refreshToken, newest != before {
            // mvpd §3: it must not change on use; an alarm, and the newest one serves.
            logger.error("oauth_refresh_token_rotated", metadata: ["mvpd": "\(provider.id)"])
            metrics.rotatedRefreshTokens(provider.id)
            let sealed = try seal.close(newest, of: record.session)
            _ = try await store.replaceRefreshToken(of: record.session, by: sealed, replacing: record.refreshToken)
        }
        let fresh = Held(token: grant.accessToken, expiresAt: clock.now() + provider.endpoint.accessLifetime(grant))
        held[record.session] = fresh
        return Self.contract(fresh)
    }

    private func refused(_ record: UpstreamTokenRecord) -> Fault {
        logger.warning("oauth_session_invalidated", metadata: ["mvpd": "\(record.mvpd)", "reason": "norefreshtoken"])
        metrics.invalidatedSessions.increment()
        return Fault(.authorizationDeniedBySessionInvalidated, "The TV provider has ended the session. Sign in again.")
    }

    private static func contract(_ held: Held) -> UpstreamToken {
        UpstreamToken(accessToken: held.token.text, expiresAtMilliseconds: UInt64(clamping: held.expiresAt.milliseconds))
    }
}
