import AuthorizationService
import Clocks
import PostgresServer
import Storage
import Testing

/// Copies of the service on several hosts, which keep their permits in one server.
@Suite struct SharedServerTests {
    private static let key = AuthzTokenKey(session: "s", device: "d", requestor: "CHAN7", resource: "r")
    private static let now = Timestamp(seconds: 1_930_384_800)

    @Test("both engines have the same tables")
    func tables() async throws {
        let found = try await EngineSchemas.differences(
            sqlite: SqlAuthorizationStore.migrations, postgres: SqlAuthorizationStore.postgresSteps)
        #expect(found == [])
    }

    @Test(
        "new stores on a server, and those of the first release, get the schema of kept ones",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func keptSchema() async throws {
        #expect(try await KeptSchemas.differences(of: "authorization", steps: SqlAuthorizationStore.postgresSteps) == [])
    }

    @Test("a permit that counts may be answered from memory, a refusal never", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func refusals() async throws {
        let options = try PostgresServer.shared.options()
        let stores = [try StoreEngineCase.server(options), try StoreEngineCase.server(options)]
        let (one, other) = (SqlAuthorizationStore(stores[0]), SqlAuthorizationStore(stores[1]))
        func token(_ seconds: Int64) -> AuthzToken { AuthzToken(key: Self.key, mvpd: "DemoCable", expiresAt: Self.now + .seconds(seconds)) }

        #expect(try await other.token(Self.key) == nil)
        try await one.save(token(60))
        // Absent a moment ago.
        #expect(try await other.token(Self.key) { $0.expiresAt > Self.now } == token(60))
        try await one.save(token(600))
        // It still counts, and may be the older one.
        #expect(try await other.token(Self.key) { $0.expiresAt > Self.now } != nil)
        // It counts no more: what the store has is asked for, and known from then on.
        let later = Self.now + .seconds(61)
        for _ in 0..<2 { #expect(try await other.token(Self.key) { $0.expiresAt > later } == token(600)) }
        #expect(try await other.token(Self.key) == token(600))
        for store in stores { await store.close() }
    }
}
