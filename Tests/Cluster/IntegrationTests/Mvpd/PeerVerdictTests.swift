@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension MvpdTests {
    /// The same messages judged by the service and by python3-saml, an independent service provider (mvpd §5).
    @Suite("Verdicts of an independent service provider", .serialized)
    struct PeerVerdictTests {
        private static let isInstalled = (try? Program.run("/usr/bin/python3", ["-c", "import onelogin.saml2"]).status) == 0

        @Test(
            "mvpd §5: python3-saml accepts the genuine answer, as we do",
            .enabled(if: isInstalled, "python3-onelogin-saml2 is not installed"))
        func genuine() async throws {
            let (ours, theirs) = try await verdicts(nil)
            #expect(ours == 302 && theirs == "accepted", "\(ours), \(theirs)")
        }

        @Test(
            "mvpd §5, §7: what evil mode sends is refused by python3-saml, as by us",
            .enabled(if: isInstalled, "python3-onelogin-saml2 is not installed"),
            arguments: [
                "xsw1", "xsw2", "xsw3", "xsw4", "xsw5", "xsw6", "xsw7", "xsw8", "unsigned", "emptySignature", "noReference", "twoReferences",
                "foreignReference", "repeatedID", "strangersKey", "hmac", "sha1", "changedOctet", "expired", "notYetValid", "foreignRecipient",
                "foreignAudience", "foreignDestination", "foreignIssuer", "holderOfKey",
            ])
        func attack(_ attack: String) async throws {
            let (ours, theirs) = try await verdicts(attack)
            #expect(ours == 400 && theirs.hasPrefix("rejected: "), "\(ours), \(theirs)")
        }

        private func verdicts(_ attack: String?) async throws -> (ours: Int, theirs: String) {
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let login = try await browser.openLogin(device, code: try await device.code())
            if let attack { try await SandboxControl.running().beEvil(attack, "NorthCable") }
            let page = try await browser.answer(login, name: "ada")
            let theirs = try judge(try #require(page.value("SAMLResponse")), device.cluster)
            return (try await browser.submit(page).status, theirs)
        }

        private func judge(_ response: String, _ cluster: TestCluster) throws -> String {
            let certificate = cluster.home.pki.appendingPathComponent("sandbox-northcable.crt")
            let question = [
                "response": response, "audience": "https://saml.sp.auth.adobe.com/on-behalf-of/ACME1",
                "acs": "\(cluster.gateway)/sp/saml/SAMLAssertionConsumer", "issuer": "\(try sandbox())/saml/NorthCable/metadata",
                "certificate": try String(contentsOf: certificate, encoding: .utf8),
            ]
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("verdict-\(UUID().uuidString).json")
            try JSONSerialization.data(withJSONObject: question).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let script = cluster.starter.checkout.appendingPathComponent("Tests/Cluster/Peers/onelogin/judge.py").path
            let answer = try Program.run("/usr/bin/python3", [script, file.path])
            return try #require(answer.lines.last, "\(answer.output)")
        }
    }
}
