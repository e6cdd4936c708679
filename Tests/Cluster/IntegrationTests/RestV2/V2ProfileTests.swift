@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV2Tests {
    @Suite("Profiles and logout")
    struct ProfileTests {
        @Test("rest-v2 #42, #43, #46, #58, #59: two logins are two profiles, of this device alone")
        func several() async throws {
            let device = try await V2Device.make()
            #expect(try await device.profiles().isEmpty)
            #expect(try await device.profiles("profiles/NorthCable").isEmpty)
            try await device.signIn()
            try await device.signIn(as: "ada", at: "LakeTel")
            let all = try await device.profiles()
            #expect(all.keys.sorted() == ["LakeTel", "NorthCable"])
            for (mvpd, profile) in all {
                #expect(profile["notBefore"] is Int && profile["notAfter"] is Int)
                #expect(profile["issuer"] as? String == mvpd && profile["type"] as? String == "regular")
                let user = (profile["attributes"] as? [String: [String: Any]])?["userID"]
                #expect(user?["value"] is String && user?["state"] as? String == "plain")
            }
            let zip = (all["NorthCable"]?["attributes"] as? [String: [String: Any]])?["zip"]
            #expect(zip?["state"] as? String == "enc" && zip?["value"] is String)
            #expect(try await device.profiles("profiles/LakeTel").keys.sorted() == ["LakeTel"])
            #expect(try await device.other().profiles().isEmpty)
            #expect(try await device.get("profiles/NoCable").v2Error == "invalid_parameter_mvpd")
        }

        @Test("clients #80: after a logout the code's maker is told of no profile")
        func afterLogout() async throws {
            let device = try await V2Device.make()
            let code = try await device.signIn()
            #expect(try await device.get("logout/NorthCable", ["redirectUrl": device.end]).status == 200)
            #expect(try await device.profiles("profiles/code/\(code)").isEmpty)
        }

        @Test("clients #82: another gateway knows the profile 5 ms after the consumer's answer, by its MVPD and by its code")
        func knownAtOnce() async throws {
            let cluster = try TestCluster.running()
            let (copy, address) = try await SecondCopy.gateway(of: cluster)
            do {
                var isAtOnce = false
                for _ in 0..<5 where !isAtOnce {
                    let device = try await V2Device.make()
                    @Sendable func keys(_ rest: String) async throws -> [String] {
                        let headers = device.headers.map { ($0.key, $0.value) }
                        let answer = try await cluster.exchange.send("GET", address + device.path(rest), headers: headers, body: nil)
                        return try #require(answer.object["profiles"] as? [String: Any], "\(answer.status) \(answer.text)").keys.sorted()
                    }
                    let byCode = "profiles/code/\(try await device.code())"
                    for rest in ["profiles/NorthCable", byCode] { #expect(try await keys(rest) == []) }
                    let end = try await device.login(String(byCode.suffix(7)))
                    let answered = ContinuousClock.now
                    async let profile = keys("profiles/NorthCable")
                    async let profileByCode = keys(byCode)
                    isAtOnce = answered.duration(to: .now) < .milliseconds(5)
                    #expect(end.status == 302 && end.header("location") == device.end)
                    #expect(try await [profile, profileByCode] == [["NorthCable"], ["NorthCable"]])
                }
                #expect(isAtOnce)
            } catch {
                await copy.stop()
                throw error
            }
            await copy.stop()
        }

        /// What is left to do after a logout, by the names of its members.
        private func logout(_ device: V2Device, _ mvpd: String) async throws -> [String: String] {
            let answer = try await device.get("logout/\(mvpd)", ["redirectUrl": device.end])
            try #require(answer.status == 200, "\(answer.text)")
            return try #require((answer.object["logouts"] as? [String: [String: String]])?[mvpd])
        }

        private func expectNothingLeft(after mvpd: String, on device: V2Device, action: String, at place: SourceLocation = #_sourceLocation)
            async throws
        {
            let left = try await logout(device, mvpd)
            #expect(left == ["mvpd": mvpd, "actionName": action, "actionType": "none"], sourceLocation: place)
        }

        @Test("rest-v2 #81, #83, #86: logout ends the profile at one MVPD, and says what is left to do")
        func logout() async throws {
            let device = try await V2Device.make()
            try await expectNothingLeft(after: "NorthCable", on: device, action: "invalid")
            try await device.signIn()
            try await device.signIn(as: "ada", at: "LakeTel")
            let left = try await logout(device, "NorthCable")
            #expect(left["actionName"] == "logout" && left["actionType"] == "interactive" && left["url"]?.hasPrefix("http") == true)
            #expect(try await device.profiles().keys.sorted() == ["LakeTel"])
            for query in [[:], ["redirectUrl": "not an address"]] {
                let refused = try await device.get("logout/LakeTel", query)
                #expect(refused.status == 400 && refused.v2Error == "invalid_parameter_redirect_url")
            }
            #expect(try await device.profiles().keys.sorted() == ["LakeTel"])
        }

        @Test("rest-v2 #82: where the MVPD has no page for it, nothing is left to do after a logout")
        func logoutWithoutPage() async throws {
            let device = try await V2Device.make()
            try await device.signIn(at: "LakeTel")
            try await Administrator.changing("/mvpds/LakeTel") { entity in
                entity["saml"] = (entity["saml"] as? [String: Any])?.filter { !["logoutUrl", "logoutBinding"].contains($0.key) }
            } while: {
                try await expectNothingLeft(after: "LakeTel", on: device, action: "complete")
            }
            #expect(try await device.profiles().isEmpty)
        }

        @Test("rest-v2 #18, #80, #112, #116: an integration that is off is in no list and decides nothing; on again it has its logins")
        func switchedOff() async throws {
            let device = try await V2Device.make()
            try await device.signIn()
            try await device.signIn(at: "LakeTel")
            func listed() async throws -> Set<String> {
                let configuration = try await device.get("configuration").object["requestor"] as? [String: Any]
                return Set((configuration?["mvpds"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String })
            }
            #expect(try await listed().isSuperset(of: ["NorthCable", "LakeTel"]))
            try await Administrator.changing("/integrations/ACME1/LakeTel") {
                $0["enabled"] = false
            } while: {
                let left = try await listed()
                #expect(left.contains("NorthCable") && !left.contains("LakeTel"))
                #expect(try await device.profiles().keys.sorted() == ["NorthCable"])
                var television = device
                television.information = Device.encoded(#"{"primaryHardwareType":"SetTopBox","model":"AppleTV11,1","osName":"tvOS"}"#)
                for answer in [
                    try await device.get("profiles/LakeTel"), try await device.decide("authorize", ["ACME1-NEWS"], at: "LakeTel"),
                    try await device.decide("preauthorize", ["ACME1-NEWS"], at: "LakeTel"),
                    try await television.post(
                        "sessions/sso/Apple", PartnerTests.form(device), PartnerTests.status(provider: "lake-tel")),
                ] { #expect(answer.status == 400 && answer.v2Error == "invalid_integration", "\(answer.status) \(answer.text)") }
            }
            #expect(try await device.profiles().keys.sorted() == ["LakeTel", "NorthCable"])
            #expect(try await device.decision("ACME1-NEWS", at: "LakeTel").isAuthorized)
        }

        @Test("rest-v2 #28, #44, #47, #85, #111: while AuthN-All holds a profile stands in, by its MVPD alone")
        func degraded() async throws {
            let device = try await V2Device.make()
            let code = try await device.code(["mvpd": "LakeTel"])
            try await DegradationControl.running().during("AuthNAll", at: "ACME1", mvpd: "LakeTel") {
                // Not of this device: a session of its own would end the code.
                let other = device.other()
                try await Condition.wait("the rule is known") {
                    try await other.session(["mvpd": "LakeTel"]).step == ["authorize", "direct", "degraded"]
                }
                let profile = try #require(try await device.profiles("profiles/LakeTel")["LakeTel"])
                #expect(profile["type"] as? String == "degraded" && profile["issuer"] as? String == "Adobe")
                let user = (profile["attributes"] as? [String: [String: Any]])?["userID"]?["value"] as? String
                #expect(user?.hasPrefix("95cf93bcd183214a") == true)
                #expect(try await device.profiles().isEmpty)
                let answer = try await device.cluster.send(Call("GET", "/api/v2/authenticate/ACME1/\(code)"))
                #expect(answer.status == 302 && answer.header("location") == device.end)
                #expect(try await device.profiles("profiles/code/\(code)")["LakeTel"]?["type"] as? String == "degraded")
                let permit = try await device.decision("ACME1-NEWS", at: "LakeTel")
                #expect(permit.isAuthorized && permit["source"] as? String == "degradation" && permit.mediaToken?.isEmpty == false)
                try await expectNothingLeft(after: "LakeTel", on: device, action: "complete")
            }
            #expect(try await device.decision("ACME1-NEWS", at: "Preview10").isAuthorized)
            try await expectNothingLeft(after: "Preview10", on: device, action: "complete")
            try await Condition.wait("the rule is over") { try await device.profiles("profiles/LakeTel").isEmpty }
            #expect(try await device.decision("ACME1-NEWS", at: "LakeTel").errorCode == "authenticated_profile_missing")
        }
    }
}
