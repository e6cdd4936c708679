@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension MvpdTests {
    /// Sign-ins at independent identity providers, each configured by its own metadata and ours (mvpd §5).
    @Suite("Independent identity providers", .serialized)
    struct SamlPeerTests {
        static let persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"

        static let pysaml2 = [
            PeerVariant(signs: "assertion"), PeerVariant(signs: "response"), PeerVariant(signs: "both"),
            PeerVariant(binding: "redirect", signs: "assertion"),
            PeerVariant(signs: "assertion", encrypts: "aes256-gcm"), PeerVariant(signs: "both", encrypts: "aes256-gcm"),
        ]

        static let simpleSAMLphp = [
            PeerVariant(binding: "redirect", signs: "assertion"), PeerVariant(binding: "redirect", signs: "response"),
            PeerVariant(binding: "redirect", signs: "both"), PeerVariant(binding: "post", signs: "both"),
            PeerVariant(binding: "redirect", signs: "response", encrypts: "aes128-cbc"),
            PeerVariant(binding: "redirect", signs: "both", encrypts: "aes128-cbc"),
        ]

        static let lasso = [
            PeerVariant(signs: "assertion"), PeerVariant(signs: "both"), PeerVariant(binding: "redirect", signs: "both"),
            PeerVariant(signs: "both", encrypts: "aes256-cbc"),
        ]

        @Test(
            "mvpd #20: a person signs in at lasso, which checks our signature and makes the persistent id",
            .enabled(if: PeerServer.Kind.lasso.isInstalled, "python3-lasso is not installed"), arguments: lasso)
        func signsInAtLasso(variant: PeerVariant) async throws { try await signIn(.lasso, variant) }

        @Test(
            "mvpd #20: a person signs in at pysaml2, which checks our signature and makes the persistent id",
            .enabled(if: PeerServer.Kind.pysaml2.isInstalled, "python3-pysaml2 is not installed"), arguments: pysaml2)
        func signsInAtPysaml2(variant: PeerVariant) async throws { try await signIn(.pysaml2, variant) }

        @Test(
            "mvpd #20: a person signs in at SimpleSAMLphp, which checks our signature and makes the persistent id",
            .enabled(if: PeerServer.Kind.simpleSAMLphp.isInstalled, "simplesamlphp or php-cli is not installed"), arguments: simpleSAMLphp)
        func signsInAtSimpleSAMLphp(variant: PeerVariant) async throws { try await signIn(.simpleSAMLphp, variant) }

        private func signIn(_ kind: PeerServer.Kind, _ variant: PeerVariant) async throws {
            try await Self.atPeer(kind, variant) { peer, mvpd in
                let device = try await Device.make()
                var browser = Browser(exchange: device.cluster.exchange)
                let page = try await browser.reachPeersAnswer(device, mvpd: mvpd, name: "ada")
                let message = try ForgedAnswer.decoded(page)
                #expect(message.contains("EncryptedAssertion") == !variant.encrypts.isEmpty, "the variant is what was asked for")
                let answer = try await browser.submit(page)
                #expect(answer.status == 302 && answer.header("location") == device.end, "\(answer.status) \(answer.text)")
                #expect(try await device.checkAuthn() == 200)
                #expect(try await device.authnToken().object["mvpd"] as? String == mvpd)
                let metadata = try await device.get("/api/v1/tokens/usermetadata")
                #expect(metadata.text.contains("house-ada"), "\(metadata.text)")
                #expect(try await browser.submit(page).status == 400, "an answer counts once")
            }
        }

        /// Starts the peer, imports its metadata as an MVPD and publishes that.
        static func atPeer(
            _ kind: PeerServer.Kind, _ variant: PeerVariant, _ body: (PeerServer, String) async throws -> Void
        ) async throws {
            let peer = try await PeerServer.start(kind, variant)
            do {
                let mvpd = "Peer\(UUID().uuidString.prefix(8))"
                try await add(peer, variant, as: mvpd)
                try await body(peer, mvpd)
            } catch {
                Issue.record("\(error)\n\(peer.log.suffix(4000))")
            }
            try await peer.stop()
        }

        private static func add(_ peer: PeerServer, _ variant: PeerVariant, as mvpd: String) async throws {
            let local = try await Administrator.fresh()
            let document = try await peer.metadata()
            let review = try await local.send("POST", "/mvpds/\(mvpd)/metadata", ["metadata": document])
            let certificates = try #require(review.object["certificates"] as? [[String: Any]], "\(review.text)")
            let entry: [String: Any] = ["displayName": mvpd, "authzTtl": 3600, "authorization": ["protocol": "none"]]
            // A key for signing and encryption is listed twice.
            let fingerprints = Set(certificates.compactMap { $0["sha256"] as? String }).sorted()
            let imported: [String: Any] = ["metadata": document, "fingerprints": fingerprints, "entry": entry]
            let created = try await local.send("POST", "/mvpds/\(mvpd)/metadata", imported)
            try #require(created.status == 201, "\(created.text)")
            let changed = try await local.change("/mvpds/\(mvpd)") { entity in
                var saml = try #require(entity["saml"] as? [String: Any])
                saml["requestBinding"] = variant.binding
                saml["signaturePolicy"] = variant.signs
                saml["encryption"] = variant.encrypts.isEmpty ? "optional" : "required"
                saml["nameIdFormat"] = persistent
                saml["attributeMap"] = [["target": "userID"], ["source": "householdID", "target": "householdID"]]
                entity["saml"] = saml
            }
            try #require(changed.status == 200, "\(changed.text)")
            let integrated = try await local.send("POST", "/integrations", ["requestor": "ACME1", "mvpd": mvpd, "metadataKeys": ["householdID"]])
            try #require(integrated.status == 201, "\(integrated.text)")
            try await publish("an independent identity provider", local)
        }
    }
}
