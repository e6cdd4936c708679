package import Clocks
internal import Contracts
package import Faults
internal import Storage

/// Logins that other devices may be signed in from, and the sessions made so (apple §1.4).
extension SqlAuthenticationStore {
    /// A person has a few devices; of many, those that last longest are enough.
    private static let mostLogins = 32

    /// Logins of these subscribers at the requestor that have not expired, and the sessions that the device has there, the newest first, also expired
    /// ones.
    package func logins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord]) {
        let found = try await store.read { database in
            (own: try database.sessions(device), logins: try Self.logins(of: subscribers, at: device.requestor, database, now))
        }
        return (living(found.own), living(found.logins))
    }

    /// The same out of memory as far as possible: logins as they are, and the device's sessions only where memory has them.
    /// - Returns: `nil` when memory is not enough.
    package func rememberedLogins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord])? {
        // There memory knows of none, and one question to the store is enough.
        guard store.isCoherent else { return nil }
        var found: [SessionRecord] = []
        for subscriber in subscribers {
            guard let keys = try await devices(of: subscriber, at: device.requestor) else { return nil }
            for key in keys {
                found += try await sessions(key).filter { $0.isLogin && $0.subscriber == subscriber && $0.expiresAt > now }
            }
        }
        guard case .sessions(let own) = memory.lookup(device) else { return ([], found) }
        return (living(own), found)
    }

    /// Returns where the person may be signed in.
    /// - Returns: `nil` for somebody with very many devices: only the store knows which logins last longest.
    private func devices(of subscriber: Subscriber, at requestor: RequestorID) async throws(Fault) -> [SessionKey]? {
        let place = LoginPlace(subscriber: subscriber, requestor: requestor)
        let epoch: CoherentCache<LoginPlace, [SessionKey]>.Epoch
        switch logins.lookup(place) {
        case .hit(let keys):
            rememberedLogins.increment()
            return keys
        case .miss(let current): epoch = current
        }
        readLogins.increment()
        let keys = try await store.read { database in
            try database.all(
                "SELECT DISTINCT device_id FROM session WHERE user_id = ? AND requestor = ? AND mvpd = ? AND kind <= 1 LIMIT ?",
                [subscriber.userID, requestor, subscriber.mvpd, Self.mostLogins + 1]
            ) { SessionKey(device: $0.next(), requestor: requestor) }
        }
        guard keys.count <= Self.mostLogins else { return nil }
        logins.offer(keys, for: place, readIn: epoch)
        return keys
    }

    /// As `logins(of:besides:now:)`, for no device.
    package func logins(of subscribers: Set<Subscriber>, at requestor: RequestorID, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        living(try await store.read { try Self.logins(of: subscribers, at: requestor, $0, now) })
    }

    /// Stores the session in place of the newest one before.
    /// - Returns: False when the login is over, or the device has another newest session by now; nothing changed.
    package func start(_ made: MadeSession, now: Timestamp) async throws(Fault) -> Bool {
        let key = made.session.key
        do throws(Fault) {
            let start = try await store.write(
                { try $0.start(made, now: now) },
                whenCommitted: { [memory] start in
                    if start == .only { memory.replace(key, with: made.session) } else { memory.forget(key) }
                })
            return start != .refused
        } catch {
            memory.forget(key)
            throw error
        }
    }

    /// Removes automatic sessions, and remembers the logout of each; ids of others are passed over.
    /// - Returns: The number that had not expired.
    package func endAutomatic(_ ids: [SessionID], now: Timestamp) async throws(Fault) -> Int {
        let ended = try await store.write { database in
            var ended: [(key: SessionKey, isLive: Bool)] = []
            for id in ids {
                let delete: Statement = "DELETE FROM session WHERE id = ? AND kind = ? RETURNING device_id, requestor, expires_at_ms"
                let session = try database.first(delete, [id, Int64(SessionKind.automatic.rawValue)]) { columns in
                    (key: SessionKey(device: columns.next(), requestor: columns.next()), isLive: columns.next() as Timestamp > now)
                }
                guard let session else { continue }
                try Self.remember(logoutOf: session.key, database, now)
                ended.append(session)
            }
            return ended
        }
        for session in ended { memory.forget(session.key) }
        return ended.count { $0.isLive }
    }

    /// The condition on the kind is the index's, word for word: without it SQLite could not use that.
    private static func logins(
        of subscribers: Set<Subscriber>, at requestor: RequestorID, _ database: Database, _ now: Timestamp
    ) throws -> [SessionRecord] {
        let live: Statement = """
            SELECT \(SessionRecord.columns) FROM session WHERE user_id = ? AND requestor = ? AND mvpd = ? AND kind <= 1 AND expires_at_ms > ?
            ORDER BY expires_at_ms DESC LIMIT ?
            """
        return try subscribers.flatMap { subscriber in
            try database.all(live, [subscriber.userID, requestor, subscriber.mvpd, now, mostLogins]) { try SessionRecord(columns: &$0) }
        }
    }
}

/// The outcome for a session made from a login elsewhere.
private enum AutomaticStart {
    /// The login is over, or the device has another newest session by now.
    case refused
    /// The device has no other at the requestor.
    case only
    case oneOfSeveral
}

extension Database {
    fileprivate func start(_ made: MadeSession, now: Timestamp) throws -> AutomaticStart {
        let key = made.session.key
        let own: [SessionID] = try values(
            "SELECT id FROM session WHERE device_id = ? AND requestor = ? ORDER BY number DESC", [key.device, key.requestor])
        guard own.first == made.replaced else { return .refused }
        guard try hasRow("SELECT 1 FROM session WHERE id = ? AND expires_at_ms > ?", [made.login, now]) else { return .refused }
        if let replaced = made.replaced { try run("DELETE FROM session WHERE id = ?", [replaced]) }
        try made.session.insert(into: self)
        try made.tokens?.insert(into: self)
        return own.count < 2 ? .only : .oneOfSeveral
    }
}
