@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Refusals and outages of upstream's, told by the clock (bridge §4.2, §5.3, §12).
extension BridgeClockTests {
    @Test("bridge B14: a fresh bearer that upstream refuses is an alarm; no third call is made, and none of any device there for a minute")
    func restsAfterRefusals() async throws {
        let upstream = try await upstream()
        let (device, other) = (try await settled(), try await settled())
        let before = try await alarms()["bridge.access_refused"] ?? 0
        try await upstream.fail("authorize", ["kind": "answer", "status": 401, "body": "{}", "times": 0])
        try await upstream.forgetCalls()
        let refused = try await device.authorize("ACME1-NEWS")
        #expect(refused.status == 503, "\(refused.text)")
        let wait = try #require(refused.header("retry-after").flatMap { Int($0) })
        #expect((60...65).contains(wait), "\(wait)")
        #expect(try await upstream.counts() == ["authorize": 2, "token": 1])
        #expect(try await alarms()["bridge.access_refused"] == before + 1)
        try await upstream.comeBack()
        try await upstream.forgetCalls()
        try pass(.seconds(58))
        for one in [device, other] {
            let resting = try await one.authorize("ACME1-NEWS")
            #expect(resting.status == 503 && resting.header("retry-after") != nil, "\(resting.status) \(resting.text)")
            #expect(try await one.checkAuthn() == 200)
        }
        #expect(try await upstream.entries().isEmpty)
        try pass(.seconds(3))
        for one in [device, other] { #expect(try await one.authorize("ACME1-NEWS").status == 200) }
    }

    @Test("bridge B18: one client serves two devices; when upstream has forgotten it, it is asked again after 10 s before another is registered")
    func sharesClients() async throws {
        let upstream = try await upstream()
        try await changing("/upstreams/vendor") { record in
            record["clientScope"] = "shared"
            record["shards"] = 1
        } until: {
            try await upstream.forgetCalls()
            let device = try await Device.make()
            _ = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
            return try await upstream.counts()["register"] == nil
        } _: {
            let (one, other) = (try await settled(), try await settled())
            let clients = try #require(
                try JSONSerialization.jsonObject(with: Data(try await upstream.control("GET", "clients").body)) as? [[String: Any]])
            for client in clients { try await upstream.control("DELETE", "clients/\(try #require(client["id"] as? String))") }
            try await upstream.forgetCalls()
            #expect(try await one.authorize("ACME1-NEWS").status == 503)
            #expect(try await upstream.counts() == ["authorize": 1, "token": 1])
            try pass(.seconds(8))
            for device in [one, other] {
                let waiting = try await device.authorize("ACME1-NEWS")
                #expect(waiting.status == 503 && waiting.header("retry-after") != nil, "\(waiting.status) \(waiting.text)")
            }
            #expect(try await upstream.counts() == ["authorize": 1, "token": 1], "it is asked again after ten seconds")
            try pass(.seconds(3))
            #expect(try await other.authorize("ACME1-NEWS").status == 403)
            let asked = try await upstream.entries().filter { ["register", "token"].contains($0.operation) }
            #expect(asked.map(\.operation) == ["token", "token", "register", "token"])
            #expect(asked.map(\.status) == [400, 400, 201, 201])
            for device in [one, other] {
                #expect(try await device.checkAuthn() == 403)
                try await signIn(device)
                #expect(try await device.authorize("ACME1-NEWS").status == 200)
            }
            #expect(try await upstream.count("register") == 1, "one for both")
        }
    }

    @Test("bridge B94, B95: twenty failures close the way for 15 s, and three probes open it; refusals, 400 and 429 are no failures")
    func breaks() async throws {
        let upstream = try await upstream()
        let device = try await settled("BRAVO")
        func ask(_ count: Int, _ name: String) async throws -> [Int] {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...count { group.addTask { try await device.authorize("\(name)-\(number)").status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        // Each kind of refusal by itself, as often as failures would break.
        try await upstream.setDecisions([["code": "authorization_denied_by_mvpd", "times": 0]])
        #expect(Set(try await ask(20, "DENIED")) == [403])
        try pass(.seconds(31))
        try await upstream.fail("authorize", ["kind": "error", "code": "invalid_parameter_resources", "times": 0])
        #expect(Set(try await ask(20, "BAD")) == [400])
        try await upstream.comeBack()
        try pass(.seconds(31))
        try await upstream.fail("authorize", ["kind": "answer", "status": 429, "body": "wait", "headers": ["Retry-After": "1"], "times": 0])
        #expect(Set(try await ask(10, "MANY")) == [429], "each is asked twice")
        try await upstream.comeBack()
        try pass(.seconds(31))
        try await upstream.setDecisions([["times": 0]])
        try await upstream.forgetCalls()
        #expect(Set(try await ask(20, "WELL")) == [200])
        #expect(try await upstream.count("authorize") == 20, "every call went out")

        try pass(.seconds(31))
        try await upstream.fail("authorize", ["kind": "answer", "status": 500, "body": "{}", "times": 0])
        try await upstream.forgetCalls()
        for number in 1...20 {
            let failed = try await device.authorize("FAILED-\(number)")
            #expect(failed.status == 503 && failed.header("retry-after") != nil, "\(failed.status) \(failed.text)")
            #expect(failed.object["code"] as? String == "internal_error" && failed.object["status"] as? Int == 500, "\(failed.text)")
        }
        #expect(try await upstream.count("authorize") == 20)
        #expect(Set(try await ask(5, "CLOSED")) == [503])
        try pass(.seconds(11))
        #expect(Set(try await ask(5, "CLOSED")) == [503])
        #expect(try await upstream.count("authorize") == 20, "nobody is asked for fifteen seconds")
        try pass(.seconds(5))
        #expect(Set(try await ask(12, "PROBE")) == [503])
        let probes = try await upstream.count("authorize") - 20
        #expect((1...3).contains(probes), "\(probes)")
        try await upstream.comeBack()
        try pass(.seconds(16))
        for number in 1...4 { #expect(try await device.authorize("BACK-\(number)").status == 200) }
        try await upstream.setDecisions([])
    }

    /// A code of upstream's, and what v1 makes of it (bridge §12.1).
    private struct Row {
        let code: String
        /// Status and code of `authorize`.
        let play: (Int, String)
        /// Status and code of the whole `preauthorize`, or 200 and the code of its item.
        let list: (Int, String)
        /// What upstream tells the client to do; `nil`: what the code stands for.
        var action: String?
        var isMinded = false

        init(_ code: String, _ play: (Int, String), _ list: (Int, String), action: String? = nil, isMinded: Bool = false) {
            (self.code, self.play, self.list, self.action, self.isMinded) = (code, play, list, action, isMinded)
        }

        /// A no under its own name.
        static func named(_ code: String) -> Row { Row(code, (403, code), (200, code)) }
    }

    private static let ours = (500, "internal_error")

    /// Of one decision.
    private static let items: [Row] = [
        Row("authenticated_profile_missing", (403, "authentication_session_missing"), (412, "preauthorization_authentication_session_missing")),
        Row("authenticated_profile_expired", (403, "authentication_session_expired"), (412, "preauthorization_authentication_session_expired")),
        Row(
            "authenticated_profile_invalidated", (403, "authentication_session_invalidated"), (412, "preauthorization_authentication_session_missing")
        ),
        Row("authorization_denied_by_mvpd", (403, "authorization_denied_by_mvpd"), (200, "preauthorization_denied_by_mvpd")),
        .named("authorization_denied_by_parental_controls"), .named("authorization_denied_by_hba_policies"),
        .named("authorization_denied_by_session_invalidated"), .named("authorization_denied_by_degradation_rule"),
        .named("identity_not_recognized_by_mvpd"), .named("preauthorization_denied_by_mvpd"), .named("network_received_error"),
        .named("network_connection_timeout"), .named("maximum_execution_time_exceeded"),
        Row("temporary_access_duration_limit_exceeded", (403, "authentication_session_expired"), (200, "authentication_session_expired")),
        Row("temporary_access_resources_limit_exceeded", (403, "authorization_denied_by_mvpd"), (200, "preauthorization_denied_by_mvpd")),
        Row("invalid_header_device_info", ours, (200, "internal_error"), isMinded: true),
        Row("invalid_configuration_platform", ours, (200, "internal_error"), isMinded: true),
        Row("brand_new_code", (403, "network_received_error"), (200, "network_received_error"), action: "retry"),
        Row(
            "brand_new_code", (403, "authentication_session_invalidated"), (412, "preauthorization_authentication_session_missing"),
            action: "authentication"),
        Row("brand_new_code", (403, "authorization_denied_by_mvpd"), (200, "preauthorization_denied_by_mvpd"), action: "none"),
    ]

    /// Of a whole answer.
    private static let answers: [Row] = [
        Row("too_many_resources", (403, "too_many_resources"), (403, "too_many_resources")),
        Row("invalid_integration", (400, "unknown_integration"), (412, "unknown_integration")),
        Row("invalid_parameter_mvpd", (400, "unknown_integration"), (412, "unknown_integration")),
        Row("invalid_header_identity_for_temporary_access", (400, "internal_error"), (400, "internal_error")),
        Row("invalid_parameter_resources", (400, "malformed_authz_request"), (400, "malformed_authz_request")),
        Row("invalid_header_pfs_provider_id_mismatch", ours, ours), Row("invalid_parameter_saml_response", ours, ours),
        Row("invalid_parameter_partner", ours, ours), Row("invalid_header_device_identifier", ours, ours, isMinded: true),
        Row("invalid_parameter_service_provider", ours, ours, isMinded: true), Row("invalid_parameter_redirect_url", ours, ours, isMinded: true),
        Row("internal_server_error", (503, "internal_error"), (503, "internal_error")),
    ]

    @Test("bridge B93: each code of an item is v1's fault by the table, plain or enhanced as the channel has it")
    func translatesItems() async throws {
        let upstream = try await upstream()
        let (plain, enhanced) = (try await settled(), try await settled("BRAVO"))
        for (number, row) in Self.items.enumerated() {
            let alarms = try await alarms()["bridge.bad_request"] ?? 0
            let resource = "ITEM-\(number)"
            func answer(_ device: Device, _ ask: (String) async throws -> HTTPAnswer) async throws -> HTTPAnswer {
                var decision = script(row.code, resource, details: "In words")
                if let action = row.action { (decision["action"], decision["status"]) = (action, 403) }
                try await upstream.setDecisions([decision])
                return try await ask(resource)
            }
            let (play, list) = (try await answer(enhanced, enhanced.authorize), try await answer(enhanced, enhanced.preauthorize))
            try expect(play, row.play, "\(row.code): authorize")
            try expect(list, row.list, "\(row.code): preauthorize")
            let short = try await answer(plain, plain.authorize)
            #expect(short.status == row.play.0 && short.object["code"] == nil, "\(row.code): \(short.text)")
            #expect(short.object["status"] as? Int == row.play.0, "\(row.code): \(short.text)")
            if row.play.0 == 403 { #expect(short.object["details"] as? String == "In words", "\(row.code): \(short.text)") }
            #expect(((try await self.alarms()["bridge.bad_request"] ?? 0) > alarms) == row.isMinded, "\(row.code)")
            for device in [plain, enhanced] { #expect(try await device.checkAuthn() == 200, "\(row.code): upstream has the profile") }
        }
        try await upstream.setDecisions([])
    }

    @Test("bridge B93: each code of a whole answer is v1's fault by the table; none of them signs anybody out")
    func translatesAnswers() async throws {
        let upstream = try await upstream()
        let (plain, enhanced) = (try await settled(), try await settled("BRAVO"))
        for (number, row) in Self.answers.enumerated() {
            let alarms = try await alarms()["bridge.bad_request"] ?? 0
            func answer(_ operation: String, _ ask: () async throws -> HTTPAnswer) async throws -> HTTPAnswer {
                // An integration that upstream has closed is not asked about for two minutes (bridge §12.1).
                try pass(.seconds(121))
                try await upstream.fail(operation, ["kind": "error", "code": row.code, "times": 1])
                let answer = try await ask()
                try await upstream.comeBack()
                return answer
            }
            let play = try await answer("authorize") { try await enhanced.authorize("WHOLE-\(number)") }
            try expect(play, row.play, "\(row.code): authorize")
            let list = try await answer("preauthorize") { try await enhanced.preauthorize("WHOLE-\(number)") }
            try expect(list, row.list, "\(row.code): preauthorize")
            let short = try await answer("authorize") { try await plain.authorize("WHOLE-\(number)") }
            #expect(short.status == row.play.0 && short.object["code"] == nil, "\(row.code): \(short.text)")
            #expect(short.object["status"] as? Int == row.play.0, "\(row.code): \(short.text)")
            #expect(((try await self.alarms()["bridge.bad_request"] ?? 0) > alarms) == row.isMinded, "\(row.code)")
            try pass(.seconds(121))
            for device in [plain, enhanced] { #expect(try await device.checkAuthn() == 200, "\(row.code)") }
        }
    }

    @Test("bridge B93: a login that upstream has forgotten signs nobody in, and is not looked for any more; a trial that is over is 400")
    func translatesLogins() async throws {
        let upstream = try await upstream()
        for code in ["invalid_authentication_session", "invalid_parameter_code"] {
            let device = try await Device.make()
            let begun = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
            let back = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
            try await upstream.removeProfiles([("device", device.id)])
            try await upstream.fail("profileByCode", ["kind": "error", "code": code, "times": 0])
            let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
            try await upstream.comeBack()
            #expect(end.status == 302 && end.header("location") == device.end, "\(code): \(end.status) \(end.text)")
            #expect(try await device.checkAuthn() == 403, "\(code)")
            #expect(try await device.authnToken().status == 404, "\(code)")
        }
        for code in ["temporary_access_duration_limit_exceeded", "temporary_access_resources_limit_exceeded"] {
            let device = try await Device.make()
            try await upstream.fail("profile", ["kind": "error", "code": code, "times": 1])
            let fields = [("requestor_id", device.requestor), ("deviceId", device.id), ("mso_id", "TrialUp"), ("domain_name", device.domain)]
            let over = try await device.cluster.send(.form("/api/v1/authenticate/freepreview", fields, headers: device.headers))
            #expect(over.status == 400, "\(code): \(over.status) \(over.text)")
            #expect(try await device.checkAuthn() == 403, "\(code)")
        }
    }

    /// - Parameter wanted: HTTP status and code; with 200 that of the one item.
    private func expect(_ answer: HTTPAnswer, _ wanted: (status: Int, code: String), _ what: String) throws {
        #expect(answer.status == wanted.status, "\(what): \(answer.status) \(answer.text)")
        guard wanted.status == 200 else {
            #expect(answer.object["code"] as? String == wanted.code, "\(what): \(answer.text)")
            return
        }
        let item = try #require((answer.object["resources"] as? [[String: Any]])?.first, "\(what): \(answer.text)")
        let error = item["error"] as? [String: Any]
        #expect(item["authorized"] as? Bool == false && error?["code"] as? String == wanted.code, "\(what): \(answer.text)")
    }
}
