internal import Cryptography
public import Faults
internal import Memos
internal import Synchronization

/// Makes stored tokens: ES256 over the octets behind `</signatureInfo>` (clients §3).
public struct StoredTokenIssuer: Sendable {
    private let keys: SigningKeys

    /// - Parameter keys: Sign nothing else.
    public init(keys: SigningKeys) { self.keys = keys }

    /// - Throws: `internal` when the key cannot sign.
    public func issue(_ token: StoredTokenClaims) throws(Fault) -> String {
        let payload = StoredTokenForm.payload(token)
        do {
            let signature = try keys.ring.current.privateKey.sign(Array(payload.utf8))
            return StoredTokenForm.opening + Base64.standard.encode(signature) + StoredTokenForm.closing + payload
        } catch {
            throw .unexpected(error)
        }
    }
}

/// A stored token is not accepted for one of these reasons.
public enum StoredTokenRejection: Error, Hashable, Sendable {
    /// The text cannot be such a token: it is too long, declares a document type, or is of the other kind.
    case malformed
    /// The text may be a token, but no key of ours has signed it: another issuer's, or a modified one.
    case foreign
}

/// Checks the signature of stored tokens. It needs no XML parser: a text signed by our key has the form that we write.
public final class StoredTokenVerifier: Sendable {
    private let kind: StoredTokenClaims.Kind
    private let keys: SigningKeys
    /// By digest. A verified token stays verified until the keys change, and apps show the same token over and over. Long ones are not kept: the
    /// sender decides whether a resource has 16 KiB.
    private let known: Mutex<BoundedCache<[UInt8], StoredTokenClaims>>
    private let capacity: Int
    /// The longest token that is remembered, in octets: ordinary ones have half of that.
    private static let longestRemembered = 2048

    /// - Parameters:
    ///   - kind: The kind that is asked for.
    ///   - capacity: The number of tokens that are remembered, 2 or more.
    public init(_ kind: StoredTokenClaims.Kind, keys: SigningKeys, capacity: Int = 8192) {
        self.kind = kind
        self.keys = keys
        self.capacity = max(2, capacity)
        known = Mutex(BoundedCache(capacity: self.capacity))
    }

    /// Call it when a key may have been removed.
    public func forget() { known.withLock { $0 = BoundedCache(capacity: capacity) } }

    /// - Parameter text: As the app sent it, not escaped.
    /// - Throws: `StoredTokenRejection`. Time, device and session are not checked.
    public func verify(_ text: String) throws(StoredTokenRejection) -> StoredTokenClaims {
        guard text.utf8.count <= kind.longest else { throw .malformed }
        let digest = SHA256.hash(text)
        if let token = known.withLock({ $0[digest] }) { return token }
        let token = try check(text)
        if text.utf8.count <= Self.longestRemembered { known.withLock { $0[digest] = token } }
        return token
    }

    private func check(_ text: String) throws(StoredTokenRejection) -> StoredTokenClaims {
        let octets = Array(text.utf8)
        guard !Self.declares(octets) else { throw .malformed }
        let opening = Array(StoredTokenForm.opening.utf8)
        guard octets.starts(with: opening) else { throw isOther(octets[...]) ? .malformed : .foreign }
        let rest = octets[opening.count...]
        let closing = Array(StoredTokenForm.closing.utf8)
        guard let end = rest.firstIndex(of: UInt8(ascii: "<")), rest[end...].starts(with: closing) else { throw .foreign }
        let payload = rest[(end + closing.count)...]
        guard !isOther(payload) else { throw .malformed }
        guard let signature = Base64.standard.decode(String(decoding: rest[..<end], as: UTF8.self)) else { throw .foreign }
        let signed = Array(payload)
        guard keys.keySet.keys.contains(where: { $0.isValid(signature, for: signed, by: .es256) }),
            let token = StoredTokenForm.read(String(decoding: signed, as: UTF8.self), kind)
        else { throw .foreign }
        return token
    }

    /// True where a declaration, such as a document type, begins.
    private static func declares(_ octets: [UInt8]) -> Bool {
        zip(octets, octets.dropFirst()).contains { $0 == UInt8(ascii: "<") && $1 == UInt8(ascii: "!") }
    }

    /// True for the other kind's element.
    private func isOther(_ payload: ArraySlice<UInt8>) -> Bool {
        StoredTokenClaims.Kind.allCases.contains { $0 != kind && payload.starts(with: "<\($0.root)>".utf8) }
    }
}
