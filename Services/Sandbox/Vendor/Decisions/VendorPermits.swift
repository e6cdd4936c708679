internal import Clocks

/// Permits that are kept, and denials that are cut off (rest-v2 §2.9).
struct UpstreamPermits: Sendable {
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
        var last: UpstreamProblem
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
    func cutOff(_ key: Key, at now: Timestamp) -> UpstreamProblem? {
        guard let known = denials[key], known.moments.filter({ now - $0 < Self.denialTime }).count >= Self.denialLimit else { return nil }
        return known.last
    }

    mutating func note(_ denial: UpstreamProblem, _ key: Key, at now: Timestamp) {
        permits[key] = nil
        let moments = (denials[key]?.moments ?? []).filter { now - $0 < Self.denialTime } + [now]
        denials[key] = Denials(moments: moments, last: denial)
    }
}
