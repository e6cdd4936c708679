internal import Contracts
internal import Faults
internal import Foundation
internal import Hummingbird
internal import Testing

@Suite struct BearerTests {
    let gateway = TestGateway()
    private let uri = "/api/v1/authorize?\(TestGateway.deviceQuery)&resource=r"

    @Test(
        "rest-v1 #10 #11 #12: token faults are JSON, whatever the format",
        arguments: [(Fault.Code.accessDenied, 401), (.invalidClient, 403), (.insufficientScope, 403)])
    func faults(code: Fault.Code, status: Int) async throws {
        gateway.authorization.authorize.fail(with: Fault(code, "no"))
        let reply = try await gateway.get(uri, TestGateway.device.with(.accept, "application/xml"))
        #expect(reply.status == status)
        #expect(reply.text == #"{"error":"\#(code.rawValue)"}"#)
        #expect(reply.headers[.cacheControl] == "no-store")
    }

    @Test(arguments: [nil, "Basic Zm9vOmJhcg==", "Bearer", "Bearer a b"])
    func absentOrMalformedBearerIsAccessDenied(header: String?) async throws {
        let reply = try await gateway.get(uri, TestGateway.device.with(.authorization, header))
        #expect(reply.status == 401)
        #expect(reply.json["error"] as? String == "access_denied")
        #expect(gateway.authorization.authorize.requests.isEmpty)
    }

    @Test func tokenMayStandInTheQuery() async throws {
        let reply = try await gateway.get(uri + "&access_token=good", TestGateway.device.with(.authorization, nil))
        #expect(reply.status == 200)
        #expect(gateway.authorization.authorize.requests.first?.call?.accessToken == "good")
    }

    @Test func twoDifferentTokensAreAnInvalidRequest() async throws {
        let different = try await gateway.get(uri + "&access_token=other")
        #expect(different.status == 400)
        #expect(different.text == #"{"error":"invalid_request"}"#)
        #expect(try await gateway.get(uri + "&access_token=good").status == 200)
    }

    @Test func enhancedErrorsAreAddedToTokenFaults() async throws {
        let reply = try await gateway.get(
            "/api/v1/authorize?requestor=BRAVO&deviceId=d&resource=r", TestGateway.device.with(.authorization, nil))
        #expect(reply.json["error"] as? String == "access_denied")
        #expect(reply.json["code"] as? String == "invalid_access_token_client_application")
        #expect(reply.json["action"] as? String == "application-registration")
        #expect(reply.json["status"] as? Int == 401)
    }

    @Test func optionalBearerMustBeValidWhenSent() async throws {
        #expect(try await gateway.get("/api/v1/config/ACME1", [:]).status == 200)
        #expect(try await gateway.get("/api/v1/config/ACME1", [.authorization: "Bearer stale"]).status == 401)
        _ = try await gateway.get("/reggie/v1/ACME1/regcode/QK7M2XD", [:])
        _ = try await gateway.get("/reggie/v1/ACME1/regcode/QK7M2XD")
        #expect(gateway.authentication.getRegistrationCode.requests.map(\.accessToken) == ["", "good"])
    }

    @Test func aBrokenDependencyIsNeverABadCredential() async throws {
        gateway.authentication.verifyAccessToken.fail(with: Fault(.unavailable, "away", retryAfter: .milliseconds(1500)))
        let reply = try await gateway.get("/api/v1/authorize?requestor=ACME1")
        #expect(reply.status == 503)
        #expect(reply.headers[.retryAfter] == "2")
    }

    @Test("who sends a long body is known before it is read; a short one is judged with the rest")
    func longBodyComesAfterTheBearer() async throws {
        let uri = "/reggie/v1/ACME1/regcode"
        let long = "deviceId=d&generic=" + String(repeating: "x", count: 20_000)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.accessDenied, "no"))
        let refused = try await gateway.post(uri, form: long)
        #expect(refused.status == 401)
        #expect(refused.text == #"{"error":"access_denied"}"#)
        #expect(gateway.authentication.createRegistrationCode.requests.isEmpty)
        #expect(try await gateway.post(uri, form: "deviceId=d").status == 201)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.insufficientScope, "another API's"))
        // The length of the body, here too much, is judged next.
        #expect(try await gateway.post(uri, form: long).status == 413)
    }

    @Test("a body is short up to 8,192 octets: then nobody is asked for its sender first")
    func longestUnknownBody() async throws {
        func form(_ octets: Int) -> String { "deviceId=d&x=".padding(toLength: octets, withPad: "x", startingAt: 0) }
        #expect(try await gateway.post("/reggie/v1/ACME1/regcode", form: form(8192)).status == 201)
        #expect(gateway.authentication.verifyAccessToken.requests.isEmpty)
        #expect(try await gateway.post("/reggie/v1/ACME1/regcode", form: form(8193)).status == 413)
        #expect(gateway.authentication.verifyAccessToken.requests.count == 1)
    }

    @Test("an administrator's bearer is one header of one token, whose scheme is written in either case")
    func administrators() async throws {
        var twice: HTTPFields = [.authorization: "Bearer good"]
        twice.append(.init(name: .authorization, value: "Bearer good"))
        for headers in [twice, [:], [.authorization: "Basic Z29vZA=="], [.authorization: "Bearer"], [.authorization: "Bearer a b"]] as [HTTPFields] {
            #expect(try await gateway.get("/admin/v1/administrator", headers).status == 401)
        }
        #expect(try await gateway.get("/admin/v1/administrator?access_token=good", [:]).status == 401, "addresses end up in logs")
        #expect(gateway.administration.getAdministrator.requests.isEmpty)
        #expect(try await gateway.get("/admin/v1/administrator", [.authorization: "bEARER good"]).status == 200)
        #expect(gateway.administration.getAdministrator.requests.last?.token == "good")
    }
}
