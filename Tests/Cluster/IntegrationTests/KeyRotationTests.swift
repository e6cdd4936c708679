@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Cryptography
import Foundation
import Testing
import Tokens

/// Key files that are replaced while the cluster works (decision 0052).
@Suite("Keys that change without a restart", .serialized, .cluster)
struct KeyRotationTests {
    @Test("another key of access tokens: its tokens are good before it signs, those of the key before stay good, a broken file changes nothing")
    func accessTokens() async throws {
        let cluster = try TestCluster.running()
        let app = try await cluster.app()
        let file = cluster.home.pki.appendingPathComponent("access-token.key")
        let before = try Data(contentsOf: file)
        let key = try P256PrivateKey.generate()
        let early = try Self.token(like: app.accessToken, by: key)
        #expect(try await status(of: app, bearer: early) == 401, "nobody knows the key yet")

        try Data(try key.pem().utf8).write(to: file, options: .atomic)
        try await Condition.wait("the new key is known") { try await status(of: app, bearer: early) == 403 }
        #expect(try await status(of: app, bearer: app.accessToken) == 403, "403: signed in nowhere, but known")
        let next = try await cluster.app()
        #expect(Self.keyName(next.accessToken) == Self.keyName(app.accessToken), "what signs is the key from before, for the lead time")

        try Data("broken".utf8).write(to: file, options: .atomic)
        try await Condition.wait("the refusal in the log") { try Self.log(of: .authentication).contains("access_token_keys.reload_refused") }
        for bearer in [app.accessToken, early, try await cluster.app().accessToken] {
            #expect(try await status(of: app, bearer: bearer) == 403)
        }
        try before.write(to: file, options: .atomic)
        try await Condition.wait("the key is known no more") { try await status(of: app, bearer: early) == 401 }
        #expect(try await status(of: app, bearer: app.accessToken) == 403)
    }

    @Test("another key of software statements: services know it before it signs and until it is taken out, statements of the key before stay good")
    func softwareStatements() async throws {
        let cluster = try TestCluster.running()
        let file = cluster.home.pki.appendingPathComponent("statement.key")
        let before = try Data(contentsOf: file)
        let key = try P256PrivateKey.generate()
        let genuine = try Client.statement("acme-tv")
        let early = try Self.statement(like: genuine, by: key)
        #expect(try await registration(early) == 400, "nobody knows the key yet")

        try Data(try key.pem().utf8).write(to: file, options: .atomic)
        try await Condition.wait("every service knows the new key") { try await registration(early) == 201 }
        #expect(try await registration(genuine) == 201)
        try Data("broken".utf8).write(to: file, options: .atomic)
        try await Condition.wait("the refusal in the log") { try Self.log(of: .config).contains("statement_keys.reload_refused") }
        #expect(try await registration(genuine) == 201)
        #expect(try await registration(early) == 201)
        try before.write(to: file, options: .atomic)
        let description = try #require(try ClusterFile.read(cluster.home))
        let keys = try await CatalogueImporter(description).statementKeys(retiring: JoseSigningKey(key).identifier)
        #expect(keys.filter { $0.retiredAtMilliseconds == 0 }.count == keys.count - 1)
        try await Condition.wait("the key that an operator took out is known no more") { try await registration(early) == 400 }
        #expect(try await registration(genuine) == 201)
    }

    @Test("another key of user ids: a session keeps its id, the next sign-in has another, and a broken file changes nothing")
    func userIDs() async throws {
        let cluster = try TestCluster.running()
        func signIn() async throws -> (app: StreamingApp, id: String) {
            let app = try await cluster.app()
            _ = try await cluster.signIn(app, code: try await app.requestCode().code)
            return (app, try await userID(of: app))
        }
        let first = try await signIn()
        #expect(try await signIn().id == first.id, "one person, one id")
        let file = cluster.home.pki.appendingPathComponent("user-id.key")
        let before = try Data(contentsOf: file)
        try Data("broken".utf8).write(to: file, options: .atomic)
        try await Condition.wait("the refusal in the log") { try Self.log(of: .authentication).contains("\"keys.reload_refused\"") }
        #expect(try await signIn().id == first.id)
        try Data(SymmetricKey.random().hexRepresentation.utf8).write(to: file, options: .atomic)
        try await Condition.wait("another id") { try await signIn().id != first.id }
        #expect(try await userID(of: first.app) == first.id, "a session keeps its id")
        #expect(try await first.app.isSignedIn())
        try before.write(to: file, options: .atomic)
        try await Condition.wait("the id from before") { try await signIn().id == first.id }
    }

    private func userID(of app: StreamingApp) async throws -> String {
        let path = "/api/v1/tokens/authn?requestor=\(app.requestor)&deviceId=\(app.deviceID)"
        let headers = [
            "Authorization": "Bearer \(app.accessToken)", "X-Device-Info": SimulatedHardware.television.information, "Accept": "application/json",
        ]
        let answer = try await TestCluster.running().send(Call("GET", path, headers: headers))
        return try #require(answer.object["userId"] as? String, "\(answer.text)")
    }

    private func status(of app: StreamingApp, bearer: String) async throws -> Int {
        let path = "/api/v1/checkauthn?requestor=\(app.requestor)&deviceId=\(app.deviceID)"
        let headers = ["Authorization": "Bearer \(bearer)", "X-Device-Info": SimulatedHardware.television.information]
        return try await TestCluster.running().send(Call("GET", path, headers: headers)).status
    }

    private func registration(_ statement: String) async throws -> Int {
        try await TestCluster.running().send(.json("/o/client/register", ["software_statement": statement])).status
    }

    static func log(of service: ClusterService) throws -> String {
        try String(contentsOf: TestCluster.running().home.log(of: service), encoding: .utf8)
    }

    // MARK: Tokens

    private static func part(_ index: Int, of token: String) throws -> [String: Any] {
        let part = try #require(token.split(separator: ".").dropFirst(index).first)
        let octets = try #require(Base64.url.decode(String(part)))
        return try #require(try JSONSerialization.jsonObject(with: Data(octets)) as? [String: Any])
    }

    private static func keyName(_ token: String) -> String? { (try? part(0, of: token))?["kid"] as? String }

    private static func keys(_ key: P256PrivateKey) -> SigningKeys { SigningKeys(SigningKeyRing(current: JoseSigningKey(key))) }

    /// The same claims under another key.
    private static func token(like token: String, by key: P256PrivateKey) throws -> String {
        let claims = try part(1, of: token)
        let issuer = AccessTokenIssuer(
            keys: keys(key), issuer: try #require(claims["iss"] as? String), audience: try #require(claims["aud"] as? String))
        let scopes = try #require(claims["scopes"] as? String).split(separator: " ").map(String.init)
        return try issuer.issue(client: try #require(claims["sub"] as? String), scopes: scopes).token
    }

    private static func statement(like statement: String, by key: P256PrivateKey) throws -> String {
        let claims = try part(1, of: statement)
        let content = SoftwareStatement(
            softwareID: try #require(claims["software_id"] as? String), applicationID: try #require(claims["sub"] as? String),
            applicationName: try #require(claims["client_name"] as? String))
        return try SoftwareStatementIssuer(keys: keys(key), issuer: try #require(claims["iss"] as? String)).issue(content)
    }
}
