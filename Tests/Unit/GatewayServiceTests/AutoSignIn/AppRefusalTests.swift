internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import Testing

/// The refusals of Automatic Sign-In and their errors (apple §4; rest-v2 §1.3, §1.5, §3).
@Suite struct AppRefusalTests {
    let gateway = TestGateway()
    private static let redemption = #"{"value":"\#(TestGateway.value)","bundleId":"example.acme.tv","environment":"production"}"#

    private static let statuses: [(Fault.Code, Int, String)] = [
        (.optInRequired, 403, "none"), (.sessionNotFresh, 401, "authentication"), (.subscriptionRequired, 403, "authentication"),
        (.tooManyFamilies, 409, "none"), (.familyUnknown, 404, "none"), (.sessionUnknown, 404, "none"), (.tokenInvalid, 401, "authentication"),
        (.tokenRevoked, 401, "authentication"), (.tokenReplayed, 401, "authentication"), (.accountLocked, 403, "none"),
        (.environmentMismatch, 400, "none"), (.rotationInProgress, 409, "retry"), (.stepUpRequired, 403, "authentication"),
        (.idempotencyKeyReused, 409, "none"), (.clientUnknown, 400, "configuration"), (.appleTokenSignature, 401, "authentication"),
        (.appleNonceMismatch, 401, "authentication"), (.appleGrantInvalid, 401, "authentication"), (.appleRequestInvalid, 502, "none"),
        (.appleUnavailable, 503, "retry"), (.linkConflict, 409, "none"), (.lastMethod, 409, "none"), (.transferWindowClosed, 410, "none"),
        (.rateLimited, 429, "retry"),
    ]

    @Test(arguments: statuses)
    func everyCodeHasItsStatusAndAction(code: Fault.Code, status: Int, action: String) async throws {
        gateway.autoSignIn.redeemToken.fail(with: Fault(code, "The reason."))
        let reply = try await gateway.post("redeem", json: Self.redemption)
        #expect(reply.status == status)
        #expect(reply.json["code"] as? String == code.rawValue && reply.json["status"] as? Int == status)
        #expect(reply.json["action"] as? String == action && reply.json["message"] as? String == "The reason.")
        #expect(reply.json["helpUrl"] as? String == "https://tv.example/help/errors#\(code.rawValue)")
        #expect((reply.json["trace"] as? String)?.isEmpty == false)
    }

    @Test(
        "Faults of the caller have the successor API's names",
        arguments: [
            (Fault.Code.accessDenied, 401, "invalid_access_token_client_application"),
            (.invalidClient, 401, "invalid_access_token_client_application"),
            (.insufficientScope, 401, "invalid_access_token_service_provider"), (.invalidRequestor, 400, "invalid_parameter_service_provider"),
            (.invalidDeviceID, 400, "invalid_header_device_identifier"), (.authenticationSessionMissing, 403, "authenticated_profile_missing"),
            (.unavailable, 503, "service_unavailable"), (.internal, 500, "internal_server_error"), (.missingResource, 500, "internal_server_error"),
        ])
    func successorNames(code: Fault.Code, status: Int, name: String) async throws {
        gateway.autoSignIn.redeemToken.fail(with: Fault(code, "x"))
        let reply = try await gateway.post("redeem", json: Self.redemption)
        #expect(reply.status == status && reply.json["code"] as? String == name)
        #expect((reply.headers[.wwwAuthenticate] != nil) == (status == 401))
        #expect((reply.headers[.retryAfter] != nil) == (status == 503))
    }

    @Test func aLimitTellsHowLongToWait() async throws {
        gateway.autoSignIn.redeemToken.fail(with: Fault(.rateLimited, "Too many.", retryAfter: .seconds(42)))
        let reply = try await gateway.post("redeem", json: Self.redemption)
        #expect(reply.status == 429 && reply.headers[.retryAfter] == "42")
        gateway.autoSignIn.redeemToken.fail(with: Fault(.appleUnavailable, "Away.", retryAfter: .milliseconds(1500)))
        #expect(try await gateway.post("redeem", json: Self.redemption).headers[.retryAfter] == "2")
    }

    @Test(arguments: [
        ("{", "The body is not JSON"), ("[]", "The body must be a JSON object"), ("{}", "Required 'value' is not present"),
        (#"{"value":null}"#, "Required 'value' is not present"), (#"{"value":7}"#, "Member 'value' must be a string"),
        (#"{"value":""}"#, "Required 'value' is not present"), (#"{"value":"a\u0000"}"#, "Member 'value' must be a string without NUL"),
        (#"{"value":"a","value":"b"}"#, "Member 'value' is present more than once"), (#"{"value":"a"}"#, "Required 'bundleId' is not present"),
        (#"{"value":"a","bundleId":"b"}"#, "Required 'environment' is not present"),
        (#"{"value":"a","bundleId":"b","environment":"moon"}"#, "Member 'environment' must be 'production' or 'sandbox'"), ("", "Required 'value'"),
    ])
    func aBadBodyIs400AndNamesTheMember(body: String, message: String) async throws {
        let reply = try await gateway.post("redeem", json: body)
        #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_request")
        #expect((reply.json["message"] as? String)?.hasPrefix(message) == true, "\(reply.text)")
        #expect(gateway.autoSignIn.redeemToken.requests.isEmpty)
    }

    @Test func aRefusedBodyIsNotQuoted() async throws {
        for body in [#"{"value": secret-value}"#, #"{"value":"secret-value","bundleId":"b","environment":"secret-value"}"#, #"{"secret-value""#] {
            let reply = try await gateway.post("redeem", json: body)
            #expect(reply.status == 400 && !reply.text.contains("secret-value"))
        }
    }

    @Test func anotherMediaTypeAndAnOversizedBodyAreRefused() async throws {
        let form = try await gateway.post("redeem", json: "value=a", TestGateway.app.with(.contentType, "application/x-www-form-urlencoded"))
        #expect(form.status == 400 && form.json["message"] as? String == "The body must be application/json")
        let large = try await gateway.post("redeem", json: String(repeating: " ", count: 9000))
        #expect(large.status == 413 && large.json["code"] as? String == "request_too_large")
    }

    @Test(arguments: [
        nil, "", "fingerprint", "fingerprint ", "fingerprint !!!", "print ZGV2", "ZGV2", "fingerprint ZGV2 ZGV2", "fingerprint AAA=",
        "fingerprint " + Data(String(repeating: "x", count: 513).utf8).base64EncodedString(),
    ])
    func aDeviceMustNameItself(header: String?) async throws {
        let reply = try await gateway.post("redeem", json: Self.redemption, TestGateway.app.with(.apDeviceIdentifier, header))
        #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_header_device_identifier", "\(reply.text)")
    }

    @Test(arguments: ["fingerprint ZGV2LTdmM2E", "fingerprint ZGV2LTdmM2E=", "fingerprint  ZGV2LTdmM2E="])
    func theIdIsReadWithAndWithoutPadding(header: String) async throws {
        gateway.autoSignIn.redeemToken.answer(with: RedeemedToken(session: TestGateway.session))
        #expect(try await gateway.post("redeem", json: Self.redemption, TestGateway.app.with(.apDeviceIdentifier, header)).status == 200)
        #expect(gateway.autoSignIn.redeemToken.requests.first?.call?.deviceID == "dev-7f3a")
    }

    @Test("rest-v2 §1.3: device information may be absent or no object, but must be Base64")
    func deviceInformation() async throws {
        gateway.autoSignIn.redeemToken.answer(with: RedeemedToken(session: TestGateway.session))
        for header in [nil, "", Data("{".utf8).base64EncodedString()] {
            #expect(try await gateway.post("redeem", json: Self.redemption, TestGateway.app.with(.deviceInfo, header)).status == 200)
        }
        let reply = try await gateway.post("redeem", json: Self.redemption, TestGateway.app.with(.deviceInfo, "!!!"))
        #expect(reply.status == 400 && reply.json["code"] as? String == "invalid_header_device_info")
    }

    @Test(arguments: [nil, "a b", "ä", String(repeating: "k", count: 129)])
    func aChangeNeedsAnIdempotencyKey(key: String?) async throws {
        let reply = try await gateway.post("redeem", json: Self.redemption, TestGateway.app.with(.idempotencyKey, key))
        #expect(reply.status == 400 && (reply.json["message"] as? String)?.contains("'Idempotency-Key'") == true, "\(reply.text)")
        #expect(gateway.autoSignIn.redeemToken.requests.isEmpty)
    }

    @Test("the longest key, of 128 visible characters, and the longest id, of 512 characters, are passed on as they are", arguments: ["!", "~"])
    func longestNames(character: String) async throws {
        gateway.autoSignIn.redeemToken.answer(with: RedeemedToken(session: TestGateway.session))
        let (key, id) = (String(repeating: character, count: 128), String(repeating: "é", count: 511) + character)
        let headers = TestGateway.app.with(.idempotencyKey, key).with(.apDeviceIdentifier, "fingerprint " + Data(id.utf8).base64EncodedString())
        #expect(try await gateway.post("redeem", json: Self.redemption, headers).status == 200)
        let request = try #require(gateway.autoSignIn.redeemToken.requests.last)
        #expect(request.idempotencyKey == key && request.call?.deviceID == id)
    }

    @Test("rest-v2 §1.5: bearer, requestor, token, device, key, body, in this order")
    func order() async throws {
        let nothing: HTTPFields = [.contentType: "application/json"]
        let none = try await gateway.send(.post, "/auto-signin/v1/NOBODY/redeem", nothing, body: "{")
        #expect(none.status == 401 && none.json["code"] as? String == "invalid_access_token_client_application")
        let bad = try await gateway.send(.post, "/auto-signin/v1/NOBODY/redeem", nothing.with(.authorization, "Bearer bad"), body: "{")
        #expect(bad.status == 401, "a problem is told to the bearer of a good token only")
        let good = nothing.with(.authorization, "Bearer good")
        let requestor = try await gateway.send(.post, "/auto-signin/v1/NOBODY/redeem", good, body: "{")
        #expect(requestor.json["code"] as? String == "invalid_parameter_service_provider")
        let device = try await gateway.post("redeem", json: "{", good)
        #expect(device.json["code"] as? String == "invalid_header_device_identifier")
        let key = try await gateway.post("redeem", json: "{", good.with(.apDeviceIdentifier, TestGateway.deviceIdentifier))
        #expect((key.json["message"] as? String)?.contains("'Idempotency-Key'") == true)
    }

    @Test func unknownAddressesAndMethodsAreRefusedInTheSameForm() async throws {
        for path in ["/auto-signin/v1/ACME1/nothing", "/apple/v1/ACME1"] {
            let reply = try await gateway.get(path)
            #expect(reply.status == 404 && reply.json["code"] as? String == "not_found")
        }
        let method = try await gateway.get("/auto-signin/v1/ACME1/redeem")
        #expect(method.status == 405 && method.json["code"] as? String == "method_not_allowed" && method.headers[.allow] == "POST, OPTIONS")
    }

    @Test func pagesOfTheRequestorMayCall() async throws {
        let preflight = try await gateway.send(.options, "/auto-signin/v1/ACME1/redeem", [.origin: "https://acme.example"])
        #expect(preflight.status == 204 && preflight.headers[.accessControlAllowOrigin] == "https://acme.example")
        let allowed = preflight.headers[.accessControlAllowHeaders] ?? ""
        #expect(allowed.contains("AP-Device-Identifier") && allowed.contains("Idempotency-Key"))
        let foreign = try await gateway.send(.options, "/auto-signin/v1/ACME1/redeem", [.origin: "https://other.example"])
        #expect(foreign.headers[.accessControlAllowOrigin] == nil)
    }

    @Test func theCallsOfDevicesAreThrottledAndOthersAreNot() {
        for path in ["/auto-signin/v1/ACME1/redeem", "/auto-signin/v1/ACME1/tokens", "/apple/v1/ACME1/signin", "/apple/v1/ACME1/web"] {
            #expect(ThrottledPaths.contains(path), "\(path)")
        }
        for path in [
            "/auto-signin/v1/ACME1/accounts/a/revoke", "/auto-signin/v1/ACME1/tokens/f/rotate", "/apple/v1/callback", "/apple/v1/notifications",
            "/devices",
        ] {
            #expect(!ThrottledPaths.contains(path), "\(path)")
        }
    }

    @Test func theHelpPageExplainsEachCode() async throws {
        let page = try await gateway.get("/help/errors", [:]).text
        for row in AutoSignInErrors.rows { #expect(page.components(separatedBy: #"id="\#(row.code)""#).count == 2, "\(row.code)") }
    }
}
