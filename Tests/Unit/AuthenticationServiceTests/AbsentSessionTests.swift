import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The service remembers that a device which polls before its sign-in has no session; once it has one, every reader must see it (rest-v1 §3.9).
@Suite("The memory of absent sessions")
struct AbsentSessionTests {
    /// The ways in which the store creates a session.
    enum Start: CaseIterable {
        case signIn, platform, plain, upstream

        func perform(_ store: SqlAuthenticationStore) async throws {
            switch self {
            case .signIn:
                #expect(try await store.claim(Sample.record(), now: t0))
                #expect(try await store.begin(Sample.pending(), now: t0))
                #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
            case .platform:
                try await store.add(Sample.profileRequest())
                #expect(try await store.complete(Sample.exchange(), now: t0) == .completed)
            case .plain: #expect(try await store.start(Sample.session(record: nil), now: t0))
            case .upstream:
                let session = Sample.session(record: nil)
                let tokens = ProviderTokenRecord(
                    session: session.id, requestor: session.key.requestor, mvpd: session.mvpd, refreshToken: [1], accessToken: [2],
                    accessExpiresAt: t0 + .seconds(60), expiresAt: session.expiresAt)
                #expect(try await store.start(session, keeping: tokens, now: t0))
            }
        }
    }

    @Test(arguments: Start.allCases)
    func aSessionIsFoundWhereNoneWas(_ start: Start) async throws {
        let store = try Backend.sqlite.open()
        let key = Sample.session().key
        for _ in 0..<2 { #expect(try await store.session(key) == nil) }
        try await start.perform(store)
        #expect(try await store.session(key) != nil)
        #expect(try await store.end(device: key.device, requestors: [key.requestor], claims: DeviceClaims(), now: t0).count == 1)
        for _ in 0..<2 { #expect(try await store.session(key) == nil) }
    }

    @Test(arguments: Start.allCases)
    func aSessionThatAnotherCopyStartedIsFound(_ start: Start) async throws {
        let file = Folder.shared.newFile()
        let (one, other) = (SqlAuthenticationStore(try Backend.database(file)), SqlAuthenticationStore(try Backend.database(file)))
        let key = Sample.session().key
        for store in [one, other] { #expect(try await store.session(key) == nil) }
        try await start.perform(other)
        for store in [one, other] { #expect(try await store.session(key) != nil) }
    }

    @Test func anAbsenceIsReadFromTheFileOnce() async throws {
        let memory = SessionMemory(capacity: 8, changes: nil)
        let key = Sample.session().key
        guard case .unknown(let epochs) = memory.lookup(key) else {
            Issue.record("nothing is known of it")
            return
        }
        memory.offer([], for: key, readIn: epochs)
        guard case .absent = memory.lookup(key) else {
            Issue.record("it is known to be absent")
            return
        }
    }

    @Test func anAbsenceThatWasReadBeforeASessionBeganIsNotKept() async throws {
        let memory = SessionMemory(capacity: 8, changes: nil)
        let session = Sample.session()
        for replaces in [true, false] {
            guard case .unknown(let epochs) = memory.lookup(session.key) else {
                Issue.record("nothing is known of it")
                return
            }
            if replaces { memory.replace(session.key, with: session) } else { memory.forget(session.key) }
            memory.offer([], for: session.key, readIn: epochs)
            if case .absent = memory.lookup(session.key) { Issue.record("a session began meanwhile") }
            memory.forget(session.key)
        }
    }

    @Test func unknownDevicesDisplaceNoSession() async throws {
        let memory = SessionMemory(capacity: 8, changes: nil)
        let session = Sample.session()
        memory.replace(session.key, with: session)
        for number in 0..<100 {
            let key = Sample.session(device: "unknown-\(number)").key
            guard case .unknown(let epochs) = memory.lookup(key) else { continue }
            memory.offer([], for: key, readIn: epochs)
        }
        guard case .sessions(let known) = memory.lookup(session.key), known == [session] else {
            Issue.record("the session is still known")
            return
        }
    }
}
