internal import Clocks
internal import Faults
internal import Synchronization

/// Secrets of pairs and imported clients as they were read lately: a television signs each of its calls.
final class RecentSecrets: Sendable {
    /// How long one is used without another look.
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
    func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? {
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
