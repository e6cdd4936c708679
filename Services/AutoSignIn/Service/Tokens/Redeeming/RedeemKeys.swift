internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage
internal import Synchronization

/// The idempotency keys of redeems. To redeem a value once more gives the same session, so that no answer has to be kept: only a key that comes
/// back with another request is refused.
final class RedeemKeys: Sendable {
    private let seen = Mutex(BoundedCache<Digest, (request: Digest, until: Timestamp)>(capacity: 65_536))

    /// - Throws: `idempotency_key_reused`.
    func claim(_ place: IdempotentPlace?, now: Timestamp) throws(Fault) {
        guard let place else { return }
        let isFree = seen.withLock { seen in
            if let known = seen[place.digest], now < known.until { return known.request == place.request }
            seen[place.digest] = (place.request, now + Idempotency.memory)
            return true
        }
        if !isFree { throw Idempotency.reused }
    }
}
