import Testing

@testable import AuthenticationService

struct DurabilityTests {
    @Test("What was acknowledged is there after a restart")
    func survivesRestart() async throws {
        let file = Folder.shared.newFile()
        let database = try Backend.database(file)
        let store = SqliteAuthenticationStore(database)
        try await store.add(Sample.client())
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
        #expect(try await store.session(Sample.session().key) == Sample.session())
        await database.close()

        let reopened = SqliteAuthenticationStore(try Backend.database(file))
        #expect(try await reopened.client(ClientID("client-1")) == Sample.client())
        #expect(try await reopened.liveRecord(RegistrationCodeText(typed: "QK7M2XD"), now: t0)?.isUsed == true)
        #expect(try await reopened.session(Sample.session().key) == Sample.session())
        #expect(try await reopened.pending(RelayHandle("relay-1").digest, now: t0) == nil)
    }
}
