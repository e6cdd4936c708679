internal import Faults
public import Storage

extension ServiceEnvironment {
    /// Refuses to start with a secret key that no copy of the service has had with this store. It would open nothing of theirs, or make other ids.
    /// - Throws: `StartFailure` naming the settings, and what to do; `CancellationError`.
    public func requireKnown(_ keys: [KeyFingerprint], in store: Store) async throws {
        let unknown: [String]
        do {
            unknown = try await ask(store) { try await store.unknownKeys(keys) }
        } catch let error as Fault {
            throw StartFailure("store \(store.place): keys cannot be compared with those of other copies (\(error.cause ?? error))")
        }
        guard !unknown.isEmpty else { return }
        throw StartFailure(
            lines: unknown.map { name in
                """
                \(name) names a key that no copy has used with the store \(store.place); copy the file from a host where the service runs. Was it changed on purpose, name \
                the former one in the setting for older keys; where there is none, run DELETE FROM key_check WHERE name = '\(name)'
                """
            })
    }
}
