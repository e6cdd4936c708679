internal import Clocks
internal import Cryptography
internal import Faults
internal import Synchronization
internal import Tokens

/// What strict pairs have signed, so that it serves once (clients §2). The store remembers; how many there are each copy counts since its start.
final class UsedNonces: Sendable {
    private static let perAddress = 2_000
    private static let perKey = 1_000_000
    /// Addresses that are counted at one time.
    private static let capacity = 1 << 16

    private struct State {
        var addresses: [OctetText: ExpiryCounts] = [:]
        var keys: [OctetText: ExpiryCounts] = [:]
    }

    private let store: any NonceStore
    private let state = Mutex(State())

    init(store: any NonceStore) { self.store = store }

    /// - Parameter end: From when on the signature is too old in any case.
    /// - Returns: False when it was used before.
    /// - Throws: `too_many_requests`; faults of the store.
    func take(_ header: SignedRequestHeader, until end: Timestamp, address: String, now: Timestamp) async throws(Fault) -> Bool {
        let isCounted = state.withLock { state in
            Self.add(&state.keys, header.publicKey, end, Self.perKey, now) && Self.add(&state.addresses, address, end, Self.perAddress, now)
        }
        guard isCounted else { throw Fault(.tooManyRequests, "Too many signed requests.", retryAfter: .seconds(60)) }
        let digest = SHA256.hash(Array("\(header.publicKey)\n\(header.nonce)".utf8))
        return try await store.takeNonce(digest, until: end)
    }

    private static func add(_ counts: inout [OctetText: ExpiryCounts], _ name: String, _ end: Timestamp, _ limit: Int, _ now: Timestamp) -> Bool {
        let key = OctetText(name)
        if counts[key] == nil, counts.count >= capacity { counts = counts.filter { $0.value.end > now.seconds } }
        // With no room for another name it goes uncounted: what is counted already stays.
        guard counts[key] != nil || counts.count < capacity else { return true }
        return counts[key, default: ExpiryCounts()].add(endingAt: end.seconds, limit: limit, now: now.seconds)
    }
}
