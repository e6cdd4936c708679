internal import Cryptography
internal import Faults
internal import Identifiers
public import Storage
internal import Synchronization

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
    ///   - what: The kind of the sealed data, such as `value`.
    ///   - owner: The owner; it opens for nobody else, and as nothing else.
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

/// The service's keys, all out of the one that the operator keeps. It may change while the service runs: older ones open what they have sealed.
public final class AutoSignInKeys: Sendable {
    private struct State {
        var roots: [SymmetricKey]
        /// By purpose, in the order of the roots.
        var derived: [SealPurpose: [SymmetricKey]] = [:]
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - hex: 64 hex digits; white space around them is allowed.
    ///   - older: Keys from before in the same form, newest first.
    /// - Throws: When one is something else.
    public init(hex: String, older: [String] = []) throws { state = Mutex(State(roots: try Self.roots(hex, older))) }

    /// Takes other keys in use at once. Those of before stay behind them until the next start.
    /// - Throws: As the initializer; nothing has changed then.
    public func adopt(hex: String, older: [String]) throws {
        let roots = try Self.roots(hex, older)
        state.withLock { state in
            let former = state.roots.filter { key in !roots.contains { $0.isEqual(to: key) } }
            state = State(roots: roots + former.prefix(8))
        }
    }

    /// The current key, then older ones, newest first.
    func keys(for purpose: SealPurpose) -> [SymmetricKey] {
        state.withLock { state in
            if let known = state.derived[purpose] { return known }
            let keys = state.roots.compactMap { try? SymmetricKey(bytes: HMACSHA256.authenticate(Array(purpose.name.utf8), key: $0)) }
            state.derived[purpose] = keys
            return keys
        }
    }

    /// The fingerprint that copies on other hosts compare with their own.
    public var fingerprint: KeyFingerprint {
        let name = "autosignin.sealKey"
        let prints = state.withLock(\.roots).map { HMACSHA256.authenticate(Array(KeyFingerprint.text(name).utf8), key: $0) }
        return KeyFingerprint(name, current: prints[0], older: Array(prints.dropFirst()))
    }

    func key(for purpose: SealPurpose) -> SymmetricKey { keys(for: purpose)[0] }

    func seal(for purpose: SealPurpose) -> TokenSeal { TokenSeal(keys: self, purpose: purpose) }

    private static func roots(_ hex: String, _ older: [String]) throws -> [SymmetricKey] {
        try ([hex] + older).map { hex in
            guard let bytes = Hex.decode(hex.filter { !$0.isWhitespace }) else { throw CryptographyError.malformed("key: not hex digits") }
            return try SymmetricKey(bytes: bytes)
        }
    }
}
