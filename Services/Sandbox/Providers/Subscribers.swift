internal import SandboxKit
internal import Synchronization

/// The people of one MVPD and the names under which the outside knows them.
final class Subscribers: Sendable {
    /// Most transient names that are remembered; the oldest goes first.
    static let transientLimit = 10_000

    let channels: [String]
    private let people: [Person]
    private let persistent: [String: String]
    private let byPersistent: [String: Person]
    private let visitorPrefix: String?
    private let transients = Mutex(Transients())

    private struct Transients {
        var people: [String: Person] = [:]
        var order: [String] = []
    }

    /// - Parameters:
    ///   - visitorPrefix: Prefix of subject ids that the provider accepts although it did not issue them.
    ///   - key: The provider's key: the same key gives the same persistent names, also after a restart.
    init(people: [Person], channels: [String], visitorPrefix: String? = nil, mvpd: String, key: SandboxSigningKey) throws(XmlRejection) {
        self.people = people
        self.channels = channels
        self.visitorPrefix = visitorPrefix
        var names: [String: String] = [:]
        var owners: [String: Person] = [:]
        for person in people {
            let code = try key.authenticationCode(of: Array("\(mvpd)\u{0}\(person.name)".utf8), purpose: "name-id")
            let name = Hexadecimal.text(code.prefix(16))
            names[person.name] = name
            owners[name] = person
        }
        persistent = names
        byPersistent = owners
    }

    /// Names and rights, for people to choose from.
    var listing: [[String: String]] { people.map { ["name": $0.name, "rights": $0.rights(outOf: channels)] } }

    func person(named name: String) -> Person? { people.first { $0.name == name } }

    /// - Returns: nil when the name or the password is wrong, or the person may never come in.
    func authenticate(name: String, password: String) -> Person? {
        guard let person = person(named: name), person.password == password, !person.loginFails else { return nil }
        return person
    }

    /// The opaque name that stays the same for the person.
    func persistentName(of person: Person) -> String { persistent[person.name] ?? "" }

    /// Remembers a name that is good for one sign-in.
    func remember(transient name: String, of person: Person) {
        transients.withLock { transients in
            transients.people[name] = person
            transients.order.append(name)
            if transients.order.count > Self.transientLimit { transients.people[transients.order.removeFirst()] = nil }
        }
    }

    /// The person behind a subject id: one that this provider issued, or a visitor's.
    func person(subject: String) -> Person? {
        byPersistent[subject] ?? transients.withLock { $0.people[subject] } ?? visitor(subject)
    }

    private func visitor(_ subject: String) -> Person? {
        guard let visitorPrefix, subject.hasPrefix(visitorPrefix) else { return nil }
        return Person(name: subject, subscription: .everything)
    }

    /// The channels that the person pays for, in the line-up's order.
    func channels(of person: Person) -> [String] {
        switch person.subscription {
        case .everything: channels
        case .channels(let own): channels.filter(own.contains)
        }
    }
}

/// The provider's attributes of a person (mvpd §2.5).
struct SubscriberAttributes {
    let person: Person
    let subscribers: Subscribers
    var isHomeBased = false

    /// Attribute names with their values, in a stable order; none without a value.
    var all: [(name: String, values: [String])] {
        let userID = subscribers.persistentName(of: person)
        let household = "household-" + userID.prefix(8)
        return [
            ("userID", [userID]),
            ("upstreamUserID", [userID]),
            ("householdID", [household]),
            ("primaryOID", [household]),
            ("typeID", [person.isHeadOfHousehold ? "Primary" : "Secondary"]),
            ("is_hoh", [person.isHeadOfHousehold ? "1" : "0"]),
            ("hba_status", [isHomeBased ? "true" : "false"]),
            ("allowMirroring", ["true"]),
            ("zip", person.zip),
            ("channelID", subscribers.channels(of: person)),
            ("maxRating", [rating]),
            ("MaxTVRating", [person.maximumTelevisionRating ?? "TV-MA"]),
            ("MaxMovieRating", [person.maximumFilmRating ?? "NC-17"]),
            ("language", ["en"]),
            ("onNet", ["false"]),
            ("inHome", ["false"]),
        ].filter { !$0.values.isEmpty }
    }

    // Ratings are fixed words without characters that JSON escapes.
    private var rating: String {
        #"{"MPAA":"\#(person.maximumFilmRating ?? "NC-17")","VCHIP":"\#(person.maximumTelevisionRating ?? "TV-MA")"}"#
    }
}

/// The home networks that the provider recognises by address: people there sign in without a password (mvpd §5 item 1).
final class HomeNetworks: Sendable {
    struct Home: Sendable, Equatable {
        let addresses: Set<String>
        let person: String
    }

    private let settled: [String: Home]
    private let homes: Mutex<[String: Home]>

    /// - Parameter homes: By MVPD.
    init(_ homes: [String: Home]) {
        settled = homes
        self.homes = Mutex(homes)
    }

    /// - Parameter home: nil: none.
    func set(_ home: Home?, for mvpd: String) { homes.withLock { $0[mvpd] = home } }

    /// Back to the settings.
    func reset() { homes.withLock { $0 = settled } }

    /// The person of the home network with that address.
    func person(at address: String, mvpd: String) -> String? {
        homes.withLock { $0[mvpd].flatMap { $0.addresses.contains(address) ? $0.person : nil } }
    }
}
