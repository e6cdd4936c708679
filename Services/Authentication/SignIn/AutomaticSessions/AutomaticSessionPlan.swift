internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import Contracts

/// What a device gets that Automatic Sign-In or Sign in with Apple signs in (apple §1.4).
///
/// The session is stored, unlike one that a platform's identity takes over: it goes on when the login's own device logs out, and ends where
/// the login would have ended, or when the MVPD ends the person's sessions. Nothing is made from it in turn.
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
    ///   - logins: Of these subscribers at the requestor, on whatever device.
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

    /// - Parameter platform: Of the device that is signed in; `nil`: not known.
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
