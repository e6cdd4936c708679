/// The object `gateway.connections`: what a connection may cost.
public struct ConnectionLimits: Sendable {
    /// Connections open at once on all listeners, 1 to 1000000. For one more an idle one goes; without an idle one it is closed at once.
    public var maximum: Int
    /// Connections of one address at once, an IPv6 address by its /64, 1 to 1000000; trusted proxies have no such limit.
    public var perAddress: Int
    /// The same for each address of `backends`.
    public var perBackend: Int
    /// Addresses of programmers' servers, and of others that stand for many people.
    public var backends: [AddressRange]
    /// The longest from the beginning of a request's head, or of a connection, to the head's end.
    public var head: Duration
    /// The longest that a connection stays open between two requests.
    public var idle: Duration
    /// The longest that a connection may stay when the gateway stops.
    public var drain: Duration

    public init(
        maximum: Int = 8192, perAddress: Int = 256, perBackend: Int = 4096, backends: [AddressRange] = [], head: Duration = .seconds(10),
        idle: Duration = .seconds(60), drain: Duration = .seconds(10)
    ) {
        self.maximum = maximum
        self.perAddress = perAddress
        self.perBackend = perBackend
        self.backends = backends
        self.head = head
        self.idle = idle
        self.drain = drain
    }

    /// The first problem: key below `connections` and text.
    var problem: (key: String, text: String)? {
        guard (1...1_000_000).contains(maximum) else { return ("maximum", "must be from 1 to 1000000") }
        guard (1...1_000_000).contains(perAddress) else { return ("perAddress", "must be from 1 to 1000000") }
        guard (1...1_000_000).contains(perBackend) else { return ("perBackend", "must be from 1 to 1000000") }
        guard Self.waits.contains(head) else { return ("headSeconds", "must be from 1 to 600") }
        guard Self.waits.contains(idle) else { return ("idleSeconds", "must be from 1 to 600") }
        guard (Duration.seconds(1)...Duration.seconds(20)).contains(drain) else { return ("drainSeconds", "must be from 1 to 20") }
        return nil
    }

    private static let waits = Duration.seconds(1)...Duration.seconds(600)
}

extension ConnectionLimits: Decodable {
    private enum CodingKeys: String, CodingKey {
        case maximum, perAddress, perBackend, backends, headSeconds, idleSeconds, drainSeconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        maximum = try container.decodeIfPresent(Int.self, forKey: .maximum) ?? maximum
        perAddress = try container.decodeIfPresent(Int.self, forKey: .perAddress) ?? perAddress
        perBackend = try container.decodeIfPresent(Int.self, forKey: .perBackend) ?? perBackend
        backends = try AddressRange.list(container, .backends)
        head = try container.decodeIfPresent(Int.self, forKey: .headSeconds).map { .seconds($0) } ?? head
        idle = try container.decodeIfPresent(Int.self, forKey: .idleSeconds).map { .seconds($0) } ?? idle
        drain = try container.decodeIfPresent(Int.self, forKey: .drainSeconds).map { .seconds($0) } ?? drain
    }
}
