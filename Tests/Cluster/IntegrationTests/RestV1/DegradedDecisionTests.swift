@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    /// The effect of degradation on decisions (rest-v1 §6.1).
    @Suite("Degraded decisions")
    struct DegradedDecisionTests {
        @Test("rest-v1 #92: AuthN-All permits without the MVPD, and so does the session that it makes")
        func authnAll() async throws {
            let (sandbox, device) = (try SandboxControl.running(), try await signedIn(as: "cleo"))
            let fresh = try await Device.make("BRAVO")
            let before = try await sandbox.decisions()
            try await DegradationControl.running().during("AuthNAll", at: "BRAVO") {
                let code = try await fresh.code()
                try await Condition.wait("the rule makes a session") {
                    try await fresh.authenticate(code).header("location") == fresh.end
                }
                for device in [device, fresh] {
                    try await Condition.wait("the rule permits") { try await device.authorize("ACME1-NEWS").status == 200 }
                    #expect(try await device.authzToken("ACME1-NEWS").status == 200)
                    #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
                    let items = try #require(try await device.preauthorize("ACME1-SPORT,OTHER").object["resources"] as? [[String: Any]])
                    #expect(items.allSatisfy { $0["authorized"] as? Bool == true })
                }
                #expect(try await sandbox.decisions() == before)
            }
            try await Condition.wait("the session ends with its rule") { try await fresh.authorize("ACME1-NEWS").status == 403 }
            #expect(try await fresh.mediaToken("ACME1-NEWS").status == 403)
            #expect(try await sandbox.decisions() == before)
        }

        @Test("rest-v1 #93, #95: AuthZ-All permits without the MVPD; when it ends, the MVPD is asked again")
        func authzAll() async throws {
            let (sandbox, device) = (try SandboxControl.running(), try await signedIn(as: "cleo"))
            try await DegradationControl.running().during("AuthZAll", at: "BRAVO", resources: ["ACME1-NEWS"]) {
                try await Condition.wait("the rule permits") { try await device.preauthorized("ACME1-NEWS,ACME1-SPORT") == [true, true] }
                let before = try await sandbox.decisions()
                let permit = try await device.authorize("ACME1-NEWS")
                #expect(permit.status == 200)
                #expect(try await device.authzToken("ACME1-NEWS").object["expires"] as? String == permit.object["expires"] as? String)
                #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
                #expect(try await device.preauthorized("ACME1-NEWS,ACME1-SPORT") == [true, true])
                #expect(try await sandbox.decisions() == before)
            }
            try await Condition.wait("the permit ends with its rule") { try await device.authzToken("ACME1-NEWS").status == 410 }
            let before = try await sandbox.decisions()
            #expect(try await device.authorize("ACME1-NEWS").status == 403)
            #expect(try await sandbox.decisions() == before + 1)
            #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
        }

        @Test("rest-v1 #94: AuthZ-None denies with its message, even with a cached permit")
        func authzNone() async throws {
            let (sandbox, device) = (try SandboxControl.running(), try await signedIn(as: "ada"))
            let permit = try await device.authorize("ACME1-NEWS")
            try #require(permit.status == 200)
            try await DegradationControl.running().during("AuthZNone", at: "BRAVO", resources: ["ACME1-NEWS"], message: "Back at noon") {
                try await Condition.wait("the rule denies") { try await device.authorize("ACME1-NEWS").status == 403 }
                let before = try await sandbox.decisions()
                let denial = try await device.authorize("ACME1-NEWS")
                #expect(denial.object["details"] as? String == "Back at noon")
                #expect(denial.object["code"] as? String == "authorization_denied_by_degradation_rule")
                #expect(try await device.authzToken("ACME1-NEWS").status == 404)
                #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
                #expect(try await sandbox.decisions() == before)
                let answer = try await device.preauthorize("ACME1-NEWS,ACME1-SPORT")
                let items = try #require(answer.object["resources"] as? [[String: Any]])
                #expect(items.map { $0["authorized"] as? Bool } == [false, true])
                let error = try #require(items.first?["error"] as? [String: Any])
                #expect(error["code"] as? String == "authorization_denied_by_degradation_rule" && error["details"] as? String == "Back at noon")
            }
            try await Condition.wait("the permit counts again") { try await device.authorize("ACME1-NEWS").status == 200 }
            #expect(try await device.authorize("ACME1-NEWS").object["expires"] as? String == permit.object["expires"] as? String)
        }

        private func signedIn(as name: String) async throws -> Device {
            let device = try await Device.make("BRAVO")
            try await device.signIn(as: name)
            return device
        }
    }
}

extension Device {
    fileprivate func preauthorized(_ resources: String) async throws -> [Bool?] {
        (try await preauthorize(resources).object["resources"] as? [[String: Any]] ?? []).map { $0["authorized"] as? Bool }
    }
}
