@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing

/// The key of service tokens (rest-v2 §2.14).
extension KeyRotationTests {
    @Test(
        "rest-v2 D17: another key of service tokens is taken in while the service works, and the tokens of the one before go on; a broken file changes nothing"
    )
    func serviceTokens() async throws {
        let cluster = try TestCluster.running()
        let file = cluster.home.data.appendingPathComponent("authentication/service-token.key")
        let former = try Data(contentsOf: file)
        let backend = try await SsoBackend.make()
        let device = UUID().uuidString
        let token = try await backend.token("ada", for: device)
        func isGood(_ token: String) async throws -> Bool {
            let headers = ["Authorization": "Bearer \(backend.accessToken)", "AD-Service-Token": token]
            return try await cluster.send(Call("GET", "/api/ACME1/serviceToken", headers: headers)).status == 200
        }
        func write(_ content: Data, until event: String) async throws {
            func count() throws -> Int {
                try Self.log(of: .authentication).split(separator: "\n").count { $0.contains("service_token_keys.\(event)") }
            }
            let before = try count()
            try content.write(to: file, options: .atomic)
            try await Condition.wait("service_token_keys.\(event)") { try count() > before }
        }
        try #require(try await isGood(token))
        try await write(Data(try RSAPrivateKey.generate().pem().utf8), until: "reloaded")
        #expect(try await isGood(token))
        #expect(try await isGood(backend.token("ada", for: device)))
        try await write(Data("broken".utf8), until: "reload_refused")
        #expect(try await isGood(token))
        try await write(former, until: "reloaded")
        #expect(try await isGood(token))
    }
}
