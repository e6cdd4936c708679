@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV2Tests {
    /// Both APIs over one state (rest-v2 §6).
    @Suite("Journeys through both APIs")
    struct MixedTests {
        @Test("a code of REST v1 is completed and used by the sign-in address of REST v2; both see the session")
        func formerCode() async throws {
            let device = try await V2Device.make()
            let code = try await device.former.code()
            let plan = try await device.post("sessions/\(code)", device.parameters)
            #expect(plan.step == ["authenticate", "interactive", "none"])
            #expect(try await device.login(code).header("location") == device.end)
            #expect(try await device.former.checkAuthn() == 200)
            #expect(try await device.former.checkAuthn(code: code) == 200)
            #expect(try await device.profiles().keys.sorted() == ["NorthCable"])
        }

        @Test("a profile of REST v2 is the session by which REST v1 issues a media token, and the other way round")
        func tokens() async throws {
            let device = try await V2Device.make()
            try await device.signIn()
            #expect(try await device.former.authorize("ACME1-NEWS").status == 200)
            #expect(try await device.former.mediaToken("ACME1-NEWS").status == 200)
            let other = try await V2Device.make()
            try await other.former.signIn()
            let permit = try await other.decision("ACME1-NEWS")
            #expect(permit.isAuthorized && permit.mediaToken?.isEmpty == false)
        }

        @Test("rest-v2 #121: REST v1 sees the newest session whoever made it, REST v2 only its own client's")
        func clients() async throws {
            let device = try await V2Device.make()
            try await device.signIn()
            try await device.signIn(as: "ada", at: "LakeTel")
            let former = try await Device.make(id: device.id)
            #expect(try await former.authnToken().object["mvpd"] as? String == "LakeTel")
            let another = try await V2Device.make(id: device.id, accessToken: former.accessToken)
            #expect(try await another.profiles().isEmpty)
            // A logout of REST v2 ends one; the next comes forth for REST v1.
            #expect(try await device.get("logout/LakeTel", ["redirectUrl": device.end]).status == 200)
            #expect(try await former.authnToken().object["mvpd"] as? String == "NorthCable")
            // A logout of REST v1 ends all that the device has, of every client.
            try await device.signIn(as: "ada", at: "LakeTel")
            #expect(try await former.logout() == 204)
            #expect(try await device.profiles().isEmpty)
            #expect(try await former.checkAuthn() == 403)
        }
    }
}
