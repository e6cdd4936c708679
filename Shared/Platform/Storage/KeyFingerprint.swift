internal import Clocks
public import Faults

/// A value that tells a secret key from another one without telling the key. So copies of a service on several hosts find out when their files
/// differ.
public struct KeyFingerprint: Sendable, Hashable {
    /// The setting that names the key's file, for example `authentication.userIDKey`.
    public let name: String
    /// HMAC of `text` by the key.
    public let current: [UInt8]
    /// The same by keys that the settings name as former ones.
    public let older: [[UInt8]]

    /// - Parameters:
    ///   - name: The setting that names the key's file.
    ///   - current: HMAC of `text(name)` by the key.
    ///   - older: The same by former keys.
    public init(_ name: String, current: [UInt8], older: [[UInt8]] = []) {
        self.name = name
        self.current = current
        self.older = older
    }

    /// The text that a key of that name authenticates.
    public static func text(_ name: String) -> String { "boxoffice key check \(name)" }
}

extension Store {
    /// True when copies on other hosts may have the rows too, with files of their own beside them. Then the store has tables for the keys that they
    /// must have alike.
    public var isDistributed: Bool { hasPipeline }

    /// Compares keys with those that copies have used with this store before, and notes them. A key is known when some copy had it; a new one is taken when a former one of the
    /// settings is known. In a store that is not distributed nothing is compared.
    /// - Returns: The names of keys that no copy has had. Nothing is noted then.
    /// - Throws: Faults of a write.
    public func unknownKeys(_ keys: [KeyFingerprint]) async throws(Fault) -> [String] {
        guard isDistributed else { return [] }
        return try await write { database in
            let known = try keys.map { key in
                try database.values("SELECT fingerprint FROM key_check WHERE name = ?", [key.name]) as [[UInt8]]
            }
            let unknown = zip(keys, known).filter { key, known in !known.isEmpty && !([key.current] + key.older).contains(where: known.contains) }
            guard unknown.isEmpty else { return unknown.map { key, _ in key.name } }
            for (key, known) in zip(keys, known) where !known.contains(key.current) { try Self.note(key, database) }
            return []
        }
    }

    /// Notes keys that a running copy has taken in: it knows the former ones itself.
    /// - Throws: Faults of a write.
    public func noteKeys(_ keys: [KeyFingerprint]) async throws(Fault) {
        guard isDistributed else { return }
        try await write { database in
            for key in keys { try Self.note(key, database) }
        }
    }

    private static func note(_ key: KeyFingerprint, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO key_check (name, fingerprint, noted_at_ms) VALUES (?, ?, ?) ON CONFLICT (name, fingerprint) DO NOTHING
            """, [key.name, key.current, SystemClock().now()])
    }
}
