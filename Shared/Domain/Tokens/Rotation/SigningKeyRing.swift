/// The keys of one issuer: one signs, all verify. A key is published as `next` before it signs and as `previous` until its tokens have expired.
public struct SigningKeyRing: Sendable {
    public let current: JoseSigningKey
    public let next: JoseSigningKey?
    public let previous: [JSONWebKey]
    public let keySet: JSONWebKeySet

    /// - Parameters:
    ///   - current: Signs.
    ///   - next: Is published already and signs after the next rotation.
    ///   - previous: Signed before; published until the last of their tokens has expired.
    public init(current: JoseSigningKey, next: JoseSigningKey? = nil, previous: [JSONWebKey] = []) {
        self.current = current
        self.next = next
        self.previous = previous
        keySet = JSONWebKeySet(keys: [current.publicKey] + (next.map { [$0.publicKey] } ?? []) + previous)
    }

    /// The ring after `next` has taken over.
    /// - Parameter upcoming: Is published from now on and signs after the next turn.
    public func rotated(upcoming: JoseSigningKey? = nil) -> SigningKeyRing? {
        next.map { SigningKeyRing(current: $0, next: upcoming, previous: [current.publicKey] + previous) }
    }
}
