internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage

/// Finds the version that a value is. An unknown id and a wrong secret take the same steps: one comparison, one look into the file.
struct ValueLookup: Sendable {
    let store: AutoSignInStore
    let values: ValueSeal

    /// - Returns: `nil` when the id is unknown or the secret wrong.
    /// - Throws: Faults of the storage.
    func version(_ value: TokenValue) async throws(Fault) -> TokenVersionRecord? {
        switch store.versions.lookup(value.id) {
        case .hit(let version):
            if values.matches(version.comparison, value.secret) { return version }
            // As long as for an id that is unknown, and so not in memory.
            _ = try await read(value.id)
            return nil
        case .miss(let epoch):
            let found = try await read(value.id)
            if let found { store.versions.offer(found, for: value.id, readIn: epoch) }
            let isRight = values.matches(found?.comparison ?? Self.nobody, value.secret)
            return isRight ? found : nil
        }
    }

    private static let nobody = Digest(bytes: [UInt8](repeating: 0, count: 32))

    private func read(_ id: TokenID) async throws(Fault) -> TokenVersionRecord? {
        try await store.store.first(TokenVersionRecord.byID, [id]) { try TokenVersionRecord(columns: &$0) }
    }
}

extension AutoSignInStore {
    /// - Throws: Faults of the storage.
    func family(_ id: FamilyID) async throws(Fault) -> FamilyRecord? {
        let epoch: CoherentCache<FamilyID, FamilyRecord>.Epoch
        switch families.lookup(id) {
        case .hit(let family): return family
        case .miss(let current): epoch = current
        }
        let found = try await store.first(FamilyRecord.byID, [id]) { FamilyRecord(columns: &$0) }
        if let found { families.offer(found, for: id, readIn: epoch) }
        return found
    }
}
