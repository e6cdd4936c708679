internal import Clocks
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: NonceStore {
    func takeNonce(_ digest: [UInt8], until end: Timestamp) async throws(Fault) -> Bool {
        try await store.change("INSERT INTO signed_nonce (digest, expires_at_ms) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", [digest, end]) > 0
    }
}
