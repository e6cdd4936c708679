internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The calls that the vendor's SDKs make by themselves (clients §3).
@Suite struct SdkCallTests {
    let gateway = TestGateway()

    private static let bearer: HTTPFields = [.authorization: "Bearer good", .deviceInfo: TestGateway.deviceInformation]

    /// As the web SDK names a device.
    private static let device = HTTPFields.Element.Name("Ap_21")!

    private func post(_ call: String, _ form: String, _ headers: HTTPFields = bearer) async throws -> Reply {
        try await gateway.post("/adobe-services/\(call)", form: form, headers)
    }

    // MARK: Signing in

    @Test("clients §3: a code that somebody has signed in with brings the token and what is known of the person; one call demands the code's device")
    func sessions() async throws {
        gateway.authentication.issueStoredToken.answer(
            with: StoredAuthentication(
                token: "<signatureInfo>x</signatureInfo>&",
                metadata: UserMetadata(updatedAtSeconds: 7, data: [MetadataEntry(key: "zip", value: .list(TextList(values: ["98101"])))])))
        for (call, demandsDevice) in [("session", false), ("sessionDevice", true)] {
            let reply = try await post(call, "requestor_id=ACME1&reg_code=qk7m2xd&device_id=dev-1")
            #expect(reply.status == 200 && reply.headers[.contentType]?.hasPrefix("application/xml") == true)
            #expect(
                reply.text.contains("<result><authnToken>&lt;signatureInfo&gt;x&lt;/signatureInfo&gt;&amp;</authnToken><userMeta>"), "\(reply.text)")
            #expect(reply.text.contains("98101"))
            #expect(
                gateway.authentication.issueStoredToken.requests.last
                    == SessionByCodeRequest(
                        accessToken: "good", requestor: "ACME1", code: "qk7m2xd", deviceID: "dev-1", demandsDevice: demandsDevice))
        }
        _ = try await post("session", "requestor_id=ACME1&reg_code=QK7M2XD", Self.bearer.with(Self.device, "dev-2"))
        #expect(gateway.authentication.issueStoredToken.requests.last?.deviceID == "dev-2", "the web SDK's header names it too")
        _ = try await post("session", "requestor_id=ACME1&reg_code=QK7M2XD&device_id=dev-1", Self.bearer.with(Self.device, "dev-2"))
        #expect(gateway.authentication.issueStoredToken.requests.last?.deviceID == "dev-1")
    }

    @Test("clients §3, #37: nobody has signed in yet is 401, a session that has ended is an order to forget the token")
    func sessionsThatAreNone() async throws {
        let form = "requestor_id=ACME1&reg_code=QK7M2XD"
        gateway.authentication.issueStoredToken.fail(with: Fault(.authenticationSessionMissing, "no"))
        let waiting = try await post("session", form)
        #expect(waiting.status == 401 && waiting.text.contains("Data not found") && !waiting.text.contains("pendingLogout"))
        gateway.authentication.issueStoredToken.fail(with: Fault(.authenticationSessionExpired, "over"))
        let over = try await post("session", form)
        #expect(over.status == 200 && over.text.contains("<result><pendingLogout"))
        gateway.authentication.issueStoredToken.fail(with: Fault(.unavailable, "away"))
        #expect(try await post("session", form).status == 503)
    }

    @Test("clients §3: the bearer comes first; what else is wrong is told to the bearer of a good token alone")
    func order() async throws {
        for call in ["session", "sessionDevice", "authorizeDevice", "deviceShortAuthorize", "preauthorize"] {
            #expect(try await post(call, "requestor_id=ACME1&reg_code=QK7M2XD", [:]).status == 401, "\(call)")
            #expect(try await post(call, "", Self.bearer.with(.authorization, "Bearer bad")).status == 401, "\(call)")
            #expect(try await post(call, "").status == 400, "\(call)")
            #expect(try await post(call, "requestor_id=NOBODY").status == 400, "\(call)")
            #expect(try await post(call, "requestor_id=ACME1").status == 400, "\(call)")
        }
        #expect(gateway.authentication.issueStoredToken.requests.isEmpty && gateway.authorization.authorize.requests.isEmpty)
        #expect(gateway.authorization.issueMediaToken.requests.isEmpty && gateway.authorization.preauthorize.requests.isEmpty)
    }

    @Test("clients #38: where the MVPD is not integrated the person goes back to the app, if the address is a registered one")
    func unknownMvpd() async throws {
        gateway.authentication.startSignIn.fail(with: Fault(.unknownIntegration, "no"))
        func begin(_ target: String) async throws -> Reply {
            let query = "requestor_id=ACME1&mso_id=Nobody&reg_code=QK7M2XD&domain_name=adobe.com&redirect_url=\(target)"
            return try await gateway.get("/adobe-services/authenticate/saml?\(query)", [:])
        }
        let back = try await begin("https%3A%2F%2Facme.example%2Fback%3Fa%3D1")
        #expect(back.status == 302 && back.headers[.location] == "https://acme.example/back?a=1")
        let foreign = try await begin("https%3A%2F%2Fevil.example%2F")
        #expect(foreign.status == 400 && foreign.headers[.location] == nil)
        gateway.authentication.startSignIn.fail(with: Fault(.invalidRegistrationCode, "no"))
        #expect(try await begin("https%3A%2F%2Facme.example%2Fback").status == 400, "for nothing else")
    }

    // MARK: Deciding

    @Test("clients §3: a permit is asked for with the stored token, with a bearer or without; what is known of the person comes where it is wanted")
    func permits() async throws {
        gateway.authorization.authorize.answer(with: Decision(requestor: "ACME1", mvpd: "NorthCable", resource: "NEWS", token: "<permit>"))
        gateway.authentication.getUserMetadata.answer(
            with: UserMetadata(data: [MetadataEntry(key: "zip", value: .list(TextList(values: ["98101"])))]))
        let form = "requestor_id=ACME1&resource_id=NEWS&authentication_token=%3Ct%3E&mso_id=NorthCable&generic_data=%7B%7D"
        for (call, headers, token) in [("authorize", [:], ""), ("authorize", Self.bearer, "good"), ("authorizeDevice", Self.bearer, "good")]
            as [(String, HTTPFields, String)]
        {
            let reply = try await post(call, form, headers)
            #expect(reply.status == 200 && reply.text.hasSuffix("<result><authzToken>&lt;permit&gt;</authzToken></result>"), "\(reply.text)")
            let request = try #require(gateway.authorization.authorize.requests.last)
            #expect(request.wantsToken && request.resource == "NEWS" && request.genericData == "{}" && request.mvpd.isEmpty)
            #expect(request.call?.accessToken == token && request.call?.requestor == "ACME1")
            #expect(request.call?.storedToken == StoredToken(text: "<t>", mvpd: "NorthCable"))
        }
        #expect(gateway.authentication.getUserMetadata.requests.isEmpty)
        let whole = try await post("authorize", form + "&userMeta=1", [:])
        #expect(whole.text.contains("</authzToken><userMeta>") && whole.text.contains("98101"))
        #expect(gateway.authentication.getUserMetadata.requests.last?.call?.storedToken == StoredToken(text: "<t>", mvpd: "NorthCable"))
        for missing in ["resource_id=NEWS&", "authentication_token=%3Ct%3E&"] {
            #expect(try await post("authorize", form.replacing(missing, with: ""), [:]).status == 400)
        }
    }

    private static let over: [Fault.Code] = [
        .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated, .authorizationDeniedBySessionInvalidated,
        .authorizationNotFound, .authorizationExpired,
    ]
    private static let denials: [Fault.Code] = [
        .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies, .authorizationDeniedByDegradationRule,
        .identityNotRecognizedByMvpd,
    ]

    @Test("clients §3: what has ended is to be forgotten; a no has a text that is never empty; what is no answer of an MVPD is a status")
    func refusals() async throws {
        let calls = [
            ("authorize", "requestor_id=ACME1&resource_id=NEWS&authentication_token=t"), ("shortAuthorize", "requestor_id=ACME1&authz_token=z"),
            ("preauthorize", "requestor_id=ACME1&resource_id=NEWS&authentication_token=t"),
        ]
        for (call, form) in calls {
            func reply(_ fault: Fault) async throws -> Reply {
                gateway.authorization.authorize.fail(with: fault)
                gateway.authorization.issueMediaToken.fail(with: fault)
                gateway.authorization.preauthorize.fail(with: fault)
                return try await post(call, form)
            }
            for code in Self.over {
                let forgotten = try await reply(Fault(code, "over"))
                #expect(forgotten.status == 200 && forgotten.text.contains("<result><pendingLogout"), "\(call) \(code)")
            }
            for code in Self.denials {
                let told = try await reply(Fault(code, "User not authorized", details: "Upgrade & watch"))
                #expect(told.status == 200 && told.text.contains("<notAuthorized") && told.text.contains("<details>Upgrade &amp; watch</details>"))
                #expect(
                    try await reply(Fault(code, "User not authorized")).text.contains("<details>User not authorized</details>"), "\(call) \(code)")
                #expect(try await reply(Fault(code, "")).text.contains("<details>User not authorized</details>"), "\(call) \(code)")
            }
            for (code, status) in [(Fault.Code.unavailable, 503), (.networkConnectionTimeout, 403), (.unknownIntegration, 400), (.accessDenied, 401)]
            {
                let other = try await reply(Fault(code, "no"))
                #expect(other.status == status && !other.text.contains("pendingLogout") && !other.text.contains("notAuthorized"), "\(call) \(code)")
            }
        }
    }

    @Test("clients §3: the media token comes in clear, for the permit that the app kept; one that is no Base64 comes as it is")
    func mediaTokens() async throws {
        for (call, headers) in [("shortAuthorize", [:]), ("shortAuthorize", Self.bearer), ("deviceShortAuthorize", Self.bearer)]
            as [(String, HTTPFields)]
        {
            let reply = try await post(call, "requestor_id=ACME1&authz_token=%3Cz%3E&mso_id=NorthCable&session_guid=1&hashed_guid=false", headers)
            #expect(reply.status == 200 && reply.text == "<sig>")
            #expect(reply.headers[.contentType] == "text/xml; charset=utf-8" && reply.headers[.cacheControl] == "no-store")
            let request = try #require(gateway.authorization.issueMediaToken.requests.last)
            #expect(request.authorizationToken == "<z>" && request.resource.isEmpty)
            #expect(request.call?.storedToken == StoredToken(mvpd: "NorthCable") && request.call?.requestor == "ACME1")
        }
        gateway.authorization.issueMediaToken.answer(with: MediaToken(requestor: "ACME1", serializedToken: "eyJ.a.b"))
        let signed = try await post("shortAuthorize", "requestor_id=ACME1&authz_token=z")
        #expect(
            signed.text == "eyJ.a.b" && signed.headers[.contentType] == "text/plain; charset=utf-8" && signed.headers[.cacheControl] == "no-store")
        #expect(try await post("shortAuthorize", "requestor_id=ACME1").status == 400)
    }

    @Test("clients §3: resources are asked about as they were sent, with commas in them, and told one by one")
    func preauthorization() async throws {
        gateway.authorization.preauthorize.answer(
            with: Preauthorization(resources: [PreauthorizedResource(id: "A,B", authorized: true), PreauthorizedResource(id: "C")]))
        let reply = try await post("preauthorize", "requestor_id=ACME1&authentication_token=t&resource_id=A%2CB&resource_id=C&resource_id=")
        let told =
            "<resources><resource><id>A,B</id><authorized>true</authorized></resource><resource><id>C</id><authorized>false</authorized></resource></resources>"
        #expect(reply.status == 200 && reply.text.hasSuffix(told), "\(reply.text)")
        let request = try #require(gateway.authorization.preauthorize.requests.last)
        #expect(request.resources == ResourceList(items: ["A,B", "C", ""]) && request.call?.storedToken == StoredToken(text: "t"))
        #expect(try await post("preauthorize", "requestor_id=ACME1&authentication_token=t&resource_id=").status == 400)
    }

    @Test("clients §3: the addresses of the first SDKs are served with a bearer or a code; without, they are gone")
    func firstAddresses() async throws {
        let form = "requestor_id=ACME1&reg_code=QK7M2XD&resource_id=NEWS&authentication_token=t&authz_token=z"
        gateway.authorization.preauthorize.answer(with: Preauthorization())
        for call in ["session", "sessionDevice", "authorize", "authorizeDevice", "shortAuthorize", "deviceShortAuthorize", "preauthorize"] {
            let gone = try await post("1.0/\(call)", form, [:])
            #expect(gone.status == 410 && gone.text.contains("first native SDKs"), "\(call)")
            #expect(try await post("1.0/\(call)", form).status == 200, "\(call)")
            #expect(try await gateway.post("/adobe-services/1.0/\(call)?access_token=good", form: form, [:]).status == 200, "\(call)")
        }
        let begin =
            "/adobe-services/1.0/authenticate/saml?requestor_id=ACME1&mso_id=NorthCable&domain_name=adobe.com&redirect_url=https%3A%2F%2Facme.example%2F"
        #expect(try await gateway.get(begin, [:]).status == 410)
        #expect(try await gateway.get(begin + "&reg_code=QK7M2XD", [:]).status == 302)
    }

    // MARK: Devices

    @Test("clients §3: a device without an id gets one with a seal, which it shows again as header or cookie; IPv6 counts by its network")
    func devices() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1"])
        let json: HTTPFields = [.contentType: "application/json", .authorization: "Bearer good", .forwardedFor: "2001:db8:1:2:3::4"]
        func identify(_ headers: HTTPFields) async throws -> (reply: Reply, request: IdentifyDeviceRequest?) {
            let reply = try await gateway.send(.post, "/indiv/devices", headers, body: #"{"fingerprint":"0a0b"}"#, over: .live)
            return (reply, gateway.authentication.identifyDevice.requests.last)
        }
        let seal = HTTPFields.Element.Name("pass_sfp")!
        let first = try await identify(json)
        #expect(first.reply.status == 200 && first.reply.json["deviceId"] as? String == "device-1" && first.reply.headers[seal] == "sealed-1")
        let cookie = "pass_sfp=sealed-1; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=None"
        #expect(first.reply.headers[.setCookie] == cookie)
        #expect(
            first.request
                == IdentifyDeviceRequest(accessToken: "good", fingerprint: "0a0b", clientAddress: "20010db800010002/64"))
        #expect(try await identify(json.with(.forwardedFor, "203.0.113.9")).request?.clientAddress == "203.0.113.9")
        #expect(try await identify(json.with(.cookie, "a=b; pass_sfp=old")).request?.seal == "old")
        #expect(try await identify(json.with(.cookie, "pass_sfp=old").with(seal, "new")).request?.seal == "new")
        for (text, isSeal) in [
            (String(repeating: "s", count: 4096), true), (String(repeating: "s", count: 4097), false), ("a b", false),
        ] {
            #expect(try await identify(json.with(seal, text)).request?.seal == (isSeal ? text : ""))
        }
        let plain = try await identify(json.with(.authorization, nil))
        #expect(plain.reply.status == 200 && plain.request?.accessToken.isEmpty == true)
    }

    @Test("clients #39: a fingerprint that is missing, or no JSON, is 400; a bearer that is sent must be a good one")
    func badFingerprints() async throws {
        let json: HTTPFields = [.contentType: "application/json"]
        for body in ["", "{}", "[]", #"{"fingerprint":""}"#, #"{"fingerprint":7}"#, "fingerprint=x"] {
            for (bearer, status) in [(nil, 400), ("Bearer good", 400), ("Bearer bad", 401)] as [(String?, Int)] {
                let reply = try await gateway.send(.post, "/indiv/devices", json.with(.authorization, bearer), body: body)
                #expect(reply.status == status, "\(body)")
            }
        }
        #expect(gateway.authentication.identifyDevice.requests.isEmpty)
    }
}
