@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    /// Secrets that administrators write.
    @Suite("Secrets") struct WrittenSecretTests {
        @Test(
            "clients #99: a secret is written, named, pushed and used; it is in no file, log or answer in clear, and is not overwritten once a version names it"
        )
        func writtenSecrets() async throws {
            let device = try await Device.make()
            let cluster = device.cluster
            let operatorOfAll = try await Administrator.fresh()
            let secret = try String(contentsOf: cluster.home.pki.appendingPathComponent("openfiber.secret"), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let reference = "openfiber-written"
            _ = try await operatorOfAll.change("/mvpds/OpenFiber") { entry in
                var oauth = entry["oauth"] as? [String: Any] ?? [:]
                oauth["clientSecretReference"] = reference
                entry["oauth"] = oauth
            }
            let refused = try await operatorOfAll.send("POST", "/draft/push", ["description": "a secret that is not there"])
            #expect(refused.status == 422 && refused.text.contains(reference), "\(refused.text)")

            let written = try await operatorOfAll.send("POST", "/secrets/\(reference)", ["secret": secret])
            #expect(written.status == 200 && written.object["replaced"] as? Bool == false, "\(written.text)")
            #expect(try await operatorOfAll.send("GET", "/secrets/\(reference)").status == 405)
            let list = try await operatorOfAll.send("GET", "/secrets").text
            #expect(list.contains(#""reference":"openfiber","programmer":null,"kept":"file""#) && list.contains(reference) && !list.contains(secret))
            #expect(try await operatorOfAll.send("POST", "/secrets/openfiber", ["secret": "x"]).status == 409, "a file has it")
            try await MvpdTests.publish("a secret that was written", operatorOfAll)

            try await device.signInByOAuth()
            #expect(try await device.checkAuthn() == 200)
            #expect(try await operatorOfAll.send("POST", "/secrets/\(reference)", ["secret": "another"]).status == 409, "a version names it")
            let audit = try await operatorOfAll.audit()
            #expect(audit.contains { $0["action"] as? String == "secret_written" && ($0["text"] as? String)?.contains(reference) == true })
            let places = [cluster.home.data, cluster.home.logs]
            for place in places {
                for case let file as URL in FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil) ?? .init() {
                    guard let content = try? Data(contentsOf: file) else { continue }
                    #expect(content.range(of: Data(secret.utf8)) == nil, "\(file.path)")
                }
            }
        }
    }
}
