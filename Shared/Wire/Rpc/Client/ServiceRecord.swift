internal import Faults

/// One SRV record (RFC 2782).
package struct ServiceRecord: Hashable, Sendable {
    package var target: String
    package var port: Int
    package var priority: Int
    package var weight: Int
    /// Seconds that it may be kept.
    package var timeToLive: Int

    package init(target: String, port: Int, priority: Int = 0, weight: Int = 0, timeToLive: Int) {
        (self.target, self.port, self.priority, self.weight, self.timeToLive) = (target, port, priority, weight, timeToLive)
    }
}

extension ServiceRecord {
    /// How long the records of a name are kept whatever they say, in seconds. So a copy that comes is found, and a name server is not asked without
    /// end.
    private static let keptTime = 2...60
    /// A weight of 0 gets a small share beside others (RFC 2782).
    private static let unit = 64

    /// - Returns: A copy for each target and port, in the order of their text.
    /// - Throws: `unavailable` when there is none; a target `.` says that the service is not offered.
    static func copies(of name: String, _ records: [ServiceRecord]) throws(Fault) -> [FoundCopy] {
        let offered = records.filter { !$0.target.isEmpty && $0.target != "." && $0.port > 0 }
        guard !offered.isEmpty else { throw Fault(.unavailable, "The name '\(name)' has no SRV records of copies.") }
        let isWeighted = offered.contains { $0.weight > 0 }
        var ranks: [RpcAddress: CopyRank] = [:]
        for record in offered {
            let rank = CopyRank(priority: record.priority, weight: isWeighted ? max(1, record.weight * unit) : 1)
            ranks[RpcAddress(host: record.target, port: record.port)] = rank
        }
        return ranks.map { FoundCopy(address: $0.key, rank: $0.value) }.sorted { $0.address.description < $1.address.description }
    }

    /// The shortest of the records, within bounds.
    static func timeToLive(of records: [ServiceRecord]) -> Duration {
        let shortest = records.map(\.timeToLive).min() ?? keptTime.lowerBound
        return .seconds(min(max(shortest, keptTime.lowerBound), keptTime.upperBound))
    }
}
