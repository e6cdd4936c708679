import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

/// Why decisions were a no, for support.
@Suite struct RefusalTests {
    private func told(_ fixture: AuthorizationFixture, _ sessions: [String]) async throws -> [SessionRefusal] {
        try await fixture.service.findRefusals(FindRefusalsRequest(sessionIDs: sessions), context: CallContext()).refusals
    }

    private func session(_ fixture: AuthorizationFixture) throws -> String { fixture.subject().session?.id ?? "" }

    @Test("an MVPD's no, one that nobody could give, and a rule's are told with their time, and a later no takes the place of an earlier one")
    func notes() async throws {
        let fixture = try AuthorizationFixture()
        let session = try session(fixture)
        #expect(try await told(fixture, [session]) == [])
        fixture.transport.answer(Xacml.deny(message: "Not in your package"))
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
        let first = UInt64(fixture.clock.now().milliseconds)
        #expect(
            try await told(fixture, [session, "another"])
                == [SessionRefusal(sessionID: session, code: "authorization_denied_by_mvpd", source: .mvpd, refusedAtMilliseconds: first)])
        fixture.clock.advance(by: .seconds(60))
        fixture.transport.fail(.responseTimeout)
        let unreached = try #require(await fault { try await fixture.authorize("CHAN7-4K") }).code
        #expect(try await told(fixture, [session]).map(\.code) == [unreached.rawValue])
        fixture.degrade(.authzNone)
        _ = await fault { try await fixture.authorize() }
        let last = try await told(fixture, [session])
        #expect(last.map(\.source) == [.degradation] && last.map(\.refusedAtMilliseconds) == [first + 60_000])
    }

    @Test("a permit is no refusal, and neither is a session that is missing")
    func onlyDecisions() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        #expect(await fault { try await fixture.authorize(device: "dev-2") }?.code == .authenticationSessionMissing)
        await fixture.refusals.flush()
        #expect(fixture.refusalStore.all.isEmpty)
    }

    @Test("a denial for a device without a session, which something stands for, is not noted: nobody could look for it")
    func standIns() async throws {
        let fixture = try AuthorizationFixture()
        var subject = fixture.subject()
        subject.standsIn = true
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
        fixture.transport.answer(Xacml.deny())
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
        #expect(try await told(fixture, [try session(fixture)]).isEmpty)
    }

    @Test("notes are written beside the answers, are told from the store then, and for a day")
    func keeps() async throws {
        let fixture = try AuthorizationFixture()
        let session = try session(fixture)
        fixture.transport.answer(Xacml.deny())
        _ = await fault { try await fixture.authorize() }
        #expect(fixture.refusalStore.all.isEmpty)
        await fixture.refusals.flush()
        #expect(fixture.refusalStore.all.map(\.session) == [session])
        #expect(try await told(fixture, [session]).count == 1)
        fixture.clock.advance(by: NotedRefusal.remembrance)
        #expect(try await told(fixture, [session]).isEmpty)
    }

    @Test("a store that is away costs the note, and nobody an answer; more than 100 sessions are refused")
    func storeAway() async throws {
        let fixture = try AuthorizationFixture()
        fixture.refusalStore.goAway()
        fixture.transport.answer(Xacml.deny())
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
        #expect(try await told(fixture, [try session(fixture)]).count == 1, "it waits to be written")
        await fixture.refusals.flush()
        #expect(await fault { try await told(fixture, ["s"]) }?.code == .unavailable)
        #expect(await fault { try await told(fixture, (0...100).map(String.init)) }?.code == .invalidRequest)
        #expect(await fault { try await told(fixture, (1...100).map(String.init)) }?.code == .unavailable, "a hundred may be asked for")
    }

    @Test("a store keeps the latest of a session, and tells nobody's session by its rows", arguments: StoreEngineCase.allCases)
    func stores(engine: StoreEngineCase) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "refusals-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try engine.open(folder)
        let refusals = SqlRefusalStore(store)
        let now = Timestamp(seconds: 1_930_384_800)
        func refusal(_ session: String, _ code: String, after delay: Duration = .zero) -> NotedRefusal {
            NotedRefusal(session: session, code: code, source: .tempPass, at: now + delay)
        }
        try await refusals.keep([refusal("s1", "first"), refusal("s2", "other")])
        try await refusals.keep([refusal("s1", "second", after: .seconds(1))])
        // Another copy was slower to write an earlier one.
        try await refusals.keep([refusal("s1", "late")])
        let found = try await refusals.refusals(of: ["s1", "s2", "s3"])
        #expect(found == [refusal("s1", "second", after: .seconds(1)), refusal("s2", "other")])
        let rows: [String] = try await store.read { try $0.values("SELECT session FROM refusals") }
        #expect(rows.count == 2 && rows.allSatisfy { $0.utf8.count == 64 })
        await store.close()
    }
}
