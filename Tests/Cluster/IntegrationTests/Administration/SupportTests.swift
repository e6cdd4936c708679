@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    /// A viewer's sessions, as support finds and ends them.
    @Suite("Support") struct SupportTests {
        @Test("support finds who signed in by a code, ends the session, and the app hears that there is none; all of it is recorded")
        func findsAndEnds() async throws {
            let edith = try await Administrator.fresh("edith")
            let device = try await Device.make()
            let code = try await device.signIn()
            try #require(try await device.checkAuthn() == 200)
            #expect(try await device.authorize("ACME1-NOT-INCLUDED").status == 403)
            try await Task.sleep(for: .milliseconds(700))
            let byCode: [String: Any] = ["requestor": "ACME1", "code": code]
            let found = try await edith.send("POST", "/support/sessions", byCode)
            let sessions = found.object["sessions"] as? [[String: Any]] ?? []
            try #require(found.status == 200 && sessions.count == 1, "\(found.text)")
            #expect(sessions[0]["mvpd"] as? String == "NorthCable" && sessions[0]["way"] as? String == "signIn")
            #expect(sessions[0]["deviceModel"] as? String == "Test TV")
            let refusal = sessions[0]["lastRefusal"] as? [String: Any]
            #expect(refusal?["code"] as? String == "authorization_denied_by_mvpd" && refusal?["source"] as? String == "mvpd", "\(found.text)")
            let told: Set = [
                "id", "mvpd", "way", "authenticatedAt", "createdAt", "expiresAt", "device", "deviceType", "deviceModel", "os", "lastRefusal",
            ]
            #expect(Set(sessions[0].keys) == told && !found.text.contains(device.id), "no attribute, no address, no whole id of the device")
            let find = ["support", "find", "--requestor", "ACME1", "--device", device.id]
            let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
            let line = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(device.cluster.home.root.path)", program] + find)
            #expect(line.status == 0 && line.output.contains("signIn at NorthCable since"), "\(line.output)")
            #expect((found.object["code"] as? [String: Any])?["used"] as? Bool == true)
            for foreign in ["BRAVO", "NOWHERE"] {
                #expect(try await edith.send("POST", "/support/sessions", byCode.merging(["requestor": foreign]) { $1 }).status == 404)
            }
            let byDevice: [String: Any] = ["requestor": "ACME1", "device": device.id, "session": sessions[0]["id"] as? String ?? ""]
            let ended = try await edith.send("POST", "/support/sessions/end", byDevice)
            #expect(ended.status == 200 && ended.object["ended"] as? Int == 1, "\(ended.text)")
            #expect(try await device.checkAuthn() == 403)
            #expect(try await device.authnToken().status != 200)
            #expect(try await device.authorize("ACME1-NEWS").status != 200)
            let records = try await Administrator.local().audit().filter { $0["action"] as? String == "viewer_support" }
            let texts = records.compactMap { $0["text"] as? String }
            #expect(texts.contains("Support at ACME1: looked for code \(code.prefix(3))…, found 1"), "\(texts)")
            #expect(
                texts.contains { $0.hasPrefix("Support at ACME1: ends session ") && $0.hasSuffix("… of device \(device.id.prefix(4))…") }, "\(texts)")
            #expect(!texts.contains { $0.contains(code) || $0.contains(device.id) })
        }
    }
}
