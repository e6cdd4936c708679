package import AuthenticationCore
package import Clocks
package import Contracts
package import Faults

/// Who is meant, as the store looks for them.
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
    /// What a user id comes to at MVPDs, as apps know the person.
    var aliases: [Subscriber] = []
    /// Logins that another service knows as the same person's.
    package var logins: [Subscriber] = []
    /// Whether a session is of nobody but its device: a trial, or one that a rule made.
    let isAnonymous: @Sendable (SessionRecord) -> Bool
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

/// What the store says of people, and does for them.
package protocol PersonStore: Sendable {
    /// - Throws: `unavailable` while households of older sessions are not known yet.
    func person(_ query: PersonQuery) async throws(Fault) -> FoundPerson

    /// Every row of a person's.
    /// - Parameter attributes: Opens what an upstream told with a session.
    func told(
        _ person: FoundPerson, attributes: @escaping @Sendable ([UInt8], String) -> String?
    ) async throws(Fault) -> (tables: [PersonTable], hasMore: Bool)

    /// Finds and removes, in one commit.
    /// - Returns: Whom, and how many rows of each table; none where the query stands for several people.
    func erase(_ query: PersonQuery, now: Timestamp) async throws(Fault) -> ErasedPerson

    /// Marks households of sessions that a release before wrote, a batch of them.
    /// - Parameter attributes: Opens what an upstream told with a session.
    /// - Returns: How many.
    func markHouseholds(_ attributes: @escaping @Sendable ([UInt8], String) -> [UserAttribute]) async throws(Fault) -> Int
}

/// What an erasure came to.
package struct ErasedPerson: Sendable {
    package let found: FoundPerson
    /// By table, in the order in which they were emptied.
    var rows: [(table: String, count: Int)] = []
    /// Of upstreams that have yet to hear of the logout: which, and until when at the latest.
    var untold: Set<SessionID> = []
    var untoldUntil = Timestamp(milliseconds: 0)
    var keptSlots = 0

    package mutating func add(_ count: Int, of table: String) {
        guard count > 0 else { return }
        if let place = rows.firstIndex(where: { $0.table == table }) { rows[place].count += count } else { rows.append((table, count)) }
    }
}
