import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The rules for all calls (rest-v2 §1), and the configuration (§2.1).
@Suite struct VendorCommonTests {
    @Test("rest-v2 #4: an unknown service provider") func unknownServiceProvider() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            for id in ["NOBODY", "acme1", "%C3%84"] {
                let reply = try await vendor.get("/api/v2/\(id)/profiles", app.on())
                #expect(reply.status == 400 && reply["code"] == "invalid_parameter_service_provider" && reply["action"] == "none")
            }
        }
    }

    @Test("rest-v2 #5 to #7: the device identifier", arguments: [nil, "serial QUJD", "fingerprint", "fingerprint ", "fingerprint %%", "QUJD"])
    func deviceIdentifier(_ header: String?) async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let headers = app.bearer.merging(header.map { ["AP-Device-Identifier": $0] } ?? [:]) { $1 }
            let reply = try await vendor.get("/api/v2/ACME1/profiles", headers)
            #expect(reply.status == 400 && reply["code"] == "invalid_header_device_identifier")
        }
    }

    @Test("rest-v2 #8 to #10: device information") func deviceInformation() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on("d", ["X-Device-Info": "*"]))["code"] == "invalid_header_device_info")
            for text in ["{\"model\":\"M\"}", "no json"] {
                let info = Data(text.utf8).base64EncodedString()
                #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on("d", ["X-Device-Info": info])).status == 200)
            }
        }
    }

    @Test("rest-v2 #11: a wrong method") func wrongMethod() async throws {
        try await VendorParty.run { vendor in
            let reply = try await vendor.send(.put, "/api/v2/ACME1/profiles")
            #expect(reply.status == 405 && reply.headers[.allow] == "GET" && reply.text == "{}")
            #expect(try await vendor.get("/api/v2/ACME1/nothing").status == 404)
            #expect(try await vendor.get("/api/v2/ACME1/logout").status == 404)
        }
    }

    @Test("rest-v2 #15: the members of an error") func errorMembers() async throws {
        try await VendorParty.run { vendor in
            let reply = try await vendor.get("/api/v2/ACME1/profiles")
            for member in ["action", "code", "message", "helpUrl", "trace"] { #expect(reply[member] != nil) }
            #expect(UUID(uuidString: reply["trace"] ?? "") != nil && reply.headers[.contentType] == "application/json;charset=UTF-8")
        }
    }

    @Test("clients §4.7: three messages by their words") func messages() {
        #expect(VendorErrorCode.invalidIntegration.message.contains("does not exist or is disabled"))
        #expect(VendorErrorCode.invalidServiceProvider.message.contains("service provider parameter value is missing or invalid"))
        let foreign = VendorErrorCode.tokenOfOtherServiceProvider.message
        #expect(foreign.contains("access token") && foreign.contains("invalid service provider"))
    }

    @Test("rest-v2 §3: status and action of the codes") func errorTable() {
        let rows: [(VendorErrorCode, Int, String)] = [
            (.invalidIntegration, 400, "none"), (.preauthorizationDenied, 403, "none"), (.internalServerError, 500, "none"),
            (.tooManyResources, 403, "configuration"), (.tempPassConfiguration, 500, "configuration"),
            (.tokenInvalid, 401, "application-registration"),
            (.profileExpired, 403, "authentication"), (.tempPassUsedUp, 403, "authentication"), (.identityNotRecognized, 403, "authentication"),
            (.networkTimeout, 403, "retry"), (.invalidSession, 400, "none"),
        ]
        for (code, status, action) in rows { #expect(code.status == status && code.action == action, "\(code)") }
        #expect(VendorErrorCode.allCases.count == 47)
    }

    @Test("rest-v2 #17 to #20: configuration") func configuration() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            func mvpds(_ headers: [String: String] = [:]) async throws -> [[String: Any]] {
                let reply = try await vendor.get("/api/v2/ACME1/configuration", app.bearer.merging(headers) { $1 })
                let requestor = try #require(reply.json["requestor"] as? [String: Any])
                #expect(requestor["id"] as? String == "ACME1" && reply.json["time"] as? Int == 1_900_000_000_000)
                return try #require(requestor["mvpds"] as? [[String: Any]])
            }
            let all = try await mvpds()
            #expect(all.compactMap { $0["id"] as? String } == ["CoastCable", "HillTel", "TrialUp", "PromoUp", "NorthCable"])
            #expect(all.compactMap { $0["isTempPass"] as? Bool } == [false, false, true, true, false])
            #expect(all.allSatisfy { $0["platformMappingId"] == nil && $0["isProxy"] as? Bool == false })
            let info = Data(#"{"osName":"tvOS","model":"AppleTV"}"#.utf8).base64EncodedString()
            let apple = try #require(try await mvpds(["X-Device-Info": info]).first)
            #expect(apple["platformMappingId"] as? String == "coast-cable" && apple["boardingStatus"] as? String == "SUPPORTED")
            #expect(apple["enablePlatformServices"] as? Bool == true)
            try await vendor.control(.put, "integrations/ACME1/HillTel", #"{"isEnabled": false}"#)
            #expect(try await mvpds().count == 4)
        }
    }

    @Test("rest-v2 #105: calls of pages") func crossOrigin() async throws {
        try await VendorParty.run { vendor in
            let own = try await vendor.send(.options, "/api/v2/ACME1/profiles", ["Origin": "https://www.acme.example"])
            #expect(own.status == 204 && own.headers[.accessControlAllowHeaders]?.contains("AP-Device-Identifier") == true)
            let foreign = try await vendor.send(.options, "/api/v2/ACME1/profiles", ["Origin": "https://evil.example"])
            #expect(foreign.status == 204 && foreign.headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test("rest-v2 #12 to #14: the throttle") func throttle() async throws {
        try await VendorParty.run(#", "throttles": true"#) { vendor in
            let app = try await vendor.app()
            func call(_ address: String) async throws -> AppleParty.Reply {
                try await vendor.get("/api/v2/ACME1/profiles", app.on("d", ["X-Forwarded-For": address]))
            }
            for _ in 0..<11 { #expect(try await call("198.51.100.1").status == 200) }
            let refused = try await call("198.51.100.1")
            #expect(refused.status == 429 && refused.headers[.contentType] == "text/html" && refused.headers[.retryAfter] == "1")
            #expect(try await call("198.51.100.2").status == 200)
            vendor.clock.advance(by: .milliseconds(1100))
            #expect(try await call("198.51.100.1").status == 200)
            #expect(try await call("198.51.100.1").status == 429)
            try await vendor.control(.put, "behaviour", #"{"throttle": {"by": "peer", "burst": 1}}"#)
            let statuses = [try await call("198.51.100.3").status, try await call("198.51.100.4").status, try await call("198.51.100.5").status]
            #expect(statuses == [200, 200, 429])
            try await vendor.control(.put, "behaviour", #"{"throttle": {"isOn": false}}"#)
            #expect(try await call("198.51.100.5").status == 200)
        }
    }

    @Test("rest-v2 §1.4: the documented timeline") func timeline() {
        var throttle = VendorThrottle()
        let terms = VendorThrottle.Terms(isOn: true)
        func take(_ tenths: Int64) -> Bool {
            let call = VendorCall(
                operation: .profiles, method: "GET", path: "", query: "", parameters: [:], headers: [:], body: [], peer: "192.0.2.1",
                now: .init(milliseconds: tenths * 100))
            return throttle.take(call, terms)
        }
        #expect([0, 3, 6, 9, 12, 13, 14, 15, 16, 17, 18, 21, 22].allSatisfy(take))
        #expect([24, 26, 28].allSatisfy { !take($0) })
        #expect(take(31))
    }
}
