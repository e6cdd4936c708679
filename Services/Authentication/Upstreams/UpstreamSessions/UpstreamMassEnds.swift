internal import Clocks

/// Notices that an upstream forgets many people at once (bridge §8.1). That is so when more than a fifth of at least fifty re-reads in a minute ended
/// a session. Each copy counts what it reads itself.
struct UpstreamMassEnds: Sendable {
    static let window: Int64 = 60
    static let fewest = 50
    /// The time for which an ended session is looked for again.
    static let memory: Duration = .seconds(86_400)
    private static let mostUpstreams = 1024

    private struct Second: Sendable {
        var start: Int64
        var reads = 0
        var ends = 0
    }

    private struct Upstream: Sendable {
        var seconds: [Second] = []
        /// When that was so last; `nil`: never.
        var happenedAt: Timestamp?
    }

    private var upstreams: [OctetText: Upstream] = [:]

    /// Counts a re-read.
    /// - Parameter hasEnded: True when nobody is signed in there any more.
    /// - Returns: The message for an operator, once for each time that it happens.
    mutating func note(_ id: String, hasEnded: Bool, now: Timestamp) -> String? {
        let key = OctetText(id)
        guard upstreams[key] != nil || upstreams.count < Self.mostUpstreams else { return nil }
        var upstream = upstreams[key] ?? Upstream()
        defer { upstreams[key] = upstream }
        upstream.seconds.removeAll { $0.start <= now.seconds - Self.window || $0.start > now.seconds }
        if upstream.seconds.last?.start != now.seconds { upstream.seconds.append(Second(start: now.seconds)) }
        let last = upstream.seconds.count - 1
        upstream.seconds[last].reads += 1
        if hasEnded { upstream.seconds[last].ends += 1 }
        let (reads, ends) = upstream.seconds.reduce((0, 0)) { ($0.0 + $1.reads, $0.1 + $1.ends) }
        guard reads >= Self.fewest, ends * 5 > reads else { return nil }
        let isNew = upstream.happenedAt.map { now < $0 || now >= $0 + .seconds(Self.window) } ?? true
        upstream.happenedAt = now
        return isNew ? "\(ends) of \(reads) sessions that were looked at in a minute are gone; profiles that come back are taken again" : nil
    }

    /// True when any upstream did.
    func hasHappened(now: Timestamp) -> Bool { upstreams.values.contains { Self.isLately($0.happenedAt, now) } }

    /// True when that upstream did.
    func hasHappened(_ id: String, now: Timestamp) -> Bool { Self.isLately(upstreams[OctetText(id)]?.happenedAt, now) }

    private static func isLately(_ moment: Timestamp?, _ now: Timestamp) -> Bool { moment.map { now < $0 + memory } ?? false }
}
