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

        @Test("rest-v2 #56: another app learns the user's id by the code, and nothing else")
        func byCode() async throws {
            let device = try await V2Device.make()
            let code = try await device.signIn()
            let own = try await device.profiles("profiles/code/\(code)")["NorthCable"]
            let other = try await V2Device.make().profiles("profiles/code/\(code)")["NorthCable"]
            let attributes = try #require(other?["attributes"] as? [String: [String: Any]])
            #expect(attributes.keys.sorted() == ["userID"])
            let told = try #require(own?["attributes"] as? [String: [String: Any]])
            #expect(told["userID"]?["value"] as? String == attributes["userID"]?["value"] as? String && told.count > 1)
            #expect(try await device.get("profiles/code/AAAAAAA").v2Error == "invalid_authentication_session")
            #expect(try await device.get("profiles/code/A-A").v2Error == "invalid_parameter_code")
        }

        @Test("clients #80: after a logout the code's maker is told of no profile")
        func afterLogout() async throws {
            let device = try await V2Device.make()
            let code = try await device.signIn()
            #expect(try await device.get("logout/NorthCable", ["redirectUrl": device.end]).status == 200)
            #expect(try await device.profiles("profiles/code/\(code)").isEmpty)
        }

        @Test("rest-v2 #81-#83, #86: logout ends the profile at one MVPD, and says what is left to do")
        func logout() async throws {
            let device = try await V2Device.make()
            func logout(_ mvpd: String) async throws -> [String: String] {
                let answer = try await device.get("logout/\(mvpd)", ["redirectUrl": device.end])
                try #require(answer.status == 200, "\(answer.text)")
                return try #require((answer.object["logouts"] as? [String: [String: String]])?[mvpd])
            }
            #expect(try await logout("NorthCable")["actionName"] == "invalid")
            try await device.signIn()
            try await device.signIn(as: "ada", at: "LakeTel")
            let left = try await logout("NorthCable")
            #expect(left["actionName"] == "logout" && left["actionType"] == "interactive" && left["url"]?.hasPrefix("http") == true)
            #expect(try await device.profiles().keys.sorted() == ["LakeTel"])
            #expect(try await device.get("logout/LakeTel").v2Error == "invalid_parameter_redirect_url")
            #expect(try await device.profiles().keys.sorted() == ["LakeTel"])
            let action = try #require(try await logout("LakeTel")["actionName"])
            #expect(["logout", "complete"].contains(action))
            #expect(try await device.profiles().isEmpty)
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
                let logout = try await device.get("logout/LakeTel", ["redirectUrl": device.end])
                #expect(((logout.object["logouts"] as? [String: [String: Any]])?["LakeTel"])?["actionName"] as? String == "complete")
            }
            try await Condition.wait("the rule is over") { try await device.profiles("profiles/LakeTel").isEmpty }
            #expect(try await device.decision("ACME1-NEWS", at: "LakeTel").errorCode == "authenticated_profile_missing")
        }
    }
}
