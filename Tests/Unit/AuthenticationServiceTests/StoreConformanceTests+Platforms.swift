import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

extension StoreConformanceTests {
    @Test("A profile request is found until it ends, and as the newest of its client only", arguments: Backend.allCases)
    func keepsProfileRequests(_ backend: Backend) async throws {
        let store = try backend.open()
        try await store.add(Sample.profileRequest())
        try await store.add(Sample.profileRequest("_profile-2", from: t0 + .seconds(1)))
        try await store.add(Sample.profileRequest("_profile-3", client: "client-2", from: t0 + .seconds(2)))
        #expect(try await store.profileRequest(SamlRequestID("_profile-1"), now: t0) == Sample.profileRequest())
        #expect(try await store.profileRequest(SamlRequestID("_profile-1"), now: t0 + .seconds(600)) == nil)
        func newest(_ platform: Platform, _ now: Timestamp) async throws -> String? {
            try await store.newestProfileRequest(
                client: ClientID("client-1"), requestor: RequestorID("CHAN7"), mvpd: MvpdID("DemoCable"), platform: platform, now: now
            )?.requestID.text
        }
        #expect(try await newest(.tvos, t0) == "_profile-2")
        #expect(try await newest(.ios, t0) == nil)
        #expect(try await newest(.tvos, t0 + .seconds(601)) == nil)
    }

    @Test("mvpd #71: of many simultaneous exchanges exactly one succeeds, and its session takes the place of the old", arguments: Backend.allCases)
    func exchangesOnce(_ backend: Backend) async throws {
        let store = try backend.open()
        try await store.add(Sample.profileRequest())
        let results = try await withThrowingTaskGroup(of: PlatformCompletionResult.self) { group in
            for number in 0..<16 {
                group.addTask {
                    try await store.complete(Sample.exchange(assertion: "_assertion-\(number % 2)", session: "session-\(number)"), now: t0)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 == .completed } == 1 && results.count { $0 == .notPending } == 15)
        try await store.add(Sample.profileRequest("_profile-2"))
        #expect(try await store.complete(Sample.exchange("_profile-2", assertion: "_assertion-9", session: "last"), now: t0) == .completed)
        #expect(try await store.session(Sample.session().key)?.id == SessionID("last"))
    }

    @Test("mvpd #72, #88: an assertion is exchanged once, whatever the request", arguments: Backend.allCases)
    func remembersExchangedAssertions(_ backend: Backend) async throws {
        let store = try backend.open()
        for number in 1...2 { try await store.add(Sample.profileRequest("_profile-\(number)")) }
        #expect(try await store.complete(Sample.exchange(session: "first"), now: t0) == .completed)
        #expect(try await store.complete(Sample.exchange("_profile-2", session: "second"), now: t0) == .replayed)
        #expect(try await store.complete(Sample.exchange("_profile-2", assertion: "_other"), now: t0) == .notPending)
        #expect(try await store.session(Sample.session().key)?.id == SessionID("first"))
    }

    @Test("The live sessions of a platform identity are found, whatever their device and requestor", arguments: Backend.allCases)
    func findsSessionsByIdentity(_ backend: Backend) async throws {
        let store = try backend.open()
        let (ours, other) = (PlatformIdentity("ab01"), PlatformIdentity("ab02"))
        try await exchange(store, "1", device: "dev-1", requestor: "CHAN7", identity: ours)
        try await exchange(store, "2", device: "dev-2", requestor: "CHAN8", identity: ours, lifetime: .seconds(60))
        try await exchange(store, "3", device: "dev-3", requestor: "CHAN8", identity: other)
        try await exchange(store, "4", device: "dev-4", requestor: "CHAN8", identity: nil)
        #expect(Set(try await store.sessions(of: ours, now: t0).map(\.id.text)) == ["session-1", "session-2"])
        #expect(try await store.sessions(of: ours, now: t0 + .seconds(60)).map(\.id.text) == ["session-1"])
    }

    @Test("A logout is remembered for as long as a login from before could be taken over", arguments: Backend.allCases)
    func remembersLogouts(_ backend: Backend) async throws {
        let store = try backend.open()
        let key = SessionKey(device: DeviceID("dev-2"), requestor: RequestorID("CHAN8"))
        func logOut() async throws { _ = try await store.end(device: key.device, requestors: [key.requestor], claims: DeviceClaims(), now: t0) }
        try await logOut()
        #expect(try await store.lastLogout(key, now: t0) == nil)
        try await exchange(store, "1", device: "dev-1", requestor: "CHAN7", identity: PlatformIdentity("ab01"))
        try await logOut()
        #expect(try await store.lastLogout(key, now: t0) == t0)
        #expect(try await store.lastLogout(SessionKey(device: key.device, requestor: RequestorID("CHAN7")), now: t0) == nil)
        #expect(try await store.lastLogout(key, now: t0 + .seconds(3600)) == nil)
    }

    private func exchange(
        _ store: SqlAuthenticationStore, _ number: String, device: String, requestor: String, identity: PlatformIdentity?,
        lifetime: Duration = .seconds(3600)
    ) async throws {
        try await store.add(Sample.profileRequest("_profile-\(number)"))
        let session = Sample.session(
            "session-\(number)", device: device, requestor: requestor, record: nil, lifetime: lifetime,
            origin: SessionOrigin(kind: .platform, authenticatedAt: t0, identity: identity))
        let completion = PlatformCompletion(
            requestID: SamlRequestID("_profile-\(number)"),
            replay: .init(issuer: "https://idp.example", assertionID: "_assertion-\(number)", expiresAt: t0 + .seconds(600)), session: session)
        #expect(try await store.complete(completion, now: t0) == .completed)
    }
}

extension Sample {
    static func profileRequest(
        _ id: String = "_profile-1", client: String = "client-1", platform: Platform = .tvos, from moment: Timestamp = t0
    ) -> ProfileRequestRecord {
        ProfileRequestRecord(
            requestID: SamlRequestID(id), clientID: ClientID(client), requestor: RequestorID("CHAN7"), mvpd: MvpdID("DemoCable"),
            platform: platform, issuerSent: "https://sp.example/on-behalf-of/CHAN7", createdAt: moment,
            expiresAt: moment + ProfileRequestRecord.lifetime)
    }

    static func exchange(
        _ request: String = "_profile-1", assertion: String = "_assertion-1", session: String = "session-1"
    ) -> PlatformCompletion {
        PlatformCompletion(
            requestID: SamlRequestID(request),
            replay: .init(issuer: "https://idp.example", assertionID: assertion, expiresAt: t0 + .seconds(600)),
            session: Sample.session(session, record: nil, origin: SessionOrigin(kind: .platform, authenticatedAt: t0)))
    }
}
