internal import Clocks
internal import Faults
internal import Storage

/// Brings a proven person to their account, old or new: account, name and link in one commit (apple §4, I6 and I8).
struct AppleEntry: Sendable {
    let parts: AppleParts
    let arrival: AppleArrival
    let programmer: ProgrammerID
    let now: Timestamp
    private let newAccount: AccountID
    private let newLink: AppleLinkID

    init(_ parts: AppleParts, _ arrival: AppleArrival, programmer: ProgrammerID) {
        self.parts = parts
        self.arrival = arrival
        self.programmer = programmer
        now = parts.now()
        newAccount = AccountID(parts.newID())
        newLink = AppleLinkID(parts.newID())
    }

    var isNew: Bool { arrival == .newcomer }

    /// - Returns: `nil` for a newcomer.
    /// - Throws: `account_locked`; faults of the storage.
    func existingAccount() async throws(Fault) -> AccountRecord? {
        guard let id = arrival.account else { return nil }
        let account = try await parts.store.account(id)
        try account?.requireUsable()
        return account
    }

    /// - Returns: `nil` when somebody else was quicker, and the person finds something else by now.
    func enter(
        _ person: ProvenPerson, in database: Database, _ touched: inout Touched
    ) throws -> (account: AccountRecord, link: AppleLinkRecord)? {
        let authorization = person.authorization
        guard try database.arrival(of: authorization, programmer: programmer, now: now) == arrival else { return nil }
        let account: AccountRecord
        if let id = arrival.account {
            guard let known = try database.account(id) else { return nil }
            try known.requireUsable()
            account = known
        } else {
            account = AccountRecord(id: newAccount, programmer: programmer, createdAt: now)
            try database.insert(account)
        }
        var known: AppleLinkRecord?
        if case .known(let link) = arrival { known = link }
        let link = try parts.linking.authorize(authorization, known, id: newLink, account: account, in: database, &touched, now: now)
        touched.accounts.insert(account.id)
        return (account, link)
    }
}
