package import Clocks
package import Contracts
package import Faults

/// Logins that other devices may be signed in from, and the sessions made so (apple §1.4).
package protocol LoginStore: Sendable {
    /// Logins of these subscribers at the requestor that have not expired, and the sessions that the device has there, the newest first, also expired
    /// ones.
    func logins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord])

    /// The same out of memory as far as possible: logins as they are, and the device's sessions only where memory has them.
    /// - Returns: `nil` when memory is not enough.
    func rememberedLogins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord])?

    /// As `logins(of:besides:now:)`, for no device.
    func logins(of subscribers: Set<Subscriber>, at requestor: RequestorID, now: Timestamp) async throws(Fault) -> [SessionRecord]

    /// Stores the session in place of the newest one before.
    /// - Returns: False when the login is over, or the device has another newest session by now; nothing changed.
    func start(_ made: MadeSession, now: Timestamp) async throws(Fault) -> Bool

    /// Removes automatic sessions, and remembers the logout of each; ids of others are passed over.
    /// - Returns: The number that had not expired.
    func endAutomatic(_ sessions: [SessionID], now: Timestamp) async throws(Fault) -> Int
}

/// A session made from a login elsewhere, as one change.
package struct MadeSession: Hashable, Sendable {
    package let session: SessionRecord
    package let login: SessionID
    /// The newest session that the device was seen to have; `nil`: none.
    package let replaced: SessionID?
    /// The MVPD's, when the login was by OAuth.
    package let tokens: ProviderTokenRecord?

    package init(session: SessionRecord, login: SessionID, replaced: SessionID?, tokens: ProviderTokenRecord?) {
        (self.session, self.login, self.replaced, self.tokens) = (session, login, replaced, tokens)
    }
}

/// A person at an MVPD, as programmers know them (rest-v1 §7).
package struct Subscriber: Hashable, Sendable {
    package let mvpd: MvpdID
    /// The scrambled user id.
    package let userID: String

    package init(mvpd: MvpdID, userID: String) {
        self.mvpd = mvpd
        self.userID = userID
    }

    package init(_ login: LoginReference) { self.init(mvpd: MvpdID(login.mvpd), userID: login.userID) }

    package var contract: LoginReference { LoginReference(mvpd: mvpd.text, userID: userID) }
}

extension SessionRecord {
    package var subscriber: Subscriber { Subscriber(mvpd: mvpd, userID: userID) }

    /// True for a login at the MVPD, in a browser or through a platform. Other devices may be signed in from it (rest-v1 §4.9, apple §1.4). A trial
    /// or a degraded session is nobody's login, and one that was taken over is only as good as the login behind it.
    package var isLogin: Bool {
        switch kind {
        case .regular, .platform: true
        case .tempPass, .degraded, .shared, .serviceToken, .automatic, .unrecognized: false
        }
    }
}
