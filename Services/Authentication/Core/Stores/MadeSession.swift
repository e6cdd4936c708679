package import Contracts

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
