internal import Octets

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
