import Clocks
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import ManualClocks

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// A stand-in with two MVPDs, and the service provider that talks to it.
struct Fixture: Sendable {
    static let entityID = "https://sp.boxoffice.example"
    static let acsURL = "http://127.0.0.1:8080/sp/saml/SAMLAssertionConsumer"
    static let publicURL = "http://idp.example"

    let clock = ManualClock(Timestamp(seconds: 1_900_000_000))

    static var pages: String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Services/Sandbox/Pages").standardized.path()
    }

    static func settings(extra: String = "", northcable: String = "") -> String {
        """
        {"listen": {"address": "127.0.0.1", "port": 0}, "publicURL": "\(publicURL)", "pages": "\(pages)",
         "serviceProvider": {"entityID": "\(entityID)", "signingCertificate": "sp-signing.crt", "encryptionCertificate": "sp-encryption.crt",
                             "acsURL": "\(acsURL)"},
         "mvpds": [{"id": "NorthCable", "certificate": "north.crt", "key": "north.key"\(northcable)},
                   {"id": "LakeTel", "certificate": "lake.crt", "key": "lake.key", "signResponse": true, "encryptAssertion": true}]\(extra)}
        """
    }

    static func read(_ json: String) throws -> SandboxSettings {
        try SandboxSettings(json: Array(json.utf8), folder: Keys.shared.folder.path())
    }

    func application(_ json: String = settings()) async throws -> some ApplicationProtocol {
        var logger = Logger(label: "sandbox")
        logger.logLevel = .critical
        return try await Sandbox(settings: try Self.read(json), clock: clock, logger: logger).application()
    }

    /// Runs a test against the router, without sockets.
    func run<Value: Sendable>(_ json: String = settings(), _ test: @Sendable (any TestClientProtocol) async throws -> Value) async throws -> Value {
        try await application(json).test(.router) { client in try await test(client) }
    }

    /// Runs a test against a listening server.
    func runLive<Value: Sendable>(_ json: String = settings(), _ test: @Sendable (any TestClientProtocol) async throws -> Value) async throws -> Value
    {
        try await application(json).test(.live) { client in try await test(client) }
    }
}
