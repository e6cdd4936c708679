@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import MediaTokenVerifier
import Testing
import TextEncodings

extension MvpdTests {
    /// The stand-in REST v2 server as a local cluster starts it.
    @Suite("Stand-in REST v2 server")
    struct StandInUpstreamTests {
        @Test("bridge §15.4: a client signs in, plays, and is noted; its media token verifies by the cluster's certificate of the stand-in")
        func play() async throws {
            let upstream = try StandInUpstream.running()
            try await upstream.reset()
            let json = ("Content-Type", "application/json")
            let registered = try await upstream.send(
                "POST", "/o/client/register", [json], body: #"{"software_statement": "\#(try await upstream.statement())"}"#)
            let client = registered.object
            let credentials = FormEncoding.encode([
                ("client_id", client["client_id"] as? String ?? ""), ("client_secret", client["client_secret"] as? String ?? ""),
                ("grant_type", "client_credentials"),
            ])
            let form = ("Content-Type", "application/x-www-form-urlencoded")
            let token = try #require(
                try await upstream.send("POST", "/o/client/token", [form], body: credentials).object["access_token"] as? String)
            let device = [("Authorization", "Bearer \(token)"), ("AP-Device-Identifier", "fingerprint dHYtMQ==")]
            let fields = FormEncoding.encode([
                ("mvpd", "CoastCable"), ("domainName", "acme.example"), ("redirectUrl", "https://www.acme.example/back"),
            ])
            let session = try await upstream.send("POST", "/api/v2/ACME1/sessions", device + [form], body: fields).object
            let back = try await upstream.signIn(at: try #require(session["url"] as? String))
            #expect(back.header("location") == "https://www.acme.example/back")

            try await upstream.goAway()
            await #expect(throws: (any Error).self) { _ = try await upstream.send("GET", "/api/v2/ACME1/profiles", device) }
            try await upstream.comeBack()
            let answer = try await upstream.send(
                "POST", "/api/v2/ACME1/decisions/authorize/CoastCable", device + [json], body: #"{"resources":["ACME1-NEWS"]}"#)
            let decision = try #require((answer.object["decisions"] as? [[String: Any]])?.first)
            let media = try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)

            let certificate = try TestCluster.running().home.pki.appendingPathComponent("sandbox-upstream.crt").path
            let keys = try TrustedMediaTokenKeys(certificates: [try Certificate(pemFile: certificate)])
            let check = MediaTokenVerifier(trustedKeys: keys).verify(media, requestor: "ACME1", resource: "ACME1-NEWS")
            #expect(check.verdict == .valid && check.facts?.mvpd == "CoastCable")
            #expect(try await upstream.count("authorize") == 1)
            #expect(try await upstream.entries("createSession").first?.headers["ap-device-identifier"] == "fingerprint dHYtMQ==")
            try await upstream.reset()
        }
    }
}
