internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// Accounts, each of one programmer; each call throws faults of the storage.
extension AutoSignInStore {
    func account(_ id: AccountID) async throws(Fault) -> AccountRecord? {
        let epoch: CoherentCache<AccountID, AccountRecord>.Epoch
        switch accounts.lookup(id) {
        case .hit(let account): return account
        case .miss(let current): epoch = current
        }
        let found = AccountRecord(rows: try await store.all(AccountRecord.withLogins, [id]) { AccountRecord.row(&$0) })
        if let found { accounts.offer(found, for: id, readIn: epoch) }
        return found
    }

    /// The account that a TV login opens; `nil`: none was made yet.
    func account(of login: TVLogin, programmer: ProgrammerID) async throws(Fault) -> AccountRecord? {
        AccountRecord(rows: try await store.all(AccountRecord.ofLogin, [programmer, login.mvpd, login.userID]) { AccountRecord.row(&$0) })
    }

    /// - Returns: False when there is no such account.
    func setLock(_ id: AccountID, _ isLocked: Bool) async throws(Fault) -> Bool {
        try await change { database, touched in
            touched.accounts.insert(id)
            return try database.setLock(id, isLocked)
        }
    }
}

/// A person at a programmer, with what opens the account (apple §1.4).
struct AccountRecord: Hashable, Sendable {
    let id: AccountID
    let programmer: ProgrammerID
    let createdAt: Timestamp
    var isLocked = false
    /// `nil`: open. A closed one keeps nothing of the person.
    var closedAt: Timestamp?
    var profile = AccountProfile()
    var logins: [TVLogin] = []
}

/// Apple's facts about the person (apple §2.7); each part may be missing.
struct AccountProfile: Hashable, Sendable {
    var givenName: String?
    var familyName: String?
    var email: String?
    var isEmailVerified = false
    /// A relay address of Apple's.
    var isEmailPrivate = false

    var hasName: Bool { givenName != nil || familyName != nil }
}

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
