import AuthorizationService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

/// The service tells and erases the records of a person, by their sessions.
@Suite struct PersonTests {
    @Test("the last no of a session is told and erased, also one that waits for the store; permits are named as what stays")
    func erases() async throws {
        let fixture = try AuthorizationFixture()
        let session = try #require(fixture.subject().session?.id)
        let sessions = PersonSessions(sessionIDs: [session, "another"])
        for isWritten in [false, true] {
            fixture.transport.answer(Xacml.deny())
            _ = await fault { try await fixture.authorize() }
            if isWritten { await fixture.refusals.flush() }
            let told = try await fixture.service.exportPerson(sessions, context: CallContext())
            let row = try #require(told.tables.first { $0.name == "refusals" }?.rows.first)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(row.utf8)) as? [String: Any])
            #expect(object["session"] as? String == session && object["code"] as? String == "authorization_denied_by_mvpd")
            #expect(told.remainders.map(\.name) == ["authz_tokens"])
            let erased = try await fixture.service.erasePerson(sessions, context: CallContext())
            #expect(erased.tables.map(\.rows) == [1] && erased.remainders.map(\.name) == ["authz_tokens"])
            await fixture.refusals.flush()
            #expect(fixture.refusalStore.all.isEmpty)
            #expect(try await fixture.service.exportPerson(sessions, context: CallContext()).tables.isEmpty)
            #expect(try await fixture.service.erasePerson(sessions, context: CallContext()).tables.isEmpty)
        }
        #expect(fixture.store.forgottenMemories == 4, "keys of permits in memory name people")
    }

    @Test("a store that is away is said to be, and what is asked is bounded")
    func refuses() async throws {
        let fixture = try AuthorizationFixture()
        let many = PersonSessions(sessionIDs: (0...10_000).map { "\($0)" })
        #expect(await fault { try await fixture.service.erasePerson(many, context: CallContext()) }?.code == .invalidRequest)
        #expect(await fault { try await fixture.service.exportPerson(many, context: CallContext()) }?.code == .invalidRequest)
        let most = PersonSessions(sessionIDs: (1...10_000).map { "\($0)" })
        #expect(try await fixture.service.erasePerson(most, context: CallContext()).tables.isEmpty)
        #expect(try await fixture.service.exportPerson(most, context: CallContext()).tables.isEmpty)
        fixture.refusalStore.goAway()
        let one = PersonSessions(sessionIDs: ["s"])
        #expect(await fault { try await fixture.service.erasePerson(one, context: CallContext()) }?.code == .unavailable)
    }
}
