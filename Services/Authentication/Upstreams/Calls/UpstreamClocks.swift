internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Logging
internal import OutboundHttp
internal import Synchronization

/// By how much upstreams' clocks differ from ours: what they say of times is theirs (bridge §5.2).
final class UpstreamClocks: Sendable {
    private struct Seen {
        var offset: Duration
        var alarmedAt: Timestamp?
    }

    /// One alarm for as long.
    private static let quiet: Duration = .seconds(3600)
    private static let mostUpstreams = 1024

    private let known = Mutex<[OctetText: Seen]>([:])

    /// Takes in the time of an answer.
    /// - Returns: The offset to subtract from upstream's times; zero for a clock that is set well, or that does not say.
    func offset(_ answer: OutboundAnswer, _ upstream: String, now: Timestamp, _ logger: Logger) -> Duration {
        guard let offset = UpstreamClock.offset(answer, now: now) else { return .zero }
        let isOff = offset > UpstreamClock.tolerance || offset < .zero - UpstreamClock.tolerance
        let mustTell = known.withLock { known in
            let key = OctetText(upstream)
            guard known[key] != nil || known.count < Self.mostUpstreams else { return false }
            var seen = known[key] ?? Seen(offset: offset)
            seen.offset = offset
            let mustTell = isOff && (seen.alarmedAt.map { now < $0 || now >= $0 + Self.quiet } ?? true)
            if mustTell { seen.alarmedAt = now }
            if !isOff { seen.alarmedAt = nil }
            known[key] = seen
            return mustTell
        }
        if mustTell {
            let seconds = offset.components.seconds
            logger.error(
                "bridge.clock_skew",
                metadata: ["upstream": "\(upstream)", "details": "its clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") ours"])
        }
        return isOff ? offset : .zero
    }

    /// The latest; zero: none is known.
    func offset(of upstream: String) -> Duration { known.withLock { $0[OctetText(upstream)]?.offset } ?? .zero }
}
