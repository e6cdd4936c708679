package import Clocks
internal import Contracts
package import Faults

/// The tokens behind a session, as they are stored.
package struct UpstreamTokenRecord: Hashable, Sendable {
    package let session: SessionID
    package let requestor: RequestorID
    package let mvpd: MvpdID
    /// Sealed; `nil`: there is none, or the MVPD refused it.
    package var refreshToken: [UInt8]?
    /// Sealed; the newest one.
    package var accessToken: [UInt8]
    package var accessExpiresAt: Timestamp
    /// Of the session.
    package let expiresAt: Timestamp
    /// Sealed; `nil`: there was none, a longer one, or the session is from before it was kept.
    package var identityToken: [UInt8]?

    package init(
        session: SessionID, requestor: RequestorID, mvpd: MvpdID, refreshToken: [UInt8]? = nil, accessToken: [UInt8], accessExpiresAt: Timestamp,
        expiresAt: Timestamp, identityToken: [UInt8]? = nil
    ) {
        (self.session, self.requestor, self.mvpd, self.refreshToken) = (session, requestor, mvpd, refreshToken)
        (self.accessToken, self.accessExpiresAt, self.expiresAt, self.identityToken) = (accessToken, accessExpiresAt, expiresAt, identityToken)
    }

    /// Octets of an id_token that is kept.
    package static let longestIdentityToken = 8 * 1024
}

extension UpstreamTokenRecord {
    /// The same tokens, sealed for another session.
    /// - Returns: `nil` when they were sealed with a key that is gone: the MVPD's decisions then ask for a new sign-in.
    package func copy(for session: SessionRecord, seal: TokenSeal) throws(Fault) -> UpstreamTokenRecord? {
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
