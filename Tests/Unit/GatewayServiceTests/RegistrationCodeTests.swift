internal import Contracts
internal import Faults
internal import Foundation
internal import Hummingbird
internal import HummingbirdTesting
internal import Testing

@Suite struct RegistrationCodeTests {
    let gateway = TestGateway()

    private func decoded(_ text: Any?) throws -> Data { try #require((text as? String).flatMap { Data(base64Encoded: $0) }) }

    private func object(_ text: Any?) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: try decoded(text))
        return try #require(json as? [String: Any])
    }

    @Test("rest-v1 #29: a code without ttl asks for the default and is 201")
    func creates() async throws {
        let reply = try await gateway.post("/reggie/v1/ACME1/regcode", form: "deviceId=dev-7f3a")
        #expect(reply.status == 201)
        #expect(gateway.authentication.createRegistrationCode.requests.map(\.ttlSeconds) == [0])
        #expect((reply.json["expires"] as? Int ?? 0) - (reply.json["generated"] as? Int ?? 0) == 1_800_000)
        #expect(reply.json["mvpd"] is NSNull)
    }

    @Test(
        "rest-v1 #30 #31: ttl", arguments: [("36000", 201, 36000), ("", 201, 0), ("36001", 400, 0), ("abc", 400, 0), ("0", 400, 0), ("-5", 400, 0)])
    func lifetime(text: String, status: Int, seconds: UInt32) async throws {
        let reply = try await gateway.post("/reggie/v1/ACME1/regcode", form: "deviceId=d&ttl=\(text)")
        #expect(reply.status == status)
        if status == 201 { #expect(gateway.authentication.createRegistrationCode.requests.map(\.ttlSeconds) == [seconds]) }
    }

    @Test("rest-v1 #32: info carries the device id and the device in Base64")
    func information() async throws {
        let reply = try await gateway.send(.post, "/reggie/v1/ACME1/regcode?deviceId=dev-7f3a", TestGateway.device.with(.userAgent, "Tv/1.0"))
        let info = try #require(reply.json["info"] as? [String: Any])
        #expect(String(decoding: try decoded(info["deviceId"]), as: UTF8.self) == "dev-7f3a")
        #expect(info["authorizationType"] as? String == "OAUTH2")
        #expect((info["sourceApplicationInformation"] as? [String: String])?["name"] == "Acme TV")
        #expect(info["registrationURL"] as? String == "https://tv.example/activate")
        let device = try object(info["deviceInfo"])
        #expect(device["model"] as? String == "TV 5th Gen")
        #expect((device["version"] as? [String: Any])?["minor"] as? Int == 1)
        #expect((device["operatingSystem"] as? [String: Any])?["name"] as? String == "tvOS")
        #expect((device["browser"] as? [String: Any])?["userAgent"] as? String == "Tv/1.0")
        let display = try #require(device["display"] as? [String: Any])
        #expect(
            ["width", "height", "ppi"].allSatisfy { display[$0] as? Int == 0 } && display["diagonalSize"] is NSNull, "rest-v2 §2.4: 0 where unknown")
    }

    @Test(
        "rest-v2 §2.4: a size of the display is a whole number, and 0 where the device sends none",
        arguments: [("1920", 1920), ("1080.0", 1080), ("", 0), ("-1", 0), ("wide", 0), ("99999999999999999999", 0)])
    func displaySizes(sent: String, shown: Int) async throws {
        let sent =
            #"{"model":"x","osName":"tvOS","connectionPort":4711,"displayWidth":"\#(sent)","displayHeight":"\#(sent)","displayPpi":"\#(sent)"}"#
        let fields = TestGateway.device.with(.deviceInfo, Data(sent.utf8).base64EncodedString())
        let reply = try await gateway.send(.post, "/reggie/v1/ACME1/regcode?deviceId=d", fields)
        let info = try #require(reply.json["info"] as? [String: Any])
        let display = try #require(try object(info["deviceInfo"])["display"] as? [String: Any])
        for name in ["width", "height", "ppi"] { #expect(display[name] as? Int == shown, "\(name)") }
        #expect((try object(info["deviceInfo"])["connection"] as? [String: Any])?["port"] as? String == "4711")
        #expect(display["diagonalSize"] is NSNull)
    }

    @Test("rest-v1 #34 #36: the record is shown and deleted")
    func showsAndDeletes() async throws {
        let shown = try await gateway.get("/reggie/v1/ACME1/regcode/qk7m2xd")
        #expect(shown.status == 200)
        let deleted = try await gateway.send(.delete, "/reggie/v1/ACME1/regcode/QK7M2XD")
        #expect(deleted.status == 204 && deleted.text.isEmpty)
        #expect(gateway.authentication.deleteRegistrationCode.contexts.first?.idempotencyKey != nil)
        #expect(try await gateway.send(.delete, "/reggie/v1/ACME1/regcode/QK7M2XD", [:]).status == 401)
    }

    @Test("rest-v1 #35: a code that is not there is 404")
    func unknown() async throws {
        gateway.authentication.getRegistrationCode.fail(with: Fault(.invalidRegistrationCode, "x"))
        let reply = try await gateway.get("/reggie/v1/BRAVO/regcode/NOPE123")
        #expect(reply.status == 404)
        #expect(reply.json["code"] as? String == "invalid_registration_code")
    }

    @Test("rest-v1 #100: as XML without bearer the record follows the published schema")
    func xml() async throws {
        let reply = try await gateway.get("/reggie/v1/ACME1/regcode/QK7M2XD", [:])
        #expect(
            reply.text
                == #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><ns2:regcode xmlns:ns2="model.mvc.reggie.pass.adobe.com">"#
                + "<id>0b7c7c1e-6a4b-4a52-9d1b-000000000001</id><code>QK7M2XD</code><requestor>ACME1</requestor><mvpd></mvpd>"
                + "<generated>1930384800000</generated><expires>1930386600000</expires>"
                + "<info><deviceId></deviceId><registrationURL>https://tv.example/activate</registrationURL></info></ns2:regcode>")
    }

    @Test("rest-v1 #38: a forwarded address becomes the device's address")
    func forwarded() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1", "::1"])
        let headers = TestGateway.device.with(.forwardedFor, "203.0.113.7")
        let reply = try await gateway.send(.post, "/reggie/v1/ACME1/regcode?deviceId=d", headers, over: .live)
        let info = try #require(reply.json["info"] as? [String: Any])
        let device = try object(info["deviceInfo"])
        #expect((device["connection"] as? [String: Any])?["ipAddress"] as? String == "203.0.113.7")
        #expect(gateway.authentication.createRegistrationCode.requests.first?.call?.clientAddress == "203.0.113.7")
    }

    @Test("rest-v1 #99: from any other peer the header is ignored")
    func notForwarded() async throws {
        let headers = TestGateway.device.with(.forwardedFor, "203.0.113.7")
        _ = try await gateway.send(.post, "/reggie/v1/ACME1/regcode?deviceId=d", headers, over: .live)
        #expect(gateway.authentication.createRegistrationCode.requests.first?.call?.clientAddress == "127.0.0.1")
    }
}
