package import Storage

/// The sessions that a device has at a requestor, or that it has none, as the store said lately. Devices that wait for their person poll for a
/// session that is not there yet (rest-v1 §3.9). Absences are kept apart, so that unknown devices displace no session.
package struct SessionMemory: Sendable {
    package struct Epochs: Sendable {
        fileprivate let session: CoherentCache<SessionKey, [SessionRecord]>.Epoch
        fileprivate let absence: CoherentCache<SessionKey, Void>.Epoch
    }

    package enum Lookup: Sendable {
        /// At least one, the newest first.
        case sessions([SessionRecord])
        case absent
        /// The store's answer, read now, may be offered to memory with these epochs.
        case unknown(Epochs)
    }

    private let sessions: CoherentCache<SessionKey, [SessionRecord]>
    private let absences: CoherentCache<SessionKey, Void>

    /// - Parameters:
    ///   - capacity: The capacity for sessions and for absences each, at least 2.
    ///   - store: Where it is not coherent nothing is known.
    init(capacity: Int, of store: Store) {
        sessions = CoherentCache(capacity: capacity, of: store)
        absences = CoherentCache(capacity: capacity, of: store)
    }

    /// - Parameter changes: The changes of a store that is coherent.
    init(capacity: Int, changes: (any StoreChanges)?) {
        sessions = CoherentCache(capacity: capacity, changes: changes)
        absences = CoherentCache(capacity: capacity, changes: changes)
    }

    package func watched(by store: Store) {
        store.watch(sessions, "sessions")
        store.watch(absences, "absent sessions")
    }

    package func lookup(_ key: SessionKey) -> Lookup {
        switch sessions.lookup(key) {
        case .hit(let found): return .sessions(found)
        case .miss(let session):
            guard case .miss(let absence) = absences.lookup(key) else { return .absent }
            return .unknown(Epochs(session: session, absence: absence))
        }
    }

    /// Keeps what was read from the store since then, unless it may be out of date.
    package func offer(_ found: [SessionRecord], for key: SessionKey, readIn epochs: Epochs) {
        if found.isEmpty {
            absences.offer((), for: key, readIn: epochs.absence)
        } else {
            sessions.offer(found, for: key, readIn: epochs.session)
        }
    }

    /// Keeps what a commit wrote. Only for calls in the order of the commits: `Store.write(_:whenCommitted:)` makes them so.
    /// - Parameter session: The only one that the device has there.
    func replace(_ key: SessionKey, with session: SessionRecord) {
        absences.forget(key)
        sessions.replace(key, with: [session])
    }

    /// To be called after a change of the key's sessions, before anybody hears of it.
    package func forget(_ key: SessionKey) {
        absences.forget(key)
        sessions.forget(key)
    }
}
