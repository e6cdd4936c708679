@testable import ClusterCommands
@testable import CommandKit
import Testing

extension RestV1Tests {
    /// The effect of degradation on sessions (rest-v1 §6.1).
    @Suite("Degraded sessions")
    struct DegradationTests {
        @Test("rest-v1 #92, #95: AuthN-All signs a device in without its MVPD; the session ends with the rule")
        func authnAll() async throws {
            let device = try await Device.make()
            var used = ""
            try await DegradationControl.running().during("AuthNAll", at: "ACME1", mvpd: "LakeTel") {
                #expect(try await device.checkAuthn() == 403)
                try await Condition.wait("the rule is known") {
                    used = try await device.code()
                    let answer = try await device.authenticate(used, mvpd: "LakeTel")
                    return answer.status == 302 && answer.header("location") == device.end
                }
                #expect(try await device.checkAuthn() == 200)
                #expect(try await device.checkAuthn(code: used) == 200)
                let token = try await device.authnToken()
                let user = try #require(token.object["userId"] as? String)
                #expect(token.object["mvpd"] as? String == "LakeTel")
                #expect(user.hasPrefix("95cf93bcd183214a") && user.count == 56)
                #expect(try await device.authenticate(used, mvpd: "LakeTel").status == 400)
                let metadata = try await device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any]
                #expect(metadata?.count == 1 && metadata?["userID"] as? String == user)
                #expect(try await device.at("ACME2").checkAuthn() == 403)
            }
            try await Condition.wait("the session ends with its rule") { try await device.checkAuthn() == 403 }
            #expect(try await device.authnToken().status == 410)
            #expect(try await device.checkAuthn(code: used) == 403)
            try await device.signIn(at: "LakeTel")
            let regular = try await device.authnToken()
            #expect(regular.status == 200 && (regular.object["userId"] as? String)?.hasPrefix("95cf93bcd183214a") == false)
        }

        @Test("rest-v1 §6.1: AuthZ-None leaves the sign-in to the MVPD")
        func authzNone() async throws {
            let device = try await Device.make()
            try await DegradationControl.running().during("AuthZNone", at: "ACME1", mvpd: "LakeTel") {
                try await device.signIn(at: "LakeTel")
                #expect(try await device.checkAuthn() == 200)
            }
        }
    }
}
