// The public names of CryptoKit that the client library uses, so that its Apple branch can be type-checked on Linux. Nothing here runs.
public import Foundation

public struct SymmetricKey: Sendable {
    public init(data: some ContiguousBytes) { fatalError("a stub") }
}

public protocol HashFunction {}

public struct SHA256: HashFunction {
    public static func hash(data: some DataProtocol) -> SHA256Digest { fatalError("a stub") }
}

public struct SHA256Digest: Sequence {
    public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError("a stub") }
}

public enum Insecure {
    public struct SHA1: HashFunction {}
}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence {
    public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError("a stub") }
}

public struct HMAC<H: HashFunction> {
    public static func authenticationCode(for data: some DataProtocol, using key: SymmetricKey) -> HashedAuthenticationCode<H> {
        fatalError("a stub")
    }
}
