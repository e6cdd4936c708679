internal import Cryptography
internal import Faults

/// Keeps secrets of the catalogue unreadable in the store: each is sealed for its reference, by a key that changes without a restart.
final class SecretSeals: Sendable {
    private let keys: SymmetricKeyRing

    /// - Parameter older: Open what they have sealed, and seal nothing.
    init(current: SymmetricKey, older: [SymmetricKey] = []) { keys = SymmetricKeyRing(current: current, older: older) }

    func adopt(current: SymmetricKey, older: [SymmetricKey]) { keys.adopt(current: current, older: older) }

    /// - Throws: `internal`.
    func close(_ secret: ProviderSecret, _ reference: SecretReference) throws(Fault) -> [UInt8] {
        let key = keys.current
        do {
            return try AESGCM.seal(Array(secret.text.utf8), key: key, context: Self.context(reference))
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    /// - Returns: `nil` when none of the keys opens it, or it was sealed for another reference.
    func open(_ secret: SealedSecret) -> ProviderSecret? {
        for key in keys.all {
            if let secret = Self.open(secret, key) { return secret }
        }
        return nil
    }

    func isCurrent(_ secret: SealedSecret) -> Bool { Self.open(secret, keys.current) != nil }

    private static func open(_ secret: SealedSecret, _ key: SymmetricKey) -> ProviderSecret? {
        guard let bytes = try? AESGCM.open(secret.sealed, key: key, context: context(secret.reference)) else { return nil }
        return String(validating: bytes, as: UTF8.self).map { ProviderSecret($0) }
    }

    private static func context(_ reference: SecretReference) -> [UInt8] { Array("boxoffice secret \(reference.text)".utf8) }
}
