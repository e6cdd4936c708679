/// Bounds of the RPC listener and of the store; what is left out has the default of the wire (Shared/Documents/Wire.md).
public struct LimitSettings: Decodable, Sendable, Hashable {
    /// Largest frame in bytes, 1024 to 67108864.
    public var frameBytes: Int?
    /// Calls in flight on one connection, 1 to 100000.
    public var callsPerConnection: Int?
    /// Calls of one method in flight in the whole program, 1 to 100000.
    public var callsPerMethod: Int?
    /// Open connections, 1 to 100000.
    public var connections: Int?
    /// TLS handshakes under way in all, and of one address, 1 to 100000.
    public var handshakes: Int?
    public var handshakesPerAddress: Int?
    /// Seconds that a TLS handshake may take, 1 to 60.
    public var handshakeSeconds: Int?
    /// Seconds after which a silent connection is closed, 1 to 86400.
    public var idleSeconds: Int?
    /// Seconds that calls under way get to finish when the program stops, 1 to 300.
    public var drainSeconds: Int?
    /// Seconds that a program that is to stop goes on as before, not ready, so that callers and balancers turn away first: 0 to 300.
    public var stopDelaySeconds: Int?
    /// Writes that wait for their commit, 1 to 1000000.
    public var waitingWrites: Int?
    /// How large the store's file may become, in MiB, 16 to 16000000; beyond it writes are refused and reads go on.
    public var storeMebibytes: Int?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case frameBytes, callsPerConnection, callsPerMethod, connections, handshakeSeconds, idleSeconds, drainSeconds, waitingWrites, handshakes,
            handshakesPerAddress, storeMebibytes, stopDelaySeconds
    }

    public init() {}

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func bounded(_ key: CodingKeys, _ range: ClosedRange<Int>) throws -> Int? {
            guard let value = try container.decodeIfPresent(Int.self, forKey: key) else { return nil }
            guard range.contains(value) else {
                let text = "must be from \(range.lowerBound) to \(range.upperBound); it is \(value)"
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: text)
            }
            return value
        }
        frameBytes = try bounded(.frameBytes, 1024...67_108_864)
        callsPerConnection = try bounded(.callsPerConnection, 1...100_000)
        callsPerMethod = try bounded(.callsPerMethod, 1...100_000)
        connections = try bounded(.connections, 1...100_000)
        handshakeSeconds = try bounded(.handshakeSeconds, 1...60)
        idleSeconds = try bounded(.idleSeconds, 1...86_400)
        drainSeconds = try bounded(.drainSeconds, 1...300)
        stopDelaySeconds = try bounded(.stopDelaySeconds, 0...300)
        waitingWrites = try bounded(.waitingWrites, 1...1_000_000)
        handshakes = try bounded(.handshakes, 1...100_000)
        handshakesPerAddress = try bounded(.handshakesPerAddress, 1...100_000)
        storeMebibytes = try bounded(.storeMebibytes, 16...16_000_000)
    }
}
