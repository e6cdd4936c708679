/// The object `gateway.overload`: from when on requests are refused instead of served late (Shared/Documents/Decisions/0039-refuse-late-requests.md).
public struct OverloadSettings: Sendable {
    /// A loop whose rounds are longer for a while is overloaded: then requests are taken up for a fifth of it, 1 ms to 10 s.
    public var delay: Duration
    /// How long requests may wait otherwise, and urgent ones always, `delay` to 10 s: a burst is no overload.
    public var burst: Duration
    /// Requests that an event loop with at most so many connections takes up in each of its rounds, however long that takes, 1 to 100000. One with more
    /// takes up a quarter of it.
    public var leastRequests: Int

    public init(delay: Duration = .milliseconds(3), burst: Duration = .milliseconds(25), leastRequests: Int = 32) {
        self.delay = delay
        self.burst = burst
        self.leastRequests = leastRequests
    }

    /// What is wrong: key below `overload` and text.
    var problem: (key: String, text: String)? {
        guard (Duration.milliseconds(1)...Duration.seconds(10)).contains(delay) else { return ("delayMilliseconds", "must be from 1 to 10000") }
        guard (delay...Duration.seconds(10)).contains(burst) else { return ("burstMilliseconds", "must be from delayMilliseconds to 10000") }
        guard (1...100_000).contains(leastRequests) else { return ("leastRequests", "must be from 1 to 100000") }
        return nil
    }
}

extension OverloadSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case delayMilliseconds, burstMilliseconds, leastRequests
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        delay = try container.decodeIfPresent(Int.self, forKey: .delayMilliseconds).map { .milliseconds($0) } ?? delay
        burst = try container.decodeIfPresent(Int.self, forKey: .burstMilliseconds).map { .milliseconds($0) } ?? max(burst, delay)
        leastRequests = try container.decodeIfPresent(Int.self, forKey: .leastRequests) ?? leastRequests
    }
}
