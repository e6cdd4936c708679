package import Cryptography
internal import StrictJson

/// One of Apple's published keys.
package enum AppleKey: Sendable {
    case usable(RSAPublicKey)
    /// Below 2048 bits: whatever it signed is refused (apple §2.2, V4).
    case weak
}

/// Apple's keys by name (RFC 7517 §5; apple §2.1).
package struct AppleKeySet: Sendable {
    private let keys: [OctetText: AppleKey]

    package init(_ keys: [String: AppleKey]) { self.keys = Dictionary(texts: keys.map { ($0.key, $0.value) }) { first, _ in first } }

    /// Reads the document at `auth/keys`. Keys of other kinds and broken ones are passed over, so that they do not take the good ones along; of two
    /// with the same name the first counts.
    /// - Returns: `nil` when it is no JWK set.
    package init?(document: [UInt8]) {
        guard let document = try? JsonDocument(parsing: document), case .object(let members) = document.root.content,
            case .array(let list)? = members.first(where: { $0.name == "keys" })?.value.content
        else { return nil }
        keys = Dictionary(texts: list.compactMap(Self.read)) { first, _ in first }
    }

    package func key(_ name: String) -> AppleKey? { keys[name] }

    var isEmpty: Bool { keys.isEmpty }

    private static func read(_ node: JsonNode) -> (String, AppleKey)? {
        guard case .object(let members) = node.content else { return nil }
        func text(_ name: String) -> String? {
            guard case .string(let text)? = members.first(where: { $0.name == name })?.value.content else { return nil }
            return text
        }
        guard let name = text("kid"), text("kty") == "RSA", (text("use") ?? "sig") == "sig",
            (text("alg") ?? UnverifiedIdentityToken.algorithm) == UnverifiedIdentityToken.algorithm,
            let modulus = text("n").flatMap(Base64.url.decode), let exponent = text("e").flatMap(Base64.url.decode)
        else { return nil }
        do throws(CryptographyError) {
            return (name, .usable(try RSAPublicKey(modulus: modulus, exponent: exponent)))
        } catch {
            guard case .weakKey = error else { return nil }
            return (name, .weak)
        }
    }
}
