internal import Clocks
internal import Faults
public import Storage
public import Tokens

extension ServiceEnvironment {
    /// Shares public keys with copies on other hosts, once now and then every second. Does nothing where the store is not distributed.
    ///
    /// When others have keys and do not know one of these yet, it waits until they do. So everything that this copy signs is good everywhere from the
    /// first moment on.
    /// - Parameters:
    ///   - name: The use of the keys, for example `access token`.
    ///   - own: The contents of the files here, with their names.
    ///   - take: Gets what the files of all copies hold.
    /// - Throws: `StartFailure` when the store refuses it; `CancellationError`.
    public func sharePublicKeys(
        _ name: String, in store: Store, own: @escaping @Sendable () -> [(identifier: String, content: String)],
        take: @escaping @Sendable ([SharedPublicKey]) -> Void
    ) async throws {
        guard store.isDistributed else { return }
        let table = PublicKeyTable(store, name: name, clock: clock)
        let first = own()
        let names = Set(first.map { $0.identifier })
        do {
            let all = try await ask(store) { try await table.exchange(first) }
            take(all)
            let isNew = all.contains { names.contains($0.identifier) && $0.since + Self.hearing > clock.now() }
            if isNew, all.contains(where: { !names.contains($0.identifier) }) { try await Task.sleep(for: Self.hearing) }
        } catch let error as Fault {
            throw StartFailure("store \(store.place): public keys cannot be shared with other copies (\(error.cause ?? error))")
        }
        background("public keys") {
            while true {
                try await Task.sleep(for: .seconds(1))
                // Without an answer what is known counts on.
                if let all = try? await table.exchange(own()) { take(all) }
            }
        }
    }

    /// Until every copy has read the table.
    private static var hearing: Duration { .seconds(2) }
}

extension ServiceEnvironment {
    /// Shares the public halves of signing keys with copies on other hosts: all of them verify what any of them has signed.
    /// - Parameters:
    ///   - name: The use of the keys.
    ///   - whenChanged: Called when other keys verify than before.
    /// - Throws: As above.
    public func share(
        _ keys: SigningKeyRotation, named name: String, in store: Store, whenChanged: @escaping @Sendable () -> Void
    ) async throws {
        try await sharePublicKeys(name, in: store) {
            keys.published.map(Self.told)
        } take: { all in
            if keys.share(Self.keys(all), since: Self.moments(all)) { whenChanged() }
        }
    }

    /// The same for keys of service tokens.
    /// - Throws: As above.
    public func share(_ keys: ServiceTokenKeys, named name: String, in store: Store) async throws {
        try await sharePublicKeys(name, in: store) {
            keys.published.map(Self.told)
        } take: { all in
            keys.share(Self.keys(all), since: Self.moments(all))
        }
    }

    private static func told(_ key: JSONWebKey) -> (identifier: String, content: String) { (key.identifier, JSONWebKeySet(keys: [key]).json) }

    private static func keys(_ all: [SharedPublicKey]) -> [JSONWebKey] { all.flatMap { (try? JSONWebKeySet(json: $0.content).keys) ?? [] } }

    private static func moments(_ all: [SharedPublicKey]) -> [String: Timestamp] {
        Dictionary(all.map { ($0.identifier, $0.since) }) { first, _ in first }
    }
}
