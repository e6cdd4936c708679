package import Clocks
package import Contracts
package import Faults

/// A verification token that a platform's framework may be given, until its answer comes (mvpd §2.8).
package struct ProfileRequestRecord: Hashable, Sendable {
    /// The platform has this long for its answer (rest-v1 §3.13).
    package static let lifetime: Duration = .seconds(600)

    /// `ID` of the AuthnRequest in the token.
    package let requestID: SamlRequestID
    package let clientID: ClientID
    package let requestor: RequestorID
    package let mvpd: MvpdID
    package let platform: Platform
    /// The issuer that the request named; an audience of the answer.
    package let issuerSent: String
    package let createdAt: Timestamp
    package let expiresAt: Timestamp

    package init(
        requestID: SamlRequestID, clientID: ClientID, requestor: RequestorID, mvpd: MvpdID, platform: Platform, issuerSent: String,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        (self.requestID, self.clientID, self.requestor, self.mvpd) = (requestID, clientID, requestor, mvpd)
        (self.platform, self.issuerSent, self.createdAt, self.expiresAt) = (platform, issuerSent, createdAt, expiresAt)
    }

    /// True when the answer comes from whom the token was made for. The device is not compared: it was not known then.
    package func isOf(_ client: ClientID, _ requestor: RequestorID, _ mvpd: MvpdID, _ platform: Platform) -> Bool {
        clientID == client && self.requestor == requestor && self.mvpd == mvpd && self.platform == platform
    }
}

/// The changes of an accepted answer of a platform, all of them or none (mvpd §2.3 step 31).
package struct PlatformCompletion: Hashable, Sendable {
    package let requestID: SamlRequestID
    package let replay: SignInCompletion.Replay
    package let session: SessionRecord

    package init(requestID: SamlRequestID, replay: SignInCompletion.Replay, session: SessionRecord) {
        (self.requestID, self.replay, self.session) = (requestID, replay, session)
    }
}

/// A completion ended in one of these ways.
package enum PlatformCompletionResult: Hashable, Sendable {
    case completed
    /// The request was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
}

/// The tokens behind a session, as they are stored.
package struct ProviderTokenRecord: Hashable, Sendable {
    package let session: SessionID
    package let requestor: RequestorID
    package let mvpd: MvpdID
    /// Sealed; `nil`: there is none, or the MVPD refused it.
    package var refreshToken: [UInt8]?
    /// Sealed; the newest one.
    package var accessToken: [UInt8]
    package var accessExpiresAt: Timestamp
    /// The end of the session.
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

extension ProviderTokenRecord {
    /// The same tokens, sealed for another session.
    /// - Returns: `nil` when they were sealed with a key that is gone: the MVPD's decisions then ask for a new sign-in.
    package func copy(for session: SessionRecord, seal: TokenSeal) throws(Fault) -> ProviderTokenRecord? {
        guard let access = seal.open(accessToken, of: self.session, as: ProviderAccessToken.self) else { return nil }
        let refresh = refreshToken.flatMap { seal.open($0, of: self.session, as: ProviderRefreshToken.self) }
        var sealedRefresh: [UInt8]?
        if let refresh { sealedRefresh = try seal.close(refresh, of: session.id) }
        let identity = identityToken.flatMap { seal.open($0, of: self.session, as: ProviderIdentityToken.self) }
        var sealedIdentity: [UInt8]?
        if let identity { sealedIdentity = try seal.close(identity, of: session.id) }
        return ProviderTokenRecord(
            session: session.id, requestor: session.key.requestor, mvpd: session.mvpd, refreshToken: sealedRefresh,
            accessToken: try seal.close(access, of: session.id), accessExpiresAt: accessExpiresAt, expiresAt: session.expiresAt,
            identityToken: sealedIdentity)
    }
}
