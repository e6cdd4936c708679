internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography

/// A session that a device takes over from a login elsewhere. The login has the same platform identity (rest-v1 §4.9) or the person that a service
/// token names (rest-v2 §5 J).
///
/// It is not stored but found anew at each call. So it ends in the same moment as the login behind it, and nothing can be taken over from it.
enum SharedSession {
    /// The identity that names the person.
    enum Way: Hashable, Sendable {
        case platform, serviceToken
    }

    /// - Parameters:
    ///   - logins: The sessions of the caller's identity.
    ///   - way: The source of that identity.
    ///   - isPerClient: True in REST v2, where what another client's login made here is not the caller's own (rest-v2 §5 I).
    ///   - loggedOutAt: When the caller's device was last logged out at the requestor; older logins do not count.
    /// - Returns: The one that lasts longest; `nil` when there is none, or the caller opted out by an `appId`.
    static func find(
        among logins: [SessionRecord], for caller: DeviceCaller, by way: Way = .platform, isPerClient: Bool = false, loggedOutAt: Timestamp?,
        now: Timestamp
    ) -> SessionRecord? {
        guard caller.claims.appID.isEmpty else { return nil }
        return logins.lazy
            .filter { login in
                isGood(login, for: caller, isPerClient: isPerClient, now) && loggedOutAt.map { login.origin.authenticatedAt > $0 } ?? true
            }
            .compactMap { takenOver($0, by: caller, way, now) }
            .max { ($0.expiresAt, $0.origin.authenticatedAt, $0.id.text) < ($1.expiresAt, $1.origin.authenticatedAt, $1.id.text) }
    }

    /// A login that is valid where it was made.
    private static func isGood(_ login: SessionRecord, for caller: DeviceCaller, isPerClient: Bool, _ now: Timestamp) -> Bool {
        guard login.isLogin, login.claims.appID.isEmpty else { return false }
        let isHere = login.key == SessionKey(device: caller.device, requestor: caller.requestor)
        guard !isHere || isPerClient && login.clientID != caller.client.id else { return false }
        if case .valid = SessionState.of(login, claims: DeviceClaims(), visibleIn: caller.catalogue, now: now) { return true }
        return false
    }

    /// It ends with the login; by the platform's word not later than this integration's own lifetime after the login.
    private static func takenOver(_ login: SessionRecord, by caller: DeviceCaller, _ way: Way, _ now: Timestamp) -> SessionRecord? {
        let parties = try? caller.catalogue.requireIntegration(
            requestor: caller.requestor.text, mvpd: login.mvpd.text, platform: caller.information.platform)
        guard let parties else { return nil }
        let end: Timestamp
        switch way {
        case .platform:
            guard parties.integration.platformSsoEnabled, !parties.mvpd.authPerAggregator else { return nil }
            end = min(login.expiresAt, login.origin.authenticatedAt + Catalogue.authnLifetime(parties.integration, parties.mvpd))
        case .serviceToken:
            guard !parties.mvpd.authPerAggregator || login.key.requestor == caller.requestor else { return nil }
            end = login.expiresAt
        }
        guard now < end else { return nil }
        return SessionRecord(
            id: id(of: login, at: caller), key: SessionKey(device: caller.device, requestor: caller.requestor), mvpd: login.mvpd, record: nil,
            claims: caller.claims, clientID: caller.client.id, userID: login.userID, subject: login.subject, createdAt: login.createdAt,
            expiresAt: end,
            origin: SessionOrigin(
                kind: way == .platform ? .shared : .serviceToken, authenticatedAt: login.origin.authenticatedAt, identity: login.origin.identity,
                serviceIdentity: login.origin.serviceIdentity, upstream: login.origin.upstream),
            updatedAt: login.updatedAt, device: caller.information)
    }

    /// The same for as long as the login lasts, so that permissions which hang on the session last as well.
    private static func id(of login: SessionRecord, at caller: DeviceCaller) -> SessionID {
        let parts = [login.id.text, caller.device.text, caller.requestor.text].map { Array($0.utf8) }
        let digest = SHA256.hash(Array(parts.joined(separator: [0])))
        return SessionID("shared-" + Hex.encode(digest.prefix(16)))
    }
}

extension SessionRecord {
    /// True when the login behind it is elsewhere.
    package var isTakenOver: Bool { kind == .shared || kind == .serviceToken }
}
