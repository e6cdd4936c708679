internal import Cryptography
internal import Faults
internal import Identifiers

/// Bytes that only this service can read.
struct SealedBytes: Hashable, Sendable {
    let bytes: [UInt8]
}

/// Keeps values and Apple's tokens unreadable in the store (apple §4, I3).
struct TokenSeal: Sendable {
    private let keys: AutoSignInKeys
    private let purpose: SealPurpose

    init(keys: AutoSignInKeys, purpose: SealPurpose) { (self.keys, self.purpose) = (keys, purpose) }

    /// - Parameters:
    ///   - what: What is sealed, such as `value`.
    ///   - owner: Whose it is; it opens for nobody else, and as nothing else.
    /// - Throws: `internal`.
    func close(_ bytes: [UInt8], _ what: StaticString, of owner: String) throws(Fault) -> SealedBytes {
        do {
            return SealedBytes(bytes: try AESGCM.seal(bytes, key: keys.key(for: purpose), context: Self.context(what, owner)))
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    /// - Returns: `nil` when none of the keys sealed it, or it was sealed as something else, or for somebody else.
    func open(_ sealed: SealedBytes, _ what: StaticString, of owner: String) -> [UInt8]? {
        let context = Self.context(what, owner)
        for key in keys.keys(for: purpose) {
            if let bytes = try? AESGCM.open(sealed.bytes, key: key, context: context) { return bytes }
        }
        return nil
    }

    func close(_ secret: Secret<some Any>, _ what: StaticString, of owner: String) throws(Fault) -> SealedBytes {
        try close(Array(secret.text.utf8), what, of: owner)
    }

    /// - Returns: As for bytes.
    func open<Subject>(_ sealed: SealedBytes, _ what: StaticString, of owner: String, as _: Secret<Subject>.Type) -> Secret<Subject>? {
        open(sealed, what, of: owner).flatMap { String(validating: $0, as: UTF8.self) }.map(Secret.init)
    }

    private static func context(_ what: StaticString, _ owner: String) -> [UInt8] { Array("\(what)\u{0}\(owner)".utf8) }
}
