internal import Cryptography

/// Something that proves who holds it. Prints as `[hidden]`; stores keep only its digest, or sealed.
package struct Secret<Subject>: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// A fresh one of 256 unpredictable bits, safe in URLs and cookies.
    package static func random(from source: any RandomSource) -> Secret { Secret(Base64.url.encode(source.bytes(32))) }

    /// SHA-256. Plain hashing is enough for a secret of 256 random bits.
    package var digest: Digest { Digest(bytes: SHA256.hash(text)) }

    package var description: String { "[hidden]" }
    package var debugDescription: String { "[hidden]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
