internal import COpenSSL
internal import Octets
internal import Synchronization

/// A secret of 256 bits for sealing or authenticating. Prints as `[hidden]`.
public struct SymmetricKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// Length in bytes.
    public static let byteCount = 32

    let bytes: [UInt8]

    /// - Throws: `CryptographyError.malformed` unless there are 32 bytes.
    public init(bytes: [UInt8]) throws(CryptographyError) {
        guard bytes.count == Self.byteCount else { throw .malformed("key: \(bytes.count) bytes instead of \(Self.byteCount)") }
        self.bytes = bytes
    }

    /// Reads a file with 64 hex digits; white space around them is allowed.
    /// - Throws: `CryptographyError`.
    public init(hexFile path: String) throws(CryptographyError) {
        let text = String(decoding: try SecretFile.read(path), as: UTF8.self)
        guard let bytes = Hex.decode(text.filter { !$0.isWhitespace }) else { throw .malformed("key file \(path): not hex digits") }
        try self.init(bytes: bytes)
    }

    private init(random: Void) { bytes = SecureRandom.bytes(Self.byteCount) }

    /// The duration does not depend on where the keys differ.
    public func isEqual(to other: SymmetricKey) -> Bool { ConstantTime.equal(bytes, other.bytes) }

    /// A fresh unpredictable key.
    public static func random() -> SymmetricKey { SymmetricKey(random: ()) }

    /// The key as 64 lower-case hex digits, for the file that keeps it.
    public var hexRepresentation: String { Hex.encode(bytes) }

    public var description: String { "[hidden]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Symmetric keys of one purpose, which change while they are in use: the current one seals, and older ones open what they have sealed.
public final class SymmetricKeyRing: Sendable {
    private let keys: Mutex<[SymmetricKey]>

    /// - Parameter older: Newest first.
    public init(current: SymmetricKey, older: [SymmetricKey] = []) { keys = Mutex([current] + older) }

    /// Seals and signs.
    public var current: SymmetricKey { keys.withLock { $0[0] } }

    /// The current key, then older ones, newest first.
    public var all: [SymmetricKey] { keys.withLock { $0 } }

    /// Replaces the keys at once. Earlier keys stay after them as long as this object lives. So a key may be replaced without naming the former one:
    /// only a new process needs it.
    public func adopt(current: SymmetricKey, older: [SymmetricKey]) {
        keys.withLock { keys in
            let given = [current] + older
            keys = given + keys.filter { key in !given.contains { $0.isEqual(to: key) } }.prefix(Self.mostFormer)
        }
    }

    /// Former keys that are remembered.
    private static let mostFormer = 8
}

/// Unpredictable bytes from libcrypto's generator.
public enum SecureRandom {
    /// - Parameter count: How many, 1 or more.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = RAND_bytes(&bytes, Int32(count))
        precondition(done == 1, "no entropy")
        return bytes
    }
}
