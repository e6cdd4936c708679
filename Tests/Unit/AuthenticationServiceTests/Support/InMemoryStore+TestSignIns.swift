import Clocks
import Faults
import Synchronization

@testable import AuthenticationService

extension InMemoryStore: TestSignInStore {
    func add(_ test: TestSignInRecord, now: Timestamp) async throws(Fault) -> Bool {
        guard case .waiting(let ticket) = test.stage else { return false }
        return state.withLock { state in
            guard state.tests.values.filter({ $0.expiresAt > now }).count < TestSignInRecord.most else { return false }
            state.tests[ticket] = test
            return true
        }
    }

    func testSignIn(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> TestSignInRecord? {
        state.withLock { $0.tests[handle].flatMap { $0.expiresAt > now ? $0 : nil } }
    }

    func open(
        _ test: TestSignInID, from before: SecretDigest, _ request: TestSignInRecord.Request, _ way: SignInWay, now: Timestamp
    ) async throws(Fault) -> Bool {
        state.withLock { state in
            guard let known = state.tests[before], known.id == test, known.expiresAt > now else { return false }
            state.tests[before] = nil
            state.tests[request.relayState] = TestSignInRecord(
                id: known.id, requestor: known.requestor, mvpd: known.mvpd, programmer: known.programmer, configuration: known.configuration,
                way: way,
                expiresAt: known.expiresAt, stage: .open(request))
            return true
        }
    }

    func finish(
        _ test: TestSignInID, _ handle: SecretDigest, _ replay: SignInCompletion.Replay?, now: Timestamp
    ) async throws(Fault) -> TestSignInEnd {
        state.withLock { state in
            guard let known = state.tests[handle], known.id == test, known.expiresAt > now else { return .notPending }
            state.tests[handle] = nil
            guard let replay else { return .ended }
            return state.assertions.insert(AssertionKey(issuer: replay.issuer, id: replay.assertionID)).inserted ? .ended : .replayed
        }
    }
}
