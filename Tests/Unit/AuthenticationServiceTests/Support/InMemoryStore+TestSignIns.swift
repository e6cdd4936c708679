import Clocks
import Contracts
import Faults
import Synchronization

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

extension InMemoryStore: TestSignInStore {
    func add(_ test: TestSignInRecord, now: Timestamp) async throws(Fault) -> Bool {
        guard case .waiting(let ticket) = test.stage else { return false }
        return state.withLock { state in
            guard test.isScheduled || state.tests.values.filter({ $0.expiresAt > now && !$0.isScheduled }).count < TestSignInRecord.most else {
                return false
            }
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
                expiresAt: known.expiresAt, isScheduled: known.isScheduled, stage: .open(request))
            return true
        }
    }

    func drop(_ test: TestSignInID) async throws(Fault) {
        state.withLock { state in state.tests = state.tests.filter { $0.value.id != test } }
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

extension InMemoryStore: ScheduledSignInStore {
    func takeTurn(_ mvpd: MvpdID, first: Timestamp, next: Timestamp, now: Timestamp) async throws(Fault) -> ScheduledSignInTurn {
        if state.withLock({ $0.isAway }) { throw Fault(.unavailable, "The service's storage does not answer.") }
        return state.withLock { state in
            guard let known = state.scheduled[mvpd] else {
                state.scheduled[mvpd] = (first, nil)
                return .notYet(until: first, latest: nil)
            }
            guard known.due <= now || known.due > next else { return .notYet(until: known.due, latest: known.state) }
            state.scheduled[mvpd]?.due = next
            return .mine(before: known.state)
        }
    }

    func keep(_ state: ScheduledSignInState, of mvpd: MvpdID) async throws(Fault) {
        self.state.withLock { $0.scheduled[mvpd]?.state = state }
    }

    func scheduledSignIns() async throws(Fault) -> [ScheduledSignInState] {
        state.withLock { state in state.scheduled.values.compactMap(\.state).sorted { $0.mvpd < $1.mvpd } }
    }
}
