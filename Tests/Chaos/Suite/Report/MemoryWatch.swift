import CommandKit

/// Resident memory of the services, before and after.
struct MemoryWatch: Sendable {
    /// A service may grow by this much over a run, in KiB: for the entries that the load made, and the allocator's slack.
    static let slack = 32 * 1024

    private let before: [ClusterService: Int]

    init(_ cluster: ChaosCluster) {
        before = Self.measure(cluster)
    }

    static func measure(_ cluster: ChaosCluster) -> [ClusterService: Int] {
        Dictionary(uniqueKeysWithValues: ClusterService.allCases.compactMap { service in cluster.residentKiB(of: service).map { (service, $0) } })
    }

    /// - Returns: A line of figures, and what grew too much.
    func compare(_ cluster: ChaosCluster) -> (facts: String, problems: [String]) {
        let after = Self.measure(cluster)
        var (facts, problems): ([String], [String]) = ([], [])
        for service in ClusterService.allCases {
            guard let old = before[service], let new = after[service] else { continue }
            facts.append("\(service.rawValue) \(old / 1024) to \(new / 1024)")
            if new - old > Self.slack {
                problems.append("\(service.rawValue) grew from \(old / 1024) to \(new / 1024) MiB, more than \(Self.slack / 1024)")
            }
        }
        return ("MiB resident: " + facts.joined(separator: ", "), problems)
    }
}
