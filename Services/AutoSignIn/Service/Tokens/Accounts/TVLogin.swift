internal import Contracts

/// A person at an MVPD, as `authentication` names them (mvpd §2.5).
struct TVLogin: Hashable, Sendable {
    let mvpd: MvpdID
    /// The scrambled user id: 64 lower-case hex digits.
    let userID: String

    var reference: LoginReference { LoginReference(mvpd: mvpd.text, userID: userID) }
}

extension TVLogin {
    init(_ reference: LoginReference) { self.init(mvpd: MvpdID(reference.mvpd), userID: reference.userID) }

    init(_ session: Session) { self.init(mvpd: MvpdID(session.mvpd), userID: session.userID) }
}
