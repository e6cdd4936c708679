internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The answers of REST v2, member by member (rest-v2 §2).
@Suite struct V2AnswerTests {
    private let gateway = TestGateway()
    private static let device: HTTPFields = [
        .authorization: "Bearer good", .apDeviceIdentifier: "fingerprint ZGV2LTdmM2E=", .contentType: "application/json",
    ]
    private static let code = RegistrationCode(
        code: "QK7M2XD", requestor: "ACME1", generatedAtMilliseconds: 1_930_384_800_123, expiresAtMilliseconds: 1_930_386_600_456)

    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> Reply {
        try await gateway.send(method, "/api/v2/ACME1/" + path, Self.device, body: body)
    }

    /// JSON whose members are in one order.
    private static func sorted(_ json: String) throws -> String {
        let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return String(decoding: try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes]), as: UTF8.self)
    }

    private func expect(_ reply: Reply, _ json: String, status: Int = 200, _ location: SourceLocation = #_sourceLocation) throws {
        #expect(reply.status == status && reply.headers[.contentType]?.hasPrefix("application/json") == true, sourceLocation: location)
        #expect(try Self.sorted(reply.text) == Self.sorted(json), sourceLocation: location)
    }

    // MARK: Sessions

    private static let times = #""notBefore":"1930384800123","notAfter":"1930386600456""#

    @Test("rest-v2 §2.2, §2.3: what has to be done next has its action, reason, address, code and times, which are texts")
    func plans() async throws {
        gateway.authentication.beginSignIn.answer(
            with: SignInPlan(step: .authenticate, id: "id-1", mvpd: "North Cable", code: Self.code))
        try expect(
            await send(.post, "sessions"),
            #"{"actionName":"authenticate","actionType":"interactive","reasonType":"none","url":"/api/v2/authenticate/ACME1/QK7M2XD","#
                + #""code":"QK7M2XD","sessionId":"id-1","serviceProvider":"ACME1","mvpd":"North Cable",\#(Self.times)}"#)
        let incomplete = SignInPlan(
            step: .complete, reason: .missing, lacksMvpd: true, lacksDomainName: true, lacksRedirectURL: true, id: "id-2", code: Self.code)
        gateway.authentication.beginSignIn.answer(with: incomplete)
        gateway.authentication.continueSignIn.answer(with: incomplete)
        for (path, action) in [("sessions", "resume"), ("sessions/QK7M2XD", "retry")] {
            try expect(
                await send(.post, path),
                #"{"actionName":"\#(action)","actionType":"direct","reasonType":"missing_parameters_fallback","#
                    + #""missingParameters":["mvpd","domainName","redirectUrl"],"url":"/api/v2/ACME1/sessions/QK7M2XD","#
                    + #""code":"QK7M2XD","sessionId":"id-2","serviceProvider":"ACME1",\#(Self.times)}"#)
        }
        #expect(gateway.authentication.continueSignIn.requests.last?.code == "QK7M2XD")
    }

    @Test(
        "rest-v2 §2.2: who needs no sign-in is told why, and where decisions are",
        arguments: [
            (.authenticated, "authenticated"), (.shared, "authenticatedSSO"), (.temporary, "temporary"), (.degraded, "degraded"),
        ] as [(SignInReason, String)])
    func plansWithoutSignIn(reason: SignInReason, word: String) async throws {
        gateway.authentication.beginSignIn.answer(with: SignInPlan(step: .authorize, reason: reason, id: "id-1", mvpd: "North Cable"))
        try expect(
            await send(.post, "sessions"),
            #"{"actionName":"authorize","actionType":"direct","reasonType":"\#(word)","url":"/api/v2/ACME1/decisions/authorize/North%20Cable","#
                + #""sessionId":"id-1","serviceProvider":"ACME1","mvpd":"North Cable"}"#)
    }

    @Test("rest-v2 §2.12: the platform's framework gets its request; where it cannot serve, the usual way is open and the reason told")
    func partnerPlans() async throws {
        gateway.authentication.beginPartnerSignIn.answer(
            with: SignInPlan(step: .partner, id: "id-1", verificationToken: "PFNBTUw+", attributeNames: ["userID", "zip"]))
        try expect(
            await send(.post, "sessions/sso/aPPLE"),
            #"{"actionName":"partner_profile","actionType":"direct","reasonType":"none","url":"/api/v2/ACME1/profiles/sso/Apple","#
                + #""authenticationRequest":{"type":"saml","request":"PFNBTUw+","attributesNames":["userID","zip"]},"#
                + #""sessionId":"id-1","serviceProvider":"ACME1"}"#)
        for (reason, word) in [(SignInReason.partnerStatus, "pfs_fallback"), (.configuration, "configuration_fallback")] {
            gateway.authentication.beginPartnerSignIn.answer(with: SignInPlan(step: .complete, reason: reason, id: "id-2"))
            #expect(try await send(.post, "sessions/sso/Apple").json["reasonType"] as? String == word)
        }
        let asked = gateway.authentication.beginPartnerSignIn.requests.count
        let other = try await send(.post, "sessions/sso/Roku")
        #expect(other.status == 400 && other.json["code"] as? String == "invalid_parameter_partner")
        #expect(gateway.authentication.beginPartnerSignIn.requests.count == asked)
    }

    @Test("rest-v2 §2.4: a session tells what it has, what it lacks and its device")
    func session() async throws {
        var record = Self.code
        (record.mvpd, record.redirectURL) = ("NorthCable", "https://acme.example/")
        record.device = DeviceInformation(model: "TV 5th Gen", osName: "tvOS")
        gateway.authentication.getRegistrationCode.answer(with: record)
        let reply = try await send(.get, "sessions/QK7M2XD")
        #expect(reply.status == 200 && Set(reply.json.keys) == ["existingParameters", "missingParameters", "device", "notBefore", "notAfter"])
        #expect(
            reply.json["existingParameters"] as? [String: String]
                == ["serviceProvider": "ACME1", "mvpd": "NorthCable", "redirectUrl": "https://acme.example/"])
        #expect(reply.json["missingParameters"] as? [String] == ["domainName"])
        #expect((reply.json["device"] as? [String: Any])?["model"] as? String == "TV 5th Gen")
        #expect(reply.json["notBefore"] as? String == "1930384800123" && reply.json["notAfter"] as? String == "1930386600456")
        record.domainName = "acme.example"
        gateway.authentication.getRegistrationCode.answer(with: record)
        #expect(try await send(.get, "sessions/QK7M2XD").json["missingParameters"] == nil)
        let request = try #require(gateway.authentication.getRegistrationCode.requests.last)
        #expect(request == RegistrationCodeRequest(accessToken: "good", requestor: "ACME1", code: "QK7M2XD", api: .v2))
    }

    // MARK: Decisions

    @Test("rest-v2 §2.9: a permit has its media token with the times of both, which are numbers; whoever decided is named")
    func decisions() async throws {
        let sources: [(DecisionSource, String)] = [(.mvpd, "mvpd"), (.degradation, "degradation"), (.tempPass, "temppass"), (.dummy, "dummy")]
        for (source, word) in sources {
            gateway.authorization.decide.answer(
                with: Decisions(decisions: [
                    ResourceDecision(
                        resource: "A,B", authorized: true, source: source,
                        token: MediaToken(expiresAtMilliseconds: 7, serializedToken: "dG9rZW4=", issuedAtMilliseconds: 5), expiresAtMilliseconds: 9)
                ]))
            try expect(
                await send(.post, "decisions/authorize/NorthCable", #"{"resources":["A,B"]}"#),
                #"{"decisions":[{"resource":"A,B","serviceProvider":"ACME1","mvpd":"NorthCable","source":"\#(word)","authorized":true,"#
                    + #""token":{"notBefore":5,"notAfter":7,"serializedToken":"dG9rZW4="},"notBefore":5,"notAfter":9}]}"#)
            let request = try #require(gateway.authorization.decide.requests.last)
            #expect(request.resources == ["A,B"] && request.mvpd == "NorthCable" && !request.isPreliminary && request.call?.deviceID == "dev-7f3a")
        }
        gateway.authorization.decide.answer(with: Decisions(decisions: [ResourceDecision(resource: "A", authorized: true)]))
        try expect(
            await send(.post, "decisions/preauthorize/NorthCable", #"{"resources":["A"]}"#),
            #"{"decisions":[{"resource":"A","serviceProvider":"ACME1","mvpd":"NorthCable","source":"mvpd","authorized":true}]}"#)
        #expect(gateway.authorization.decide.requests.last?.isPreliminary == true)
    }

    @Test("rest-v2 §2.9, §2.10: a no has its code, status, action and words; beforehand a plain one has a name of its own")
    func denials() async throws {
        gateway.authorization.decide.answer(
            with: Decisions(decisions: [
                ResourceDecision(resource: "A", refusal: ResourceRefusal(code: "authorization_denied_by_mvpd", details: "Upgrade")),
                ResourceDecision(resource: "B", refusal: ResourceRefusal(code: "authenticated_profile_missing")),
            ]))
        for (call, code) in [("authorize", "authorization_denied_by_mvpd"), ("preauthorize", "preauthorization_denied_by_mvpd")] {
            let reply = try await send(.post, "decisions/\(call)/NorthCable", #"{"resources":["A","B"]}"#)
            let items = try #require(reply.json["decisions"] as? [[String: Any]])
            let errors = items.compactMap { $0["error"] as? [String: Any] }
            #expect(items.map { $0["authorized"] as? Bool } == [false, false] && items.allSatisfy { $0["token"] == nil && $0["notAfter"] == nil })
            #expect(errors[0]["code"] as? String == code && errors[0]["status"] as? Int == 403 && errors[0]["action"] as? String == "none")
            #expect(errors[0]["details"] as? String == "Upgrade" && errors[1]["details"] == nil)
        }
    }

    // MARK: Profiles

    @Test("rest-v2 §2.6, §4: a profile says of what kind it is and who issued it; its times are numbers, and the user's id is always there")
    func profiles() async throws {
        let kinds: [(SessionKind, type: String, issuer: String)] = [
            (.regular, "regular", "NorthCable"), (.automatic, "regular", "NorthCable"), (.platform, "appleSSO", "Apple"),
            (.shared, "platformSSO", "NorthCable"), (.serviceToken, "serviceTokenSSO", "NorthCable"), (.tempPass, "temporary", "Adobe"),
            (.degraded, "degraded", "Adobe"),
        ]
        for (kind, type, issuer) in kinds {
            let session = Session(mvpd: "NorthCable", userID: "abab", createdAtMilliseconds: 5, expiresAtMilliseconds: 9, kind: kind)
            gateway.authentication.findProfiles.answer(with: Profiles(profiles: [Profile(session: session), Profile()]))
            try expect(
                await send(.get, "profiles"),
                #"{"profiles":{"NorthCable":{"notBefore":5,"notAfter":9,"issuer":"\#(issuer)","type":"\#(type)","#
                    + #""attributes":{"userID":{"value":"abab","state":"plain"}}}}}"#)
        }
        #expect(gateway.authentication.findProfiles.requests.last?.mvpd.isEmpty == true)
        let identity = Data(#"{"email":"0a"}"#.utf8).base64EncodedString()
        _ = try await gateway.get("/api/v2/ACME1/profiles/NorthCable", Self.device.with(.apTempPassIdentity, identity))
        let request = try #require(gateway.authentication.findProfiles.requests.last)
        #expect(request.mvpd == "NorthCable" && request.identity == #"{"email":"0a"}"# && request.call?.deviceID == "dev-7f3a")
    }

    @Test("rest-v2 §2.8: a code's profile is asked for with the device, where one is named and can be read")
    func profilesByCode() async throws {
        gateway.authentication.findProfilesByCode.answer(with: Profiles())
        for (identifier, device) in [("fingerprint ZGV2LTdmM2E=", "dev-7f3a"), ("nonsense", ""), (nil, "")] as [(String?, String)] {
            _ = try await gateway.get("/api/v2/ACME1/profiles/code/QK7M2XD", Self.device.with(.apDeviceIdentifier, identifier))
            #expect(
                gateway.authentication.findProfilesByCode.requests.last
                    == SessionByCodeRequest(accessToken: "good", requestor: "ACME1", code: "QK7M2XD", deviceID: device, api: .v2))
        }
    }

    @Test("rest-v2 §2.13: a profile that the exchange made is 201, any other 200")
    func exchanges() async throws {
        for (kind, status) in [(SessionKind.platform, 201), (.regular, 200), (.degraded, 200)] {
            gateway.authentication.exchangePartnerProfile.answer(
                with: Profiles(profiles: [Profile(session: Session(mvpd: "NorthCable", userID: "u", kind: kind))]))
            let reply = try await gateway.post(
                "/api/v2/ACME1/profiles/sso/Apple", form: "SAMLResponse=PFJl", Self.device.with(.contentType, "application/x-www-form-urlencoded"))
            #expect(reply.status == status && reply.json["profiles"] != nil)
            #expect(gateway.authentication.exchangePartnerProfile.requests.last?.samlResponse == "PFJl")
        }
    }

    @Test(
        "rest-v2 §2.11: after a logout the app knows what is left to do, and where",
        arguments: [
            (.visit, #""logout","actionType":"interactive","mvpd":"NorthCable","url":"https://sp.example/visit""#),
            (.platform, #""partner_logout","actionType":"partner_interactive","mvpd":"NorthCable""#),
            (.complete, #""complete","actionType":"none","mvpd":"NorthCable""#), (.none, #""invalid","actionType":"none","mvpd":"NorthCable""#),
        ] as [(ProfileEnd, String)])
    func logouts(end: ProfileEnd, told: String) async throws {
        gateway.authentication.endProfile.answer(with: EndedProfile(end: end, visitURL: "https://sp.example/visit"))
        try expect(
            await send(.get, "logout/NorthCable?redirectUrl=https%3A%2F%2Facme.example%2F"), #"{"logouts":{"NorthCable":{"actionName":\#(told)}}}"#)
        let request = try #require(gateway.authentication.endProfile.requests.last)
        #expect(request.mvpd == "NorthCable" && request.redirectURL == "https://acme.example/" && request.call?.deviceID == "dev-7f3a")
    }
}
