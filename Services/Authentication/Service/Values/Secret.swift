internal import Cryptography

/// Something that proves who holds it. Prints as `[hidden]`; stores keep only its digest.
struct Secret<Subject>: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }

    /// A fresh one of 256 unpredictable bits, safe in URLs and cookies.
    static func random(from source: any RandomSource) -> Secret {
        Secret(Base64.url.encode(source.bytes(32)))
    }

    var digest: SecretDigest { SecretDigest(bytes: SHA256.hash(text)) }
    var description: String { "[hidden]" }
    var debugDescription: String { "[hidden]" }
}

enum ClientCredential {}
enum BrowserTie {}
enum RelayTie {}

typealias ClientSecret = Secret<ClientCredential>
/// Value of the cookie that ties an MVPD's answer to the browser that asked (mvpd §2.2).
typealias BrowserSecret = Secret<BrowserTie>
/// The opaque `RelayState`: 43 characters, of the 80 that the binding allows (mvpd §2.2).
typealias RelayHandle = Secret<RelayTie>

/// SHA-256 of a secret. Plain hashing is enough because every secret is made of 256 random bits.
struct SecretDigest: Hashable, Sendable {
    let bytes: [UInt8]

    /// Takes the same time whatever the difference.
    func matches(_ secret: Secret<some Any>) -> Bool {
        ConstantTime.equal(bytes, secret.digest.bytes)
    }
}
