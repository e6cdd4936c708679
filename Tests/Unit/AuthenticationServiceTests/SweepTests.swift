import Clocks
import Doubles
import Logging
import ManualClocks
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct SweepTests {
    @Test("What is over is removed; a code an hour later, an expired session a day later")
    func sweeps() async throws {
        let clock = ManualClock(t0)
        let database = try Backend.database(Folder.shared.newFile())
        let store = SqlAuthenticationStore(database)
        let sweeper = Sweeper(
            store: database, name: "authentication", sweeps: AuthenticationDatabase.sweeps, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(session: Sample.session(lifetime: .seconds(10))), now: t0) == .completed)
        #expect(try await store.claim(Sample.record("BBBBBBB", id: "record-2"), now: t0))
        #expect(try await store.begin(Sample.pending("_request-2", relay: "relay-2", record: Sample.record("BBBBBBB", id: "record-2")), now: t0))
        try await store.add(Sample.profileRequest())
        func round() async throws -> [String: Int] {
            var removed: [String: Int] = [:]
            for sweep in AuthenticationDatabase.sweeps { removed[sweep.table] = try await sweeper.sweep(sweep) }
            return removed
        }
        #expect(try await round() == removed(codes: 0, signIns: 0, assertions: 0, sessions: 0, requests: 0))
        clock.advance(by: .seconds(1800))
        #expect(try await round() == removed(codes: 0, signIns: 1, assertions: 1, sessions: 0, requests: 1))
        // Its maker may poll for an hour more.
        clock.advance(by: .seconds(3600))
        #expect(try await round() == removed(codes: 2, signIns: 0, assertions: 0, sessions: 0, requests: 0))
        clock.set(t0 + .seconds(10 + 86_400))
        #expect(try await round() == removed(codes: 0, signIns: 0, assertions: 0, sessions: 1, requests: 0))
    }

    private func removed(codes: Int, signIns: Int, assertions: Int, sessions: Int, requests: Int) -> [String: Int] {
        [
            "registration_code": codes, "pending_sign_in": signIns, "used_assertion": assertions, "session": sessions,
            "profile_request": requests, "pending_logout": 0, "logout": 0, "signed_nonce": 0, "service_link": 0, "service_device": 0,
            "service_person": 0, "erased": 0, "test_sign_in": 0, "bridge_pending": 0, "bridge_session": 0, "bridge_slot": 0, "bridge_list": 0,
            "bridge_lost_slot": 0,
            "bridge_person": 0, "scheduled_sign_in": 0, "announced_issuer": 0,
        ]
    }
}
