internal import Clocks
internal import Faults
internal import Storage

/// Accounts, each of one programmer.
protocol AccountStore: Sendable {
    /// - Throws: Faults of the storage, here and below.
    func account(_ id: AccountID) async throws(Fault) -> AccountRecord?
    /// The account that a TV login opens; `nil`: none was made yet.
    func account(of login: TVLogin, programmer: ProgrammerID) async throws(Fault) -> AccountRecord?
    /// - Returns: False when there is no such account.
    func setLock(_ id: AccountID, _ isLocked: Bool) async throws(Fault) -> Bool
}

extension AutoSignInStore: AccountStore {
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

    func account(of login: TVLogin, programmer: ProgrammerID) async throws(Fault) -> AccountRecord? {
        AccountRecord(rows: try await store.all(AccountRecord.ofLogin, [programmer, login.mvpd, login.userID]) { AccountRecord.row(&$0) })
    }

    func setLock(_ id: AccountID, _ isLocked: Bool) async throws(Fault) -> Bool {
        try await change { database, touched in
            touched.accounts.insert(id)
            return try database.setLock(id, isLocked)
        }
    }
}
