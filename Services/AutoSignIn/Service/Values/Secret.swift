internal import Cryptography

/// Something that proves who holds it. Prints as `[hidden]`; stores keep only its digest, or sealed.
struct Secret<Subject>: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let text: String

    init(_ text: String) { self.text = text }

    /// A fresh one of 256 unpredictable bits, safe in URLs and cookies.
    static func random(from source: any RandomSource) -> Secret { Secret(Base64.url.encode(source.bytes(32))) }

    /// SHA-256. Plain hashing is enough for a secret of 256 random bits.
    var digest: Digest { Digest(bytes: SHA256.hash(text)) }

    var description: String { "[hidden]" }
    var debugDescription: String { "[hidden]" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// 32 bytes that stand for something longer.
struct Digest: Hashable, Sendable {
    let bytes: [UInt8]

    /// Takes the same time whatever the difference.
    func equals(_ other: Digest) -> Bool { ConstantTime.equal(bytes, other.bytes) }
}

enum WebLinkSubject {}
enum WebSessionSubject {}

/// With it a browser becomes the caller's.
typealias WebLinkHandle = Secret<WebLinkSubject>
/// Value of a browser's cookie.
typealias WebSessionSecret = Secret<WebSessionSubject>
