internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite("Service tokens: what is read of a call, and what is said of a bad one") struct ServiceTokenTests {
    private let gateway = TestGateway()
    private static let device: HTTPFields = [.authorization: "Bearer good", .apDeviceIdentifier: "fingerprint ZGV2LTdmM2E="]
    private static let token = device.with(.adServiceToken, "a.b.c")
    private static let unlinked = token.with(.contentType, "application/json")

    init() {
        let token = ServiceToken(token: "x.y.z", issuedAtMilliseconds: 1_930_384_800_000, expiresAtMilliseconds: 1_930_388_400_000)
        gateway.authentication.issueServiceToken.answer(with: token)
        gateway.authentication.refreshServiceToken.answer(with: token)
        gateway.authentication.createServiceLink.answer(
            with: ServiceLink(code: "402913", createdAtMilliseconds: 1_930_384_800_000, expiresAtMilliseconds: 1_930_386_600_000))
        gateway.authentication.unlinkServiceDevices.answer(with: UnlinkedServiceDevices(devices: ["dev-2"]))
        let told = DeviceInformation(type: "TV", model: "X1", osName: "tvOS", osVersion: "18.2")
        gateway.authentication.listServiceDevices.answer(
            with: ServiceDevices(devices: [
                ServiceDevice(id: "dev-7f3a", device: told, seenAtMilliseconds: 1_930_384_800_000, hasLogin: true), ServiceDevice(id: "d2"),
            ]))
        gateway.authentication.findProfiles.answer(with: Profiles())
        gateway.authentication.beginSignIn.answer(with: SignInPlan(step: .authorize, reason: .shared, id: "id-1", mvpd: "NorthCable"))
        gateway.authentication.beginPartnerSignIn.answer(with: SignInPlan(step: .complete, reason: .partnerStatus, id: "id-1"))
        gateway.authentication.exchangePartnerProfile.answer(with: Profiles())
        gateway.authentication.endProfile.answer(with: EndedProfile(end: .complete))
        gateway.authorization.decide.answer(with: Decisions())
    }

    private func error(_ reply: Reply) -> [String: Any] { reply.json["error"] as? [String: Any] ?? [:] }

    /// Code, action and whether the object is whole.
    private func said(_ reply: Reply, _ status: Int, _ word: String, _ code: String, _ action: String) -> Bool {
        let error = error(reply)
        return reply.status == status && reply.json["status"] as? String == word && error["status"] as? Int == status
            && error["code"] as? String == code && error["action"] as? String == action && error["message"] is String
            && (error["helpUrl"] as? String)?.hasPrefix("http") == true && UUID(uuidString: error["trace"] as? String ?? "") != nil
    }

    @Test("rest-v2 D17: answers name token and code by both names")
    func answers() async throws {
        let made = try await gateway.send(.post, "/api/ACME1/serviceToken", Self.device.with(.xSsoID, "ada"))
        #expect(made.status == 201 && made.json["status"] as? String == "CREATED")
        #expect(made.json["serviceToken"] as? String == "x.y.z" && made.json["jws"] as? String == "x.y.z")
        #expect(made.json["notBefore"] as? Int == 1_930_384_800_000 && made.json["notAfter"] as? Int == 1_930_388_400_000)
        #expect(gateway.authentication.issueServiceToken.requests.last?.person == "ada")
        let fresh = try await gateway.get("/api/ACME1/serviceToken", [.authorization: "Bearer good", .adServiceToken: "a.b.c"])
        #expect(fresh.status == 200 && fresh.json["status"] as? String == "OK" && fresh.json["jws"] as? String == "x.y.z")
        #expect(gateway.authentication.refreshServiceToken.requests.last?.serviceToken == "a.b.c")
        let link = try await gateway.send(.post, "/api/ACME1/link/", Self.token)
        #expect(link.status == 201 && link.json["code"] as? String == "402913" && link.json["link"] as? String == "402913")
        #expect(gateway.authentication.createServiceLink.requests.last?.call?.serviceToken == "a.b.c")
        let gone = try await gateway.send(.post, "/api/ACME1/unlink", Self.unlinked, body: #"{"devices":["dev-2","x"]}"#)
        #expect(gone.status == 200 && gone.json["unlinkedDevices"] as? [String] == ["dev-2"])
        #expect(gateway.authentication.unlinkServiceDevices.requests.last?.devices == ["dev-2", "x"])
        let devices = try await gateway.get("/api/ACME1/list", Self.token).json["devices"] as? [String: [String: Any]]
        #expect(devices?["dev-7f3a"]?["type"] as? String == "regular" && devices?["d2"]?["type"] as? String == "sso")
        #expect(devices?["dev-7f3a"]?["lastSeen"] as? Int == 1_930_384_800_000 && devices?["dev-7f3a"]?["os"] as? String == "tvOS")
    }

    @Test("rest-v2 #102: a token for nobody is a missing header, and so is each other one, by its status")
    func missing() async throws {
        let path = "/api/ACME1/serviceToken"
        #expect(said(try await gateway.send(.post, path, Self.device), 400, "BAD_REQUEST", "header_missing", "check_headers"))
        #expect(said(try await gateway.send(.post, path, Self.device.with(.xSsoID, " ")), 400, "BAD_REQUEST", "header_missing", "check_headers"))
        let nowhere: HTTPFields = [.authorization: "Bearer good", .xSsoID: "ada", .adServiceToken: "a.b.c"]
        #expect(said(try await gateway.send(.post, path, nowhere), 400, "BAD_REQUEST", "header_missing", "check_headers"))
        #expect(said(try await gateway.get(path, Self.device), 400, "BAD_REQUEST", "header_missing", "check_headers"))
        for (method, name) in [(HTTPRequest.Method.post, "link"), (.post, "unlink"), (.get, "list")] {
            for headers in [Self.device, nowhere] {
                let reply = try await gateway.send(method, "/api/ACME1/\(name)", headers)
                #expect(said(reply, 401, "UNAUTHORIZED", "header_missing", "check_headers"), "\(name)")
            }
        }
    }

    @Test("headers that were sent twice, are too long or of another form are told, and reach no service")
    func invalid() async throws {
        let path = "/api/ACME1/serviceToken"
        func twice(_ headers: HTTPFields, _ name: HTTPFields.Element.Name) -> HTTPFields {
            var headers = headers
            for value in ["123456", "123457"] { headers.append(HTTPFields.Element(name: name, value: value)) }
            return headers
        }
        let cases = [
            twice(Self.device, .xSsoID), twice(Self.device, .xSsoLink), Self.device.with(.xSsoID, String(repeating: "a", count: 513)),
            Self.device.with(.xSsoLink, "12345"), Self.device.with(.xSsoLink, "1234567"), Self.device.with(.xSsoLink, "12345x"),
            Self.device.with(.xSsoLink, String(repeating: "1", count: 4000)), Self.device.with(.xSsoID, "ada").with(.xSsoLink, "123456"),
            Self.device.with(.xSsoID, "ada").with(.apDeviceIdentifier, "serial QUJD"), Self.device.with(.xSsoID, "ada").with(.xDeviceInfo, "***"),
        ]
        for headers in cases {
            #expect(said(try await gateway.send(.post, path, headers), 401, "UNAUTHORIZED", "header_invalid", "get_new_token"), "\(headers)")
        }
        #expect(gateway.authentication.issueServiceToken.requests.isEmpty)
        for headers in [twice(Self.device, .adServiceToken), Self.device.with(.adServiceToken, String(repeating: "a", count: 16 * 1024 + 1))] {
            #expect(said(try await gateway.send(.post, "/api/ACME1/link", headers), 401, "UNAUTHORIZED", "header_invalid", "get_new_token"))
            #expect(said(try await gateway.get(path, headers), 401, "UNAUTHORIZED", "header_invalid", "get_new_token"))
        }
    }

    @Test("what an app takes out is a list of texts")
    func bodies() async throws {
        let path = "/api/ACME1/unlink"
        for (headers, body) in [(Self.unlinked, nil), (Self.unlinked, "null"), (Self.token, #"{"devices":[]}"#)] as [(HTTPFields, String?)] {
            #expect(said(try await gateway.send(.post, path, headers, body: body), 400, "BAD_REQUEST", "request_null", "none"), "\(body ?? "")")
        }
        for body in [
            "{", "[]", "{}", #"{"devices":"d"}"#, #"{"devices":[1]}"#, #"{"devices":[""]}"#, #"{"devices":["\u0000"]}"#, #"{"devices":["\ud800"]}"#,
            #"{"devices":[],"devices":[]}"#,
        ] {
            let reply = try await gateway.send(.post, path, Self.unlinked, body: body)
            #expect(said(reply, 400, "BAD_REQUEST", "request_invalid", "check_request_body"), "\(body)")
        }
        #expect(try await gateway.send(.post, path, Self.unlinked, body: #"{"devices":[]}"#).status == 200)
    }

    @Test("faults of the service have the statuses and actions of rest-v2 §2.14")
    func faults() async throws {
        let cases: [(Fault, Int, String, String, String)] = [
            (Fault(.serviceTokenInvalid, "x"), 400, "BAD_REQUEST", "token_invalid", "get_new_token"),
            (Fault(.serviceTokenExpired, "x"), 401, "UNAUTHORIZED", "token_expired", "get_new_token"),
            (Fault(.accessDenied, "x"), 401, "UNAUTHORIZED", "unauthorized", "none"),
            (Fault(.invalidClient, "x"), 401, "UNAUTHORIZED", "unauthorized", "none"),
            (Fault(.insufficientScope, "x"), 401, "UNAUTHORIZED", "unauthorized", "none"),
            (Fault(.invalidRequest, "x"), 400, "BAD_REQUEST", "request_invalid", "check_request_body"),
            (Fault(.internal, "x"), 500, "INTERNAL_SERVER_ERROR", "internal_error", "none"),
            (Fault(.unimplemented, "x"), 500, "INTERNAL_SERVER_ERROR", "internal_error", "none"),
            (Fault(.unavailable, "x"), 503, "SERVICE_UNAVAILABLE", "service_unavailable", "retry"),
        ]
        for (fault, status, word, code, action) in cases {
            gateway.authentication.createServiceLink.fail(with: fault)
            let reply = try await gateway.send(.post, "/api/ACME1/link", Self.token)
            #expect(said(reply, status, word, code, action), "\(fault.code)")
            #expect((reply.headers[.wwwAuthenticate] != nil) == (code == "unauthorized"))
        }
        let put = try await gateway.send(.put, "/api/ACME1/serviceToken", Self.device)
        #expect(said(put, 405, "METHOD_NOT_ALLOWED", "method_not_allowed", "none") && put.headers[.allow]?.contains("POST") == true)
        #expect(said(try await gateway.send(.post, "/api/ACME9/link", Self.token), 400, "BAD_REQUEST", "request_invalid", "check_request_body"))
    }

    @Test("a bad bearer is told before anything else that is wrong with the call")
    func bearerFirst() async throws {
        for (method, name) in [(HTTPRequest.Method.post, "serviceToken"), (.get, "serviceToken"), (.post, "link"), (.post, "unlink"), (.get, "list")]
        {
            for headers in [[:], [.authorization: "Bearer bad"], [.authorization: "Bearer bad", .xSsoLink: "123456"]] as [HTTPFields] {
                let reply = try await gateway.send(method, "/api/ACME1/\(name)", headers, body: method == .post ? "{" : nil)
                #expect(said(reply, 401, "UNAUTHORIZED", "unauthorized", "none"), "\(name)")
            }
        }
    }

    @Test("rest-v2 #103: beside one who guesses link codes, fifteen of fifteen other devices join; the guesser has to pause")
    func guesses() async throws {
        let clock = SetClock()
        let gateway = TestGateway(trusted: ["127.0.0.1/32"], clock: clock)
        gateway.authentication.verifyAccessToken.answer { request, _ in
            guard request.accessToken != "bad" else { throw Fault(.accessDenied, "no") }
            return VerifiedClient(clientID: request.accessToken, applicationID: "tv", requestorIDs: ["ACME1"])
        }
        gateway.authentication.issueServiceToken.answer { request, _ in
            guard request.link == "402913" else { throw Fault(.invalidRegistrationCode, "x") }
            return ServiceToken(token: "x.y.z")
        }
        try await gateway.exchange(over: .live) { client in
            func ask(_ code: String, as name: String, from address: String) async throws -> Int {
                let headers = Self.device.with(.xSsoLink, code).with(.authorization, "Bearer \(name)").with(.forwardedFor, address)
                return try await client.execute(uri: "/api/ACME1/serviceToken", method: .post, headers: headers) { $0.status.code }
            }
            #expect(try await ask("402913", as: "bad", from: "203.0.113.1") == 401)
            #expect(gateway.authentication.issueServiceToken.requests.isEmpty)
            var refusals = 0
            for honest in 0..<15 {
                // One wrong code a second, from an address and a client that change.
                let guess = try await ask("11111\(honest % 10)", as: "guesser-\(honest % 2)", from: "203.0.113.\(honest % 3)")
                if guess == 429 { refusals += 1 } else { #expect(guess == 401) }
                #expect(try await ask("402913", as: "device-\(honest)", from: "198.51.100.\(honest)") == 201)
                clock.advance(by: .seconds(1))
            }
            #expect(refusals == 5, "two clients of five wrong codes a minute")
        }
    }

    @Test("rest-v2 #103, clients §2: of a client that all installations share, a guesser takes nothing from those at other addresses")
    func sharedClient() async throws {
        let clock = SetClock()
        let gateway = TestGateway(trusted: ["127.0.0.1/32"], clock: clock)
        gateway.authentication.verifyAccessToken.answer(
            with: VerifiedClient(clientID: "imported", applicationID: "tv", requestorIDs: ["ACME1"], isShared: true))
        gateway.authentication.issueServiceToken.answer { request, _ in
            guard request.link == "402913" else { throw Fault(.invalidRegistrationCode, "x") }
            return ServiceToken(token: "x.y.z")
        }
        try await gateway.exchange(over: .live) { client in
            func ask(_ code: String, from address: String) async throws -> Int {
                let headers = Self.device.with(.xSsoLink, code).with(.authorization, "Bearer shared").with(.forwardedFor, address)
                return try await client.execute(uri: "/api/ACME1/serviceToken", method: .post, headers: headers) { $0.status.code }
            }
            var refusals = 0
            for honest in 0..<15 {
                let guess = try await ask("11111\(honest % 10)", from: "2001:db8::\(honest)")
                if guess == 429 { refusals += 1 } else { #expect(guess == 401) }
                #expect(try await ask("402913", from: "198.51.100.\(honest)") == 201)
                clock.advance(by: .seconds(1))
            }
            #expect(refusals == 10, "one network of five wrong codes a minute")
            // Under attack by the whole client, who has sent no wrong one there still passes.
            for number in 0..<LinkCodeLimits.braking { #expect(try await ask("222222", from: "192.0.2.\(number)") == 401) }
            #expect(try await ask("402913", from: "192.0.2.1") == 429)
            #expect(try await ask("402913", from: "198.51.100.200") == 201)
        }
    }

    @Test(
        "rest-v2 #103: one code of a client is looked up at a time; under attack those with a wrong code wait, and codes are made as far as the arithmetic allows"
    )
    func brake() throws {
        let clock = SetClock()
        let limits = LinkCodeLimits(clock: clock)
        func attempt(_ client: String, _ programmer: String = "acme") -> LinkCodeLimits.Attempt? {
            if case .allowed(let attempt) = limits.begin(client, of: programmer) { attempt } else { nil }
        }
        func guess(_ client: String, _ programmer: String = "acme") throws { limits.end(try #require(attempt(client, programmer)), isWrong: true) }
        let first = try #require(attempt("a"))
        #expect(attempt("a") == nil && attempt("b") != nil)
        limits.end(first, isWrong: false)
        #expect(attempt("a") != nil)

        for _ in 0..<4 { try guess("patient") }
        #expect(limits.make(of: "acme") == nil)
        for client in 0..<LinkCodeLimits.braking { try guess("crowd-\(client)") }
        #expect(attempt("patient") == nil && attempt("crowd-0") == nil, "they have sent a wrong one")
        #expect(attempt("clean") != nil && attempt("crowd-0", "bravo") != nil, "who has not is let through, and other programmers are not meant")
        // 34 wrong codes allow for 100,000 / 34 codes.
        #expect((0..<5000).count { _ in limits.make(of: "acme") == nil } == 2940)
        #expect(limits.make(of: "bravo") == nil)
        clock.advance(by: .seconds(120))
        #expect(attempt("patient") != nil && limits.make(of: "acme") == nil, "the attack is over")
    }

    @Test("an address has nine wrong tries in a link code's life, as the arithmetic beside the limits says")
    func arithmetic() {
        var record = WrongCodes()
        let (second, end) = (Int64(1_000_000_000), Int64(LinkCodeLimits.life) * 60_000_000_000)
        var tries = 0
        for now in stride(from: Int64(0), to: end, by: Int(second)) where record.pause(at: now) == 0 {
            record.charge(at: now)
            tries += 1
        }
        #expect(tries == 9)
        #expect(Double(tries * 100 * 100) / 1_000_000 < LinkCodeLimits.bound && ServiceTokenTests.lifeOfCodes == LinkCodeLimits.life * 60)
    }

    /// Seconds; what `authentication` gives them, which its own tests pin.
    private static let lifeOfCodes = 600

    @Test("rest-v2 §1.2: the calls that list it hand a service token on as it was sent; one that nobody could read counts as none")
    func handedOn() async throws {
        let calls: [(HTTPRequest.Method, String, String?)] = [
            (.post, "/api/v2/ACME1/sessions", nil), (.get, "/api/v2/ACME1/profiles", nil), (.get, "/api/v2/ACME1/profiles/NorthCable", nil),
            (.post, "/api/v2/ACME1/decisions/authorize/NorthCable", #"{"resources":["r"]}"#),
            (.post, "/api/v2/ACME1/decisions/preauthorize/NorthCable", #"{"resources":["r"]}"#),
            (.get, "/api/v2/ACME1/logout/NorthCable?redirectUrl=https%3A%2F%2Facme.example%2F", nil),
            (.post, "/api/v2/ACME1/sessions/sso/Apple", nil), (.post, "/api/v2/ACME1/profiles/sso/Apple", nil),
        ]
        var doubled = Self.unlinked
        doubled.append(HTTPFields.Element(name: .adServiceToken, value: "a.b.d"))
        let long = Self.device.with(.contentType, "application/json").with(.adServiceToken, String(repeating: "a", count: 16 * 1024 + 1))
        for (headers, expected) in [(Self.unlinked, "a.b.c"), (doubled, ""), (long, "")] {
            for (method, uri, body) in calls { #expect(try await gateway.send(method, uri, headers, body: body).status == 200, "\(uri)") }
            #expect(gateway.authentication.beginSignIn.requests.last?.call?.serviceToken == expected)
            #expect(gateway.authentication.findProfiles.requests.suffix(2).allSatisfy { $0.call?.serviceToken == expected })
            #expect(gateway.authorization.decide.requests.suffix(2).allSatisfy { $0.call?.serviceToken == expected })
            #expect(gateway.authentication.endProfile.requests.last?.call?.serviceToken == expected)
            #expect(gateway.authentication.beginPartnerSignIn.requests.last?.call?.serviceToken == "")
            #expect(gateway.authentication.exchangePartnerProfile.requests.last?.call?.serviceToken == "")
        }
    }

    @Test("a session that a service token takes over is shown as one, by its MVPD")
    func shown() async throws {
        gateway.authentication.findProfiles.answer(
            with: Profiles(profiles: [Profile(session: Session(mvpd: "NorthCable", userID: "u", kind: .serviceToken))]))
        let profiles = try await gateway.get("/api/v2/ACME1/profiles", Self.token).json["profiles"] as? [String: [String: Any]]
        #expect(profiles?["NorthCable"]?["type"] as? String == "serviceTokenSSO" && profiles?["NorthCable"]?["issuer"] as? String == "NorthCable")
    }
}
