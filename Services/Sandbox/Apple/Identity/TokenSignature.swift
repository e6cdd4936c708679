internal import FoundationEssentials

/// How a token is signed, well or badly.
enum TokenSignature: String, Sendable, Decodable {
    /// RS256 by the key that signs now.
    case good
    /// RS256 by a key that is in no set.
    case unpublished
    /// RS256 by the right key over another text.
    case broken
    /// `alg` is `none`, and there is no signature.
    case none
    /// HS256 with the public key's text as the secret.
    case symmetric
    /// `alg` is ES256, with 64 octets that are no signature.
    case elliptic

    var algorithm: String {
        switch self {
        case .good, .unpublished, .broken: "RS256"
        case .none: "none"
        case .symmetric: "HS256"
        case .elliptic: "ES256"
        }
    }

    /// - Parameters:
    ///   - key: The key that signs where one does.
    ///   - header: Goes over the members that the header has anyway; null leaves one out.
    func token(_ claims: [String: AppleClaim], key: IdentityKeys.Key, header: [String: AppleClaim] = [:]) throws -> String {
        let header = ["alg": .text(algorithm), "kid": .text(key.id)].merging(header) { $1 }
        let input = try Self.part(header) + "." + Self.part(claims)
        let octets = Array(input.utf8)
        let signature: [UInt8] =
            switch self {
            case .good, .unpublished: try key.key.sign(octets)
            case .broken: try key.key.sign(octets.reversed())
            case .none: []
            case .symmetric: Self.hmac(octets, secret: Array(key.jwk.utf8))
            case .elliptic: Digest.sha256(octets) + Digest.sha256(octets.reversed())
            }
        return input + "." + Base64.urlText(signature)
    }

    private static func part(_ members: [String: AppleClaim]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Base64.urlText(Array(try encoder.encode(members.filter { $0.value != .null })))
    }

    /// RFC 2104 with SHA-256.
    private static func hmac(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
        let short = secret.count > 64 ? Digest.sha256(secret) : secret
        let key = short + [UInt8](repeating: 0, count: 64 - short.count)
        return Digest.sha256(key.map { $0 ^ 0x5c } + Digest.sha256(key.map { $0 ^ 0x36 } + message))
    }
}
