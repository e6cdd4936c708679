@testable import ClusterCommands
@testable import CommandKit
import Foundation
import SamlSigner
import Testing

extension MvpdTests {
    @Suite("Metadata of both sides")
    struct MetadataTests {
        @Test("mvpd #19: the service provider's document is signed and names keys, endpoints and formats")
        func ours() async throws {
            let cluster = try TestCluster.running()
            let certificate = try String(contentsOf: cluster.home.pki.appendingPathComponent("saml-signing.crt"), encoding: .utf8)
            for (requestor, suffix) in [("", ""), ("ACME1", "/on-behalf-of/ACME1")] {
                let answer = try await cluster.send(Call("GET", "/sp/metadata", query: requestor.isEmpty ? [:] : ["requestor": requestor]))
                #expect(answer.status == 200 && answer.header("content-type") == "application/samlmetadata+xml")
                #expect(try Signer.verifies(answer.text, with: certificate))
                #expect(answer.text.contains("entityID=\"https://saml.sp.auth.adobe.com\(suffix)\""))
                #expect(answer.text.contains("validUntil=\"") && answer.text.contains("<md:EncryptionMethod "))
                let address = "\(cluster.gateway)/sp/saml/LogoutServiceHTTPRedirectResponse"
                for binding in ["HTTP-Redirect", "HTTP-POST"] {
                    let service = "<md:SingleLogoutService Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:\(binding)\" Location=\"\(address)\"/>"
                    #expect(answer.text.contains(service), "\(binding)")
                }
                #expect(answer.text.contains("index=\"0\" isDefault=\"true\""))
            }
            #expect(try await cluster.send(Call("GET", "/sp/metadata", query: ["requestor": "NOBODY"])).status == 400)
        }

        private func theirs(_ mvpd: String = "NorthCable") async throws -> String {
            try await TestCluster.running().exchange.send("GET", "\(try sandbox())/saml/\(mvpd)/metadata").text
        }

        @Test("mvpd §2.7: an MVPD's metadata is shown with fingerprints, and goes into the draft once they are confirmed")
        func imports() async throws {
            let local = try await Administrator.fresh()
            let document = try await theirs()
            let review = try await local.send("POST", "/mvpds/FreshCable/metadata", ["metadata": document])
            #expect(review.status == 200, "\(review.text)")
            #expect(review.object["entityId"] as? String == "\(try sandbox())/saml/NorthCable/metadata")
            #expect((review.object["problems"] as? [Any])?.isEmpty == true)
            #expect((review.object["endpoints"] as? [[String: Any]])?.count == 4)
            let certificate = try #require((review.object["certificates"] as? [[String: Any]])?.first)
            let fingerprint = try #require(certificate["sha256"] as? String)
            #expect(fingerprint.count == 64 && certificate["subject"] as? String != "" && certificate["notAfter"] as? Int != nil)
            #expect(try await local.changes().isEmpty, "looking changes nothing")
            #expect(try await local.send("GET", "/mvpds/FreshCable").status == 404)

            let entry: [String: Any] = ["displayName": "Fresh Cable", "authzTtl": 3600, "authorization": ["protocol": "none"]]
            let wrong = try await local.send(
                "POST", "/mvpds/FreshCable/metadata", ["metadata": document, "fingerprints": [String(repeating: "0", count: 64)], "entry": entry])
            #expect(wrong.status == 422 && wrong.problemFields == ["fingerprints[0]"], "\(wrong.text)")
            let bare = try await local.send("POST", "/mvpds/FreshCable/metadata", ["metadata": document, "fingerprints": [fingerprint]])
            #expect(bare.status == 422 && bare.problemFields.contains("authorization") && bare.problemFields.contains("authzTtl"), "\(bare.text)")
            let created = try await local.send(
                "POST", "/mvpds/FreshCable/metadata", ["metadata": document, "fingerprints": [Self.spelled(fingerprint)], "entry": entry])
            #expect(created.status == 201, "\(created.text)")
            let saml = try #require((created.object["entity"] as? [String: Any])?["saml"] as? [String: Any])
            #expect(saml["ssoUrl"] as? String == "\(try sandbox())/saml/NorthCable/sso" && saml["requestBinding"] as? String == "redirect")
            #expect(saml["logoutUrl"] as? String == "\(try sandbox())/saml/NorthCable/slo")
            #expect((saml["signingCertificates"] as? [String])?.count == 1)

            let again = try await local.send("POST", "/mvpds/FreshCable/metadata", ["metadata": document, "fingerprints": [fingerprint]])
            #expect(again.status == 412 || again.status == 409, "an entry that exists needs If-Match: \(again.text)")
            let lake = try await theirs("LakeTel")
            let other = try await local.send("POST", "/mvpds/FreshCable/metadata", ["metadata": lake])
            let next = try #require(((other.object["certificates"] as? [[String: Any]])?.first)?["sha256"] as? String)
            let updated = try await local.send(
                "POST", "/mvpds/FreshCable/metadata", ["metadata": lake, "fingerprints": [next]], ifMatch: created.header("etag"))
            #expect(updated.status == 200, "\(updated.text)")
            let entity = try #require(updated.object["entity"] as? [String: Any])
            #expect((entity["saml"] as? [String: Any])?["idpEntityId"] as? String == "\(try sandbox())/saml/LakeTel/metadata")
            #expect(entity["displayName"] as? String == "Fresh Cable")
            #expect(try await local.send("DELETE", "/draft").status == 204)
        }

        /// As people and tools write it: upper case, with colons.
        private static func spelled(_ fingerprint: String) -> String {
            let digits = Array(fingerprint.uppercased())
            return stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...$0 + 1]) }.joined(separator: ":")
        }

        @Test("mvpd §2.7: metadata is read hardened, and only an operator may import it")
        func refusesHostileDocuments() async throws {
            let local = try await Administrator.fresh()
            let genuine = try await theirs()
            let hostile = [
                "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/hostname\">]>" + genuine, "no XML", "<x/>", genuine + "<x/>",
                String(repeating: "<a>", count: 100), "<!-- " + String(repeating: "x", count: 300_000) + " -->" + genuine,
            ]
            for document in hostile {
                let answer = try await local.send("POST", "/mvpds/NorthCable/metadata", ["metadata": document])
                #expect(answer.status == 200, "\(answer.status) \(answer.text.prefix(200))")
                #expect((answer.object["problems"] as? [[String: Any]])?.count == 1 && answer.object["entityId"] as? String == "")
                let taken = try await local.send(
                    "POST", "/mvpds/NorthCable/metadata", ["metadata": document, "fingerprints": ["00"]], ifMatch: "*")
                #expect(taken.status == 422, "\(taken.text.prefix(200))")
            }
            let weak = genuine.replacing("http://127.0.0.1", with: "http://idp.example")
            let plain = try await local.send("POST", "/mvpds/NorthCable/metadata", ["metadata": weak])
            let fields = (plain.object["problems"] as? [[String: Any]] ?? []).compactMap { $0["field"] as? String }
            #expect(fields.contains("SingleSignOnService.Location") && fields.contains("SingleLogoutService.Location"), "\(plain.text)")
            let editor = try Administrator.named("edith")
            #expect(try await editor.send("POST", "/mvpds/NorthCable/metadata", ["metadata": genuine]).status == 403)
        }
    }
}
