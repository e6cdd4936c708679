internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite("REST v2: what is read of a call, and what is said of a bad one") struct V2InputTests {
    private let gateway = TestGateway()
    private static let device: HTTPFields = [
        .authorization: "Bearer good", .apDeviceIdentifier: "fingerprint ZGV2LTdmM2E=", .contentType: "application/json",
    ]

    init() {
        gateway.authentication.beginSignIn.answer(
            with: SignInPlan(step: .complete, lacksMvpd: true, id: "id-1", code: RegistrationCode(code: "QK7M2XD")))
        gateway.authentication.continueSignIn.answer(with: SignInPlan(step: .authenticate, id: "id-1", code: RegistrationCode(code: "QK7M2XD")))
        gateway.authentication.findProfiles.answer(with: Profiles())
        gateway.authentication.findProfilesByCode.answer(with: Profiles())
        gateway.authentication.endProfile.answer(with: EndedProfile(end: .complete))
        gateway.authentication.beginPartnerSignIn.answer(with: SignInPlan(step: .complete, reason: .partnerStatus, id: "id-1"))
        gateway.authentication.exchangePartnerProfile.answer(with: Profiles())
        gateway.authorization.decide.answer(with: Decisions())
    }

    private static let calls: [(HTTPRequest.Method, String, String?)] = [
        (.post, "/api/v2/ACME1/sessions", nil), (.get, "/api/v2/ACME1/profiles", nil), (.get, "/api/v2/ACME1/profiles/NorthCable", nil),
        (.post, "/api/v2/ACME1/decisions/authorize/NorthCable", #"{"resources":["r"]}"#),
        (.post, "/api/v2/ACME1/decisions/preauthorize/NorthCable", #"{"resources":["r"]}"#),
        (.get, "/api/v2/ACME1/logout/NorthCable?redirectUrl=https%3A%2F%2Facme.example%2F", nil),
        (.post, "/api/v2/ACME1/sessions/sso/Apple", nil), (.post, "/api/v2/ACME1/profiles/sso/Apple", nil),
    ]

    @Test("rest-v2 #5 to #7: every call of a device refuses an identifier that is missing, sent twice, too long or not encoded")
    func identifiers() async throws {
        for (method, uri, body) in Self.calls {
            #expect(try await gateway.send(method, uri, Self.device, body: body).status == 200, "\(uri)")
            let long = "fingerprint " + Data(repeating: 0x41, count: 600).base64EncodedString()
            let wrong = ["", "fingerprint", "serial QUJD", "fingerprint ***", "fingerprint gICA", "fingerprint AEE=", "fingerprint 7aCA", long]
            for identifier in wrong {
                let reply = try await gateway.send(method, uri, Self.device.with(.apDeviceIdentifier, identifier), body: body)
                #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_header_device_identifier", "\(uri) \(identifier.prefix(30))")
            }
            var twice = Self.device
            twice.append(HTTPFields.Element(name: .apDeviceIdentifier, value: "fingerprint QUJD"))
            #expect(try await gateway.send(method, uri, twice, body: body).json["code"] as? String == "invalid_header_device_identifier", "\(uri)")
        }
    }

    @Test("headers that only some calls read are as good as absent where they cannot be read")
    func sideHeaders() async throws {
        for text in ["", "***", "e30", Data([0xed, 0xa0, 0x80]).base64EncodedString(), String(repeating: "QUJD", count: 4000), "AAAA"] {
            for name in [HTTPFields.Element.Name.apTempPassIdentity, .apPartnerFrameworkStatus] {
                for (method, uri, body) in Self.calls {
                    #expect(try await gateway.send(method, uri, Self.device.with(name, text), body: body).status == 200, "\(uri) \(name)")
                }
            }
        }
        let status = try #require(gateway.authentication.findProfiles.requests.last?.call?.partnerStatus)
        #expect(status == PartnerStatus(), "it was sent, and says nothing")
        let identity = #"{"email":"0123"}"#
        let sent = Self.device.with(.apTempPassIdentity, Data(identity.utf8).base64EncodedString())
        #expect(try await gateway.get("/api/v2/ACME1/profiles/NorthCable", sent).status == 200)
        #expect(gateway.authentication.findProfiles.requests.last?.identity == identity)
    }

    @Test("rest-v2 §1.3: what the platform's framework told the app reaches the service member by member")
    func partnerStatus() async throws {
        func read(_ text: String) async throws -> PartnerStatus? {
            let sent = Self.device.with(.apPartnerFrameworkStatus, Data(text.utf8).base64EncodedString())
            #expect(try await gateway.get("/api/v2/ACME1/profiles", sent).status == 200)
            return gateway.authentication.findProfiles.requests.last?.call?.partnerStatus
        }
        func text(_ access: String, _ provider: String) -> String {
            #"{"frameworkPermissionInfo":{"accessStatus":\#(access)},"frameworkProviderInfo":{\#(provider)}}"#
        }
        let whole = try await read(text(#""granted""#, #""id":"north-cable","expirationDate":"1893456000000""#))
        #expect(whole == PartnerStatus(access: .granted, providerID: "north-cable", expiresAtMilliseconds: 1_893_456_000_000))
        #expect(try await read(text(#""notDetermined""#, "")) == PartnerStatus(access: .notDetermined))
        for refused in ["denied", "restricted", "Granted", "other"] { #expect(try await read(text(#""\#(refused)""#, ""))?.access == .refused) }
        #expect(try await read(text("7", "")) == PartnerStatus(access: .absent))
        #expect(try await read(text(#""granted""#, #""id":"x","expirationDate":"soon""#))?.hasUnreadableExpiry == true)
        #expect(try await read(text(#""granted""#, #""id":"x","expirationDate":1893456000000"#))?.hasUnreadableExpiry == true)
        #expect(try await read(#"{"frameworkPermissionInfo":{"accessStatus":"granted"}}"#) == PartnerStatus())
    }

    @Test("rest-v2 #35, #66: codes and resources of another form are refused by their own codes")
    func forms() async throws {
        for code in ["!!", "ABCDE", "ABCDEFGHI", "QK7M2X%ED%A0%80"] {
            for uri in ["/api/v2/ACME1/sessions/\(code)", "/api/v2/ACME1/profiles/code/\(code)"] {
                let reply = try await gateway.get(uri, Self.device)
                #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_parameter_code", "\(uri)")
            }
        }
        let path = "/api/v2/ACME1/decisions/authorize/NorthCable"
        let many = "[" + Array(repeating: #""r""#, count: 1000).joined(separator: ",") + "]"
        #expect(try await gateway.send(.post, path, Self.device, body: #"{"resources":\#(many)}"#).status == 200, "the service counts them")
        for resources in ["[]", #"[""]"#, "[1]", "[null]", #""r""#, #"["\ud800"]"#, #"["\u0000"]"#, #"["r"],"resources":["s"]"#] {
            let reply = try await gateway.send(.post, path, Self.device, body: #"{"resources":\#(resources)}"#)
            #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_parameter_resources", "\(resources)")
        }
        let form = try await gateway.send(.post, path, Self.device.with(.contentType, "text/plain"), body: #"{"resources":["r"]}"#)
        #expect(form.json["code"] as? String == "invalid_parameter_resources")
        for mvpd in ["%20", "%FF"] {
            let reply = try await gateway.get("/api/v2/ACME1/profiles/\(mvpd)", Self.device)
            #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_parameter_mvpd", "\(mvpd)")
        }
    }

    @Test("rest-v2 #53: a TempPass that nobody can hold is a fault of the configuration, asked for by profile or decision")
    func misconfiguredTrial() async throws {
        let fault = Fault(.invalidTemporaryAccessConfiguration, "x")
        gateway.authentication.findProfiles.fail(with: fault)
        gateway.authorization.decide.fail(with: fault)
        for reply in [
            try await gateway.send(.get, "/api/v2/ACME1/profiles/PromoVod", Self.device, over: .live),
            try await gateway.send(.post, "/api/v2/ACME1/decisions/authorize/PromoVod", Self.device, body: #"{"resources":["r"]}"#, over: .live),
        ] {
            #expect(reply.status == 500 && reply.json["status"] as? Int == 500, "\(reply.text)")
            #expect(reply.json["code"] as? String == "invalid_configuration_temporary_access")
            #expect(reply.json["action"] as? String == "configuration")
        }
    }

    @Test("a bad bearer is told before anything else that is wrong with the call")
    func bearerFirst() async throws {
        gateway.authentication.verifyAccessToken.fail(with: Fault(.accessDenied, "x"))
        for (method, uri, _) in Self.calls {
            let reply = try await gateway.send(method, uri, [.authorization: "Bearer bad"], body: "{")
            #expect(reply.status == 401 && reply.json["code"] as? String == "invalid_access_token_client_application", "\(uri)")
        }
    }

    @Test("clients §4.12, §4.14: an attribute that nobody could encrypt says so, and a denial's words go through whatever they are")
    func spoiled() async throws {
        let metadata = UserMetadata(
            encrypted: ["zip"],
            data: [
                MetadataEntry(key: "zip", value: .text("QUJD")), MetadataEntry(key: "userID", value: .number(4471)),
                MetadataEntry(key: "age", value: .number(12)),
            ],
            unsealed: ["householdID"])
        gateway.authentication.findProfiles.answer(
            with: Profiles(profiles: [Profile(session: Session(mvpd: "NorthCable", userID: "u", kind: .platform), metadata: metadata)]))
        let profiles = try await gateway.get("/api/v2/ACME1/profiles", Self.device).json["profiles"] as? [String: [String: Any]]
        let attributes = try #require(profiles?["NorthCable"]?["attributes"] as? [String: [String: Any]])
        #expect(attributes["zip"]?["state"] as? String == "enc" && attributes["userID"]?["value"] as? String == "4471")
        #expect(attributes["age"]?["value"] as? Int == 12, "of numbers only a user id is told as a text")
        #expect((attributes["householdID"]?["error"] as? [String: Any])?["code"] as? String == "invalid_configuration_user_metadata_certificate")
        #expect(profiles?["NorthCable"]?["issuer"] as? String == "Apple")
        let words = "a\r\nX: y\u{2028}\u{1}\u{1F4FA}"
        gateway.authorization.decide.answer(
            with: Decisions(decisions: [
                ResourceDecision(resource: "r", refusal: ResourceRefusal(code: "authorization_denied_by_mvpd", details: words)),
                ResourceDecision(resource: "s", refusal: ResourceRefusal(code: "network_received_error")),
            ]))
        let reply = try await gateway.send(.post, "/api/v2/ACME1/decisions/preauthorize/NorthCable", Self.device, body: #"{"resources":["r","s"]}"#)
        let errors = try #require(reply.json["decisions"] as? [[String: Any]]).compactMap { $0["error"] as? [String: Any] }
        #expect(errors.map { $0["code"] as? String } == ["preauthorization_denied_by_mvpd", "network_received_error"])
        #expect(errors[0]["details"] as? String == words && errors[1]["action"] as? String == "retry" && errors[1]["status"] as? Int == 403)
    }
}
