internal import Clocks
internal import Contracts
internal import Faults

/// The tokens behind a session, as they are stored.
struct UpstreamTokenRecord: Hashable, Sendable {
    let session: SessionID
    let requestor: RequestorID
    let mvpd: MvpdID
    /// Sealed; `nil`: there is none, or the MVPD refused it.
    var refreshToken: [UInt8]?
    /// Sealed; the newest one.
    var accessToken: [UInt8]
    var accessExpiresAt: Timestamp
    /// Of the session.
    let expiresAt: Timestamp
    /// Sealed; `nil`: there was none, a longer one, or the session is from before it was kept.
    var identityToken: [UInt8]?

    /// Octets of an id_token that is kept.
    static let longestIdentityToken = 8 * 1024
}

extension UpstreamTokenRecord {
    init(_ grant: TokenGrant, of session: SessionRecord, endpoint: OAuthEndpoint, seal: TokenSeal, now: Timestamp) throws(Fault) {
        self.session = session.id
        requestor = session.key.requestor
        mvpd = session.mvpd
        if let token = grant.refreshToken { refreshToken = try seal.close(token, of: session.id) }
        accessToken = try seal.close(grant.accessToken, of: session.id)
        accessExpiresAt = now + endpoint.accessLifetime(grant)
        expiresAt = session.expiresAt
        if let token = grant.identityToken, token.utf8.count <= Self.longestIdentityToken {
            identityToken = try seal.close(UpstreamIdentityToken(token), of: session.id)
        }
    }
}

extension UpstreamTokenRecord {
    /// The same tokens, sealed for another session.
    /// - Returns: `nil` when they were sealed with a key that is gone: the MVPD's decisions then ask for a new sign-in.
    func copy(for session: SessionRecord, seal: TokenSeal) throws(Fault) -> UpstreamTokenRecord? {
        guard let access = seal.open(accessToken, of: self.session, as: UpstreamAccessToken.self) else { return nil }
        let refresh = refreshToken.flatMap { seal.open($0, of: self.session, as: UpstreamRefreshToken.self) }
        var sealedRefresh: [UInt8]?
        if let refresh { sealedRefresh = try seal.close(refresh, of: session.id) }
        let identity = identityToken.flatMap { seal.open($0, of: self.session, as: UpstreamIdentityToken.self) }
        var sealedIdentity: [UInt8]?
        if let identity { sealedIdentity = try seal.close(identity, of: session.id) }
        return UpstreamTokenRecord(
            session: session.id, requestor: session.key.requestor, mvpd: session.mvpd, refreshToken: sealedRefresh,
            accessToken: try seal.close(access, of: session.id), accessExpiresAt: accessExpiresAt, expiresAt: session.expiresAt,
            identityToken: sealedIdentity)
    }
}

extension OAuthEndpoint {
    /// What the provider says, but not longer than the record allows; 300 s when neither says anything.
    func accessLifetime(_ grant: TokenGrant) -> Duration {
        let own: Duration? = accessTokenTtlSeconds == 0 ? nil : .seconds(Int64(accessTokenTtlSeconds))
        return switch (own, grant.lifetime) {
        case (let own?, let said?): min(own, said)
        case (let span?, nil), (nil, let span?): span
        case (nil, nil): .seconds(300)
        }
    }
}
