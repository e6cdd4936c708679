internal import Clocks
internal import Faults
internal import Storage

/// The sessions of devices, of all accounts.
protocol StreamingSessionStore: Sendable {
    /// - Throws: Faults of the storage, here and below.
    func session(_ id: StreamingSessionID) async throws(Fault) -> StreamingSessionRecord?
    /// The one without an authn token that this client has on the device at the requestor.
    func sessionWithoutTV(device: DeviceID, requestor: RequestorID, client: ClientID) async throws(Fault) -> StreamingSessionRecord?
    /// Latest first.
    func sessions(of account: AccountID) async throws(Fault) -> [StreamingSessionRecord]
}

extension AutoSignInStore: StreamingSessionStore {
    func session(_ id: StreamingSessionID) async throws(Fault) -> StreamingSessionRecord? {
        let epoch: CoherentCache<StreamingSessionID, StreamingSessionRecord>.Epoch
        switch sessions.lookup(id) {
        case .hit(let session): return session
        case .miss(let current): epoch = current
        }
        let found = try await store.first(StreamingSessionRecord.byID, [id]) { StreamingSessionRecord(columns: &$0) }
        if let found { sessions.offer(found, for: id, readIn: epoch) }
        return found
    }

    func sessionWithoutTV(device: DeviceID, requestor: RequestorID, client: ClientID) async throws(Fault) -> StreamingSessionRecord? {
        try await store.first(StreamingSessionRecord.withoutTV, [device, requestor, client]) { StreamingSessionRecord(columns: &$0) }
    }

    func sessions(of account: AccountID) async throws(Fault) -> [StreamingSessionRecord] {
        try await store.all(StreamingSessionRecord.ofAccount, [account]) { StreamingSessionRecord(columns: &$0) }
    }
}
