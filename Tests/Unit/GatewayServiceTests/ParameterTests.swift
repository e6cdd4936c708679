internal import Contracts
internal import Faults
internal import Foundation
internal import Testing

@Suite struct ParameterTests {
    let gateway = TestGateway()

    @Test("rest-v1 #17: a missing deviceId is 400 and is named")
    func missingDevice() async throws {
        let reply = try await gateway.get("/api/v1/checkauthn?requestor=ACME1")
        #expect(reply.status == 400)
        #expect(reply.json["message"] as? String == "Required 'deviceId' is not present")
    }

    @Test("rest-v1 #18: device information that is no Base64 is invalid_device_info")
    func notBase64() async throws {
        let reply = try await gateway.get("/api/v1/checkauthn?requestor=BRAVO&deviceId=d", TestGateway.device.with(.deviceInfo, "***"))
        #expect(reply.status == 400)
        #expect(reply.json["code"] as? String == "invalid_device_info")
    }

    @Test("rest-v1 §2.4: what must be there must be a text", arguments: ["7", "true", "null", "[\"Linux\"]", "{}", "\"\""])
    func noTextIsNoSystem(value: String) async throws {
        for information in ["{\"model\":\"x\",\"osName\":\(value)}", "{\"model\":\(value),\"osName\":\"Linux\"}"] {
            var headers = TestGateway.device
            headers[.deviceInfo] = Data(information.utf8).base64EncodedString()
            let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)", headers)
            #expect(reply.status == 400, "\(information)")
        }
        #expect(gateway.authentication.getSession.requests.isEmpty)
    }

    @Test("what a device says of itself is bounded, and a text that is too long is named", arguments: ["deviceType", "deviceUser", "appId"])
    func longTexts(name: String) async throws {
        for (length, status) in [(512, 200), (513, 400)] {
            let text = String(repeating: "x", count: length)
            let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)&\(name)=\(text)")
            #expect(reply.status == status)
            if status == 400 { #expect(reply.text.contains(name)) }
        }
        var headers = TestGateway.device
        let long = #"{"model":"x","osName":"Linux","version":"\#(String(repeating: "x", count: 4096))"}"#
        headers[.deviceInfo] = Data(long.utf8).base64EncodedString()
        #expect(try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)", headers).status == 400)
    }

    @Test("rest-v1 #19: device information without osName is 400, in the header and in the form")
    func noOperatingSystem() async throws {
        let encoded = Data(#"{"model":"x"}"#.utf8).base64EncodedString()
        let header = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)", TestGateway.device.with(.deviceInfo, encoded))
        let form = try await gateway.post(
            "/reggie/v1/ACME1/regcode", form: "deviceId=d&device_info=\(encoded)", TestGateway.device.with(.deviceInfo, nil))
        #expect(header.status == 400 && form.status == 400)
    }

    @Test(
        "rest-v1 #20: URL-encoded, URL-safe and unpadded device information is accepted",
        arguments: [
            Data(#"{"model":"~~?","osName":"tvOS"}"#.utf8).base64EncodedString().replacing("=", with: "%3D"),
            Data(#"{"model":"~~?>","osName":"tvOS"}"#.utf8).base64EncodedString().replacing("=", with: "").replacing("/", with: "_").replacing(
                "+", with: "-"),
        ])
    func tolerantDeviceInformation(encoded: String) async throws {
        let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)", TestGateway.device.with(.deviceInfo, encoded))
        #expect(reply.status == 200)
        #expect(gateway.authentication.getSession.requests.first?.call?.device?.osName == "tvOS")
    }

    @Test func deviceInformationInAQuerySurvivesPlusSigns() async throws {
        let encoded = Data(#"{"model":"~~~~>>>>","osName":"Roku","x":[1],"displayWidth":1920}"#.utf8).base64EncodedString()
        #expect(encoded.contains("+"))
        let reply = try await gateway.get(
            "/api/v1/checkauthn?\(TestGateway.deviceQuery)&device_info=\(encoded)", TestGateway.device.with(.deviceInfo, nil))
        #expect(reply.status == 200)
        let device = try #require(gateway.authentication.getSession.requests.first?.call?.device)
        #expect(device.model == "~~~~>>>>" && device.osName == "Roku OS" && device.displayWidth == "1920")
    }

    private static func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }

    /// - Parameter inHeader: False: it is sent as a parameter.
    private func asked(_ encoded: String, inHeader: Bool = true) async throws -> (status: Int, device: DeviceInformation?) {
        let parameter = inHeader ? "" : "&device_info=\(Self.escaped(encoded))"
        let reply = try await gateway.get(
            "/api/v1/checkauthn?\(TestGateway.deviceQuery)\(parameter)", TestGateway.device.with(.deviceInfo, inHeader ? encoded : nil))
        return (reply.status, gateway.authentication.getSession.requests.last?.call?.device)
    }

    @Test(
        "rest-v1 #118, RFC 2045 §6.8: device information in lines of 76, as android.util.Base64 writes it, is the same as in one",
        arguments: ["\n", "\r\n", "\n\t", "\r\n ", " \n"])
    func wrapped(end: String) async throws {
        let text = #"{"model":"~~~~>>>> of a model with a name that fills more than one line","osName":"Android","version":"1.2.3.4"}"#
        let encoded = Data(text.utf8).base64EncodedString()
        let lines = stride(from: 0, to: encoded.count, by: 76).map { String(encoded.dropFirst($0).prefix(76)) }
        #expect(encoded.contains("+") && lines.count > 1)
        let plain = try await asked(encoded, inHeader: false)
        #expect(plain.status == 200 && plain.device?.osName == "Android")
        for wrapped in [lines.joined(separator: end) + end, end + lines.joined(separator: end)] {
            let found = try await asked(wrapped, inHeader: false)
            #expect(found.status == 200 && found.device == plain.device, "\(wrapped)")
        }
        let header = try await asked(Self.escaped(lines.joined(separator: end) + end))
        #expect(header.status == 200 && header.device?.model == plain.device?.model)
    }

    @Test("what is too long stays so, though ends of lines are a part of it; what is no Base64 stays so")
    func wrappedTooLong() async throws {
        let encoded = Data(#"{"model":"x","osName":"Android"}"#.utf8).base64EncodedString()
        #expect(try await asked(encoded + String(repeating: "\n", count: 4096 - encoded.count), inHeader: false).status == 200)
        #expect(try await asked(encoded + String(repeating: "\n", count: 4097 - encoded.count), inHeader: false).status == 400)
        #expect(try await asked("\n*\n", inHeader: false).status == 400)
    }

    @Test(
        "rest-v1 #119, RFC 8259: device information that is no JSON to the letter is 400",
        arguments: [
            #"{"model":"x","osName":"tvOS","y":[1,]}"#, #"{"model":"x","osName":"tvOS","y":-01}"#, #"{"model":"x","osName":"tvOS",}"#,
            #"{"model":"x","osName":"tvOS","y":+1}"#, #"{"model":"x","osName":"tvOS","y":.5}"#, #"{"model":"x","osName":"tvOS"} x"#,
            #"{"model":"x","osName":"tvOS","y":NaN}"#, #"{'model':'x','osName':'tvOS'}"#, #"{"model":"x","osName":"tvOS","y":"\x"}"#, "", "[]", "7",
        ])
    func looseInformation(text: String) async throws {
        #expect(try await asked(Data(text.utf8).base64EncodedString() + (text.isEmpty ? "====" : "")).status == 400)
    }

    @Test(
        "a raw control character or half of a surrogate pair costs the member that holds it, and no other",
        arguments: ["a\u{1}b", "a\tb", "a\nb", "\\ud800", "\\udc00x", "\\ud83d\\ud83d", "\\ud800\\n"])
    func flawedMembers(flawed: String) async throws {
        let text = "{\"model\":\"x\",\"osName\":\"tvOS\",\"manufacturer\":\"\(flawed)\",\"\(flawed)\":1,\"version\":\"5\",\"y\":[\"\(flawed)\"]}"
        let found = try await asked(Data(text.utf8).base64EncodedString())
        #expect(found.status == 200 && found.device?.manufacturer == "" && found.device?.version == "5" && found.device?.osName == "tvOS")
        let needed = "{\"model\":\"\(flawed)\",\"osName\":\"tvOS\"}"
        #expect(try await asked(Data(needed.utf8).base64EncodedString()).status == 400)
    }

    @Test("of doubled members the last wins, a mark at the start says nothing, and numbers and flags are texts")
    func doubledMembers() async throws {
        let text =
            "\u{feff}"
            + #"{"model":"a","osName":"tvOS","model":"b","displayWidth":1920.0,"displayHeight":1e3,"displayPpi":2.5,"connectionSecure":true}"#
        let device = try #require(try await asked(Data(text.utf8).base64EncodedString()).device)
        #expect([device.model, device.displayWidth, device.displayHeight, device.displayPpi] == ["b", "1920", "1000", "2.5"])
        #expect(device.connectionSecure == "true")
    }

    @Test func unlistedRestrictedValuesBecomeUnknown() async throws {
        let encoded = Data(#"{"model":"m","osName":"BeOS","type":"Toaster","browserName":"Chrome"}"#.utf8).base64EncodedString()
        _ = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)", TestGateway.device.with(.deviceInfo, encoded))
        let device = try #require(gateway.authentication.getSession.requests.first?.call?.device)
        #expect([device.osName, device.type, device.browserName] == ["Unknown", "Unknown", "Chrome"])
    }

    @Test(
        "rest-v1 #21: an unknown or missing requestor is 400 on each endpoint",
        arguments: [
            "/api/v1/config/NOPE", "/api/v1/checkauthn?deviceId=d&requestor=NOPE", "/api/v1/tokens/authn?deviceId=d",
            "/api/v1/checkauthn/QK7M2XD?requestor=NOPE", "/api/v1/checkauthn/QK7M2XD", "/api/v1/tokens/authn?deviceId=d&requestor=NOPE",
            "/api/v1/authorize?deviceId=d&requestor=NOPE&resource=r", "/api/v1/tokens/authz?deviceId=d&requestor=NOPE&resource=r",
            "/api/v1/mediatoken?deviceId=d&requestor=NOPE&resource=r", "/api/v1/tokens/media?deviceId=d&resource=r",
            "/api/v1/authenticate?requestor_id=NOPE&mso_id=m&reg_code=c&domain_name=d&redirect_url=r",
            "/sp/metadata?requestor=NOPE",
        ])
    func unknownRequestor(uri: String) async throws {
        #expect(try await gateway.get(uri).status == 400)
    }

    @Test func theSameNameWithTwoValuesIsRefusedAndWithOneIsNot() async throws {
        let twice = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)&deviceId=other")
        #expect(twice.status == 400)
        let same = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)&deviceId=dev-7f3a")
        #expect(same.status == 200)
        let mixed = try await gateway.post("/reggie/v1/ACME1/regcode?deviceId=a", form: "deviceId=b")
        #expect(mixed.status == 400)
    }

    @Test(arguments: [0, 14, 15, 100])
    func howManyOthersThereAreDoesNotMatter(count: Int) async throws {
        let others = (0..<count).map { "&other\($0)=x" }.joined()
        #expect(try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)\(others)").status == 200)
        #expect(try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)\(others)&deviceId=dev-7f3a").status == 200)
        #expect(try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)\(others)&deviceId=other").status == 400)
        #expect(try await gateway.get("/api/v1/checkauthn?requestor=ACME1\(others)").status == 400)
    }

    @Test(
        arguments: [
            "deviceId=%FF", "deviceId=%C3%28", "deviceId=%zz", "deviceId=a%00b", "deviceId=%0a", "deviceId=" + String(repeating: "x", count: 513),
            "deviceId=%7f", "deviceId=%1f", "deviceId=%C2%80", "deviceId=" + String(repeating: "%C3%A9", count: 513),
        ])
    func garbageInTheDeviceIdIs400(parameter: String) async throws {
        #expect(try await gateway.get("/api/v1/checkauthn?requestor=ACME1&\(parameter)").status == 400)
        #expect(gateway.authentication.getSession.requests.isEmpty)
    }

    @Test("rest-v1 §2.5: a device id has up to 512 characters, which may be any that are printed", arguments: ["x", " ", "~", "%C3%A9"])
    func longestDeviceID(character: String) async throws {
        let id = String(repeating: character == " " ? "%20" : character, count: 512)
        #expect(try await gateway.get("/api/v1/checkauthn?requestor=ACME1&deviceId=\(id)").status == 200)
        #expect(gateway.authentication.getSession.requests.first?.call?.deviceID.unicodeScalars.count == 512)
    }

    @Test("rest-v1 #37: dummy is refused where no code is created")
    func dummyDevice() async throws {
        #expect(try await gateway.get("/api/v1/checkauthn?requestor=ACME1&deviceId=dummy").status == 400)
        #expect(try await gateway.send(.post, "/reggie/v1/ACME1/regcode?deviceId=dummy").status == 201)
    }

    @Test func problemsAreToldInTheDocumentedOrder() async throws {
        let noDevice = TestGateway.device.with(.deviceInfo, nil)
        let requestor = try await gateway.get("/api/v1/authorize", noDevice)
        #expect((requestor.json["message"] as? String)?.contains("requestor") == true)
        let device = try await gateway.get("/api/v1/authorize?requestor=ACME1", noDevice)
        #expect((device.json["message"] as? String)?.contains("deviceId") == true)
        var strict = DemoCatalogue.configuration
        for index in strict.requestors.indices { strict.requestors[index].requiresDeviceInformation = true }
        let information = try await TestGateway(configuration: strict).get("/api/v1/authorize?requestor=ACME1&deviceId=d", noDevice)
        #expect((information.json["message"] as? String)?.contains("X-Device-Info") == true)
        let resource = try await gateway.get("/api/v1/authorize?requestor=ACME1&deviceId=d")
        #expect(resource.json["message"] as? String == "Required 'resource' is not present")
    }

    @Test func aBadBearerIsToldBeforeAnyOtherProblem() async throws {
        let reply = try await gateway.get("/api/v1/authorize", TestGateway.device.with(.authorization, "Bearer stale"))
        #expect(reply.status == 401)
        #expect(gateway.authentication.verifyAccessToken.requests.map(\.accessToken) == ["stale"])
    }

    @Test func aGoodRequestMakesExactlyOneCall() async throws {
        _ = try await gateway.get("/api/v1/authorize?\(TestGateway.deviceQuery)&resource=ACME1-NEWS")
        #expect(gateway.authorization.authorize.requests.count == 1)
        #expect(gateway.authentication.verifyAccessToken.requests.isEmpty)
        #expect(gateway.authorization.authorize.requests.first?.call?.deviceID == "dev-7f3a")
    }
}
