internal import Contracts
internal import Doubles
internal import Faults
@testable import GatewayPublicApi
internal import Hummingbird
internal import Testing

@Suite struct PlatformTests {
    let gateway = TestGateway()

    @Test("clients §1.1: the kind that a device without device information states is told, whatever its User-Agent says")
    func statedKind() {
        let agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15"
        let roku = DeviceInformation.derived(deviceType: "Roku", userAgent: agent)
        #expect(roku.type == "SetTopBox" && roku.model == "Roku" && roku.osName == "Roku OS" && roku.osFamily == "Roku OS")
        #expect(DeviceInformation.derived(deviceType: "lamp", userAgent: agent) == DeviceInformation.derived(deviceType: "", userAgent: agent))
    }

    @Test("rest-v1 #52: a profile request is opaque bytes, not a document")
    func profileRequest() async throws {
        gateway.authentication.createProfileRequest.answer(with: ProfileRequest(verificationToken: "PHNhbWw+", expiresAtMilliseconds: 1))
        let reply = try await gateway.get("/api/v1/ACME1/profile-requests/NorthCable?deviceType=tvOS")
        #expect(reply.status == 200 && reply.text == "PHNhbWw+" && reply.headers[.contentType] == "application/octet-stream")
        #expect(reply.headers[.cacheControl] == "no-store")
        let request = try #require(gateway.authentication.createProfileRequest.requests.first)
        #expect(request == CreateProfileRequestRequest(accessToken: "good", requestor: "ACME1", mvpd: "NorthCable", deviceType: "tvOS"))
    }

    @Test("rest-v1 #53: a refused profile request is 400 in the caller's format; a lost bearer is 401")
    func refusedProfileRequest() async throws {
        gateway.authentication.createProfileRequest.fail(with: Fault(.invalidRequest, "No."))
        let path = "/api/v1/ACME1/profile-requests/NorthCable?deviceType=ios"
        let reply = try await gateway.get(path)
        #expect(reply.status == 400 && reply.json["message"] as? String == "No.")
        #expect(try await gateway.get(path, [.accept: "application/json"]).status == 401)
        #expect(try await gateway.send(.post, path).status == 405)
    }

    @Test("rest-v1 §3.12: the exchange is 204 without a body, and passes the form on as it is decoded once")
    func exchange() async throws {
        gateway.authentication.exchangePlatformProfile.answer(with: Session(id: "s1"))
        let form = "requestor=ACME1&deviceId=dev-7f3a&mvpd=NorthCable&deviceType=tvOS&SAMLResponse=PFJl%2Bc3%2F%3D"
        let reply = try await gateway.post("/api/v1/tokens/authn", form: form)
        #expect(reply.status == 204 && reply.text.isEmpty)
        let request = try #require(gateway.authentication.exchangePlatformProfile.requests.first)
        #expect(request.samlResponse == "PFJl+c3/=" && request.mvpd == "NorthCable")
        #expect(request.call?.deviceType == "tvOS" && request.call?.deviceID == "dev-7f3a")
    }

    @Test("rest-v1 §3.12: device information may be absent, but not unreadable; the other parameters are named")
    func exchangeParameters() async throws {
        gateway.authentication.exchangePlatformProfile.answer(with: Session(id: "s1"))
        let fields = ["requestor=ACME1", "deviceId=d", "mvpd=NorthCable", "deviceType=iOS", "SAMLResponse=PFJl"]
        let bare = TestGateway.device.with(.deviceInfo, nil)
        #expect(try await gateway.post("/api/v1/tokens/authn", form: fields.joined(separator: "&"), bare).status == 204)
        let unreadable = TestGateway.device.with(.deviceInfo, "!!!")
        #expect(try await gateway.post("/api/v1/tokens/authn", form: fields.joined(separator: "&"), unreadable).status == 400)
        for (index, name) in [(2, "mvpd"), (4, "SAMLResponse")] {
            var others = fields
            others.remove(at: index)
            let reply = try await gateway.post("/api/v1/tokens/authn", form: others.joined(separator: "&"))
            #expect(reply.status == 400 && reply.json["message"] as? String == "Required '\(name)' is not present")
        }
    }

    @Test("rest-v1 §2.3: GET tokens/authn does not read a body")
    func getIgnoresBody() async throws {
        var headers = TestGateway.device
        headers[.contentType] = "application/x-www-form-urlencoded"
        let reply = try await gateway.send(.get, "/api/v1/tokens/authn?\(TestGateway.deviceQuery)", headers, body: "requestor=NOPE")
        #expect(reply.status == 200)
    }

    @Test("rest-v1 §2.6: the platform's token travels as header, parameter or in Roku's own header, and is never refused")
    func subjectToken() async throws {
        let path = "/api/v1/checkauthn?\(TestGateway.deviceQuery)"
        let header = HTTPFields.Element.Name("Adobe-Subject-Token")!
        let roku = HTTPFields.Element.Name("X-Roku-Reserved-Roku-Connect-Token")!
        _ = try await gateway.get(path, TestGateway.device.with(header, "h").with(roku, "r"))
        _ = try await gateway.get(path + "&ast=p", TestGateway.device.with(roku, "r"))
        _ = try await gateway.get(path, TestGateway.device.with(roku, "r"))
        _ = try await gateway.get(path + "&ast=a&ast=b")
        _ = try await gateway.get(path, TestGateway.device.with(header, String(repeating: "x", count: 16 * 1024 + 1)))
        #expect(gateway.authentication.getSession.requests.map { $0.call?.subjectToken } == ["h", "p", "r", "", ""])
        let longest = String(repeating: "x", count: 16 * 1024)
        _ = try await gateway.get(path, TestGateway.device.with(header, longest))
        #expect(gateway.authentication.getSession.requests.last?.call?.subjectToken == longest)
        _ = try await gateway.post("/reggie/v1/ACME1/regcode", form: "deviceId=d&ast=p")
        #expect(gateway.authentication.createRegistrationCode.requests.first?.call?.subjectToken == "p")
    }
}
