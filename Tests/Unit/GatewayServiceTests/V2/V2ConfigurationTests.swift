internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import Testing

@Suite("REST v2: the configuration, and what all of its calls share") struct V2ConfigurationTests {
    private let gateway = TestGateway()
    private let path = "/api/v2/ACME1/configuration"
    private let bearer: HTTPFields = [.authorization: "Bearer good"]

    private func requestor(_ headers: HTTPFields) async throws -> [String: Any] {
        let reply = try await gateway.get(path, headers)
        try #require(reply.status == 200)
        return try #require(reply.json["requestor"] as? [String: Any])
    }

    private func mvpds(_ headers: HTTPFields) async throws -> [[String: Any]] {
        try #require(try await requestor(headers)["mvpds"] as? [[String: Any]])
    }

    private static func information(_ json: String) -> String { Data(json.utf8).base64EncodedString() }

    /// - Returns: Status and code of an error that has all that a client reads (rest-v2 §3).
    private func refusal(_ uri: String, _ headers: HTTPFields) async throws -> (status: Int, code: String, action: String) {
        let reply = try await gateway.get(uri, headers)
        #expect(Set(reply.json.keys).subtracting(["details"]) == ["action", "status", "code", "message", "helpUrl", "trace"])
        #expect(reply.json["status"] as? Int == reply.status)
        #expect(UUID(uuidString: reply.json["trace"] as? String ?? "") != nil)
        return (reply.status, try #require(reply.json["code"] as? String), try #require(reply.json["action"] as? String))
    }

    @Test("rest-v2 #17: without device headers the configuration names the service provider")
    func plain() async throws {
        let reply = try await gateway.get(path, bearer)
        #expect(reply.headers[.contentType] == "application/json; charset=utf-8")
        #expect(reply.json["device"] is String && reply.json["clientType"] is String && reply.json["os"] is String && reply.json["time"] is Int)
        let shown = try await requestor(bearer)
        #expect(shown["id"] as? String == "ACME1" && shown["name"] as? String == "Acme One")
        #expect((shown["domains"] as? [[String: Any]])?.first?["name"] as? String == "acme.example")
        #expect(gateway.authentication.verifyAccessToken.requests.last?.api == .v2)
    }

    @Test("rest-v2 #18 #19, clients #92: disabled integrations are not listed; isProxy and isTempPass always stand there")
    func listed() async throws {
        gateway.catalogue.change { configuration in
            configuration.mvpds[2].signIn = .tempPass(TempPass(ttlSeconds: 600))
        }
        let listed = try await mvpds(bearer)
        #expect(listed.map { $0["id"] as? String } == ["NorthCable", "LakeTel", "OpenFiber"])
        #expect(listed.map { $0["isTempPass"] as? Bool } == [false, false, true])
        #expect(listed.allSatisfy { $0["isProxy"] as? Bool == false })
    }

    @Test("rest-v2 #20: on an Apple platform an onboarded MVPD has what single sign-on needs")
    func platform() async throws {
        let tv = Self.information(#"{"model":"AppleTV6,2","osName":"tvOS","primaryHardwareType":"TV"}"#)
        let north = try await mvpds(bearer.with(.deviceInfo, tv))[0]
        #expect(north["boardingStatus"] as? String == "SUPPORTED" && north["platformMappingId"] as? String == "north-cable")
        #expect(north["enablePlatformServices"] as? Bool == true && north["requiredMetadataFields"] == nil)
        let roku = Self.information(#"{"model":"x","osName":"Roku OS"}"#)
        #expect(try await mvpds(bearer.with(.deviceInfo, roku))[0]["boardingStatus"] == nil)
    }

    @Test("rest-v2 #8 to #10 #106, clients §4.9: device information that says little is served, what is no Base64 is not")
    func deviceInformation() async throws {
        let long = #"{"model":"x","osName":"tvOS","osVersion":"\#(String(repeating: "9", count: 300))","isTablet":false,"more":[1]}"#
        for information in ["plain text", #"{"model":"x"}"#, long] {
            let reply = try await gateway.get(path, bearer.with(.deviceInfo, Self.information(information)))
            #expect(reply.status == 200, "\(information)")
        }
        let migrated = Self.information(#"{"model":"x","osName":"tvOS","type":"TV"}"#)
        let encoded = try #require(migrated.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try await gateway.get(path, bearer.with(.deviceInfo, encoded)).json["device"] as? String == "TV")
        #expect(try await refusal(path, bearer.with(.deviceInfo, "~~~")) == (400, "invalid_header_device_info", "none"))
    }

    @Test("rest-v2 #1 to #4 #15, clients §4.7 §4.8: who may not call gets 401 and what to do; the words that clients look for are there")
    func refusals() async throws {
        #expect(try await refusal(path, [:]) == (401, "invalid_access_token_client_application", "application-registration"))
        for wrong in ["Bearer bad", "Basic eDp5", "Bearer", "Bearer a b"] {
            let answer = try await refusal(path, [.authorization: wrong])
            #expect(answer == (401, "invalid_access_token_client_application", "application-registration"), "\(wrong)")
        }
        #expect(try await refusal("/api/v2/ACME1/configuration?access_token=other", bearer).status == 400, "two tokens")
        let unknown = try await gateway.get("/api/v2/NOPE/configuration", bearer)
        #expect(unknown.status == 400 && unknown.json["code"] as? String == "invalid_parameter_service_provider")
        #expect((unknown.json["message"] as? String)?.contains("service provider parameter value is missing or invalid") == true)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.insufficientScope, "x"))
        let foreign = try await gateway.get("/api/v2/BRAVO/configuration", bearer)
        #expect(foreign.status == 401 && foreign.json["code"] as? String == "invalid_access_token_service_provider")
        let message = try #require(foreign.json["message"] as? String)
        #expect(message.contains("access token") && message.contains("invalid service provider"))
        gateway.authentication.verifyAccessToken.fail(with: Fault(.unavailable, "x"))
        let away = try await gateway.get(path, bearer)
        #expect(away.status == 503 && away.headers[.retryAfter] == "1" && away.json["action"] as? String == "retry")
    }

    @Test("the bearer is asked for before anything else is said, also of an unknown service provider")
    func order() async throws {
        #expect(try await refusal("/api/v2/NOPE/configuration", [.authorization: "Bearer bad"]).code == "invalid_access_token_client_application")
    }

    @Test("rest-v2 #11 #105: another method is 405 with Allow; a preflight needs no token and names the headers to a registered page alone")
    func methods() async throws {
        let put = try await gateway.send(.put, path, bearer)
        #expect(put.status == 405 && put.text == "{}" && put.headers[.allow] == "GET, HEAD, OPTIONS")
        let preflight = try await gateway.send(.options, path, [.origin: "https://www.acme.example"])
        #expect(preflight.status == 204 && preflight.headers[.accessControlAllowOrigin] == "https://www.acme.example")
        let allowed = preflight.headers[.accessControlAllowHeaders] ?? ""
        for name in ["AP-Device-Identifier", "AP-Partner-Framework-Status", "AD-Service-Token", "AP-TempPass-Identity"] {
            #expect(allowed.contains(name))
        }
        let foreign = try await gateway.send(.options, path, [.origin: "https://evil.example"])
        #expect(foreign.status == 204 && foreign.headers[.accessControlAllowOrigin] == nil)
        #expect(try await gateway.get(path, bearer.with(.origin, "https://evil.example")).status == 200, "clients §4.15")
    }

    @Test("an address of v2 that there is not is told in v2's form")
    func unknownAddresses() async throws {
        for uri in ["/api/v2/ACME1/nothing", "/api/v2/a%2Fb/configuration"] {
            #expect(try await refusal(uri, bearer) == (404, "not_found", "none"), "\(uri)")
        }
    }

    @Test("rest-v2 §1.1: a slash at the end does no harm, and what clients send beside does not either")
    func tolerated() async throws {
        #expect(try await gateway.get(path + "/", bearer).status == 200)
        let more = bearer.with(.contentType, "application/json").with(.accept, "text/plain")
        #expect(try await gateway.get(path + "?profile=x&other=y", more).status == 200)
    }
}
