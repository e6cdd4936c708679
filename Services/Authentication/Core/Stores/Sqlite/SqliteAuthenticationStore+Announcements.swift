internal import Clocks
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: AnnouncementStore {
    func announcesIssuer(_ issuer: String) async throws(Fault) -> Bool {
        try await store.first("SELECT read_at_ms FROM announced_issuer WHERE issuer = ?", [issuer]) { $0.next() as Timestamp } != nil
    }

    func note(_ issuer: String, announcesIssuer: Bool, at moment: Timestamp) async throws(Fault) {
        guard announcesIssuer else {
            try await store.change("DELETE FROM announced_issuer WHERE issuer = ?", [issuer])
            return
        }
        try await store.change(
            "INSERT INTO announced_issuer (issuer, read_at_ms) VALUES (?, ?) ON CONFLICT (issuer) DO UPDATE SET read_at_ms = excluded.read_at_ms",
            [issuer, moment])
    }
}
