internal import SandboxKit
internal import Clocks

/// Permits that are kept, and denials that are cut off (rest-v2 §2.9).
struct VendorPermits: Sendable {
    struct Key: Sendable, Hashable {
        /// The profile's id.
        let profile: String
        /// Octets of the resource.
        let resource: [UInt8]

        init(_ profile: String, _ resource: String) {
            self.profile = profile
            self.resource = Array(resource.utf8)
        }
    }

    struct Permit: Sendable {
        let start: Timestamp
        let end: Timestamp
    }

    private struct Denials {
        var moments: [Timestamp]
        var last: VendorProblem
    }

    /// So many denials in so much time, and the MVPD is not asked again (rest-v2 case 113).
    private static let denialLimit = 5
    private static let denialTime = Duration.seconds(10)

    private var permits = BoundedTable<Key, Permit>(limit: 100_000)
    private var denials = BoundedTable<Key, Denials>(limit: 10_000)

    func permit(_ key: Key, at now: Timestamp) -> Permit? { permits[key].flatMap { now < $0.end ? $0 : nil } }

    mutating func keep(_ permit: Permit, _ key: Key) {
        permits[key] = permit
        denials[key] = nil
    }

    /// - Returns: The last denial, where the resource was denied too often to be asked about again.
    func cutOff(_ key: Key, at now: Timestamp) -> VendorProblem? {
        guard let known = denials[key], known.moments.filter({ now - $0 < Self.denialTime }).count >= Self.denialLimit else { return nil }
        return known.last
    }

    mutating func note(_ denial: VendorProblem, _ key: Key, at now: Timestamp) {
        permits[key] = nil
        let moments = (denials[key]?.moments ?? []).filter { now - $0 < Self.denialTime } + [now]
        denials[key] = Denials(moments: moments, last: denial)
    }
}

/// The channels that an MVPD lets a person watch.
struct ChannelPolicy: Sendable {
    let channels: [String]

    /// - Parameter resource: A channel, or a Media RSS document with a channel's title and perhaps a rating.
    /// - Returns: nil: the person may watch.
    func denial(_ resource: String, _ person: Person, isPreauthorization: Bool) -> VendorProblem? {
        let denied: VendorErrorCode = isPreauthorization ? .preauthorizationDenied : .denied
        let asked = Self.asked(resource)
        guard channels.contains(where: { $0 == asked.channel }) else {
            return VendorProblem(denied, details: "This provider does not carry the channel")
        }
        guard pays(person, for: asked.channel) else {
            return VendorProblem(denied, details: "Add \(asked.channel) to your package to watch it")
        }
        guard asked.ratings.allSatisfy({ Self.isAllowed($0, for: person) }) else { return VendorProblem(.deniedByParentalControls) }
        return nil
    }

    private func pays(_ person: Person, for channel: String) -> Bool {
        switch person.subscription {
        case .everything: true
        case .channels(let own): own.contains { $0 == channel }
        }
    }

    private static func asked(_ resource: String) -> (channel: String, ratings: [String]) {
        guard resource.hasPrefix("<"), let asked = try? MediaRss(parsing: Array(resource.utf8)) else { return (resource, []) }
        return (asked.channel, asked.ratings)
    }

    private static func isAllowed(_ rating: String, for person: Person) -> Bool {
        if Rating.film.rank(rating) != nil { return Rating.film.allows(rating, limit: person.maximumFilmRating) }
        return Rating.television.allows(rating, limit: person.maximumTelevisionRating)
    }
}
