import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The duties of every backend; the same body runs on each.
@Suite(.serialized)
struct StoreConformanceTests {
    // MARK: Clients

    @Test("A client is found as it was stored, and no other", arguments: Backend.allCases)
    func keepsClients(_ backend: Backend) async throws {
        let store = try backend.open()
        try await store.add(Sample.client())
        #expect(try await store.client(ClientID("client-1")) == Sample.client())
        #expect(try await store.client(ClientID("CLIENT-1")) == nil)
    }

    @Test(
        "rest-v1 §3.1: clients that are not used are forgotten: those that made nothing first, never one with a session or a live code",
        arguments: Backend.allCases)
    func forgetsUnusedClients(_ backend: Backend) async throws {
        let store = try backend.open()
        let day: (Int64) -> Timestamp = { t0 + .seconds($0 * 86_400) }
        for id in ["idle", "made-a-code", "with-a-session", "in-use"] { try await store.add(Sample.client(id)) }
        let code = Sample.record("BBBBBBB", id: "record-2")
        #expect(try await store.claim(Sample.record(client: "made-a-code"), now: t0))
        #expect(try await store.claim(code, now: t0))
        #expect(try await store.start(Sample.session(client: "with-a-session", record: nil, lifetime: .seconds(86_400 * 1000)), now: t0))
        try await store.noteUse(of: ClientID("in-use"), at: day(390))
        func forget(on now: Timestamp) async throws -> Int {
            try await store.forgetClients(usedBefore: now - .seconds(86_400 * 400), idleBefore: now - .seconds(86_400 * 30), now: now)
        }
        func known() async throws -> [String] {
            var known: [String] = []
            for id in ["idle", "made-a-code", "with-a-session", "in-use"] where try await store.client(ClientID(id)) != nil { known.append(id) }
            return known
        }
        #expect(try await forget(on: day(30)) == 0)
        #expect(try await known().count == 4)
        #expect(try await forget(on: day(31)) == 1)
        #expect(try await known() == ["made-a-code", "with-a-session", "in-use"])
        #expect(try await forget(on: day(401)) == 1)
        #expect(try await known() == ["with-a-session", "in-use"])
        #expect(try await forget(on: day(402)) == 0)
        // No record was made with that one.
        #expect(try await forget(on: day(421)) == 1)
        #expect(try await known() == ["with-a-session"])
        #expect(
            try await store.end(device: DeviceID("dev-7f3a"), requestors: [RequestorID("CHAN7")], claims: DeviceClaims(), now: day(500)).count == 1)
        #expect(try await forget(on: day(500)) == 1)
    }

    @Test("a client with a live code stays", arguments: Backend.allCases)
    func keepsClientsWithCodes(_ backend: Backend) async throws {
        let store = try backend.open()
        try await store.add(Sample.client("c"))
        let late = t0 + .seconds(86_400 * 400)
        #expect(try await store.claim(Sample.record(client: "c", lifetime: .seconds(36_000), from: late), now: late))
        #expect(try await store.forgetClients(usedBefore: late, idleBefore: late, now: late) == 0)
        let end = late + .seconds(36_000)
        #expect(try await store.forgetClients(usedBefore: late, idleBefore: late, now: end) == 1)
    }

    // MARK: Registration codes

    @Test("A live code is taken; an expired one may be given out again", arguments: Backend.allCases)
    func codesAreUniqueWhileTheyLive(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await !store.claim(Sample.record(id: "record-2", device: "other"), now: t0))
        #expect(try await store.liveRecord(RegistrationCodeText(typed: "QK7M2XD"), now: t0) == Sample.record())
        let later = t0 + .seconds(1800)
        #expect(try await store.claim(Sample.record(id: "record-2", device: "other", from: later), now: later))
        #expect(try await store.liveRecord(RegistrationCodeText(typed: "QK7M2XD"), now: later)?.deviceID == DeviceID("other"))
    }

    @Test("A code ends at its expiry to the millisecond", arguments: Backend.allCases)
    func codesExpire(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(lifetime: .seconds(1)), now: t0))
        let code = RegistrationCodeText(typed: "qk7m2xd")
        #expect(try await store.liveRecord(code, now: t0 + .milliseconds(999)) != nil)
        #expect(try await store.liveRecord(code, now: t0 + .seconds(1)) == nil)
        #expect(try await !store.remove(code, requestor: RequestorID("CHAN7"), now: t0 + .seconds(1)))
    }

    @Test("Removing a code ends the sign-in under way through it, and only its requestor's", arguments: Backend.allCases)
    func removalEndsPendingSignIn(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        let code = RegistrationCodeText(typed: "QK7M2XD")
        #expect(try await !store.remove(code, requestor: RequestorID("CHAN8"), now: t0))
        #expect(try await store.pending(RelayHandle("relay-1").digest, now: t0) != nil)
        #expect(try await store.remove(code, requestor: RequestorID("CHAN7"), now: t0))
        #expect(try await store.pending(RelayHandle("relay-1").digest, now: t0) == nil)
        #expect(try await store.liveRecord(code, now: t0) == nil)
        #expect(try await !store.remove(code, requestor: RequestorID("CHAN7"), now: t0))
    }

    @Test("A code that was removed by a clock that is ahead is not there again by a right one", arguments: Backend.allCases)
    func removalOutlivesClocks(_ backend: Backend) async throws {
        let store = try backend.open()
        let code = RegistrationCodeText(typed: "QK7M2XD")
        for made in [t0, t0 + .seconds(30)] {
            #expect(try await store.claim(Sample.record(from: made), now: made))
            #expect(try await store.remove(code, requestor: RequestorID("CHAN7"), now: t0 + .seconds(31)))
            #expect(try await store.liveRecord(code, now: t0) == nil)
        }
    }

    // MARK: Sign-ins

    @Test("A pending sign-in is found by its RelayState until it ends", arguments: Backend.allCases)
    func findsPendingSignIn(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.pending(RelayHandle("relay-1").digest, now: t0) == Sample.pending())
        #expect(try await store.pending(RelayHandle("relay-2").digest, now: t0) == nil)
        #expect(try await store.pending(RelayHandle("relay-1").digest, now: t0 + .seconds(900)) == nil)
    }

    @Test("A later sign-in of the same code stands beside the pending one, and one that was handed over has no secret", arguments: Backend.allCases)
    func severalPendingSignIns(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.begin(Sample.pending("_request-2", relay: "relay-2"), now: t0))
        let handed = Sample.pending("_request-3", relay: "relay-3", isHandedOver: true)
        #expect(try await store.begin(handed, now: t0))
        for relay in ["relay-1", "relay-2"] { #expect(try await store.pending(RelayHandle(relay).digest, now: t0)?.browserSecret != nil) }
        #expect(try await store.pending(RelayHandle("relay-3").digest, now: t0) == handed && handed.browserSecret == nil)
        #expect(try await store.complete(Sample.completion("_request-2"), now: t0) == .completed)
        #expect(try await store.complete(Sample.completion(), now: t0) == .notPending)
    }

    @Test("No sign-in begins through an unknown, expired or used code", arguments: Backend.allCases)
    func refusesUnusableCodes(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await !store.begin(Sample.pending(), now: t0))
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await !store.begin(Sample.pending(), now: t0 + .seconds(1800)))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
        #expect(try await !store.begin(Sample.pending("_request-2", relay: "relay-2"), now: t0))
    }

    @Test("Completion stores the session, marks the code and consumes the request", arguments: Backend.allCases)
    func completes(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
        #expect(try await store.session(Sample.session().key) == Sample.session())
        #expect(try await store.liveRecord(RegistrationCodeText(typed: "QK7M2XD"), now: t0)?.isUsed == true)
        #expect(try await store.pending(RelayHandle("relay-1").digest, now: t0) == nil)
        #expect(try await store.complete(Sample.completion(assertion: "_assertion-2"), now: t0) == .notPending)
    }

    @Test("mvpd #72: an assertion is used once, whatever request it comes with", arguments: Backend.allCases)
    func refusesReplay(_ backend: Backend) async throws {
        let store = try backend.open()
        let other = Sample.record("AAAAAAA", id: "record-2", device: "dev-2")
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.claim(other, now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.begin(Sample.pending("_request-2", relay: "relay-2", record: other), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
        let session = Sample.session("session-2", device: "dev-2", record: "record-2")
        #expect(try await store.complete(Sample.completion("_request-2", session: session, record: "record-2"), now: t0) == .replayed)
        #expect(try await store.session(session.key) == nil)
    }

    @Test("An expired request or a deleted code completes nothing", arguments: Backend.allCases)
    func refusesLateCompletion(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0 + .seconds(900)) == .notPending)
        #expect(try await store.session(Sample.session().key) == nil)
    }

    @Test("mvpd #71: of many simultaneous completions exactly one succeeds", arguments: Backend.allCases)
    func completesOnce(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        let results = try await withThrowingTaskGroup(of: SignInCompletionResult.self) { group in
            for number in 0..<32 {
                group.addTask { try await store.complete(Sample.completion(assertion: "_assertion-\(number % 2)"), now: t0) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 == .completed } == 1)
        #expect(results.count { $0 == .notPending } == 31)
    }

    @Test("A request is abandoned once", arguments: Backend.allCases)
    func abandonsOnce(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.abandon(SamlRequestID("_request-1")))
        #expect(try await !store.abandon(SamlRequestID("_request-1")))
        #expect(try await store.complete(Sample.completion(), now: t0) == .notPending)
    }

    // MARK: Sessions

    @Test(
        "A client's device has one session at a requestor and an MVPD: a new one takes its place, one of another MVPD comes before it",
        arguments: Backend.allCases)
    func overwritesSession(_ backend: Backend) async throws {
        let store = try backend.open()
        let key = Sample.session().key
        func sessions() async throws -> [String] { try await store.sessions(key).map(\.id.text) }
        try await signIn(store, Sample.session())
        #expect(try await sessions() == ["session-1"])
        try await signIn(store, Sample.session("session-2", record: "record-2"), code: "BBBBBBB", number: 2)
        #expect(try await sessions() == ["session-2"])
        try await signIn(store, Sample.session("session-3", record: "record-3", mvpd: "OtherCable"), code: "CCCCCCC", number: 3)
        #expect(try await sessions() == ["session-3", "session-2"])
        #expect(try await store.end(key, client: Sample.session().clientID, mvpd: MvpdID("OtherCable"), now: t0)?.id == SessionID("session-3"))
        #expect(try await sessions() == ["session-2"])
        #expect(try await store.end(key, client: Sample.session().clientID, mvpd: MvpdID("OtherCable"), now: t0) == nil)
        #expect(try await store.end(device: key.device, requestors: [key.requestor], claims: DeviceClaims(), now: t0).count == 1)
        #expect(try await sessions() == [])
    }

    @Test("Ending counts live sessions and spares other devices and requestors", arguments: Backend.allCases)
    func endsSessions(_ backend: Backend) async throws {
        let store = try backend.open()
        let other = Sample.session("session-2", requestor: "CHAN8", record: "record-2")
        try await signIn(store, Sample.session())
        try await signIn(store, other, code: "BBBBBBB", number: 2)
        let device = DeviceID("dev-7f3a")
        let chan7 = RequestorID("CHAN7")
        #expect(try await store.end(device: DeviceID("dev-1"), requestors: [chan7], claims: DeviceClaims(), now: t0).count == 0)
        #expect(try await store.session(Sample.session().key) != nil)
        #expect(try await store.end(device: device, requestors: [chan7], claims: DeviceClaims(), now: t0).count == 1)
        #expect(try await store.session(Sample.session().key) == nil)
        #expect(try await store.end(device: device, requestors: [chan7], claims: DeviceClaims(), now: t0).count == 0)
        #expect(try await store.session(other.key) == other)
        let over = t0 + .seconds(3600)
        #expect(try await store.end(device: device, requestors: [RequestorID("CHAN8")], claims: DeviceClaims(), now: over).count == 0)
        #expect(try await store.session(other.key) == nil)
    }

    @Test("Claims that do not agree end nothing", arguments: Backend.allCases)
    func sparesSessionsOfAnotherApp(_ backend: Backend) async throws {
        let store = try backend.open()
        let session = Sample.session(claims: DeviceClaims(appID: "app-1", deviceUser: "user-1"))
        try await signIn(store, session)
        let requestors = [RequestorID("CHAN7")]
        for claims in [DeviceClaims(appID: "app-2"), DeviceClaims(deviceUser: "user-2")] {
            #expect(try await store.end(device: session.key.device, requestors: requestors, claims: claims, now: t0).count == 0)
        }
        #expect(try await store.session(session.key) == session)
        let claims = DeviceClaims(appID: "app-1")
        #expect(try await store.end(device: session.key.device, requestors: requestors, claims: claims, now: t0).count == 1)
    }

    @Test("How a session came about is kept, with or without a registration code", arguments: Backend.allCases)
    func keepsOrigins(_ backend: Backend) async throws {
        let store = try backend.open()
        let before = Timestamp(milliseconds: t0.milliseconds - 86_400_000)
        let origins = [
            SessionOrigin(kind: .regular, authenticatedAt: t0, identity: PlatformIdentity("ab01")),
            SessionOrigin(kind: .platform, authenticatedAt: t0),
            SessionOrigin(kind: .tempPass, authenticatedAt: t0, trial: TrialID("trial-1")),
            SessionOrigin(kind: .degraded, authenticatedAt: t0, rule: DegradationRuleID("rule-1")),
            SessionOrigin(kind: .shared, authenticatedAt: before, identity: PlatformIdentity("ab01")),
        ]
        for (number, origin) in origins.enumerated() {
            let code = "AAAAAA\(number + 2)"
            let record = Sample.record(code, id: "record-\(number)", device: "dev-\(number)")
            let session = Sample.session(
                "session-\(number)", device: "dev-\(number)", record: number == 0 ? "record-0" : nil, origin: origin)
            #expect(try await store.claim(record, now: t0))
            try await complete(store, session, record, number: number)
            #expect(try await store.session(session.key) == session)
        }
    }

    /// Only a completed sign-in creates a session.
    private func signIn(
        _ store: SqlAuthenticationStore, _ session: SessionRecord, code: String = "QK7M2XD", number: Int = 1
    ) async throws {
        let record = Sample.record(
            code, id: session.record?.text ?? "record", requestor: session.key.requestor.text, device: session.key.device.text)
        #expect(try await store.claim(record, now: t0))
        try await complete(store, session, record, number: number)
    }

    private func complete(
        _ store: SqlAuthenticationStore, _ session: SessionRecord, _ record: RegistrationRecord, number: Int
    ) async throws {
        #expect(try await store.begin(Sample.pending("_request-\(number)", relay: "relay-\(number)", record: record), now: t0))
        let completion = Sample.completion(
            "_request-\(number)", assertion: "_assertion-\(number)", session: session, record: record.id.text)
        #expect(try await store.complete(completion, now: t0) == .completed)
    }
}
