internal import Clocks
internal import Faults
internal import Foundation

/// Where client secrets come from.
protocol ClientSecrets: Sendable {
    /// - Returns: `nil` when there is none of that name.
    /// - Throws: Faults of the store.
    func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret?
}

/// A secret that the store keeps, sealed.
struct SealedSecret: Hashable, Sendable {
    let reference: SecretReference
    /// The programmer whose it is; empty: operators'.
    let owner: String
    let sealed: [UInt8]
    let writtenAt: Timestamp
}

protocol SecretStore: Sendable {
    /// Stores it unless the reference is another owner's.
    /// - Returns: Whether there was one before; `nil` when it is another owner's.
    func put(_ secret: SealedSecret) async throws(Fault) -> Bool?

    func sealedSecret(_ reference: SecretReference) async throws(Fault) -> SealedSecret?

    /// By reference.
    func sealedSecrets() async throws(Fault) -> [SealedSecret]

    /// Seals one anew, if it is still the same.
    func reseal(_ secret: SealedSecret, as sealed: [UInt8]) async throws(Fault)
}

/// What the catalogue refers to: a file of that name first, then what administrators have written (clients §2).
struct KeptSecrets: ClientSecrets {
    /// Octets of a secret, at most.
    static let longest = 4096

    let folder: ClientSecretFolder
    let store: any SecretStore
    let seals: SecretSeals
    let clock: any WallClock

    func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? {
        if let file = folder.secret(reference) { return file }
        guard ClientSecretFolder.isName(reference.text), let kept = try await store.sealedSecret(reference) else { return nil }
        return seals.open(kept)
    }

    /// - Returns: Whether there was one before.
    /// - Throws: `invalid_request`, `not_found` (another owner's), faults of the store.
    func put(_ reference: SecretReference, _ secret: ProviderSecret, owner: String) async throws(Fault) -> Bool {
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

    /// Which references there are; files have no owner but operators.
    func list() async throws(Fault) -> [(reference: String, owner: String, isFile: Bool, writtenAt: Timestamp?)] {
        let files = folder.references()
        let kept = try await store.sealedSecrets().filter { !files.contains($0.reference.text) }
        return files.sorted().map { ($0, "", true, nil) } + kept.map { ($0.reference.text, $0.owner, false, $0.writtenAt) }
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
struct ClientSecretFolder: Sendable {
    /// Absolute; `nil`: there are no secrets.
    let path: String?

    private static let ending = ".secret"
    /// Octets of a file that are looked at.
    private static let longest = 64 * 1024

    func secret(_ reference: SecretReference) -> ProviderSecret? {
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
    static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}
