internal import Cryptography

/// A compact JWE (RFC 7516 §7.1) with a signed token inside, which was read but not decrypted.
struct EncryptedToken: Sendable {
    private static let nonceLength = 12
    private static let tagLength = 16
    /// Octets of an encrypted key: of RSA with 8192 bits.
    private static let longestKey = 1024

    private let algorithm: String
    private let content: String
    /// The first part as it was sent: the tag is over it.
    private let context: [UInt8]
    private let encryptedKey: [UInt8]
    private let sealed: [UInt8]

    /// - Parameter text: Not longer than a token may be.
    init(_ text: String) throws(TokenRejection) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let first = Base64.url.decode(parts[0]), let header = TokenObject(first), let key = Base64.url.decode(parts[1]),
            let nonce = Base64.url.decode(parts[2]), let body = Base64.url.decode(parts[3]), let tag = Base64.url.decode(parts[4]),
            key.count <= Self.longestKey, nonce.count == Self.nonceLength, tag.count == Self.tagLength
        else { throw .malformed }
        // Compressed content has no bound before it is decompressed, and extensions must be understood (RFC 7516 §4.1.3, §4.1.13).
        guard header["crit"] == nil, header["zip"] == nil, try header.text("cty").map({ $0.lowercased() == "jwt" }) ?? true else { throw .wrongType }
        algorithm = try header.required("alg")
        content = try header.required("enc")
        context = Array(parts[0].utf8)
        encryptedKey = key
        sealed = nonce + body + tag
    }

    /// True when it was encrypted as that issuer does it.
    func isFor(_ encryption: PlatformIdentityTrust.Encryption) -> Bool {
        guard algorithm == encryption.key.algorithm, content == encryption.content.rawValue else { return false }
        return if case .direct = encryption.key { encryptedKey.isEmpty } else { !encryptedKey.isEmpty }
    }

    /// - Returns: `nil` where the key does not open it; that takes as long whatever is wrong (RFC 7516 §11.5).
    func decrypted(by encryption: PlatformIdentityTrust.Encryption) -> String? {
        let length = encryption.content.keyLength
        var key: [UInt8]
        switch encryption.key {
        case .direct(let octets): key = octets
        case .rsa(let holder):
            key = SecureRandom.bytes(length)
            if let found = try? holder.decrypt(encryptedKey, padding: .oaepSHA256), found.count == length { key = found }
        }
        guard let octets = try? AESGCM.open(sealed, secret: key, context: context) else { return nil }
        return String(validating: octets, as: UTF8.self)
    }
}
