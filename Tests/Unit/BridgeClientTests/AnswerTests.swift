import Clocks
import Faults
import OutboundHttp
import Testing

@testable import BridgeClient

/// The answers (bridge §5.2, §12, §14.3).
@Suite struct AnswerTests {
    static func answer(_ status: Int = 200, _ body: String, headers: [(name: String, value: String)] = []) -> OutboundAnswer {
        OutboundAnswer(status: status, headers: headers, body: Array(body.utf8))
    }

    static func failure(_ answer: OutboundAnswer) -> BridgeFailure? {
        do throws(BridgeFailure) {
            _ = try BridgedProfile.all(answer)
            return nil
        } catch { return error }
    }

    @Test("bridge B101: what is not the API's document is no answer")
    func unusable() {
        let deep = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
        let bodies = [
            "", "<html>down for maintenance</html>", "[]", "null", #"{"profiles":[]}"#, #"{"other":{}}"#, #"{"profiles":{},"x":\#(deep)}"#,
            #"{"profiles":{"M":{}}}"#, "{\"profiles\":{},\"x\":\"\\u0000\"}", #"{"profiles":{}} trailing"#,
        ]
        for body in bodies {
            let failure = Self.failure(Self.answer(200, body))
            if case .unusable? = failure {} else { Issue.record("\(body.prefix(60)): \(String(describing: failure))") }
        }
        let invalid = OutboundAnswer(status: 200, body: Array(#"{"profiles":{},"x":""#.utf8) + [0xc3, 0x28] + Array(#""}"#.utf8))
        if case .unusable? = Self.failure(invalid) {} else { Issue.record("invalid UTF-8 passed") }
    }

    @Test("bridge B100: statuses that say that this is no API v2, and those that say no")
    func statuses() {
        for status in [301, 302, 404, 405] { #expect(Self.failure(Self.answer(status, "")) == .wrongAddress(status)) }
        #expect(Self.failure(Self.answer(401, "anything")) == .unauthorized)
        #expect(Self.failure(Self.answer(500, "")) == .serverError(500))
        #expect(Self.failure(Self.answer(503, "<html>")) == .serverError(503))
        #expect(Self.failure(Self.answer(400, "<html>")) == .badRequest(400))
        #expect(Self.failure(Self.answer(429, "", headers: [("retry-after", "7")])) == .throttled(retryAfter: .seconds(7)))
        #expect(Self.failure(Self.answer(429, "")) == .throttled(retryAfter: .seconds(1)))
        #expect(Self.failure(Self.answer(429, "", headers: [("Retry-After", "99999999")])) == .throttled(retryAfter: .seconds(600)))
        guard case .refused(let refusal)? = Self.failure(Self.answer(400, #"{"error":"invalid_client"}"#)) else {
            Issue.record("an OAuth error is no refusal")
            return
        }
        #expect(refusal.code == "invalid_client")
    }

    @Test("a configuration that is wrong upstream is not an outage")
    func theirConfiguration() {
        let body = #"{"status":500,"code":"invalid_configuration_platform","action":"configuration","message":"m"}"#
        guard case .refused(let refusal)? = Self.failure(Self.answer(500, body)) else {
            Issue.record("not refused")
            return
        }
        #expect(BridgeMeaning(refusal) == .theirFault)
        #expect(Self.failure(Self.answer(500, #"{"status":500,"code":"internal_server_error"}"#)) == .serverError(500))
    }

    @Test("registration and token: 200 and 201, scopes as list and as words, and a life by our clock")
    func credentials() throws {
        let listed = try BridgeCredentials(Self.answer(201, #"{"client_id":"c","client_secret":"s","scopes":["api:client:v2"]}"#))
        let worded = try BridgeCredentials(Self.answer(200, #"{"client_id":"c","client_secret":"s","scope":"a api:client:v2"}"#))
        #expect(listed.scopes == ["api:client:v2"] && worded.scopes == ["a", "api:client:v2"])
        #expect(throws: BridgeFailure.self) { try BridgeCredentials(Self.answer(201, #"{"client_id":"c"}"#)) }
        let now = Timestamp(seconds: 1_000_000)
        let bearer = try BridgeBearer(Self.answer(201, #"{"access_token":"t","expires_in":21600}"#), now: now)
        #expect(bearer.end == now + .seconds(21_570) && bearer.life == .seconds(21_600))
        let endless = try BridgeBearer(Self.answer(200, #"{"access_token":"t","expires_in":"9223372036854775807"}"#), now: now)
        #expect(endless.life == .seconds(31_536_000))
        for body in [#"{"access_token":"a b","expires_in":1}"#, #"{"access_token":"t"}"#, #"{"access_token":"t","expires_in":-1}"#] {
            #expect(throws: BridgeFailure.self) { try BridgeBearer(Self.answer(200, body), now: now) }
        }
    }

    @Test("bridge B30: an id that is none is dropped, the others stay")
    func list() throws {
        let body = """
            {"requestor":{"id":"ACME1","domains":[{"name":"acme.example"}],"mvpds":[
            {"id":"CoastCable","displayName":"Coast Cable","logoUrl":"https://l.example/c.png","isTempPass":false},
            {"id":"bad id"},{"id":"CoastCable"},{"id":"TrialUp","isTempPass":true,"logoUrl":"javascript:x"},{}]}}
            """
        let list = try BridgedList(Self.answer(200, body))
        #expect(list.providers.map(\.id) == ["CoastCable", "TrialUp"])
        #expect(list.providers[1].isTemporaryPass && list.providers[1].logoURL.isEmpty && list.providers[1].displayName == "TrialUp")
        #expect(list.dropped == ["bad id", "CoastCable", ""])
        #expect(list.domains == ["acme.example"])
        #expect(throws: BridgeFailure.self) { try BridgedList(Self.answer(200, #"{"requestor":{}}"#)) }
    }

    @Test("a new sign-in: browser, done, incomplete, partner, and what is none of them")
    func signIns() throws {
        let browser = #"{"actionName":"authenticate","url":"/api/v2/authenticate/ACME1/QK7M2XD","code":"QK7M2XD","notAfter":"1900000000000"}"#
        #expect(
            try BridgedSignIn(Self.answer(200, browser))
                == .browser(path: "/api/v2/authenticate/ACME1/QK7M2XD", code: "QK7M2XD", end: Timestamp(milliseconds: 1_900_000_000_000)))
        #expect(try BridgedSignIn(Self.answer(200, #"{"actionName":"authorize","reasonType":"temporary"}"#)) == .done)
        #expect(
            try BridgedSignIn(Self.answer(200, #"{"actionName":"resume","missingParameters":["domain"]}"#)) == .incomplete(missing: ["domainName"]))
        for body in [#"{"actionName":"authenticate"}"#, #"{"actionName":"dance"}"#, "{}"] {
            #expect(throws: BridgeFailure.self) { try BridgedSignIn(Self.answer(200, body)) }
        }
    }

    @Test("profiles: times as numbers and as digits, both words for encrypted, a kind that came later")
    func profiles() throws {
        let body = """
            {"profiles":{"M":{"notBefore":1,"notAfter":"2000","type":"regular","attributes":{"userID":{"value":"u1","state":"plain"},
            "zip":{"value":"xyz==","state":"enc"},"maxRating":{"value":{"MPAA":"PG"},"state":"encrypted"},"none":{"state":"plain"}}},
            "N":{"notBefore":1,"notAfter":2,"type":"hologramSSO"}}}
            """
        let profiles = try BridgedProfile.all(Self.answer(200, body))
        #expect(profiles.map(\.mvpd) == ["M", "N"] && profiles[1].kind == .unknown && profiles[0].end == Timestamp(milliseconds: 2000))
        #expect(profiles[0][attribute: "userID"]?.plainText == "u1")
        #expect(profiles[0][attribute: "zip"]?.isEncrypted == true && profiles[0][attribute: "zip"]?.plainText == nil)
        #expect(profiles[0][attribute: "maxRating"]?.json == #"{"MPAA":"PG"}"# && profiles[0][attribute: "maxRating"]?.isEncrypted == true)
        #expect(profiles[0][attribute: "none"] == nil)
        #expect(try BridgedProfile.all(Self.answer(200, #"{"profiles":{}}"#)).isEmpty)
    }

    @Test("a decision: the media token octet for octet, a permit without one is none, a no without a reason is a no")
    func decisions() throws {
        let permit =
            #"{"decisions":[{"resource":"r","authorized":true,"source":"mvpd","notAfter":9,"token":{"serializedToken":"AbC+/=","notAfter":"8"}}]}"#
        let decision = try BridgedDecision(Self.answer(200, permit), resource: "r")
        #expect(decision.outcome == .permit && decision.token?.serialized == "AbC+/=" && decision.end == Timestamp(milliseconds: 9))
        #expect(throws: BridgeFailure.self) {
            try BridgedDecision(Self.answer(200, #"{"decisions":[{"resource":"r","authorized":true}]}"#), resource: "r")
        }
        let deny = #"{"decisions":[{"resource":"r","authorized":false}]}"#
        guard case .deny(let refusal) = try BridgedDecision(Self.answer(200, deny), resource: "r").outcome else {
            Issue.record("not denied")
            return
        }
        #expect(refusal.code == "authorization_denied_by_mvpd")
        #expect(throws: BridgeFailure.self) { try BridgedDecision(Self.answer(200, #"{"decisions":[]}"#), resource: "r") }
    }

    private static func reads(_ moment: String, _ body: (String) -> String, _ read: (OutboundAnswer) throws -> Void) -> BridgeFailure? {
        do {
            try read(answer(200, body(moment)))
            return nil
        } catch { return error as? BridgeFailure }
    }

    /// Each place where upstream tells a time, with the time put in.
    private static let places: [(name: String, failure: @Sendable (String) -> BridgeFailure?)] = [
        ("profile notBefore", { reads($0, { #"{"profiles":{"M":{"notBefore":\#($0),"notAfter":9}}}"# }, { _ = try BridgedProfile.all($0) }) }),
        ("profile notAfter", { reads($0, { #"{"profiles":{"M":{"notBefore":1,"notAfter":\#($0)}}}"# }, { _ = try BridgedProfile.all($0) }) }),
        (
            "login notAfter",
            { reads($0, { #"{"actionName":"authenticate","url":"/l","code":"C1","notAfter":\#($0)}"# }, { _ = try BridgedSignIn($0) }) }
        ),
        (
            "decision notAfter",
            {
                reads(
                    $0,
                    { #"{"decisions":[{"resource":"r","authorized":true,"notAfter":\#($0),"token":{"serializedToken":"t","notAfter":8}}]}"# },
                    { _ = try BridgedDecision($0, resource: "r") })
            }
        ),
        (
            "token notAfter",
            {
                reads(
                    $0, { #"{"decisions":[{"resource":"r","authorized":true,"token":{"serializedToken":"t","notAfter":\#($0)}}]}"# },
                    { _ = try BridgedDecision($0, resource: "r") })
            }
        ),
        (
            "token notBefore",
            {
                reads(
                    $0, { #"{"decisions":[{"resource":"r","authorized":true,"token":{"serializedToken":"t","notAfter":8,"notBefore":\#($0)}}]}"# },
                    { _ = try BridgedDecision($0, resource: "r") })
            }
        ),
    ]

    @Test("bridge §8.1: a time that is no number of milliseconds from 0 to 2^53 makes the answer unusable, wherever it stands")
    func times() {
        for (name, failure) in Self.places {
            for good in ["0", "9007199254740992", #""9007199254740992""#, #""0""#] { #expect(failure(good) == nil, "\(name): \(good)") }
            for bad in [
                "-1", "9007199254740993", #""9007199254740993""#, "99999999999999999999999999", "1.5", "1e12", #""+5""#, #""-5""#, #""""#, #""soon""#,
                #"" 5""#, "true", "[5]", "{}",
            ] {
                if case .unusable? = failure(bad) {} else { Issue.record("\(name): \(bad) was \(String(describing: failure(bad)))") }
            }
        }
    }

    @Test("bridge §2: a type that came later keeps its word for the log, cut and without what a log line must not have")
    func types() throws {
        let long = String(repeating: "x", count: 100)
        let body = #"{"profiles":{"M":{"notBefore":1,"notAfter":2,"type":"holo gram\nSSO"},"N":{"notBefore":1,"notAfter":2,"type":"\#(long)"}}}"#
        let profiles = try BridgedProfile.all(Self.answer(200, body))
        #expect(profiles.map(\.kind) == [.unknown, .unknown])
        #expect(profiles.map(\.type) == ["holo?gram?SSO", String(repeating: "x", count: 64)])
    }

    @Test("bridge B93: each code of the edition means what the table says")
    func meanings() {
        func fault(_ code: String, _ action: String = "none") -> (Fault.Code, Bool) {
            let (fault, suspect) = BridgeRefusal(status: 403, code: code, action: action, details: "d").decisionFault
            return (fault.code, suspect)
        }
        #expect(fault("authenticated_profile_expired") == (.authenticationSessionExpired, true))
        #expect(fault("authorization_denied_by_parental_controls") == (.authorizationDeniedByParentalControls, false))
        #expect(fault("network_connection_timeout") == (.networkConnectionTimeout, false))
        #expect(fault("temporary_access_duration_limit_exceeded") == (.authenticationSessionExpired, false))
        #expect(fault("temporary_access_resources_limit_exceeded") == (.authorizationDeniedByMvpd, false))
        #expect(fault("invalid_integration") == (.unknownIntegration, false))
        #expect(fault("invalid_header_device_info") == (.internal, false))
        #expect(fault("brand_new_code", "retry") == (.networkReceivedError, false))
        #expect(fault("brand_new_code", "authentication") == (.authenticationSessionInvalidated, true))
        #expect(fault("brand_new_code") == (.authorizationDeniedByMvpd, false))
        #expect(BridgeMeaning(BridgeRefusal(status: 400, code: "invalid_header_pfs_provider_id_mismatch")) == .badPartnerCall)
    }

    @Test("bridge B94: an outage is never told as 401 or 403")
    func outages() {
        let failures: [BridgeFailure] = [
            .unreachable(.notSent), .unreachable(.responseTimeout), .unusable("x"), .serverError(500), .wrongAddress(302), .unauthorized,
        ]
        for failure in failures { #expect(failure.fault().code == .upstreamUnavailable, "\(failure)") }
        #expect(BridgeFailure.throttled(retryAfter: .seconds(3)).fault().retryAfter == .seconds(3))
        #expect(BridgeFailure.unauthorized.isOutage == false && BridgeFailure.serverError(500).isOutage)
    }

    @Test("details are cleaned and cut where a character ends")
    func details() throws {
        let text = "line\\nend " + String(repeating: "ä", count: 400)
        let body = #"{"code":"authorization_denied_by_mvpd","status":403,"details":"\#(text)"}"#
        guard case .refused(let refusal)? = Self.failure(Self.answer(403, body)) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.details.hasPrefix("line end ä") && refusal.details.utf8.count <= 512 && refusal.details.hasSuffix("ä"))
    }
}
