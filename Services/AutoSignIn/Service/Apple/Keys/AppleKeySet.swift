package import Cryptography
internal import Tokens

/// Apple's published keys of one name.
package enum AppleKey: Sendable {
    /// Those behind the first are tried after it: a name may stand for several (RFC 7517 §4.5).
    case usable(RSAPublicKey, others: [RSAPublicKey] = [])
    /// Below 2048 bits: whatever it signed is refused (apple §2.2, V4).
    case weak
}

/// Apple's keys by name (RFC 7517 §5; apple §2.1).
package struct AppleKeySet: Sendable {
    /// Keys that are tried for one token.
    private static let mostKeys = 4

    private let keys: [OctetText: AppleKey]

    package init(_ keys: [String: AppleKey]) { self.keys = Dictionary(texts: keys.map { ($0.key, $0.value) }) { first, _ in first } }

    /// Reads the document at `auth/keys`. Keys of other kinds and broken ones are passed over, so that they do not take the good ones along.
    /// - Returns: `nil` when it is no JWK set.
    package init?(document: [UInt8]) {
        guard let set = try? JSONWebKeySet(published: document) else { return nil }
        var keys: [OctetText: AppleKey] = [:]
        for name in set.weak { keys[name] = .weak }
        var usable: [OctetText: [RSAPublicKey]] = [:]
        for key in set.keys {
            guard case .rsa(let rsa) = key.publicKey, key.algorithm == .rs256 else { continue }
            usable[OctetText(key.identifier), default: []].append(rsa)
        }
        for (name, list) in usable { keys[name] = .usable(list[0], others: Array(list[1...].prefix(Self.mostKeys - 1))) }
        self.keys = keys
    }

    package func key(_ name: String) -> AppleKey? { keys[name] }

    var isEmpty: Bool { keys.isEmpty }
}
