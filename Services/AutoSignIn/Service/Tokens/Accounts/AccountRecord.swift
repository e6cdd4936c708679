internal import Clocks

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

/// What Apple told of the person (apple §2.7); each part may be missing.
struct AccountProfile: Hashable, Sendable {
    var givenName: String?
    var familyName: String?
    var email: String?
    var isEmailVerified = false
    /// A relay address of Apple's.
    var isEmailPrivate = false

    var hasName: Bool { givenName != nil || familyName != nil }
}
