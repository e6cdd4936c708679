internal import Contracts
@testable import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import Testing

@Suite struct ThrottleTests {
    /// Milliseconds and whether the call passes (rest-v1 §2.7).
    static let timeline: [(Int, Bool)] =
        [0, 300, 600, 900, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 2100, 2200].map { ($0, true) }
        + [(2400, false), (2600, false), (2800, false), (3100, true)]

    private static func address(_ text: String) -> ClientAddress { ClientAddress(peer: text, forwarded: [], trusted: []) }

    @Test("rest-v1 #23: the documented timeline, as arithmetic")
    func timeline() {
        let limit = RequestRate.Limit(perSecond: 1, burst: 10)
        var rate = RequestRate()
        for (milliseconds, passes) in Self.timeline {
            #expect(rate.admit(at: Int64(milliseconds) * 1_000_000, limit) == passes, "at \(milliseconds) ms")
        }
    }

    private static let addresses = ["/api/v1/checkauthn?\(TestGateway.deviceQuery)", "/api/v2/ACME1/profiles"]

    /// A device of both versions, at an address of its own.
    private static func device(_ address: String = "203.0.113.9") -> HTTPFields {
        TestGateway.device.with(.apDeviceIdentifier, "fingerprint ZGV2LTdmM2E=").with(.forwardedFor, address)
    }

    /// - Parameter trusted: The peers whose `X-Forwarded-For` counts.
    private static func gateway(_ clock: SetClock, trusted: [String] = ["127.0.0.1"], throttle: ThrottleSettings? = nil) -> TestGateway {
        let gateway = TestGateway(trusted: trusted, throttle: throttle ?? TestGateway.unthrottled, clock: clock)
        gateway.authentication.findProfiles.answer(with: Profiles())
        return gateway
    }

    @Test("rest-v1 #23: the documented timeline over HTTP; the refusal is HTML with Retry-After", arguments: addresses)
    func timelineOverHTTP(uri: String) async throws {
        let clock = SetClock()
        try await Self.gateway(clock).exchange(over: .live) { client in
            for (milliseconds, passes) in Self.timeline {
                clock.set(.milliseconds(milliseconds))
                try await client.execute(uri: uri, method: .get, headers: Self.device()) { response in
                    let reply = Reply(response)
                    #expect(reply.status == (passes ? 200 : 429), "at \(milliseconds) ms")
                    guard !passes else { return }
                    #expect(reply.headers[.contentType] == "text/html" && reply.text == "429 Too Many Requests")
                    #expect(reply.headers[.retryAfter] == "1" && reply.headers[.requestID] != nil)
                }
            }
        }
    }

    @Test("rest-v2 #12, #14: of fourteen calls within half a second some are refused, in HTML; 1.1 s later the next is served", arguments: addresses)
    func burst(uri: String) async throws {
        let clock = SetClock()
        try await Self.gateway(clock).exchange(over: .live) { client in
            var replies: [Reply] = []
            for call in 0..<14 {
                clock.set(.milliseconds(call * 38))
                replies.append(try await client.execute(uri: uri, method: .get, headers: Self.device()) { Reply($0) })
            }
            let refused = replies.filter { $0.status == 429 }
            #expect(!refused.isEmpty && refused.allSatisfy { $0.headers[.contentType] == "text/html" })
            #expect(replies.filter { $0.status == 200 }.count == 14 - refused.count && replies.last?.status == 429)
            clock.advance(by: .milliseconds(1100))
            #expect(try await client.execute(uri: uri, method: .get, headers: Self.device()) { $0.status.code } == 200)
        }
    }

    @Test("rest-v1 #24, rest-v2 #13: two forwarded addresses have a budget each", arguments: addresses)
    func twoAddresses(uri: String) async throws {
        let statuses = try await Self.gateway(SetClock()).exchange(over: .live) { client in
            var statuses: [[Int]] = [[], []]
            for call in 0..<24 {
                let headers = Self.device("203.0.113.\(call % 2)")
                statuses[call % 2].append(try await client.execute(uri: uri, method: .get, headers: headers) { $0.status.code })
            }
            return statuses
        }
        let budget = [Int](repeating: 200, count: 11) + [429]
        #expect(statuses == [budget, budget])
    }

    @Test("clients #93: a client's first sixteen calls within a second pass a capacity of thirty")
    func sixteenCalls() async throws {
        let gateway = Self.gateway(SetClock(), throttle: ThrottleSettings(burst: 29))
        gateway.authentication.beginSignIn.answer(
            with: SignInPlan(step: .complete, lacksMvpd: true, id: "id-1", code: RegistrationCode(code: "QK7M2XD")))
        gateway.authorization.decide.answer(with: Decisions())
        let profile = (HTTPRequest.Method.get, "/api/v2/ACME1/profiles/NorthCable", "")
        let calls: [(HTTPRequest.Method, String, String)] =
            [
                (.post, "/o/client/register", #"{"software_statement":"a.b.c"}"#), (.post, "/o/client/token", "client_id=c1"),
                (.get, "/api/v2/ACME1/configuration", ""), (.post, "/api/v2/ACME1/sessions", ""),
            ] + [(HTTPRequest.Method, String, String)](repeating: profile, count: 11)
            + [(.post, "/api/v2/ACME1/decisions/preauthorize/NorthCable", #"{"resources":["r"]}"#)]
        let statuses = try await gateway.exchange(over: .live) { client in
            var statuses: [Int] = []
            for (method, path, body) in calls + [(HTTPRequest.Method, String, String)](repeating: profile, count: 15) {
                let type = body.hasPrefix("{") ? "application/json" : "application/x-www-form-urlencoded"
                let headers = method == .get ? Self.device() : Self.device().with(.contentType, type)
                statuses.append(
                    try await client.execute(uri: path, method: method, headers: headers, body: ByteBuffer(string: body)) { $0.status.code })
            }
            return statuses
        }
        #expect(calls.count == 16 && statuses.prefix(16).allSatisfy { $0 != 429 } && statuses[2...15].allSatisfy { $0 == 200 }, "\(statuses)")
        #expect(statuses.firstIndex(of: 429) == 30, "it is the capacity that they pass")
    }

    @Test("rest-v1 #114: an MVPD's answers are not throttled, neither are preflights and pages")
    func freePaths() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1"], clock: SetClock())
        let calls: [(HTTPRequest.Method, String)] = [
            (.post, "/sp/saml/SAMLAssertionConsumer"), (.options, "/api/v1/checkauthn"), (.get, "/activate"), (.get, "/healthz"),
        ]
        try await gateway.exchange(over: .live) { client in
            for (method, uri) in calls {
                for _ in 0..<20 {
                    let headers: HTTPFields = [.forwardedFor: "203.0.113.9"]
                    let status = try await client.execute(uri: uri, method: method, headers: headers) { $0.status.code }
                    #expect(status != 429, "\(method) \(uri)")
                }
            }
        }
    }

    @Test(
        "clients #60: every endpoint but the assertion consumer and the reset of TempPass is throttled, before its method and its bearer are looked at",
        arguments: [
            "/o/client/register", "/o/client/token", "/o/client/scopes", "/o/client/validate", "/reggie/v1/ACME1/regcode.json",
            "/reggie/v1/ACME1/regcode/QK7M2XD", "/api/v1/config/ACME1", "/api/v1/authenticate", "/api/v1/authenticate/freepreview",
            "/api/v1/authenticate/QK7M2XD", "/adobe-services/session", "/adobe-services/sessionDevice",
            "/api/v1/checkauthn", "/api/v1/checkauthn/QK7M2XD.xml", "/api/v1/tokens/authn", "/api/v1/ACME1/profile-requests/NorthCable",
            "/api/v1/authorize", "/api/v1/tokens/authz", "/api/v1/preauthorize", "/api/v1/preauthorize/QK7M2XD", "/api/v1/mediatoken",
            "/api/v1/tokens/media", "/api/v1/tokens/usermetadata", "/api/v1/logout", "/api/v2/ACME1/sessions", "/api/v1/identities",
            "/adobe-services/config/ACME1",
        ])
    func endpoints(path: String) async throws {
        let gateway = TestGateway(
            trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1, burst: 0), clock: SetClock())
        let statuses = try await gateway.exchange(over: .live) { client in
            let headers: HTTPFields = [.forwardedFor: "203.0.113.9"]
            var statuses: [Int] = []
            for _ in 0..<2 { statuses.append(try await client.execute(uri: path, method: .put, headers: headers) { $0.status.code }) }
            return statuses
        }
        #expect(statuses[0] != 429 && statuses[1] == 429)
    }

    @Test(
        "rest-v2 #109, clients #24: an address that somebody else than a proxy of ours names does not count, nor is it the device's",
        arguments: addresses)
    func strangersForwardNothing(uri: String) async throws {
        let gateway = Self.gateway(SetClock(), trusted: [], throttle: ThrottleSettings())
        let statuses = try await gateway.exchange(over: .live) { client in
            var statuses: [Int] = []
            for number in 0..<12 {
                statuses.append(try await client.execute(uri: uri, method: .get, headers: Self.device("203.0.113.\(number)")) { $0.status.code })
            }
            return statuses
        }
        #expect(statuses == [Int](repeating: 200, count: 11) + [429], "one budget, that of the peer")
        let free = Self.gateway(SetClock(), trusted: [])
        #expect(try await free.send(.post, "/reggie/v1/ACME1/regcode?deviceId=d", Self.device("99.224.1.2"), over: .live).status == 201)
        let call = try #require(free.authentication.createRegistrationCode.requests.first?.call)
        #expect(call.clientAddress == "127.0.0.1" && call.device?.connectionIP == "127.0.0.1")
    }

    @Test func exemptAddressesGoFreeAndTheAddressThatAProxyNamesIsWhatCounts() {
        let throttle = Throttle(
            settings: ThrottleSettings(burst: 0, exempt: ["127.0.0.0/8"].compactMap(AddressRange.init)), clock: SetClock(), capacity: 1024)
        let trusted = ["127.0.0.1"].compactMap(AddressRange.init)
        let forwarded = ClientAddress(peer: "127.0.0.1", forwarded: ["203.0.113.9"], trusted: trusted)
        for _ in 0..<50 { #expect(throttle.admits(Self.address("127.0.0.1"))) }
        #expect(throttle.admits(forwarded) && !throttle.admits(forwarded))
    }

    @Test func ipv6IsCountedByItsNetworkAndMappedAddressesAsIPv4() {
        let throttle = Throttle(settings: ThrottleSettings(burst: 0), clock: SetClock(), capacity: 1024)
        #expect(throttle.admits(Self.address("2001:db8::1")))
        #expect(!throttle.admits(Self.address("2001:db8::2:3:4:5")))
        #expect(throttle.admits(Self.address("2001:db8:0:1::1")))
        #expect(throttle.admits(Self.address("203.0.113.9")))
        #expect(!throttle.admits(Self.address("::ffff:203.0.113.9")))
    }

    @Test func aFloodOfAddressesNeitherGrowsTheTableNorFreesWhoIsThrottled() {
        let clock = SetClock()
        let throttle = Throttle(settings: ThrottleSettings(), clock: clock, capacity: 4096)
        let victims = (0..<32).map { Self.address("198.51.100.\($0)") }
        for victim in victims { while throttle.admits(victim) {} }
        // Forty times as many addresses as there is room for, all within the same moment.
        for index in 0..<160_000 { _ = throttle.admits(Self.address("10.\(index >> 16).\(index >> 8 & 255).\(index & 255)")) }
        for victim in victims { #expect(!throttle.admits(victim), "the flood frees nobody") }
        clock.advance(by: .seconds(1))
        for victim in victims { #expect(throttle.admits(victim), "and costs nobody a call") }
    }

    @Test func aTableKeepsEveryAddressForWhichItHasRoom() throws {
        let table = AddressTable<RequestRate>(capacity: 1 << 16)
        let limit = RequestRate.Limit(perSecond: 1, burst: 0)
        let keys = try (0..<10_000).map { AddressKey(try #require(IPAddress("10.1.\($0 >> 8).\($0 & 255)"))) }
        for key in keys { #expect(table.update(key, now: 1) { $0.admit(at: 1, limit) }) }
        #expect(keys.count { table.update($0, now: 1) { $0.admit(at: 1, limit) } } == 0)
        #expect(table.capacity == 1 << 16)
    }

    @Test(
        "limits that cannot be are named by their key; the least and the largest can be",
        arguments: [
            (0, 10, 1, "throttle.perSecond"), (1_000_001, 10, 1, "throttle.perSecond"), (1, -1, 1, "throttle.burst"),
            (1, 1_000_001, 1, "throttle.burst"), (1, 10, 0, "throttle.codes"), (1, 10, 1_000_001, "throttle.codes"), (1, 0, 1, nil),
            (1_000_000, 1_000_000, 1_000_000, nil),
        ] as [(Int, Int, Int, String?)])
    func impossibleLimitsAreNamed(perSecond: Int, burst: Int, codes: Int, key: String?) {
        let settings = GatewaySettings(
            publicOrigin: "https://tv.example", pages: "Pages", throttle: ThrottleSettings(perSecond: perSecond, burst: burst, codes: codes))
        #expect(settings.problem?.key == key)
    }
}
