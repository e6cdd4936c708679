internal import Contracts

/// A person at an MVPD, as programmers know them (rest-v1 §7).
struct Subscriber: Hashable, Sendable {
    let mvpd: MvpdID
    /// The scrambled user id.
    let userID: String

    init(mvpd: MvpdID, userID: String) {
        self.mvpd = mvpd
        self.userID = userID
    }

    init(_ login: LoginReference) { self.init(mvpd: MvpdID(login.mvpd), userID: login.userID) }

    var contract: LoginReference { LoginReference(mvpd: mvpd.text, userID: userID) }
}

extension SessionRecord {
    var subscriber: Subscriber { Subscriber(mvpd: mvpd, userID: userID) }

    /// True for what a person did at the MVPD, in a browser or through a platform: what other devices may be signed in from (rest-v1 §4.9,
    /// apple §1.4). A trial or a degraded session is nobody's login, and one that was taken over is only as good as the login behind it.
    var isLogin: Bool {
        switch kind {
        case .regular, .platform: true
        case .tempPass, .degraded, .shared, .serviceToken, .automatic, .unrecognized: false
        }
    }
}
