package import AuthenticationCore
internal import Clocks

/// The person that is meant, in the form in which the store searches.
package struct PersonQuery: Sendable {
    package enum Name: Sendable {
        /// As the MVPD knows the person.
        case user(String)
        /// The mark of a household.
        case household(String)
        case device(DeviceID)
        case code(RegistrationCodeText)
    }

    package let name: Name
    /// `nil`: any.
    let mvpd: MvpdID?
    /// The names that apps know at MVPDs for this user id.
    var aliases: [Subscriber] = []
    /// Logins that another service knows as the same person's.
    package var logins: [Subscriber] = []
    /// True when a session is of nobody but its device: a trial, or one that a rule made.
    let isAnonymous: @Sendable (SessionRecord) -> Bool

    package init(
        name: Name, mvpd: MvpdID?, aliases: [Subscriber] = [], logins: [Subscriber] = [], isAnonymous: @escaping @Sendable (SessionRecord) -> Bool
    ) {
        (self.name, self.mvpd, self.aliases, self.logins, self.isAnonymous) = (name, mvpd, aliases, logins, isAnonymous)
    }
}

/// A person whom the store knows.
package struct FoundPerson: Sendable {
    /// Sessions and rows of a table that one look takes in.
    static let most = 10_000

    /// A person at an MVPD.
    package struct Identity: Sendable {
        let mvpd: MvpdID
        /// Empty: an upstream's, whose own word for the person is sealed.
        var upstreamID: String
        package var userIDs: Set<String>
        package var sessions = 0
    }

    package var people: [Identity] = []
    /// Several people where one was meant.
    var isAmbiguous = false
    package var sessions: [SessionRecord] = []
    /// Devices of nobody else's.
    var devices: [DeviceID] = []
    var hasMore = false

    /// Takes a session in under its person.
    package mutating func note(_ session: SessionRecord) {
        let (upstream, user) = (session.subject.userID, session.userID)
        let place = people.firstIndex { person in
            person.mvpd == session.mvpd && (!upstream.isEmpty && person.upstreamID == upstream || person.userIDs.contains(user))
        }
        if let place {
            people[place].userIDs.insert(user)
            if people[place].upstreamID.isEmpty { people[place].upstreamID = upstream }
            people[place].sessions += 1
        } else {
            people.append(Identity(mvpd: session.mvpd, upstreamID: upstream, userIDs: [user], sessions: 1))
        }
    }
}

/// The result of an erasure.
package struct ErasedPerson: Sendable {
    package let found: FoundPerson
    /// By table, in the order in which they were emptied.
    package var rows: [(table: String, count: Int)] = []
    /// The sessions whose upstreams have yet to hear of the logout, each with the latest time for it.
    var untold: Set<SessionID> = []
    var untoldUntil = Timestamp(milliseconds: 0)
    var keptSlots = 0

    package mutating func add(_ count: Int, of table: String) {
        guard count > 0 else { return }
        if let place = rows.firstIndex(where: { $0.table == table }) { rows[place].count += count } else { rows.append((table, count)) }
    }
}
