internal import Cryptography

/// 32 bytes that stand for something longer.
package struct Digest: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Takes the same time whatever the difference.
    package func equals(_ other: Digest) -> Bool { ConstantTime.equal(bytes, other.bytes) }

    /// True when it is the secret's; takes the same time whatever the difference.
    package func matches(_ secret: Secret<some Any>) -> Bool { equals(secret.digest) }
}
