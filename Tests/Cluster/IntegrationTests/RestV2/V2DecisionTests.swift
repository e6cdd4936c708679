@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing
import TextEncodings

extension RestV2Tests {
    @Suite("Decisions")
    struct DecisionTests {
        @Test("rest-v2 #61, #62, #63: a permit carries a fresh media token each time, a denial is an answer")
        func authorize() async throws {
            let (device, sandbox) = (try await V2Device.make(), try SandboxControl.running())
            try await device.signIn(as: "ben")
            let permit = try await device.decision("ACME1-NEWS")
            #expect(permit.isAuthorized && permit["source"] as? String == "mvpd" && permit["mvpd"] as? String == "NorthCable")
            let token = try #require(permit["token"] as? [String: Any])
            #expect(token.keys.sorted() == ["notAfter", "notBefore", "serializedToken"])
            let (start, end) = (try #require(token["notBefore"] as? Int), try #require(token["notAfter"] as? Int))
            #expect(end - start == 420_000)
            let before = try await sandbox.decisions()
            // A person gets one reference token a second for the same play.
            try device.cluster.clock?.pass(.seconds(2))
            let again = try await device.decision("ACME1-NEWS")
            #expect(again.mediaToken != nil && again.mediaToken != permit.mediaToken)
            #expect(try await sandbox.decisions() == before)
            let denial = try await device.decision("ACME1-SPORT")
            #expect(!denial.isAuthorized && denial.errorCode == "authorization_denied_by_mvpd" && denial.errorStatus == 403)
            #expect(denial["token"] == nil)
        }

        @Test(
            "rest-v2 #64, clients #91: an MVPD's words come whole in the answer's text and nowhere else; an MVPD that says nothing is an item's fault"
        )
        func strangeWords() async throws {
            let (device, sandbox) = (try await V2Device.make(), try SandboxControl.running())
            try await device.signIn()
            try await sandbox.shapeNextAnswer(##""decision": "Deny", "message": "Not\r\nX-Injected: yes\u2028\u0001 \ud83d\udcfa now""##)
            let answer = try await device.decide("authorize", ["ACME1-SPORT"])
            #expect(answer.status == 200 && answer.header("x-injected") == nil)
            let denial = try #require((answer.object["decisions"] as? [[String: Any]])?.first, "\(answer.text)")
            #expect((denial["error"] as? [String: Any])?["details"] as? String == "Not X-Injected: yes \u{1F4FA} now", "\(answer.text)")
            try await sandbox.shapeNextAnswer(#""silentAbout": ["ACME1-KIDS"]"#)
            let silence = try await device.decision("ACME1-KIDS")
            #expect(silence.errorCode == "network_received_error" && silence.errorAction == "retry", "\(silence)")
        }

        @Test("rest-v2 #65, #66, #69, #123: no profile, no resources, too many of them, one of them twice")
        func unfit() async throws {
            let device = try await V2Device.make()
            let missing = try await device.decision("ACME1-NEWS")
            #expect(missing.errorCode == "authenticated_profile_missing" && missing.errorAction == "authentication")
            try await device.signIn()
            for body in [#"{"resources":[]}"#, "{}", #"{"resources":[""]}"#, #"{"resources":[7]}"#, "[]", "", #"{"resources":"ACME1-NEWS"}"#] {
                let call = Call(
                    "POST", device.path("decisions/authorize/NorthCable"),
                    headers: device.headers.merging(["Content-Type": "application/json"]) { $1 }, body: body)
                let answer = try await device.cluster.send(call)
                #expect(answer.status == 400 && answer.v2Error == "invalid_parameter_resources", "\(body): \(answer.text)")
            }
            let two = try await device.decisions("authorize", ["ACME1-NEWS", "ACME1-KIDS"])
            #expect(two.map(\.errorCode) == ["too_many_resources", "too_many_resources"] && two[0].errorAction == "configuration")
            #expect(try await device.decisions("authorize", ["ACME1-NEWS", "ACME1-NEWS"]).count == 1)
            #expect(try await device.decide("authorize", ["ACME1-NEWS"], at: "NoCable").v2Error == "invalid_parameter_mvpd")
        }

        @Test("rest-v2 #67, #68, clients #83: preauthorization answers for each, in order; so it does beyond the limit, with one warning")
        func preauthorize() async throws {
            let device = try await V2Device.make()
            try await device.signIn(as: "ben")
            let three = try await device.decisions("preauthorize", ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
            #expect(three.map { $0["resource"] as? String } == ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
            #expect(three.map(\.isAuthorized) == [true, false, false] && three.allSatisfy { $0["token"] == nil && $0["notAfter"] == nil })
            #expect(three[1].errorCode == "preauthorization_denied_by_mvpd")
            // A limit of 5 where none is set, and of 25 at ACME2, which V1 needs.
            #expect(try await device.decisions("preauthorize", (1...5).map { "ACME1-\($0)" }).allSatisfy { $0.errorCode != "too_many_resources" })
            func warnings() throws -> Int {
                let log = try String(contentsOf: device.cluster.home.log(of: .authorization), encoding: .utf8)
                return log.components(separatedBy: "\"decision.too_many_resources\"").count - 1
            }
            try device.cluster.clock?.pass(.seconds(61))
            let before = try warnings()
            for count in [6, 26] {
                let many = try await device.decisions("preauthorize", (1...count).map { "ACME1-\($0)" })
                #expect(many.map { $0["resource"] as? String } == (1...count).map { "ACME1-\($0)" })
                #expect(many.allSatisfy { !$0.isAuthorized && $0.errorCode == "too_many_resources" && $0.errorAction == "configuration" })
            }
            try await Condition.wait("a line in the log") { try warnings() > before }
            #expect(try warnings() == before + 1)
        }

        @Test("rest-v2 #71, #72, #120: rules decide without a profile, for the resources that they name")
        func rules() async throws {
            let device = try await V2Device.make()
            try await DegradationControl.running().during("AuthZAll", at: "ACME1", mvpd: "LakeTel") {
                try await Condition.wait("the rule is known") { try await device.decision("ACME1-NEWS", at: "LakeTel").isAuthorized }
                let permit = try await device.decision("ACME1-KIDS", at: "LakeTel")
                #expect(permit["source"] as? String == "degradation" && permit.mediaToken?.isEmpty == false)
                let both = try await device.decisions("preauthorize", ["ACME1-NEWS", "ACME1-KIDS"], at: "LakeTel")
                #expect(both.allSatisfy { $0.isAuthorized && $0["source"] as? String == "degradation" })
            }
            try await device.signIn()
            try await DegradationControl.running().during("AuthZNone", at: "ACME1", resources: ["ACME1-NEWS"], message: "Back at eight.") {
                try await Condition.wait("the rule is known") { try await !device.decision("ACME1-NEWS").isAuthorized }
                let denial = try await device.decision("ACME1-NEWS")
                #expect(denial.errorCode == "authorization_denied_by_degradation_rule" && denial["source"] as? String == "degradation")
                #expect((denial["error"] as? [String: Any])?["details"] as? String == "Back at eight.")
                #expect(try await device.decision("ACME1-KIDS").isAuthorized)
            }
        }

        @Test("rest-v2 #113: after five denials within ten seconds the MVPD is not asked about the resource, for ten seconds")
        func cutOff() async throws {
            let (device, sandbox) = (try await V2Device.make(), try SandboxControl.running())
            try await device.signIn(as: "ben")
            let before = try await sandbox.decisions()
            for _ in 0..<5 { #expect(try await device.decision("ACME1-SPORT").errorCode == "authorization_denied_by_mvpd") }
            #expect(try await sandbox.decisions() == before + 5)
            let sixth = try await device.decision("ACME1-SPORT")
            #expect(!sixth.isAuthorized && sixth.errorCode == "authorization_denied_by_mvpd" && sixth.mediaToken == nil)
            #expect(try await sandbox.decisions() == before + 5)
            #expect(try await device.decision("ACME1-KIDS").errorCode == "authorization_denied_by_mvpd")
            #expect(try await sandbox.decisions() == before + 6, "another resource")
            try device.cluster.clock?.pass(.seconds(10))
            #expect(try await !device.decision("ACME1-SPORT").isAuthorized)
            #expect(try await sandbox.decisions() == before + 7)
        }

        @Test("rest-v2 #70: an MVPD that does not answer in time is the item's fault, and worth another try")
        func timeout() async throws {
            let (device, sandbox) = (try await V2Device.make(), try SandboxControl.running())
            try await device.signIn()
            try await Administrator.changing("/mvpds/NorthCable") { entity in
                entity["authorization"] = (entity["authorization"] as? [String: Any])?.merging(["responseTimeoutMs": 200]) { $1 }
            } while: {
                try await sandbox.shapeNextAnswer(#""mode": "hang""#)
                let decision = try await device.decision("ACME1-NEWS")
                #expect(!decision.isAuthorized && decision.mediaToken == nil, "\(decision)")
                #expect(decision.errorCode == "network_connection_timeout" && decision.errorAction == "retry" && decision.errorStatus == 403)
                #expect(try await device.decision("ACME1-NEWS").isAuthorized)
            }
        }

        @Test("rest-v2 #27, #45, #48, #77, #78, #107: a trial begins with the first decision, of v1 too; its profile is told by its MVPD alone")
        func trial() async throws {
            let device = try await V2Device.make()
            #expect(try await device.session(["mvpd": "Preview10"]).step == ["authorize", "direct", "temporary"])
            let before = try #require(try await device.profiles("profiles/Preview10")["Preview10"])
            #expect(before["type"] as? String == "temporary" && before["issuer"] as? String == "Adobe")
            #expect(try await device.decisions("preauthorize", ["ACME1-NEWS", "ACME1-KIDS"], at: "Preview10").allSatisfy(\.isAuthorized))
            // The device begins it by REST v1, under the id that its identifier is the Base64 of.
            let fields = ["requestor_id": "ACME1", "deviceId": device.id, "mso_id": "Preview10", "domain_name": "acme.example"]
            let preview = try await device.cluster.send(
                .form("/api/v1/authenticate/freepreview", fields.map { ($0.key, $0.value) }, headers: device.former.headers))
            try #require(preview.status == 204, "\(preview.text)")
            try device.cluster.clock?.pass(.seconds(60))
            #expect(try await device.former.authorize("ACME1-NEWS").status == 200)
            let end = try #require((try await device.former.authnToken().object["expires"] as? String).flatMap { Int($0) })
            try device.cluster.clock?.pass(.seconds(60))
            let permit = try await device.decision("ACME1-NEWS", at: "Preview10")
            #expect(permit.isAuthorized && permit["source"] as? String == "temppass" && permit.mediaToken?.isEmpty == false)
            let profile = try #require(try await device.profiles("profiles/Preview10")["Preview10"])
            let attributes = try #require(profile["attributes"] as? [String: [String: Any]])
            #expect((attributes["userID"]?["value"] as? String)?.hasPrefix("temppass_") == true)
            #expect(profile["notAfter"] as? Int == end && attributes["expiration_date"]?["value"] as? Int == end)
            #expect(try await device.profiles().isEmpty)
            let owner = try await Client.register("acme-ops").accessToken()
            let query = ["requestor_id": "ACME1", "mvpd_id": "Preview10", "device_id": device.id]
            let reset = Call("DELETE", "/reset-tempass/v3/reset", query: query, headers: ["Authorization": "Bearer \(owner)"])
            #expect(try await device.cluster.send(reset).status == 204)
            #expect(try await device.decision("ACME1-KIDS", at: "Preview10").isAuthorized)
            let anew = try #require(try await device.profiles("profiles/Preview10")["Preview10"])
            #expect(try #require(anew["notAfter"] as? Int) > end + 59_000)
        }

        @Test("rest-v2 #50-#52, #74-#76, #108, #114, clients #89: a promotional trial knows its user by a digest, on whichever device")
        func promotional() async throws {
            let (first, second, third) = (try await V2Device.make(), try await V2Device.make(), try await V2Device.make())
            func identity(_ text: String) -> [String: String] { ["AP-TempPass-Identity": Data(text.utf8).base64EncodedString()] }
            let address = "\(UUID().uuidString.lowercased())@acme.example"
            let user = identity(#"{"email":"\#(address)"}"#)
            #expect(try await first.get("profiles/PromoVod").v2Error == "invalid_header_identity_for_temporary_access")
            let unnamed = try await first.decision("ACME1-NEWS", at: "PromoVod")
            #expect(unnamed.errorCode == "invalid_header_identity_for_temporary_access" && unnamed.errorStatus == 400)
            let live = try #require(try await first.profiles("profiles/PromoVod", user)["PromoVod"])
            let attributes = try #require(live["attributes"] as? [String: [String: Any]])
            let left = try #require(attributes["remaining_resources"]?["value"] as? Int)
            #expect((attributes["used_assets"]?["value"] as? [String])?.isEmpty == true)
            #expect(try await first.decision("ACME1-0", at: "PromoVod", user).isAuthorized)
            let early = try await second.decisions("preauthorize", ["ACME1-NEWS", "ACME1-KIDS"], at: "PromoVod", user)
            #expect(early.allSatisfy { $0.isAuthorized })
            for number in 1..<left {
                #expect(try await first.decision("ACME1-\(number)", at: "PromoVod", user).isAuthorized)
            }
            try first.cluster.clock?.pass(.seconds(2))
            // clients #89: by the user's identity a device that was never on trial is told of the user's.
            #expect(try await third.decisions("preauthorize", ["ACME1-0"], at: "PromoVod").allSatisfy(\.isAuthorized), "a trial of its own")
            let known = try await third.decisions("preauthorize", ["ACME1-0"], at: "PromoVod", user)
            #expect(known.allSatisfy { $0.errorCode == "temporary_access_resources_limit_exceeded" })
            #expect(try await second.decision("ACME1-0", at: "PromoVod", user).isAuthorized)
            let beyond = try await second.decision("ACME1-BEYOND", at: "PromoVod", user)
            #expect(beyond.errorCode == "temporary_access_resources_limit_exceeded" && beyond["source"] as? String == "temppass")
            let over = try await second.get("profiles/PromoVod", [:], user)
            #expect(over.status == 403 && over.v2Error == "temporary_access_resources_limit_exceeded")
            let items = try await first.decisions("preauthorize", ["ACME1-NEWS", "ACME1-KIDS"], at: "PromoVod")
            #expect(items.allSatisfy { $0.errorCode == "temporary_access_resources_limit_exceeded" })
            // rest-v2 #108: on a further device the digest is the same user; the address is nowhere.
            let digest = identity(#"{"email":"\#(Hex.encode(SHA256.hash(address)))"}"#)
            let fourth = try await V2Device.make()
            #expect(try await fourth.decision("ACME1-BEYOND", at: "PromoVod", digest).errorCode == "temporary_access_resources_limit_exceeded")
            #expect(try await fourth.decision("ACME1-0", at: "PromoVod", digest).isAuthorized)
            let home = first.cluster.home
            var (looked, holding): (Int, [String]) = (0, [])
            for place in [home.data, home.logs] {
                for case let file as URL in FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil) ?? .init() {
                    guard let content = try? Data(contentsOf: file) else { continue }
                    looked += 1
                    if content.range(of: Data(address.utf8)) != nil { holding.append(file.path) }
                }
            }
            #expect(holding == [] && looked > 10)
        }
    }
}
