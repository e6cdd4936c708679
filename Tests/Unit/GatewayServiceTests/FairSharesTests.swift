internal import Contracts
internal import Doubles
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Logging
internal import Synchronization
internal import Testing

/// Limits by application and by requestor.
@Suite struct FairSharesTests {
    private static func shares(_ settings: ShareSettings, _ clock: any MonotonicClock = SetClock()) -> FairShares {
        FairShares(settings: settings, clock: clock, capacity: 1024)
    }

    /// A call whose credentials hold.
    private static func admits(_ shares: FairShares, _ proof: FairShares.Proof, _ requestor: String = "") -> Bool {
        guard let charge = try? shares.begin(proof, requestor: requestor) else { return false }
        shares.end(charge, .held)
        return true
    }

    @Test("an application has its rate and its burst, whatever addresses and bearers its calls come by")
    func limitsApplications() throws {
        let clock = SetClock()
        let shares = Self.shares(ShareSettings(perApplication: 10, applicationBurst: 5, perRequestor: 0), clock)
        for bearer in ["a1", "a2"] { shares.learn(bearer, for: "", of: "tv") }
        shares.learn("b1", for: "", of: "web")
        let passed = (0..<20).count { Self.admits(shares, .bearer($0 % 2 == 0 ? "a1" : "a2")) }
        #expect(passed == 6)
        #expect((0..<6).allSatisfy { _ in Self.admits(shares, .bearer("b1")) }, "another one has all of its own")
        do throws(Fault) {
            _ = try shares.begin(.bearer("a1"), requestor: "")
            Issue.record("it passes")
        } catch {
            #expect(error.code == .tooManyRequests && error.retryAfter == .seconds(1))
        }
        clock.advance(by: .milliseconds(100))
        #expect(Self.admits(shares, .bearer("a2")) && !Self.admits(shares, .bearer("a1")), "a refusal costs nothing, a tenth of a second gives one")
    }

    @Test("a requestor has its own limit, with all of its applications; what it refuses is not charged to the application")
    func limitsRequestors() {
        let shares = Self.shares(ShareSettings(perApplication: 10, applicationBurst: 9, perRequestor: 10, requestorBurst: 3))
        for requestor in ["ACME1", ""] { shares.learn("a", for: requestor, of: "tv") }
        #expect((0..<10).count { _ in Self.admits(shares, .bearer("a"), "ACME1") } == 4)
        #expect((0..<10).count { _ in Self.admits(shares, .bearer("b"), "ACME2") } == 4)
        #expect((0..<10).count { _ in Self.admits(shares, .bearer("a")) } == 6, "four of ten were the application's")
    }

    @Test("calls that nobody has proved are charged to nobody, not even while they last; a bearer that holds no more is a stranger's")
    func chargesWhatHolds() throws {
        let settings = ShareSettings(
            perApplication: 10, applicationBurst: 1, perRequestor: 10, requestorBurst: 1, unverified: 1000, unverifiedBurst: 1000)
        let shares = Self.shares(settings)
        let under = try (0..<100).map { try shares.begin(.bearer("made up \($0)"), requestor: "ACME1") }
        let signed = try (0..<100).map { _ in try shares.begin(.key("public"), requestor: "ACME1") }
        for _ in 0..<100 { _ = try shares.begin(.nothing, requestor: "ACME1") }
        #expect(Self.admits(shares, .bearer("a"), "ACME1"))
        for charge in under + signed { shares.end(charge, .refused) }
        #expect(Self.admits(shares, .bearer("a"), "ACME1"))
        #expect(!Self.admits(shares, .bearer("a"), "ACME1"), "two at once are its share")

        // A bearer that was accepted at one requestor proves nothing at another.
        let foreign = try (0..<10).map { _ in try shares.begin(.bearer("a"), requestor: "ACME2") }
        #expect(Self.admits(shares, .bearer("b"), "ACME2"))
        for charge in foreign { shares.end(charge, .refused) }
        let last = try shares.begin(.bearer("b"), requestor: "ACME2")
        shares.end(last, .refused)
        #expect((0..<10).allSatisfy { _ in (try? shares.begin(.bearer("b"), requestor: "ACME2")) != nil }, "it counts as nobody's")
    }

    @Test("what nobody has proved has one share in all; a call whose credentials hold gives its place back")
    func boundsChecking() throws {
        let shares = Self.shares(ShareSettings(unverified: 10, unverifiedBurst: 4))
        for _ in 0..<100 { #expect(Self.admits(shares, .key("public"), "ACME1")) }
        #expect((0..<100).count { (try? shares.begin(.bearer("made up \($0)"), requestor: "")) != nil } == 5)
        #expect(throws: Fault.self) { try shares.begin(.nothing, requestor: "ACME2") }
        shares.learn("a", for: "ACME1", of: "tv")
        #expect(Self.admits(shares, .bearer("a"), "ACME1"), "who is known is not kept by it")
    }

    @Test("made-up bearers push out one another, and none that holds")
    func keepsThoseThatHold() throws {
        let clock = SetClock()
        let shares = FairShares(settings: ShareSettings(unverified: 0), clock: clock, capacity: 1024)
        let good = (0..<200).map { "good \($0)" }
        for bearer in good { #expect(Self.admits(shares, .bearer(bearer), "ACME1")) }
        for index in 0..<4 * FairShares.bearers { _ = try shares.begin(.bearer("made up \(index)"), requestor: "ACME1") }
        #expect(try good.allSatisfy { try !shares.begin(.bearer($0), requestor: "ACME1").isUnverified })
    }

    @Test("whose a bearer is, is asked at its eighth call and seldom after")
    func asksSeldom() throws {
        let shares = Self.shares(ShareSettings())
        let asked = try (1...64).filter { _ in try shares.begin(.bearer("a"), requestor: "").unknown != nil }
        #expect(asked == [8, 16, 32, 64])
        shares.learn("a", for: "", of: "tv")
        #expect(try (65...128).allSatisfy { _ in try shares.begin(.bearer("a"), requestor: "").unknown == nil })
        #expect(try shares.begin(.key("public"), requestor: "").unknown == nil)
    }

    @Test("0 is no limit, and settings are bounded")
    func settings() {
        #expect(!Self.shares(.unlimited).isOn)
        #expect(ShareSettings(perApplication: -1).problem?.key == "perApplication")
        #expect(ShareSettings(requestorBurst: 1_000_001).problem?.key == "requestorBurst")
        #expect(ShareSettings(unverifiedBurst: -1).problem?.key == "unverifiedBurst")
        #expect(ShareSettings().problem == nil)
    }

    private static let calls = [
        ("/api/v1/checkauthn?\(TestGateway.deviceQuery)", "text/html"), ("/api/v2/ACME1/configuration", "text/html"),

    ]

    @Test("the refusal has the form of its door, with Retry-After", arguments: calls)
    func refuses(uri: String, type: String) async throws {
        let gateway = TestGateway(clock: SetClock(), shares: ShareSettings(perApplication: 0, perRequestor: 1, requestorBurst: 0))
        try await gateway.exchange(over: .live) { client in
            var replies: [Reply] = []
            for _ in 0..<2 {
                replies.append(try await client.execute(uri: uri, method: .get, headers: TestGateway.device) { Reply($0) })
            }
            #expect(replies[0].status != 429 && replies[1].status == 429, "\(replies.map(\.status))")
            #expect(replies[1].headers[.retryAfter] == "1" && replies[1].headers[.contentType] == type)
            let other = uri.replacing("ACME1", with: "ACME2")
            #expect(try await client.execute(uri: other, method: .get, headers: TestGateway.device) { $0.status.code } != 429)
        }
    }

    @Test("a stranger's bearer does not use up a requestor's share")
    func strangers() async throws {
        let gateway = TestGateway(clock: SetClock(), shares: ShareSettings(perApplication: 0, perRequestor: 1, requestorBurst: 0))
        gateway.authentication.getSession.answer { request, _ in
            guard request.call?.accessToken == "good" else { throw Fault(.accessDenied, "no") }
            return Session(id: "s1", requestor: "ACME1", mvpd: "NorthCable")
        }
        try await gateway.exchange(over: .live) { client in
            let uri = "/api/v1/checkauthn?\(TestGateway.deviceQuery)"
            for _ in 0..<20 {
                let status = try await client.execute(uri: uri, method: .get, headers: TestGateway.device.with(.authorization, "Bearer bad")) {
                    $0.status.code
                }
                #expect(status == 401)
            }
            #expect(try await client.execute(uri: uri, method: .get, headers: TestGateway.device) { $0.status.code } == 200)
        }
    }

    @Test("a decision on the token that an app keeps proves it, where there is no bearer")
    func storedTokens() async throws {
        let gateway = TestGateway(clock: SetClock(), shares: ShareSettings(perApplication: 0, perRequestor: 0, unverified: 1, unverifiedBurst: 0))
        try await gateway.exchange(over: .live) { client in
            for _ in 0..<3 {
                let form = "requestor_id=ACME1&resource_id=NEWS&authentication_token=t"
                let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
                let status = try await client.execute(
                    uri: "/adobe-services/authorize", method: .post, headers: headers, body: ByteBuffer(string: form)
                ) {
                    $0.status.code
                }
                #expect(status == 200)
            }
        }
    }

    /// The events that are logged.
    private struct Events: LogHandler {
        final class Content: Sendable { let events = Mutex<[String]>([]) }

        let content = Content()
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { content.events.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") } }
    }

    @Test("who is refused is logged, once in ten seconds")
    func logs() throws {
        let (clock, events) = (SetClock(), Events())
        let logger = Logger(label: "test") { _ in events }
        let settings = ShareSettings(perApplication: 1, applicationBurst: 0, perRequestor: 0)
        let shares = FairShares(settings: settings, clock: clock, logger: logger, capacity: 1024)
        shares.learn("a", for: "", of: "tv")
        for wait in [0, 0, 1, 10] {
            clock.advance(by: .seconds(wait))
            while Self.admits(shares, .bearer("a")) {}
        }
        #expect(events.content.events.withLock { $0 } == Array(repeating: #"shares.refused ["application": tv]"#, count: 2))
    }

    @Test("strangers whose bearers are being checked keep nobody's app from its share")
    func strangersUnderWay() async throws {
        let gateway = TestGateway(clock: SetClock(), shares: ShareSettings(perApplication: 0, perRequestor: 1, requestorBurst: 0))
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self)
        let (left, leave) = AsyncStream.makeStream(of: Void.self)
        gateway.authentication.getSession.answer { request, _ in
            guard request.call?.accessToken == "good" else {
                arrive.yield()
                for await _ in left { break }
                throw Fault(.accessDenied, "no")
            }
            return Session(id: "s1", requestor: "ACME1", mvpd: "NorthCable")
        }
        try await gateway.exchange(over: .live) { client in
            let uri = "/api/v1/checkauthn?\(TestGateway.deviceQuery)"
            // The client has one connection.
            let port = try #require(client.port)
            try await RawConnection.with(port) { connection in
                await connection.send("GET \(uri) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer bad\r\n\r\n")
                for await _ in arrived { break }
                #expect(try await client.execute(uri: uri, method: .get, headers: TestGateway.device) { $0.status.code } == 200)
                leave.finish()
                try await connection.wait(for: "the answer to the stranger") { $0.statuses == [401] }
            }
        }
    }

    @Test("one programmer floods with valid credentials: no more than its share gets through, and all calls of the other")
    func flood() async throws {
        let gateway = TestGateway(shares: ShareSettings(perApplication: 20, applicationBurst: 10, perRequestor: 0))
        gateway.authentication.verifyAccessToken.answer { request, _ in
            VerifiedClient(clientID: "c", applicationID: request.accessToken == "good" ? "calm" : "flooding", requestorIDs: ["ACME1", "ACME2"])
        }
        let served = Flood()
        gateway.authentication.getSession.answer { request, _ in
            if request.call?.accessToken == "flood" { served.count.add(1, ordering: .relaxed) }
            return Session(id: "s1", requestor: "ACME1", mvpd: "NorthCable")
        }
        try await gateway.exchange(over: .live) { client in
            let calm = "/api/v1/checkauthn?\(TestGateway.deviceQuery)"
            let flooding = calm.replacing("ACME1", with: "ACME2")
            let headers = TestGateway.device.with(.authorization, "Bearer flood")
            // The owner of its bearer gets known.
            for _ in 0..<16 { _ = try await client.execute(uri: flooding, method: .get, headers: headers) { $0.status.code } }
            try await Task.sleep(for: .milliseconds(200))
            let (before, start, refused) = (served.count.load(ordering: .relaxed), ContinuousClock.now, Flood())
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !Task.isCancelled {
                            let status = try? await client.execute(uri: flooding, method: .get, headers: headers) { $0.status.code }
                            if status == 429 { refused.count.add(1, ordering: .relaxed) }
                            try? await Task.sleep(for: .milliseconds(2))
                        }
                        return false
                    }
                }
                group.addTask {
                    var rounds = 0
                    // Until the flood was one, however busy the machine is.
                    while rounds < 25 || refused.count.load(ordering: .relaxed) <= 100 {
                        rounds += 1
                        try #require(rounds < 1000, "it was no flood")
                        try await Task.sleep(for: .milliseconds(60))
                        #expect(try await client.execute(uri: calm, method: .get, headers: TestGateway.device) { $0.status.code } == 200)
                    }
                    return true
                }
                for try await isCalm in group where isCalm { group.cancelAll() }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let passed = served.count.load(ordering: .relaxed) - before
            // Eight that were under way when it was known whose they are, a burst, and the rate.
            #expect(Double(passed) <= 8 + 11 + 20 * seconds, "\(passed) in \(seconds) s")
        }
    }
}

private final class Flood: Sendable {
    let count = Atomic(0)
}
