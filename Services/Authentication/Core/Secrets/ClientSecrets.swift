package import Clocks
package import ContractRuntime
internal import Contracts
package import Cryptography
package import Faults
internal import Foundation
internal import Synchronization

/// Client secrets come from here.
package protocol ClientSecrets: Sendable {
    /// - Returns: `nil` when there is none of that name.
    /// - Throws: Faults of the store.
    func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret?
}

/// A secret that the store keeps, sealed.
package struct SealedSecret: Hashable, Sendable {
    package let reference: SecretReference
    /// The programmer whose it is; empty: operators'.
    package let owner: String
    package let sealed: [UInt8]
    let writtenAt: Timestamp
}

/// The secrets that the catalogue refers to: a file of that name first, then what administrators have written (clients §2).
package struct KeptSecrets: ClientSecrets {
    /// Octets of a secret, at most.
    package static let longest = 4096

    package let folder: ClientSecretFolder
    package let store: SqlAuthenticationStore
    package let seals: SecretSeals
    package let clock: any WallClock

    package func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? {
        if let file = folder.secret(reference) { return file }
        guard ClientSecretFolder.isName(reference.text), let kept = try await store.sealedSecret(reference) else { return nil }
        return seals.open(kept)
    }

    /// - Returns: True when there was one before.
    /// - Throws: `invalid_request`, `not_found` (another owner's), faults of the store.
    package func put(_ reference: SecretReference, _ secret: ProviderSecret, owner: String) async throws(Fault) -> Bool {
        guard ClientSecretFolder.isName(reference.text) else {
            throw Fault(.invalidRequest, "A reference has 1 to 128 letters, digits, '_' and '-'.")
        }
        let isText = secret.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
        guard isText, (1...Self.longest).contains(secret.text.utf8.count) else {
            throw Fault(.invalidRequest, "A secret has 1 to \(Self.longest) octets, and no control characters.")
        }
        guard folder.secret(reference) == nil else { throw Fault(.invalidRequest, "A file has that reference, and is used in its place.") }
        let sealed = SealedSecret(
            reference: reference, owner: owner, sealed: try seals.close(secret, reference), writtenAt: clock.now())
        guard let replaced = try await store.put(sealed) else { throw Fault(.notFound, "There is no such secret.") }
        return replaced
    }

    /// The references that exist; files have no owner but operators.
    package func list() async throws(Fault) -> [(reference: String, owner: String, isFile: Bool, writtenAt: Timestamp?)] {
        let files = folder.references()
        let kept = try await store.sealedSecrets().filter { !files.contains($0.reference.text) }
        return files.sorted().map { ($0, "", true, nil) } + kept.map { ($0.reference.text, $0.owner, false, $0.writtenAt) }
    }

    /// Takes in other keys, and seals with the current one; the older keys are needed no more afterwards.
    /// - Throws: Faults of the store; what is not sealed anew opens with the older keys.
    package func adopt(_ keys: AuthenticationKeys.SecretKeys) async throws(Fault) {
        seals.adopt(current: keys.current, older: keys.older)
        try await resealAll()
    }

    /// Seals with the current key what an older one has sealed.
    func resealAll() async throws(Fault) {
        for kept in try await store.sealedSecrets() {
            guard !seals.isCurrent(kept), let secret = seals.open(kept) else { continue }
            try await store.reseal(kept, as: try seals.close(secret, kept.reference))
        }
    }
}

/// A folder with a file `<reference>.secret` each. A file is read when its secret is needed, so a new one needs no restart.
package struct ClientSecretFolder: Sendable {
    /// Absolute; `nil`: there are no secrets.
    package let path: String?

    package init(path: String?) {
        self.path = path
    }

    private static let ending = ".secret"
    /// Octets of a file that are looked at.
    private static let longest = 64 * 1024

    package func secret(_ reference: SecretReference) -> ProviderSecret? {
        guard let path, Self.isName(reference.text), let content = FileManager.default.contents(atPath: "\(path)/\(reference.text)\(Self.ending)"),
            content.count <= Self.longest, let text = String(validating: content, as: UTF8.self)
        else { return nil }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return secret.isEmpty ? nil : ProviderSecret(secret)
    }

    /// Those whose files hold something.
    func references() -> [String] {
        guard let path, let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return [] }
        let references = names.filter { $0.hasSuffix(Self.ending) }.map { String($0.dropLast(Self.ending.count)) }
        return references.filter { secret(SecretReference($0)) != nil }
    }

    /// Nothing that could lead out of the folder.
    package static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}

/// Keeps secrets of the catalogue unreadable in the store: each is sealed for its reference, by a key that changes without a restart.
package final class SecretSeals: Sendable {
    private let keys: SymmetricKeyRing

    /// - Parameter older: Open what they have sealed, and seal nothing.
    package init(current: SymmetricKey, older: [SymmetricKey] = []) { keys = SymmetricKeyRing(current: current, older: older) }

    package func adopt(current: SymmetricKey, older: [SymmetricKey]) { keys.adopt(current: current, older: older) }

    /// - Throws: `internal`.
    package func close(_ secret: ProviderSecret, _ reference: SecretReference) throws(Fault) -> [UInt8] {
        let key = keys.current
        do {
            return try AESGCM.seal(Array(secret.text.utf8), key: key, context: Self.context(reference))
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    /// - Returns: `nil` when none of the keys opens it, or it was sealed for another reference.
    package func open(_ secret: SealedSecret) -> ProviderSecret? {
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

/// Secrets of pairs and imported clients as they were read lately: a television signs each of its calls.
package final class RecentSecrets: Sendable {
    /// One is used without another look for this long.
    private static let age: Duration = .seconds(1)
    private static let capacity = 4096

    private struct Entry {
        let secret: ProviderSecret?
        let readAt: Timestamp
    }

    private let secrets: any ClientSecrets
    private let clock: any WallClock
    private let recent = Mutex<[SecretReference: Entry]>([:])

    init(_ secrets: any ClientSecrets, clock: any WallClock) {
        self.secrets = secrets
        self.clock = clock
    }

    /// - Returns: `nil` when there is none of that name.
    /// - Throws: Faults of the store.
    package func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? {
        let now = clock.now()
        if let entry = recent.withLock({ $0[reference] }), now >= entry.readAt, now - entry.readAt < Self.age { return entry.secret }
        let secret = try await secrets.secret(reference)
        recent.withLock { recent in
            if recent.count >= Self.capacity { recent = [:] }
            recent[reference] = Entry(secret: secret, readAt: now)
        }
        return secret
    }
}

extension KeptSecrets: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.putSecret) { request, _ in
            let secret = ProviderSecret(request.secret)
            return PutSecretResponse(replaced: try await put(SecretReference(request.reference), secret, owner: request.programmerID))
        }
        calls.unary(AuthenticationOperationsMethods.listSecrets) { _, _ in
            SecretList(
                secrets: try await list().map { secret in
                    StoredSecret(
                        reference: secret.reference, programmerID: secret.owner, isFile: secret.isFile,
                        writtenAtMilliseconds: UInt64(clamping: secret.writtenAt?.milliseconds ?? 0))
                })
        }
    }
}
