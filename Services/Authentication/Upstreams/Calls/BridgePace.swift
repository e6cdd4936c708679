internal import Clocks
internal import Storage

/// How many calls a second go to one upstream, and whether it throttles us as if all devices were one (bridge §5.3, §5.4). A copy knows its own calls only.
struct BridgePace: Sendable {
    /// So many addresses that are throttled within so long are no accident: upstream counts them as one.
    private static let mostThrottled = 20
    private static let throttledWindow: Duration = .seconds(10)
    /// What the pace wins back after it was halved.
    private static let recovery = 0.05
    private static let slowest = 1.0

    private var level: Double
    private var share = 1.0
    private var last: Timestamp
    private var throttled: [OctetText: Timestamp] = [:]

    /// - Parameter perSecond: What the upstream's record allows; at least 1.
    init(perSecond: Int, _ now: Timestamp) {
        level = Double(perSecond)
        last = now
    }

    /// Takes one call.
    /// - Returns: False when this second's are gone.
    mutating func take(perSecond: Int, _ now: Timestamp) -> Bool {
        let passed = Double(max(0, (now - last).wholeMilliseconds)) / 1000
        last = max(last, now)
        share = min(1, share + passed / 10 * Self.recovery)
        let pace = max(Self.slowest, Double(perSecond) * share)
        level = min(pace, level + passed * pace)
        guard level >= 1 else { return false }
        level -= 1
        return true
    }

    /// Upstream answered 429 for that address.
    /// - Returns: True when it does so for too many at once: the pace is halved.
    mutating func throttled(_ address: String, _ now: Timestamp) -> Bool {
        throttled = throttled.filter { now < $0.value + Self.throttledWindow && now >= $0.value }
        throttled[OctetText(address)] = now
        guard throttled.count > Self.mostThrottled else { return false }
        throttled = [:]
        share = max(share / 2, 0.001)
        return true
    }
}
